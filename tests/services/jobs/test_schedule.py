"""``newsportal schedule`` with real processes: each due source is visited once, whatever runs the jobs, and no process is left behind."""

from __future__ import annotations

import json
import shutil
import signal
import socket
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import yaml
from forked import Started, run

from newsportal.services.jobs.records import Records, is_running
from newsportal.sources import load

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[3]
PATIENCE = 600.0


@pytest.fixture
def sources(sources: Path) -> Path:
    """Two feeds and a region: each job is a separate process."""
    keep_entries(sources, feeds=2, regions=1)
    return sources


def keep_entries(sources: Path, **counts: int) -> None:
    """Keep the first entries of each kind, as many as given, and remove the others."""
    values = yaml.safe_load(sources.read_text("utf-8"))
    values |= {key: values[key][: counts.get(key, 0)] for key in ("feeds", "regions", "topics")}
    sources.write_text(yaml.safe_dump(values, allow_unicode=True), "utf-8")


def arguments(sources: Path, *options: str) -> tuple[str, ...]:
    return ("schedule", *options, "--sources", str(sources))


def run_schedule(sources: Path, *options: str, **environment: str) -> list[dict[str, Any]]:
    """Return the events printed by a schedule that ends by itself."""
    result = run(*arguments(sources, *options), timeout=PATIENCE, **environment)
    assert (result.returncode, result.stderr) == (0, "")
    return [json.loads(line) for line in result.stdout.splitlines()]


PATIENT = """
from newsportal.cli import main
from newsportal.services.jobs.local import LocalRunner

LocalRunner.close.__defaults__ = (600.0,)
main()
"""
"""The command line with ten minutes for jobs to end: on a busy machine the usual half minute is too short."""


@contextmanager
def running_schedule(sources: Path, *options: str, **environment: str) -> Iterator[Started]:
    environment = {"PYTHONUNBUFFERED": "1", **environment}
    with Started(*arguments(sources, "--json", "--every", "0.5", *options), piped=True, script=PATIENT, **environment) as process:
        patience = threading.Timer(PATIENCE, process.kill)  # if the expected event never comes, the reader sees the end of the process
        patience.start()
        try:
            yield process
        finally:
            patience.cancel()


def next_event(process: Started, name: str, job: str | None = None) -> dict[str, Any]:
    """Return the next event of this name; of one job if given, as several run side by side."""
    events = []
    for line in process.stdout:
        events.append(json.loads(line))
        if events[-1]["event"] == name and job in (None, events[-1].get("job")):
            return events[-1]
    raise AssertionError(f"it ended without {name}: {events}")


def next_events(process: Started, *names: str) -> dict[str, dict[str, Any]]:
    """Return the next events of these names, in any order."""
    events: dict[str, dict[str, Any]] = {}
    for line in process.stdout:
        event = json.loads(line)
        events.setdefault(event["event"], event)
        if events.keys() >= set(names):
            return events
    raise AssertionError(f"it ended without one of {names}: {list(events)}")


def test_once_visits_each_source_once_and_reports_results(sources: Path, rows: Any) -> None:
    lines = run_schedule(sources, "--once", "--json", "--every", "0.5", "--batch", "2")
    started = [event for event in lines if event["event"] == "started"]
    visited = Counter(key for event in started for key in event["sources"])
    settings = load(sources)
    assert {source.key for source in (*settings.feeds, *settings.regions) if source.enabled} <= set(visited)
    assert set(visited.values()) == {1}
    assert max(len(event["sources"]) for event in started) == 2
    assert Counter(event["status"] for event in lines if event["event"] == "ended") == {0: len(started)}
    assert run_schedule(sources, "--once", "--json") == [], "nothing is due"
    jobs = run_schedule(sources, "jobs", "--json")
    assert {(job["state"], job["status"]) for job in jobs} == {("ended", 0)}
    reports = {name for (name,) in rows(sources.parent / "data" / "newsportal.db", "SELECT id FROM runs")}
    assert {job["run"] for job in jobs} == reports
    log = run(*arguments(sources, "log", jobs[0]["job"]))
    assert "Spider closed (finished)" in log.stdout


def test_second_schedule_takes_over_when_the_first_is_killed(sources: Path, until: Any) -> None:
    with running_schedule(sources, "--jobs", "1") as first:
        job = next_event(first, "started")
        with running_schedule(sources, "--jobs", "1") as second:
            assert "another schedule" in next_event(second, "standing by")["message"]
            first.kill()
            other = next_events(second, "goes on", "started")["started"]  # the step that takes over starts a job before it reports
            assert not set(other["sources"]) & set(job["sources"])
            second.terminate()
            assert second.wait(PATIENCE) == 0
    records = Records(load(sources).jobs_folder)
    until(lambda: not any(job.pid and is_running(job.pid, job.born) for job in records.all("local")), "the end of all jobs")


def test_sigterm_ends_jobs_cleanly(sources: Path) -> None:
    with running_schedule(sources) as process:
        job = next_event(process, "started")["job"]
        log = Records(load(sources).jobs_folder).log_file(job)
        deadline = time.monotonic() + PATIENCE
        while "Spider opened" not in log.read_text("utf-8"):
            assert time.monotonic() < deadline
            time.sleep(0.05)
        process.terminate()
        assert process.wait(PATIENCE) == 0
    assert "Spider closed" in log.read_text("utf-8")
    record = Records(log.parent).get(job)
    assert record is not None
    assert record.ended is not None
    assert record.pid is not None
    assert not is_running(record.pid, record.born)


def test_second_signal_ends_jobs_at_once(tmp_path: Path, until: Any) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:  # accepts connections and never answers
        file = tmp_path / "sources.yaml"
        feed = f'[{{name: 慢, url: "http://127.0.0.1:{silent.getsockname()[1]}/feed"}}]'
        file.write_text(f"politeness: {{allow_private: [127.0.0.1], obey_robots: false}}\nfeeds: {feed}\n", "utf-8")
        with running_schedule(file) as process:
            job = next_event(process, "started")["job"]
            log = Records(load(file).jobs_folder).log_file(job)
            connection, _ = silent.accept()
            process.terminate()
            until(lambda: "Received SIGINT" in log.read_text("utf-8"), "the job's end in order")
            assert "SIGINT twice" not in log.read_text("utf-8")
            process.terminate()
            assert process.wait(PATIENCE) == 0
            connection.close()
    assert "SIGINT twice" in log.read_text("utf-8")
    record = Records(log.parent).get(job)
    assert record is not None
    assert record.status is not None
    assert record.status >= 0, "it was not killed by the timeout"


def test_cancelled_job_and_broken_sources_are_reported(sources: Path) -> None:
    text = sources.read_text("utf-8")
    assert "\n  delay: 0\n" in text
    sources.write_text(text.replace("\n  delay: 0\n", "\n  delay: 10\n"), "utf-8")  # it must not end by itself before
    with running_schedule(sources, "--jobs", "1") as process:
        job = next_event(process, "started")["job"]
        log = Records(load(sources).jobs_folder).log_file(job)
        while "Spider opened" not in log.read_text("utf-8"):
            time.sleep(0.05)
        result = run(*arguments(sources, "cancel", job))
        assert result.returncode == 0, result.stderr
        ended = next_event(process, "ended")
        assert (ended["job"], ended["status"]) == (job, 0)
        sources.write_text("feeds: [{name: a}]", "utf-8")
        assert "continues with the last valid sources" in next_event(process, "hindered")["message"]
        log = Records(log.parent).log_file(next_event(process, "started")["job"])
        while "Spider opened" not in (log_text := log.read_text("utf-8") if log.exists() else ""):
            assert "Traceback" not in log_text, "its jobs continue with them, too"
            time.sleep(0.05)
        process.send_signal(signal.SIGINT)
        assert process.wait(PATIENCE) == 0


def test_schedule_waits_for_redis(sources: Path, redis_server: Any) -> None:
    redis_server.kill()
    values = yaml.safe_load(sources.read_text("utf-8"))
    sources.write_text(yaml.safe_dump({**values, "frontier": {"redis": redis_server.url}}, allow_unicode=True), "utf-8")
    with running_schedule(sources, "--jobs", "1") as process:
        next_event(process, "hindered")
        redis_server.start()
        next_event(process, "goes on")
        with running_schedule(sources) as second:
            next_event(second, "standing by")
            process.terminate()
            assert process.wait(PATIENCE) == 0
            next_event(second, "started")
            second.terminate()
            assert second.wait(PATIENCE) == 0


def test_schedule_waits_for_scrapyd(scrapyd: Any, sources: Path, rows: Any) -> None:
    keep_entries(sources, feeds=1)
    shutil.copy(ROOT / "scrapy.cfg", scrapyd.folder)
    secret = {"SCRAPYD_USERNAME": scrapyd.target.username, "SCRAPYD_PASSWORD": scrapyd.target.password}
    with running_schedule(sources, "--scrapyd", scrapyd.url, "--setting", f"NEWSPORTAL_SOURCES={sources}", **secret) as process:
        assert "is it running?" in next_event(process, "hindered")["message"]
        scrapyd.start()
        job = next_events(process, "started", "goes on")["started"]["job"]
        ended = next_event(process, "ended", job)
        assert ended["run"] is not None
        process.terminate()
        assert process.wait(PATIENCE) == 0
    (feed,) = load(sources).feeds
    assert set(rows(sources.parent / "data" / "newsportal.db", "SELECT source FROM articles")) == {(feed.key,)}
    jobs = run_schedule(sources, "jobs", "--scrapyd", scrapyd.url, "--json", **secret)
    assert job in {row["job"] for row in jobs}
    log = run(*arguments(sources, "log", job, "--scrapyd", scrapyd.url), **secret)
    assert "Spider closed" in log.stdout
    assert f"{sources}; the store is" in log.stdout, "the installed package reads sources outside an egg"
