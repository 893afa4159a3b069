"""``newsportal source schedule``: next visit, reason, and expected entries."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path

import pytest
from factories import run_command

from newsportal.cli.source import hour_bars
from newsportal.items.visits import Visit
from newsportal.store import open_store
from newsportal.store.crawl_state import Subscription
from newsportal.store.results import SourceState

SOURCES = """\
store: sqlite:///data/newsportal.db
schedule: {policy: POLICY}
topics:
  - {name: 旅游, keywords: [旅游], engines: [baidu_news]}
feeds:
  - {name: 快报, url: "https://quick.example/feed"}
  - {name: 定报, url: "https://fixed.example/feed", interval: 300}
  - {name: 停报, url: "https://off.example/feed", enabled: false}
"""


def file(tmp_path: Path, policy: str = "learnt") -> Path:
    path = tmp_path / "sources.yaml"
    path.write_text(SOURCES.replace("POLICY", policy), "utf-8")
    now = datetime.now(UTC)
    store = open_store(f"sqlite:///{tmp_path}/data/newsportal.db")
    for number in range(30):
        store.visits.add(Visit("feed:快报", now - timedelta(hours=number), list_pages=1, entries=9, new=4, stored=4))
    store.save_source_state(SourceState("feed:快报", last_run=now, last_success=now, next_visit=now + timedelta(minutes=25)))
    store.save_source_state(SourceState("feed:定报", last_run=now, last_success=now))
    store.close()
    return path


run = partial(run_command, "source", "schedule")


def test_soonest_source_comes_first_with_its_reason(tmp_path: Path) -> None:
    result = run("--sources", str(file(tmp_path)), "--json")
    rows = [json.loads(line) for line in result.stdout.splitlines()]
    assert [row["key"] for row in rows] == ["engine:baidu_news", "feed:快报", "feed:定报"]
    assert rows[0]["reason"] == "never visited"
    assert "entries a day" in rows[1]["reason"]
    assert len(rows[1]["expected"]) == 24
    assert sum(rows[1]["expected"]) > 40
    assert (rows[2]["policy"], rows[2]["reason"], rows[2]["expected"]) == ("fixed", "every 300 minutes", None)


def test_expected_entries_as_bars(tmp_path: Path) -> None:
    result = run("快报", "--sources", str(file(tmp_path)))
    assert result.exit_code == 0
    assert "feed:快报" in result.stdout
    assert "定报" not in result.stdout
    assert hour_bars([0, 1, 4, 99, 0.1]) == " ▂██ "


def test_source_with_hub(tmp_path: Path) -> None:
    path, now = file(tmp_path), datetime.now(UTC)
    store = open_store(f"sqlite:///{tmp_path}/data/newsportal.db")
    day = timedelta(days=1)
    store.subscriptions.save(Subscription("feed:快报", "https://hub.example/", "t", "c", "s", until=now + day, pushed=now - day))
    store.close()
    row = json.loads(run("快报", "--sources", str(path), "--json").stdout)
    assert row["hub"] is True
    assert "its WebSub hub notifies" in row["reason"]


def test_hours_of_paper_b(tmp_path: Path) -> None:
    result = run("快报", "--sources", str(file(tmp_path, "hours")), "--json")
    assert json.loads(result.stdout)["hours_on"] == list(range(6, 24))


@pytest.mark.parametrize("name", ["nobody", "停报"])
def test_source_without_visits_is_reported(tmp_path: Path, name: str) -> None:
    result = run(name, "--sources", str(file(tmp_path)))
    assert result.exit_code != 0
    assert "source list" in str(result.exception)
