"""Changing sources from the command line: enabled, disabled, removed, visited, and undone."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from newsportal.cli import app
from newsportal.sources import load
from newsportal.sources.timing import due_at, rules
from newsportal.store import open_store
from newsportal.store.results import SourceState

TEXT = """\
store: sqlite:///data/newsportal.db
feeds:
  # 早报
  - name: 甲报
    url: https://a.example/feed
  - name: 乙
    url: https://b.example/feed
sitemaps:
  - {name: 乙, url: "https://b.example/sitemap.xml"}
"""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    file = tmp_path / "sources.yaml"
    file.write_text(TEXT, "utf-8")
    return file


def run(path: Path, *arguments: str) -> Result:
    return CliRunner().invoke(app, ["source", *arguments, "--sources", str(path)])


def test_disable_enable_remove_and_undo(path: Path) -> None:
    assert run(path, "disable", "甲报").exit_code == 0
    assert "    enabled: false" in path.read_text("utf-8")
    assert run(path, "enable", "feed:甲报").exit_code == 0
    assert path.read_text("utf-8") == TEXT
    assert run(path, "remove", "甲报").exit_code == 0
    assert [feed.name for feed in load(path).feeds] == ["乙"]
    assert "# 早报" in path.read_text("utf-8")
    result = run(path, "undo")
    assert result.exit_code == 0
    assert path.read_text("utf-8") == TEXT
    assert len([json.loads(line) for line in run(path, "undo", "--json").stdout.splitlines()]) == 4
    assert run(path, "undo", "--steps", "4").exit_code == 0
    assert path.read_text("utf-8") == TEXT


def test_several_sources_are_changed_together_or_not_at_all(path: Path) -> None:
    assert run(path, "disable", "甲报", "sitemap:乙").exit_code == 0
    sources = load(path)
    assert [source.enabled for source in (*sources.feeds, *sources.sitemaps)] == [False, True, False]
    assert run(path, "interval", "30", "甲报", "feed:乙").exit_code == 0
    assert [feed.interval for feed in load(path).feeds] == [30, 30]
    assert run(path, "interval", "0", "甲报").exit_code == 0
    assert [feed.interval for feed in load(path).feeds] == [None, 30]
    before = path.read_text("utf-8")
    assert run(path, "remove", "甲报", "没有").exit_code == 1
    assert path.read_text("utf-8") == before
    assert run(path, "remove", "甲报", "feed:乙").exit_code == 0
    assert load(path).feeds == ()
    assert run(path, "undo").exit_code == 0
    assert path.read_text("utf-8") == before, "undone as one change"


def test_ambiguous_name_changes_nothing(path: Path) -> None:
    several = run(path, "remove", "乙")
    assert several.exit_code == 1
    assert "feed:乙, sitemap:乙" in str(several.exception)
    exact = run(path, "remove", "feed:乙", "--sources", str(path))
    assert exact.exit_code == 0
    assert run(path, "undo", "--steps", "9").exit_code == 1
    assert "甲报" in str(run(path, "disable", "甲").exception)


def test_visit_makes_a_source_due_at_once(path: Path) -> None:
    sources, now = load(path), datetime.now(UTC)
    store = open_store(sources.store)
    store.save_source_state(SourceState("feed:甲报", last_run=now, last_success=now, next_visit=now + timedelta(hours=5)))
    assert run(path, "visit", "甲报").exit_code == 0
    assert due_at(store.source_state("feed:甲报"), rules(sources, sources.feeds[0]), datetime.now(UTC)) <= datetime.now(UTC)
    until = now + timedelta(hours=3)
    store.save_source_state(SourceState("feed:甲报", last_run=now, next_visit=now + timedelta(hours=5), rest_until=until))
    assert "sent Retry-After" in run(path, "visit", "甲报").stdout
    assert due_at(store.source_state("feed:甲报"), rules(sources, sources.feeds[0]), now) == until
    store.close()
    assert run(path, "visit", "丙").exit_code == 1
