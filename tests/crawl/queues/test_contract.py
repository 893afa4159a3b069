"""What every queue promises (``newsportal/crawl/queues/base.py``), asked of every backend."""

from __future__ import annotations

from dataclasses import replace

import pytest
from queue_benches import NOON, TERMS, Bench, hold_all, ids, take, task, tasks

from newsportal.crawl.queues.base import Queue, Task

WHOLE = Task(
    "甲|1}", "xn--fiq228c.example:8080", '{"url": "https://新闻.example/一|}"}', -3, NOON - 1, "region:乙 |丙", "region:乙 |丙", "一"
)


# pushing, leasing, acknowledging


def test_a_task_comes_out_as_it_went_in(bench: Bench) -> None:
    queue = bench.open()
    assert queue.push([WHOLE]) == {WHOLE.id}
    (lease,) = queue.take(5, delay=0, ahead=1).leases
    assert replace(lease.task, seen=None) == replace(WHOLE, seen=None)  # the fingerprint is for who pushes
    assert lease.tries == 0


def test_a_task_is_there_once_until_it_is_done(bench: Bench) -> None:
    queue = bench.open()
    assert queue.push([task("1"), task("1"), task("2")]) == {"1", "2"}
    assert queue.push([task("1"), task("3")]) == {"3"}
    assert sorted(take(queue)) == ["1", "2", "3"]
    assert queue.push([task("1")]) == set()
    queue.done(["1", "2", "3"])
    assert queue.push([task("1")]) == {"1"}


def test_queues_do_not_know_each_others_tasks(bench: Bench) -> None:
    rss, hub = bench.open("rss"), bench.open("hub")
    assert rss.push([task("1")]) == hub.push([task("1")]) == {"1"}
    rss.clear()
    assert take(hub) == ["1"]


def test_what_nobody_has_or_knows_is_no_error(bench: Bench) -> None:
    queue = bench.open()
    queue.done(["nothing"])
    queue.back(["nothing"], at=NOON)
    queue.free({"nowhere.example": 1})
    queue.release("nothing")
    assert queue.push([]) == set()
    assert take(queue) == []
    assert queue.again(["nothing"]) == queue.drop(["nothing"]) == queue.again() == queue.drop() == queue.clear() == 0
    queue.leave()


def test_what_is_leased_is_had_by_nobody_else(bench: Bench) -> None:
    first, second = bench.open(), bench.open()
    first.push(tasks(3))
    assert len(take(first)) == 3
    assert take(second) == take(first) == []


def test_a_leaving_worker_gives_everything_back_without_a_try(bench: Bench) -> None:
    first, second = bench.open(), bench.open()
    first.push(tasks(3))
    take(first)
    assert first.claim("visit:甲", 100)
    first.leave()
    leases = second.take(10, delay=0, ahead=1).leases
    assert {lease.tries for lease in leases} == {0}
    assert len(leases) == 3
    assert second.claim("visit:甲", 100)


def test_who_has_left_is_not_there(bench: Bench) -> None:
    """Whatever it still says: a crawl's end is told by several."""
    queue = bench.open()
    queue.push(tasks(2))
    had = take(queue)
    assert queue.claim("visit:甲", 100)
    queue.leave()
    queue.done(had)
    queue.back(had)
    queue.free({"a.example": 1})
    queue.release("visit:甲")
    queue.leave()
    state = queue.state()
    assert state.workers == ()
    assert state.waiting == 2


def test_a_task_that_is_given_back_keeps_its_place_and_counts_no_try(bench: Bench) -> None:
    queue = bench.open()
    queue.push(tasks(3))
    first = take(queue, 1)
    queue.back(first)
    lease, *_ = queue.take(3, delay=0, ahead=1).leases
    assert (lease.task.id, lease.tries) == (first[0], 0)


def test_a_task_may_be_given_back_for_later(bench: Bench) -> None:
    queue = bench.open()
    queue.push(tasks(1))
    queue.back(take(queue), at=bench.now + 100)
    assert take(queue) == []
    bench.pass_by(50)
    queue.beat()
    assert take(queue) == []
    bench.pass_by(51)
    assert len(take(queue)) == 1


# death


def test_what_a_dead_worker_had_is_handed_on(bench: Bench) -> None:
    dead, alive = bench.open(), bench.open()
    dead.push(tasks(3))
    assert len(take(dead)) == 3
    bench.fall_silent(alive)
    leases = alive.take(10, delay=0, ahead=1).leases
    assert len(leases) == 3
    assert {lease.tries for lease in leases} == {1}


def test_signs_of_life_keep_leases_hosts_and_jobs(bench: Bench) -> None:
    alive, other = bench.open(), bench.open()
    alive.push(tasks(1))
    take(alive)
    assert alive.claim("visit:甲", 10_000)
    bench.fall_silent(alive, other)
    assert take(other) == []
    assert other.hold("a.example") is None
    assert not other.claim("visit:甲", 10)
    assert alive.beat() == set()


def test_who_was_thought_dead_is_told_and_does_no_harm(bench: Bench) -> None:
    asleep, alive = bench.open(), bench.open()
    asleep.push([task("1", lane="x"), task("2", lane="x"), task("3"), task("4")])
    assert take(asleep) == ["1", "3", "4"]
    bench.fall_silent(alive)
    assert take(alive) == ["1", "3", "4"]
    asleep.done(["1"])
    asleep.back(["3"])
    asleep.free({"a.example": 0})
    assert asleep.hold("a.example") is None
    assert {"4"} <= asleep.beat() <= {"1", "3", "4"}
    assert asleep.beat() == set()
    assert take(asleep) == []
    assert (alive.state().leased, alive.state().waiting) == (3, 1)
    alive.done(["1"])
    alive.free({"a.example": 0})
    asleep.leave()
    assert take(alive) == ["2"]


def test_who_was_thought_dead_is_told_of_all_it_had(bench: Bench) -> None:
    asleep, alive = bench.open(), bench.open()
    asleep.push(tasks(3))
    had = take(asleep)
    bench.fall_silent(alive)
    take(alive)
    assert asleep.beat() == set(had)


def test_who_was_thought_dead_may_go_on(bench: Bench) -> None:
    asleep, alive = bench.open(), bench.open()
    bench.fall_silent(alive)
    asleep.push(tasks(1))
    assert len(take(asleep)) == 1
    assert asleep.beat() == set()


def kill(bench: Bench, queue: Queue, times: int = 1) -> None:
    """So many workers take what they get, and die."""
    for _ in range(times):
        victim = bench.open()
        assert take(victim)
        bench.fall_silent(queue)


def test_what_two_workers_died_of_is_handed_out_alone(bench: Bench) -> None:
    queue, other = bench.open(), bench.open()
    queue.push(tasks(2))
    kill(bench, queue, 2)
    queue.push([task("good")])
    got: list[str] = []
    for _ in range(3):
        leases = queue.take(10, delay=0, ahead=1).leases
        got += ids(leases)
        assert len(leases) == 1
        assert queue.take(10, delay=0, ahead=1).leases == () or leases[0].tries == 0
        queue.done(ids(leases))
    assert sorted(got) == ["a.example/0", "a.example/1", "good"]
    assert take(other) == []


def test_a_suspect_does_not_wait_for_ever(bench: Bench) -> None:
    """A worker that is never idle makes room for it."""
    queue = bench.open()
    queue.push([task("suspect")])
    kill(bench, queue, 2)
    queue.push([task(str(n), f"h{n}.example") for n in range(300)])
    hand = take(queue, 2)
    for _ in range(120):
        if "suspect" in hand:
            break
        bench.pass_by(1)
        queue.done(hand[:1])
        hand = hand[1:] + take(queue, 2 - len(hand[1:]))
    assert hand == ["suspect"]


def test_a_task_that_kills_is_set_aside_and_told(bench: Bench) -> None:
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


def test_what_was_set_aside_may_be_tried_again_or_dropped(bench: Bench) -> None:
    queue = bench.open()
    for name in ("1", "2"):
        queue.push([task(name, lane="x")])
        kill(bench, queue, TERMS.tries)
    assert len(queue.aside()) == 2
    assert len(queue.aside(1)) == 1
    assert queue.again(["1"]) == 1
    assert queue.drop() == 1
    (lease,) = queue.take(10, delay=0, ahead=1).leases
    assert (lease.task.id, lease.tries) == ("1", 0)
    assert queue.push([task("2", lane="x")]) == {"2"}
    assert take(queue) == []
    queue.done(["1"])
    assert take(queue) == ["2"]


# hosts


def test_a_host_is_held_by_one_worker_over_all_queues(bench: Bench) -> None:
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


def test_the_next_holder_knows_from_when_it_may_ask(bench: Bench) -> None:
    first, second = bench.open(), bench.open()
    hold_all(first, "a.example")
    first.free({"a.example": 3.0})
    bench.pass_by(1)
    assert second.hold("a.example") == pytest.approx(2.0, abs=0.01)
    assert second.take(1, delay=1, ahead=1).held == pytest.approx({"a.example": 2.0}, abs=0.01)
    bench.pass_by(2.5)
    assert second.hold("a.example") == 0


def test_a_host_that_rests_is_not_taken_long_before(bench: Bench) -> None:
    queue = bench.open()
    hold_all(queue, "a.example")
    queue.free({"a.example": 100})
    queue.push(tasks(1))
    assert take(queue, ahead=5) == []
    bench.pass_by(40)
    queue.beat()
    assert take(queue, ahead=5) == []
    bench.pass_by(56)
    taken = queue.take(5, delay=1, ahead=5)
    assert len(taken.leases) == 1
    assert taken.held["a.example"] == pytest.approx(4, abs=0.01)


def test_a_dead_workers_host_rests_for_the_delay(bench: Bench) -> None:
    dead, alive = bench.open(), bench.open()
    dead.push(tasks(1))
    assert take(dead, delay=2)
    bench.fall_silent(alive)
    taken = alive.take(1, delay=2, ahead=2)
    assert taken.held["a.example"] <= 2
    assert len(taken.leases) == 1


def test_no_more_of_a_host_than_fits_into_the_time(bench: Bench) -> None:
    queue = bench.open()
    queue.push(tasks(20))
    assert len(take(queue, delay=0.5, ahead=2)) == 4
    assert take(queue, delay=0.5, ahead=2) == []
    queue.done(["a.example/0"])
    assert take(queue, delay=0.5, ahead=2) == ["a.example/4"]


def test_a_slow_host_gets_one_at_least(bench: Bench) -> None:
    queue = bench.open()
    queue.push(tasks(3))
    assert len(take(queue, delay=60, ahead=1)) == 1


def test_a_long_host_leaves_room_for_others(bench: Bench) -> None:
    queue = bench.open()
    queue.push([*tasks(100), *tasks(3, "b.example"), *tasks(3, "c.example")])
    got = take(queue, 12)
    assert len(got) == 12
    assert {name.partition("/")[0] for name in got} == {"a.example", "b.example", "c.example"}


def test_hosts_with_full_hands_stand_in_nobodys_way(bench: Bench) -> None:
    """Of ten hosts five are urgent and have all in hand that fits: the others' turn comes, however few are asked for."""
    queue = bench.open()
    urgent = [one for n in range(5) for one in tasks(9, f"u{n}.example", priority=5)]
    queue.push([*urgent, *[one for n in range(5) for one in tasks(2, f"h{n}.example")]])
    hand = take(queue, 10, delay=1, ahead=2)
    got = [name for _ in range(12) for name in take(queue, 1, delay=1, ahead=2)]
    assert len({*hand, *got}) == 20
    assert sum(name.startswith("u") for name in (*hand, *got)) == 10


def many(hosts: int, each: int = 5) -> list[Task]:
    return [one for n in range(hosts) for one in tasks(each, f"h{n}.example")]


def test_hosts_are_shared_fairly(bench: Bench) -> None:
    first, second = bench.open(), bench.open()
    assert take(first) == take(second) == []
    first.push(many(20))
    one = first.take(1000, delay=1, ahead=5)
    two = second.take(1000, delay=1, ahead=5)
    assert len(one.held) == len(two.held) == 10
    assert not set(one.held) & set(two.held)
    assert len(one.leases) == len(two.leases) == 50


def test_who_comes_later_gets_a_share(bench: Bench) -> None:
    first, second = bench.open(), bench.open()
    first.push(many(20, 10))
    assert len(first.take(1000, delay=1, ahead=2).held) == 20
    assert take(second) == []
    taken = first.take(1000, delay=1, ahead=2)
    assert len(taken.yielded) == 10
    assert taken.yielded < set(taken.held)
    first.done([f"{host}/{n}" for host in taken.held for n in range(2)])
    more = first.take(1000, delay=1, ahead=2)
    assert {lease.task.host for lease in more.leases} == set(more.held) - more.yielded
    first.free(dict.fromkeys(more.yielded, 0.0))
    second.take(1000, delay=1, ahead=2)
    first.take(1000, delay=1, ahead=2)
    got = second.take(1000, delay=1, ahead=2)
    assert set(got.held) == more.yielded


def test_alone_it_takes_everything(bench: Bench) -> None:
    first, gone = bench.open(), bench.open()
    take(gone)
    gone.leave()
    first.push(many(20))
    assert len(first.take(1000, delay=1, ahead=5).held) == 20


def test_a_host_that_another_queue_waits_for_is_yielded(bench: Bench) -> None:
    rss, hub = bench.open("rss"), bench.open("hub")
    rss.push(tasks(10))
    hub.push(tasks(10))
    got = take(rss, delay=1, ahead=3)
    assert take(hub, delay=1, ahead=3) == []
    rss.done(got)
    taken = rss.take(10, delay=1, ahead=3)
    assert taken.leases == ()
    assert taken.yielded == {"a.example"}
    rss.free({"a.example": 1})
    assert take(rss, delay=1, ahead=3) == []
    assert len(take(hub, delay=1, ahead=3)) == 3


def test_a_host_is_kept_for_who_waits_but_not_for_ever(bench: Bench) -> None:
    first, second = bench.open(), bench.open()
    hold_all(first, "a.example")
    assert second.hold("a.example") is None
    assert first.take(1, delay=1, ahead=1).yielded == {"a.example"}
    first.free({"a.example": 0})
    assert first.hold("a.example") is None
    bench.pass_by(20)
    assert first.hold("a.example") == 0


# lanes and order


def test_of_a_lane_one_is_in_flight(bench: Bench) -> None:
    queue, other = bench.open(), bench.open()
    queue.push([*tasks(3, "a.example", lane="x"), *tasks(2, "b.example", lane="x"), *tasks(1, "c.example", lane="y")])
    got = take(queue)
    assert sorted(got) == ["a.example/0", "c.example/0"]
    assert take(queue) == take(other) == []
    other.leave()
    order = []
    while got:
        queue.done(got)
        got = take(queue)
        order += got
        assert len(got) <= 1
    assert order == ["a.example/1", "a.example/2", "b.example/0", "b.example/1"]


def test_a_lane_goes_on_when_its_task_goes_back_or_its_worker_dies(bench: Bench) -> None:
    queue, alive = bench.open(), bench.open()
    queue.push(tasks(2, lane="x"))
    assert take(queue) == ["a.example/0"]
    queue.back(["a.example/0"], at=bench.now + 1000)
    assert take(queue) == ["a.example/1"]
    bench.fall_silent(alive)
    assert take(alive) == ["a.example/1"]
    bench.pass_by(30)
    alive.beat()
    assert take(alive) == []
    alive.done(["a.example/1"])
    bench.pass_by(900)
    assert take(alive) == ["a.example/0"]


def test_lanes_are_of_one_queue(bench: Bench) -> None:
    rss, hub = bench.open("rss"), bench.open("hub")
    rss.push(tasks(1, "a.example", lane="x"))
    hub.push(tasks(1, "b.example", lane="x"))
    assert take(rss)
    assert take(hub)


def test_the_urgent_comes_first_then_who_came_first(bench: Bench) -> None:
    queue = bench.open()
    queue.push([task("late", priority=-5), task("1"), task("2"), task("first", priority=7), task("3")])
    assert take(queue) == ["first", "1", "2", "3", "late"]


def test_within_a_lane_the_urgent_comes_first(bench: Bench) -> None:
    queue = bench.open()
    queue.push([task("1", lane="x"), task("2", lane="x")])
    queue.push([task("urgent", "b.example", lane="x", priority=9)])
    order = []
    for _ in range(3):
        got = take(queue)
        order += got
        queue.done(got)
    assert order == ["urgent", "1", "2"]


def test_a_task_waits_for_its_moment(bench: Bench) -> None:
    queue = bench.open()
    queue.push([task("later", at=bench.now + 30, source="feed:甲"), task("now", at=bench.now - 30, source="feed:甲")])
    taken = queue.take(10, delay=0, ahead=10)
    assert ids(taken.leases) == ["now"]
    assert taken.waiting == 0
    assert queue.state().later == 1
    assert taken.soon == pytest.approx(30, abs=0.1)
    assert queue.outstanding(["feed:甲"])["feed:甲"] == 1
    queue.done(["now"])
    assert queue.outstanding(["feed:甲"])["feed:甲"] == 0
    bench.pass_by(30)
    assert take(queue) == ["later"]
    assert queue.outstanding(["feed:甲"])["feed:甲"] == 1


def test_when_to_ask_again(bench: Bench) -> None:
    queue = bench.open()
    assert queue.take(10, delay=1, ahead=1).soon is None
    queue.push(tasks(5))
    assert queue.take(1, delay=0, ahead=1).soon is not None
    taken = queue.take(100, delay=0, ahead=1)
    assert len(taken.leases) == 4
    assert taken.soon is None


# seen


def test_what_was_seen_is_refused_until_it_is_forgotten(bench: Bench) -> None:
    queue, other = bench.open(), bench.open("hub")
    assert queue.push([task("1", seen="一"), task("2", seen="一"), task("3", seen="二")]) == {"1", "3"}
    queue.done(take(queue))
    assert queue.push([task("1", seen="一"), task("4")]) == {"4"}
    assert other.push([task("1", seen="一")]) == {"1"}
    bench.pass_by(TERMS.forget + 10)
    assert queue.push([task("1", seen="一")]) == {"1"}


def test_many_seen_names(bench: Bench) -> None:
    queue = bench.open()
    batch = [task(str(n), seen=f"https://a.example/{n}") for n in range(500)]
    assert len(queue.push(batch)) == 500
    queue.done(take(queue))
    assert queue.push([task(f"x{n}", seen=f"https://a.example/{n}") for n in range(500)]) == set()
    assert queue.push([task("new", seen="https://a.example/new")]) == {"new"}


# jobs, and what is told


def test_a_job_is_one_workers(bench: Bench) -> None:
    first, second, other = bench.open(), bench.open(), bench.open("hub")
    assert first.claim("visit:甲", 100)
    assert first.claim("visit:甲", 100)
    assert not second.claim("visit:甲", 100)
    assert not other.claim("visit:甲", 100)
    second.release("visit:甲")
    assert not second.claim("visit:甲", 100)
    first.release("visit:甲")
    assert second.claim("visit:甲", 100)


def test_a_job_ends_with_its_time_or_its_worker(bench: Bench) -> None:
    first, second = bench.open(), bench.open()
    assert first.claim("short", 10)
    assert first.claim("long", 100_000)
    bench.pass_by(11)
    assert second.claim("short", 10)
    assert not second.claim("long", 10)
    bench.fall_silent(second)
    assert second.claim("long", 10)


def test_the_state_is_told(bench: Bench) -> None:
    queue, other = bench.open(), bench.open()
    queue.push([*tasks(5, "a.example"), *tasks(2, "b.example"), task("later", at=bench.now + 100), *tasks(3, "c.example", lane="x")])
    assert len(take(queue, 2)) == 2
    queue.beat({"visit": "feed:甲"})
    other.beat()
    bench.pass_by(5)
    state = other.state()
    assert (state.name, state.waiting, state.later, state.leased, state.aside) == ("rss", 8, 1, 2, 0)
    first = next(one for one in state.workers if one.leased)
    assert first.leased == 2
    assert first.doing == {"visit": "feed:甲"}
    assert (first.since, first.beat) == pytest.approx((bench.now - 5, bench.now - 5), abs=0.1)
    assert len(state.workers) == 2
    assert len({one.name for one in state.workers}) == 2
    assert sum(one.waiting for one in state.hosts) == 8
    assert {one.host for one in state.hosts if one.holder == first.name} == set(first.hosts) != set()
    assert len(other.state(1).hosts) == 1
    queue.leave()
    other.leave()
    assert other.state().workers == ()


def test_looking_changes_nothing(bench: Bench) -> None:
    queue = bench.open()
    assert queue.state().workers == ()
    assert queue.aside() == []
    assert queue.outstanding(["feed:甲"])["feed:甲"] == 0
    assert queue.state().workers == ()


def test_a_source_has_outstanding_what_waits_and_what_is_leased(bench: Bench) -> None:
    queue, other = bench.open(), bench.open()
    queue.push([*tasks(3, source="feed:甲"), *tasks(1, "b.example", source="feed:乙"), *tasks(2, "c.example", source="feed:甲", lane="x")])
    assert queue.outstanding(["feed:甲"])["feed:甲"] == 5
    got = take(queue, 2)
    assert (
        other.outstanding(["feed:甲"])["feed:甲"],
        other.outstanding(["feed:乙"])["feed:乙"],
        other.outstanding(["feed:丙"])["feed:丙"],
    ) == (5, 1, 0)
    queue.done(got)
    queue.done(take(queue))
    queue.done(take(queue))
    assert queue.outstanding(["feed:甲"])["feed:甲"] == queue.outstanding(["feed:乙"])["feed:乙"] == 0


def test_clearing_forgets_what_waits_and_what_was_seen(bench: Bench) -> None:
    queue = bench.open()
    queue.push([task("leased", seen="0", source="甲", lane="x"), task("1", seen="1", source="甲", lane="x")])
    queue.push([task("later", at=bench.now + 5), *tasks(3, "b.example")])
    assert "leased" in take(queue, 1)
    assert queue.clear() == 5
    state = queue.state()
    assert (state.waiting, state.later, state.leased) == (0, 0, 1)
    assert queue.outstanding(["甲"])["甲"] == 1
    assert queue.push([task("1", seen="1", source="甲", lane="x")]) == {"1"}
    assert take(queue) == []
    queue.done(["leased"])
    assert take(queue) == ["1"]
