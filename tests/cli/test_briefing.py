"""``newsportal briefing``: a day's sentences as Markdown, HTML and JSON."""

from __future__ import annotations

import json
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

import pytest
from typer.testing import CliRunner

from newsportal.cli import app
from newsportal.items import Article, Link
from newsportal.sources import load
from newsportal.store import open_store

TEXT = "本报讯（记者 王河）远山船厂的新渡轮今天下水，渡轮载客三百人。首航定在五月一日，票价十元。"
DAY = datetime(2026, 5, 20, 4, tzinfo=UTC)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "sources.yaml"
    path.write_text("topics: [{name: 航运, engines: [bing_news]}]\nstore: sqlite:///store.db\n", "utf-8")
    with closing(open_store(load(path).store)) as store:
        link = Link("https://a.example/1?a=1&b=2", "feed:a")
        fields = {"url": link.url, "link": link, "fetched": DAY, "identity": link.url, "title": "渡轮<下水>", "text": TEXT}
        store.add(Article(**fields, site="晨光网", topics=("航运",), published=DAY), [], now=DAY)  # type: ignore[arg-type]
    return path


def run(file: Path, *words: str) -> str:
    result = CliRunner().invoke(app, ["briefing", *words, "--sources", str(file)])
    return result.output


def test_briefing_in_three_formats(file: Path) -> None:
    text = run(file, "--date", "2026-05-20")
    assert "## 渡轮<下水> (1)" in text
    assert "远山船厂的新渡轮今天下水，渡轮载客三百人。首航定在五月一日，票价十元。 ([晨光网](<https://a.example/1?a=1&b=2>))" in text
    page = run(file, "--date", "2026-05-20", "--format", "html", "--topic", "航运")
    assert "<h2>渡轮&lt;下水&gt;</h2>" in page
    assert 'href="https://a.example/1?a=1&amp;b=2"' in page
    (event,) = json.loads(run(file, "--date", "2026-05-20", "--json"))["events"]
    assert [sentence["text"] for sentence in event["sentences"]] == [
        "远山船厂的新渡轮今天下水，渡轮载客三百人。",
        "首航定在五月一日，票价十元。",
    ]


def test_empty_day_and_invalid_date(file: Path) -> None:
    assert "nothing new" in run(file, "--date", "2026-05-19")
    assert "is not a date" in run(file, "--date", "gestern")
    assert "out of range" in run(file, "--date", "9999-12-31")
