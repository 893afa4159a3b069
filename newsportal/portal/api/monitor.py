"""Operation: runs and their logs, sites that could become sources, the figures of the monitor, the queue of requests."""

from __future__ import annotations

from datetime import date, datetime, timedelta
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Query, Request
from pydantic import BaseModel, Field

from newsportal.errors import NewsportalError
from newsportal.items.report import to_dict
from newsportal.portal.access import log as log_change
from newsportal.portal.access import needs
from newsportal.portal.api.paging import fill
from newsportal.portal.api_errors import ApiError, describe
from newsportal.portal.context import Visit
from newsportal.portal.monitor.figures import FiguresCache, running_crawls
from newsportal.portal.monitor.process_metrics import machine
from newsportal.portal.monitor.queues import Way
from newsportal.portal.monitor.runs import LATEST
from newsportal.portal.monitor.system import KEPT, chosen, run_lines
from newsportal.services.accounts import Right
from newsportal.services.daily import DailySums, Kind, day_of

router = APIRouter(tags=["Operation"], dependencies=[needs(Right.WATCH)])

Days = Annotated[int, Query(ge=1, le=3660, description="Of so many days up to today.")]


RUNS = 50

Level = Literal["DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL"]


class RunOut(BaseModel):
    id: str
    started: datetime
    ended: datetime | None
    spiders: list[str]
    stored: int
    folded: int
    failed: int


class LineOut(BaseModel):
    at: datetime | None = Field(description="Null: the line goes on from the one before.")
    level: str
    logger: str
    text: str


class SuggestionOut(BaseModel):
    site: str
    score: float
    linked: int = Field(description="Articles that link there.")
    sites: int = Field(description="From so many other sites.")
    reposted: int
    found: int = Field(description="Of its articles that search engines brought.")
    topics: list[str]
    url: str | None
    title: str | None
    name: str | None


class DayOut(BaseModel):
    day: date
    articles: int


class SumOut(BaseModel):
    name: str
    articles: int


class FailureOut(BaseModel):
    cause: str
    number: int
    reasons: dict[str, int]
    sources: dict[str, int]


class CrawledOut(BaseModel):
    source: str
    entries: int
    known: int = Field(description="Known or repeated.")
    new: int
    fetched: int
    parsed: int
    stored: int
    folded: int
    failed: int
    precision: float | None
    recall: float | None
    seconds: float = Field(description="What its visits took that ended in these crawls.")


class MachineOut(BaseModel):
    memory: int = Field(description="Bytes that this process holds.")
    memory_beside: int = Field(description="Bytes that crawls and trainings hold that this process has started.")
    load: float = Field(description="Over the last minute, by processor; 1: all of them are busy.")
    memory_available: int
    disk_free: int
    disk_total: int
    disk_low: bool
    sizes: dict[str, int | None] = Field(description="Bytes of each part; null: on a server, or none.")


class GoingOut(BaseModel):
    run: str
    spiders: list[str]
    started: datetime
    fetched: int
    a_minute: float = Field(description="Pages fetched a minute, since it began.")
    stored: int
    failed: int


class QueueOut(BaseModel):
    name: str
    waiting: int
    later: int
    leased: int
    aside: int
    workers: int


class WorkerOut(BaseModel):
    name: str
    queue: str
    since: datetime
    beat: datetime = Field(description="Its last sign of life.")
    leased: int
    hosts: int
    doing: str


class HostOut(BaseModel):
    host: str
    queue: str
    waiting: int
    holder: str | None
    free_in: float = Field(description="Seconds until it may be asked.")


class AsideOut(BaseModel):
    queue: str
    id: str
    address: str
    reason: str
    since: datetime


class AsideIn(BaseModel):
    do: Way


class AsideSettled(BaseModel):
    requests: int


class QueuesOut(BaseModel):
    place: str
    queues: list[QueueOut]
    workers: list[WorkerOut]
    hosts: list[HostOut]
    aside: list[AsideOut] = Field(description="Requests at which worker after worker died.")
    away: str | None = Field(description="Why nothing can be told.")


@router.get("/runs", summary="The latest crawls")
def runs(request: Request, limit: Annotated[int, Query(ge=1, le=RUNS)] = RUNS) -> list[RunOut]:
    found = [(run, run.total) for run in Visit(request).portal.store.runs(limit)]
    return [
        fill(RunOut, run, stored=total.stored, folded=total.folded, failed=total.failures + sum(total.list_failed.values()))
        for run, total in found
    ]


@router.get("/runs/{id}", summary="The report of a crawl, by source", responses=describe(404))
def run(request: Request, id: str) -> dict[str, Any]:
    found = Visit(request).portal.store.run(id)
    if found is None:
        raise ApiError(404, "no-run", "There is no such run.")
    return to_dict(found)


@router.get("/runs/{id}/log", summary="The end of a crawl's log, the latest line first", responses=describe(404))
def log(
    request: Request,
    id: str,
    level: Annotated[Level | None, Query(description="At least of this level.")] = None,
    words: Annotated[str | None, Query(max_length=100)] = None,
    limit: Annotated[int, Query(ge=1, le=KEPT)] = 200,
) -> list[LineOut]:
    """Without passwords, tokens and keys. A crawl on another machine keeps its log there."""
    portal = Visit(request).portal
    found = portal.store.run(id)
    if found is None:
        raise ApiError(404, "no-run", "There is no such run.")
    lines = run_lines(portal, found)
    if lines is None:
        raise ApiError(404, "no-log", "This run has no log here, or none any more.")
    return [fill(LineOut, line, logger=line.from_) for line in chosen(lines, level, words, limit)]


@router.get("/suggestions", summary="Sites that could become sources")
def suggestions(request: Request) -> list[SuggestionOut]:
    found = request.app.state.suggesting.suggestions()
    return [fill(SuggestionOut, one) for one in found]


@router.get("/monitor/days", summary="Articles a day, of all or of one source, site, category or topic")
def days(request: Request, days: Days = 30, kind: Kind = "all", name: Annotated[str, Query(max_length=300)] = "") -> list[DayOut]:
    found, (since, until) = sums(request), span(request, days)
    return [DayOut(day=day, articles=number) for day, number in found.series(kind, name, since, until)]


@router.get("/monitor/top", summary="Sources, sites, categories or topics with most articles")
def top(request: Request, kind: Kind = "site", days: Days = 30, limit: Annotated[int, Query(ge=1, le=200)] = 10) -> list[SumOut]:
    found, (since, until) = sums(request), span(request, days)
    return [SumOut(name=one.name, articles=one.number) for one in found.top(kind, since, until, limit)]


@router.get("/monitor/crawled", summary="What the crawls met, by source")
def crawled(request: Request, days: Annotated[int, Query(ge=1, le=365)] = 7) -> list[CrawledOut]:
    kept: FiguresCache = request.app.state.figures
    rows = kept.crawled(Visit(request).portal, days).rows
    return [fill(CrawledOut, row, known=row.known + row.repeated, failed=row.failures) for row in rows]


@router.get("/monitor/failures", summary="Why pages failed")
def failures(request: Request, days: Annotated[int, Query(ge=1, le=365)] = 7) -> list[FailureOut]:
    kept: FiguresCache = request.app.state.figures
    found = kept.crawled(Visit(request).portal, days).failures
    return [fill(FailureOut, one, reasons=dict(one.reasons), sources=dict(one.sources)) for one in found]


@router.get("/monitor/machine", summary="Memory, disk and files")
def of_machine(request: Request) -> MachineOut:
    found = machine(Visit(request).portal.config)
    sizes = {one.name: one.bytes for one in found.sizes}
    return fill(MachineOut, found, memory_beside=found.children, memory_available=found.machine_available, disk_low=found.low, sizes=sizes)


@router.get("/monitor/going", summary="Crawls at work, with their rates")
def at_work(request: Request) -> list[GoingOut]:
    portal = Visit(request).portal
    return [fill(GoingOut, one) for one in running_crawls(portal.store.runs(LATEST), portal.now())]


@router.get("/monitor/queues", summary="What waits, who works, which hosts have most to do, what was set aside", responses=describe(404))
def queues(request: Request) -> QueuesOut:
    portal = Visit(request).portal
    if portal.queues is None:
        raise ApiError(404, "no-queue", "This portal was opened without a queue of requests.")
    return QueuesOut.model_validate(portal.queues(), from_attributes=True)


@router.post("/monitor/aside", summary="Requests that were set aside: try all again, or forget them", dependencies=[needs(Right.EDIT)])
def aside(request: Request, told: AsideIn) -> AsideSettled:
    if request.app.state.settle is None:
        raise ApiError(404, "no-queue", "This portal was opened without a queue of requests.")
    try:
        number = request.app.state.settle(told.do)
    except NewsportalError as error:
        raise ApiError(503, "queue-away", str(error)) from error
    log_change(request, f"queue.{told.do}", "", {"requests": number})
    return AsideSettled(requests=number)


def sums(request: Request) -> DailySums:
    found: DailySums | None = request.app.state.daily
    if found is None:
        raise ApiError(404, "not-counted", "Daily figures are not counted here.")
    return found


def span(request: Request, days: int) -> tuple[date, date]:
    portal = Visit(request).portal
    until = day_of(portal.now(), portal.site.zone)
    return until - timedelta(days=days - 1), until
