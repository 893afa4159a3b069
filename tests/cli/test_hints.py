"""Hints for new users printed after a result."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from newsportal.cli import hints
from newsportal.items.report import Run, SourceReport
from newsportal.sources import Sources, load

EMPTY = "version: 1\n"
FEED = 'feeds: [{name: 甲, url: "https://a.example/rss"}]\n'


def sources_with(folder: Path, text: str = FEED) -> Sources:
    path = folder / "sources.yaml"
    path.write_text(text, "utf-8")
    return load(path)


def ended_run(*rows: SourceReport) -> Run:
    return Run("1", datetime(2026, 3, 1, tzinfo=UTC), sources=rows)


def test_run_without_any_response_is_offline(tmp_path: Path) -> None:
    run = ended_run(SourceReport("feed:甲", list_failed={"robots-unreachable": 1}), SourceReport("feed:乙", list_failed={"dns": 2}))
    assert hints.is_offline(run)
    assert hints.hints_after_crawl(run, sources_with(tmp_path)) == [hints.NO_NETWORK]


def test_any_response_proves_a_network() -> None:
    unreachable = SourceReport("feed:甲", list_failed={"dns": 1})
    assert not hints.is_offline(ended_run(unreachable, SourceReport("feed:乙", list_pages=1)))
    assert not hints.is_offline(ended_run(unreachable, SourceReport("feed:乙", not_modified=1)))
    assert not hints.is_offline(ended_run(unreachable, SourceReport("feed:乙", list_failed={"http-404": 1})))
    assert not hints.is_offline(ended_run())


def test_remaining_links_are_announced(tmp_path: Path) -> None:
    run = ended_run(SourceReport("feed:甲", list_pages=1, entries=3, new=3, fetched=1, parsed=1, stored=1))
    assert hints.hints_after_crawl(run, sources_with(tmp_path)) == ["2 links left when the crawl ended: the next crawl continues with them"]


def test_empty_file_hints_at_source_add(tmp_path: Path) -> None:
    assert "newsportal source add" in hints.hints_after_crawl(ended_run(), sources_with(tmp_path, EMPTY))[0]
    assert hints.hints_after_crawl(ended_run(), sources_with(tmp_path)) == []  # --due, with nothing due


def test_packaged_file_is_mentioned(tmp_path: Path) -> None:
    sources = sources_with(tmp_path)
    assert hints.packaged_file_hint(sources) is None
    (tmp_path / "sources.yaml").unlink()
    assert "newsportal source init" in str(hints.packaged_file_hint(sources))


def test_numbers_agree_with_nouns() -> None:
    assert [hints.counted(number, "story") for number in (0, 1, 2)] == ["0 stories", "1 story", "2 stories"]
    assert hints.counted(2, "page") == "2 pages"


def test_unknown_topic_error_lists_topics(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    sources = sources_with(tmp_path, "topics: [{name: 旅游, engines: [bing_news]}, {name: 科技, engines: [bing_news]}]\n")
    for topic in ("旅游", None, "旅游业"):
        hints.warn_unknown_topic(sources, topic)
    assert capsys.readouterr().err == "sources.yaml has no topic '旅游业'; it has: 旅游, 科技 (did you mean '旅游'?)\n"
