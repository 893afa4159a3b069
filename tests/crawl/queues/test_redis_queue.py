"""The queue in Redis: lost responses, and a Redis that restarts, is full, is a replica, or belongs to another program."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from time import monotonic, sleep
from typing import Any

import pytest
import redis
from queue_benches import NOON, TERMS, ids, take, task, tasks
from redis.backoff import NoBackoff
from redis.retry import Retry
from redis_bench import RedisTableBench
from scrapy.settings import Settings

from newsportal.crawl.queues import open_plain
from newsportal.crawl.queues.base import Identity, Order, identity
from newsportal.crawl.queues.redis_queue import RedisQueue, UnbackedQueue
from newsportal.errors import FrontierRefused, FrontierUnavailable


@pytest.fixture
def client(redis_for_all: Any) -> redis.Redis:
    found = redis.Redis(port=redis_for_all.port)
    found.flushdb()
    return found


@pytest.fixture
def make_queue(client: redis.Redis) -> Callable[..., RedisQueue]:
    return lambda name="rss", **more: RedisQueue(client, name, TERMS, where="127.0.0.1", **more)


def connect(server: Any, **more: Any) -> redis.Redis:
    """Connect as ``newsportal.crawl.redis_connection.connect`` does: one retry, without a pause."""
    return redis.Redis(port=server.port, retry=Retry(NoBackoff(), 1), **more)


def dead_identity() -> Identity:
    """Return the identity of a local process that has ended."""
    process = subprocess.Popen([sys.executable, "-c", ""])
    process.wait()
    return replace(identity(), pid=process.pid)


# keys visible to users


def test_waiting_tasks_are_under_the_scrapy_redis_key(client: redis.Redis, make_queue: Callable[..., RedisQueue]) -> None:
    queue = make_queue()
    queue.push([*tasks(3), task("lane", lane="x"), task("lane too", lane="x"), task("later", at=4e9)])
    assert client.zcard("rss:requests") == 5
    assert queue.state().waiting == 5
    assert b"a.example/0" in client.zrange("rss:requests", 0, 0)[0]


def test_key_names_can_be_configured(client: redis.Redis, make_queue: Callable[..., RedisQueue]) -> None:
    queue = make_queue(queue_key="mine:%(spider)s:q", seen_key="mine:%(spider)s:seen")
    queue.push([task("1", fingerprint="1")])
    assert client.zcard("mine:rss:q") == 1
    assert client.type("mine:rss:seen") == b"zset"
    assert not client.exists("rss:requests", "rss:dupefilter")


def test_deleting_the_dupefilter_key_forgets_fingerprints(client: redis.Redis, make_queue: Callable[..., RedisQueue]) -> None:
    """As in scrapy-redis."""
    queue = make_queue()
    assert queue.push([task("1", fingerprint="1"), task("2", fingerprint="1")]) == {"1"}
    client.delete("rss:dupefilter")
    assert queue.push([task("3", fingerprint="1")]) == {"3"}


def test_fingerprints_expire_in_redis(client: redis.Redis, make_queue: Callable[..., RedisQueue]) -> None:
    make_queue().push([task("1", fingerprint="1")])
    assert TERMS.forget < client.ttl("rss:dupefilter") < TERMS.forget + 3600


def test_client_with_decode_responses(redis_for_all: Any, client: redis.Redis) -> None:
    decoding = redis.Redis(port=redis_for_all.port, decode_responses=True)
    queue = RedisQueue(decoding, "rss", TERMS)
    full = task("一", "xn--fiq228c.example", priority=-3, at=NOON, lane="乙 |丙", source="甲")
    assert queue.push([replace(full, fingerprint="一")]) == {"一"}
    assert [lease.task for lease in queue.take(5, delay=0, ahead=1).leases] == [full]
    assert queue.heartbeat() == set()
    assert queue.hold("b.example") == 0


def test_settings_select_the_queue_class(redis_for_all: Any) -> None:
    settings = Settings({"REDIS_URL": f"redis://127.0.0.1:{redis_for_all.port}"})
    for name in (None, "scrapy_redis.queue.FifoQueue", f"{Own.__module__}.{Own.__name__}"):
        settings.set("SCHEDULER_QUEUE_CLASS", name)
        assert type(open_plain(settings, "rss")).__name__ == ("Own" if name and "Own" in name else "UnbackedQueue")
    settings.set("SCHEDULER_QUEUE_CLASS", "collections.deque")
    with pytest.raises(FrontierRefused, match=r"collections\.deque: name a subclass of newsportal.*UnbackedQueue"):
        open_plain(settings, "rss")


class Own(UnbackedQueue):
    """The queue class of a project."""


def test_bodies_are_in_the_table_only_if_there_is_a_store(redis_for_all: Any, client: redis.Redis, tmp_path: Any) -> None:
    bench = RedisTableBench(redis_for_all.port, f"sqlite:///{tmp_path}/库.db")
    queue, pushed = bench.open(), task("1", link=True)
    queue.push([replace(pushed, body='{"url": "https://a.example/1"}')])
    assert b"url" not in client.hget("rss:requests:tasks", "1")
    for _ in range(TERMS.tries):
        (lease,) = queue.take(1, delay=0, ahead=1).leases
        assert lease.task == replace(pushed, body='{"url": "https://a.example/1"}')
        bench.pass_by(2 * TERMS.lease)
        queue = bench.open()
        queue.heartbeat()
    assert [entry.task.body for entry in queue.aside()] == ['{"url": "https://a.example/1"}']
    bench.close()


# lost responses


def test_lost_response_is_repeated(client: redis.Redis, make_queue: Callable[..., RedisQueue], monkeypatch: Any) -> None:
    queue = make_queue()
    queue.push(tasks(5))
    (part,) = queue.parts
    script = part._script

    def lose(**more: Any) -> Any:
        script(**more)
        raise redis.ConnectionError("Connection reset by peer")

    with monkeypatch.context() as patch:
        patch.setattr(part, "_script", lose)
        with pytest.raises(FrontierUnavailable, match="Connection reset"):
            take(queue, 3)
    assert sorted(take(queue, 3)) == ["a.example/0", "a.example/1", "a.example/2"]
    assert take(queue, 3) == ["a.example/3", "a.example/4"]


def test_push_and_done_are_idempotent(make_queue: Callable[..., RedisQueue]) -> None:
    queue = make_queue()
    assert len(queue.push(tasks(3))) == 3
    assert queue.push(tasks(3)) == set()
    leased = take(queue)
    queue.done(leased)
    queue.done(leased)
    queue.back(leased)
    assert (queue.state().waiting, queue.state().leased) == (0, 0)


def test_flushed_scripts_are_sent_again(client: redis.Redis, make_queue: Callable[..., RedisQueue]) -> None:
    queue = make_queue()
    queue.push(tasks(2))
    client.script_flush()
    assert len(take(queue)) == 2
    client.script_flush()
    queue.done(["a.example/0"])
    assert queue.state().leased == 1


# unavailable, full or foreign Redis


@pytest.mark.slow
def test_restart_of_redis_with_append_only_file_loses_nothing(redis_server: Any) -> None:
    redis_server.kill()
    options = ("--appendonly", "yes", "--appendfsync", "always")
    redis_server.start(*options)
    queue = RedisQueue(connect(redis_server), "rss", TERMS)
    queue.push(tasks(10))
    leased = take(queue, 4)
    redis_server.kill()
    with pytest.raises(FrontierUnavailable, match="Connection refused"):
        queue.done(leased)
    redis_server.start(*options)
    end = monotonic() + 600
    while monotonic() < end:
        try:
            queue.done(leased)
            break
        except FrontierUnavailable:  # it is loading its data
            sleep(0.05)
    assert queue.heartbeat() == set()
    assert len(take(queue)) == 6


def test_redis_that_lost_its_data_is_refilled(client: redis.Redis, make_queue: Callable[..., RedisQueue]) -> None:
    queue = make_queue()
    queue.push(tasks(3))
    leased = take(queue, 2)
    client.flushdb()
    assert queue.heartbeat() == set(leased)
    queue.done(leased)
    assert len(queue.push(tasks(3))) == 3
    assert len(take(queue)) == 3


def test_redis_that_lost_its_data_unnoticed_is_refilled_from_the_table(redis_for_all: Any, client: redis.Redis, tmp_path: Any) -> None:
    bench = RedisTableBench(redis_for_all.port, f"sqlite:///{tmp_path}/links.db")
    queue = bench.open()
    queue.push(tasks(5))
    leased = take(queue, 2)
    client.flushdb()
    answer = queue.exchange(Order(done=leased, take=5))
    assert sorted(leased + ids(answer.leases)) == [task.id for task in tasks(5)]
    bench.close()


def test_workers_are_not_presumed_dead_after_a_redis_outage(make_queue: Callable[..., RedisQueue], monkeypatch: Any) -> None:
    """No heartbeat was possible during the outage: every worker has ten seconds."""
    now = [NOON]
    first, second = make_queue(clock=lambda: now[0]), make_queue(clock=lambda: now[0])
    first.push(tasks(4))
    leased = take(first)
    second.heartbeat()
    now[0] += 3600
    second.parts[0].away = True  # its last call failed
    assert take(second) == []
    now[0] += 5
    assert first.heartbeat() == set()
    assert first.state().leased == len(leased) == 4
    now[0] += 5
    assert take(second) == []
    now[0] += 3600
    assert len(take(second)) == 4


@pytest.mark.slow
def test_full_redis_refuses_pushes_but_allows_completion(redis_server: Any) -> None:
    client = connect(redis_server)
    queue, other = RedisQueue(client, "rss", TERMS), RedisQueue(client, "rss", TERMS)
    queue.push([task(str(n), f"h{n % 7}.example", source="甲", lane=f"l{n}") for n in range(200)])
    first = take(queue, 50)
    client.config_set("maxmemory", "1mb")
    client.config_set("maxmemory-policy", "noeviction")
    with pytest.raises(FrontierUnavailable, match="memory is full"):
        queue.push([task("new")])
    queue.done(first)
    assert queue.heartbeat({"visit": "甲"}) == set()
    more = take(queue, 50)
    assert len(more) == 50
    queue.back(more[:10])
    queue.done(more[10:])
    queue.leave()
    assert other.hold("h1.example") == 0
    client.config_set("maxmemory", "0")
    assert other.state().waiting == 200 - 50 - 40
    assert other.outstanding(["甲"])["甲"] == 110
    assert len(take(other)) == 110


@pytest.mark.slow
def test_replica_and_wrong_password_are_reported(redis_server: Any) -> None:
    client = connect(redis_server)
    queue = RedisQueue(client, "rss", TERMS, where="127.0.0.1:6379")
    client.execute_command("REPLICAOF", "127.0.0.1", "1")
    with pytest.raises(FrontierUnavailable, match=r"127\.0\.0\.1:6379 is unavailable: it is a read-only replica"):
        queue.push(tasks(1))
    client.execute_command("REPLICAOF", "NO", "ONE")
    client.config_set("requirepass", "secret")
    with pytest.raises(FrontierUnavailable, match="password"):
        RedisQueue(connect(redis_server), "rss", TERMS).push(tasks(1))
    with pytest.raises(FrontierUnavailable, match="user name or password is wrong"):
        RedisQueue(connect(redis_server, password="wrong"), "rss", TERMS).push(tasks(1))


def test_pickled_requests_of_scrapy_redis_are_refused(client: redis.Redis, make_queue: Callable[..., RedisQueue], tmp_path: Any) -> None:
    class Bomb:
        def __reduce__(self) -> Any:
            return os.mkdir, (str(tmp_path / "ran"),)

    import pickle

    client.zadd("rss:requests", {pickle.dumps(Bomb()): 0})
    queue = make_queue()
    for call in (lambda: queue.push(tasks(1)), lambda: take(queue), queue.state, queue.clear):
        with pytest.raises(FrontierRefused, match=r"rss:requests was not written by newsportal.*redis-cli DEL rss:requests"):
            call()
    assert not (tmp_path / "ran").exists()
    assert client.zcard("rss:requests") == 1


@pytest.mark.parametrize("fill", [lambda client: client.lpush("rss:requests", "x"), lambda client: client.sadd("rss:dupefilter", "x")])
def test_other_foreign_keys_are_refused(client: redis.Redis, make_queue: Callable[..., RedisQueue], fill: Callable[..., Any]) -> None:
    fill(client)
    with pytest.raises(FrontierRefused, match="was not written by newsportal"):
        make_queue().push(tasks(1))


def test_tasks_of_another_portal_are_not_taken(make_queue: Callable[..., RedisQueue]) -> None:
    ours, theirs = make_queue(owner="1", owner_name="postgresql://***@db/ours"), make_queue(owner="2", owner_name="sqlite:///theirs.db")
    ours.push(tasks(2))
    for call in (lambda: take(theirs), lambda: theirs.push(tasks(1)), theirs.clear, theirs.state):
        with pytest.raises(FrontierRefused, match=r"belongs to another portal \(postgresql://\*\*\*@db/ours\)"):
            call()
    ours.done(take(ours))
    with pytest.raises(FrontierRefused):
        take(theirs)
    ours.leave()
    assert len(theirs.push(tasks(1))) == 1


def test_portals_share_hosts_but_not_claims(make_queue: Callable[..., RedisQueue]) -> None:
    ours, theirs = make_queue("rss", owner="1"), make_queue("forum", owner="2")
    assert ours.hold("a.example") == 0
    assert theirs.hold("a.example") is None
    assert ours.claim("visit:甲", 10)
    assert theirs.claim("visit:甲", 10)


# dead local workers


def test_leases_of_a_dead_local_process_are_taken_at_once(make_queue: Callable[..., RedisQueue]) -> None:
    dead = make_queue(worker=dead_identity())
    dead.push(tasks(2))
    leased = take(dead)
    leases = make_queue().take(5, delay=0, ahead=1).leases
    assert ids(leases) == leased
    assert {lease.tries for lease in leases} == {1}


def test_hosts_and_claims_of_a_dead_local_process_are_freed(make_queue: Callable[..., RedisQueue]) -> None:
    dead = make_queue(worker=dead_identity())
    assert dead.hold("a.example") == 0
    assert dead.claim("visit:甲", 1000)
    assert make_queue().hold("a.example") == 0
    assert make_queue().claim("visit:甲", 1000)


def test_worker_of_another_machine_is_waited_for(make_queue: Callable[..., RedisQueue]) -> None:
    dead = make_queue(worker=replace(dead_identity(), machine="elsewhere|"))
    dead.push(tasks(2))
    take(dead)
    assert take(make_queue()) == []


def test_workers_of_the_same_name_have_separate_tasks(make_queue: Callable[..., RedisQueue]) -> None:
    """As in containers whose hostname and process id are all app:1."""
    who = identity()
    first, second = make_queue(worker=who), make_queue(worker=who)
    first.push(tasks(2))
    leased = take(first)
    assert take(second) == []
    second.done(leased)
    assert first.state().leased == 2


# hosts


def test_released_host_keeps_its_longer_rest(make_queue: Callable[..., RedisQueue]) -> None:
    now = [NOON]
    first, second = make_queue(clock=lambda: now[0]), make_queue(clock=lambda: now[0])
    assert first.hold("a.example") == 0
    first.free({"a.example": 3})
    assert second.hold("a.example") == pytest.approx(3)
    second.free({"a.example": 0.5})
    assert first.hold("a.example") == pytest.approx(3)


# the clock


def test_clock_set_back_delays_nothing(make_queue: Callable[..., RedisQueue]) -> None:
    now = [NOON]
    queue, other = make_queue(clock=lambda: now[0]), make_queue(clock=lambda: now[0])
    queue.hold("a.example")
    queue.free({"a.example": 3})
    queue.push(tasks(1))
    now[0] -= 7200
    assert take(queue, ahead=1) == []
    now[0] += 3
    assert len(take(queue, ahead=1)) == 1
    for _ in range(4):
        now[0] += 20
        other.heartbeat()
    assert len(take(other)) == 1, "the silence of a worker counts from the clock change"


# size


def test_resting_and_held_hosts_are_not_scanned(client: redis.Redis, make_queue: Callable[..., RedisQueue]) -> None:
    """The number of Redis commands per call does not grow with the number of unavailable hosts."""

    def commands(hosts: int) -> int:
        client.flushdb()
        holder, queue = make_queue("hub"), make_queue()
        queue.push([task(f"{n}", f"h{n}.example") for n in range(hosts)])
        for n in range(hosts // 2):
            holder.hold(f"h{n}.example")
        queue.take(hosts, delay=1, ahead=1)
        queue.free({f"h{n}.example": 100.0 for n in range(hosts)})
        queue.done([f"{n}" for n in range(hosts)])
        queue.push([task(f"x{n}", f"h{n}.example") for n in range(hosts)])
        queue.parts[0]._checked = float("inf")  # it has cleaned up after other workers already
        client.config_resetstat()
        assert queue.take(10, delay=1, ahead=1).leases == ()
        return sum(command["calls"] for command in client.info("commandstats").values())

    commands(10)
    assert commands(400) <= commands(40) + 5


def test_tasks_done_by_another_worker_are_not_pushed_again(client: redis.Redis) -> None:
    """In a project without a store, no worker knows the outcome of the tasks it pushed."""
    first, second = (UnbackedQueue(client, "rss", TERMS) for _ in range(2))
    first.push(tasks(3))
    second.done(take(second))
    first.refresh([])
    for _ in range(3):
        first.heartbeat()
        assert take(first) == []


def test_own_tasks_are_pushed_again_after_redis_lost_its_data(redis_server: Any) -> None:
    client = redis.Redis(port=redis_server.port, retry=Retry(NoBackoff(), 0))
    queue = UnbackedQueue(client, "rss", TERMS)
    queue.push(tasks(4))
    queue.done(take(queue, 1))
    redis_server.kill()
    with pytest.raises(FrontierUnavailable):
        queue.heartbeat()
    redis_server.start()
    queue.heartbeat()
    assert sorted(take(queue)) == ["a.example/1", "a.example/2", "a.example/3"]
