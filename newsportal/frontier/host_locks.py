"""Whose turn it is: hosts that this process holds, waits for and lets go. No input or output but waiting.

What is to be said of them to the queue goes into the next order (``newsportal.frontier.queue_batch``).
"""

from __future__ import annotations

import asyncio
import time
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, Protocol

if TYPE_CHECKING:
    from newsportal.frontier.leased_requests import Host, HostQueues, Leases
    from newsportal.frontier.queue_batch import Order
    from newsportal.frontier.queues.base import Taken

LINGER: Final = 1.0
"""Seconds for which a host without work stays ours: its pictures and further pages often come in a moment."""

PATIENCE: Final = 61.0
"""Seconds. A host that is to be left alone for longer (Retry-After) ends what this process wants of it, and a crawl does not wait for it:
a little more than the longest crawl-delay that is obeyed."""

SHORT: Final = 5.0
"""Seconds of rest for which tasks need not be given back."""


class Ending(Exception):
    """Raised to who waits for a host when the crawl ends."""


class Resting(Exception):
    """Raised to who waits for a host that is to be left alone for ``seconds``, too long to wait."""

    def __init__(self, seconds: float) -> None:
        super().__init__(f"it asked to be left alone for {seconds:.0f} s")


class Asked(Protocol):
    """What must be known of the crawl."""

    @property
    def ending(self) -> bool: ...
    def wait_after(self, host: str) -> float: ...  # seconds until somebody else may ask a host that we asked
    def busy(self, host: str) -> bool: ...  # whether a request to it is under way


@dataclass(slots=True)
class HostLocks:
    """See the module. ``wake``: a host is waited for, so the queue is to be asked now."""

    hand: HostQueues
    leases: Leases
    crawl: Asked
    wake: Callable[[], None]
    waiters: dict[str, list[asyncio.Future[None]]] = field(default_factory=lambda: defaultdict(list))

    async def turn(self, host: str) -> None:
        """Wait until this worker holds ``host`` and may ask it. Raises :class:`Ending` or :class:`Resting`."""
        while True:
            now, found = time.monotonic(), self.hand.hosts.get(host)
            if found is not None and found.ready - now > PATIENCE:
                raise Resting(found.ready - now)
            if found is not None and found.held and not found.yields:
                begins = max(found.since, found.rest)
                if begins <= now:
                    return
                await asyncio.sleep(begins - now)
                continue
            if self.crawl.ending:
                raise Ending
            future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
            self.waiters[host].append(future)
            self.wake()
            await future

    def taken(self, taken: Taken, now: float) -> None:
        """The queue has told which hosts are ours (``now``: by ``time.monotonic``)."""
        for name, host in list(self.hand.hosts.items()):
            if host.held and name not in taken.held:
                self.hand.loose(name)
        for name, seconds in taken.held.items():
            host = self.hand.host(name)
            if not host.held:
                self.holds(name, now + seconds)
            host.yields = name in taken.yielded

    def holds(self, name: str, ready: float) -> None:
        """A host is ours, and may be asked from ``ready`` on."""
        self.hand.hold(name, ready)
        self._release(name)

    def _release(self, name: str) -> None:
        for future in self.waiters.pop(name, ()):
            if not future.done():
                future.set_result(None)

    def look_after(self, order: Order) -> bool:
        """Let go hosts that have nothing to do, that others wait for, or that want to be left alone. Whether tasks go back."""
        now, back = time.monotonic(), False
        for name, host in list(self.hand.hosts.items()):
            rests = host.rest - now
            if rests > SHORT or host.yields:
                back |= self._give_back(host, rests, order)
            if host.ready - now > PATIENCE:
                self._refuse(host)
            if host.held and not self.crawl.busy(name):
                self._idle(host, now, rests, order)
        return back

    def _idle(self, host: Host, now: float, rests: float, order: Order) -> None:
        if not (host.yields or rests > SHORT):
            if host.waiting or host.name in self.waiters:
                host.quiet = None
                return
            host.quiet = now if host.quiet is None else host.quiet
            if now - host.quiet < LINGER:
                return
        order.free[host.name] = max(self.crawl.wait_after(host.name), rests, 0.0)
        host.rest = 0.0
        self.hand.loose(host.name)

    def _give_back(self, host: Host, rests: float, order: Order) -> bool:
        entries = self.hand.out_of(host.name, lambda entry: entry.own and self.leases.single(entry.lease))
        ids = [entry.lease for entry in entries if entry.lease]
        for id in ids:
            self.leases.drop(id)
        if ids:
            order.back.append((ids, time.time() + rests if rests > SHORT else None))
        return bool(ids)

    def _refuse(self, host: Host) -> None:
        """Nobody waits so long: who wants something of this host is told, and the store keeps its links for another time."""
        self.hand.hurry(self.hand.out_of(host.name, lambda _: True))
        self._release(host.name)

    def dismiss(self) -> None:
        """The crawl ends: nobody waits for a host any more."""
        for name in list(self.waiters):
            for future in self.waiters.pop(name):
                if not future.done():
                    future.set_exception(Ending())
