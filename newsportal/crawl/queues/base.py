"""The queue of requests that loses nothing: what every backend promises. Each passes ``tests/crawl/queues/test_contract.py``.

Promises, whatever the backend:

- **One conversation, one step.** What an :class:`Order` says happens together or not at all, and may be repeated.
- **Leases, not pops.** A task that is taken is leased to its worker. It is gone once the worker says ``done``; if the worker dies (no
  ``beat`` for :data:`Terms.lease` seconds; on one machine also: its process is gone), the task goes back and is handed on.
- **Nothing twice.** A task is known by its ``id``; pushed while it waits, is leased or set aside, it is refused. ``push`` may be repeated.
- **Poison.** A task during which :data:`Terms.tries` workers died is set aside, visible, with its reason. One that two workers died of is a
  suspect: it is handed out alone, to a worker that has nothing else in hand, so that innocent tasks are not counted with it. While one
  waits a worker takes nothing new until its hands are empty.
- **Hosts are held.** A worker asks a host only while it holds it, and one worker holds a host at a time, over all queues of all
  processes. The holder keeps the delays by its own clock; at handover the queue keeps the moment from which the next one may ask
  (``free``). Held hosts are shared fairly: a worker takes no more than its share of the hosts that wait while others have fewer, and a
  host that somebody else waits for is yielded after the tasks in hand.
- **Lanes.** Of tasks with the same ``lane`` one is in flight at a time (paper B: a queue whose URL was taken is blocked until it is done).
- **Order.** Within a host by priority (the higher the sooner), then first come, first served. A task with ``at`` waits until then.
- **Seen.** A task with a ``seen`` name is refused if a task of that name was pushed within :data:`Terms.forget` seconds.
- **Time** is the backend's (Redis' own clock, so that machines may differ; the machine's clock on disk). A clock that jumps back
  delays nothing by more than the longest delay of a host.

Blocking calls, safe between threads. Errors: ``FrontierUnavailable`` (away, full, locked: keep what you have and try again).
"""

from __future__ import annotations

import os
import platform
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import count
from typing import Protocol

from newsportal.services.jobs.records import alive, born
from newsportal.store.link_tables import Task as Task
from newsportal.store.link_tables import Terms as Terms
from newsportal.store.link_tables import WaitingLinks as WaitingLinks

_numbers = count(1)


@dataclass(frozen=True, slots=True)
class Identity:
    """``machine``: where ``pid`` means something. ``started``: when the process began: its number is used again."""

    name: str
    machine: str
    pid: int
    started: str | None


def identity() -> Identity:
    """A worker of this process: HOST:PID:NUMBER."""
    pid = os.getpid()
    return Identity(f"{platform.node() or 'localhost'}:{pid}:{next(_numbers)}", machine(), pid, born(pid))


@cache
def machine() -> str:
    """The host's name and, in Linux, its process namespace: containers may share a name."""
    try:
        space = os.readlink("/proc/self/ns/pid")
    except OSError:
        space = ""
    return f"{platform.node()}|{space}"


def gone(worker: Identity) -> bool:
    """Whether its process is known to be no more; of another machine's nothing is known."""
    if worker.machine != machine() or os.name == "nt":  # Windows has no harmless question: os.kill ends the process
        return False
    return not alive(worker.pid, worker.started)


@dataclass(frozen=True, slots=True)
class Lease:
    """``tries``: how many workers died with the task."""

    task: Task
    tries: int = 0


@dataclass(frozen=True, slots=True)
class Aside:
    """A task that was set aside, ``since`` seconds since 1970."""

    task: Task
    reason: str
    tries: int
    since: float


@dataclass(slots=True)
class Order:
    """What a worker says and asks in one conversation, in this order.

    ``push``: tasks that are to wait. ``done``: ids whose callbacks and items are through; their lanes go on. ``requeue``: tasks that are
    wanted once more although their leases end with this very order. ``back``: ids that were not done, and from when on they may be had
    (seconds since 1970; ``None``: at once); no try is counted. ``free``: hosts that are let go, each with the seconds until the next
    worker may ask it. ``beat``: I live, so leases and holds go on; what I am doing (nothing: as before). ``hold``: hosts for requests that
    do not come from the queue (robots.txt, pictures). ``take``: how many tasks of hosts that this worker holds, or that are free and now
    become its own; ``None``: it does not ask. ``delay``: seconds between two requests to a host, ``ahead``: seconds for which work is
    wanted: of a host not more are taken than fit into it (``ahead / delay``, at least one)."""

    push: list[Task] = field(default_factory=list)
    done: list[str] = field(default_factory=list)
    requeue: list[Task] = field(default_factory=list)
    back: list[tuple[list[str], float | None]] = field(default_factory=list)
    free: dict[str, float] = field(default_factory=dict)
    beat: Mapping[str, str] | None = None
    hold: list[str] = field(default_factory=list)
    take: int | None = None
    delay: float = 0.0
    ahead: float = 0.0

    @property
    def changes(self) -> bool:
        return bool(self.push or self.done or self.requeue or self.back or self.free or self.hold)

    @property
    def has_content(self) -> bool:
        return self.changes or self.beat is not None or self.take is not None

    @property
    def ended(self) -> set[str]:
        """Ids that leave the worker's hands."""
        return set(self.done).union(*(ids for ids, _ in self.back))


@dataclass(slots=True)
class Answer:
    """``pushed``: ids that were taken in. ``lost``: leases that are not this worker's any more: it was thought dead. ``holds``: seconds
    until a host may be asked; ``None``: somebody else holds it, and is told that it is waited for.

    To ``take``: ``leases``; ``waiting``: tasks of this queue that wait now, not counting those for later; ``soon``: seconds until something
    may be had again, ``None`` if nothing waits; ``held``: the hosts that the worker holds now, with the seconds until they may be asked for
    the first time (0: at once); ``yielded``: hosts it must let go when what it has of them is done."""

    pushed: set[str] = field(default_factory=set)
    lost: set[str] = field(default_factory=set)
    holds: dict[str, float | None] = field(default_factory=dict)
    leases: tuple[Lease, ...] = ()
    waiting: int = 0
    soon: float | None = None
    held: dict[str, float] = field(default_factory=dict)
    yielded: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class WorkerState:
    """``name`` is HOST:PID:NUMBER, ``since`` and ``beat`` seconds since 1970, ``doing`` what it says of itself."""

    name: str
    since: float
    beat: float
    leased: int
    hosts: tuple[str, ...]
    doing: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class HostState:
    """``free_in``: seconds until it may be asked."""

    host: str
    waiting: int
    holder: str | None = None
    free_in: float = 0.0


@dataclass(frozen=True, slots=True)
class QueueState:
    """A queue for people. ``hosts``: those with most waiting."""

    name: str
    waiting: int
    later: int
    leased: int
    aside: int
    workers: tuple[WorkerState, ...]
    hosts: tuple[HostState, ...]


class Queue(Protocol):
    """One queue (by the name of its spider) for one worker. Opening one sends nothing yet; see the module for the promises."""

    def exchange(self, order: Order) -> Answer:
        """A conversation. Never waits for another worker; dead workers' leases go back here."""

    def push(self, tasks: Sequence[Task]) -> set[str]:
        """Let tasks wait; answers the ids that were taken in (not those that wait, are leased, or were seen)."""
        return self.exchange(Order(push=list(tasks))).pushed

    def take(self, number: int, *, delay: float, ahead: float) -> Answer:
        return self.exchange(Order(take=number, delay=delay, ahead=ahead))

    def done(self, ids: Collection[str]) -> None:
        self.exchange(Order(done=list(ids)))

    def back(self, ids: Collection[str], *, at: float | None = None) -> None:
        self.exchange(Order(back=[(list(ids), at)]))

    def free(self, hosts: Mapping[str, float]) -> None:
        self.exchange(Order(free=dict(hosts)))

    def hold(self, host: str) -> float | None:
        return self.exchange(Order(hold=[host])).holds[host]

    def beat(self, doing: Mapping[str, str] | None = None) -> set[str]:
        return self.exchange(Order(beat=doing or {})).lost

    def refresh(self, ids: Collection[str]) -> None:
        """These rows of the table of links wait for nothing any more but their hosts. A queue that is that table has nothing to do."""
        return

    def claim(self, job: str, seconds: float) -> bool:
        """Take a job for this worker (a visit of a source), for so long at most and while it lives; False if another has it."""

    def release(self, job: str) -> None:
        """The job is done, or given up."""

    def leave(self) -> None:
        """The worker ends well: leases go back without a try, hosts and jobs are free."""

    def state(self, hosts: int = 20) -> QueueState: ...

    def outstanding(self, sources: Collection[str]) -> Counter[str]:
        """How many tasks of each source's visit wait (later ones left out) or are leased, over all workers."""

    def retries(self) -> list[WaitingLinks]:
        """Links of this queue that failed in passing, by source and reason, with the time of the next try."""
        return []

    def aside(self, limit: int = 100) -> list[Aside]: ...

    def again(self, ids: Collection[str] | None = None) -> int:
        """Let tasks that were set aside (all, or these) wait anew, with no try counted."""

    def drop(self, ids: Collection[str] | None = None) -> int:
        """Forget tasks that were set aside."""

    def clear(self) -> int:
        """Forget every task that waits (``newsportal frontier clear``), and all seen names: what was pushed and never fetched must not
        count as seen. Leased tasks go when they are done. Answers how many were forgotten."""

    def close(self) -> None:
        """Close the connection; nothing is given back (see :meth:`leave`)."""
