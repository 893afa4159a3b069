"""Jobs as processes of this machine: what hangs is ended, what outlives its supervisor is found."""

from __future__ import annotations

import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from newsportal.errors import RunnerRefused
from newsportal.services.jobs import local
from newsportal.services.jobs.base import Job, Wanted
from newsportal.services.jobs.local import LocalRunner
from newsportal.services.jobs.records import Records, alive

HEEDS = "import signal, time; signal.signal(signal.SIGINT, signal.default_int_handler)"
"""As a crawl does, also where who runs the tests ignores Ctrl-C."""

SLEEPS = "import time; time.sleep(600)"
DEAF = "import signal, time; signal.signal(signal.SIGINT, signal.SIG_IGN); time.sleep(600)"


class Place:
    """A runner of Python programs, and the end of its jobs."""

    def __init__(self, folder: Path, **more: Any) -> None:
        self.records = Records(folder)
        self.over = threading.Semaphore(0)
        self.runner = LocalRunner(self.records, folder, {}, program=(sys.executable, "-c"), ended=self.over.release, **more)

    def run(self, wanted: Wanted) -> Job:
        self.runner.start("a", wanted)
        assert self.over.acquire(timeout=600)
        job = self.runner.get("a")
        assert job is not None
        return job


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


def test_a_job_that_takes_too_long_is_ended(place: Place) -> None:
    job = place.run(Wanted(kind="retrain", words=(SLEEPS,), limit=0.2))
    assert (job.state, job.status) == ("failed", -signal.SIGKILL)
    assert job.error is not None
    assert job.error["code"] == "timeout"


@pytest.mark.parametrize("program", [f"{HEEDS}; time.sleep(600)", DEAF])
def test_a_crawl_that_hangs_is_ended(place: Place, monkeypatch: pytest.MonkeyPatch, program: str) -> None:
    monkeypatch.setattr(local, "CHECK_INTERVAL", 1.0)
    job = place.run(Wanted(words=(program,), silence=1.0))
    assert job.error is not None
    assert (job.state, job.error["code"]) == ("failed", "silent")
    assert job.status != 0


def test_a_crawl_that_is_cancelled_ends_in_order_and_is_recorded_so(place: Place) -> None:
    place.runner.start("a", Wanted(words=(f"{HEEDS}\ntry: print(1, flush=True); time.sleep(600)\nexcept KeyboardInterrupt: pass",)))
    while not place.records.log_file("a").exists() or not place.records.log_file("a").read_text():
        time.sleep(0.01)
    assert place.runner.cancel("a")
    assert place.over.acquire(timeout=600)
    job = place.runner.get("a")
    assert job is not None
    assert (job.state, job.status) == ("cancelled", 0)
    assert not place.runner.cancel("a")


def test_a_runner_that_is_closed_starts_nothing(place: Place) -> None:
    place.runner.start("a", Wanted(kind="fit", words=(SLEEPS,)))
    place.runner.close()
    job = place.runner.get("a")
    assert job is not None
    assert job.state == "cancelled"
    assert job.pid is not None
    assert not alive(job.pid, job.born)
    with pytest.raises(RunnerRefused):
        place.runner.start("b", Wanted(kind="fit", words=(SLEEPS,)))


def test_a_job_of_a_killed_supervisor_is_found_running_and_then_dead(tmp_path: Path) -> None:
    program = (
        "import sys, time; from pathlib import Path; from newsportal.services.jobs.base import Wanted\n"
        "from newsportal.services.jobs.local import LocalRunner; from newsportal.services.jobs.records import Records\n"
        f"runner = LocalRunner(Records(Path({str(tmp_path)!r})), Path(), {{}}, program=(sys.executable, '-c'))\n"
        f"runner.start('a', Wanted(kind='fit', words=({SLEEPS!r},))); print(1, flush=True); time.sleep(600)"
    )
    with subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE) as supervisor:
        assert supervisor.stdout is not None
        assert supervisor.stdout.readline()
        supervisor.kill()
    place = Place(tmp_path)
    (job,) = place.runner.jobs()
    assert job.state == "running"
    assert place.runner.cancel("a")
    assert job.pid is not None
    until_gone(lambda: alive(job.pid or 0, job.born))
    assert place.runner.jobs()[0].state == "cancelled"
    place.records.save(Job("b", kind="fit", pid=job.pid, born=job.born))
    assert {one.id: one.state for one in place.runner.jobs()} == {"a": "cancelled", "b": "lost"}


def until_gone(there: Callable[[], bool]) -> None:
    while there():
        time.sleep(0.01)


def test_a_record_that_cannot_be_written_stops_a_schedule_and_not_a_portal(tmp_path: Path) -> None:
    (tmp_path / "jobs").write_text("a file", "utf-8")
    with pytest.raises(RunnerRefused):
        LocalRunner(Records(tmp_path / "jobs"), tmp_path, {}).start("a", Wanted(kind="fit", words=("exit(0)",)))
    said: list[str] = []
    place = Place(tmp_path / "jobs", say=said.append)
    assert place.run(Wanted(kind="fit", words=("exit(0)",))).state == "done"
    assert "cannot be written" in said[0]
