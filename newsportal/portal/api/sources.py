"""Sources: list, read, change (several at once, too), test and visit them; detect sources at URLs; import feeds from an OPML file."""

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
from newsportal.portal.desk.source_trials import check_of, drop_check, is_crawling, start_check, visit_now
from newsportal.portal.desk.sources import SORTS, Filter, Sort, source_urls
from newsportal.portal.desk.sources_yaml import config_of, path_of, restore_version, source_entry
from newsportal.portal.desk.trial_runner import SiteCheck, TooMany
from newsportal.portal.request_body import Refused, read_stream
from newsportal.services.accounts import Right
from newsportal.services.discovery.opml import MAX_BYTES, BadOpml, read
from newsportal.services.trying.proposing import MAX_ADDRESSES, Choice, Family, check_addresses, plan_import
from newsportal.services.trying.proposing import write as write_entries
from newsportal.services.trying.saved import plain, try_source
from newsportal.sources import mask
from newsportal.sources.changing import Way, change_many, drop_entry, entry_digest, new_variables, set_entry
from newsportal.sources.editing import EditConflict, NoVersion, OtherKeys, append_entry, earlier_version
from newsportal.sources.splicing import name_of
from newsportal.sources.timing import timetable, visited_sources

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
    digest: str = Field(description="Digest of these values, to be sent with a change.")


class NewSource(BaseModel):
    kind: Kind
    values: dict[str, Any] = Field(description="Keys, as in sources.yaml.", examples=[{"name": "甲报", "url": "https://a.example/feed"}])


class SourceChangesIn(BaseModel):
    values: dict[str, Any] = Field(description="Changed keys; null removes a key.")
    digest: str | None = Field(None, description="Refuse (409) if the source was changed since this was read.")


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
    reason: Annotated[str, BeforeValidator(str)]
    expected: tuple[float, ...] | None = Field(description="Expected entries in each of the next 24 hours, the current one first.")


@router.get("/sources", summary="Sources with their health, those that need attention first", dependencies=WATCH)
def list_sources(
    request: Request,
    limit: Limit = 50,
    cursor: Cursor = None,
    state: Annotated[str | None, Query(max_length=30)] = None,
    kind: Annotated[str | None, Query(max_length=30, description="Prefix of their keys: feed, region …")] = None,
    q: Annotated[str | None, Query(max_length=200, description="Words in the name, the key, a URL, a topic or the category.")] = None,
    sort: Annotated[Sort, Query(description="health: those that need attention first.")] = "health",
) -> Page[SourceRow]:
    portal, query = Visit(request).portal, Filter(q, state, kind)
    matching = sorted((row for row in portal.health() if query.matches(row, portal)), key=SORTS[sort])
    (start,) = parse_cursor(cursor, int) or (0,)
    rows = [
        fill(
            SourceRow, row.source, state=row.health.state, code=(reason := row.health.reason()).code, reason=str(reason),
            address=source_urls(portal.by_key.get(row.source.key)), last_success=row.health.figures.last_success, new_entries=sum(row.days),
        )
        for row in matching[start : start + limit]
    ]  # fmt: skip
    return Page(items=rows, next=cursor_of(start + limit) if start + limit < len(matching) else None)


@router.get("/schedule", summary="Next visits of sources, with reasons", dependencies=WATCH, response_model=Page[ScheduleRow])
def get_schedule(request: Request, limit: Limit = 50, cursor: Cursor = None) -> Page[Any]:
    sources, portal = config_of(request), Visit(request).portal
    entries = list(visited_sources(sources))
    (start,) = parse_cursor(cursor, int) or (0,)
    rows = timetable(sources, portal.store, entries[start : start + limit], portal.now().astimezone(portal.site.zone))
    return Page(items=rows, next=cursor_of(start + limit) if start + limit < len(entries) else None)


@router.post("/sources", status_code=201, summary="Add a source to sources.yaml", dependencies=EDIT, responses=describe(409))
def create_source(request: Request, new: NewSource) -> WrittenSource:
    _check_variables(request, new.values, {})
    family = next(family for family, kind in FAMILIES.items() if kind == new.kind)
    key = f"{family}:{name_of(new.kind, new.values)}"
    done = change_sources(request, append_entry(new.kind, new.values), "source.add", key, new.values)
    return WrittenSource(key=key, file=path_of(request).name, changed=done)


@router.post("/sources/propose", status_code=202, summary="Detect sources at URLs", dependencies=EDIT, responses=describe(429))
def detect_sources(request: Request, body: DetectIn) -> BackgroundCheck:
    """Returns at once; the results are at `/checks/{id}` when it is done."""
    sources = config_of(request)
    task = {"what": "new", "addresses": " ".join(body.addresses)}
    return _start_check(
        request, task, lambda report: check_addresses(body.addresses, sources, report, kind=body.kind, everything=body.everything)
    )


@router.post("/sources/undo", summary="Undo the last change of sources.yaml", dependencies=EDIT, responses=describe(409))
def undo_change(request: Request, steps: Annotated[int, Query(ge=1, le=50)] = 1) -> WrittenSource:
    path = path_of(request).resolve()
    try:
        version = earlier_version(path, steps)
        undone = restore_version(request, version, None, "sources.undo")
    except OtherKeys as error:
        raise ApiError(403, "not-allowed", f"{str(error)[:1].upper()}{str(error)[1:]}.", "Ask an administrator to go back.") from error
    except (NoVersion, SourcesError, EditConflict) as error:
        raise ApiError(409, "conflict", str(error)) from error
    return WrittenSource(key="", file=path.name, changed=undone is not None)


@router.get("/sources/{key}", summary="A source as it is in sources.yaml", dependencies=EDIT)
def get_source(request: Request, key: str) -> SourceDetail:
    entry = source_entry(request, key)
    return SourceDetail(key=entry.source.key, kind=cast(Kind, entry.kind), values=entry.written, digest=entry_digest(entry.written))


@router.patch("/sources/{key}", summary="Change keys of a source", dependencies=EDIT, responses=describe(409))
def update_source(request: Request, key: str, body: SourceChangesIn) -> WrittenSource:
    entry = source_entry(request, key)
    _check_variables(request, body.values, entry.written)
    done = change_sources(request, set_entry(entry.kind, entry.source.name, body.values, body.digest), "source.change", key, body.values)
    name = name_of(entry.kind, {**entry.written, **body.values})
    return WrittenSource(key=f"{entry.source.family}:{name}", file=path_of(request).name, changed=done)


@router.delete("/sources/{key}", summary="Remove a source from sources.yaml; its articles stay", dependencies=EDIT)
def delete_source(request: Request, key: str) -> WrittenSource:
    entry = source_entry(request, key)
    done = change_sources(request, drop_entry(entry.kind, entry.source.name), "source.delete", key, entry.written)
    return WrittenSource(key=key, file=path_of(request).name, changed=done)


@router.put("/sources/{key}/enabled", summary="Enable or disable a source", dependencies=EDIT)
def enable_source(request: Request, key: str, enabled: Annotated[bool, Body(embed=True)]) -> WrittenSource:
    entry = source_entry(request, key)
    change = set_entry(entry.kind, entry.source.name, {"enabled": None if enabled else False})
    done = change_sources(request, change, "source.enable" if enabled else "source.disable", key, {})
    return WrittenSource(key=key, file=path_of(request).name, changed=done)


@router.post("/sources/{key}/visit", status_code=202, summary="Request a visit of a source", dependencies=EDIT, responses=describe(409))
def request_visit(request: Request, key: str) -> RequestedVisit:
    if (due := visit_now(request, key)) is None:
        raise ApiError(409, "source-disabled", "The source is disabled.", "Enable it first.")
    return RequestedVisit(key=key, due=due, crawls=is_crawling(Visit(request).portal))


@router.post(
    "/sources/{key}/test", status_code=202, summary="Test a source: a list page and an article", dependencies=EDIT, responses=describe(429)
)
def test_source(request: Request, key: str) -> BackgroundCheck:
    """Returns at once; the results are at `/checks/{id}` when it is done."""
    sources = config_of(request)
    source_entry(request, key)
    return _start_check(request, {"what": "test", "key": key}, lambda report: try_source(key, sources))


@router.get("/checks/{id}", summary="Progress and results of a check of other sites", dependencies=EDIT)
def get_check(request: Request, id: str) -> BackgroundCheck:
    return _check_answer(check_of(request, id))


@router.delete("/checks/{id}", summary="Cancel a check of other sites", status_code=204, dependencies=EDIT)
def cancel_check(request: Request, id: str) -> None:
    """The request in progress is completed and its result dropped."""
    drop_check(request, id)


def _start_check(request: Request, task: dict[str, Any], work: Any) -> BackgroundCheck:
    with api_error_for(TooMany, status=429, code="too-many", remedy="Wait a minute."):
        return _check_answer(start_check(request, task, work))


def _check_answer(check: SiteCheck) -> BackgroundCheck:
    results = None
    if check.done and check.error is None:
        if check.task["what"] == "new":
            results = [
                {
                    "address": mask(result.url),
                    "error": mask(str(result.error)) if result.error else None,
                    "existing": result.existing,
                    "sources": [_choice_values(choice) for choice in result.choices],
                }
                for result in check.found
            ]
        else:
            results = [plain(*result) for result in check.found]
    steps, error = [mask(step) for step in check.steps], mask(str(check.error)) if check.error else None
    return BackgroundCheck(id=check.id, done=check.done, steps=steps, error=error, found=results)


def _choice_values(choice: Choice) -> dict[str, Any]:
    values = {"kind": choice.kind, "values": choice.values, "best": choice.best}
    if choice.proposal is None:
        return values
    newest = choice.proposal.newest.isoformat() if choice.proposal.newest else None
    titles = [link.title or link.url for link in choice.proposal.links[:10]]
    return values | {"entries": choice.proposal.entries, "newest": newest, "per_day": choice.proposal.per_day, "titles": titles}


def _check_variables(request: Request, values: Mapping[str, Any], before: Mapping[str, Any]) -> None:
    """Raise ``ApiError`` if an editor names environment variables."""
    names = new_variables(values, before)
    if names and not may(request, Right.ADMINISTER):
        raise ApiError(
            403,
            "not-allowed",
            f"Only administrators may name environment variables or a folder, or change where credentials are sent ({', '.join(names)}).",
        )


class BulkSourceChangeIn(BaseModel):
    keys: list[str] = Field(min_length=1, max_length=10_000)
    action: Way
    interval: float | None = Field(None, gt=0, description="Minutes between visits; null: the schedule decides.")


class BulkSourceChange(BaseModel):
    number: int = Field(description="Number of sources.")
    file: str = Field(description="Name of the file.")
    changed: bool = Field(description="False: it was the same before.")


@router.post("/sources/many", summary="Change several sources at once, all or none", dependencies=EDIT, responses=describe(409))
def update_sources(request: Request, body: BulkSourceChangeIn) -> BulkSourceChange:
    by_key = {source.key: source for source in config_of(request).all() if source.key.partition(":")[0] in FAMILIES}
    if unknown := [key for key in body.keys if key not in by_key]:
        raise ApiError(404, "not-found", f"There is no source {unknown[0]!r}.")
    selected = [by_key[key] for key in dict.fromkeys(body.keys)]
    change = change_many(body.action, selected, body.interval)
    details = {"sources": body.keys, "interval": body.interval}
    done = change_sources(request, change, f"sources.{body.action}", ", ".join(body.keys)[:500], details)
    return BulkSourceChange(number=len(selected), file=path_of(request).name, changed=done)


class FeedImportResult(BaseModel):
    """``existing``: URLs of existing sources, with the source's key; ``invalid``: rejected URLs, with the reason."""

    added: list[dict[str, Any]]
    existing: dict[str, str]
    invalid: dict[str, str]
    changed: bool


BODY: Final[dict[str, Any]] = {"requestBody": {"required": True, "content": {"text/x-opml": {"schema": {"type": "string"}}}}}


@router.post("/sources/opml", summary="Add the feeds of an OPML list", dependencies=EDIT, responses=describe(413), openapi_extra=BODY)
async def import_opml(
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
    sources = config_of(request)
    with api_error_for(BadOpml, status=422, code="invalid-opml"):
        plan = plan_import(read(body).feeds, sources, category, enabled=enabled)
    new: list[tuple[Literal["feeds"], dict[str, Any]]] = [("feeds", dict(values)) for values in plan.new]
    done = False
    if new and not dry_run:
        details = {"number": len(new), "sources": [values for _kind, values in new[:100]]}
        done = write_sources(request, lambda path: write_entries(path, new), "source.add", f"{len(new)} feeds", details)
    existing, bad = ({mask(url): str(value) for url, value in pairs} for pairs in (plan.existing, plan.invalid))
    return FeedImportResult(added=[values for _kind, values in new], existing=existing, invalid=bad, changed=done)
