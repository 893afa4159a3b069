"""The queue on a Redis Cluster: hosts in partitions, each of which is a queue of :mod:`redis_queue` whose keys lie in one hash slot.

A host's partition is that of its hash, for all queues, so every script keeps to one slot and one worker holds a host. What concerns
several hosts is done here: the hands must be empty everywhere before a suspect is handed out, and a lane is a job that is claimed.

While a master is away its hosts wait, and the others go on. Behind it stands the table of links: what a partition was not told is given
back by itself when it is there again, and looked up before it is handed out.
"""

from __future__ import annotations

import logging
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import cache
from hashlib import blake2b
from itertools import count
from threading import RLock
from typing import Any, ClassVar, Final, TypeVar

from newsportal.crawl.queues.base import Answer, Aside, Lease, Order, QueueState, Taken, Task, Terms, WorkerState, identity
from newsportal.crawl.queues.redis_queue import RedisQueue, UnbackedQueue
from newsportal.crawl.queues.redis_table import RedisTableQueue
from newsportal.crawl.queues.table import LinksBacked
from newsportal.crawl.redis_connection import faults
from newsportal.errors import FrontierUnavailable
from newsportal.store.link_rows import SUSPECT_TRIES

logger = logging.getLogger(__name__)

PARTITIONS: Final = 16  # so many masters at most share the work. All workers of a cluster have the same number (docs/decisions/frontier.md)
EVENLY: Final = 16  # a sixteenth of its part of the slots may lie before a partition's own
LOOKS: Final = 4  # partitions that each take asks at least, in turn: hosts that others wish for are heard of within four takes
AWAY: Final = 2.0  # seconds for which a node that does not answer is not asked again, at least
LANE_SECONDS: Final = 86400.0  # for which a lane is claimed at most; it is released when its request is done
LANE_WAIT: Final = 1.0  # seconds until a request is looked at again whose lane has another in flight elsewhere

One = TypeVar("One")


@cache
def tags(number: int) -> tuple[str, ...]:
    """A hash tag for each of so many partitions, whose slots are spread evenly over the cluster's 16,384: each lies at the beginning of
    its part of them, so that of nodes with as many slots each has as many partitions, or one more."""
    from redis.crc import REDIS_CLUSTER_HASH_SLOTS, key_slot

    found: dict[int, str] = {}
    texts = map(str, count())
    while len(found) < number:
        part, rest = divmod(key_slot((text := next(texts)).encode()) * number, REDIS_CLUSTER_HASH_SLOTS)
        if rest < REDIS_CLUSTER_HASH_SLOTS / EVENLY:
            found.setdefault(part, text)
    return tuple(found[part] for part in range(number))


def prefixes(number: int = PARTITIONS) -> list[str]:
    """What the keys of each partition begin with."""
    return [f"{{{tag}}}:" for tag in tags(number)]


class ClusterQueue(RedisQueue):
    """The same over partitions. ``client``: redis-py's ``RedisCluster``."""

    kind: ClassVar[type[RedisQueue]] = RedisQueue
    backed: ClassVar[bool] = False  # a table has what cannot be said to a node that is away

    def __init__(self, client: Any, name: str, terms: Terms | None = None, *, partitions: int = PARTITIONS, **named: Any) -> None:
        self.name, self.terms, self.client = name, terms or Terms(), client
        self.worker = named["worker"] = named.get("worker") or identity()
        self.parts = [self.kind(client, name, self.terms, prefix=prefix, **named) for prefix in prefixes(partitions)]
        self._nodes_away: dict[str, tuple[float, FrontierUnavailable]] = {}
        self._last: dict[RedisQueue, Taken] = {}  # what each partition answered last
        self._jobs: dict[str, RedisQueue] = {}
        self._lanes: dict[str, str] = {}  # lane -> id of the request that is in flight here
        self._turn = 0
        self._lock = RLock()

    def exchange(self, order: Order) -> Answer:
        with self._lock:
            answer = self._tell(order)
            if order.take is not None:
                answer.taken = self._take(order.take, order)
            return answer

    def _tell(self, order: Order) -> Answer:
        """Everything but what is to be taken."""
        told = self._by_part(order)
        strict = not self.backed and bool(order.push or order.requeue or order.ended)
        answers = self._each(lambda part: part.exchange(told[part]), told, strict=strict)
        if told and not answers and all(map(self._is_away, self.parts)):
            raise next(fault for _, fault in self._nodes_away.values())
        for part in self.parts:
            for id in order.ended:  # what a node was not told it gets back when it is there again: the table knows that it is done
                part.leased.pop(id, None)
        answer = Answer(holds=dict.fromkeys(order.hold))
        for one in answers:
            answer.pushed |= one.pushed
            answer.lost |= one.lost
            answer.holds |= one.holds
        self._leave_lanes(order.ended | answer.lost)
        for part in told.keys() & self._last.keys():  # a node that was away names freed hosts again, and they are freed again
            last, free = self._last[part], told[part].free
            held = {host: seconds for host, seconds in last.held.items() if host not in free}
            held |= {host: seconds for host in told[part].hold if (seconds := answer.holds[host]) is not None}
            self._last[part] = replace(last, held=held, yielded=last.yielded - free.keys())
        return answer

    def _by_part(self, order: Order) -> dict[RedisQueue, Order]:
        """What is to be said to which partition; nothing is taken."""
        told: dict[RedisQueue, Order] = defaultdict(Order)
        for task in order.push:
            told[self._home(task.host)].push.append(task)
        for task in order.requeue:
            told[self._home(task.host)].requeue.append(task)
        for host, seconds in order.free.items():
            told[self._home(host)].free[host] = seconds
        for host in order.hold:
            told[self._home(host)].hold.append(host)
        for part in self.parts:
            if order.beat is not None:
                told[part].beat = order.beat
            if order.ended & part.leased.keys():
                told[part].done, told[part].back = order.done, order.back
        return told

    def _take(self, number: int, order: Order) -> Taken:
        leases: list[Lease] = []
        errors, back = [], False
        for asked, part in enumerate(self._in_turn()):
            room = self._allowed(part, number - len(leases))
            if room <= 0 and asked >= LOOKS and part in self._last:
                continue
            was_away, part.elsewhere = part.away, self._leased_number - len(part.leased)
            try:
                taken = self._at(part, lambda part, room=room: part.take(room, delay=order.delay, ahead=order.ahead))  # type: ignore[misc]
            except FrontierUnavailable as error:
                errors.append(error)
                continue
            back = back or was_away
            self._last[part] = replace(taken, leases=())
            leases += [lease for lease in taken.leases if self._has_lane(part, lease)]
        if back:
            self._recover()
        if errors and not self._leased_number and not any(self._last[part].waiting for part in self._last if not self._is_away(part)):
            raise errors[-1]  # nothing is left but what waits there
        answers = self._last.values()
        return Taken(
            tuple(leases),
            sum(one.waiting for one in answers),
            min((one.soon for one in answers if one.soon is not None), default=None),
            {host: seconds for one in answers for host, seconds in one.held.items()},
            frozenset().union(*(one.yielded for one in answers)),
        )

    def hasten(self, tasks: Sequence[Task]) -> None:
        told = self._by_part(Order(push=list(tasks)))
        self._each(lambda part: part.hasten(told[part].push), told, strict=not self.backed)

    def claim(self, job: str, seconds: float) -> bool:
        """While a job's own node is away the next one has it, so two workers may have it just then."""
        first = self.parts.index(self._home(job))
        fault: FrontierUnavailable | None = None
        for part in (*self.parts[first:], *self.parts[:first]):
            try:
                answer = self._at(part, lambda part: part.claim(job, seconds))
            except FrontierUnavailable as error:
                fault = error
                continue
            self._jobs[job] = part
            return answer
        assert fault is not None
        raise fault

    def release(self, job: str) -> None:
        part = self._jobs.pop(job, None) or self._home(job)
        self._each(lambda part: part.release(job), [part])

    def leave(self) -> None:
        with self._lock:
            self._each(lambda part: part.leave())
            self._last.clear()
            self._lanes.clear()

    def state(self, hosts: int = 20) -> QueueState:
        states = self._each(lambda part: part.state(hosts), strict=True)
        workers: dict[str, WorkerState] = {}
        for one in (worker for state in states for worker in state.workers):
            same = workers.get(one.name, replace(one, leased=0, hosts=()))
            workers[one.name] = WorkerState(
                one.name, min(same.since, one.since), max(same.beat, one.beat), same.leased + one.leased,
                tuple(sorted((*same.hosts, *one.hosts))), same.doing or one.doing,
            )  # fmt: skip
        counts = {name: sum(getattr(state, name) for state in states) for name in ("waiting", "later", "leased", "aside")}
        most = sorted((host for state in states for host in state.hosts), key=lambda host: (-host.waiting, host.host))
        listed = tuple(sorted(workers.values(), key=lambda worker: (worker.since, worker.name)))
        return QueueState(self.name, **counts, workers=listed, hosts=tuple(most[:hosts]))

    def outstanding(self, sources: Collection[str]) -> Counter[str]:
        return sum(self._each(lambda part: part.outstanding(sources), strict=True), Counter[str]())

    def aside(self, limit: int = 100) -> list[Aside]:
        found = [one for some in self._each(lambda part: part.aside(limit), strict=True) for one in some]
        return sorted(found, key=lambda one: one.since)[:limit]

    def again(self, ids: Collection[str] | None = None) -> int:
        return sum(self._each(lambda part: part.again(ids), strict=True))

    def drop(self, ids: Collection[str] | None = None) -> int:
        return sum(self._each(lambda part: part.drop(ids), strict=True))

    def clear(self) -> int:
        return sum(self._each(lambda part: part.clear(), strict=True))

    def close(self) -> None:
        with self._lock:
            self.client.disconnect_connection_pools()  # redis-py's own close() forgets the nodes, and visits are still ended after it

    # which partition

    def _home(self, name: str) -> RedisQueue:
        number = int.from_bytes(blake2b(name.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "big")
        return self.parts[number % len(self.parts)]

    def _in_turn(self) -> list[RedisQueue]:
        """All partitions, another one first each time; one that drains for a suspect before all."""
        self._turn = (self._turn + 1) % len(self.parts)
        turned = [*self.parts[self._turn :], *self.parts[: self._turn]]
        return sorted(turned, key=lambda part: not part.draining)

    def _allowed(self, part: RedisQueue, left: int) -> int:
        """How many requests of this partition may be taken now."""
        suspect = any(tries >= SUSPECT_TRIES for one in self.parts for tries in one.leased.values())
        drains = not part.draining and any(one.draining for one in self.parts if one is not part and not self._is_away(one))
        return 0 if suspect or drains else left

    @property
    def _leased_number(self) -> int:
        return sum(len(part.leased) for part in self.parts)

    # nodes that are away

    def _at(self, part: RedisQueue, call: Callable[[RedisQueue], One]) -> One:
        """What ``call`` answers. A node that did not answer is not asked again at once: each try may last for its time-outs."""
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
            part.away, now = True, time.monotonic()  # a node that answers with an error, as while its disk is full, does not serve either
            self._nodes_away[node] = (now + max(AWAY, 5 * (now - began)), error)
            if fault is None:
                logger.warning("node %s of the queue does not serve (%s): its hosts wait, the others go on", node, error)
            raise
        if self._nodes_away.pop(node, None) is not None:
            logger.warning("node %s of the queue serves again", node)
        return answer

    def _node(self, part: RedisQueue) -> str:
        try:
            return str(self.client.get_node_from_key(part.key).name)
        except faults():
            return part.key  # no node has its slot

    def _is_away(self, part: RedisQueue) -> bool:
        return self._node(part) in self._nodes_away

    def _each(self, call: Callable[[RedisQueue], One], parts: Iterable[RedisQueue] | None = None, *, strict: bool = False) -> list[One]:
        """The answers of these partitions (by default of all), without those that are away; raises if all of them are, or ``strict``."""
        answers, fault = [], None
        for part in self.parts if parts is None else parts:
            try:
                answers.append(self._at(part, call))
            except FrontierUnavailable as error:
                fault = error
        if fault is not None and (strict or (parts is None and not answers)):
            raise fault
        return answers

    def _recover(self) -> None:
        """A node was away, and may have come back empty."""

    # lanes

    def _has_lane(self, part: RedisQueue, lease: Lease) -> bool:
        """Whether nothing else of its lane is in flight; else it is given back for a moment."""
        lane, id = lease.task.lane, lease.task.id
        if lane is None:
            return True
        with suppress(FrontierUnavailable):
            if self._lanes.setdefault(lane, id) == id and self.claim(f"lane:{self.name}:{lane}", LANE_SECONDS):
                return True
        if self._lanes[lane] == id:
            del self._lanes[lane]
        with suppress(FrontierUnavailable):
            self._at(part, lambda part: part.back([id], at=part.now + LANE_WAIT))
        part.leased.pop(id, None)
        return False

    def _leave_lanes(self, ids: Collection[str]) -> None:
        for lane in [lane for lane, id in self._lanes.items() if id in ids]:
            del self._lanes[lane]
            self.release(f"lane:{self.name}:{lane}")


class UnbackedClusterQueue(ClusterQueue):
    """For a project without a store."""

    kind = UnbackedQueue


class ClusterTableQueue(RedisTableQueue, ClusterQueue):
    """A queue on a cluster over the ``links`` of a store."""

    backed = True

    def outstanding(self, sources: Collection[str]) -> Counter[str]:
        try:
            return ClusterQueue.outstanding(self, sources)
        except FrontierUnavailable:
            return LinksBacked.outstanding(self, sources)  # with what waits at the node that is away
