"""Operation: runs and their logs, suggested sources, the figures of the monitor, and the queue of requests."""

from collections.abc import Sequence
from datetime import date, datetime
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Body, Query, Request
from pydantic import AliasPath, BaseModel, BeforeValidator, Field

from newsportal.errors import NewsportalError
from newsportal.items.report import Run, to_dict
from newsportal.portal.access import EDIT, WATCH, api_error_for, describe, log_change, or_404
from newsportal.portal.api.paging import fill
from newsportal.portal.context import Portal, PortalDep, Visit
from newsportal.portal.desk.sources import SuggestionCache
from newsportal.portal.monitor.figures import FiguresCache, RunningCrawl, last_days, running_crawls
from newsportal.portal.monitor.process_metrics import Machine, measure_machine
from newsportal.portal.monitor.queues import AsideRow, BusyHost, QueueRow, Queues, Settle, Way, WorkerRow
from newsportal.portal.monitor.runs import RUNS_SEARCHED
from newsportal.portal.monitor.system import MAX_LINES, Line, find_lines, run_lines
from newsportal.services.daily import DailySums, Kind, Sum
from newsportal.services.discovery.suggestions import Suggestion

router = APIRouter(tags=["Operation"], dependencies=WATCH)

Days = Annotated[int, Query(ge=1, le=3660, description="Number of days up to today.")]

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
    at: datetime | None = Field(description="Null: it continues the previous line.")
    level: str
    logger: str = Field(validation_alias="from_")
    text: str


class DayCount(BaseModel):
    day: date
    articles: int


class ArticleCount(BaseModel):
    name: str
    articles: int = Field(validation_alias="number")


class FailureOut(BaseModel):
    cause: str
    number: int
    reasons: dict[str, int]
    sources: dict[str, int]


class SourceCrawlResult(BaseModel):
    source: str
    entries: int
    known: int = Field(description="Known or repeated entries.")
    new: int
    fetched: int
    parsed: int
    stored: int
    folded: int
    failed: int
    precision: float | None
    recall: float | None
    seconds: float = Field(description="Duration of its visits.")


class MachineOut(BaseModel):
    memory: int = Field(description="Memory of this process in bytes.")
    memory_children: int = Field(description="Memory in bytes of the crawls and trainings that it started.", validation_alias="children")
    load: float = Field(description="Average of the last minute, per processor; 1: all are busy.")
    memory_available: int = Field(validation_alias="machine_available")
    disk_free: int = Field(validation_alias=AliasPath("disk", "free"))
    disk_total: int = Field(validation_alias=AliasPath("disk", "total"))
    disk_low: bool = Field(validation_alias=AliasPath("disk", "low"))
    sizes: Annotated[dict[str, int | None], BeforeValidator(lambda sizes: {size.name: size.bytes for size in sizes})] = Field(
        description="Bytes of each part; null: on a server or not used."
    )


class SettledRequests(BaseModel):
    requests: int


class QueueStatus(BaseModel):
    place: str
    queues: list[QueueRow]
    workers: list[WorkerRow]
    hosts: list[BusyHost]
    aside: list[AsideRow] = Field(description="Requests of which several workers died.")
    error: str | None = Field(description="Why there is no information.")


@router.get("/runs", summary="The latest crawls")
def list_runs(portal: PortalDep, limit: Annotated[int, Query(ge=1, le=RUNS)] = RUNS) -> list[RunOut]:
    pairs = [(run, run.total) for run in portal.store.runs(limit)]
    return [
        fill(RunOut, run, stored=total.stored, folded=total.folded, failed=total.failures + sum(total.list_failed.values()))
        for run, total in pairs
    ]


@router.get("/runs/{id}", summary="The report of a crawl, by source", responses=describe(404))
def get_run(portal: PortalDep, id: str) -> dict[str, Any]:
    return to_dict(_run(portal, id))


@router.get("/runs/{id}/log", summary="The end of a crawl's log, latest line first", response_model=list[LineOut], responses=describe(404))
def get_run_log(
    portal: PortalDep,
    id: str,
    level: Annotated[Level | None, Query(description="Minimum level.")] = None,
    words: Annotated[str | None, Query(max_length=100)] = None,
    limit: Annotated[int, Query(ge=1, le=MAX_LINES)] = 200,
) -> list[Line]:
    """Without passwords, tokens and keys. The log of a crawl on another machine is there only."""
    lines = or_404(run_lines(portal, _run(portal, id)), "no-log", "This run has no log on this machine, or it was deleted.")
    return find_lines(lines, level, words, limit)


@router.get("/suggestions", summary="Sites that could become sources")
def list_suggestions(request: Request) -> list[Suggestion]:
    cache: SuggestionCache = request.app.state.suggestion_cache
    return cache.suggestions()


@router.get("/monitor/days", summary="Articles per day, of all or of one source, site, category or topic")
def list_days(request: Request, days: Days = 30, kind: Kind = "all", name: Annotated[str, Query(max_length=300)] = "") -> list[DayCount]:
    counts = sums(request).series(kind, name, *last_days(Visit(request).portal, days))
    return [DayCount(day=day, articles=number) for day, number in counts]


@router.get("/monitor/top", summary="Sources, sites, categories or topics with the most articles", response_model=list[ArticleCount])
def list_top(request: Request, kind: Kind = "site", days: Days = 30, limit: Annotated[int, Query(ge=1, le=200)] = 10) -> Sequence[Sum]:
    return sums(request).top(kind, *last_days(Visit(request).portal, days), limit)


@router.get("/monitor/crawled", summary="Results of crawls, by source")
def list_crawl_results(request: Request, portal: PortalDep, days: Annotated[int, Query(ge=1, le=365)] = 7) -> list[SourceCrawlResult]:
    cache: FiguresCache = request.app.state.figures
    return [fill(SourceCrawlResult, row, known=row.known + row.repeated, failed=row.failures) for row in cache.crawled(portal, days).rows]


@router.get("/monitor/failures", summary="Failures of pages, by cause")
def list_failures(request: Request, portal: PortalDep, days: Annotated[int, Query(ge=1, le=365)] = 7) -> list[FailureOut]:
    cache: FiguresCache = request.app.state.figures
    failures = cache.crawled(portal, days).failures
    return [fill(FailureOut, failure, reasons=dict(failure.reasons), sources=dict(failure.sources)) for failure in failures]


@router.get("/monitor/machine", summary="Memory, disk and files", response_model=MachineOut)
def get_machine(portal: PortalDep) -> Machine:
    return measure_machine(portal.config)


@router.get("/monitor/running", summary="Crawls in progress, with their rates")
def list_running_crawls(portal: PortalDep) -> list[RunningCrawl]:
    return running_crawls(portal.store.runs(RUNS_SEARCHED), portal.now())


@router.get(
    "/monitor/queues", summary="Queues, workers, busiest hosts, and requests set aside", response_model=QueueStatus,
    responses=describe(404),
)  # fmt: skip
def get_queues(portal: PortalDep) -> Queues:
    return or_404(portal.queues, "no-queue", "This portal has no request queue.")()


@router.post("/monitor/aside", summary="Retry or drop all requests that were set aside", dependencies=EDIT)
def settle_requests(request: Request, action: Annotated[Way, Body(embed=True)]) -> SettledRequests:
    settle: Settle = or_404(request.app.state.settle, "no-queue", "This portal has no request queue.")
    with api_error_for(NewsportalError, status=503, code="queue-unavailable"):
        number = settle(action)
    log_change(request, f"queue.{action}", "", {"requests": number})
    return SettledRequests(requests=number)


def _run(portal: Portal, id: str) -> Run:
    return or_404(portal.store.run(id), "no-run", "There is no such run.")


def sums(request: Request) -> DailySums:
    daily: DailySums | None = request.app.state.daily
    return or_404(daily, "not-counted", "This portal has no daily figures.")
