"""The guarantees of every queue (``newsportal/crawl/queues/base.py``), tested with every backend."""

from __future__ import annotations

from dataclasses import replace

import pytest
from queue_benches import NOON, TERMS, Bench, hold_all, ids, take, task, tasks

from newsportal.crawl.queues.base import Queue, Task

WHOLE = Task(
    "甲|1}", "xn--fiq228c.example:8080", '{"url": "https://新闻.example/一|}"}', -3, NOON - 1, "region:乙 |丙", "region:乙 |丙", "一"
)


# pushing, leasing, acknowledging


def test_task_round_trip(bench: Bench) -> None:
    queue = bench.open()
    assert queue.push([WHOLE]) == {WHOLE.id}
    (lease,) = queue.take(5, delay=0, ahead=1).leases
    assert replace(lease.task, fingerprint=None) == replace(WHOLE, fingerprint=None)  # the fingerprint matters for pushing only
    assert lease.tries == 0


def test_task_is_unique_until_done(bench: Bench) -> None:
    queue = bench.open()
    assert queue.push([task("1"), task("1"), task("2")]) == {"1", "2"}
    assert queue.push([task("1"), task("3")]) == {"3"}
    assert sorted(take(queue)) == ["1", "2", "3"]
    assert queue.push([task("1")]) == set()
    queue.done(["1", "2", "3"])
    assert queue.push([task("1")]) == {"1"}


def test_queues_have_separate_tasks(bench: Bench) -> None:
    rss, hub = bench.open("rss"), bench.open("hub")
    assert rss.push([task("1")]) == hub.push([task("1")]) == {"1"}
    rss.clear()
    assert take(hub) == ["1"]


def test_unknown_ids_are_not_an_error(bench: Bench) -> None:
    queue = bench.open()
    queue.done(["nothing"])
    queue.back(["nothing"], at=NOON)
    queue.free({"nowhere.example": 1})
    queue.release("nothing")
    assert queue.push([]) == set()
    assert take(queue) == []
    assert queue.requeue(["nothing"]) == queue.drop(["nothing"]) == queue.requeue() == queue.drop() == queue.clear() == 0
    queue.leave()


def test_leased_task_is_not_leased_again(bench: Bench) -> None:
    first, second = bench.open(), bench.open()
    first.push(tasks(3))
    assert len(take(first)) == 3
    assert take(second) == take(first) == []


def test_leaving_worker_gives_back_without_a_try(bench: Bench) -> None:
    first, second = bench.open(), bench.open()
    first.push(tasks(3))
    take(first)
    assert first.claim("visit:甲", 100)
    first.leave()
    leases = second.take(10, delay=0, ahead=1).leases
    assert {lease.tries for lease in leases} == {0}
    assert len(leases) == 3
    assert second.claim("visit:甲", 100)


def test_calls_after_leaving_are_harmless(bench: Bench) -> None:
    """Several components report the end of a crawl."""
    queue = bench.open()
    queue.push(tasks(2))
    leased = take(queue)
    assert queue.claim("visit:甲", 100)
    queue.leave()
    queue.done(leased)
    queue.back(leased)
    queue.free({"a.example": 1})
    queue.release("visit:甲")
    queue.leave()
    state = queue.state()
    assert state.workers == ()
    assert state.waiting == 2


def test_task_given_back_keeps_its_place_and_tries(bench: Bench) -> None:
    queue = bench.open()
    queue.push(tasks(3))
    first = take(queue, 1)
    queue.back(first)
    lease, *_ = queue.take(3, delay=0, ahead=1).leases
    assert (lease.task.id, lease.tries) == (first[0], 0)


def test_task_given_back_for_later(bench: Bench) -> None:
    queue = bench.open()
    queue.push(tasks(1))
    queue.back(take(queue), at=bench.now + 100)
    assert take(queue) == []
    bench.pass_by(50)
    queue.heartbeat()
    assert take(queue) == []
    bench.pass_by(51)
    assert len(take(queue)) == 1


# dead workers


def test_leases_of_a_dead_worker_are_reassigned(bench: Bench) -> None:
    dead, alive = bench.open(), bench.open()
    dead.push(tasks(3))
    assert len(take(dead)) == 3
    bench.fall_silent(alive)
    leases = alive.take(10, delay=0, ahead=1).leases
    assert len(leases) == 3
    assert {lease.tries for lease in leases} == {1}


def test_heartbeats_keep_leases_hosts_and_claims(bench: Bench) -> None:
    alive, other = bench.open(), bench.open()
    alive.push(tasks(1))
    take(alive)
    assert alive.claim("visit:甲", 10_000)
    bench.fall_silent(alive, other)
    assert take(other) == []
    assert other.hold("a.example") is None
    assert not other.claim("visit:甲", 10)
    assert alive.heartbeat() == set()


def test_worker_presumed_dead_is_notified_and_harmless(bench: Bench) -> None:
    asleep, alive = bench.open(), bench.open()
    asleep.push([task("1", lane="x"), task("2", lane="x"), task("3"), task("4")])
    assert take(asleep) == ["1", "3", "4"]
    bench.fall_silent(alive)
    assert take(alive) == ["1", "3", "4"]
    asleep.done(["1"])
    asleep.back(["3"])
    asleep.free({"a.example": 0})
    assert asleep.hold("a.example") is None
    assert {"4"} <= asleep.heartbeat() <= {"1", "3", "4"}
    assert asleep.heartbeat() == set()
    assert take(asleep) == []
    assert (alive.state().leased, alive.state().waiting) == (3, 1)
    alive.done(["1"])
    alive.free({"a.example": 0})
    asleep.leave()
    assert take(alive) == ["2"]


def test_worker_presumed_dead_learns_of_all_lost_leases(bench: Bench) -> None:
    asleep, alive = bench.open(), bench.open()
    asleep.push(tasks(3))
    leased = take(asleep)
    bench.fall_silent(alive)
    take(alive)
    assert asleep.heartbeat() == set(leased)


def test_worker_presumed_dead_may_continue(bench: Bench) -> None:
    asleep, alive = bench.open(), bench.open()
    bench.fall_silent(alive)
    asleep.push(tasks(1))
    assert len(take(asleep)) == 1
    assert asleep.heartbeat() == set()


def kill(bench: Bench, queue: Queue, times: int = 1) -> None:
    """Let so many workers take tasks and die."""
    for _ in range(times):
        victim = bench.open()
        assert take(victim)
        bench.fall_silent(queue)


def test_suspect_task_is_leased_alone(bench: Bench) -> None:
    queue, other = bench.open(), bench.open()
    queue.push(tasks(2))
    kill(bench, queue, 2)
    queue.push([task("good")])
    names: list[str] = []
    for _ in range(3):
        leases = queue.take(10, delay=0, ahead=1).leases
        names += ids(leases)
        assert len(leases) == 1
        assert queue.take(10, delay=0, ahead=1).leases == () or leases[0].tries == 0
        queue.done(ids(leases))
    assert sorted(names) == ["a.example/0", "a.example/1", "good"]
    assert take(other) == []


def test_suspect_task_is_not_starved(bench: Bench) -> None:
    """A busy worker empties its hands for it."""
    queue = bench.open()
    queue.push([task("suspect")])
    kill(bench, queue, 2)
    queue.push([task(str(n), f"h{n}.example") for n in range(300)])
    leased = take(queue, 2)
    for _ in range(120):
        if "suspect" in leased:
            break
        bench.pass_by(1)
        queue.done(leased[:1])
        leased = leased[1:] + take(queue, 2 - len(leased[1:]))
    assert leased == ["suspect"]


def test_task_that_kills_workers_is_set_aside(bench: Bench) -> None:
    queue = bench.open()
    queue.push([task("poison", source="feed:甲")])
    kill(bench, queue, TERMS.tries)
    assert take(queue) == []
    state = queue.state()
    assert (state.waiting, state.leased, state.aside) == (0, 0, 1)
    (found,) = queue.aside()
    assert found.task == task("poison", source="feed:甲")
    assert found.tries == TERMS.tries
    assert str(TERMS.tries) in found.reason
    assert NOON < found.since <= bench.now
    assert queue.outstanding(["feed:甲"])["feed:甲"] == 0
    assert queue.push([task("poison", source="feed:甲")]) == set()


def test_set_aside_task_can_be_retried_or_dropped(bench: Bench) -> None:
    queue = bench.open()
    for name in ("1", "2"):
        queue.push([task(name, lane="x")])
        kill(bench, queue, TERMS.tries)
    assert len(queue.aside()) == 2
    assert len(queue.aside(1)) == 1
    assert queue.requeue(["1"]) == 1
    assert queue.drop() == 1
    (lease,) = queue.take(10, delay=0, ahead=1).leases
    assert (lease.task.id, lease.tries) == ("1", 0)
    assert queue.push([task("2", lane="x")]) == {"2"}
    assert take(queue) == []
    queue.done(["1"])
    assert take(queue) == ["2"]


# hosts


def test_host_is_held_by_one_worker_across_queues(bench: Bench) -> None:
    rss, hub = bench.open("rss"), bench.open("hub")
    rss.push(tasks(1))
    hub.push(tasks(1))
    assert rss.hold("a.example") == 0
    assert rss.hold("a.example") == 0
    assert len(take(rss)) == 1
    assert hub.hold("a.example") is None
    assert take(hub) == []
    rss.free({"a.example": 0})
    assert hub.hold("a.example") == 0
    hub.free({"a.example": 0})
    hub.leave()
    assert rss.hold("a.example") == 0


def test_next_holder_gets_the_remaining_wait(bench: Bench) -> None:
    first, second = bench.open(), bench.open()
    hold_all(first, "a.example")
    first.free({"a.example": 3.0})
    bench.pass_by(1)
    assert second.hold("a.example") == pytest.approx(2.0, abs=0.01)
    assert second.take(1, delay=1, ahead=1).held == pytest.approx({"a.example": 2.0}, abs=0.01)
    bench.pass_by(2.5)
    assert second.hold("a.example") == 0


def test_resting_host_is_not_taken_early(bench: Bench) -> None:
    queue = bench.open()
    hold_all(queue, "a.example")
    queue.free({"a.example": 100})
    queue.push(tasks(1))
    assert take(queue, ahead=5) == []
    bench.pass_by(40)
    queue.heartbeat()
    assert take(queue, ahead=5) == []
    bench.pass_by(56)
    result = queue.take(5, delay=1, ahead=5)
    assert len(result.leases) == 1
    assert result.held["a.example"] == pytest.approx(4, abs=0.01)


def test_host_of_a_dead_worker_rests_for_the_delay(bench: Bench) -> None:
    dead, alive = bench.open(), bench.open()
    dead.push(tasks(1))
    assert take(dead, delay=2)
    bench.fall_silent(alive)
    result = alive.take(1, delay=2, ahead=2)
    assert result.held["a.example"] <= 2
    assert len(result.leases) == 1


def test_tasks_of_a_host_are_limited_by_time(bench: Bench) -> None:
    queue = bench.open()
    queue.push(tasks(20))
    assert len(take(queue, delay=0.5, ahead=2)) == 4
    assert take(queue, delay=0.5, ahead=2) == []
    queue.done(["a.example/0"])
    assert take(queue, delay=0.5, ahead=2) == ["a.example/4"]


def test_slow_host_gets_at_least_one_task(bench: Bench) -> None:
    queue = bench.open()
    queue.push(tasks(3))
    assert len(take(queue, delay=60, ahead=1)) == 1


def test_large_host_leaves_room_for_others(bench: Bench) -> None:
    queue = bench.open()
    queue.push([*tasks(100), *tasks(3, "b.example"), *tasks(3, "c.example")])
    leased = take(queue, 12)
    assert len(leased) == 12
    assert {name.partition("/")[0] for name in leased} == {"a.example", "b.example", "c.example"}


def test_saturated_hosts_do_not_block_others(bench: Bench) -> None:
    """Five of ten hosts are urgent and have all the tasks they can handle: the others get their turn even with small takes."""
    queue = bench.open()
    urgent = [task for n in range(5) for task in tasks(9, f"u{n}.example", priority=5)]
    queue.push([*urgent, *[task for n in range(5) for task in tasks(2, f"h{n}.example")]])
    first = take(queue, 10, delay=1, ahead=2)
    later = [name for _ in range(12) for name in take(queue, 1, delay=1, ahead=2)]
    assert len({*first, *later}) == 20
    assert sum(name.startswith("u") for name in (*first, *later)) == 10


def many(hosts: int, each: int = 5) -> list[Task]:
    return [task for n in range(hosts) for task in tasks(each, f"h{n}.example")]


def test_hosts_are_shared_fairly(bench: Bench) -> None:
    first, second = bench.open(), bench.open()
    assert take(first) == take(second) == []
    first.push(many(20))
    ours = first.take(1000, delay=1, ahead=5)
    two = second.take(1000, delay=1, ahead=5)
    assert len(ours.held) == len(two.held) == 10
    assert not set(ours.held) & set(two.held)
    assert len(ours.leases) == len(two.leases) == 50


def test_later_worker_gets_a_share_of_hosts(bench: Bench) -> None:
    first, second = bench.open(), bench.open()
    first.push(many(20, 10))
    assert len(first.take(1000, delay=1, ahead=2).held) == 20
    assert take(second) == []
    result = first.take(1000, delay=1, ahead=2)
    assert len(result.yielded) == 10
    assert result.yielded < set(result.held)
    first.done([f"{host}/{n}" for host in result.held for n in range(2)])
    more = first.take(1000, delay=1, ahead=2)
    assert {lease.task.host for lease in more.leases} == set(more.held) - more.yielded
    first.free(dict.fromkeys(more.yielded, 0.0))
    second.take(1000, delay=1, ahead=2)
    first.take(1000, delay=1, ahead=2)
    others = second.take(1000, delay=1, ahead=2)
    assert set(others.held) == more.yielded


def test_single_worker_takes_all_hosts(bench: Bench) -> None:
    first, second = bench.open(), bench.open()
    take(second)
    second.leave()
    first.push(many(20))
    assert len(first.take(1000, delay=1, ahead=5).held) == 20


def test_host_needed_by_another_queue_is_yielded(bench: Bench) -> None:
    rss, hub = bench.open("rss"), bench.open("hub")
    rss.push(tasks(10))
    hub.push(tasks(10))
    leased = take(rss, delay=1, ahead=3)
    assert take(hub, delay=1, ahead=3) == []
    rss.done(leased)
    result = rss.take(10, delay=1, ahead=3)
    assert result.leases == ()
    assert result.yielded == {"a.example"}
    rss.free({"a.example": 1})
    assert take(rss, delay=1, ahead=3) == []
    assert len(take(hub, delay=1, ahead=3)) == 3


def test_host_is_reserved_for_a_waiting_worker_for_a_limited_time(bench: Bench) -> None:
    first, second = bench.open(), bench.open()
    hold_all(first, "a.example")
    assert second.hold("a.example") is None
    assert first.take(1, delay=1, ahead=1).yielded == {"a.example"}
    first.free({"a.example": 0})
    assert first.hold("a.example") is None
    bench.pass_by(20)
    assert first.hold("a.example") == 0


# lanes and order


def test_one_task_of_a_lane_is_in_flight(bench: Bench) -> None:
    queue, other = bench.open(), bench.open()
    queue.push([*tasks(3, "a.example", lane="x"), *tasks(2, "b.example", lane="x"), *tasks(1, "c.example", lane="y")])
    leased = take(queue)
    assert sorted(leased) == ["a.example/0", "c.example/0"]
    assert take(queue) == take(other) == []
    other.leave()
    order = []
    while leased:
        queue.done(leased)
        leased = take(queue)
        order += leased
        assert len(leased) <= 1
    assert order == ["a.example/1", "a.example/2", "b.example/0", "b.example/1"]


def test_lane_continues_after_give_back_or_death(bench: Bench) -> None:
    queue, alive = bench.open(), bench.open()
    queue.push(tasks(2, lane="x"))
    assert take(queue) == ["a.example/0"]
    queue.back(["a.example/0"], at=bench.now + 1000)
    assert take(queue) == ["a.example/1"]
    bench.fall_silent(alive)
    assert take(alive) == ["a.example/1"]
    bench.pass_by(30)
    alive.heartbeat()
    assert take(alive) == []
    alive.done(["a.example/1"])
    bench.pass_by(900)
    assert take(alive) == ["a.example/0"]


def test_lanes_are_separate_per_queue(bench: Bench) -> None:
    rss, hub = bench.open("rss"), bench.open("hub")
    rss.push(tasks(1, "a.example", lane="x"))
    hub.push(tasks(1, "b.example", lane="x"))
    assert take(rss)
    assert take(hub)


def test_order_is_by_priority_then_arrival(bench: Bench) -> None:
    queue = bench.open()
    queue.push([task("late", priority=-5), task("1"), task("2"), task("first", priority=7), task("3")])
    assert take(queue) == ["first", "1", "2", "3", "late"]


def test_priority_applies_within_a_lane(bench: Bench) -> None:
    queue = bench.open()
    queue.push([task("1", lane="x"), task("2", lane="x")])
    queue.push([task("urgent", "b.example", lane="x", priority=9)])
    order = []
    for _ in range(3):
        leased = take(queue)
        order += leased
        queue.done(leased)
    assert order == ["urgent", "1", "2"]


def test_task_waits_for_its_due_time(bench: Bench) -> None:
    queue = bench.open()
    queue.push([task("later", at=bench.now + 30, source="feed:甲"), task("now", at=bench.now - 30, source="feed:甲")])
    result = queue.take(10, delay=0, ahead=10)
    assert ids(result.leases) == ["now"]
    assert result.waiting == 0
    assert queue.state().later == 1
    assert result.poll_in == pytest.approx(30, abs=0.1)
    assert queue.outstanding(["feed:甲"])["feed:甲"] == 1
    queue.done(["now"])
    assert queue.outstanding(["feed:甲"])["feed:甲"] == 0
    bench.pass_by(30)
    assert take(queue) == ["later"]
    assert queue.outstanding(["feed:甲"])["feed:甲"] == 1


def test_time_of_the_next_take(bench: Bench) -> None:
    queue = bench.open()
    assert queue.take(10, delay=1, ahead=1).poll_in is None
    queue.push(tasks(5))
    assert queue.take(1, delay=0, ahead=1).poll_in is not None
    result = queue.take(100, delay=0, ahead=1)
    assert len(result.leases) == 4
    assert result.poll_in is None


# seen fingerprints


def test_seen_fingerprint_is_refused_until_forgotten(bench: Bench) -> None:
    queue, other = bench.open(), bench.open("hub")
    assert queue.push([task("1", fingerprint="一"), task("2", fingerprint="一"), task("3", fingerprint="二")]) == {"1", "3"}
    queue.done(take(queue))
    assert queue.push([task("1", fingerprint="一"), task("4")]) == {"4"}
    assert other.push([task("1", fingerprint="一")]) == {"1"}
    bench.pass_by(TERMS.forget + 10)
    assert queue.push([task("1", fingerprint="一")]) == {"1"}


def test_many_seen_fingerprints(bench: Bench) -> None:
    queue = bench.open()
    batch = [task(str(n), fingerprint=f"https://a.example/{n}") for n in range(500)]
    assert len(queue.push(batch)) == 500
    queue.done(take(queue))
    assert queue.push([task(f"x{n}", fingerprint=f"https://a.example/{n}") for n in range(500)]) == set()
    assert queue.push([task("new", fingerprint="https://a.example/new")]) == {"new"}


# claims and figures


def test_claim_belongs_to_one_worker(bench: Bench) -> None:
    first, second, other = bench.open(), bench.open(), bench.open("hub")
    assert first.claim("visit:甲", 100)
    assert first.claim("visit:甲", 100)
    assert not second.claim("visit:甲", 100)
    assert not other.claim("visit:甲", 100)
    second.release("visit:甲")
    assert not second.claim("visit:甲", 100)
    first.release("visit:甲")
    assert second.claim("visit:甲", 100)


def test_claim_ends_with_its_time_or_its_worker(bench: Bench) -> None:
    first, second = bench.open(), bench.open()
    assert first.claim("short", 10)
    assert first.claim("long", 100_000)
    bench.pass_by(11)
    assert second.claim("short", 10)
    assert not second.claim("long", 10)
    bench.fall_silent(second)
    assert second.claim("long", 10)


def test_state_of_a_queue(bench: Bench) -> None:
    queue, other = bench.open(), bench.open()
    queue.push([*tasks(5, "a.example"), *tasks(2, "b.example"), task("later", at=bench.now + 100), *tasks(3, "c.example", lane="x")])
    assert len(take(queue, 2)) == 2
    queue.heartbeat({"visit": "feed:甲"})
    other.heartbeat()
    bench.pass_by(5)
    state = other.state()
    assert (state.name, state.waiting, state.later, state.leased, state.aside) == ("rss", 8, 1, 2, 0)
    first = next(worker for worker in state.workers if worker.leased)
    assert first.leased == 2
    assert first.activity == {"visit": "feed:甲"}
    assert (first.since, first.heartbeat) == pytest.approx((bench.now - 5, bench.now - 5), abs=0.1)
    assert len(state.workers) == 2
    assert len({worker.name for worker in state.workers}) == 2
    assert sum(host.waiting for host in state.hosts) == 8
    assert {host.host for host in state.hosts if host.holder == first.name} == set(first.hosts) != set()
    assert len(other.state(1).hosts) == 1
    queue.leave()
    other.leave()
    assert other.state().workers == ()


def test_reading_changes_nothing(bench: Bench) -> None:
    queue = bench.open()
    assert queue.state().workers == ()
    assert queue.aside() == []
    assert queue.outstanding(["feed:甲"])["feed:甲"] == 0
    assert queue.state().workers == ()


def test_outstanding_counts_waiting_and_leased_tasks(bench: Bench) -> None:
    queue, other = bench.open(), bench.open()
    queue.push([*tasks(3, source="feed:甲"), *tasks(1, "b.example", source="feed:乙"), *tasks(2, "c.example", source="feed:甲", lane="x")])
    assert queue.outstanding(["feed:甲"])["feed:甲"] == 5
    leased = take(queue, 2)
    assert (
        other.outstanding(["feed:甲"])["feed:甲"],
        other.outstanding(["feed:乙"])["feed:乙"],
        other.outstanding(["feed:丙"])["feed:丙"],
    ) == (5, 1, 0)
    queue.done(leased)
    queue.done(take(queue))
    queue.done(take(queue))
    assert queue.outstanding(["feed:甲"])["feed:甲"] == queue.outstanding(["feed:乙"])["feed:乙"] == 0


def test_clear_forgets_waiting_tasks_and_fingerprints(bench: Bench) -> None:
    queue = bench.open()
    queue.push([task("leased", fingerprint="0", source="甲", lane="x"), task("1", fingerprint="1", source="甲", lane="x")])
    queue.push([task("later", at=bench.now + 5), *tasks(3, "b.example")])
    assert "leased" in take(queue, 1)
    assert queue.clear() == 5
    state = queue.state()
    assert (state.waiting, state.later, state.leased) == (0, 0, 1)
    assert queue.outstanding(["甲"])["甲"] == 1
    assert queue.push([task("1", fingerprint="1", source="甲", lane="x")]) == {"1"}
    assert take(queue) == []
    queue.done(["leased"])
    assert take(queue) == ["1"]
