"""The visits that a spider has begun: each is a job that one worker has, is counted by all who work on it, and ends with its last task."""

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

LOOK: Final = 2.0  # Seconds between two looks at which visits have ended. A visit takes seconds to hours.
WRITE: Final = 5.0  # Seconds between two writings of what was counted, as for the run report
CALM: Final = 3
"""Looks in a row that find no task of a visit until it has ended: what was just pushed may still be on its way into the queue, and
what another worker counted of it is written by then (``WRITE``)."""

AGAIN: Final = 0.2  # Seconds between two tries to claim a visit while the queue is away
MOST: Final = 100
"""Visits of a spider that have something left to do. After a pause all sources are due at once: the next are begun as those end, so that
the first ones' news do not wait behind thousands of list pages, and other workers get their share."""

CLAIM: Final = 6 * 3600.0
"""Seconds that a visit may take at most, while its worker lives; the longest measured was a forum's first, of two hours."""

MAX_AGE: Final = timedelta(days=60)
"""How long visits are remembered: the schedule learns from four weeks, and a source that is silent is judged by the weeks before."""

DAILY: Final = 86_400.0


def job_of(source: str) -> str:
    """The name under which a visit of a source is claimed."""
    return f"visit:{source}"


@dataclass(slots=True)
class _Open:
    began: datetime
    calm: int = 0
    idle_since: datetime | None = None  # when nothing was found to be done for the first time
    ours: bool = True


class Visiting:
    """See the module. ``queue`` answers the queue of requests, ``None`` where there is none, and raises ``FrontierUnavailable`` while it is
    not open. ``over`` is called with each source whose visit has ended, ``past`` where another worker closes it."""

    def __init__(
        self,
        tracker: LinkTracker,
        queue: Callable[[], Queue | None],
        over: Callable[[str], Awaitable[None]],
        past: Callable[[str], None] = lambda source: None,
    ) -> None:
        self._tracker = tracker
        self._queue = queue
        self._over = over
        self._past = past
        self._open: dict[str, _Open] = {}
        self._task: asyncio.Task[None] | None = None

    @property
    def open(self) -> frozenset[str]:
        """The sources whose visits have begun and not ended."""
        return frozenset(source for source, opened in self._open.items() if opened.ours)

    async def wait_for_place(self) -> None:
        """Wait until fewer than :data:`MOST` visits have something left to do, as far as the last look knows."""
        while sum(opened.ours and not opened.calm for opened in self._open.values()) >= MOST:
            with suppress(FrontierUnavailable):
                if self._queue() is None:  # a replay: nobody knows what is left
                    return
            await asyncio.sleep(LOOK / 2)

    async def claim(self, source: str) -> bool:
        """Whether the visit is this worker's. Waits for a queue that is away."""
        if source in self.open:
            return False
        while True:
            try:
                queue = self._queue()
                return queue is None or await asyncio.to_thread(queue.claim, job_of(source), CLAIM)
            except FrontierUnavailable:
                await asyncio.sleep(AGAIN)

    async def begin(self, source: str) -> None:
        """The visit begins now. Raises ``StoreError``; then it has not."""
        now = utcnow()
        await asyncio.to_thread(self._tracker.store.visits.add, Visit(source, now))
        self._open[source] = _Open(now)
        self._start_watching()

    def follow(self, source: str) -> None:
        """Look for the end of a visit that another worker began."""
        if source not in self._open:
            self._open[source] = _Open(utcnow(), ours=False)
            self._start_watching()

    def _start_watching(self) -> None:
        if self._task is None:
            self._task = asyncio.get_running_loop().create_task(self._watch())

    async def give_up(self, source: str) -> None:
        """The visit did not begin: somebody else may have it."""
        self._open.pop(source, None)
        await self._release(source)

    async def write(self, ended: Collection[str] = ()) -> None:
        """What was counted goes to the store; of visits that ended also how long they took. One that ended while the network was away
        leaves no trace: nobody was asked. What cannot be written now is lost to the schedule's past, and to nothing else."""
        now = utcnow()
        away = self._tracker.offline
        lost = {source for source in ended if away and self._tracker.unreached(source)}
        parts = self._tracker.visit_counts.taken(now, self.open - set(ended), away=away)
        for source in (self.open & set(ended)) - lost:
            opened = self._open[source]
            seconds = ((opened.idle_since or now) - opened.began).total_seconds()
            self._tracker.took(source, seconds)
            parts.append(Visit(source, now, seconds=seconds))
        with warned(logger, "what %d visits brought is not remembered", len(parts)):
            if parts:
                await asyncio.to_thread(self._tracker.store.visits.join, parts)

    async def end(self, source: str) -> None:
        """The visit is over: somebody else may have the next one."""
        if self._open.pop(source, None) is not None:
            await self._release(source)

    async def stop(self) -> None:
        """The spider ends: nobody looks any more."""
        if self._task is not None:
            self._task.cancel()
            with suppress(asyncio.CancelledError):
                await self._task

    async def forget(self) -> None:
        """Let old visits go."""
        with warned(logger, "old visits are not forgotten"):
            await asyncio.to_thread(self._tracker.store.visits.forget, utcnow() - MAX_AGE)

    async def _watch(self) -> None:
        written = forgotten = asyncio.get_running_loop().time()
        while True:
            await asyncio.sleep(LOOK)
            if (now := asyncio.get_running_loop().time()) - written >= WRITE:
                written = now
                await self.write()
            if now - forgotten >= DAILY:
                forgotten = now
                await self.forget()
            for source in await self._calm():
                try:
                    if source in self.open:
                        await self._over(source)
                    elif self._open.pop(source, None) is not None:
                        self._past(source)
                except Exception:  # it keeps no other visit open; its source stays claimed, lest it were visited again and again
                    logger.exception(
                        "%s: its visit cannot be ended, nobody begins another for %g hours", source, CLAIM / 3600, extra={"source": source}
                    )
                    self._open.pop(source, None)

    async def _calm(self) -> list[str]:
        """The visits that have ended."""
        asked = list(self._open)
        left: Mapping[str, int] = dict.fromkeys(asked, 1)  # while nobody knows
        with suppress(FrontierUnavailable):
            if (queue := self._queue()) is not None:
                left = await asyncio.to_thread(queue.outstanding, asked)
        ended = []
        for source in asked:
            if (opened := self._open.get(source)) is None:
                continue  # given up meanwhile
            opened.calm = 0 if left.get(source) else opened.calm + 1
            opened.idle_since = (opened.idle_since or utcnow()) if opened.calm else None
            if opened.calm >= CALM:
                ended.append(source)
        return ended

    async def _release(self, source: str) -> None:
        try:
            if (queue := self._queue()) is not None:
                await asyncio.to_thread(queue.release, job_of(source))
        except FrontierUnavailable as error:
            logger.warning("the visit of %s stays taken until this worker ends: %s", source, error, extra={"source": source})


EVERY: Final = 5.0
"""Seconds between two looks. A push (WebSub) or a new source waits so long; a look reads the states of all sources, once."""

SPARE: Final = 10.0
"""Times as long as a look took, until the next one: 100,000 sources are looked through in three seconds, and not all the time."""

OFFLINE: Final = 60.0  # Seconds between two looks while the network is away: no visit counts then, so all that were tried stay due


async def rounds(spider: NewsSpider, sources: Sequence[Any]) -> AsyncIterator[Any]:
    """What visits begin with, of all that come due, for ever. While store or queue are away nothing begins."""
    away = False
    while True:
        began, took = monotonic(), 0.0
        try:
            await _forget(spider)
            spider.began = utcnow()
            waiting = await asyncio.to_thread(_waiting, spider, sources)
            took = monotonic() - began
            for source, state in waiting:
                if len(spider.visiting.open) >= MOST:
                    break
                async for wanted in spider.begin(source, state):
                    yield wanted
            if away:
                logger.warning("%s: visits begin again", spider.name)
            away = False
        except StoreError as error:
            if not away:
                logger.warning("%s: no visit begins for now: %s", spider.name, error)
            away = True
        await asyncio.sleep(OFFLINE if spider.tracker.offline else max(EVERY, SPARE * took))


def _waiting(spider: NewsSpider, sources: Sequence[Any]) -> list[tuple[Any, SourceState]]:
    """What is due, with what is known of it: never visited ones first, then those that waited longest. Raises ``StoreError``."""
    states = {state.source: state for state in spider.tracker.store.source_states()}
    opened, found = spider.visiting.open, []
    for source in sources:
        state = states.get(source.key) or SourceState(source.key)
        if source.key not in opened and not spider.skips(source, state):
            found.append((spider.timing.due_at(source, state, spider.began).timestamp() if state.last_run else 0.0, source, state))
    return [(source, state) for _, source, state in sorted(found, key=itemgetter(0))]


async def _forget(spider: NewsSpider) -> None:
    """Nothing is kept of visits that other workers began, once what this one did of them is written. Raises ``StoreError``."""
    tracker, ours = spider.tracker, spider.visiting.open
    for key in (tracker.counted | spider.remembered) - ours:
        spider.visiting.follow(key)
    for key in (spider.visited | tracker.met) - ours - tracker.visit_counts.uncounted:
        await tracker.transfer_visit(key)
        spider.visited.discard(key)
        tracker.forget(key)
