"""Figures of the monitor: articles per day and source (thesis E, figure 4-4), results of crawls (paper A, table 2), causes of failures."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, datetime, timedelta
from itertools import accumulate
from threading import Lock
from typing import Final, TypeVar, cast

from newsportal.items.report import Run, SourceReport, sum_reports
from newsportal.messages.reasons import cause_of
from newsportal.portal.context import Portal
from newsportal.portal.ttl_cache import TtlCache
from newsportal.services.daily import DailySums, Kind, Sum, day_of

T = TypeVar("T")
DAY_RANGES: Final = (7, 30, 90, 365)  # days that may be chosen
TOP: Final = 10  # as in the thesis' figure
MAX_RUNS: Final = 200  # maximum number of reports that are added up
SHOWN: Final[tuple[Kind, ...]] = ("site", "source", "topic", "category")
MAX_RUN_LENGTH: Final = timedelta(days=1)  # of a report: a permanent worker begins a new one each day
KEPT_SECONDS: Final = 30.0
MAX_CACHED: Final = 2 * len(DAY_RANGES)  # programs may request any number of days; for a thousand sources each result takes a megabyte
WIDTH, HEIGHT = 720, 120  # of the curve, in its own units


@dataclass(frozen=True, slots=True)
class Failure:
    """A cause with its reasons and sources, the most frequent first."""

    cause: str
    number: int
    reasons: tuple[tuple[str, int], ...]
    sources: tuple[tuple[str, int], ...]


@dataclass(frozen=True, slots=True)
class Crawled:
    """The sum of the reports of some days: ``seconds`` is the total duration of the runs."""

    runs: int
    seconds: float
    rows: tuple[SourceReport, ...]
    total: SourceReport
    failures: tuple[Failure, ...]
    capped: bool


@dataclass(frozen=True, slots=True)
class RunningCrawl:
    """A crawl that has not ended: ``fetched`` pages so far; ``failed`` pages and list pages."""

    run: str
    spiders: tuple[str, ...]
    started: datetime
    fetched: int
    pages_per_minute: float = field(metadata={"description": "Pages fetched per minute since it began."})
    stored: int
    failed: int


@dataclass(frozen=True, slots=True)
class Figures:
    """Figures of the last days. ``series``: articles per day; ``growth``: the total after each; ``behind``: changes not counted yet."""

    series: tuple[tuple[date, int], ...]
    growth: tuple[int, ...]
    total: int
    top: Mapping[Kind, tuple[Sum, ...]]
    behind: int

    @property
    def today(self) -> int:
        return self.series[-1][1]

    @property
    def per_day(self) -> float:
        return self.total / len(self.series)


class FiguresCache:
    """Figures of recently requested ranges, at most some seconds old, so that many readers cost one count. Thread-safe."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._cache: TtlCache[object] = TtlCache(KEPT_SECONDS, MAX_CACHED)

    def figures(self, portal: Portal, daily: DailySums, days: int) -> Figures:
        return self._of("figures", days, lambda: figures(portal, daily, days))

    def crawled(self, portal: Portal, days: int) -> Crawled:
        return self._of("crawled", days, lambda: crawled(portal.store.runs(MAX_RUNS), portal, days))

    def _of(self, kind: str, days: int, find: Callable[[], T]) -> T:
        with self._lock:
            return cast(T, self._cache.get((kind, days), find))


def figures(portal: Portal, daily: DailySums, days: int) -> Figures:
    since, until = last_days(portal, days)
    series = tuple(daily.series("all", "", since, until))
    growth = tuple(accumulate((number for _, number in series), initial=daily.before(since)))[1:]
    top = {kind: tuple(daily.top(kind, since, until, TOP)) for kind in SHOWN}
    behind = max(0, portal.store.last_seq() - daily.position())
    total = sum(number for _, number in series)
    return Figures(series, growth, total, top, behind)


def last_days(portal: Portal, days: int) -> tuple[date, date]:
    """Return the first and the last of the ``days`` days up to today."""
    until = day_of(portal.now(), portal.site.zone)
    return until - timedelta(days=days - 1), until


def crawled(runs: Sequence[Run], portal: Portal, days: int) -> Crawled:
    since = portal.now() - timedelta(days=days)
    recent = [run for run in runs if run.started >= since]
    by_source: dict[str, list[SourceReport]] = {}
    for run in recent:
        for row in run.sources:
            by_source.setdefault(row.source, []).append(row)
    rows = tuple(sorted((sum_reports(name, reports) for name, reports in by_source.items()), key=lambda row: (-row.entries, row.source)))
    seconds = sum((run.ended - run.started).total_seconds() for run in recent if run.ended is not None)
    total = replace(sum_reports("total", rows), seconds=seconds)
    return Crawled(len(recent), seconds, rows, total, failures(rows), len(recent) == len(runs) == MAX_RUNS)


def running_crawls(runs: Iterable[Run], now: datetime) -> list[RunningCrawl]:
    """Return the crawls in progress. One that crashed without a report is left out after a day, the longest that a report lasts."""
    crawls = []
    for run in runs:
        seconds = (now - run.started).total_seconds()
        if run.ended is None and 0 <= seconds <= MAX_RUN_LENGTH.total_seconds():
            total = run.total
            rate = total.fetched / max(1.0, seconds / 60)
            failed = total.failures + sum(total.list_failed.values())
            crawls.append(RunningCrawl(run.id, run.spiders, run.started, total.fetched, rate, total.stored, failed))
    return crawls


def failures(rows: Iterable[SourceReport]) -> tuple[Failure, ...]:
    """Group failures by cause, articles and list pages together."""
    reasons: dict[str, Counter[str]] = {}
    sources: dict[str, Counter[str]] = {}
    for row in rows:
        for reason, number in (*row.failed.items(), *row.list_failed.items()):
            cause = cause_of(reason)
            reasons.setdefault(cause, Counter())[reason] += number
            sources.setdefault(cause, Counter())[row.source] += number
    frequent = sorted(reasons.items(), key=lambda pair: (-pair[1].total(), pair[0]))
    return tuple(Failure(cause, all.total(), tuple(all.most_common(3)), tuple(sources[cause].most_common(3))) for cause, all in frequent)


def curve(values: Sequence[int]) -> str:
    """Return the path of a curve scaled from the lowest value to the highest."""
    least, most = min(values, default=0), max(values, default=1)
    span, step = (most - least) or 1, WIDTH / max(1, len(values) - 1)
    points = (f"{place * step:.1f} {(HEIGHT - 4) * (1 - (value - least) / span) + 2:.1f}" for place, value in enumerate(values))
    return "M" + "L".join(points)
