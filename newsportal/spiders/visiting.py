"""The visits that a spider has begun: each is a job of one worker, counted by all workers that process it, and ends with its last task."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from operator import itemgetter
from time import monotonic
from typing import TYPE_CHECKING, Any, Final

from newsportal.crawl.link_tracker import LinkTracker, utcnow
from newsportal.errors import FrontierUnavailable, StoreError
from newsportal.items.visits import Visit
from newsportal.logs import warned
from newsportal.store.results import SourceState

if TYPE_CHECKING:
    from newsportal.crawl.queues.base import Queue
    from newsportal.spiders.base import NewsSpider

logger = logging.getLogger(__name__)

CHECK_SECONDS: Final = 2.0  # Seconds between two checks for ended visits. A visit takes seconds to hours.
SAVE_SECONDS: Final = 5.0  # Seconds between two saves of counts, as for the run report
IDLE_CHECKS: Final = 3
"""Consecutive checks without tasks of a visit until it has ended: tasks just pushed may still be on their way to the queue, and counts of
other workers are saved by then (``SAVE_SECONDS``)."""

DAY_SECONDS: Final = 86_400.0
RETRY_SECONDS: Final = 0.2  # Seconds between two attempts to claim a visit while the queue is unavailable
MAX_VISITS: Final = 100
"""Maximum of concurrent visits with pending tasks. After a downtime all sources are due at once: further visits begin as these end, so that
their news do not wait behind thousands of list pages, and other workers get their share."""

MAX_CLAIM: Final = 6 * 3600.0
"""Longest duration of a visit in seconds, while its worker lives; the longest measured was a forum's first, of two hours."""

MAX_AGE: Final = timedelta(days=60)
"""How long visits are kept: the schedule learns from four weeks, and a silent source is judged by the weeks before."""


def job_of(source: str) -> str:
    """Return the name of the job that claims a visit of a source."""
    return f"visit:{source}"


@dataclass(slots=True)
class _Open:
    began: datetime
    calm: int = 0
    idle_since: datetime | None = None  # when no pending task was found for the first time
    ours: bool = True


class ActiveVisits:
    """See the module. ``queue`` returns the queue of requests, ``None`` if there is none, and raises ``FrontierUnavailable`` while it is
    not open. ``end_visit`` is called with each source whose visit has ended, ``forget_visit`` if another worker closes it."""

    def __init__(
        self,
        tracker: LinkTracker,
        queue: Callable[[], Queue | None],
        end_visit: Callable[[str], Awaitable[None]],
        forget_visit: Callable[[str], None] = lambda source: None,
    ) -> None:
        self._tracker = tracker
        self._queue = queue
        self._end_visit = end_visit
        self._forget_visit = forget_visit
        self._open: dict[str, _Open] = {}
        self._task: asyncio.Task[None] | None = None
        self._ending = asyncio.Lock()

    @property
    def in_progress(self) -> frozenset[str]:
        """The sources with visits in progress."""
        return frozenset(source for source, opened in self._open.items() if opened.ours)

    async def wait_for_capacity(self) -> None:
        """Wait until fewer than :data:`MAX_VISITS` visits have pending tasks, as of the last check."""
        while sum(opened.ours and not opened.calm for opened in self._open.values()) >= MAX_VISITS:
            with suppress(FrontierUnavailable):
                if self._queue() is None:  # a replay: pending tasks are unknown
                    return
            await asyncio.sleep(CHECK_SECONDS / 2)

    async def claim(self, source: str) -> bool:
        """Claim the visit for this worker; return False if another has it. Waits for an unavailable queue."""
        if source in self.in_progress:
            return False
        while True:
            try:
                queue = self._queue()
                return queue is None or await asyncio.to_thread(queue.claim, job_of(source), MAX_CLAIM)
            except FrontierUnavailable:
                await asyncio.sleep(RETRY_SECONDS)

    async def begin(self, source: str) -> None:
        """Record the beginning of the visit. Raises ``StoreError``; then it has not begun."""
        now = utcnow()
        await asyncio.to_thread(self._tracker.store.visits.add, Visit(source, now))
        self._open[source] = _Open(now)
        self._start_watching()

    def follow(self, source: str) -> None:
        """Watch for the end of a visit that another worker began."""
        if source not in self._open:
            self._open[source] = _Open(utcnow(), ours=False)
            self._start_watching()

    def _start_watching(self) -> None:
        if self._task is None:
            self._task = asyncio.get_running_loop().create_task(self._watch())

    async def release(self, source: str) -> None:
        """Release a visit that did not begin: another worker may claim it."""
        self._open.pop(source, None)
        await self._release(source)

    async def write(self, ended: Collection[str] = ()) -> None:
        """Save the counts; of visits that ended also the duration. A visit that ended during a network outage leaves no trace. Counts that
        cannot be saved now are missing only from the schedule's history."""
        now = utcnow()
        offline = self._tracker.offline
        unreached = {source for source in ended if offline and self._tracker.unreached(source)}
        parts = self._tracker.visit_counts.take_visits(now, self.in_progress - set(ended), away=offline)
        for source in (self.in_progress & set(ended)) - unreached:
            opened = self._open[source]
            seconds = ((opened.idle_since or now) - opened.began).total_seconds()
            self._tracker.add_seconds(source, seconds)
            parts.append(Visit(source, now, seconds=seconds))
        with warned(logger, "the results of %d visits could not be stored", len(parts)):
            if parts:
                await asyncio.to_thread(self._tracker.store.visits.merge, parts)

    async def end(self, source: str) -> None:
        """End the visit: another worker may claim the next one."""
        if self._open.pop(source, None) is not None:
            await self._release(source)

    async def stop(self) -> None:
        """Stop watching when the spider ends. A visit that is being ended is ended first: a second end would count its failure twice."""
        if self._task is not None:
            async with self._ending:
                self._task.cancel()
            with suppress(asyncio.CancelledError):
                await self._task

    async def forget(self) -> None:
        """Delete old visits."""
        with warned(logger, "old visits could not be deleted"):
            await asyncio.to_thread(self._tracker.store.visits.forget, utcnow() - MAX_AGE)

    async def _watch(self) -> None:
        last_write = last_forget = asyncio.get_running_loop().time()
        while True:
            await asyncio.sleep(CHECK_SECONDS)
            if (now := asyncio.get_running_loop().time()) - last_write >= SAVE_SECONDS:
                last_write = now
                await self.write()
            if now - last_forget >= DAY_SECONDS:
                last_forget = now
                await self.forget()
            for source in await self._ended_visits():
                try:
                    if source in self.in_progress:
                        async with self._ending:
                            await self._end_visit(source)
                    elif self._open.pop(source, None) is not None:
                        self._forget_visit(source)
                except Exception:  # do not block other visits; the source stays claimed, so that it is not visited repeatedly
                    logger.exception(
                        "%s: its visit cannot be finished; none is begun for %g hours", source, MAX_CLAIM / 3600, extra={"source": source}
                    )
                    self._open.pop(source, None)

    async def _ended_visits(self) -> list[str]:
        sources = list(self._open)
        outstanding: Mapping[str, int] = dict.fromkeys(sources, 1)  # while unknown
        with suppress(FrontierUnavailable):
            if (queue := self._queue()) is not None:
                outstanding = await asyncio.to_thread(queue.outstanding, sources)
        ended = []
        for source in sources:
            if (opened := self._open.get(source)) is None:
                continue  # given up meanwhile
            opened.calm = 0 if outstanding.get(source) else opened.calm + 1
            opened.idle_since = (opened.idle_since or utcnow()) if opened.calm else None
            if opened.calm >= IDLE_CHECKS:
                ended.append(source)
        return ended

    async def _release(self, source: str) -> None:
        try:
            if (queue := self._queue()) is not None:
                await asyncio.to_thread(queue.release, job_of(source))
        except FrontierUnavailable as error:
            logger.warning("the visit of %s stays claimed until this worker ends: %s", source, error, extra={"source": source})


DUE_CHECK_SECONDS: Final = 5.0
"""Seconds between two checks for due sources, which delay a push (WebSub) or a new source; a check reads the states of all sources."""

PAUSE_FACTOR: Final = 10.0
"""Pause between two checks as a multiple of their duration: checking 100,000 sources takes three seconds."""

OFFLINE_SECONDS: Final = 60.0  # Seconds between two checks during a network outage: visits do not count then, so all sources tried stay due


async def begin_due_visits(spider: NewsSpider, sources: Sequence[Any]) -> AsyncIterator[Any]:
    """Begin visits of all sources that are due, forever. While store or queue are unavailable nothing begins."""
    paused = False
    while True:
        began, seconds = monotonic(), 0.0
        try:
            await _forget(spider)
            spider.began = utcnow()
            waiting = await asyncio.to_thread(_waiting, spider, sources)
            seconds = monotonic() - began
            for source, state in waiting:
                if len(spider.active_visits.in_progress) >= MAX_VISITS:
                    break
                async for output in spider.begin(source, state):
                    yield output
            if paused:
                logger.warning("%s: visits begin again", spider.name)
            paused = False
        except StoreError as error:
            if not paused:
                logger.warning("%s: no visit begins at present: %s", spider.name, error)
            paused = True
        await asyncio.sleep(OFFLINE_SECONDS if spider.tracker.offline else max(DUE_CHECK_SECONDS, PAUSE_FACTOR * seconds))


def _waiting(spider: NewsSpider, sources: Sequence[Any]) -> list[tuple[Any, SourceState]]:
    """Return the due sources with their states: never visited ones first, then those that waited longest. Raises ``StoreError``."""
    states = {state.source: state for state in spider.tracker.store.source_states()}
    opened, found = spider.active_visits.in_progress, []
    for source in sources:
        state = states.get(source.key) or SourceState(source.key)
        if source.key not in opened and not spider.should_skip(source, state):
            found.append((spider.timing.due_at(source, state, spider.began).timestamp() if state.last_run else 0.0, source, state))
    return [(source, state) for _, source, state in sorted(found, key=itemgetter(0))]


async def _forget(spider: NewsSpider) -> None:
    """Forget visits that other workers began, once this one's part of them is saved. Raises ``StoreError``."""
    tracker, open_keys = spider.tracker, spider.active_visits.in_progress
    for key in (tracker.counted | spider.remembered_sources) - open_keys:
        spider.active_visits.follow(key)
    for key in (spider.visited | tracker.met) - open_keys - tracker.visit_counts.uncounted:
        await tracker.transfer_visit(key)
        spider.visited.discard(key)
        tracker.forget(key)
