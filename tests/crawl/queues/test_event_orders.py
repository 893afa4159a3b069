"""The queue's guarantees in any order of events: several workers of two queues push, take, finish, give back, time out and leave."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule, run_state_machine_as_test
from queue_benches import TERMS, Bench, TableBench
from redis_bench import RedisBench

from newsportal.crawl.queues.base import Queue, Task

QUEUES = ("rss", "hub")
HOSTS = ("a.example", "b.example", "c.example")
SUSPECT = 2


@dataclass
class Worker:
    """The model of a worker: ``hand``: leased tasks by id; ``hosts``: the hosts it holds."""

    queue: Queue
    name: str
    hand: dict[str, Task] = field(default_factory=dict)
    hosts: set[str] = field(default_factory=set)


@dataclass
class Model:
    """The model of a queue. ``waits``: waiting tasks; ``later``: the due times of delayed ones."""

    waits: dict[str, Task] = field(default_factory=dict)
    later: dict[str, float] = field(default_factory=dict)
    tries: dict[str, int] = field(default_factory=dict)
    aside: set[str] = field(default_factory=set)


class Frontier(RuleBasedStateMachine):
    """``make`` is set by the test."""

    make: Callable[[], Bench]

    @initialize()
    def begin(self) -> None:
        self.bench = type(self).make()
        self.models = {name: Model() for name in QUEUES}
        self.workers = [self.begun(name) for name in ("rss", "rss", "hub")]
        self.count = 0

    def begun(self, name: str) -> Worker:
        return Worker(self.bench.open(name), name)

    @rule(
        which=st.integers(0, 2),
        number=st.integers(1, 6),
        host=st.sampled_from(HOSTS),
        lane=st.sampled_from((None, None, "x", "y")),
        priority=st.integers(-1, 1),
        wait=st.sampled_from((None, None, None, -5.0, 20.0)),
        again=st.booleans(),
    )
    def push(self, which: int, number: int, host: str, lane: str | None, priority: int, wait: float | None, again: bool) -> None:
        worker = self.workers[which]
        model = self.models[worker.name]
        self.count -= 2 * min(self.count, int(again))  # some that were pushed before
        batch = []
        for _ in range(number):
            self.count += 1
            at = None if wait is None else self.bench.now + wait
            batch.append(Task(f"t{self.count}", host, "{}", priority, at, lane, "甲"))
        present = {id for other in self.workers if other.name == worker.name for id in other.hand} | set(model.waits) | model.aside
        accepted = worker.queue.push(batch)
        assert accepted == {task.id for task in batch} - present
        for task in batch:
            if task.id in accepted:
                self.wait(model, task, task.at)

    def wait(self, model: Model, task: Task, at: float | None) -> None:
        model.waits[task.id] = task
        if at is not None and at > self.bench.now:
            model.later[task.id] = at

    @rule(which=st.integers(0, 2), number=st.integers(1, 12), delay=st.sampled_from((0.0, 1.0)))
    def take(self, which: int, number: int, delay: float) -> None:
        worker = self.workers[which]
        model = self.models[worker.name]
        before = set(worker.hand)
        result = worker.queue.take(number, delay=delay, ahead=2.0)
        assert len(result.leases) <= number
        for lease in result.leases:
            task = model.waits.pop(lease.task.id)  # it was waiting, so no worker has it
            assert (task.host, task.lane, task.priority) == (lease.task.host, lease.task.lane, lease.task.priority)
            assert model.later.pop(task.id, 0) <= self.bench.now
            assert lease.tries == model.tries.get(task.id, 0)
            assert task.host in result.held
            assert task.lane is None or task.lane not in self.lanes(worker.name), "two tasks of a lane are in flight"
            worker.hand[task.id] = task
        if any(lease.tries >= SUSPECT for lease in result.leases):
            assert len(result.leases) == 1
            assert not before
        if any(model.tries.get(id, 0) >= SUSPECT for id in before):
            assert not result.leases
        worker.hosts = set(result.held)
        assert result.yielded <= worker.hosts
        assert result.waiting == sum(model.later.get(id, 0) <= self.bench.now for id in model.waits)

    def lanes(self, name: str) -> list[str | None]:
        return [task.lane for each in self.workers if each.name == name for task in each.hand.values()]

    @rule(which=st.integers(0, 2), share=st.integers(1, 3))
    def done(self, which: int, share: int) -> None:
        worker = self.workers[which]
        ended = list(worker.hand)[::share]
        worker.queue.done(ended)
        for id in ended:
            del worker.hand[id]
            self.models[worker.name].tries.pop(id, None)

    @rule(which=st.integers(0, 2), share=st.integers(1, 3), wait=st.sampled_from((None, -1.0, 15.0)))
    def back(self, which: int, share: int, wait: float | None) -> None:
        worker = self.workers[which]
        returned = list(worker.hand)[::share]
        at = None if wait is None else self.bench.now + wait
        worker.queue.back(returned, at=at)
        for id in returned:
            self.wait(self.models[worker.name], worker.hand.pop(id), at)

    @rule(which=st.integers(0, 2), seconds=st.sampled_from((0.0, 1.0, 10.0)))
    def free(self, which: int, seconds: float) -> None:
        """Release the hosts of which the worker has no task, as a real worker does."""
        worker = self.workers[which]
        idle = worker.hosts - {task.host for task in worker.hand.values()}
        worker.queue.free(dict.fromkeys(idle, seconds))
        worker.hosts -= idle

    @rule(which=st.integers(0, 2), host=st.sampled_from(HOSTS))
    def hold(self, which: int, host: str) -> None:
        worker = self.workers[which]
        wait = worker.queue.hold(host)
        held_elsewhere = any(host in other.hosts for other in self.workers if other is not worker)
        if host in worker.hosts:
            assert wait is not None
        if wait is not None:
            assert not held_elsewhere
            worker.hosts.add(host)

    @rule(which=st.integers(0, 2))
    def leave(self, which: int) -> None:
        worker = self.workers[which]
        worker.queue.leave()
        for task in worker.hand.values():
            self.wait(self.models[worker.name], task, None)
        self.workers[which] = self.begun(worker.name)

    @rule(which=st.integers(0, 2))
    def die(self, which: int) -> None:
        dead = self.workers[which]
        model = self.models[dead.name]
        self.bench.fall_silent(*[other.queue for other in self.workers if other is not dead])
        for task in dead.hand.values():
            model.tries[task.id] = model.tries.get(task.id, 0) + 1
            if model.tries[task.id] >= TERMS.tries:
                model.aside.add(task.id)
            else:
                self.wait(model, task, None)
        self.workers[which] = self.begun(dead.name)

    @rule(which=st.integers(0, 2))
    def again(self, which: int) -> None:
        worker = self.workers[which]
        model = self.models[worker.name]
        tasks = {suspended.task.id: suspended.task for suspended in worker.queue.aside()}
        assert set(tasks) == model.aside
        assert worker.queue.requeue() == len(model.aside)
        for id in model.aside:
            model.tries.pop(id)
            self.wait(model, tasks[id], None)
        model.aside = set()

    @rule(seconds=st.sampled_from((1.0, 7.0, 25.0)))
    def pass_by(self, seconds: float) -> None:
        self.bench.pass_by(seconds)
        for worker in self.workers:
            assert worker.queue.heartbeat() == set()

    @invariant()
    def figures(self) -> None:
        for name, model in self.models.items() if hasattr(self, "models") else ():
            queue = next(each.queue for each in self.workers if each.name == name)
            state = queue.state(100)
            hands = sum(len(each.hand) for each in self.workers if each.name == name)
            assert (state.waiting + state.later, state.leased, state.aside) == (len(model.waits), hands, len(model.aside))
            assert state.later <= len(model.later)
            due = sum(at > self.bench.now for at in model.later.values())
            assert state.later >= due
            assert queue.outstanding(["甲"])["甲"] == state.waiting + state.leased
            assert sum(host.waiting for host in state.hosts) == state.waiting

    def teardown(self) -> None:
        """One more worker per queue finishes everything: nothing is lost."""
        if not hasattr(self, "models"):
            return
        for worker in self.workers:
            worker.queue.leave()
            for task in worker.hand.values():
                self.wait(self.models[worker.name], task, None)
        for name, model in self.models.items():
            last = self.bench.open(name)
            for _ in range(len(model.waits) * 2 + 10):
                self.bench.pass_by(10.0)
                last.heartbeat()
                result = last.take(50, delay=0, ahead=60)
                for lease in result.leases:
                    del model.waits[lease.task.id]
                last.done([lease.task.id for lease in result.leases])
            assert not model.waits
            last.leave()
        self.bench.close()


@pytest.fixture(params=["disk", "redis"])
def make(request: pytest.FixtureRequest) -> Callable[[], Bench]:
    """Function that returns an empty frontier at each call."""
    if request.param == "redis":
        port = request.getfixturevalue("redis_for_all").port
        return lambda: RedisBench(port)
    uri, engines = request.getfixturevalue("sqlite_uri"), request.getfixturevalue("engines")
    return lambda: TableBench(uri, engines[uri])


@pytest.mark.slow
def test_no_task_is_lost_or_leased_twice(make: Callable[[], Bench]) -> None:
    machine = type("Frontier", (Frontier,), {"make": staticmethod(make)})
    run_state_machine_as_test(machine, settings=settings(max_examples=25, stateful_step_count=40, suppress_health_check=list(HealthCheck)))
