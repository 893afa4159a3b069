"""``newsportal schedule`` with ended jobs: lists, logs, and refused commands."""

from __future__ import annotations

import json
import signal
import socket
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest
from typer.testing import CliRunner

from newsportal import cli
from newsportal.cli.schedule import format_crawl
from newsportal.errors import NewsportalError
from newsportal.items.report import Run, SourceReport
from newsportal.services.jobs import duties
from newsportal.services.jobs.base import Job
from newsportal.services.jobs.records import Records, job_of, outcome_of
from newsportal.sources import load
from newsportal.store import open_store

NOW = datetime(2026, 3, 5, 8, 30, tzinfo=UTC)


@pytest.fixture
def sources(tmp_path: Path) -> Path:
    """A sources file with two ended jobs, the second killed."""
    file = tmp_path / "sources.yaml"
    file.write_text('feeds: [{name: 甲, url: "https://a.example/rss"}]\n', "utf-8")
    settings = load(file)
    records = Records(settings.jobs_folder)
    records.save(Job("aaaa1111", "rss", "done", sources=("feed:甲",), started=NOW, ended=NOW, status=0, pid=1, born="0"))
    records.save(Job("aaaa2222", "hub", sources=("region:乙",), started=NOW, pid=1, born="0"))
    records.log_file("aaaa1111").write_text("title \x1b]0;owned\x07\n\tdone\n", "utf-8")
    store = open_store(settings.store)
    store.save_run(Run("20260305-083000-aaaa1111-rss", NOW, NOW, "finished", ("rss",), (SourceReport("feed:甲", stored=2),)))
    store.close()
    return file


@pytest.fixture(autouse=True)
def signals() -> Iterator[None]:
    """Restores signal handlers: the command leaves its own, and processes of later tests would inherit that SIGINT is ignored."""
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


def run_schedule(sources: Path, *words: str) -> str:
    result = CliRunner().invoke(cli.app, ["schedule", *words, "--sources", str(sources)])
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    assert result.exit_code == 0, result.output
    return result.output


def test_jobs_are_listed_with_their_results(sources: Path) -> None:
    rows = {row["job"]: row for row in map(json.loads, run_schedule(sources, "jobs", "--json").splitlines())}
    assert rows["aaaa1111"]["run"] == "20260305-083000-aaaa1111-rss"
    assert rows["aaaa1111"]["brought"].startswith("2 new stories")
    outcome = rows["aaaa1111"]["outcome"][0]
    assert (outcome["stored"], outcome["reason"], rows["aaaa1111"]["result"]) == (2, "finished", "done")
    assert (rows["aaaa2222"]["state"], rows["aaaa2222"]["result"], rows["aaaa2222"]["outcome"]) == ("ended", "lost", [])
    assert rows["aaaa2222"]["brought"] == "no report; see its log"
    assert "aaaa1111" in run_schedule(sources, "jobs")


def test_log_is_shown_without_control_characters(sources: Path) -> None:
    log = run_schedule(sources, "log", "aaaa1")
    assert log == "title \ufffd]0;owned\ufffd\n\tdone\n"


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (("log", "bbbb"), "knows no job 'bbbb'"),
        (("log", "aaaa"), "knows several jobs 'aaaa'"),
        (("log", "aaaa2222"), "has no log any more"),
        (("cancel", "aaaa1111"), "is no longer running"),
        (("cancel", "aaaa2222"), "is no longer running"),
    ],
)
def test_invalid_usage_is_reported(sources: Path, words: tuple[str, ...], why: str) -> None:
    with pytest.raises(NewsportalError, match=why):
        run_schedule(sources, *words)


@pytest.mark.parametrize("words", [("--local", "--scrapyd", "http://127.0.0.1:6800"), ("--setting", "LOG_LEVEL"), ("--jobs", "0")])
def test_conflicting_options_are_refused(sources: Path, words: tuple[str, ...]) -> None:
    assert CliRunner().invoke(cli.app, ["schedule", *words, "--sources", str(sources)]).exit_code == 2


@pytest.mark.parametrize("id", ["5f1c0a2b", "87bf6a1cc77911f0", "by-hand-1"])
def test_job_of_a_run(id: str) -> None:
    assert job_of(Run(f"20260305-083000-{id}-rss", NOW)) == id


def test_broken_off_run_is_distinguished_from_an_ended_one() -> None:
    for run, begins in (
        (Run("a", NOW), "it failed: 0 new stories"),
        (Run("a", NOW, NOW, "shutdown"), "shutdown: "),
        (Run("a", NOW, NOW, "finished"), "0 new stories"),
    ):
        assert format_crawl({"outcome": [outcome_of(run)]}).startswith(begins)


@pytest.mark.slow
def test_once_ends_if_no_host_is_reached(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Such a visit does not count, so its source stays due and would be visited forever if retried as soon as its job ends."""
    monkeypatch.setattr(duties, "AGAIN", 0.0)
    file = tmp_path / "sources.yaml"
    with socket.socket() as bound:  # nothing listens there
        bound.bind(("", 0))
        port = bound.getsockname()[1]
        feeds = "".join(f'  - {{name: 甲{host}, url: "http://127.0.0.{host}:{port}/rss"}}\n' for host in (2, 3))
        file.write_text(f"politeness: {{allow_private: [127.0.0.0/8]}}\nfeeds:\n{feeds}", "utf-8")
        lines = [json.loads(line) for line in run_schedule(file, "--once", "--every", "0.1", "--json").splitlines()]
    assert [event["event"] for event in lines] == ["started", "ended"]
