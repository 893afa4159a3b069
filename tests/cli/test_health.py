"""``newsportal source health``: all sources, JSON, exit status, one source, unknown source."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from factories import empty_store
from typer.testing import CliRunner

from newsportal.cli import app
from newsportal.cli.source import day_bars
from newsportal.items.visits import Visit

SOURCES = """\
store: sqlite:///data/newsportal.db
topics:
  - {name: 旅游, keywords: [旅游], engines: [baidu_news]}
feeds:
  - {name: 好报, url: "https://good.example/feed"}
  - {name: 坏报, url: "https://bad.example/feed"}
  - {name: 停报, url: "https://off.example/feed", enabled: false}
"""

HOUR = timedelta(hours=1)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "sources.yaml"
    path.write_text(SOURCES, "utf-8")
    now = datetime.now(UTC)
    store = empty_store(tmp_path / "data/newsportal.db")
    for number in range(5):
        at = now - number * HOUR
        store.visits.add(Visit("feed:好报", at, list_pages=1, entries=9, new=2, stored=2))
        store.visits.add(Visit("feed:坏报", at, list_failed={"http-404": 1}))
    store.close()
    return path


def _run(*arguments: str) -> tuple[int, str]:
    result = CliRunner().invoke(app, ["source", "health", *arguments])
    return result.exit_code, result.stdout


def test_all_sources_with_reason_and_remedy(file: Path) -> None:
    status, text = _run("--sources", str(file))
    assert status == 0
    assert text.splitlines()[0].startswith("failing")
    assert "its page no longer exists (http-404)" in text
    assert "→ Find its new URL" in text
    assert "1 failing, 1 new, 1 healthy, 1 off" in text
    assert "engine:baidu_news" in text


def test_json_and_bad_sources_only(file: Path) -> None:
    status, text = _run("--sources", str(file), "--json", "--bad")
    assert status == 1
    (row,) = map(json.loads, text.splitlines())
    assert (row["key"], row["state"], row["cause"], row["failures_in_row"]) == ("feed:坏报", "failing", "gone", 5)
    status, text = _run("--sources", str(file), "--json")
    rows = {row["key"]: row for row in map(json.loads, text.splitlines())}
    assert status == 0
    assert {key: row["state"] for key, row in rows.items()} == {
        "feed:坏报": "failing",
        "engine:baidu_news": "new",
        "feed:好报": "healthy",
        "feed:停报": "off",
    }
    assert sum(rows["feed:好报"]["days"]) == 10


def test_single_or_unknown_source(file: Path) -> None:
    assert _run("好报", "--bad", "--sources", str(file))[0] == 0
    result = CliRunner().invoke(app, ["source", "health", "无名", "--sources", str(file)])
    assert result.exit_code == 1
    assert "no source '无名'" in str(result.exception)


def test_day_bars() -> None:
    assert day_bars((0, 1, 4, 8)) == "·▁▄█"
    assert day_bars((0, 0)) == "··"
    assert day_bars(()) == ""
