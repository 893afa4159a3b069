"""One queue in Redis (6 or newer), or a partition of one: its script and the calls of it. The script keeps the guarantees of :mod:`base`.

Keys of a queue whose waiting tasks are under ``Q`` (``rss:requests``): ``Q`` sorted set of all tasks that wait now, each as PLACE|PRIORITY|
NUMBER|ID, so that the lexical order is that of the place (a place is a host, ``~LANE`` for tasks behind another of their lane, ``!`` for
suspects); ``Q:tasks`` hash of the tasks by id; ``Q:later`` by their time; ``Q:ready`` hosts that no worker holds, the most urgent first;
``Q:resting`` hosts not available yet, by their time; ``Q:blocked`` hosts held for another queue; ``Q:hosts``, ``Q:sources`` counts of
waiting and outstanding tasks; ``Q:in_flight``, ``Q:aside``, ``Q:reasons``, ``Q:workers``; ``Q:about`` the owner of the queue. Keys of all
queues, under ``newsportal:``: ``workers`` by the time at which they count as dead, ``machines`` of the workers, ``worker:NAME`` and its
leases, ``holders`` of hosts, ``free`` times of hosts, ``wanted`` hosts, ``jobs:OWNER``, ``clock``. A script runs atomically.

Redis needs the policy ``noeviction``: one that evicts keys loses tasks.
"""

import json
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import asdict, replace
from functools import cache
from hashlib import blake2b
from importlib.resources import files
from secrets import token_hex
from time import monotonic, time
from typing import Any, Final, TypeVar

from newsportal.crawl.queues.base import Answer, Identity, Lease, Order, SetAside, Task, Terms, has_ended
from newsportal.crawl.redis_connection import as_text, explain_error, faults
from newsportal.store.dialects import chunks
from newsportal.store.link_rows import SUSPECT_TRIES

TAGS: Final = (460, 131, 201, 50, 461, 130, 200, 51, 16, 247, 177, 426, 17, 246, 176, 427)
PREFIXES: Final = tuple(f"{{{tag}}}:" for tag in TAGS)
"""Prefixes of the keys of a cluster's 16 partitions, so that at most 16 masters share the work; equal for all workers of a cluster
(docs/decisions/frontier.md). The slot of each tag is at the beginning of its sixteenth of the slots, so masters get equally many."""

BATCH: Final = 100  # tasks per call: some milliseconds during which Redis serves no other client
MAX_LEASED: Final = 1000  # tasks leased per call
CHECK_SECONDS: Final = 1.0  # seconds between checks for dead workers of this machine
PREFIX_DIGITS: Final = 14  # hexadecimal digits before a stored task: ten of its number, four of its tries

Result = TypeVar("Result")


@cache
def script() -> str:
    """Return the script, read as package data: a crawl may run from an egg."""
    folder = files(__package__) / "lua"
    return "\n".join((folder / f"{part}.lua").read_text("utf-8") for part in ("common", "take", "calls"))


def context_of(worker: Identity, terms: Terms) -> dict[str, Any]:
    """Return the worker's context for the script. Its name in Redis is unique: a new process may reuse an old one's name."""
    machine = json.dumps([worker.name, worker.machine, worker.pid, worker.started])
    return {"me": f"{worker.name}~{token_hex(4)}", "name": worker.name, "machine": machine, **asdict(terms)}


class Partition:
    """The queue with these ``keys`` (the waiting tasks, and the seen names) for one worker. ``shared``: prefix of the keys of all queues;
    ``context``: the worker's context for the script; ``clock`` replaces Redis' in tests. Used by one thread at a time."""

    def __init__(
        self, client: Any, keys: Sequence[str], shared: str, context: Mapping[str, Any], where: str, clock: Callable[[], float] | None
    ) -> None:
        self.client, self.key, self.where = client, keys[0], where
        self.away = False  # the last call failed: Redis may have restarted empty, or its answer was lost
        self.draining = False  # a suspect waits until this worker has no other leases
        self.elsewhere = 0  # requests that this worker leased from other partitions
        self.leased: dict[str, int] = {}  # id -> tries of this worker's leases
        self.me: str = context["me"]
        self._keys, self._shared, self._clock = keys, shared, clock
        self._context = {**context, "frontier": shared}
        self._script = client.register_script(script())
        self._checked = -CHECK_SECONDS

    @property
    def now(self) -> float:
        """Seconds since 1970, approximately Redis' clock."""
        return time() if self._clock is None else self._clock()

    def exchange(self, order: Order) -> Answer:
        if order.take is not None or order.hold:
            self.bury_local()
        results: dict[str, list[Any]] = defaultdict(list)
        *first, last = list(chunks(order.push, BATCH)) or [[]]
        for batch in first:
            results["push"].append(self.call(*push_call(batch)))
        calls = self._calls(replace(order, push=last))
        answers = self.call("exchange", *(word for call in calls for word in (call[0], len(call) - 1, *call[1:]))) if calls else ()
        for (name, *_), answer in zip(calls, answers, strict=True):
            results[name].append(answer)
        return self._answer(order, results)

    def _calls(self, order: Order) -> list[tuple[Any, ...]]:
        """Return the calls of the script: name and arguments of each."""

        def finish(how: str, ids: Collection[str]) -> list[tuple[Any, ...]]:
            mine = [id for id in ids if id in self.leased]
            return [("finish", how, *mine)] if mine else []

        calls = [push_call(order.push)] if order.push else []
        calls += finish("done", order.done)
        calls += [push_call(order.requeue)] if order.requeue else []
        for ids, at in order.back:
            calls += finish("" if at is None else repr(at), ids)
        if order.free:
            calls.append(("free", *(word for host, seconds in order.free.items() for word in (host, repr(max(0.0, float(seconds)))))))
        if order.heartbeat is not None:
            calls.append(("heartbeat", json.dumps(dict(order.heartbeat)) if order.heartbeat else ""))
        calls += [("hold", host) for host in order.hold]
        if order.take is not None:
            has_suspect = any(self.leased[id] >= SUSPECT_TRIES for id in self.leased.keys() - order.ended)
            calls.append(("take", 0 if has_suspect else min(order.take, MAX_LEASED), repr(float(order.delay)), repr(float(order.ahead))))
        return calls

    def _answer(self, order: Order, results: Mapping[str, list[Any]]) -> Answer:
        for id in order.ended:
            self.leased.pop(id, None)
        answer = Answer({as_text(id) for ids in results["push"] for id in ids})
        for ids in results["heartbeat"]:
            answer.lost = self.leased.keys() - set(map(as_text, ids))
            for id in answer.lost:
                del self.leased[id]
        for host, seconds in zip(order.hold, results["hold"], strict=True):
            answer.holds[host] = None if seconds is None else float(as_text(seconds))
        for head, *fields in results["take"]:
            leases = tuple(Lease(*_task(id, text)) for id, text in zip(fields[::2], fields[1::2], strict=True))
            self.leased.update((lease.task.id, lease.tries) for lease in leases)
            status = json.loads(as_text(head))
            self.draining = status.get("draining", False)
            answer.leases, answer.waiting, answer.poll_in = leases, status["waiting"], status.get("soon")
            answer.held, answer.yielded = dict(status["held"] or {}), frozenset(status["yielded"] or ())
        return answer

    def recover(self) -> None:
        """After Redis was unreachable: return leases of an answer that was lost."""
        strays = set(map(as_text, self.call("heartbeat", ""))) - self.leased.keys()
        self.away = False
        for batch in chunks(strays, BATCH):
            self.call("finish", "", *batch)

    def make_due(self, tasks: Sequence[Task]) -> None:
        """Let tasks that wait for a time wait for their hosts alone."""
        for batch in chunks(tasks, BATCH):
            self.call(*push_call(batch, "now"))

    def settle(self, action: str, ids: Collection[str] | None) -> int:
        """``again`` or ``drop``: requeue or delete tasks that were set aside (all, or these). Return their number."""
        if ids is None:
            return sum(iter(lambda: int(self.call("settle", action)), 0))
        return sum(int(self.call("settle", action, *batch)) for batch in chunks(ids, BATCH))

    def aside(self, limit: int) -> list[SetAside]:
        def read() -> list[SetAside]:
            found = []
            for id, since in self.client.zrange(f"{self.key}:aside", 0, limit - 1, withscores=True):
                text, reason = self.client.hget(f"{self.key}:tasks", id), self.client.hget(f"{self.key}:reasons", id)
                if text is not None:
                    task, tries = _task(id, text)
                    found.append(SetAside(task, as_text(reason), tries, since))
            return found

        return self.send(read)

    def outstanding(self, sources: Sequence[str]) -> Counter[str]:
        found = self.send(lambda: self.client.hmget(f"{self.key}:sources", sources)) if sources else []
        return Counter({source: int(number) for source, number in zip(sources, found, strict=True) if number})

    def bury_local(self) -> bool:
        """Bury workers of this machine whose processes have ended; checks once a second. Return whether any were found."""
        if monotonic() - self._checked < CHECK_SECONDS:
            return False
        self._checked = monotonic()
        machines = self.send(lambda: self.client.hgetall(f"{self._shared}machines"))
        dead = [worker for worker, text in machines.items() if has_ended(Identity(*json.loads(text)))]
        if dead:
            self.call("bury", 1, *dead)
        return bool(dead)

    def call(self, *words: Any) -> Any:
        """Call the script with a name and arguments."""
        now = {} if self._clock is None else {"now": self._clock()}
        context = json.dumps({**self._context, **now, "away": self.away, "elsewhere": self.elsewhere})
        encoded = [word.encode("utf-8", "surrogatepass") if isinstance(word, str) else word for word in words]
        return self.send(lambda: self._script(keys=self._keys, args=[context, *encoded]))

    def send(self, command: Callable[[], Result]) -> Result:
        """Run ``command``. Raises ``FrontierUnavailable`` (unreachable, full, refusing) and ``FrontierRefused`` (of another owner)."""
        from redis.exceptions import AuthenticationError, ClusterDownError, ResponseError

        try:
            return command()
        except faults() as error:
            answered = isinstance(error, ResponseError | AuthenticationError) and not isinstance(error, ClusterDownError)
            self.away = self.away or not answered
            raise explain_error(error, self.where, self.key) from error


def push_call(tasks: Iterable[Task], when: str = "") -> tuple[Any, ...]:
    """Return the call that pushes tasks: of each its id, an eight-byte hash of its seen name, and its stored form."""
    words: list[Any] = ["push", when]
    for task in tasks:
        seen = blake2b(task.fingerprint.encode("utf-8", "surrogatepass"), digest_size=8).digest() if task.fingerprint else b""
        head = [task.host, task.priority, task.lane or "", task.source or "", "" if task.at is None else task.at]
        words += [task.id, seen, f"{json.dumps(head)}\n{task.body}"]
    return tuple(words)


def _task(id: Any, stored: Any) -> tuple[Task, int]:
    text = as_text(stored)
    head, _, body = text[PREFIX_DIGITS:].partition("\n")
    host, priority, lane, source, at = json.loads(head)
    return Task(as_text(id), host, body, priority, None if at == "" else at, lane or None, source or None), int(text[10:PREFIX_DIGITS], 16)
