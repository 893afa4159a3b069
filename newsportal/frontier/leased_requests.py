"""The requests that a worker has leased: whose turn it is, by host (:class:`HostQueues`), and which leases are done (:class:`Leases`). No
input or output; time comes as an argument (seconds, any zero).

A host is asked only while this worker holds it, ``pace`` seconds apart, and with no more requests under way than there is room for: so
a slow host never fills the crawl's places, and every other host keeps its own pace.

A lease is done when nothing of it is under way: neither the request that was handed out, nor a retry or redirect of it, nor a request that
its callback made and that only this process understands. Under way is what the engine has in progress: it lets a request go when its
callback and its items' pipelines are through.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Container, Iterable, Iterator
from dataclasses import dataclass, field
from heapq import heappop, heappush
from itertools import count
from typing import TYPE_CHECKING, Any, Final

from newsportal.frontier.queues.base import Task

if TYPE_CHECKING:
    from scrapy import Request

LOOK_AGAIN: Final = 0.02
"""Seconds after which a host whose places are full is looked at again: a fraction of any answer's time."""


@dataclass(frozen=True, slots=True)
class Entry:
    """A request that waits for its host's turn, and the lease under which it runs. ``own``: it is the leased task itself, and no request
    that only this process knows of; so it can be given back."""

    request: Request
    lease: str | None = None
    own: bool = False


@dataclass(slots=True)
class Host:
    """``ready``: when it may be asked next; ``since``: when it may be asked for the first time; ``rest``: until when it asked to
    be left alone. ``out``: requests that were handed out and
    are, as far as known, not answered yet. ``yields``: somebody else waits for it. ``quiet``: since when it has nothing to do."""

    name: str
    waiting: list[tuple[int, int, Entry]] = field(default_factory=list)
    held: bool = False
    yields: bool = False
    ready: float = 0.0
    since: float = 0.0
    rest: float = 0.0
    out: set[Any] = field(default_factory=set)
    quiet: float | None = None
    queued: bool = False


class HostQueues:
    """``room`` tells how many more requests a host may have under way, ``pace`` the seconds between two."""

    def __init__(self, room: Callable[[Host], int], pace: Callable[[str], float]) -> None:
        self._room, self._pace = room, pace
        self._turns: list[tuple[float, int, Host]] = []
        self._count = count()
        self._at_once: deque[Entry] = deque()
        self.hosts: dict[str, Host] = {}
        self.waiting = 0

    def add(self, name: str, entry: Entry) -> None:
        host = self.host(name)
        heappush(host.waiting, (-entry.request.priority, next(self._count), entry))
        host.quiet = None
        self.waiting += 1
        self._queue(host)

    def host(self, name: str) -> Host:
        found = self.hosts.get(name)
        if found is None:
            found = self.hosts[name] = Host(name)
        return found

    def hold(self, name: str, ready: float) -> None:
        """The worker holds this host now, and may ask it from ``ready`` on."""
        host = self.host(name)
        host.held, host.yields, host.quiet = True, False, None
        host.ready = max(host.ready, ready)
        host.since = ready
        self._queue(host)

    def loose(self, name: str) -> None:
        """The host is not ours any more. What waits for it waits until it is again."""
        host = self.hosts.get(name)
        if host is not None:
            host.held = host.yields = False
            if not host.waiting:
                del self.hosts[name]

    def take(self, now: float) -> Entry | None:
        """The next request that may be sent now, or that nobody waits for any more (:meth:`hurry`)."""
        if self._at_once:
            self.waiting -= 1
            return self._at_once.popleft()
        while self._turns:
            ready, number, host = heappop(self._turns)
            host.queued = False
            if not host.held or not host.waiting:
                continue  # it is queued again when it is held, or has something
            if max(ready, host.ready) > now:
                host.queued = True
                heappush(self._turns, (max(ready, host.ready), number, host))
                if ready >= host.ready:
                    return None
                continue
            if self._room(host) <= 0:
                self._queue(host, now + LOOK_AGAIN)
                continue
            return self._handed(host, now)
        return None

    def _handed(self, host: Host, now: float) -> Entry:
        entry = heappop(host.waiting)[2]
        self.waiting -= 1
        host.out.add(entry.request)
        host.ready = max(host.ready + self._pace(host.name), now)  # Scrapy's slot keeps the gap; a late turn delays no later one
        self._queue(host)
        return entry

    def soonest(self) -> float | None:
        """When the next request may be had; ``None`` if none waits for its turn."""
        return self._turns[0][0] if self._turns else None

    def rest(self, name: str, until: float) -> None:
        """The host asked to be left alone until then."""
        host = self.host(name)
        host.ready, host.rest = max(host.ready, until), max(host.rest, until)

    def out_of(self, name: str, gone: Callable[[Entry], bool]) -> list[Entry]:
        """Take what waits for a host and is ``gone`` out of the hand."""
        host = self.hosts.get(name)
        if host is None:
            return []
        taken = [one[2] for one in host.waiting if gone(one[2])]
        if taken:
            host.waiting = sorted(one for one in host.waiting if not gone(one[2]))
            self.waiting -= len(taken)
        return taken

    def hurry(self, entries: Iterable[Entry]) -> None:
        """Hand these out whatever their host says: it rests for so long that they are to fail now, and not in an hour."""
        for entry in entries:
            self._at_once.append(entry)
            self.waiting += 1

    def unheld(self) -> Iterator[str]:
        """Hosts for which something waits, and which must be held first."""
        return (host.name for host in self.hosts.values() if host.waiting and not host.held)

    def _queue(self, host: Host, at: float | None = None) -> None:
        if host.held and host.waiting and not host.queued:
            host.queued = True
            heappush(self._turns, (host.ready if at is None else at, next(self._count), host))


@dataclass(slots=True)
class Held:
    """``out``: requests in the engine; ``waiting``: how many wait here for their host's turn. ``lost``: somebody else has it now."""

    task: Task
    out: set[Any] = field(default_factory=set)
    waiting: int = 0
    lost: bool = False


class Leases:
    def __init__(self) -> None:
        self._held: dict[str, Held] = {}

    def __len__(self) -> int:
        return len(self._held)

    def __contains__(self, id: object) -> bool:
        return id in self._held

    def take(self, task: Task) -> Held:
        """A task came into our hands."""
        held = self._held[task.id] = Held(task)
        return held

    def waits(self, id: str | None) -> None:
        """One more request under this lease waits in the hand."""
        if id in self._held:
            self._held[id].waiting += 1

    def left(self, id: str | None) -> None:
        """One of them waits no more, and was not handed out."""
        if id in self._held:
            self._held[id].waiting -= 1

    def handed(self, id: str | None, request: Any) -> None:
        """One of them was handed out."""
        if id in self._held:
            held = self._held[id]
            held.waiting -= 1
            held.out.add(request)

    def single(self, id: str | None) -> bool:
        """Whether nothing of a lease was begun: its task alone waits in the hand."""
        held = self._held.get(id or "")
        return held is not None and held.waiting == 1 and not held.out

    def over(self, id: str, in_progress: Container[Any]) -> bool:
        """Whether a lease is done, and only not told yet."""
        held = self._held.get(id)
        return held is not None and not held.waiting and all(request not in in_progress for request in held.out)

    def lose(self, ids: set[str]) -> Iterator[Held]:
        """These leases are not ours any more."""
        for id in ids:
            held = self._held.get(id)
            if held is not None and not held.lost:
                held.lost = True
                yield held

    def drop(self, id: str) -> None:
        """The task is not in our hands any more, and not done."""
        self._held.pop(id, None)

    def finished(self, in_progress: Container[Any]) -> list[Task]:
        """The tasks of leases that are done and still ours; those are forgotten, and so are lost ones that are over."""
        over = []
        for id, held in list(self._held.items()):
            if held.out:
                held.out = {request for request in held.out if request in in_progress}
            if held.out or held.waiting:
                continue
            del self._held[id]
            if not held.lost:
                over.append(held.task)
        return over
