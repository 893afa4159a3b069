"""``newsportal rising``: table, JSON, and past times."""

from __future__ import annotations

import json
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from factories import run_command

from newsportal.items import Article, Link
from newsportal.sources import load
from newsportal.store import open_store

NOW = datetime(2026, 5, 20, 8, tzinfo=UTC)
AT = "2026-05-20T08:00+00:00"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """One story a day about 天气 on ten days, and five about 台风 on the last."""
    path = tmp_path / "sources.yaml"
    path.write_text("topics: [{name: 航运, engines: [bing_news]}]\nstore: sqlite:///store.db\n", "utf-8")
    with closing(open_store(load(path).store)) as store:
        for number, word in enumerate([*["天气"] * 10, *["台风"] * 5]):
            when = NOW - (timedelta(days=number + 1, hours=1) if number < 10 else timedelta(hours=number))
            link = Link(f"https://s{number % 3}.example/{number}", "feed:a")
            fields = {
                "url": link.url,
                "link": link,
                "fetched": when,
                "identity": link.url,
                "title": word,
                "text": "正文",
                "keywords": (word,),
            }
            store.add(Article(**fields, site=f"s{number % 3}", published=when), [], now=when)  # type: ignore[arg-type]
    return path


def run(file: Path, *words: str) -> str:
    return run_command("rising", *words, "--sources", file).output


def test_rising_at_a_past_time(file: Path) -> None:
    text = run(file, "--at", AT)
    assert "5 stories, 10 in the 28 days before" in text
    assert "台风" in text
    assert "天气" not in text
    found = json.loads(run(file, "--at", AT, "--json"))
    assert [(word["title"], word["stories"], word["expected"]) for word in found["words"]] == [("台风", 5, 0.5)]


def test_nothing_rises_or_too_few_stories(file: Path) -> None:
    assert "nothing rises" in run(file, "--at", "2026-05-18")
    assert "too few stories" in run(file, "--at", AT, "--days", "7")


def test_invalid_usage_is_reported(file: Path) -> None:
    assert "is not a date" in run(file, "--at", "gestern")
    assert "out of range" in run(file, "--at", "0001-01-02")
    assert "has no topic" in run(file, "--topic", "无")
