"""``newsportal crawl``: choice of spiders, their arguments, and reasons that count as failures."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

from newsportal import cli
from newsportal.cli.crawl import CrawlOptions, failure_reasons, select_spiders, spider_of
from newsportal.items.report import Run
from newsportal.sources import Sources, load

FILE = """\
topics: [{name: 旅游, engines: [bing_news]}, {name: 停用, engines: [baidu_web], enabled: false}]
engines: [{name: 自己的, url: "https://s.example/?q=##QUERY##"}]
feeds: [{name: 甲, url: "https://a.example/rss"}]
regions: [{name: 乙, prefix: "https://b.example/"}]
"""


@pytest.fixture
def sources(tmp_path: Path) -> Sources:
    path = tmp_path / "sources.yaml"
    path.write_text(FILE, "utf-8")
    return load(path)


def test_spiders_with_sources_are_chosen(sources: Sources) -> None:
    assert select_spiders(None, None, None, sources) == ("metasearch", "rss", "hub")
    assert select_spiders(None, None, None, replace_sources(sources, regions=())) == ("metasearch", "rss")
    assert select_spiders(None, None, None, replace_sources(sources, topics=(), feeds=(), regions=())) == ("rss",), (
        "one spider, which reports it"
    )


def replace_sources(sources: Sources, **values: object) -> Sources:
    return sources.model_copy(update=values)


@pytest.mark.parametrize(
    ("spider", "topic", "source", "runs"),
    [
        ("hub", None, None, ("hub",)),
        (None, "旅游", None, ("metasearch",)),
        (None, None, "甲", ("rss",)),
        (None, None, "feed:甲", ("rss",)),
        (None, None, "乙", ("hub",)),
        (None, None, "bing_news", ("metasearch",)),
        (None, None, "engine:bing_news", ("metasearch",)),
        ("rss", None, "feed:甲", ("rss",)),
    ],
)
def test_named_source_decides(sources: Sources, spider: str | None, topic: str | None, source: str | None, runs: tuple[str, ...]) -> None:
    assert select_spiders(spider, topic, source, sources) == runs


@pytest.mark.parametrize(
    ("spider", "topic", "source", "names"),
    [
        ("galaxy", None, None, "metasearch, rss, sitemap, hub, forum, gallery"),
        (None, "停用", None, "旅游"),
        (None, "旅行", None, "旅游"),
        (None, None, "丙", "甲, 乙"),
        ("rss", None, "乙", "spider rss; it has: 甲$"),
        (None, "旅游", "甲", "spider metasearch; it has: bing_news$"),
        (None, None, "baidu_web", "甲, 乙, bing_news$"),
    ],
)
def test_unknown_name_error_lists_the_known_ones(
    sources: Sources, spider: str | None, topic: str | None, source: str | None, names: str
) -> None:
    with pytest.raises(typer.BadParameter, match=names):
        select_spiders(spider, topic, source, sources)


def test_engine_without_topic_cannot_be_visited(sources: Sources) -> None:
    with pytest.raises(typer.BadParameter):
        spider_of("自己的", sources)


def test_command_line_becomes_settings_and_arguments(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    options = CrawlOptions(
        ("rss",), topic="旅游", source="甲", due=True, sources_file=Path("我 的.yaml"), replay=Path("a.warc"), log_level="ERROR"
    )
    settings = options.settings()
    assert settings["NEWSPORTAL_SOURCES"] == str(tmp_path / "我 的.yaml")
    assert settings["NEWSPORTAL_REPLAY"] == str(tmp_path / "a.warc")
    assert "NEWSPORTAL_ARCHIVE" not in settings
    assert options.arguments("rss") == {"source": "甲", "due": "1"}
    assert options.arguments("metasearch") == {"source": "甲", "due": "1", "topic": "旅游"}


def test_once_and_due_exclude_each_other(sources: Sources) -> None:
    result = CliRunner().invoke(cli.app, ["crawl", "--once", "--due", "--sources", str(sources.path)], env={"COLUMNS": "200"})
    assert result.exit_code == 2
    assert "exclude each other" in result.output


@pytest.mark.parametrize(
    ("reason", "why"),
    [
        (None, []),
        ("finished", []),
        ("shutdown", []),
        ("finished, store-unavailable", ["store-unavailable"]),
        ("archive-failed", ["archive-failed"]),
    ],
)
def test_reasons_that_are_failures(reason: str | None, why: list[str]) -> None:
    assert failure_reasons(Run("1", datetime(2026, 3, 5, tzinfo=UTC), reason=reason)) == why
