"""Locks on hosts that this worker holds, awaits and releases, and the requests waiting for each host. No input or output.

A host receives requests only while this worker holds it, spaced by its delay, so a slow host never fills the crawl's slots.
"""

from __future__ import annotations

import asyncio
import time
from collections import defaultdict, deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from heapq import heappop, heappush
from itertools import count
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from scrapy import Request

    from newsportal.crawl.leases import Leases
    from newsportal.crawl.queues.base import Answer, Order
    from newsportal.crawl.scheduler import Scheduler

RECHECK: Final = 0.02  # seconds after which a host with no free slot is checked again: a fraction of any response time
IDLE_LOCK: Final = 1.0  # seconds for which an idle host stays locked: requests for its images and further pages often follow shortly
MAX_WAIT: Final = 61.0  # seconds: the longest wait for a host (Retry-After), slightly above the longest crawl-delay that is obeyed
SHORT_PAUSE: Final = 5.0  # seconds: during shorter pauses tasks are not returned to the queue


@dataclass(frozen=True, slots=True)
class WaitingRequest:
    """A waiting request and its lease. ``own``: it is the leased task itself and can be returned to the queue."""

    request: Request
    lease: str | None = None
    own: bool = False


@dataclass(slots=True)
class Host:
    """The state of a host. ``ready``: earliest time of the next request, ``since``: of the first; ``pause_until``: end of its Retry-After;
    ``sent``: requests that may be in progress; ``yields``: another worker waits for it; ``quiet``: idle since."""

    name: str
    waiting: list[tuple[int, int, WaitingRequest]] = field(default_factory=list)
    held: bool = False
    yields: bool = False
    ready: float = 0.0
    since: float = 0.0
    pause_until: float = 0.0
    sent: set[Any] = field(default_factory=set)
    quiet: float | None = None
    queued: bool = False


class CrawlEnding(Exception):
    """Raised by :meth:`HostLocks.acquire` when the crawl ends."""


class HostPaused(Exception):
    """Raised by :meth:`HostLocks.acquire` for a host paused for ``seconds``, longer than ``MAX_WAIT``."""

    def __init__(self, seconds: float) -> None:
        super().__init__(f"it sent a Retry-After of {seconds:.0f} s")


class HostLocks:
    """The hosts of this worker: their locks, and their waiting requests. ``wake``: poll the queue now, since a request waits for a host."""

    def __init__(self, crawl: Scheduler) -> None:
        self._crawl = crawl
        self.wake: Callable[[], None] = lambda: None
        self.waiters: dict[str, list[asyncio.Future[None]]] = defaultdict(list)
        self._heap: list[tuple[float, int, Host]] = []
        self._count = count()
        self._at_once: deque[WaitingRequest] = deque()
        self.hosts: dict[str, Host] = {}
        self.waiting = 0

    def add(self, name: str, entry: WaitingRequest) -> None:
        host = self.host(name)
        heappush(host.waiting, (-entry.request.priority, next(self._count), entry))
        host.quiet = None
        self.waiting += 1
        self._queue(host)

    def host(self, name: str) -> Host:
        return self.hosts.setdefault(name, Host(name))

    def hold(self, name: str, ready: float) -> None:
        host = self.host(name)
        host.held, host.yields, host.quiet = True, False, None
        host.ready = max(host.ready, ready)
        host.since = ready
        self._queue(host)
        self.wake_waiters(name)

    def release(self, name: str) -> None:
        if (host := self.hosts.get(name)) is not None:
            host.held = host.yields = False
            if not host.waiting:
                del self.hosts[name]

    def take(self, now: float) -> WaitingRequest | None:
        """Return the next request to send, or to fail (:meth:`hurry`)."""
        if self._at_once:
            self.waiting -= 1
            return self._at_once.popleft()
        while self._heap:
            ready, number, host = heappop(self._heap)
            host.queued = False
            if not host.held or not host.waiting:
                continue  # queued again when the host is held or gets a request
            if max(ready, host.ready) > now:
                host.queued = True
                heappush(self._heap, (max(ready, host.ready), number, host))
                if ready >= host.ready:
                    return None
                continue
            if self._crawl.free_places(host) <= 0:
                self._queue(host, now + RECHECK)
                continue
            entry = heappop(host.waiting)[2]
            self.waiting -= 1
            host.sent.add(entry.request)
            # Scrapy's slot keeps the delay; a late request delays no later one
            host.ready = max(host.ready + self._crawl.delay_of(host.name), now)
            self._queue(host)
            return entry
        return None

    def next_time(self) -> float | None:
        """Return when the next request may be sent; ``None`` if no request waits."""
        return self._heap[0][0] if self._heap else None

    def pause(self, name: str, until: float) -> None:
        host = self.host(name)
        host.ready, host.pause_until = max(host.ready, until), max(host.pause_until, until)

    def remove(self, name: str, matches: Callable[[WaitingRequest], bool]) -> list[WaitingRequest]:
        """Remove and return the waiting entries of a host that match."""
        host = self.hosts.get(name)
        if host is None:
            return []
        removed = [item[2] for item in host.waiting if matches(item[2])]
        if removed:
            host.waiting = sorted(item for item in host.waiting if not matches(item[2]))
            self.waiting -= len(removed)
        return removed

    def prioritise(self, entries: Sequence[WaitingRequest]) -> None:
        """Return these entries from :meth:`take` at once, so that they fail: their host is paused for too long."""
        self._at_once.extend(entries)
        self.waiting += len(entries)

    def unlocked_hosts(self) -> Iterator[str]:
        """Yield hosts to acquire: those with waiting requests that this worker does not hold."""
        return (host.name for host in self.hosts.values() if host.waiting and not host.held)

    def _queue(self, host: Host, at: float | None = None) -> None:
        if host.held and host.waiting and not host.queued:
            host.queued = True
            heappush(self._heap, (host.ready if at is None else at, next(self._count), host))

    async def acquire(self, host: str) -> None:
        """Wait until this worker holds ``host`` and may send it a request. Raises :class:`CrawlEnding` or :class:`HostPaused`."""
        while True:
            now, state = time.monotonic(), self.hosts.get(host)
            if state is not None and state.ready - now > MAX_WAIT:
                raise HostPaused(state.ready - now)
            if state is not None and state.held and not state.yields:
                start = max(state.since, state.pause_until)
                if start <= now:
                    return
                await asyncio.sleep(start - now)
                continue
            if self._crawl.ending:
                raise CrawlEnding
            future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
            self.waiters[host].append(future)
            self.wake()
            await future

    def apply_answer(self, answer: Answer, now: float) -> None:
        """Apply the queue's answer: the hosts that this worker now holds."""
        for name, host in list(self.hosts.items()):
            if host.held and name not in answer.held:
                self.release(name)
        for name, seconds in answer.held.items():
            host = self.host(name)
            if not host.held:
                self.hold(name, now + seconds)
            host.yields = name in answer.yielded

    def wake_waiters(self, name: str) -> None:
        for future in self.waiters.pop(name, ()):
            if not future.done():
                future.set_result(None)

    def release_idle(self, order: Order, leases: Leases) -> None:
        """Release hosts that are idle, paused or wanted by others, and return their tasks to the queue."""
        now = time.monotonic()
        for name, host in list(self.hosts.items()):
            pause = host.pause_until - now
            if pause > SHORT_PAUSE or host.yields:
                entries = self.remove(host.name, lambda entry: entry.own and leases.is_single(entry.lease))
                ids = [entry.lease for entry in entries if entry.lease]
                for id in ids:
                    del leases[id]
                if ids:
                    order.back.append((ids, time.time() + pause if pause > SHORT_PAUSE else None))
            if host.ready - now > MAX_WAIT:  # longer than any request waits: fail its requests now; their links wait in the table
                self.prioritise(self.remove(name, lambda _: True))
                self.wake_waiters(name)
            if host.held and not self._crawl.busy(name):
                self._idle(host, now, pause, order)

    def _idle(self, host: Host, now: float, pause: float, order: Order) -> None:
        if not (host.yields or pause > SHORT_PAUSE):
            if host.waiting or host.name in self.waiters:
                host.quiet = None
                return
            host.quiet = now if host.quiet is None else host.quiet
            if now - host.quiet < IDLE_LOCK:
                return
        order.free[host.name] = max(self._crawl.wait_after(host.name), pause, 0.0)
        host.pause_until = 0.0
        self.release(host.name)
