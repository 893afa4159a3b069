"""The queue in Redis, for any number of processes and machines: in one Redis, or on a Redis Cluster, spread by hosts.

A host's partition is determined by its hash, for all queues, so every script keeps to one slot and one worker holds a host. What concerns
several hosts is done here for several partitions: a worker has no leases in any before it gets a suspect, and a lane is a claimed job.

While a master is unreachable its hosts wait, and the others continue. If the queue is backed by the link table, leases that a partition
was not told about are returned when it is reachable again, and checked in the table before they are taken.
"""

import json
import logging
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Sequence
from contextlib import suppress
from dataclasses import replace
from hashlib import blake2b
from threading import RLock
from typing import Any, ClassVar, Final, TypeVar

from newsportal.crawl.queues import base
from newsportal.crawl.queues.redis_partition import Partition, context_of
from newsportal.crawl.redis_connection import QUEUE_KEY, SEEN_KEY, SHARED, as_text, faults
from newsportal.errors import FrontierUnavailable
from newsportal.store.link_rows import SUSPECT_TRIES

logger = logging.getLogger(__name__)

MIN_POLLED: Final = 4  # minimum of partitions polled per take, in turn: hosts wanted by other workers are noticed within four takes
RETRY_SECONDS: Final = 2.0  # minimum seconds before an unreachable node is tried again
LANE_SECONDS: Final = 86400.0  # maximum claim of a lane; it is released when its request is done
LANE_WAIT: Final = 1.0  # seconds until a request is retried whose lane has another in flight elsewhere

Result = TypeVar("Result")


class RedisQueue(base.Queue):
    """``owner`` distinguishes portals in one Redis, ``owner_name`` is its display name; ``prefixes``: key prefixes of the partitions."""

    backed: ClassVar[bool] = False  # True: a table keeps what could not be sent to an unreachable node

    def __init__(
        self, client: Any, name: str, terms: base.Terms | None = None, *, worker: base.Identity | None = None,
        queue_key: str = QUEUE_KEY, seen_key: str = SEEN_KEY, owner: str = "", owner_name: str = "", where: str = "its address",
        prefixes: Sequence[str] = ("",), clock: Callable[[], float] | None = None,
    ) -> None:  # fmt: skip
        self.name, self.terms, self.client = name, terms or base.Terms(), client
        self.worker = worker or base.identity()
        context = {**context_of(self.worker, self.terms), "owner": owner, "owner_name": owner_name}
        self.parts = [
            Partition(client, [prefix + key % {"spider": name} for key in (queue_key, seen_key)], prefix + SHARED, context, where, clock)
            for prefix in prefixes
        ]
        self._nodes_away: dict[str, tuple[float, FrontierUnavailable]] = {}
        self._last: dict[Partition, base.Answer] = {}  # the last answer of each partition
        self._jobs: dict[str, Partition] = {}
        self._lanes: dict[str, str] = {}  # lane -> id of the request that this worker has in flight
        self._first = 0
        self._lock = RLock()

    @property
    def whole(self) -> bool:
        """Whether there is a single partition."""
        return len(self.parts) == 1

    def exchange(self, order: base.Order) -> base.Answer:
        with self._lock:
            if self.whole:
                return self._ask(self.parts[0], order)
            answer = self._tell(order)
            if order.take is not None:
                self._take(order.take, order, answer)
            return answer

    def _ask(self, part: Partition, order: base.Order) -> base.Answer:
        if order.take is not None and part.away:
            part.recover()
            self._recover(part)
        return part.exchange(order)

    def _recover(self, part: Partition) -> None:
        """Called after a node was unreachable; it may have restarted empty."""

    def _tell(self, order: base.Order) -> base.Answer:
        """Send everything but ``take``."""
        orders = self._by_part(order)
        strict = not self.backed and bool(order.push or order.requeue or order.ended)
        answers = self._each(lambda part: self._ask(part, orders[part]), orders, strict=strict)
        if orders and not answers and all(map(self._is_away, self.parts)):
            raise next(fault for _, fault in self._nodes_away.values())
        for part in self.parts:
            for id in order.ended:  # an unreachable node gets it later: the table knows that it is done
                part.leased.pop(id, None)
        answer = base.Answer(holds=dict.fromkeys(order.hold))
        for reply in answers:
            answer.pushed |= reply.pushed
            answer.lost |= reply.lost
            answer.holds |= reply.holds
        ended = order.ended | answer.lost
        for lane in [lane for lane, id in self._lanes.items() if id in ended]:
            del self._lanes[lane]
            with suppress(FrontierUnavailable):
                self.release(f"lane:{self.name}:{lane}")
        for part in orders.keys() & self._last.keys():  # an unreachable node repeats freed hosts, which are freed again
            last, free = self._last[part], orders[part].free
            held = {host: seconds for host, seconds in last.held.items() if host not in free}
            held |= {host: seconds for host in orders[part].hold if (seconds := answer.holds[host]) is not None}
            self._last[part] = replace(last, held=held, yielded=last.yielded - free.keys())
        return answer

    def _by_part(self, order: base.Order) -> dict[Partition, base.Order]:
        """Split an order by partition, without ``take``."""
        orders: dict[Partition, base.Order] = defaultdict(base.Order)
        for task in order.push:
            orders[self._home(task.host)].push.append(task)
        for task in order.requeue:
            orders[self._home(task.host)].requeue.append(task)
        for host, seconds in order.free.items():
            orders[self._home(host)].free[host] = seconds
        for host in order.hold:
            orders[self._home(host)].hold.append(host)
        for part in self.parts:
            if order.heartbeat is not None:
                orders[part].heartbeat = order.heartbeat
            if order.ended & part.leased.keys():
                orders[part].done, orders[part].back = order.done, order.back
        return orders

    def _take(self, number: int, order: base.Order, answer: base.Answer) -> None:
        leases: list[base.Lease] = []
        errors = []
        self._first = (self._first + 1) % len(self.parts)  # another partition each time, after one that drains for a suspect
        rotated = [*self.parts[self._first :], *self.parts[: self._first]]
        for polled, part in enumerate(sorted(rotated, key=lambda part: not part.draining)):
            free = self._allowed(part, number - len(leases))
            if free <= 0 and polled >= MIN_POLLED and part in self._last:
                continue
            part.elsewhere, request = self._leased_number - len(part.leased), base.Order(take=free, delay=order.delay, ahead=order.ahead)
            try:
                reply = self._last[part] = self._at(part, lambda part, request=request: self._ask(part, request))  # type: ignore[misc]
            except FrontierUnavailable as error:
                errors.append(error)
                continue
            leases += [lease for lease in reply.leases if self._has_lane(part, lease)]
        if errors and not self._leased_number and not any(self._last[part].waiting for part in self._last if not self._is_away(part)):
            raise errors[-1]  # only tasks of unreachable nodes are left
        answers = self._last.values()
        answer.leases, answer.waiting = tuple(leases), sum(reply.waiting for reply in answers)
        answer.poll_in = min((reply.poll_in for reply in answers if reply.poll_in is not None), default=None)
        answer.held = {host: seconds for reply in answers for host, seconds in reply.held.items()}
        answer.yielded = frozenset().union(*(reply.yielded for reply in answers))

    def claim(self, job: str, seconds: float) -> bool:
        """While a job's own node is unreachable the next one decides, so two workers may claim it during the change."""
        words = ("claim", job, repr(float(seconds)))
        first = self.parts.index(self._home(job))
        fault: FrontierUnavailable | None = None
        for part in (*self.parts[first:], *self.parts[:first]):
            try:
                answer = self._at(part, lambda part: bool(part.call(*words) or (part.bury_local() and part.call(*words))))
            except FrontierUnavailable as error:
                fault = error
                continue
            self._jobs[job] = part
            return answer
        assert fault is not None
        raise fault

    def release(self, job: str) -> None:
        self._at(self._jobs.pop(job, self._home(job)), lambda part: part.call("claim", job, ""))

    def leave(self) -> None:
        def step(part: Partition) -> None:
            part.call("bury", 0, part.me)
            part.leased.clear()

        with self._lock:
            self._each(step)
            self._last.clear()
            self._lanes.clear()

    def state(self, hosts: int = 20) -> base.QueueState:
        states = self._each(lambda part: json.loads(as_text(part.call("state", hosts))), strict=True)
        workers: dict[str, base.WorkerState] = {}
        for worker, name, since, heartbeat, leased, locked, activity in (row for state in states for row in state["workers"]):
            same = workers.get(worker, base.WorkerState(name, since, heartbeat, 0, ()))
            workers[worker] = base.WorkerState(
                name, min(same.since, since), max(same.heartbeat, heartbeat), same.leased + leased,
                tuple(sorted((*same.hosts, *locked))), same.activity or json.loads(activity),
            )  # fmt: skip
        rows = [row for state in states for row in state["hosts"]]
        found = (base.HostState(row["host"], row["waiting"], row.get("holder"), row["next_request_in"]) for row in rows)
        busiest = sorted(found, key=lambda host: (-host.waiting, host.host))
        counts = {name: sum(state["counts"][name] for state in states) for name in ("waiting", "later", "leased", "aside")}
        ordered = tuple(sorted(workers.values(), key=lambda worker: (worker.since, worker.name)))
        return base.QueueState(self.name, **counts, workers=ordered, hosts=tuple(busiest[:hosts]))

    def outstanding(self, sources: Collection[str]) -> Counter[str]:
        names = list(sources)
        return sum(self._each(lambda part: part.outstanding(names), strict=True), Counter[str]())

    def aside(self, limit: int = 100) -> list[base.SetAside]:
        found = [aside for batch in self._each(lambda part: part.aside(limit), strict=True) for aside in batch]
        return sorted(found, key=lambda aside: aside.since)[:limit]

    def requeue(self, ids: Collection[str] | None = None) -> int:
        return sum(self._each(lambda part: part.settle("again", ids), strict=True))

    def drop(self, ids: Collection[str] | None = None) -> int:
        return sum(self._each(lambda part: part.settle("drop", ids), strict=True))

    def clear(self) -> int:
        return sum(self._each(lambda part: sum(iter(lambda: int(part.call("clear")), 0)), strict=True))

    def close(self) -> None:
        with self._lock:  # no other thread reads an answer; a cluster's own close() drops the nodes, but visits still end afterwards
            getattr(self.client, "disconnect_connection_pools", self.client.close)()

    # which partition

    def _home(self, name: str) -> Partition:
        number = int.from_bytes(blake2b(name.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "big")
        return self.parts[number % len(self.parts)]

    def _allowed(self, part: Partition, left: int) -> int:
        """Return how many requests may be taken from this partition now."""
        suspect = any(tries >= SUSPECT_TRIES for p in self.parts for tries in p.leased.values())
        drains = not part.draining and any(other.draining for other in self.parts if other is not part and not self._is_away(other))
        return 0 if suspect or drains else left

    @property
    def _leased_number(self) -> int:
        return sum(len(part.leased) for part in self.parts)

    # nodes that are away

    def _at(self, part: Partition, call: Callable[[Partition], Result]) -> Result:
        """Run ``call``. An unreachable node is not tried again at once: each try may last until its timeout."""
        if self.whole:
            with self._lock:
                return call(part)
        node = self._node(part)
        until, fault = self._nodes_away.get(node, (0.0, None))
        began = time.monotonic()
        if fault is not None and began < until:
            part.away = True
            raise fault
        try:
            with self._lock:
                answer = call(part)
        except FrontierUnavailable as error:
            part.away, now = True, time.monotonic()  # a node that answers with an error, e.g. with a full disk, is unavailable too
            self._nodes_away[node] = (now + max(RETRY_SECONDS, 5 * (now - began)), error)
            if fault is None:
                logger.warning("node %s of the queue is unavailable (%s): its hosts wait, others continue", node, error)
            raise
        if self._nodes_away.pop(node, None) is not None:
            logger.warning("node %s of the queue is available again", node)
        return answer

    def _node(self, part: Partition) -> str:
        try:
            return str(self.client.get_node_from_key(part.key).name)
        except faults():
            return part.key  # no node has its slot

    def _is_away(self, part: Partition) -> bool:
        return self._node(part) in self._nodes_away

    def _each(self, call: Callable[[Partition], Result], parts: Iterable[Partition] | None = None, *, strict: bool = False) -> list[Result]:
        """Return the answers of these partitions (default: all), without unavailable ones; raise if all of them are, or ``strict``."""
        answers, fault = [], None
        for part in self.parts if parts is None else parts:
            try:
                answers.append(self._at(part, call))
            except FrontierUnavailable as error:
                fault = error
        if fault is not None and (strict or (parts is None and not answers)):
            raise fault
        return answers

    # lanes

    def _has_lane(self, part: Partition, lease: base.Lease) -> bool:
        """Return whether the lease is the only one of its lane; otherwise return it to the queue for a moment."""
        lane, id = lease.task.lane, lease.task.id
        if lane is None:
            return True
        with suppress(FrontierUnavailable):
            if self._lanes.setdefault(lane, id) == id and self.claim(f"lane:{self.name}:{lane}", LANE_SECONDS):
                return True
        if self._lanes[lane] == id:
            del self._lanes[lane]
        with suppress(FrontierUnavailable):
            self._at(part, lambda part: part.exchange(base.Order(back=[([id], part.now + LANE_WAIT)])))
        part.leased.pop(id, None)
        return False


class UnbackedQueue(RedisQueue):
    """For a project without a store: pushes unfinished tasks again after Redis was unreachable, since it may have restarted empty."""

    _REMEMBERED: Final = 50_000

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._pushed: dict[str, base.Task] = {}

    def _ask(self, part: Partition, order: base.Order) -> base.Answer:
        answer = super()._ask(part, order)
        for id in order.done:
            self._pushed.pop(id, None)
        self._pushed.update((task.id, task) for task in (*order.push, *order.requeue) if task.id in answer.pushed)
        for id in list(self._pushed)[: max(0, len(self._pushed) - self._REMEMBERED)]:
            del self._pushed[id]
        return answer

    def _recover(self, part: Partition) -> None:
        part.exchange(
            base.Order(push=[task for id, task in self._pushed.items() if self._home(task.host) is part and id not in part.leased])
        )
