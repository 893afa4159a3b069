"""The queue in Redis (6 or newer), for any number of processes and machines. The promises are :mod:`base`'s, each kept inside a script.

Redis' own memory is what the queue has: with ``appendonly yes`` it survives a restart of Redis (at most the last second is done anew), and
whatever is lost, the store knows which articles are missing. ``noeviction`` must be its policy: one that forgets keys forgets tasks.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from hashlib import blake2b
from itertools import islice
from secrets import token_hex
from threading import RLock
from time import monotonic
from typing import Any, Final

from newsportal.errors import FrontierUnavailable
from newsportal.frontier.queues.base import Aside, HostState, Lease, QueueState, Taken, Task, Terms, WaitingLinks, WorkerState
from newsportal.frontier.queues.identity import Identity, gone, identity
from newsportal.frontier.queues.shared_scripts import Client, Scripts

QUEUE_KEY: Final = "%(spider)s:requests"
SEEN_KEY: Final = "%(spider)s:dupefilter"
"""scrapy-redis' SCHEDULER_QUEUE_KEY and SCHEDULER_DUPEFILTER_KEY, as it comes."""

FRONTIER: Final = "newsportal:"
"""What is shared by all queues of a Redis begins with it."""

BATCH: Final = 100
"""Tasks a call: some milliseconds in which Redis serves nobody else."""

MOST: Final = 1000
"""Tasks that one call hands out."""

LOOK: Final = 1.0
"""Seconds between two looks whether workers of this machine are gone."""

ASIDE_FIELDS: Final = 11
LEASE_FIELDS: Final = 9


class SharedQueue:
    """One queue for one worker. ``owner`` is what tells this portal's store from another's on the same Redis, ``told`` says it to people;
    ``clock`` replaces Redis' own in tests."""

    def __init__(
        self,
        client: Client,
        name: str,
        terms: Terms | None = None,
        *,
        worker: Identity | None = None,
        queue_key: str = QUEUE_KEY,
        seen_key: str = SEEN_KEY,
        owner: str = "",
        told: str = "",
        where: str = "its address",
        clock: Callable[[], float] | None = None,
    ) -> None:
        self.name, self.terms = name, terms or Terms()
        self.worker = worker or identity()
        self._clock = clock
        self._me = f"{self.worker.name}~{token_hex(4)}"  # a new process may have an old one's name
        self._context: dict[str, Any] = {
            "frontier": FRONTIER,
            "me": self._me,
            "name": self.worker.name,
            "machine": json.dumps([self.worker.machine, self.worker.pid, self.worker.started]),
            "owner": owner,
            "told": told,
            "lease": self.terms.lease,
            "tries": self.terms.tries,
            "forget": self.terms.forget,
        }
        self._said = json.dumps(self._context)
        self._call = Scripts(client, [queue_key % {"spider": name}, seen_key % {"spider": name}], where)
        self._leased: set[str] = set()
        self._lost: set[str] = set()
        self._lock = RLock()
        self._turn = 0
        self._looked = -LOOK

    # Work

    def push(self, tasks: Sequence[Task]) -> set[str]:
        taken, rest = set[str](), iter(tasks)
        while batch := list(islice(rest, BATCH)):
            taken.update(_texts(self._asked("push", [field for task in batch for field in _fields(task)])))
        return taken

    def hasten(self, tasks: Sequence[Task]) -> None:
        """These wait for their hosts alone from now on, if they waited for a moment."""
        rest = iter(tasks)
        while batch := list(islice(rest, BATCH)):
            self._asked("push", [field for task in batch for field in (*list(_fields(task))[:-1], "now")])

    def take(self, number: int, *, delay: float, ahead: float) -> Taken:
        with self._lock:
            self._bury_neighbours()
            answer = self._asked("take", [min(number, MOST), _number(delay), _number(ahead), self._turn + 1])
            self._turn += 1  # not before it was answered: an answer that was lost is given again
            leases = tuple(Lease(_task(row), int(_text(row[8]))) for row in _rows(answer[1:], LEASE_FIELDS))
            self._leased.update(lease.task.id for lease in leases)
        how = json.loads(_text(answer[0]))
        return Taken(leases, how["waiting"], how.get("soon"), dict(how["held"] or {}), frozenset(how["yielded"] or ()))

    def done(self, ids: Collection[str]) -> None:
        with self._lock:
            for batch in _batches([id for id in ids if id in self._leased]):
                self._given(self._asked("done", batch), batch)

    def back(self, ids: Collection[str], *, at: float | None = None) -> None:
        with self._lock:
            for batch in _batches([id for id in ids if id in self._leased]):
                self._given(self._asked("back", ["" if at is None else _number(at), *batch]), batch)

    def beat(self, doing: Mapping[str, str] | None = None) -> set[str]:
        with self._lock:
            has = set(_texts(self._asked("beat", ["" if doing is None else json.dumps(dict(doing))])))
            lost = (self._leased - has) | self._lost
            self._leased &= has
            self._lost.clear()
        return lost

    def hold(self, host: str) -> float | None:
        answer = self._asked("hold", [host])
        if answer is None and self._bury_neighbours():
            answer = self._asked("hold", [host])
        return None if answer is None else float(_text(answer))

    def free(self, hosts: Mapping[str, float]) -> None:
        if hosts:
            self._asked("free", [word for host, seconds in hosts.items() for word in (host, _number(max(0.0, seconds)))])

    def claim(self, job: str, seconds: float) -> bool:
        asked = [job, _number(seconds)]
        return bool(self._asked("claim", asked) or (self._bury_neighbours() and self._asked("claim", asked)))

    def release(self, job: str) -> None:
        self._asked("release", [job])

    def leave(self) -> None:
        with self._lock:
            self._asked("leave")
            self._leased.clear()

    # How it stands, and mending

    def state(self, hosts: int = 20) -> QueueState:
        how = json.loads(_text(self._asked("state", [hosts])))
        workers = (_worker(told) for told in how["workers"] or ())
        told = (HostState(one["host"], one["waiting"], one.get("holder"), one["free_in"]) for one in how["hosts"] or ())
        return QueueState(
            self.name,
            how["waiting"],
            how["later"],
            how["leased"],
            how["aside"],
            tuple(sorted(workers, key=lambda worker: (worker.since, worker.name))),
            tuple(sorted(told, key=lambda host: (-host.waiting, host.host))),
        )

    def outstanding(self, source: str) -> int:
        return int(self._asked("outstanding", [source]))

    def aside(self, limit: int = 100) -> list[Aside]:
        rows = _rows(self._asked("aside", [limit]), ASIDE_FIELDS)
        return [Aside(_task(row), _text(row[9]), int(_text(row[8])), float(_text(row[10]))) for row in rows]

    def again(self, ids: Collection[str] | None = None) -> int:
        return self._settled("again", ids)

    def drop(self, ids: Collection[str] | None = None) -> int:
        return self._settled("drop", ids)

    def clear(self) -> int:
        return sum(iter(lambda: int(self._asked("clear")), 0))

    def close(self) -> None:
        self._call.client.close()

    def _given(self, mine: Sequence[Any], ids: Sequence[str]) -> None:
        """They are in this worker's hands no more; those that were not ``mine`` had been taken away before, which ``beat`` tells."""
        self._leased.difference_update(ids)
        self._lost |= set(ids) - set(_texts(mine))

    def _asked(self, script: str, arguments: Sequence[Any] = ()) -> Any:
        return self._call(script, self._who, [_bytes(argument) for argument in arguments])

    def _who(self, away: bool) -> str:
        if self._clock is None and not away:
            return self._said
        now = {} if self._clock is None else {"now": self._clock()}
        return json.dumps({**self._context, **now, "away": away})

    def _settled(self, what: str, ids: Collection[str] | None) -> int:
        if ids is None:
            return sum(iter(lambda: int(self._asked("settle", [what])), 0))
        return sum(int(self._asked("settle", [what, *batch])) for batch in _batches(ids))

    def _bury_neighbours(self) -> bool:
        """Workers of this machine whose processes are gone need not be waited for. True if there were any; looks once a second."""
        if monotonic() - self._looked < LOOK:
            return False
        self._looked = monotonic()
        dead = []
        for row in _rows(self._asked("workers"), 3):
            machine, pid, started = json.loads(_text(row[2]) or '["", 0, null]')
            if gone(Identity(_text(row[1]), machine, pid, started)):
                dead.append(_text(row[0]))
        if dead:
            self._asked("bury", dead)
        return bool(dead)


class UnbackedQueue(SharedQueue):
    """For a project without a store: what this worker pushed and knows not to be done is pushed again when Redis was away, since it may
    have come back empty. What is still there, or was seen, is refused."""

    _REMEMBERED: Final = 50_000

    def __init__(self, *given: Any, **named: Any) -> None:
        super().__init__(*given, **named)
        self._pushed: dict[str, Task] = {}
        self._away = False

    def push(self, tasks: Sequence[Task]) -> set[str]:
        taken = super().push(tasks)
        self._pushed.update((task.id, task) for task in tasks if task.id in taken)
        for id in list(self._pushed)[: max(0, len(self._pushed) - self._REMEMBERED)]:
            del self._pushed[id]
        return taken

    def done(self, ids: Collection[str]) -> None:
        super().done(ids)
        for id in ids:
            self._pushed.pop(id, None)

    def refresh(self, ids: Collection[str]) -> None:
        """There is no table that others change."""

    def retries(self) -> list[WaitingLinks]:
        return []

    def _asked(self, script: str, arguments: Sequence[Any] = ()) -> Any:
        try:
            answer = super()._asked(script, arguments)
        except FrontierUnavailable:
            self._away = True
            raise
        if self._away and script != "leave":
            self._away = False
            super().push([task for id, task in self._pushed.items() if id not in self._leased])
        return answer


def _fields(task: Task) -> Iterator[Any]:
    bucket, mark = _print(task.seen) if task.seen else ("", b"")
    yield from (task.id, task.host, task.priority, task.body, task.lane or "", task.source or "", bucket, mark, task.seen or "")
    yield "" if task.at is None else _number(task.at)


def _print(name: str) -> tuple[str, bytes]:
    """Where a name that was seen is noted (one of 16,384 places, so that a million names are 61 a place), and its print there."""
    digest = blake2b(name.encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return f"{int.from_bytes(digest[:2]) >> 2:04x}", digest[2:]


def _task(row: Sequence[Any]) -> Task:
    at = None if row[7] is None else float(_text(row[7]))
    lane, source, seen = (None if value is None else _text(value) for value in row[4:7])
    return Task(_text(row[0]), _text(row[1]), _text(row[3]), int(_text(row[2])), at, lane, source, seen)


def _worker(told: Mapping[str, Any]) -> WorkerState:
    hosts = tuple(sorted(told["hosts"] or ()))
    return WorkerState(told["name"], told["since"], told["beat"], told["leased"], hosts, json.loads(told["doing"]))


def _rows(flat: Sequence[Any], width: int) -> Iterator[Sequence[Any]]:
    return (flat[start : start + width] for start in range(0, len(flat), width))


def _batches(ids: Collection[str]) -> Iterator[list[str]]:
    rest = iter(ids)
    while batch := list(islice(rest, BATCH)):
        yield batch


def _number(seconds: float) -> str:
    return repr(float(seconds))


def _bytes(value: Any) -> Any:
    return value.encode("utf-8", "surrogatepass") if isinstance(value, str) else value


def _text(value: Any) -> str:
    """Redis' answers, whether the client decodes them or not."""
    return value.decode("utf-8", "surrogatepass") if isinstance(value, bytes) else str(value)


def _texts(values: Sequence[Any]) -> Iterator[str]:
    return map(_text, values)
