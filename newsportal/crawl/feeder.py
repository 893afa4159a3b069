"""The link between a crawl and its queue: prefetches leased requests, and sends changes to the queue in batches.

One asyncio task, and one thread for the queue: the crawl never waits for a disk or a network here.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, TypeVar

from scrapy import Request

from newsportal.crawl.host_locks import MAX_WAIT, HostLocks, WaitingRequest
from newsportal.crawl.leases import Leases
from newsportal.crawl.queues.base import Answer, Order, Queue, Task, Terms
from newsportal.crawl.redis_connection import EVERY as STARTS
from newsportal.crawl.redis_connection import StartUrls
from newsportal.crawl.requests import UnreadableTask
from newsportal.errors import FrontierRefused, FrontierUnavailable, StoreError

if TYPE_CHECKING:
    from newsportal.crawl.scheduler import Scheduler

logger = logging.getLogger(__name__)

Found = TypeVar("Found")

TICK: Final = 0.25  # seconds between two exchanges when idle, so that requests of other workers start soon
MIN_POLL: Final = 0.05  # seconds between two requests for work without other changes
GATHER_SECONDS: Final = 0.005  # seconds to collect changes before an exchange: the links of a page arrive one by one
MAX_HEARTBEAT: Final = 5.0  # seconds between two heartbeats at most: a twelfth of the default lease
MIN_HEARTBEATS: Final = 4  # heartbeats per lease at least: two may be late
AHEAD_SECONDS: Final = 2.0  # seconds of work prefetched per host: the queue may be unavailable for this time without idle hosts
MAX_HOLDS: Final = 50  # hosts requested in one exchange
RETRY_PAUSES: Final = (0.2, 0.5, 1.0, 2.0)  # seconds between retries while the queue is unavailable; the last one repeats
STORE_TRIES: Final = 6  # successive failures after which the store behind the queue counts as failed: some six seconds, as for an article
BATCH: Final = 500  # tasks pushed in one exchange: some 500 kB, so that other workers do not wait long for the queue
CLOSE_SECONDS: Final = 5.0  # seconds for which the end of a crawl waits for an unavailable queue; then its leases expire


@dataclass(slots=True)
class Feeder:
    """``prefetch``: leased requests in memory; ``delay``: seconds between requests to a host; ``lease``: seconds without heartbeat."""

    open: Callable[[], Queue]
    host_locks: HostLocks
    crawl: Scheduler
    prefetch: int
    delay: float
    lease: float = Terms().lease
    starts: StartUrls | None = None
    activity: dict[str, str] = field(default_factory=dict)
    leases: Leases = field(default_factory=Leases)
    queue: Queue | None = None
    away_since: float | None = None
    store_failed: bool = False  # the queue is unavailable because its store failed STORE_TRIES times in a row
    _next: Order = field(init=False)
    _acknowledging: frozenset[str] = frozenset()  # tasks being acknowledged by the current exchange
    _wake: asyncio.Event = field(default_factory=asyncio.Event)
    _thread: ThreadPoolExecutor = field(default_factory=lambda: ThreadPoolExecutor(1, thread_name_prefix="frontier"))
    _task: asyncio.Task[None] | None = None
    _changes: int = 0
    _drained: tuple[int, bool] = (-1, False)
    _last_take: float = 0.0
    _last_heartbeat: float = 0.0
    _poll_in: float = 0.0
    _failures: int = 0
    _read: list[bytes] = field(default_factory=list)
    _starts_read: float = 0.0
    _over: bool = False

    def __post_init__(self) -> None:
        self._next = Order(delay=self.delay, ahead=AHEAD_SECONDS)
        self.host_locks.wake = self.request_work

    # for the scheduler

    def start(self, broken: Callable[[BaseException], None]) -> None:
        """Start the task. ``broken`` is called with the error that ends it."""
        self._task = asyncio.get_running_loop().create_task(self._run())
        self._task.add_done_callback(lambda task: None if task.cancelled() or not (error := task.exception()) else broken(error))

    def push(self, task: Task) -> None:
        if task.id in self._acknowledging or task.id in self._next.done or self.leases.is_done(task.id, self.crawl.in_progress):
            self._next.requeue.append(task)
        else:
            self._next.push.append(task)
        self.changed()

    def changed(self) -> None:
        """Note that there is something to send."""
        self._changes += 1
        self._wake.set()

    def request_work(self) -> None:
        """Poll the queue for work soon."""
        self._wake.set()

    @property
    def heartbeat_seconds(self) -> float:
        """Seconds between two heartbeats."""
        return min(MAX_HEARTBEAT, self.lease / MIN_HEARTBEATS)

    @property
    def quiet(self) -> bool:
        """Whether nothing is left to do, as of the queue's last answer."""
        return self._drained == (self._changes, True) and not self.leases and not self.host_locks.waiting

    async def close(self) -> None:
        """Send what is left, return unfinished leases, and leave the queue."""
        self._over = True
        self._wake.set()
        if self._task is not None:
            await asyncio.wait([self._task])
        broken = self._task is not None and not self._task.cancelled() and self._task.exception() is not None
        until = time.monotonic() + CLOSE_SECONDS
        while not broken and (self.queue is not None or self._next.changes):
            if await self._converse(self._order(last=True)) is not None or time.monotonic() > until:
                break
            await asyncio.sleep(RETRY_PAUSES[0])
        if self.queue is not None:
            for step in (self.queue.leave, self.queue.close):
                with suppress(FrontierUnavailable, FrontierRefused):
                    await self._in_thread(step)
        self._thread.shutdown(wait=False)

    # the conversation

    async def _run(self) -> None:
        while not self._over:
            with suppress(TimeoutError):
                await asyncio.wait_for(self._wake.wait(), TICK if not self.host_locks.waiters else GATHER_SECONDS * 10)
            self._wake.clear()
            await asyncio.sleep(GATHER_SECONDS)
            if self._over:
                return
            if self.crawl.ending:
                for host in list(self.host_locks.waiters):
                    self.host_locks.wake_waiters(host)  # `acquire` raises CrawlEnding
            self.host_locks.release_idle(self._next, self.leases)
            self._changes += len(self._next.back)
            changes, order = self._changes, self._order()
            answer = await self._converse(order)
            if answer is not None:
                await self._apply(answer, changes, taken=order.take is not None)
                await self._start_urls()
            else:
                await asyncio.sleep(RETRY_PAUSES[min(self._failures, len(RETRY_PAUSES)) - 1])
                self._wake.set()

    async def _converse(self, order: Order) -> Answer | None:
        """Exchange an order for an answer. ``None`` while the queue is unavailable: the order's content is merged into the next one."""
        if not order.has_content:
            return Answer()
        self._acknowledging = frozenset(order.done)
        try:
            answer = await self._in_thread(lambda: self._exchange(order))
        except FrontierUnavailable as fault:
            self._went_away(fault)
            later = self._next
            later.push[:0], later.done[:0], later.requeue[:0], later.back[:0] = order.push, order.done, order.requeue, order.back
            later.free = {**order.free, **later.free}
            return None
        finally:
            self._acknowledging = frozenset()
        if self.away_since is not None:
            self.away_since, self._failures, self.store_failed = None, 0, False
            logger.warning("the queue of requests is available again")
            self.changed()
        return answer

    def _exchange(self, order: Order) -> Answer:
        if self.queue is None:
            self.queue = self.open()
        while len(order.push) > BATCH:
            self.queue.push(order.push[:BATCH])
            del order.push[:BATCH]
        return self.queue.exchange(order)

    async def _in_thread(self, function: Callable[[], Found]) -> Found:
        return await asyncio.get_running_loop().run_in_executor(self._thread, function)

    def _order(self, *, last: bool = False) -> Order:
        order, self._next = self._next, Order(delay=self.delay, ahead=AHEAD_SECONDS)
        finished = self.leases.take_finished(self.crawl.in_progress)
        order.done += [task.id for task in finished if not (task.link and self.crawl.ending)]
        if broken := [task.id for task in finished if task.link and self.crawl.ending]:
            order.back.append((broken, None))  # the end of the crawl interrupted requests without outcome: another process sends them
        if last:
            return order
        now = time.monotonic()
        order.hold = list(dict.fromkeys([*self.host_locks.waiters, *self.host_locks.unlocked_hosts()]))[:MAX_HOLDS]
        if now - self._last_heartbeat >= self.heartbeat_seconds:
            order.heartbeat, self._last_heartbeat = dict(self.activity), now
        if not self.crawl.ending and (order.changes or now - self._last_take >= min(max(self._poll_in, MIN_POLL), TICK)):
            order.take, self._last_take = max(self.prefetch - self.host_locks.waiting, 0), now
        return order

    def _went_away(self, fault: FrontierUnavailable) -> None:
        self._failures += 1
        self.store_failed = self._failures >= STORE_TRIES and isinstance(fault.__cause__, StoreError)
        if self.away_since is None:
            self.away_since = time.monotonic()
            logger.warning(
                "the queue of requests is unavailable (%s): requests in progress continue, the others wait until it is back", fault
            )

    async def _start_urls(self) -> None:
        """Make tasks from pushed start URLs, which leave their list once the tasks are in the queue."""
        starts, queue = self.starts, self.queue
        if starts is None or queue is None or self._next.push:
            return
        try:
            if self._read:
                await self._in_thread(lambda: starts.drop(queue, self._read))
                self._read = []
            if time.monotonic() - self._starts_read >= STARTS and not self.crawl.ending:
                self._starts_read = time.monotonic()
                self._read = await self._in_thread(lambda: starts.read(queue))
                if self._read:
                    await self.crawl.started(self._read)
                    self._wake.set()
        except FrontierUnavailable as error:
            self._read = []
            self._went_away(error)

    # what came of it

    async def _apply(self, answer: Answer, changes: int, *, taken: bool) -> None:
        now = time.monotonic()
        for host, seconds in answer.holds.items():
            if seconds is not None:
                self.host_locks.hold(host, now + seconds)
        lost = [lease for id in answer.lost if (lease := self.leases.get(id)) is not None and not lease.lost]
        for lease in lost:
            lease.lost = True
            if self.leases.is_single(lease.task.id):
                self.host_locks.remove(lease.task.host, lambda entry, id=lease.task.id: entry.lease == id)  # type: ignore[misc]
                del self.leases[lease.task.id]
                self._next.push.append(lease.task)
        if lost:
            self.crawl.count("frontier/lost", len(lost))
            logger.warning("%d leases were lost: this process was suspended, or the queue was emptied", len(lost))
            self.changed()
        if taken:
            await self._apply_taken(answer, changes, now)

    async def _apply_taken(self, answer: Answer, changes: int, now: float) -> None:
        self.host_locks.apply_answer(answer, now)
        readable: list[tuple[Task, Request]] = []
        for lease in answer.leases:
            if (held := self.leases.get(lease.task.id)) is not None:  # a Redis that restarted empty leases again what is in progress here
                held.lost = False
                continue
            try:
                readable.append((lease.task, self.crawl.request_of(lease.task)))
            except UnreadableTask as error:
                logger.error("%s", error)
                self.crawl.count("frontier/unreadable")
                self._next.done.append(lease.task.id)
        accepted = await self.crawl.accepted([request for _, request in readable]) if readable else ()
        for (task, _), request in zip(readable, accepted, strict=True):
            if request is None:
                self._next.done.append(task.id)
                continue
            self.leases.take(task)
            self.host_locks.add(task.host, WaitingRequest(request, task.id, own=True))
        if self._next.done:
            self.changed()
        self._poll_in = TICK if answer.poll_in is None else answer.poll_in
        far = answer.poll_in is not None and answer.poll_in > MAX_WAIT
        self._drained = (changes, not answer.leases and (not answer.waiting or far))
        if answer.leases or self.quiet or self.host_locks.waiting:
            self.crawl.wake_engine()
