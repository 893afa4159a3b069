"""The supervisor starts the jobs that duties want, reports their results as data, and waits while something prevents it."""

from __future__ import annotations

import shutil
import sys
import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import closing
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from newsportal.errors import StoreUnavailable
from newsportal.items.report import Run, SourceReport
from newsportal.services.jobs.base import Job, JobRequest
from newsportal.services.jobs.local import LocalRunner
from newsportal.services.jobs.records import Records
from newsportal.services.jobs.supervisor import Duty, SourcesReloader, Supervisor
from newsportal.sources import load
from newsportal.store import open_store

NOW = datetime.fromisoformat("2026-03-05T08:30:00+00:00")


class WantsEach(Duty):
    """Wants each job once, in order, one at a time; calls ``before`` first."""

    def __init__(self, *requests: JobRequest, before: Callable[[], None] = lambda: None) -> None:
        self.left, self.before = list(requests), before
        self.ended_jobs: list[tuple[Job, Run | None]] = []
        self.running = False

    def requests(self, jobs: Sequence[Job], now: datetime) -> Iterable[JobRequest]:
        self.before()
        if self.left and not self.running:
            yield self.left[0]
            self.left.pop(0)
            self.running = True

    def on_end(self, job: Job, run: Run | None) -> None:
        self.running = False
        self.ended_jobs.append((job, run))


class SupervisorBench:
    """A supervisor of Python programs, and the events it reported."""

    def __init__(self, folder: Path, *duties: Duty, every: float = 60.0, once: bool = False) -> None:
        (folder / "sources.yaml").write_text("feeds: []\n", "utf-8")
        sources = load(folder / "sources.yaml")
        self.records = Records(sources.jobs_folder)
        self.events: list[tuple[str, Mapping[str, Any]]] = []
        self.store = sources.store
        runner = LocalRunner(self.records, folder, {}, program=(sys.executable, "-c"), on_end=lambda: self.supervisor.wake())
        file = SourcesReloader(folder / "sources.yaml", sources, print)
        report = lambda event, facts: self.events.append((event, facts))  # noqa: E731
        self.supervisor = Supervisor(file, runner, self.records, duties, report, every=every, once=once)

    def facts(self, event: str) -> list[Mapping[str, Any]]:
        return [facts for name, facts in self.events if name == event]


def test_every_kind_of_job_is_reported_with_its_outcome(tmp_path: Path) -> None:
    reports = 'print(\'{"views": 9}\'); print(\'{"event": "done"}\')'
    fails = 'print(\'{"event": "failed", "error": {"code": "x", "text": "坏了"}}\'); exit(1)'
    saved = tmp_path / "runs-are-saved"
    crawls = f"import os, time\nwhile not os.path.exists({str(saved)!r}): time.sleep(0.01)"
    duty = WantsEach(
        JobRequest("", words=(crawls, "crawl")),
        JobRequest(kind="fit", words=(reports,)),
        JobRequest(kind="retrain", words=(fails,)),
        JobRequest(kind="prune", words=("print('{\"deleted\": 2}')",)),
    )
    bench = SupervisorBench(tmp_path, duty, every=0.01, once=True)
    with closing(open_store(bench.store)) as store:
        report = (SourceReport("feed:甲", stored=2),)

        def crawled() -> None:
            for job in bench.records.all():
                if job.kind == "crawl" and not store.runs():
                    store.save_run(Run(f"20260305-083000-{job.id}-rss", NOW, NOW, "finished", ("rss",), report))
                    store.save_run(Run(f"20260305-083000-{job.id}-hub", NOW, NOW, "finished", ("hub",), report))
                    saved.touch()

        duty.before = crawled
        bench.supervisor.run()
    ended = {facts["kind"]: facts for facts in bench.facts("ended")}
    assert {kind: facts["result"] for kind, facts in ended.items()} == {
        "crawl": "done", "fit": "done", "retrain": "failed", "prune": "done",
    }  # fmt: skip
    assert ended["fit"]["outcome"] == [{"views": 9}]
    assert ended["retrain"]["error"] == {"code": "x", "text": "坏了"}
    assert ended["prune"]["outcome"] == [{"deleted": 2}]
    crawl = ended["crawl"]["outcome"][0]
    assert (crawl["stored"], crawl["sources"], crawl["finished"]) == (4, 2, True), "of both spiders"
    assert {job.kind: list(job.outcome) for job in bench.records.all()} == {kind: facts["outcome"] for kind, facts in ended.items()}
    assert sorted(job.kind for job, _ in duty.ended_jobs) == ["crawl", "fit", "prune", "retrain"]  # their processes end in any order


def test_hindrance_is_reported_once_and_waited_for(tmp_path: Path) -> None:
    away = [True, True, True, False, False]

    def look() -> None:
        if not away:
            bench.supervisor.stop()
        elif away.pop(0):
            raise StoreUnavailable("the store is away")

    bench = SupervisorBench(tmp_path, WantsEach(before=look), every=0.001)
    bench.supervisor.run()
    assert [event for event, _ in bench.events] == ["hindered", "goes on"]
    assert "the store is away" in bench.facts("hindered")[0]["message"]


def test_hindrance_ends_a_supervisor_with_once(tmp_path: Path) -> None:
    def look() -> None:
        raise StoreUnavailable("the store is away")

    bench = SupervisorBench(tmp_path, WantsEach(before=look), once=True)
    with pytest.raises(StoreUnavailable):
        bench.supervisor.run()


def test_deleted_record_blocks_nothing(tmp_path: Path) -> None:
    program = f"import time; from pathlib import Path\nwhile not Path({str(tmp_path / 'go')!r}).exists(): time.sleep(0.01)"
    duty = WantsEach(JobRequest(kind="fit", words=(program,)), JobRequest(kind="fit", words=("",)))
    bench = SupervisorBench(tmp_path, duty, every=0.01)
    calls = [0]

    def look() -> None:
        calls[0] += 1
        if calls[0] == 2:
            shutil.rmtree(bench.records.folder)
        if calls[0] == 4:
            assert not bench.facts("ended"), "it is still running"
            (tmp_path / "go").touch()
        if len(duty.ended_jobs) == 2:
            bench.supervisor.stop()

    duty.before = look
    bench.supervisor.run()
    assert [job.state for job, _ in duty.ended_jobs] == ["done", "done"]


def test_stop_ends_supervisor_and_its_jobs(tmp_path: Path) -> None:
    bench = SupervisorBench(tmp_path, WantsEach(JobRequest(kind="fit", words=("import time; time.sleep(600)",))))
    thread = threading.Thread(target=bench.supervisor.run)
    thread.start()
    while not bench.facts("started"):
        time.sleep(0.01)
    bench.supervisor.stop()
    thread.join(600)
    assert not thread.is_alive()
    bench.supervisor.close()
    assert [job.state for job in bench.records.all()] == ["cancelled"]
