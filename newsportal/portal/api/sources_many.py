"""Several sources at once: the same change of all, and the feeds of a list from another reader."""

from __future__ import annotations

from typing import Annotated, Any, Final

from fastapi import APIRouter, Query, Request
from pydantic import BaseModel, Field
from starlette.concurrency import run_in_threadpool
from starlette.requests import ClientDisconnect

from newsportal.portal.access import needs
from newsportal.portal.api.paging import changed, written
from newsportal.portal.api_errors import ApiError, describe
from newsportal.portal.desk.source_fields import FAMILIES
from newsportal.portal.desk.sources_yaml import config_of, path_of
from newsportal.portal.request_body import Refused
from newsportal.services.accounts import Right
from newsportal.services.discovery.opml import MAX_BYTES, BadOpml, read
from newsportal.services.discovery.proposal import Kind
from newsportal.services.trying.proposing import planned
from newsportal.services.trying.proposing import write as write_entries
from newsportal.sources import mask
from newsportal.sources.changing import Way, change_many

router = APIRouter(tags=["Sources"], dependencies=[needs(Right.EDIT)], responses=describe(404))


class Many(BaseModel):
    keys: list[str] = Field(min_length=1, max_length=10_000)
    do: Way
    interval: float | None = Field(None, gt=0, description="With interval: minutes between visits; null: the schedule decides.")


class ManyWritten(BaseModel):
    number: int = Field(description="Sources that were named.")
    file: str
    changed: bool = Field(description="False: it said so before.")


@router.post("/sources/many", summary="The same change of several sources, whole or not at all", responses=describe(409))
def many(request: Request, told: Many) -> ManyWritten:
    known = {source.key: source for source in config_of(request).all() if source.key.partition(":")[0] in FAMILIES}
    if unknown := [key for key in told.keys if key not in known]:
        raise ApiError(404, "not-found", f"There is no source {unknown[0]!r}.")
    chosen = [known[key] for key in dict.fromkeys(told.keys)]
    change = change_many(told.do, chosen, told.interval)
    details = {"sources": told.keys, "interval": told.interval}
    done = changed(request, change, f"sources.{told.do}", ", ".join(told.keys)[:500], details)
    return ManyWritten(number=len(chosen), file=str(path_of(request)), changed=done)


class Brought(BaseModel):
    """``there``: addresses that were there already, with the source's key; ``bad``: those that cannot be taken, with the reason."""

    added: list[dict[str, Any]]
    there: dict[str, str]
    bad: dict[str, str]
    changed: bool


BODY: Final[dict[str, Any]] = {"requestBody": {"required": True, "content": {"text/x-opml": {"schema": {"type": "string"}}}}}


@router.post("/sources/opml", summary="Add the feeds of an OPML list", responses=describe(413), openapi_extra=BODY)
async def opml(
    request: Request,
    category: Annotated[str | None, Query(max_length=100, description="Of all of them; default: the folder they lie in.")] = None,
    enabled: Annotated[bool, Query(description="False: they are written switched off.")] = True,
    dry_run: Annotated[bool, Query(description="Only tell what would be added.")] = False,
) -> Brought:
    """The body is the file, as `text/x-opml` or `application/xml`. Feeds that are there already stay as they are."""
    body = bytearray()
    try:
        async for chunk in request.stream():
            body += chunk
            if len(body) > MAX_BYTES:
                raise ApiError(413, "too-large", f"At most {MAX_BYTES} bytes may be sent.", "Split the list.")
    except (ClientDisconnect, Refused) as error:
        raise ApiError(413, "too-large", "It is too large, or broke off.") from error
    return await run_in_threadpool(_brought, request, bytes(body), category, enabled, dry_run)


def _brought(request: Request, body: bytes, category: str | None, enabled: bool, dry_run: bool) -> Brought:
    known = config_of(request)
    try:
        plan = planned(read(body).feeds, known, category, enabled=enabled)
    except BadOpml as error:
        raise ApiError(422, "no-opml", str(error)) from error
    new: list[tuple[Kind, dict[str, Any]]] = [("feeds", dict(values)) for values in plan.new]
    done = False
    if new and not dry_run:
        details = {"number": len(new), "sources": [values for _kind, values in new[:100]]}
        done = written(request, lambda path: write_entries(path, new), "source.add", f"{len(new)} feeds", details)
    there, bad = ({mask(url): str(said) for url, said in pairs} for pairs in (plan.there, plan.bad))
    return Brought(added=[values for _kind, values in new], there=there, bad=bad, changed=done)
