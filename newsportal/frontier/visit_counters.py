"""What a crawl counts: Scrapy's stats by source, which the run report is made of; what is not yet written of the visits of sources; and
which hosts were reached. Counting is immediate."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from threading import Lock
from time import monotonic
from typing import Any
from urllib.parse import urlsplit

from scrapy.statscollectors import StatsCollector

from newsportal.messages import Message
from newsportal.report import COUNTERS, SourceReport
from newsportal.visits import COUNTED, Visit, newest

PREFIX = "newsportal/"
"""Scrapy stats are named ``newsportal/SOURCE/COLUMN`` and ``newsportal/SOURCE/failed/REASON``."""

SECONDS = "seconds"
"""The column of how long visits took."""

OUTAGE = ("dns", "connection", "robots-unreachable")
"""Reasons that every source has when there is no network."""

LATELY = 300.0
"""Seconds: a list page that was read so long ago says that there is a network."""


def utcnow() -> datetime:
    return datetime.now(UTC)


def unreached(reasons: Iterable[str]) -> bool:
    """Whether these reasons, of which there is one at least, are all such that no host was reached."""
    found = tuple(reasons)
    return bool(found) and all(reason.startswith(OUTAGE) for reason in found)


class Reach:
    """Whether there is a network, by which hosts answered the spiders of a process. ``clock`` gives seconds."""

    def __init__(self, clock: Callable[[], float] = monotonic) -> None:
        self._clock = clock
        self._missed: set[str] = set()
        self._reached: float | None = None

    def reached(self) -> None:
        """A list page came."""
        self._reached = self._clock()
        self._missed.clear()

    def missed(self, source: str, told: str) -> None:
        """A list page of a source did not come, for a reason of :data:`OUTAGE`. ``told`` begins with its address, if that is known."""
        self._missed.add(urlsplit(told.partition(" ")[0].rstrip(":")).netloc or source)

    @property
    def away(self) -> bool:
        """Whether several hosts could not be reached, and none could lately. One host alone, of many sources or one, may be gone itself."""
        return len(self._missed) > 1 and (self._reached is None or self._clock() - self._reached > LATELY)


@dataclass(slots=True)
class _Part:
    counts: dict[str, int] = field(default_factory=lambda: defaultdict(int))
    failed: dict[str, int] = field(default_factory=lambda: defaultdict(int))
    list_failed: dict[str, int] = field(default_factory=lambda: defaultdict(int))
    published: tuple[datetime, ...] = ()
    asked_wait: float | None = None
    moved: str | None = None
    hub: str | None = None

    @property
    def unreached(self) -> bool:
        """Whether nothing came, since its host was not reached."""
        return not any(self.counts.values()) and not self.failed and unreached(self.list_failed)

    def visit(self, source: str, now: datetime) -> Visit:
        pages = self.counts["list_pages"]
        return Visit(
            source,
            now,
            **{name: max(0, self.counts[name]) for name in COUNTED},
            not_modified=bool(pages) and self.counts["not_modified"] >= pages,
            failed=dict(self.failed),
            list_failed=dict(self.list_failed),
            published=self.published,
            asked_wait=self.asked_wait,
            moved=self.moved,
            hub=self.hub,
        )


class VisitCounters:
    """What a worker did of the visits of sources since it last wrote it down (``spiders.visiting``). Safe between threads."""

    def __init__(self) -> None:
        self._parts: dict[str, _Part] = defaultdict(_Part)
        self._lock = Lock()

    def count(self, source: str, column: str, reason: str | None = None, number: int = 1) -> None:
        """As ``Ledger.count``, which calls it."""
        with self._lock:
            part = self._parts[source]
            (getattr(part, column) if reason else part.counts)[reason or column] += number

    def published(self, source: str, moments: Iterable[datetime | None]) -> None:
        """When new entries were published; those that do not say are left out."""
        with self._lock:
            part = self._parts[source]
            part.published = newest((*part.published, *(moment for moment in moments if moment is not None)))

    def asked(self, source: str, seconds: float) -> None:
        """The server or the feed asked to wait so long; the longest counts."""
        with self._lock:
            part = self._parts[source]
            part.asked_wait = max(seconds, part.asked_wait or 0.0)

    def moved(self, source: str, url: str) -> None:
        """A list page has gone there for ever."""
        with self._lock:
            self._parts[source].moved = url

    def hub(self, source: str, url: str) -> None:
        """Where the feed can be subscribed to."""
        with self._lock:
            self._parts[source].hub = url

    @property
    def uncounted(self) -> frozenset[str]:
        """Sources of which something was counted that is not taken yet."""
        with self._lock:
            return frozenset(self._parts)

    def taken(self, now: datetime, going: Collection[str] = (), *, away: bool = False) -> list[Visit]:
        """What was counted, a part a source; counting begins anew.

        Of visits that are still ``going`` what only says that a host was not reached waits for their end, when more is known. While the
        network is ``away`` it is dropped: that says nothing of the source.
        """
        with self._lock:
            counted, self._parts = self._parts, defaultdict(_Part)
            lost = {source for source, part in counted.items() if part.unreached}
            self._parts.update({source: counted[source] for source in lost.intersection(going)})
        left = lost if away else lost.intersection(going)
        return [part.visit(source, now) for source, part in counted.items() if source not in left]


class ReportCounters:
    """``reach`` is the process's: a list page that came says that there is a network."""

    def __init__(self, stats: StatsCollector, reach: Reach) -> None:
        self._stats = stats
        self._reach = reach
        self._notes: dict[str, dict[Message, None]] = defaultdict(dict)
        self.told = VisitCounters()

    def count(self, source: str, column: str, reason: str | None = None, number: int = 1) -> None:
        """Add to a column of the report; ``reason`` for the columns ``failed`` and ``list_failed``."""
        key = f"{PREFIX}{source}/{column}"
        self._stats.inc_value(f"{key}/{reason}" if reason else key, number)
        self.told.count(source, column, reason, number)
        if column == "list_pages":
            self._reach.reached()

    def took(self, source: str, seconds: float) -> None:
        """A visit has ended that took so long."""
        key = f"{PREFIX}{source}/{SECONDS}"
        self._stats.set_value(key, self._stats.get_value(key, 0.0) + seconds)

    def note(self, source: str, message: Message) -> None:
        """A note of the report, once. Stages call it from their threads, too."""
        self._notes[source].setdefault(message)

    def report(self) -> tuple[SourceReport, ...]:
        """The rows so far, by source."""
        rows: dict[str, dict[str, dict[str, Any]]] = defaultdict(lambda: {"": {}, "failed": {}, "list_failed": {}})
        for key, value in self._stats.get_stats().items():
            if key.startswith(PREFIX):
                source, column, *reason = key.removeprefix(PREFIX).split("/", 2)
                if reason:
                    rows[source][column][reason[0]] = value
                elif column in COUNTERS or column == SECONDS:
                    rows[source][""][column] = value
        for source in self._notes:
            rows[source]  # a source that only has a note has a row too
        return tuple(
            SourceReport(
                source=source,
                **tables[""],
                failed=tables["failed"],
                list_failed=tables["list_failed"],
                notes=tuple(self._notes.get(source, ())),
            )
            for source, tables in sorted(rows.items())
        )
