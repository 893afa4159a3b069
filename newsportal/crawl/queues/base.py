"""The interface of request queues without losses, and the guarantees of every backend, tested by ``tests/crawl/queues/test_contract.py``:

- **Atomic exchanges.** The changes of an :class:`Order` are applied together or not at all, and may be repeated.
- **Leases, not pops.** A task that is taken is leased to its worker. It is deleted once the worker reports ``done``; if the worker dies (no
  ``heartbeat`` for :data:`Terms.lease` seconds; on one machine also: its process has ended), the task returns to the queue.
- **No duplicates.** A task is identified by its ``id``; pushed while it waits, is leased or set aside, it is refused. ``push`` may be
repeated.
- **Poison.** A task during which :data:`Terms.tries` workers died is set aside, visible, with its reason. One during which two workers died
  is a suspect: it is leased alone, to a worker that has no other lease, so that innocent tasks are not counted with it. While one
  waits, a worker takes nothing new until its leases are done.
- **Host locks.** A worker sends requests to a host only while it holds it, and one worker holds a host at a time, across all queues and
  processes. The holder enforces the delays by its own clock; at handover the queue keeps the earliest time of the next request
  (``free``). Hosts are shared fairly: a worker takes no more than its share of the waiting hosts while others have fewer, and yields a
  host that another worker waits for after its current leases.
- **Lanes.** Of tasks with the same ``lane`` one is in flight at a time (paper B: a queue whose URL was taken is blocked until it is done).
- **Order.** Within a host by priority (higher first), then first come, first served. A task with ``at`` waits until then.
- **Seen.** A task with a ``fingerprint`` is refused if one with the same was pushed within :data:`Terms.forget` seconds.
- **Time** is the backend's (Redis' clock, so that clocks of machines may differ; the machine's clock on disk). A clock that jumps back
  delays nothing by more than the longest delay of a host.

Blocking calls, thread-safe. Errors: ``FrontierUnavailable`` (unreachable, full, locked: keep the order and retry).
"""

import os
import platform
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import count
from typing import Protocol

from newsportal.services.jobs.records import is_running, process_start
from newsportal.store.link_tables import Task as Task
from newsportal.store.link_tables import Terms as Terms
from newsportal.store.link_tables import WaitingLinks as WaitingLinks

_numbers = count(1)


@dataclass(frozen=True, slots=True)
class Identity:
    """Identity of a worker. ``machine``: the scope of ``pid``. ``started``: the start of the process, since process ids are reused."""

    name: str
    machine: str
    pid: int
    started: str | None


def identity() -> Identity:
    """Return a new identity for a worker of this process: HOST:PID:NUMBER."""
    pid = os.getpid()
    return Identity(f"{platform.node() or 'localhost'}:{pid}:{next(_numbers)}", machine(), pid, process_start(pid))


@cache
def machine() -> str:
    """Return the host's name and, on Linux, its process namespace: containers may share a name."""
    try:
        space = os.readlink("/proc/self/ns/pid")
    except OSError:
        space = ""
    return f"{platform.node()}|{space}"


def has_ended(worker: Identity) -> bool:
    """Return whether the worker's process has ended; False for processes of other machines."""
    if worker.machine != machine() or os.name == "nt":  # on Windows os.kill would end the process
        return False
    return not is_running(worker.pid, worker.started)


@dataclass(frozen=True, slots=True)
class Lease:
    """``tries``: number of workers that died with the task."""

    task: Task
    tries: int = 0


@dataclass(frozen=True, slots=True)
class SetAside:
    """A task that was set aside, ``since`` in seconds since 1970."""

    task: Task
    reason: str
    tries: int
    since: float


@dataclass(slots=True)
class Order:
    """Changes and requests of a worker in one exchange, in this order.

    ``push``: tasks to queue. ``done``: ids whose callbacks and items are finished; their lanes advance. ``requeue``: tasks to queue again
    although this order ends their leases. ``back``: ids to return unfinished, and the earliest time to lease them (seconds since 1970;
    ``None``: now); no try is counted. ``free``: hosts to release, each with the seconds until the next worker may send requests.
    ``heartbeat``: the worker's current activity (empty: unchanged); it extends leases and locks. ``hold``: hosts to lock for requests
    outside the queue (robots.txt, images). ``take``: number of tasks to lease, from hosts that this worker holds or that are free and
    become its own; ``None``: none. ``delay``: seconds between two requests to a host, ``ahead``: seconds of work wanted: at most ``ahead /
    delay`` tasks per host, and at least one.
    """

    push: list[Task] = field(default_factory=list)
    done: list[str] = field(default_factory=list)
    requeue: list[Task] = field(default_factory=list)
    back: list[tuple[list[str], float | None]] = field(default_factory=list)
    free: dict[str, float] = field(default_factory=dict)
    heartbeat: Mapping[str, str] | None = None
    hold: list[str] = field(default_factory=list)
    take: int | None = None
    delay: float = 0.0
    ahead: float = 0.0

    @property
    def changes(self) -> bool:
        return bool(self.push or self.done or self.requeue or self.back or self.free or self.hold)

    @property
    def has_content(self) -> bool:
        return self.changes or self.heartbeat is not None or self.take is not None

    @property
    def ended(self) -> set[str]:
        """Ids whose leases end."""
        return set(self.done).union(*(ids for ids, _ in self.back))


@dataclass(slots=True)
class Answer:
    """``pushed``: ids that were queued. ``lost``: leases taken away from this worker, which was presumed dead. ``holds``: seconds until a
    host may be requested; ``None``: another worker holds it, and is asked to yield it.

    For ``take``: ``leases``; ``waiting``: tasks of this queue that wait now, without those for later; ``poll_in``: seconds until a poll is
    worthwhile, ``None`` if nothing waits; ``held``: hosts that the worker holds, with the seconds until the first request to each (0: now);
    ``yielded``: hosts to release when the current leases are done.
    """

    pushed: set[str] = field(default_factory=set)
    lost: set[str] = field(default_factory=set)
    holds: dict[str, float | None] = field(default_factory=dict)
    leases: tuple[Lease, ...] = ()
    waiting: int = 0
    poll_in: float | None = None
    held: dict[str, float] = field(default_factory=dict)
    yielded: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class WorkerState:
    """``name`` is HOST:PID:NUMBER, ``since`` and ``heartbeat`` seconds since 1970, ``activity`` the reported activity."""

    name: str
    since: float
    heartbeat: float
    leased: int
    hosts: tuple[str, ...]
    activity: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class HostState:
    """``next_request_in``: seconds until the next request is allowed."""

    host: str
    waiting: int
    holder: str | None = None
    next_request_in: float = 0.0


@dataclass(frozen=True, slots=True)
class QueueState:
    """The state of a queue for display. ``hosts``: those with most waiting tasks."""

    name: str
    waiting: int
    later: int
    leased: int
    aside: int
    workers: tuple[WorkerState, ...]
    hosts: tuple[HostState, ...]


class Queue(Protocol):
    """One queue (by the name of its spider) for one worker. Opening it sends nothing; see the module for the guarantees."""

    def exchange(self, order: Order) -> Answer:
        """Exchange an order for an answer. Never waits for another worker; returns dead workers' leases to the queue."""

    def push(self, tasks: Sequence[Task]) -> set[str]:
        """Queue tasks; return the ids that were queued (not those that wait, are leased, or were seen)."""
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

    def heartbeat(self, activity: Mapping[str, str] | None = None) -> set[str]:
        return self.exchange(Order(heartbeat=activity or {})).lost

    def refresh(self, ids: Collection[str]) -> None:
        """Make tasks available whose rows in the link table no longer wait for a time. No-op for a queue in that table."""
        return

    def claim(self, job: str, seconds: float) -> bool:
        """Claim a job (a visit of a source) for this worker while it lives, for ``seconds`` at most; False if another worker has it."""

    def release(self, job: str) -> None:
        """Release a job that is done or given up."""

    def leave(self) -> None:
        """End the worker properly: its leases return without counting a try, its hosts and jobs are released."""

    def state(self, hosts: int = 20) -> QueueState: ...

    def outstanding(self, sources: Collection[str]) -> Counter[str]:
        """Return the number of tasks per source that wait (not for later) or are leased, over all workers."""

    def retries(self) -> list[WaitingLinks]:
        """Return links of this queue with transient failures, by source and reason, with the time of the next try."""
        return []

    def aside(self, limit: int = 100) -> list[SetAside]: ...

    def requeue(self, ids: Collection[str] | None = None) -> int:
        """Queue tasks again that were set aside (all, or these), with tries reset."""

    def drop(self, ids: Collection[str] | None = None) -> int:
        """Delete tasks that were set aside."""

    def clear(self) -> int:
        """Delete all waiting tasks (``newsportal frontier clear``), and all seen names: what was pushed and never fetched must not count as
        seen. Leased tasks are deleted when they are done. Return the number of deleted tasks."""

    def close(self) -> None:
        """Close the connection; leases are not returned (see :meth:`leave`)."""
