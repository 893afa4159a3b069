"""Long work beside a portal: one at a time, told how far it is, ended for good."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from itertools import count
from pathlib import Path
from time import monotonic, sleep

import psutil
import pytest

from newsportal import jobs as jobs_module
from newsportal.jobs import NAMES, Busy, Job, Jobs, teller

BEGAN = datetime(2026, 5, 20, 10, 0, tzinfo=UTC)

WAITS = 'import os, sys, time; print(\'{"share": 0.5, "what": "%d"}\' % os.getpid(), file=sys.stderr, flush=True); time.sleep(60)'
"""A program that says which process it is, and goes on for longer than any test."""

PATIENCE = 30.0
"""Seconds that a process may take to start or to end, however busy the machine is."""


@pytest.fixture
def jobs() -> Iterator[Jobs]:
    """Jobs that run a program of Python each: ``start(kind, thing, [TEXT])``. Each look at the clock is a second later."""
    seconds = count()
    made = Jobs(None, lambda: BEGAN + timedelta(seconds=next(seconds)), (sys.executable, "-c"))
    yield made
    made.stop()
    until(lambda: not any(thread.name.startswith("job ") for thread in threading.enumerate()))


def until(true: Callable[[], bool]) -> None:
    end = monotonic() + PATIENCE
    while not true():
        assert monotonic() < end
        sleep(0.005)


def ended(jobs: Jobs, job: Job) -> Job:
    until(lambda: found(jobs, job).state != "running")
    return found(jobs, job)


def found(jobs: Jobs, job: Job) -> Job:
    there = jobs.find(job.id)
    assert there is not None
    return there


def told_process(jobs: Jobs, job: Job) -> int:
    """The number that the program tells of itself."""
    until(lambda: bool(found(jobs, job).what))
    return int(found(jobs, job).what)


def gone(process: int) -> bool:
    """Whether it has ended; one that nobody has waited for yet has, too."""
    try:
        return psutil.Process(process).status() == psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return True


def test_what_a_job_says_is_its_outcome(jobs: Jobs) -> None:
    program = "print('{\"right\": 3}'); print('读完了'); print('[1]'); print('{\"right\": 4}')"
    job = jobs.start("corpus-evaluate", "新闻", [program], by="王老板", values={"held": "0.2"})
    assert (job.state, job.begun, job.ended, job.by, dict(job.values)) == ("running", BEGAN, None, "王老板", {"held": "0.2"})
    done = ended(jobs, job)
    assert (done.state, done.failure) == ("done", None)
    assert done.rows == ({"right": 3}, {"said": "读完了"}, {"right": 4})
    assert done.ended is not None
    assert done.ended > BEGAN
    assert jobs.running() is None


def test_a_name_is_no_option_however_it_begins(tmp_path: Path) -> None:
    """Topics and corpora are called as somebody wished."""
    program = (sys.executable, "-c", "import json, sys; print(json.dumps({'words': sys.argv[1:]}))")
    jobs = Jobs(tmp_path / "sources.yaml", lambda: BEGAN, program)
    done = ended(jobs, jobs.start("assign", "", ["topic", "assign", "--json", NAMES, "--gone=旅游"]))
    assert done.rows == ({"words": ["topic", "assign", "--json", "--sources", str(tmp_path / "sources.yaml"), "--", "--gone=旅游"]},)


def test_an_outcome_has_an_end(jobs: Jobs, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jobs_module, "ROWS", 5)
    assert len(ended(jobs, jobs.start("look", "", ["for n in range(9): print('{}')"])).rows) == 5


@pytest.mark.parametrize(
    ("program", "failure"),
    [
        ("import sys; print('{\"right\": 1}'); print('\\n没有这个语料库\\n\\n', file=sys.stderr); sys.exit(2)", "没有这个语料库"),
        ("import sys; sys.exit(3)", "status 3"),
        ("import os; os.kill(os.getpid(), 9)", "status -9"),
        ("raise ValueError('坏了')", "ValueError: 坏了"),
        ("import os; os.write(2, b'\\xff\\xfe'); os._exit(1)", "\ufffd\ufffd"),
    ],
)
def test_a_job_that_fails_says_why(jobs: Jobs, program: str, failure: str) -> None:
    job = ended(jobs, jobs.start("look", "", [program]))
    assert (job.state, job.failure) == ("failed", failure)
    assert job.ended is not None


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ('{"share": 0.25, "what": "读语料"}', (0.25, "读语料")),
        ('{"share": 7, "what": ""}', (1.0, "")),
        ('{"share": -1, "what": ""}', (0.0, "")),
        ('{"share": "half", "what": ""}', None),
        ('{"share": 0.5}', None),
        ("[0.5]", None),
        ("null", None),
        ("正在读", None),
        ("", None),
    ],
)
def test_how_far_a_job_is_is_told_in_lines_of_two_things(line: str, told: tuple[float, str] | None) -> None:
    assert jobs_module._told(line) == told


def test_how_far_it_is_stands_while_it_runs_and_words_between_change_nothing(jobs: Jobs) -> None:
    job = jobs.start("train", "模型", [f"import sys; print('正在读', file=sys.stderr); {WAITS}"])
    told_process(jobs, job)
    assert found(jobs, job).share == 0.5
    assert jobs.running() == found(jobs, job)


def test_one_job_runs_at_a_time(jobs: Jobs) -> None:
    first = jobs.start("train", "模型", [WAITS])
    with pytest.raises(Busy, match="train of 模型 is under way") as busy:
        jobs.start("train", "模型", [WAITS])
    assert busy.value.running == found(jobs, first)
    assert jobs.cancel(first.id)
    assert ended(jobs, jobs.start("train", "模型", ["print('{}')"])).state == "done"


def test_a_job_that_is_ended_ends_and_is_not_said_to_have_failed(jobs: Jobs) -> None:
    job = jobs.start("train", "模型", [WAITS])
    process = told_process(jobs, job)
    assert jobs.cancel(job.id)
    at_once = found(jobs, job)
    assert (at_once.state, at_once.rows, at_once.failure) == ("cancelled", (), None)
    until(lambda: gone(process))
    until(lambda: not any(thread.name == "job train" for thread in threading.enumerate()))
    assert found(jobs, job) == at_once
    assert not jobs.cancel(job.id)
    assert not jobs.cancel("no such job")


def test_what_a_job_has_started_ends_with_it(jobs: Jobs) -> None:
    """Learning starts processes of its own; they hold the way to the portal open."""
    job = jobs.start("train", "模型", [f"import subprocess, sys; subprocess.run([sys.executable, '-c', {WAITS!r}])"])
    process = told_process(jobs, job)
    jobs.cancel(job.id)
    until(lambda: gone(process))


def test_the_end_of_the_portal_ends_what_runs(jobs: Jobs) -> None:
    job = jobs.start("train", "模型", [WAITS])
    process = told_process(jobs, job)
    jobs.stop()
    assert found(jobs, job).state == "cancelled"
    until(lambda: gone(process))
    jobs.stop()


def test_a_job_that_cannot_be_started_has_failed_and_holds_up_no_other(tmp_path: Path) -> None:
    jobs = Jobs(None, lambda: BEGAN, (str(tmp_path / "no-such-program"),))
    job = jobs.start("train", "新闻", [])
    assert (job.state, job.ended, job.failure) == ("failed", BEGAN, "No such file or directory")
    assert jobs.start("train", "新闻", []).state == "failed"


def test_the_newest_jobs_are_remembered(jobs: Jobs, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jobs_module, "KEPT", 3)
    made = []
    for kind, thing in (("look", "甲"), ("look", "乙"), ("train", "甲"), ("look", "丙")):
        made.append(jobs.start(kind, thing, [""]))
        ended(jobs, made[-1])
    assert [job.thing for job in jobs.all()] == ["丙", "甲", "乙"]
    assert jobs.find(made[0].id) is None
    looked, trained = jobs.latest("look"), jobs.latest("train", "甲")
    assert looked is not None
    assert trained is not None
    assert (looked.id, trained.id) == (made[3].id, made[2].id)
    assert jobs.latest("look", "甲") is None
    assert jobs.find("no such job") is None


def test_a_command_is_told_its_file_and_that_somebody_listens(tmp_path: Path) -> None:
    file = tmp_path / "来源 1.yaml"
    program = "import json, os, sys; print(json.dumps([{'words': sys.argv[1:], 'told': os.environ['NEWSPORTAL_TELL']}][0]))"
    jobs = Jobs(file, lambda: BEGAN, (sys.executable, "-c", program))
    job = ended(jobs, jobs.start("look", "", ["corpus", "evaluate", "--json"]))
    assert job.rows == ({"words": ["corpus", "evaluate", "--json", "--sources", str(file)], "told": "1"},)


@pytest.mark.slow
def test_the_commands_of_newsportal_are_what_runs() -> None:
    jobs = Jobs(None, lambda: BEGAN)
    job = ended(jobs, jobs.start("look", "", ["no-such-command"]))
    assert job.state == "failed"
    assert "no-such-command" in str(job.failure)


TELLS = "from newsportal.jobs import teller; tell = teller()"


def test_who_is_listened_to_tells_his_steps_and_goes_gently(jobs: Jobs) -> None:
    steps = "tell(0, '读'); tell(0.004, '读'); tell(0.004, '学'); tell(0.25, '学'); tell(0.254, '学')"
    echo = "import os, sys; os.dup2(1, 2); print('{\"nice\": %d}' % os.nice(0), flush=True)"  # what is told comes back among the rows
    job = ended(jobs, jobs.start("train", "模型", [f"{TELLS}; {echo}; {steps}"]))
    gently, *told = job.rows
    assert gently == {"nice": min(19, os.nice(0) + jobs_module.GENTLY)}
    assert [(row["share"], row["what"]) for row in told] == [(0, "读"), (0.004, "学"), (0.25, "学")]


def test_nobody_is_told_outside_of_a_job(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(jobs_module.TELL, raising=False)
    assert teller() is None
