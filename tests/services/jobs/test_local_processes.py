"""Jobs as local processes: hanging jobs are killed, jobs that outlive their supervisor are found."""

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
from newsportal.services.jobs.base import Job, JobRequest
from newsportal.services.jobs.local import LocalRunner
from newsportal.services.jobs.records import Records, is_running

HEEDS = "import signal, time; signal.signal(signal.SIGINT, signal.default_int_handler)"
"""As in a crawl, even if SIGINT is ignored by the process that runs the tests."""

SLEEPS = "import time; time.sleep(600)"
DEAF = "import signal, time; signal.signal(signal.SIGINT, signal.SIG_IGN); time.sleep(600)"


class JobBench:
    """A runner of Python programs that waits for the end of its jobs."""

    def __init__(self, folder: Path, **more: Any) -> None:
        self.records = Records(folder)
        self.finished = threading.Semaphore(0)
        self.runner = LocalRunner(self.records, folder, {}, program=(sys.executable, "-c"), on_end=self.finished.release, **more)

    def run(self, request: JobRequest) -> Job:
        self.runner.start("a", request)
        assert self.finished.acquire(timeout=600)
        job = self.runner.get("a")
        assert job is not None
        return job


@pytest.fixture
def bench(tmp_path: Path) -> JobBench:
    return JobBench(tmp_path)


def test_job_over_its_time_limit_is_killed(bench: JobBench) -> None:
    job = bench.run(JobRequest(kind="retrain", words=(SLEEPS,), limit=0.2))
    assert (job.state, job.status) == ("failed", -signal.SIGKILL)
    assert job.error is not None
    assert job.error["code"] == "timeout"


@pytest.mark.parametrize("program", [f"{HEEDS}; time.sleep(600)", DEAF])
def test_hanging_crawl_is_killed(bench: JobBench, monkeypatch: pytest.MonkeyPatch, program: str) -> None:
    monkeypatch.setattr(local, "CHECK_INTERVAL", 1.0)
    job = bench.run(JobRequest(words=(program,), silence=1.0))
    assert job.error is not None
    assert (job.state, job.error["code"]) == ("failed", "silent")
    assert job.status != 0


def test_cancelled_crawl_ends_cleanly(bench: JobBench) -> None:
    bench.runner.start("a", JobRequest(words=(f"{HEEDS}\ntry: print(1, flush=True); time.sleep(600)\nexcept KeyboardInterrupt: pass",)))
    while not bench.records.log_file("a").exists() or not bench.records.log_file("a").read_text():
        time.sleep(0.01)
    assert bench.runner.cancel("a")
    assert bench.finished.acquire(timeout=600)
    job = bench.runner.get("a")
    assert job is not None
    assert (job.state, job.status) == ("cancelled", 0)
    assert not bench.runner.cancel("a")


def test_closed_runner_starts_nothing(bench: JobBench) -> None:
    bench.runner.start("a", JobRequest(kind="fit", words=(SLEEPS,)))
    bench.runner.close()
    job = bench.runner.get("a")
    assert job is not None
    assert job.state == "cancelled"
    assert job.pid is not None
    assert not is_running(job.pid, job.born)
    with pytest.raises(RunnerRefused):
        bench.runner.start("b", JobRequest(kind="fit", words=(SLEEPS,)))


def test_job_of_killed_supervisor_is_found_running_and_later_lost(tmp_path: Path) -> None:
    program = (
        "import sys, time; from pathlib import Path; from newsportal.services.jobs.base import JobRequest\n"
        "from newsportal.services.jobs.local import LocalRunner; from newsportal.services.jobs.records import Records\n"
        f"runner = LocalRunner(Records(Path({str(tmp_path)!r})), Path(), {{}}, program=(sys.executable, '-c'))\n"
        f"runner.start('a', JobRequest(kind='fit', words=({SLEEPS!r},))); print(1, flush=True); time.sleep(600)"
    )
    with subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE) as supervisor:
        assert supervisor.stdout is not None
        assert supervisor.stdout.readline()
        supervisor.kill()
    bench = JobBench(tmp_path)
    (job,) = bench.runner.jobs()
    assert job.state == "running"
    assert bench.runner.cancel("a")
    assert job.pid is not None
    wait_while(lambda: is_running(job.pid or 0, job.born))
    assert bench.runner.jobs()[0].state == "cancelled"
    bench.records.save(Job("b", kind="fit", pid=job.pid, born=job.born))
    assert {job.id: job.state for job in bench.runner.jobs()} == {"a": "cancelled", "b": "lost"}


def wait_while(true: Callable[[], bool]) -> None:
    while true():
        time.sleep(0.01)


def test_unwritable_records_stop_a_schedule_but_not_a_portal(tmp_path: Path) -> None:
    (tmp_path / "jobs").write_text("a file", "utf-8")
    with pytest.raises(RunnerRefused):
        LocalRunner(Records(tmp_path / "jobs"), tmp_path, {}).start("a", JobRequest(kind="fit", words=("exit(0)",)))
    messages: list[str] = []
    bench = JobBench(tmp_path / "jobs", warn=messages.append)
    assert bench.run(JobRequest(kind="fit", words=("exit(0)",))).state == "done"
    assert "cannot be written" in messages[0]
