"""The queue in Redis (6 or newer), for any number of processes and machines. The promises are :mod:`base`'s, each kept inside a script.

Keys, of a queue whose waiting tasks lie under ``Q`` (``rss:requests``): ``Q`` sorted set of all that wait now, each as PLACE|PRIORITY|
NUMBER|ID, so that the order of a place is that of its characters (a place is a host, ``~LANE`` for those behind another of their lane,
``!`` for suspects); ``Q:tasks`` hash of the tasks by id; ``Q:later`` by their moment; ``Q:ready`` hosts that nobody holds, the most urgent
first; ``Q:resting`` those that may not be had yet, by their moment; ``Q:blocked`` hosts held for another queue; ``Q:hosts``, ``Q:sources``
what waits, what is outstanding; ``Q:in_flight``, ``Q:aside``, ``Q:reasons``, ``Q:workers``; ``Q:about`` whose queue it is. Of all queues
together, under ``newsportal:``: ``workers`` by the moment at which they count as dead, ``machines`` where each runs, ``worker:NAME`` and
what each has in hand, ``holders`` of hosts, ``free`` moments of hosts, ``wanted`` hosts, ``jobs:OWNER``, ``clock``. The script is one step:
nobody sees a queue half changed.

``noeviction`` must be Redis' policy: one that forgets keys forgets tasks.
"""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cache
from hashlib import blake2b
from importlib.resources import files
from secrets import token_hex
from threading import RLock
from time import monotonic, time
from typing import Any, Final, TypeVar

from newsportal.crawl.queues.base import (
    Answer,
    Aside,
    HostState,
    Identity,
    Lease,
    Order,
    Queue,
    QueueState,
    Taken,
    Task,
    Terms,
    WorkerState,
    gone,
    identity,
)
from newsportal.crawl.redis_connection import QUEUE_KEY, SEEN_KEY, SHARED, as_text, explained, faults
from newsportal.store.dialects import chunks
from newsportal.store.link_rows import SUSPECT_TRIES

BATCH: Final = 100  # tasks a call: some milliseconds in which Redis serves nobody else
MOST: Final = 1000  # tasks that one call hands out
LOOK: Final = 1.0  # seconds between two looks whether workers of this machine are gone
PREFIX: Final = 14  # digits before a stored task: ten of its number, four of its tries

One = TypeVar("One")


@cache
def script() -> str:
    """Read as package data: a crawl may run from an egg."""
    folder = files(__package__) / "lua"
    return "\n".join((folder / f"{part}.lua").read_text("utf-8") for part in ("common", "take", "calls"))


class RedisQueue(Queue):
    """``owner`` tells portals on one Redis apart, ``owner_name`` is for people; ``prefix`` begins all keys (in a cluster: a hash tag);
    ``clock`` replaces Redis' in tests."""

    def __init__(
        self,
        client: Any,
        name: str,
        terms: Terms | None = None,
        *,
        worker: Identity | None = None,
        queue_key: str = QUEUE_KEY,
        seen_key: str = SEEN_KEY,
        owner: str = "",
        owner_name: str = "",
        where: str = "its address",
        prefix: str = "",
        clock: Callable[[], float] | None = None,
    ) -> None:
        self.name, self.terms, self.client, self.where = name, terms or Terms(), client, where
        self.worker = worker or identity()
        self.away = False  # the last call found nobody: Redis may have come back empty, or its answer was lost
        self.draining = False  # a suspect waits for empty hands
        self.elsewhere = 0  # requests that this worker leased from other parts of a cluster
        self._shared = prefix + SHARED
        self._clock = clock
        self._me = f"{self.worker.name}~{token_hex(4)}"  # a new process may have an old one's name
        self._context: dict[str, Any] = {
            "frontier": self._shared,
            "me": self._me,
            "name": self.worker.name,
            "machine": json.dumps([self.worker.name, self.worker.machine, self.worker.pid, self.worker.started]),
            "owner": owner,
            "owner_name": owner_name,
            "lease": self.terms.lease,
            "tries": self.terms.tries,
            "forget": self.terms.forget,
        }
        self._keys = [prefix + key % {"spider": name} for key in (queue_key, seen_key)]
        self._script = client.register_script(script())
        self.leased: dict[str, int] = {}  # id -> tries, of what this worker has
        self._lock = RLock()
        self._looked = -LOOK

    @property
    def key(self) -> str:
        """Under which the waiting tasks lie."""
        return self._keys[0]

    @property
    def now(self) -> float:
        """Seconds since 1970, about as Redis has them."""
        return time() if self._clock is None else self._clock()

    def exchange(self, order: Order) -> Answer:
        with self._lock:
            if order.take is not None and self.away:
                self._recover()
            if order.take is not None or order.hold:
                self._bury_neighbours()
            said: dict[str, list[Any]] = defaultdict(list)
            *first, last = list(chunks(order.push, BATCH)) or [[]]
            for batch in first:
                said["push"].append(self._call(*_push(batch)))
            calls = self._calls(replace(order, push=last))
            answers = self._call("exchange", *(word for call in calls for word in (call[0], len(call) - 1, *call[1:]))) if calls else ()
            for (name, *_), answer in zip(calls, answers, strict=True):
                said[name].append(answer)
            return self._answer(order, said)

    def _calls(self, order: Order) -> list[tuple[Any, ...]]:
        """What is asked of the script: the name and the arguments of each call."""

        def finish(how: str, ids: Collection[str]) -> list[tuple[Any, ...]]:
            mine = [id for id in ids if id in self.leased]
            return [("finish", how, *mine)] if mine else []

        calls = [_push(order.push)] if order.push else []
        calls += finish("done", order.done)
        calls += [_push(order.requeue)] if order.requeue else []
        for ids, at in order.back:
            calls += finish("" if at is None else repr(at), ids)
        if order.free:
            calls.append(("free", *(word for host, seconds in order.free.items() for word in (host, repr(max(0.0, float(seconds)))))))
        if order.beat is not None:
            calls.append(("beat", json.dumps(dict(order.beat)) if order.beat else ""))
        calls += [("hold", host) for host in order.hold]
        if order.take is not None:
            alone = any(self.leased[id] >= SUSPECT_TRIES for id in self.leased.keys() - order.ended)
            calls.append(("take", 0 if alone else min(order.take, MOST), repr(float(order.delay)), repr(float(order.ahead))))
        return calls

    def _answer(self, order: Order, said: Mapping[str, list[Any]]) -> Answer:
        for id in order.ended:
            self.leased.pop(id, None)
        answer = Answer({as_text(id) for ids in said["push"] for id in ids})
        for ids in said["beat"]:
            answer.lost = self.leased.keys() - set(map(as_text, ids))
            for id in answer.lost:
                del self.leased[id]
        for host, seconds in zip(order.hold, said["hold"], strict=True):
            answer.holds[host] = None if seconds is None else float(as_text(seconds))
        for how, *taken in said["take"]:
            leases = tuple(Lease(*_task(id, text)) for id, text in zip(taken[::2], taken[1::2], strict=True))
            self.leased.update((lease.task.id, lease.tries) for lease in leases)
            stands = json.loads(as_text(how))
            self.draining = stands.get("draining", False)
            held, yielded = dict(stands["held"] or {}), frozenset(stands["yielded"] or ())
            answer.taken = Taken(leases, stands["waiting"], stands.get("soon"), held, yielded)
        return answer

    def hasten(self, tasks: Sequence[Task]) -> None:
        """If these wait for a moment, let them wait for their hosts alone."""
        for batch in chunks(tasks, BATCH):
            self._call(*_push(batch, "now"))

    def claim(self, job: str, seconds: float) -> bool:
        asked = ("claim", job, repr(float(seconds)))
        return bool(self._call(*asked) or (self._bury_neighbours() and self._call(*asked)))

    def release(self, job: str) -> None:
        self._call("claim", job, "")

    def leave(self) -> None:
        with self._lock:
            self._call("bury", 0, self._me)
            self.leased.clear()

    def state(self, hosts: int = 20) -> QueueState:
        how = json.loads(as_text(self._call("state", hosts)))
        workers = (
            WorkerState(name, since, beat, leased, tuple(sorted(held)), json.loads(doing))
            for name, since, beat, leased, held, doing in how["workers"]
        )
        states = (HostState(one["host"], one["waiting"], one.get("holder"), one["free_in"]) for one in how["hosts"])
        return QueueState(
            self.name,
            **how["counts"],
            workers=tuple(sorted(workers, key=lambda worker: (worker.since, worker.name))),
            hosts=tuple(sorted(states, key=lambda host: (-host.waiting, host.host))),
        )

    def outstanding(self, sources: Collection[str]) -> Counter[str]:
        asked = list(sources)
        found = self._send(lambda: self.client.hmget(f"{self._keys[0]}:sources", asked)) if asked else []
        return Counter({source: int(number) for source, number in zip(asked, found, strict=True) if number})

    def aside(self, limit: int = 100) -> list[Aside]:
        def read() -> list[Aside]:
            key, found = self._keys[0], []
            for id, since in self.client.zrange(f"{key}:aside", 0, limit - 1, withscores=True):
                text, reason = self.client.hget(f"{key}:tasks", id), self.client.hget(f"{key}:reasons", id)
                if text is not None:
                    task, tries = _task(id, text)
                    found.append(Aside(task, as_text(reason), tries, since))
            return found

        return self._send(read)

    def again(self, ids: Collection[str] | None = None) -> int:
        return self._settle("again", ids)

    def drop(self, ids: Collection[str] | None = None) -> int:
        return self._settle("drop", ids)

    def clear(self) -> int:
        return sum(iter(lambda: int(self._call("clear")), 0))

    def close(self) -> None:
        with self._lock:  # no other thread reads an answer
            self.client.close()

    def _call(self, *words: Any) -> Any:
        """A call of the script: its name and arguments."""
        with self._lock:
            now = {} if self._clock is None else {"now": self._clock()}
            context = json.dumps({**self._context, **now, "away": self.away, "elsewhere": self.elsewhere})
            encoded = [one.encode("utf-8", "surrogatepass") if isinstance(one, str) else one for one in words]
            return self._send(lambda: self._script(keys=self._keys, args=[context, *encoded]))

    def _send(self, command: Callable[[], One]) -> One:
        """Raises ``FrontierUnavailable`` (away, full, refusing) and ``FrontierRefused`` (not ours)."""
        from redis.exceptions import AuthenticationError, ClusterDownError, ResponseError

        try:
            with self._lock:
                return command()
        except faults() as error:
            answered = isinstance(error, ResponseError | AuthenticationError) and not isinstance(error, ClusterDownError)
            self.away = self.away or not answered
            raise explained(error, self.where, self._keys[0]) from error

    def _recover(self) -> None:
        """Redis was away: give back what it handed out in an answer that was lost."""
        strays = set(map(as_text, self._call("beat", ""))) - self.leased.keys()
        self.away = False
        for batch in chunks(strays, BATCH):
            self._call("finish", "", *batch)

    def _settle(self, what: str, ids: Collection[str] | None) -> int:
        if ids is None:
            return sum(iter(lambda: int(self._call("settle", what)), 0))
        return sum(int(self._call("settle", what, *batch)) for batch in chunks(ids, BATCH))

    def _bury_neighbours(self) -> bool:
        """Bury workers of this machine whose processes are gone; looks once a second. Whether there were any."""
        if monotonic() - self._looked < LOOK:
            return False
        self._looked = monotonic()
        machines = self._send(lambda: self.client.hgetall(f"{self._shared}machines"))
        dead = [worker for worker, text in machines.items() if gone(Identity(*json.loads(text)))]
        if dead:
            self._call("bury", 1, *dead)
        return bool(dead)


class UnbackedQueue(RedisQueue):
    """For a project without a store: pushes once more what is not done when Redis was away, since it may have come back empty."""

    _REMEMBERED: Final = 50_000

    def __init__(self, *given: Any, **named: Any) -> None:
        super().__init__(*given, **named)
        self._pushed: dict[str, Task] = {}

    def exchange(self, order: Order) -> Answer:
        answer = super().exchange(order)
        for id in order.done:
            self._pushed.pop(id, None)
        self._pushed.update((task.id, task) for task in (*order.push, *order.requeue) if task.id in answer.pushed)
        for id in list(self._pushed)[: max(0, len(self._pushed) - self._REMEMBERED)]:
            del self._pushed[id]
        return answer

    def _recover(self) -> None:
        super()._recover()
        self.push([task for id, task in self._pushed.items() if id not in self.leased])


def _push(tasks: Iterable[Task], when: str = "") -> tuple[Any, ...]:
    """The call that pushes tasks: of each its id, eight bytes for the name by which it is seen, and what is kept of it."""
    words: list[Any] = ["push", when]
    for task in tasks:
        seen = blake2b(task.seen.encode("utf-8", "surrogatepass"), digest_size=8).digest() if task.seen else b""
        head = [task.host, task.priority, task.lane or "", task.source or "", "" if task.at is None else task.at]
        words += [task.id, seen, f"{json.dumps(head)}\n{task.body}"]
    return tuple(words)


def _task(id: Any, stored: Any) -> tuple[Task, int]:
    """A task and its tries."""
    text = as_text(stored)
    head, _, body = text[PREFIX:].partition("\n")
    host, priority, lane, source, at = json.loads(head)
    return Task(as_text(id), host, body, priority, None if at == "" else at, lane or None, source or None), int(text[10:PREFIX], 16)
