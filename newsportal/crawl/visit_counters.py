"""Counters of a crawl per source (Scrapy's stats, the run report, visits not yet written), and the state of sources between visits."""

import asyncio
import logging
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from threading import Lock
from time import monotonic
from typing import Any, Literal
from urllib.parse import urlsplit

from scrapy.statscollectors import StatsCollector

from newsportal.errors import StoreError
from newsportal.items.report import COUNTERS, SourceReport
from newsportal.items.visits import COUNT_COLUMNS, Visit, newest
from newsportal.logs import warned
from newsportal.messages import Message
from newsportal.store.results import SourceState
from newsportal.store.store import Store

logger = logging.getLogger(__name__)

PREFIX = "newsportal/"  # Scrapy's stats are named newsportal/SOURCE/COLUMN and newsportal/SOURCE/failed/REASON
SECONDS = "seconds"  # column with the duration of visits
OUTAGE = ("dns", "connection", "robots-unreachable")  # reasons that every source reports when there is no network
REACHED_SECONDS = 300.0  # seconds: after a list page was fetched, the network counts as up for this long

BLOCKED = "blocked"  # prefix of the reasons when an engine demands a captcha or a login
Validators = tuple[str | None, str | None]  # ETag and Last-Modified


def utcnow() -> datetime:
    return datetime.now(UTC)


def is_outage(reasons: Iterable[str]) -> bool:
    """Return whether all of these reasons mean that no host was reached."""
    causes = tuple(reasons)
    return bool(causes) and all(reason.startswith(OUTAGE) for reason in causes)


class NetworkReach:
    """Whether the network is up, by the hosts that answered the spiders of this process."""

    def __init__(self, clock: Callable[[], float] = monotonic) -> None:
        self._clock = clock
        self._missed: set[str] = set()
        self._reached: float | None = None

    def reached(self) -> None:
        self._reached = self._clock()
        self._missed.clear()

    def missed(self, source: str, reason: str) -> None:
        """Record a list page that failed for a reason of ``OUTAGE``. ``reason`` may begin with its URL."""
        self._missed.add(urlsplit(reason.partition(" ")[0].rstrip(":")).netloc or source)

    @property
    def offline(self) -> bool:
        """Whether several hosts were unreachable and none was reached within the last ``REACHED_SECONDS`` seconds."""
        return len(self._missed) > 1 and (self._reached is None or self._clock() - self._reached > REACHED_SECONDS)


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
        return not any(self.counts.values()) and not self.failed and is_outage(self.list_failed)

    def visit(self, source: str, now: datetime) -> Visit:
        pages = self.counts["list_pages"]
        return Visit(
            source,
            now,
            **{name: max(0, self.counts[name]) for name in COUNT_COLUMNS},
            not_modified=bool(pages) and self.counts["not_modified"] >= pages,
            failed=dict(self.failed),
            list_failed=dict(self.list_failed),
            published=self.published,
            asked_wait=self.asked_wait,
            moved=self.moved,
            hub=self.hub,
        )


class VisitCounters:
    """Counts of visits since they were last written to the store. Thread-safe."""

    def __init__(self) -> None:
        self._parts: dict[str, _Part] = defaultdict(_Part)
        self._lock = Lock()

    def count(self, source: str, column: str, reason: str | None = None, number: int = 1) -> None:
        with self._lock:
            part = self._parts[source]
            (getattr(part, column) if reason else part.counts)[reason or column] += number

    def record_published(self, source: str, moments: Iterable[datetime | None]) -> None:
        """Record when new entries were published, as far as they are dated."""
        with self._lock:
            part = self._parts[source]
            part.published = newest((*part.published, *(moment for moment in moments if moment is not None)))

    def record_wait(self, source: str, seconds: float) -> None:
        """Record the wait that the server or the feed requested; the longest counts."""
        with self._lock:
            part = self._parts[source]
            part.asked_wait = max(seconds, part.asked_wait or 0.0)

    def record(self, source: str, column: Literal["moved", "hub"], url: str) -> None:
        with self._lock:
            setattr(self._parts[source], column, url)

    @property
    def uncounted(self) -> frozenset[str]:
        """Sources with counts that are not taken yet."""
        with self._lock:
            return frozenset(self._parts)

    def take_visits(self, now: datetime, going: Collection[str] = (), *, away: bool = False) -> list[Visit]:
        """Remove and return the counts, one visit per source. Unreached hosts of visits ``going`` remain; network ``away``: dropped."""
        with self._lock:
            parts, self._parts = self._parts, defaultdict(_Part)
            missed = {source for source, part in parts.items() if part.unreached}
            self._parts.update({source: parts[source] for source in missed.intersection(going)})
        dropped = missed if away else missed.intersection(going)
        return [part.visit(source, now) for source, part in parts.items() if source not in dropped]


class SourceStates:
    """Counters by source, and the state saved when the visit of a source ends. Methods that query the store are coroutines."""

    def __init__(self, stats: StatsCollector, reach: NetworkReach, store: Store) -> None:
        self._stats, self._reach, self.store = stats, reach, store
        self._notes: dict[str, dict[Message, None]] = defaultdict(dict)
        self.visit_counts = VisitCounters()
        self._validators: dict[str, dict[str, Validators]] = defaultdict(dict)
        self._errors: dict[str, str] = {}
        self._pauses: dict[str, datetime] = {}
        self._layouts: set[str] = set()

    def count(self, source: str, column: str, reason: str | None = None, number: int = 1, topic: str | None = None) -> None:
        """Add to a column of the report. ``reason``: for ``failed`` and ``list_failed``; ``topic``: the topic that found the entry."""
        key = f"{PREFIX}{source}/{column}"
        if topic:
            self._stats.inc_value(f"{PREFIX}{source}/topics/{column}/{topic}", number)
        self._stats.inc_value(f"{key}/{reason}" if reason else key, number)
        self.visit_counts.count(source, column, reason, number)
        if column == "list_pages":
            self._reach.reached()

    def add_seconds(self, source: str, seconds: float) -> None:
        key = f"{PREFIX}{source}/{SECONDS}"
        self._stats.set_value(key, self._stats.get_value(key, 0.0) + seconds)

    def note(self, source: str, message: Message) -> None:
        """Add a note to the report, once."""
        self._notes[source].setdefault(message)

    def report(self) -> tuple[SourceReport, ...]:
        rows: dict[str, dict[str, Any]] = defaultdict(lambda: {"failed": {}, "list_failed": {}, "topics": {}})
        for key, value in self._stats.get_stats().items():
            if key.startswith(PREFIX):
                source, column, *reason = key.removeprefix(PREFIX).split("/", 2)
                if column == "topics":
                    column, topic = reason[0].split("/", 1)
                    rows[source]["topics"].setdefault(topic, {})[column] = value
                elif reason:
                    rows[source][column][reason[0]] = value
                elif column in COUNTERS or column == SECONDS:
                    rows[source][column] = value
        for source in self._notes:
            rows[source]  # a source with only a note gets a row, too
        return tuple(SourceReport(source, notes=tuple(self._notes.get(source, ())), **row) for source, row in sorted(rows.items()))

    def list_failed(self, source: str, reason: str, detail: str | None = None) -> None:
        """Count a list page without result; ``detail`` is shown on the source's health page."""
        self.count(source, "list_failed", reason)
        self._errors[source] = f"{reason}: {detail}" if detail else reason
        if is_outage([reason]):
            self._reach.missed(source, detail or "")

    def count_skipped_list(self, source: str, reason: str) -> None:
        """Count a list page that is not public (a members' board), without failing the visit."""
        self._stats.inc_value(f"{PREFIX}{source}/list_failed/{reason}")

    def validate(self, source: str, url: str, validators: Validators) -> None:
        """Remember a list page's ETag and Last-Modified until the end of the run, when its links are stored."""
        self._validators[source][url] = validators

    def pause(self, source: str, until: datetime) -> None:
        """Do not visit ``source`` before ``until`` (a captcha, a Retry-After)."""
        self._pauses[source] = until
        self.visit_counts.record_wait(source, max(0.0, (until - utcnow()).total_seconds()))

    async def pause_now(self, source: str, until: datetime) -> None:
        self.pause(source, until)
        with warned(logger, "the Retry-After of %s could not be shared with other workers", source, source=source):
            state = await self.state(source)
            error = self._errors.get(source, state.last_error)
            await asyncio.to_thread(self.store.save_source_state, replace(state, rest_until=until, last_error=error))

    async def is_paused(self, source: str) -> bool:
        """Return whether any worker paused ``source``; False if the store is unreachable."""
        try:
            until = (await self.state(source)).rest_until
        except StoreError:
            return False
        return until is not None and until > utcnow()

    def layout_changed(self, source: str) -> None:
        """Record that the wrapper of ``source`` found nothing where the template-free extractor did."""
        self._layouts.add(source)
        self.note(source, Message("note.layout-changed"))

    async def state(self, source: str) -> SourceState:
        return await asyncio.to_thread(self.store.source_state, source)

    async def begin(self, state: SourceState) -> bool:
        """Begin a visit. Return whether it must be thorough because the previous one was not completed. Raises ``StoreError``."""
        await asyncio.to_thread(self.store.save_source_state, replace(state, unfinished=utcnow()))
        return state.unfinished is not None or state.last_success is None

    @property
    def offline(self) -> bool:
        """Whether the network is down, which is not counted against the sources."""
        return self._reach.offline

    def unreached(self, source: str) -> bool:
        return self._errors.get(source, "").startswith(OUTAGE)

    async def transfer_visit(self, source: str) -> None:
        """Save this process's findings about a visit that another process closes. Raises ``StoreError``."""
        if self._validators.get(source) or source in self._pauses or source in self._layouts:
            await asyncio.to_thread(lambda: self.store.save_source_state(self._seen(self.store.source_state(source), utcnow())))

    def _seen(self, state: SourceState, now: datetime) -> SourceState:
        source = state.source
        return replace(
            state, validators={**state.validators, **self._validators.get(source, {})},
            rest_until=self._pauses.get(source, state.rest_until),
            layout_changed=now if source in self._layouts else state.layout_changed,
        )  # fmt: skip

    async def close(self, visited: Iterable[str], now: datetime, *, finished: bool = True) -> None:
        """Save the states of the visited sources. ``finished``: the run was not interrupted. Raises ``StoreError``."""
        away = self.offline
        for source in sorted(set(visited)):
            await asyncio.to_thread(self._save_state, source, now, away and self.unreached(source), finished)

    def _save_state(self, source: str, now: datetime, ours: bool, finished: bool) -> None:
        state = self.store.source_state(source)
        error = self._errors.get(source) or self._failed_elsewhere(source)
        hubs = [page.asked for page in state.hubs.values() if page.asked]
        if state.unfinished and (fetched := sum(at >= state.unfinished.timestamp() for at in hubs)):
            self.note(source, Message("note.hub-pages", asked=fetched, followed=len(hubs)))
        if ours:
            self.store.save_source_state(replace(state, last_error=error))
            return
        complete = finished and (error is None or error.startswith(BLOCKED))  # do not send further queries to an engine that blocks
        seen = replace(
            self._seen(state, now), last_run=now, last_success=state.last_success if error else now, last_error=error or state.last_error,
            failures_in_row=state.failures_in_row + 1 if error else 0, unfinished=None if complete else state.unfinished,
        )  # fmt: skip
        self.store.save_source_state(seen)

    def _failed_elsewhere(self, source: str) -> str | None:
        """Return the most frequent reason why list pages failed in another process."""
        visits = self.store.visits.of(source, limit=1)
        return max(visits[0].list_failed, key=visits[0].list_failed.__getitem__, default=None) if visits else None
