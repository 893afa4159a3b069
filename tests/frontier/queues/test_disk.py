"""The queue on disk under fire: many processes, a killed one, a clock that is set, a file that is full, locked, read-only, damaged, newer,
foreign or gone. What cannot be kept is told, with what, where and what to do."""

from __future__ import annotations

import logging
import os
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from queue_benches import TERMS, DiskBench, hold_all, take, task, tasks

from newsportal.errors import FrontierRefused, FrontierUnavailable
from newsportal.frontier.queues import disk_file
from newsportal.frontier.queues.disk import DiskQueue
from newsportal.frontier.queues.disk_file import MEMORY, QueueFile
from newsportal.frontier.queues.disk_schema import VERSION
from newsportal.frontier.queues.identity import Identity, gone, identity, machine

WORKER = """
import sys
from pathlib import Path
from newsportal.frontier.queues.base import Task
from newsportal.frontier.queues.disk import DiskQueue
from newsportal.frontier.queues.disk_file import QueueFile

queue = DiskQueue(QueueFile(Path(sys.argv[1])), sys.argv[2])
"""
TAKER = f"""{WORKER}
for task in queue.take(2, delay=0, ahead=1).leases:
    print(task.task.id)
print(queue.claim("visit:甲", 1000), flush=True)
sys.stdin.read()
"""
BUSY = f"""{WORKER}
from time import monotonic, sleep
number, until = int(sys.argv[3]), monotonic() + 120
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
    return tmp_path / "data" / "news.db.queue"


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[DiskBench]:
    """This backend alone."""
    made = DiskBench(tmp_path)
    yield made
    made.close()


@contextmanager
def opened(file: Path | str, name: str = "rss") -> Iterator[DiskQueue]:
    queue = DiskQueue(QueueFile(file), name, terms=TERMS)
    yield queue
    queue.close()


def process(code: str, *arguments: object) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", code, *map(str, arguments)]
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


# processes


@pytest.mark.slow
def test_eight_processes_do_everything_once(file: Path) -> None:
    """All start on a file that is not there yet, at two queues."""
    code = BUSY.replace("EACH", str(EACH))
    workers = [process(code, file, "rss" if n % 2 else "hub", n) for n in range(8)]
    told = [line for one in workers for line in one.communicate(timeout=120)[0].split()]
    assert [one.returncode for one in workers] == [0] * 8
    assert sorted(told) == sorted(f"{number}/{n}" for number in range(8) for n in range(EACH))
    for name in ("rss", "hub"):
        with opened(file, name) as queue:
            state = queue.state()
            assert (state.waiting, state.leased, state.workers, state.hosts) == (0, 0, (), ())
            assert queue.outstanding("甲") == 0


@pytest.mark.slow
def test_a_killed_process_is_seen_at_once(file: Path) -> None:
    with opened(file) as queue:
        queue.push(tasks(3))
        with process(TAKER, file, "rss") as victim:
            assert victim.stdout is not None
            had = {victim.stdout.readline().strip() for _ in range(2)}
            assert victim.stdout.readline().strip() == "True"
            assert not queue.claim("visit:甲", 10)
            victim.kill()
            victim.wait()
            assert queue.claim("visit:甲", 10)
        leases = queue.take(10, delay=0, ahead=1).leases
        assert {lease.task.id for lease in leases if lease.tries == 1} == had
        assert len(leases) == 3


def test_a_process_is_known_by_when_it_began() -> None:
    me = identity()
    assert me.name.endswith(f":{os.getpid()}:{me.name.rpartition(':')[2]}")
    assert not gone(me)
    assert identity().name != me.name
    assert not gone(Identity("elsewhere:1:1", "another machine", 2**22 + 1, "1"))
    assert gone(Identity("x", machine(), 2**22 + 1, None))
    if me.started is not None:
        assert gone(Identity("x", machine(), os.getpid(), f"{me.started}1"))


def test_a_worker_whose_process_is_gone_is_dead_within_a_second(bench: DiskBench) -> None:
    dead = DiskQueue(
        QueueFile(bench.file),
        "rss",
        terms=TERMS,
        worker=Identity("x:1:1", machine(), 2**22 + 1, None),
        clock=lambda: bench.now,
        ticks=lambda: bench.ticks,
    )
    alive = bench.open()
    alive.beat()
    dead.push(tasks(2))
    assert len(take(dead)) == 2
    assert [one.name for one in alive.state().workers] != ["x:1:1"]
    bench.pass_by(1.1)
    assert len(take(alive)) == 2
    dead.close()


# time


@pytest.mark.parametrize("seconds", [-86400.0, 86400.0])
def test_setting_the_clock_moves_no_lease_host_or_job(bench: DiskBench, seconds: float) -> None:
    alive, other = bench.open(), bench.open()
    alive.push(tasks(1))
    assert take(alive)
    assert alive.claim("visit:甲", 100)
    hold_all(alive, "b.example")
    alive.free({"b.example": 5.0})
    bench.jump(seconds)
    assert alive.beat() == set()
    assert take(other) == []
    assert not other.claim("visit:甲", 100)
    assert other.hold("b.example") == pytest.approx(5.0, abs=0.1)
    assert other.hold("a.example") is None


def test_a_clock_set_back_makes_known_tasks_wait_for_their_moment_only(bench: DiskBench) -> None:
    queue = bench.open()
    queue.push([task("later", at=bench.now + 10, seen="一")])
    bench.jump(-100)
    bench.pass_by(50)
    assert take(queue) == []
    bench.pass_by(61)
    assert take(queue) == ["later"]
    assert queue.push([task("x", seen="一")]) == set()


def test_the_machine_starts_anew(bench: DiskBench) -> None:
    """Its count of seconds begins at nothing: nobody is alive for ever, no host rests for ever."""
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


def test_nothing_is_made_by_looking(file: Path) -> None:
    with opened(file) as queue:
        assert queue.state().waiting == queue.outstanding("甲") == queue.clear() == queue.again() == queue.drop() == 0
        assert queue.aside() == []
        queue.leave()
    assert not file.parent.exists()


def test_it_is_there_after_a_restart(file: Path) -> None:
    with opened(file) as queue:
        queue.push(tasks(3))
        assert len(take(queue, 2)) == 2
        queue.leave()
    with opened(file) as queue:
        assert take(queue) == ["a.example/0", "a.example/1", "a.example/2"]


def test_queues_in_memory_share_it() -> None:
    shared = QueueFile(MEMORY)
    rss, hub = DiskQueue(shared, "rss"), DiskQueue(shared, "hub")
    hold_all(rss, "a.example")
    assert hub.hold("a.example") is None
    rss.push(tasks(2))
    rss.close()
    again = DiskQueue(shared, "rss")
    assert again.state().waiting == 2
    again.close()
    hub.close()
    assert not shared.exists()


def test_a_locked_file_is_waited_for_and_told(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(disk_file, "BUSY_SECONDS", 0.1)
    with opened(file) as queue:
        queue.push(tasks(1))
        holder = sqlite3.connect(file, isolation_level=None)
        holder.execute("BEGIN IMMEDIATE")
        with pytest.raises(FrontierUnavailable, match=r"news\.db\.queue: another process has held it locked too long; wait"):
            take(queue)
        assert queue.state().waiting == 1  # readers go on
        holder.execute("ROLLBACK")
        holder.close()
        assert len(take(queue)) == 1


def test_a_full_disk_is_told_and_nothing_is_half_done(file: Path) -> None:
    """SQLite's own limit of pages stands for the disk: the error is the same."""
    with opened(file) as queue:
        queue.push(tasks(1))
        connection = queue._file._open()
        pages = connection.execute("PRAGMA page_count").fetchone()[0]
        connection.execute(f"PRAGMA max_page_count = {pages + 20}")
        pushed = 1

        def fill() -> None:
            nonlocal pushed
            for n in range(1000):
                pushed += len(queue.push([task(f"{n}/{m}", "b.example", source="甲") for m in range(10)]))

        with pytest.raises(FrontierUnavailable, match=r"the disk is full; make room"):
            fill()
        assert queue.state().waiting == pushed
        assert queue.outstanding("甲") == pushed - 1
        connection.execute("PRAGMA max_page_count = 100000")
        assert len(queue.push(tasks(5, "c.example"))) == 5


def test_a_read_only_file_is_told(file: Path) -> None:
    with opened(file) as queue:
        queue.push(tasks(1))
        queue._file._open().execute("PRAGMA query_only = ON")  # what a read-only mount answers
        with pytest.raises(FrontierUnavailable, match=r"cannot be written to; check the permissions"):
            take(queue)
        assert queue.state().waiting == 1


def test_a_folder_that_cannot_be_made(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with opened(tmp_path / "file" / "queue") as queue, pytest.raises(FrontierUnavailable, match="its folder cannot be made"):
        queue.push(tasks(1))


@pytest.mark.parametrize("damage", ["这不是数据库" * 500, "SQLite format 3\0" + "x" * 5000])
def test_a_damaged_file_is_moved_away_and_begun_anew(file: Path, damage: str, caplog: pytest.LogCaptureFixture) -> None:
    with opened(file) as queue:
        queue.push(tasks(2))
    file.write_text(damage, "utf-8")
    with opened(file) as queue, caplog.at_level(logging.WARNING):
        assert queue.state().waiting == 0
        assert len(queue.push(tasks(2))) == 2
        assert len(take(queue)) == 2
    assert "is damaged" in caplog.text
    (away,) = file.parent.glob("*.damaged-*[0-9]")
    assert away.read_text("utf-8") == damage


def test_damage_in_the_middle(file: Path, caplog: pytest.LogCaptureFixture) -> None:
    """Who has it open goes on with an empty one, and is told that its leases are gone."""
    with opened(file) as queue:
        queue.push([task(str(n), f"h{n}.example") for n in range(2000)])
        had = take(queue, 5)
        queue._file._open().execute("PRAGMA wal_checkpoint(TRUNCATE)")
        with file.open("r+b") as pages:
            pages.seek(4096)
            pages.write(b"\xee" * (file.stat().st_size - 4096))
        queue._file._open().execute("PRAGMA shrink_memory")
        with caplog.at_level(logging.WARNING):
            queue.push(tasks(1))
            lost = queue.beat()
        assert "begun anew" in caplog.text
        assert lost == set(had)
        assert take(queue) == ["a.example/0"]


def test_who_meets_a_file_that_was_begun_anew_goes_on(file: Path, caplog: pytest.LogCaptureFixture) -> None:
    with opened(file) as first, opened(file) as second:
        first.push(tasks(3))
        had = take(first, 1)
        shutil.rmtree(file.parent)
        with caplog.at_level(logging.WARNING):
            assert len(second.push(tasks(2))) == 2
            assert first.beat() == set(had)
        assert "opened anew" in caplog.text
        assert len(take(first)) == 2


def test_a_newer_version_is_refused(file: Path) -> None:
    with opened(file) as queue:
        queue.push(tasks(1))
    with sqlite3.connect(file) as connection:
        connection.execute(f"PRAGMA user_version = {VERSION + 1}")
    connection.close()
    with opened(file) as queue, pytest.raises(FrontierRefused, match="pip install -U newsportal"):
        queue.push(tasks(1))
    assert file.exists()


def test_a_database_of_something_else_is_left_alone(file: Path) -> None:
    file.parent.mkdir()
    with sqlite3.connect(file) as connection:
        connection.execute("CREATE TABLE accounts (number)")
    connection.close()
    before = file.read_bytes()
    with opened(file) as queue, pytest.raises(FrontierRefused, match="a database of something else"):
        queue.push(tasks(1))
    assert file.read_bytes() == before


def test_clearing_gives_the_room_back(file: Path) -> None:
    def size() -> int:
        queue._file._open().execute("PRAGMA wal_checkpoint(TRUNCATE)")
        return file.stat().st_size

    with opened(file) as queue:
        queue.push(tasks(1))
        empty = size()
        queue.push([task(str(n), seen=str(n)) for n in range(3000)])
        full = size()
        assert queue.clear() == 3001
        assert full > 2 * empty
        assert size() < 1.2 * empty


def test_old_seen_names_are_forgotten(bench: DiskBench) -> None:
    queue = bench.open()
    assert isinstance(queue, DiskQueue)
    queue.push([task(str(n), seen=str(n)) for n in range(50)])
    bench.pass_by(TERMS.forget + 1)
    queue.push([task("new", seen="new")])
    queue.beat()
    assert queue._file.read(lambda sql: sql.execute("SELECT count(*) FROM seen").fetchone()[0]) == 1


@pytest.mark.slow
def test_taking_does_not_walk_over_what_waits(tmp_path: Path) -> None:
    """Counted in steps of SQLite's machine, not in seconds: a hundred times as many tasks and hosts, hardly more work."""

    def steps(hosts: int, each: int) -> int:
        bench = DiskBench(tmp_path / str(hosts))
        queue = bench.open()
        assert isinstance(queue, DiskQueue)
        for n in range(hosts):
            queue.push(tasks(each, f"h{n}.example"))
        resting = [f"h{n}.example" for n in range(0, hosts, 2)]
        hold_all(queue, *resting)
        queue.free(dict.fromkeys(resting, 10_000.0))
        queue.beat()
        count = 0

        def step() -> int:
            nonlocal count
            count += 1
            return 0

        queue._file._open().set_progress_handler(step, 10)
        assert len(take(queue, 20, delay=1, ahead=1)) == 20
        queue._file._open().set_progress_handler(None, 0)
        bench.close()
        return count

    assert steps(4000, 10) < 2 * steps(40, 10)
