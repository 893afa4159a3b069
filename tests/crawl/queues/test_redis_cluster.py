"""The queue on a Redis Cluster: location of keys, guarantees across partitions, and the loss of a master."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from time import monotonic, sleep
from typing import Any

import pytest
import redis
from queue_benches import TERMS, TableBench, hold_all, ids, task, tasks
from redis.crc import key_slot
from redis_masters import MASTERS, SLOTS, Masters, masters
from scrapy.settings import Settings

from newsportal.crawl.queues import open_plain, redis_queue
from newsportal.crawl.queues.base import Queue
from newsportal.crawl.queues.redis_partition import PREFIXES
from newsportal.crawl.queues.redis_queue import RedisQueue, UnbackedQueue
from newsportal.crawl.queues.redis_table import RedisTableQueue
from newsportal.crawl.redis_connection import connect, queue_names_in
from newsportal.errors import FrontierUnavailable, StoreError
from newsportal.store.link_rows import SUSPECT_TRIES

HOSTS = 60


def many(each: int = 1, **more: Any) -> list[Any]:
    return [task for n in range(HOSTS) for task in tasks(each, f"h{n}.example", **more)]


def take_all(queue: Queue, number: int = 1000) -> list[str]:
    """Take from every partition, in any order."""
    return [id for _ in range(len(PREFIXES)) for id in ids(queue.take(number, delay=0, ahead=10).leases)]


@pytest.mark.parametrize("nodes", [2, 3, 5, len(PREFIXES)])
def test_partitions_are_spread_evenly_over_masters(nodes: int) -> None:
    slots = [key_slot(prefix.encode() + b"rss:requests") for prefix in PREFIXES]
    assert slots == [key_slot(prefix.encode() + b"newsportal:holders") for prefix in PREFIXES]
    of_node = Counter(slot * nodes // SLOTS for slot in slots)
    assert max(of_node.values()) - min(of_node[node] for node in range(nodes)) <= 1


@pytest.mark.parametrize(
    ("url", "words"), [("redis+cluster://127.0.0.1:1,127.0.0.1:2", "no node of the cluster answers"), ("redis+cluster://h:x", "allowed:")]
)
def test_unreachable_or_invalid_cluster_url_is_reported(url: str, words: str) -> None:
    with pytest.raises((FrontierUnavailable, StoreError), match=words):
        connect(Settings({"REDIS_URL": url}))


def test_single_redis_named_as_cluster_is_reported(redis_for_all: Any) -> None:
    with pytest.raises(FrontierUnavailable, match="it is a single Redis, not a cluster: use redis://"):
        connect(Settings({"REDIS_URL": f"redis+cluster://127.0.0.1:{redis_for_all.port}"}))


@pytest.mark.slow
def test_cluster_named_as_single_redis_is_reported(redis_masters: Masters) -> None:
    queue = open_plain(Settings({"REDIS_URL": f"redis://127.0.0.1:{redis_masters.servers[0].port}"}), "rss")
    with pytest.raises(FrontierUnavailable, match=r"it is a cluster: use redis\+cluster://"):
        queue.push([task("1", fingerprint="1")])  # its two keys are in two slots
    queue.close()


@pytest.mark.slow
def test_cluster_url_selects_queue_class_and_queues_are_listed(redis_masters: Masters) -> None:
    redis_masters.empty()
    settings = Settings({"REDIS_URL": redis_masters.url})
    queue = open_plain(settings, "rss")
    assert isinstance(queue, UnbackedQueue)
    assert len(queue.parts) == len(PREFIXES)
    queue.push(many())
    assert len(take_all(queue)) == HOSTS
    owner = queue.parts[0]._context["owner"]
    assert queue_names_in(connect(settings), None, owner, "there", PREFIXES) == ["rss"]
    queue.close()


@pytest.mark.slow
def test_every_master_has_hosts_and_every_key_a_partition(redis_masters: Masters) -> None:
    redis_masters.empty()
    queue = RedisQueue(redis_masters.connect(), "rss", TERMS, prefixes=PREFIXES)
    queue.push([replace(task, fingerprint=task.id) for task in many()])
    queue.take(30, delay=0, ahead=1)
    for server in redis_masters.servers:
        with redis.Redis(port=server.port, decode_responses=True) as node:
            keys = node.keys()
            assert any(key.endswith("}:rss:requests") for key in keys)
            assert all(key.startswith(tuple(PREFIXES)) for key in keys)
    queue.close()


@pytest.mark.slow
def test_one_task_of_a_lane_is_in_flight_across_partitions(redis_masters: Masters) -> None:
    redis_masters.empty()
    now = [1_772_700_000.0]
    first, second = (RedisQueue(redis_masters.connect(), "rss", TERMS, prefixes=PREFIXES, clock=lambda: now[0]) for _ in range(2))
    first.push(many(lane="x")[:12])
    leased, done = take_all(first), set[str]()
    while leased:
        assert len(leased) == 1
        assert take_all(second) == []
        first.free({f"h{n}.example": 0.0 for n in range(HOSTS)})
        second.free({f"h{n}.example": 0.0 for n in range(HOSTS)})
        first.done(leased)
        done.update(leased)
        now[0] += 2 * redis_queue.LANE_WAIT
        leased = take_all(first, 1)
    assert len(done) == 12
    first.close()
    second.close()


@pytest.mark.slow
def test_suspect_task_is_leased_alone_across_partitions(redis_masters: Masters) -> None:
    redis_masters.empty()
    now = [1_772_700_000.0]

    def opened() -> RedisQueue:
        return RedisQueue(redis_masters.connect(), "rss", TERMS, prefixes=PREFIXES, clock=lambda: now[0])

    opened().push(tasks(1, "suspect.example"))
    for _ in range(SUSPECT_TRIES):
        assert take_all(opened()) == ["suspect.example/0"]
        now[0] += 2 * TERMS.lease
    worker, leased = opened(), list[str]()
    worker.push(many(50))
    for _ in range(60):
        before, leased = leased, ids(worker.take(4, delay=0, ahead=10).leases)
        if "suspect.example/0" in leased:
            assert (before, leased) == ([], ["suspect.example/0"])
            return
        worker.heartbeat()
        worker.done(before)  # its hands are empty only if it takes nothing more because of the suspect
        now[0] += 1
    raise AssertionError("the suspect never had its turn")


@pytest.fixture
def table(tmp_path: Path) -> TableBench:
    return TableBench(f"sqlite:///{tmp_path}/库.db")


def until(holds: Callable[[], object]) -> None:
    end = monotonic() + 600
    while not holds():
        assert monotonic() < end
        sleep(0.05)


@pytest.mark.slow
def test_lost_master_blocks_its_hosts_only_and_is_refilled_from_the_table(table: TableBench) -> None:
    with masters() as cluster:
        queue = RedisTableQueue(cluster.connect(), "rss", TERMS, links=table.links(), prefixes=PREFIXES)
        queue.push(many(3))
        started = ids(queue.take(1000, delay=5, ahead=5).leases)
        assert len(started) == HOSTS, "one per host"
        server, at_lost = cluster.servers[1], set()
        for n in range(HOSTS):
            if queue._node(queue._home(f"h{n}.example")).endswith(f":{server.port}"):
                at_lost.add(f"h{n}.example")
        assert HOSTS / 6 < len(at_lost) < HOSTS / 1.5
        server.kill()
        queue.done(started)  # the table records what the lost node cannot
        queue.push([task("new", host) for host in sorted(at_lost)[:1]])  # waits in the table
        taken = [id for _ in range(20) for id in ids(queue.take(1000, delay=0, ahead=1).leases)]
        assert {id.partition("/")[0] for id in taken} == {f"h{n}.example" for n in range(HOSTS)} - at_lost
        assert not set(started) & set(taken)
        queue.done(taken)
        hold_all(queue, next(f"h{n}.example" for n in range(HOSTS) if f"h{n}.example" not in at_lost))
        assert queue.hold(sorted(at_lost)[0]) is None
        assert queue.claim("visit:甲", 100)
        assert queue.heartbeat() == set()
        with pytest.raises(FrontierUnavailable, match=f"{server.port}"):
            queue.state()
        assert queue.outstanding(["none"])["none"] == 0
        with pytest.raises(FrontierUnavailable):  # the remaining tasks are on the lost node
            queue.take(10, delay=0, ahead=1)
        cluster.start(1)
        remaining: list[str] = []

        def all_had() -> bool:
            try:
                remaining.extend(ids(queue.take(1000, delay=0, ahead=1).leases))
            except FrontierUnavailable:
                return False
            assert remaining, "an empty first response would end a crawl"
            return {*started, *taken, *remaining} >= {*(task.id for task in many(3)), "new"}

        until(all_had)
        assert not set(started) & set(remaining)
        queue.done(remaining)
        assert take_all(queue) == []
        queue.close()
    table.close()


@pytest.mark.slow
def test_lost_master_loses_nothing_without_a_store() -> None:
    with masters() as cluster:
        queue = UnbackedQueue(cluster.connect(), "rss", TERMS, prefixes=PREFIXES)
        queue.push(many(2))
        first = ids(queue.take(1000, delay=5, ahead=5).leases)
        cluster.servers[MASTERS - 1].kill()
        with pytest.raises(FrontierUnavailable):
            queue.done(first)
        with pytest.raises(FrontierUnavailable):
            queue.push(many(3))
        cluster.start(MASTERS - 1)
        done: set[str] = set()

        def all_had() -> bool:
            try:
                queue.done(first)
                queue.push(many(3))
                done.update(ids(queue.take(1000, delay=0, ahead=1).leases))
            except FrontierUnavailable:
                return False
            return done >= {task.id for task in many(3)} - set(first)

        until(all_had)
        queue.close()
