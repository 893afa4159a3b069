"""Long jobs of a portal: one at a time, with progress, and cancelled reliably."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from itertools import count
from pathlib import Path
from time import monotonic, sleep

import psutil
import pytest

from newsportal.services.jobs import local, records
from newsportal.services.jobs.base import NICENESS, VARIABLE, Job, progress_reporter
from newsportal.services.jobs.local import NAMES, Busy, Jobs
from newsportal.services.jobs.records import Records
from newsportal.sources import load
from newsportal.store import open_store

BEGAN = datetime(2026, 5, 20, 10, 0, tzinfo=UTC)

REPORT = "from newsportal.services.jobs.base import report"
WAITS = f"import os, time; {REPORT}; report('progress', share=0.5, step=str(os.getpid())); time.sleep(600)"
"""A program that reports its process id and runs longer than any test."""

PATIENCE = 600.0
"""Seconds that a process may take to start or end on a busy machine."""


@pytest.fixture
def jobs() -> Iterator[Jobs]:
    """Jobs that run Python code: ``start(kind, thing, [CODE])``. The clock advances by one second per reading."""
    seconds = count()
    jobs = Jobs(None, None, lambda: BEGAN + timedelta(seconds=next(seconds)), (sys.executable, "-c"))
    yield jobs
    jobs.runner.close()
    until(lambda: not any(thread.name.startswith("job ") for thread in threading.enumerate()))


def until(true: Callable[[], bool]) -> None:
    deadline = monotonic() + PATIENCE
    while not true():
        assert monotonic() < deadline
        sleep(0.005)


def wait_for_end(jobs: Jobs, job: Job) -> Job:
    until(lambda: not find_job(jobs, job).active)
    return find_job(jobs, job)


def find_job(jobs: Jobs, job: Job) -> Job:
    current = jobs.runner.get(job.id)
    assert current is not None
    return current


def reported_pid(jobs: Jobs, job: Job) -> int:
    """Return the process id that the program reports."""
    until(lambda: bool(find_job(jobs, job).step))
    return int(find_job(jobs, job).step)


def has_ended(process: int) -> bool:
    """Return whether a process has ended, also if nobody has waited for it yet."""
    try:
        return psutil.Process(process).status() == psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return True


def test_json_output_is_the_outcome(jobs: Jobs) -> None:
    program = "print('{\"right\": 3}'); print('读完了'); print('[1]'); print('{\"right\": 4}')"
    job = jobs.start("corpus-evaluate", "新闻", [program], by="王老板", params={"held": "0.2"})
    assert (job.state, job.started, job.ended, job.by, dict(job.params)) == ("running", BEGAN, None, "王老板", {"held": "0.2"})
    ended = wait_for_end(jobs, job)
    assert (ended.state, ended.error) == ("done", None)
    assert ended.outcome == ({"right": 3}, {"right": 4})
    assert ended.ended is not None
    assert ended.ended > BEGAN
    assert jobs.running() is None


def test_name_is_never_parsed_as_option(tmp_path: Path) -> None:
    """Names of topics and corpora are free text."""
    program = (sys.executable, "-c", "import json, sys; print(json.dumps({'words': sys.argv[1:]}))")
    jobs = Jobs(tmp_path / "jobs", tmp_path / "sources.yaml", lambda: BEGAN, program)
    ended = wait_for_end(jobs, jobs.start("assign", "", ["topic", "assign", "--json", NAMES, "--gone=旅游"]))
    assert ended.outcome == ({"words": ["topic", "assign", "--json", "--sources", str(tmp_path / "sources.yaml"), "--", "--gone=旅游"]},)


def test_outcome_rows_are_limited(jobs: Jobs, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(records, "ROWS", 5)
    assert len(wait_for_end(jobs, jobs.start("look", "", ["for n in range(9): print('{\"n\": 1}')"])).outcome) == 5


@pytest.mark.parametrize(
    ("program", "error"),
    [
        (f"{REPORT}; report('failed', error=dict(code='no-corpus', text='没有这个语料库')); exit(2)", ("no-corpus", "没有这个语料库")),
        ("import sys; sys.exit(3)", ("exit-status", "status 3")),
        ("import os; os.kill(os.getpid(), 9)", ("exit-status", "status -9")),
        ("import sys; print('╭─ Error ─╮', file=sys.stderr); sys.exit(1)", ("exit-status", "status 1")),
    ],
)
def test_failed_job_has_structured_error(jobs: Jobs, program: str, error: tuple[str, str]) -> None:
    job = wait_for_end(jobs, jobs.start("look", "", [program]))
    assert job.error is not None
    assert (job.state, job.error["code"], job.error["text"]) == ("failed", *error)
    assert job.ended is not None


@pytest.mark.parametrize(
    ("line", "progress"),
    [
        ('{"event": "progress", "share": 0.25, "step": "读语料"}', (0.25, "读语料")),
        ('{"event": "progress", "share": 0.5, "st', (0.0, "")),
        ("[0.5]", (0.0, "")),
        ("null", (0.0, "")),
        ("", (0.0, "")),
    ],
)
def test_progress_line_is_parsed(tmp_path: Path, line: str, progress: tuple[float, str]) -> None:
    saved = Records(tmp_path)
    saved.report_file("a").write_text(f"{line}\n", "utf-8")
    job = saved.with_reports(Job("a"))
    assert ((job.progress, job.step), job.outcome) == (progress, ())


def test_progress_ignores_other_output(jobs: Jobs) -> None:
    job = jobs.start("train", "模型", [f"import sys; print('正在读', file=sys.stderr); {WAITS}"])
    reported_pid(jobs, job)
    assert find_job(jobs, job).progress == 0.5
    assert jobs.running() == find_job(jobs, job)


def test_one_job_runs_at_a_time(jobs: Jobs) -> None:
    first = jobs.start("train", "模型", [WAITS])
    with pytest.raises(Busy, match="train of 模型 is in progress") as busy:
        jobs.start("train", "模型", [WAITS])
    assert busy.value.running == find_job(jobs, first)
    assert jobs.runner.cancel(first.id)
    assert wait_for_end(jobs, jobs.start("train", "模型", ["print('{}')"])).state == "done"


def test_job_of_other_origin_does_not_block(tmp_path: Path) -> None:
    Records(tmp_path).save(Job("nightly", kind="fit", origin="up", started=BEGAN, pid=os.getpid()))
    jobs = Jobs(tmp_path, None, lambda: BEGAN, (sys.executable, "-c"))
    ended = wait_for_end(jobs, jobs.start("train", "模型", ["print('{}')"]))
    assert {(job.id, job.state) for job in jobs.all()} == {("nightly", "running"), (ended.id, "done")}


def test_restarted_portal_finds_jobs_of_killed_one(tmp_path: Path) -> None:
    """The job keeps running, can be cancelled, and its end is recognised with or without a final report."""
    jobs = Jobs(tmp_path, None, lambda: BEGAN, (sys.executable, "-c"))
    job = jobs.start("train", "模型", [WAITS])
    process = reported_pid(jobs, job)
    other = Jobs(tmp_path, None, lambda: BEGAN, (sys.executable, "-c"))
    assert find_job(other, job).state == "running"
    with pytest.raises(Busy):
        other.start("train", "模型", [WAITS])
    assert other.runner.cancel(job.id)
    until(lambda: has_ended(process))
    assert find_job(other, job).state == find_job(jobs, job).state == "cancelled"
    saved = Records(tmp_path)
    failed = '{"event": "failed", "error": {"code": "x", "text": "坏"}}'
    for id, line, state in (("a", '{"event": "done"}', "done"), ("b", '{"n": 1}', "lost"), ("c", failed, "failed")):
        saved.save(Job(id, kind="train", started=BEGAN, pid=1, born="0"))
        saved.report_file(id).write_text(f"{line}\n", "utf-8")
        dead = other.runner.get(id)
        assert dead is not None
        assert dead.state == state
        assert not other.runner.cancel(id)


def test_cancelled_job_is_not_failed(jobs: Jobs) -> None:
    job = jobs.start("train", "模型", [WAITS])
    process = reported_pid(jobs, job)
    assert jobs.runner.cancel(job.id)
    at_once = find_job(jobs, job)
    assert (at_once.state, at_once.outcome, at_once.error) == ("cancelled", (), None)
    until(lambda: has_ended(process))
    until(lambda: not any(thread.name == "job train" for thread in threading.enumerate()))
    assert find_job(jobs, job) == at_once
    assert not jobs.runner.cancel(job.id)
    assert not jobs.runner.cancel("no such job")


def test_child_processes_end_with_the_job(jobs: Jobs) -> None:
    """Training starts child processes, which hold the pipe to the portal open."""
    job = jobs.start("train", "模型", [f"import subprocess, sys; subprocess.run([sys.executable, '-c', {WAITS!r}])"])
    process = reported_pid(jobs, job)
    jobs.runner.cancel(job.id)
    until(lambda: has_ended(process))


def test_stop_ends_running_jobs(jobs: Jobs) -> None:
    job = jobs.start("train", "模型", [WAITS])
    process = reported_pid(jobs, job)
    jobs.runner.close()
    assert find_job(jobs, job).state == "cancelled"
    until(lambda: has_ended(process))
    jobs.runner.close()


def test_job_that_cannot_start_fails_and_blocks_no_other(tmp_path: Path) -> None:
    jobs = Jobs(None, None, lambda: BEGAN, (str(tmp_path / "no-such-program"),))
    job = jobs.start("train", "新闻", [])
    assert (job.state, job.ended, job.error) == ("failed", BEGAN, {"code": "no-process", "text": "No such file or directory"})
    assert jobs.start("train", "新闻", []).state == "failed"


def test_latest_job_of_a_kind_is_shown_for_a_day(tmp_path: Path) -> None:
    now = [BEGAN]
    jobs = Jobs(tmp_path, None, lambda: now[0], (sys.executable, "-c"))
    ended = []
    for kind, subject in (("look", "甲"), ("look", "乙"), ("train", "甲"), ("look", "丙")):
        ended.append(wait_for_end(jobs, jobs.start(kind, subject, [""])))
        now[0] += timedelta(minutes=1)
    assert [job.subject for job in jobs.all()] == ["丙", "甲", "乙", "甲"]
    assert jobs.latest(("look",)) == ended[3]
    assert jobs.latest(("train", "retrain"), "甲") == ended[2]
    assert jobs.latest(("train",), "乙") is None
    assert jobs.runner.get("no such job") is None
    now[0] += local.RECENT
    assert jobs.latest(("look",)) is None
    assert len(jobs.all()) == 4


def test_jobs_run_without_a_writable_folder(tmp_path: Path) -> None:
    """A full disk, a folder owned by another user."""
    (tmp_path / "jobs").write_text("a file", "utf-8")
    jobs = Jobs(tmp_path / "jobs", None, lambda: BEGAN, (sys.executable, "-c"))
    assert wait_for_end(jobs, jobs.start("look", "", ["exit(0)"])).state == "done"
    assert wait_for_end(jobs, jobs.start("look", "", ["exit(4)"])).error == {"code": "exit-status", "text": "status 4"}


def test_command_gets_sources_file_and_job_id(tmp_path: Path) -> None:
    file = tmp_path / "来源 1.yaml"
    program = "import json, os, sys; print(json.dumps({'words': sys.argv[1:], 'job': os.environ['NEWSPORTAL_JOB']}))"
    jobs = Jobs(None, file, lambda: BEGAN, (sys.executable, "-c", program))
    job = wait_for_end(jobs, jobs.start("look", "", ["corpus", "evaluate", "--json"]))
    assert job.outcome == ({"words": ["corpus", "evaluate", "--json", "--sources", str(file)], "job": job.id},)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("words", "code", "text"),
    [
        (["no-such-command"], "usage-error", "No such command 'no-such-command'."),
        (["train", "--json"], "bad-parameter", "give either FILE --model MODEL or --corpus NAME"),
        (["train", "--corpus", "新闻", "--json"], "store-", "no corpus"),
        (["corpus", "list", "--sources", "/no/such/file.yaml"], "sources-error", "/no/such/file.yaml"),
    ],
)
def test_newsportal_commands_fail_with_structured_errors(tmp_path: Path, words: list[str], code: str, text: str) -> None:
    """No box drawn for a terminal."""
    sources = tmp_path / "sources.yaml"
    sources.write_text("feeds: []\n", "utf-8")
    open_store(load(sources).store).close()
    jobs = Jobs(tmp_path / "jobs", None if "--sources" in words else sources, lambda: BEGAN)
    job = wait_for_end(jobs, jobs.start("look", "", words))
    assert job.error is not None
    assert job.state == "failed"
    assert job.error["code"].startswith(code), job.error
    assert text in job.error["text"]
    assert not set(job.error["text"]) & set("╭╮╰╯│─")


@pytest.mark.slow
def test_outcome_of_a_command_is_its_rows(tmp_path: Path) -> None:
    sources = tmp_path / "sources.yaml"
    sources.write_text("feeds: []\n", "utf-8")
    open_store(load(sources).store).close()
    jobs = Jobs(tmp_path / "jobs", sources, lambda: BEGAN)
    retrained = wait_for_end(jobs, jobs.start("retrain", "", ["retrain", "--force", "--json"]))
    assert (retrained.state, [(row["corpus"], row["version"]) for row in retrained.outcome]) == ("done", [("categories", None)])
    assigned = wait_for_end(jobs, jobs.start("assign", "", ["topic", "assign", "--days", "7", "--json"]))
    assert (assigned.state, [row["checked"] for row in assigned.outcome]) == ("done", [0])
    learnt = wait_for_end(jobs, jobs.start("fit", "", ["recommend", "fit", "--json"]))
    assert (learnt.state, [row["views"] for row in learnt.outcome]) == ("done", [0])


REPORTS = "from newsportal.services.jobs.base import progress_reporter; tell = progress_reporter()"


def test_small_steps_of_progress_are_not_reported(tmp_path: Path) -> None:
    program = f"{REPORTS}; tell(0, '读'); tell(0.004, '读'); tell(0.004, '学'); tell(0.25, '学'); tell(0.254, '学')"
    result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, env={**os.environ, VARIABLE: "a"}, check=True)
    assert [(row["share"], row["step"]) for row in map(json.loads, result.stdout.splitlines())] == [(0, "读"), (0.004, "学"), (0.25, "学")]


def test_job_runs_at_low_priority_and_logs_its_crash(jobs: Jobs) -> None:
    program = "import os; from newsportal.services.jobs.base import run_as_job; "
    program += "run_as_job(lambda: [print('{\"nice\": %d}' % os.nice(0)), 1 / 0])"
    job = wait_for_end(jobs, jobs.start("train", "模型", [program]))
    assert job.outcome == ({"nice": min(19, os.nice(0) + NICENESS)},)
    assert job.error == {"code": "zero-division-error", "text": "ZeroDivisionError: division by zero"}
    assert "Traceback" in (jobs.runner.log(job.id) or "")


def test_no_progress_is_reported_outside_a_job(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(VARIABLE, raising=False)
    assert progress_reporter() is None
