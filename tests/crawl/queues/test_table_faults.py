"""Failures of the queue in a table: many processes, a killed one, a clock that is set, a file that is full, locked or read-only. Errors say
what happened, where, and what to do."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from forked import Started
from queue_benches import TERMS, TableBench, hold_all, take, task, tasks
from sqlalchemy import Engine, event, func, select

from newsportal.crawl.queues import open_table
from newsportal.crawl.queues.base import Identity, has_ended, identity, machine
from newsportal.crawl.queues.table import TableQueue
from newsportal.errors import FrontierUnavailable, StoreUnavailable
from newsportal.store import dialects
from newsportal.store.link_tables import LINKS

WORKER = """
import sys
from pathlib import Path
from newsportal.crawl.queues.base import Task
from newsportal.crawl.queues import open_table

queue = open_table(Path(sys.argv[1]), sys.argv[2])
"""
TAKER = f"""{WORKER}
for task in queue.take(2, delay=0, ahead=1).leases:
    print(task.task.id)
print(queue.claim("visit:甲", 1000), flush=True)
sys.stdin.read()
"""
BUSY = f"""{WORKER}
from time import monotonic, sleep
number, until = int(sys.argv[3]), monotonic() + 600
for n in range(EACH):
    queue.push([Task(f"{{number}}/{{n}}", f"h{{n % 5}}.example", "{{}}", lane=f"x{{n % 7}}", source="甲")])
while monotonic() < until:
    taken = queue.take(3, delay=0, ahead=1)
    for lease in taken.leases:
        print(lease.task.id)
    queue.done([lease.task.id for lease in taken.leases])
    hosts = set(taken.held)
    queue.free(dict.fromkeys(hosts, 0.0))
    if not taken.waiting and not taken.leases and queue.state().leased == 0:
        break
queue.leave()
"""
EACH = 40


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "data" / "news.db"


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[TableBench]:
    """This backend only."""
    table = TableBench(f"sqlite:///{tmp_path}/news.db")
    yield table
    table.close()


@contextmanager
def opened(file: Path, name: str = "rss") -> Iterator[TableQueue]:
    queue = open_table(file, name, terms=TERMS)
    yield queue
    queue.close()


def process(code: str, *arguments: object) -> Started:
    return Started(*map(str, arguments), script=code, piped=True)


# processes


@pytest.mark.slow
def test_eight_processes_do_each_task_once(file: Path) -> None:
    """All start with a missing file, at two queues."""
    code = BUSY.replace("EACH", str(EACH))
    workers = [process(code, file, "rss" if n % 2 else "hub", n) for n in range(8)]
    ids = [line for worker in workers for line in worker.communicate(timeout=600)[0].split()]
    assert [worker.returncode for worker in workers] == [0] * 8
    assert sorted(ids) == sorted(f"{number}/{n}" for number in range(8) for n in range(EACH))
    for name in ("rss", "hub"):
        with opened(file, name) as queue:
            state = queue.state()
            assert (state.waiting, state.leased, state.workers, state.hosts) == (0, 0, (), ())
            assert queue.outstanding(["甲"])["甲"] == 0


@pytest.mark.slow
def test_killed_process_is_detected_at_once(file: Path) -> None:
    with opened(file) as queue:
        queue.push(tasks(3))
        with process(TAKER, file, "rss") as victim:
            ids = {victim.stdout.readline().strip() for _ in range(2)}
            assert victim.stdout.readline().strip() == "True"
            assert not queue.claim("visit:甲", 10)
            victim.kill()
            victim.wait()
            assert queue.claim("visit:甲", 10)
        leases = queue.take(10, delay=0, ahead=1).leases
        assert {lease.task.id for lease in leases if lease.tries == 1} == ids
        assert len(leases) == 3


def test_process_is_identified_by_its_start_time() -> None:
    me = identity()
    assert me.name.endswith(f":{os.getpid()}:{me.name.rpartition(':')[2]}")
    assert not has_ended(me)
    assert identity().name != me.name
    assert not has_ended(Identity("elsewhere:1:1", "another machine", 2**22 + 1, "1"))
    assert has_ended(Identity("x", machine(), 2**22 + 1, None))
    if me.started is not None:
        assert has_ended(Identity("x", machine(), os.getpid(), f"{me.started}1"))


def test_worker_of_ended_process_is_dead_within_a_second(bench: TableBench) -> None:
    dead = TableQueue(bench.links(), "rss", terms=TERMS, worker=Identity("x:1:1", machine(), 2**22 + 1, None))
    alive = bench.open()
    alive.heartbeat()
    dead.push(tasks(2))
    assert len(take(dead)) == 2
    assert [worker.name for worker in alive.state().workers] != ["x:1:1"]
    bench.pass_by(1.1)
    assert len(take(alive)) == 2
    dead.close()


@pytest.mark.parametrize("outcome", ["stored", "postponed"])
def test_link_with_an_outcome_is_not_a_lost_lease(bench: TableBench, outcome: str) -> None:
    """The article is stored, and its request is not done yet."""
    queue, links = bench.open(), bench.links()
    queue.push([task("1", link=True), task("2", link=True)])
    assert take(queue) == ["1", "2"]
    if outcome == "stored":
        links.finish(["1"])
    else:
        links.postpone("1", "http-503", bench.now + 60)
    assert queue.heartbeat() == set()
    queue.done(["1", "2"])


# time


@pytest.mark.parametrize("seconds", [-86400.0, 86400.0])
def test_setting_the_clock_moves_no_lease_host_or_claim(bench: TableBench, seconds: float) -> None:
    alive, other = bench.open(), bench.open()
    alive.push(tasks(1))
    assert take(alive)
    assert alive.claim("visit:甲", 100)
    hold_all(alive, "b.example")
    alive.free({"b.example": 5.0})
    bench.jump(seconds)
    assert alive.heartbeat() == set()
    assert take(other) == []
    assert not other.claim("visit:甲", 100)
    assert other.hold("b.example") == pytest.approx(5.0, abs=0.1)
    assert other.hold("a.example") is None


def test_clock_set_back_delays_due_times_only(bench: TableBench) -> None:
    queue = bench.open()
    queue.push([task("later", at=bench.now + 10, fingerprint="一")])
    bench.jump(-100)
    bench.pass_by(50)
    assert take(queue) == []
    bench.pass_by(61)
    assert take(queue) == ["later"]
    assert queue.push([task("x", fingerprint="一")]) == set()


def test_reboot_of_the_machine(bench: TableBench) -> None:
    """The monotonic clock restarts at zero: no worker stays alive and no host rests forever."""
    bench.skipped = 10.0**6
    before, after = bench.open(), bench.open()
    before.push([*tasks(1), *tasks(1, "b.example")])
    assert len(take(before)) == 2
    assert before.claim("visit:甲", 10.0**6)
    before.done(["b.example/0"])
    before.free({"b.example": 30.0})
    bench.skipped = 0.0
    after.push(tasks(1, "b.example"))
    assert after.claim("visit:甲", 10)
    bench.fall_silent(after)
    assert sorted(take(after)) == ["a.example/0", "b.example/0"]


# the file


def test_tasks_survive_a_restart(file: Path) -> None:
    with opened(file) as queue:
        queue.push(tasks(3))
        assert len(take(queue, 2)) == 2
        queue.leave()
    with opened(file) as queue:
        assert take(queue) == ["a.example/0", "a.example/1", "a.example/2"]


def test_locked_file_is_waited_for_and_reported(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dialects, "BUSY_SECONDS", 0.1)
    with opened(file) as queue:
        queue.push(tasks(1))
        holder = sqlite3.connect(file, isolation_level=None)
        holder.execute("BEGIN IMMEDIATE")
        with pytest.raises(FrontierUnavailable, match=r"news\.db: another process has locked it for too long; wait"):
            take(queue)
        assert queue.state().waiting == 1  # readers are not blocked
        holder.execute("ROLLBACK")
        holder.close()
        assert len(take(queue)) == 1


def limit(engine: Engine, pages: int) -> None:
    """Limit the pages of every later connection."""
    event.listen(engine, "connect", lambda connection, _: connection.execute(f"PRAGMA max_page_count = {pages}"))
    engine.dispose()


def test_full_disk_is_reported_and_queue_consistent(file: Path) -> None:
    """Simulated by SQLite's limit of pages, which gives the same error."""
    with opened(file) as queue:
        queue.push(tasks(1))
        engine = queue.links._engine
        with engine.connect() as connection:
            pages = connection.exec_driver_sql("PRAGMA page_count").scalar_one()
        limit(engine, pages + 20)
        pushed = 1

        def fill() -> None:
            nonlocal pushed
            for n in range(1000):
                pushed += len(queue.push([task(f"{n}/{m}", "b.example", source="甲") for m in range(10)]))

        with pytest.raises(FrontierUnavailable, match=r"the disk is full; free space"):
            fill()
        assert queue.state().waiting == pushed
        assert queue.outstanding(["甲"])["甲"] == pushed - 1
        limit(engine, 100_000)
        assert len(queue.push(tasks(5, "c.example"))) == 5


def test_read_only_file_is_reported(file: Path) -> None:
    with opened(file) as queue:
        queue.push(tasks(1))
        engine = queue.links._engine
        event.listen(engine, "connect", lambda connection, _: connection.execute("PRAGMA query_only = ON"))  # as on a read-only mount
        engine.dispose()
        with pytest.raises(FrontierUnavailable, match=r"cannot be written to; check the permissions"):
            take(queue)
        assert queue.state().waiting == 1


def test_folder_that_cannot_be_created_is_reported(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreUnavailable, match="the folder cannot be created"):
        open_table(tmp_path / "file" / "queue", "rss")


def test_old_fingerprints_are_forgotten(bench: TableBench) -> None:
    queue = bench.open()
    assert isinstance(queue, TableQueue)
    queue.push([task(str(n), fingerprint=str(n)) for n in range(50)])
    queue.done(take(queue))
    bench.pass_by(TERMS.forget + 1)
    queue.push([task("new", fingerprint="new")])
    queue.heartbeat()
    assert queue.links.read(lambda tx: tx.connection.scalar(select(func.count()).select_from(LINKS))) == 1


@pytest.mark.slow
def test_take_does_not_scan_waiting_tasks(tmp_path: Path) -> None:
    """Measured in steps of SQLite's virtual machine: fifty times as many tasks and hosts need less than twice as many."""

    def steps(hosts: int, each: int) -> int:
        bench = TableBench(f"sqlite:///{tmp_path}/{hosts}.db")
        queue = bench.open()
        assert isinstance(queue, TableQueue)
        for first in range(0, hosts, 40):
            queue.push([task for n in range(first, first + 40) for task in tasks(each, f"h{n}.example")])
        resting = [f"h{n}.example" for n in range(0, hosts, 2)]
        hold_all(queue, *resting)
        queue.free(dict.fromkeys(resting, 10_000.0))
        queue.heartbeat()
        count = 0

        def step() -> int:
            nonlocal count
            count += 1
            return 0

        engine = queue.links._engine
        event.listen(engine, "connect", lambda connection, _: connection.set_progress_handler(step, 10))
        engine.dispose()
        assert len(take(queue, 20, delay=1, ahead=1)) == 20
        bench.close()
        return count

    assert steps(2000, 10) < 2 * steps(40, 10)


def test_nothing_is_written_if_nothing_can_be_taken(bench: TableBench) -> None:
    """A task of a lane and two of a host are leased; another worker that lacks hosts requests one, and this one sees it."""
    queue, other = bench.open(), bench.open()
    assert isinstance(queue, TableQueue)
    queue.push([*tasks(3, lane="x"), *tasks(9, "b.example")])
    assert take(queue, delay=1, ahead=2) == ["a.example/0", "b.example/0", "b.example/1"]
    statements: list[str] = []
    event.listen(queue.links._engine, "before_cursor_execute", lambda _, cursor, text, *others: statements.append(text.split()[0]))
    assert queue.take(100, delay=1, ahead=2).waiting == 9
    assert "SELECT" in statements
    assert set(statements) <= {"BEGIN", "SELECT"}
    queue.done(["a.example/0", "b.example/0"])
    assert take(queue, delay=1, ahead=2) == ["a.example/1", "b.example/2"]
    assert take(other, delay=1, ahead=2) == []
    statements.clear()
    assert queue.take(100, delay=1, ahead=2).yielded == {"b.example"}
    assert set(statements) == {"SELECT"}
