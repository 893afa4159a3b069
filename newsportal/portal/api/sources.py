"""Sources: list, read, change (several at once, too), test and visit them; detect sources at URLs; import feeds from an OPML file."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Annotated, Any, Final, Literal, cast

from fastapi import APIRouter, Body, Query, Request
from pydantic import BaseModel, BeforeValidator, Field
from starlette.concurrency import run_in_threadpool
from starlette.requests import ClientDisconnect

from newsportal.errors import SourcesError
from newsportal.portal.access import EDIT, WATCH, ApiError, api_error_for, describe, may
from newsportal.portal.api.paging import Cursor, Limit, Page, change_sources, cursor_of, fill, parse_cursor, write_sources
from newsportal.portal.context import Visit
from newsportal.portal.desk.source_fields import FAMILIES
from newsportal.portal.desk.source_trials import begin_look, end_look, is_crawling, look_of, visit_now
from newsportal.portal.desk.sources import SORTS, Filter, Sort, source_urls
from newsportal.portal.desk.sources_yaml import config_of, path_of, restore_version, source_entry
from newsportal.portal.desk.trial_runner import Look, TooMany
from newsportal.portal.request_body import Refused, read_stream
from newsportal.services.accounts import Right
from newsportal.services.discovery.opml import MAX_BYTES, BadOpml, read
from newsportal.services.trying.proposing import MAX_ADDRESSES, Choice, Family, look_at_addresses, planned
from newsportal.services.trying.proposing import write as write_entries
from newsportal.services.trying.saved import plain, tried
from newsportal.sources import mask
from newsportal.sources.changing import Way, change_many, drop_entry, entry_digest, new_variables, set_entry
from newsportal.sources.editing import EditConflict, NoVersion, OtherKeys, append_entry, earlier
from newsportal.sources.splicing import name_of
from newsportal.sources.timing import timetable, visited

router = APIRouter(tags=["Sources"], responses=describe(404))

Kind = Literal["engines", "feeds", "sitemaps", "regions", "forums", "galleries", "lists", "newsletters"]


class SourceRow(BaseModel):
    key: str = Field(description="Its name in reports and commands.", examples=["feed:甲报"])
    name: str
    enabled: bool
    state: str = Field(description="Its health: healthy, failing, silent …")
    code: str = Field(description="Code of the reason, the same in every version and language.", examples=["health.silent"])
    reason: str
    address: str = Field(description="URLs that are fetched first, without secrets.")
    last_success: datetime | None
    new_entries: int = Field(description="New entries of the last 14 days.")


class SourceDetail(BaseModel):
    key: str
    kind: Kind
    values: dict[str, Any] = Field(description="Its keys as in sources.yaml.")
    seen: str = Field(description="Digest of these values, to be sent with a change.")


class NewSource(BaseModel):
    kind: Kind
    values: dict[str, Any] = Field(
        description="Its keys, as in sources.yaml.", examples=[{"name": "甲报", "url": "https://a.example/feed"}]
    )


class SourceChangesIn(BaseModel):
    values: dict[str, Any] = Field(description="Changed keys; null removes a key.")
    seen: str | None = Field(None, description="Refuse (409) if the source was changed since this was read.")


class WrittenSource(BaseModel):
    key: str
    file: str = Field(description="Name of the file.")
    changed: bool = Field(description="False: it was the same before.")


class RequestedVisit(BaseModel):
    key: str
    due: datetime
    crawls: bool = Field(description="Whether a crawl is running that visits it; otherwise start newsportal up, or crawl --due.")


class DetectIn(BaseModel):
    addresses: list[str] = Field(min_length=1, max_length=MAX_ADDRESSES)
    kind: Family | None = Field(None, description="Only sources of this kind.")
    everything: bool = Field(False, description="Detect all sources, not only the first good one.")


class BackgroundCheck(BaseModel):
    """A background check of other sites; poll it until it is done."""

    id: str
    done: bool
    steps: list[str] = Field(description="URLs requested so far.")
    error: str | None = None
    found: list[dict[str, Any]] | None = Field(None, description="Results, once it is done.")


class ScheduleRow(BaseModel):
    key: str
    policy: str
    last: datetime | None
    next: datetime
    why: Annotated[str, BeforeValidator(str)]
    expected: tuple[float, ...] | None = Field(description="Expected entries in each of the next 24 hours, the current one first.")


@router.get("/sources", summary="Sources with their health, those that need attention first", dependencies=WATCH)
def sources(
    request: Request,
    limit: Limit = 50,
    cursor: Cursor = None,
    state: Annotated[str | None, Query(max_length=30)] = None,
    kind: Annotated[str | None, Query(max_length=30, description="Prefix of their keys: feed, region …")] = None,
    q: Annotated[str | None, Query(max_length=200, description="Words in the name, the key, a URL, a topic or the category.")] = None,
    sort: Annotated[Sort, Query(description="health: those that need attention first.")] = "health",
) -> Page[SourceRow]:
    portal, asked = Visit(request).portal, Filter(q, state, kind)
    found = sorted((one for one in portal.health() if asked.matches(one, portal)), key=SORTS[sort])
    (start,) = parse_cursor(cursor, int) or (0,)
    rows = [
        fill(
            SourceRow, one.source, state=one.health.state, code=(reason := one.health.reason()).code, reason=str(reason),
            address=source_urls(portal.by_key.get(one.source.key)), last_success=one.health.figures.last_success, new_entries=sum(one.days),
        )
        for one in found[start : start + limit]
    ]  # fmt: skip
    return Page(items=rows, next=cursor_of(start + limit) if start + limit < len(found) else None)


@router.get("/schedule", summary="Next visits of sources, with reasons", dependencies=WATCH, response_model=Page[ScheduleRow])
def schedule(request: Request, limit: Limit = 50, cursor: Cursor = None) -> Page[Any]:
    known, portal = config_of(request), Visit(request).portal
    chosen = list(visited(known))
    (start,) = parse_cursor(cursor, int) or (0,)
    rows = timetable(known, portal.store, chosen[start : start + limit], portal.now().astimezone(portal.site.zone))
    return Page(items=rows, next=cursor_of(start + limit) if start + limit < len(chosen) else None)


@router.post("/sources", status_code=201, summary="Add a source to sources.yaml", dependencies=EDIT, responses=describe(409))
def create(request: Request, new: NewSource) -> WrittenSource:
    _check_variables(request, new.values, {})
    family = next(family for family, kind in FAMILIES.items() if kind == new.kind)
    key = f"{family}:{name_of(new.kind, new.values)}"
    done = change_sources(request, append_entry(new.kind, new.values), "source.add", key, new.values)
    return WrittenSource(key=key, file=path_of(request).name, changed=done)


@router.post("/sources/propose", status_code=202, summary="Detect sources at URLs", dependencies=EDIT, responses=describe(429))
def propose(request: Request, asked: DetectIn) -> BackgroundCheck:
    """Returns at once; the results are at `/looks/{id}` when it is done."""
    known = config_of(request)
    about = {"what": "new", "addresses": " ".join(asked.addresses)}
    return _begin_look(
        request, about, lambda tell: look_at_addresses(asked.addresses, known, tell, kind=asked.kind, everything=asked.everything)
    )


@router.post("/sources/undo", summary="Undo the last change of sources.yaml", dependencies=EDIT, responses=describe(409))
def undo(request: Request, steps: Annotated[int, Query(ge=1, le=50)] = 1) -> WrittenSource:
    path = path_of(request).resolve()
    try:
        version = earlier(path, steps)
        undone = restore_version(request, version, None, "sources.undo")
    except OtherKeys as error:
        raise ApiError(403, "not-allowed", f"{str(error)[:1].upper()}{str(error)[1:]}.", "Ask an administrator to go back.") from error
    except (NoVersion, SourcesError, EditConflict) as error:
        raise ApiError(409, "conflict", str(error)) from error
    return WrittenSource(key="", file=path.name, changed=undone is not None)


@router.get("/sources/{key}", summary="A source as it is in sources.yaml", dependencies=EDIT)
def source(request: Request, key: str) -> SourceDetail:
    found = source_entry(request, key)
    return SourceDetail(key=found.source.key, kind=cast(Kind, found.kind), values=found.written, seen=entry_digest(found.written))


@router.patch("/sources/{key}", summary="Change keys of a source", dependencies=EDIT, responses=describe(409))
def change(request: Request, key: str, sent: SourceChangesIn) -> WrittenSource:
    found = source_entry(request, key)
    _check_variables(request, sent.values, found.written)
    done = change_sources(request, set_entry(found.kind, found.source.name, sent.values, sent.seen), "source.change", key, sent.values)
    name = name_of(found.kind, {**found.written, **sent.values})
    return WrittenSource(key=f"{found.source.family}:{name}", file=path_of(request).name, changed=done)


@router.delete("/sources/{key}", summary="Remove a source from sources.yaml; its articles stay", dependencies=EDIT)
def delete(request: Request, key: str) -> WrittenSource:
    found = source_entry(request, key)
    done = change_sources(request, drop_entry(found.kind, found.source.name), "source.delete", key, found.written)
    return WrittenSource(key=key, file=path_of(request).name, changed=done)


@router.put("/sources/{key}/enabled", summary="Enable or disable a source", dependencies=EDIT)
def enable(request: Request, key: str, enabled: Annotated[bool, Body(embed=True)]) -> WrittenSource:
    found = source_entry(request, key)
    change = set_entry(found.kind, found.source.name, {"enabled": None if enabled else False})
    done = change_sources(request, change, "source.enable" if enabled else "source.disable", key, {})
    return WrittenSource(key=key, file=path_of(request).name, changed=done)


@router.post("/sources/{key}/visit", status_code=202, summary="Request a visit of a source", dependencies=EDIT, responses=describe(409))
def visit(request: Request, key: str) -> RequestedVisit:
    if (due := visit_now(request, key)) is None:
        raise ApiError(409, "switched-off", "The source is disabled.", "Enable it first.")
    return RequestedVisit(key=key, due=due, crawls=is_crawling(Visit(request).portal))


@router.post(
    "/sources/{key}/test", status_code=202, summary="Test a source: a list page and an article", dependencies=EDIT, responses=describe(429)
)
def test(request: Request, key: str) -> BackgroundCheck:
    """Returns at once; the results are at `/looks/{id}` when it is done."""
    known = config_of(request)
    source_entry(request, key)
    return _begin_look(request, {"what": "test", "key": key}, lambda tell: tried(key, known))


@router.get("/looks/{id}", summary="Progress and results of a check of other sites", dependencies=EDIT)
def look(request: Request, id: str) -> BackgroundCheck:
    return _look_answer(look_of(request, id))


@router.delete("/looks/{id}", summary="Cancel a check of other sites", status_code=204, dependencies=EDIT)
def cancel_check(request: Request, id: str) -> None:
    """The request in progress is completed and its result dropped."""
    end_look(request, id)


def _begin_look(request: Request, about: dict[str, Any], work: Any) -> BackgroundCheck:
    with api_error_for(TooMany, status=429, code="too-many", remedy="Wait a minute."):
        return _look_answer(begin_look(request, about, work))


def _look_answer(found: Look) -> BackgroundCheck:
    results = None
    if found.done and found.error is None:
        if found.about["what"] == "new":
            results = [
                {
                    "address": mask(one.url),
                    "error": mask(str(one.error)) if one.error else None,
                    "there": one.there,
                    "sources": [_choice_values(choice) for choice in one.choices],
                }
                for one in found.found
            ]
        else:
            results = [plain(*one) for one in found.found]
    steps, error = [mask(step) for step in found.steps], mask(str(found.error)) if found.error else None
    return BackgroundCheck(id=found.id, done=found.done, steps=steps, error=error, found=results)


def _choice_values(one: Choice) -> dict[str, Any]:
    values = {"kind": one.kind, "values": one.values, "best": one.best}
    if one.proposal is None:
        return values
    newest = one.proposal.newest.isoformat() if one.proposal.newest else None
    titles = [link.title or link.url for link in one.proposal.links[:10]]
    return values | {"entries": one.proposal.entries, "newest": newest, "per_day": one.proposal.per_day, "titles": titles}


def _check_variables(request: Request, values: Mapping[str, Any], before: Mapping[str, Any]) -> None:
    """Raise ``ApiError`` if an editor names environment variables."""
    named = new_variables(values, before)
    if named and not may(request, Right.ADMINISTER):
        raise ApiError(
            403,
            "not-allowed",
            f"Only administrators may name environment variables or a folder, or change where credentials are sent ({', '.join(named)}).",
        )


class BulkSourceChangeIn(BaseModel):
    keys: list[str] = Field(min_length=1, max_length=10_000)
    do: Way
    interval: float | None = Field(None, gt=0, description="Minutes between visits; null: the schedule decides.")


class BulkSourceChange(BaseModel):
    number: int = Field(description="Number of sources.")
    file: str = Field(description="Name of the file.")
    changed: bool = Field(description="False: it was the same before.")


@router.post("/sources/many", summary="Change several sources at once, all or none", dependencies=EDIT, responses=describe(409))
def bulk_change(request: Request, sent: BulkSourceChangeIn) -> BulkSourceChange:
    known = {source.key: source for source in config_of(request).all() if source.key.partition(":")[0] in FAMILIES}
    if unknown := [key for key in sent.keys if key not in known]:
        raise ApiError(404, "not-found", f"There is no source {unknown[0]!r}.")
    chosen = [known[key] for key in dict.fromkeys(sent.keys)]
    change = change_many(sent.do, chosen, sent.interval)
    details = {"sources": sent.keys, "interval": sent.interval}
    done = change_sources(request, change, f"sources.{sent.do}", ", ".join(sent.keys)[:500], details)
    return BulkSourceChange(number=len(chosen), file=path_of(request).name, changed=done)


class FeedImportResult(BaseModel):
    """``there``: URLs of existing sources, with the source's key; ``bad``: rejected URLs, with the reason."""

    added: list[dict[str, Any]]
    there: dict[str, str]
    bad: dict[str, str]
    changed: bool


BODY: Final[dict[str, Any]] = {"requestBody": {"required": True, "content": {"text/x-opml": {"schema": {"type": "string"}}}}}


@router.post("/sources/opml", summary="Add the feeds of an OPML list", dependencies=EDIT, responses=describe(413), openapi_extra=BODY)
async def opml(
    request: Request,
    category: Annotated[str | None, Query(max_length=100, description="Category of all feeds; default: their folder.")] = None,
    enabled: Annotated[bool, Query(description="False: add them disabled.")] = True,
    dry_run: Annotated[bool, Query(description="Only return what would be added.")] = False,
) -> FeedImportResult:
    """The body is the file, as `text/x-opml` or `application/xml`. Existing feeds are not changed."""
    try:
        body = await read_stream(request, MAX_BYTES)
    except (ClientDisconnect, Refused) as error:
        raise ApiError(413, "too-large", "It is too large, or incomplete.") from error
    if body is None:
        raise ApiError(413, "too-large", f"At most {MAX_BYTES} bytes may be sent.", "Split the list.")
    return await run_in_threadpool(_import_feeds, request, body, category, enabled, dry_run)


def _import_feeds(request: Request, body: bytes, category: str | None, enabled: bool, dry_run: bool) -> FeedImportResult:
    known = config_of(request)
    with api_error_for(BadOpml, status=422, code="no-opml"):
        plan = planned(read(body).feeds, known, category, enabled=enabled)
    new: list[tuple[Literal["feeds"], dict[str, Any]]] = [("feeds", dict(values)) for values in plan.new]
    done = False
    if new and not dry_run:
        details = {"number": len(new), "sources": [values for _kind, values in new[:100]]}
        done = write_sources(request, lambda path: write_entries(path, new), "source.add", f"{len(new)} feeds", details)
    existing, bad = ({mask(url): str(said) for url, said in pairs} for pairs in (plan.there, plan.bad))
    return FeedImportResult(added=[values for _kind, values in new], there=existing, bad=bad, changed=done)
