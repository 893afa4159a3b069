"""Logs of crawls, workers and supervisors as JSON lines."""

from __future__ import annotations

import json
import logging
from pathlib import Path

import pytest
from forked import run

from newsportal.cli import main
from newsportal.cli.schedule import event_printer


@pytest.mark.slow
def test_each_log_line_is_an_object_with_its_run(tmp_path: Path) -> None:
    (tmp_path / "sources.yaml").write_text(
        'politeness: {allow_private: ["127.0.0.0/8"]}\n'
        'feeds: [{name: 甲, url: "http://127.0.0.1:9/rss"}]\nsitemaps: [{name: 乙, url: "http://127.0.0.1:9/sitemap.xml"}]\n',
        "utf-8",
    )
    result = run(
        "crawl", "--json", "--log-format", "json", "--log-file", "crawl.log", "--log-level", "DEBUG", "--run-id", "seven", cwd=tmp_path
    )
    assert result.returncode == 0, result.stderr
    assert result.stderr == ""
    rows = [json.loads(line) for line in (tmp_path / "crawl.log").read_text("utf-8").splitlines()]
    report = json.loads(result.stdout)
    assert all({"time", "level", "logger", "text"} <= row.keys() for row in rows)
    reports = [row for row in rows if row["logger"].endswith("crawl.extensions") and "finished" in row["text"]]
    assert [
        row["run"].endswith(f"seven-{spider}")
        for row, spider in zip(sorted(reports, key=lambda r: r["run"]), ("rss", "sitemap"), strict=True)
    ]
    assert report["id"].endswith("seven")
    notes = {row["source"]: (row["code"], row["run"].rpartition("-")[2]) for row in rows if "source" in row}
    assert notes == {"feed:甲": ("note.state", "rss"), "sitemap:乙": ("note.state", "sitemap")}


@pytest.mark.parametrize("command", ["crawl", "worker", "schedule", "up", "serve"])
def test_long_running_commands_have_the_log_options(command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "sources.yaml").write_text("feeds: []\n", "utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("newsportal.logs.LogFile", refuse)
    with pytest.raises(SystemExit) as exited:
        main([command, "--log-format", "json", "--log-file", "portal.log"])
    assert exited.value.code == 1


def refuse(*_: object, **__: object) -> None:
    raise PermissionError("not here")


def test_supervisor_events_are_logged(caplog: pytest.LogCaptureFixture, capsys: pytest.CaptureFixture[str]) -> None:
    report = event_printer(as_json=False, log_format="json")
    report("started", {"job": "5f1c", "kind": "crawl", "spider": "rss", "sources": ["feed:甲", "feed:乙"]})
    report("hindered", {"message": "the disk is full"})
    assert capsys.readouterr().out == ""
    first, second = caplog.records
    assert (first.levelno, first.getMessage()) == (logging.INFO, "job 5f1c: rss visits feed:甲, feed:乙")
    assert (first.__dict__["code"], first.__dict__["job"], first.__dict__["source"]) == ("job.started", "5f1c", "feed:甲, feed:乙")
    assert (second.levelno, second.__dict__["code"]) == (logging.WARNING, "job.hindered")
