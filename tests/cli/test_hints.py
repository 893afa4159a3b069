"""What a newcomer is told beside a result."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

from newsportal.cli import hints
from newsportal.items.report import Run, SourceReport
from newsportal.sources import Sources, load

EMPTY = "version: 1\n"
FEED = 'feeds: [{name: 甲, url: "https://a.example/rss"}]\n'


def known(folder: Path, text: str = FEED) -> Sources:
    path = folder / "sources.yaml"
    path.write_text(text, "utf-8")
    return load(path)


def ended(*rows: SourceReport) -> Run:
    return Run("1", datetime(2026, 3, 1, tzinfo=UTC), sources=rows)


def test_a_run_that_reached_nobody_is_offline_and_says_so(tmp_path: Path) -> None:
    run = ended(SourceReport("feed:甲", list_failed={"robots-unreachable": 1}), SourceReport("feed:乙", list_failed={"dns": 2}))
    assert hints.offline(run)
    assert hints.after(run, known(tmp_path)) == [hints.NO_NETWORK]


def test_one_answer_of_any_kind_proves_a_network() -> None:
    lost = SourceReport("feed:甲", list_failed={"dns": 1})
    assert not hints.offline(ended(lost, SourceReport("feed:乙", list_pages=1)))
    assert not hints.offline(ended(lost, SourceReport("feed:乙", not_modified=1)))
    assert not hints.offline(ended(lost, SourceReport("feed:乙", list_failed={"http-404": 1})))
    assert not hints.offline(ended())


def test_links_that_are_left_are_told_as_put_off_not_lost(tmp_path: Path) -> None:
    run = ended(SourceReport("feed:甲", list_pages=1, entries=3, new=3, fetched=1, parsed=1, stored=1))
    assert hints.after(run, known(tmp_path)) == ["2 links left when the crawl ended: the next one takes them up"]


def test_a_file_without_sources_leads_to_the_first_one(tmp_path: Path) -> None:
    assert "newsportal source add" in hints.after(ended(), known(tmp_path, EMPTY))[0]
    assert hints.after(ended(), known(tmp_path)) == []  # --due, and nothing is


def test_the_packaged_file_is_not_passed_off_as_one_here(tmp_path: Path) -> None:
    mine = known(tmp_path)
    assert hints.packaged(mine) is None
    (tmp_path / "sources.yaml").unlink()
    assert "newsportal source init" in str(hints.packaged(mine))


def test_numbers_agree_with_their_nouns() -> None:
    assert [hints.counted(number, "story") for number in (0, 1, 2)] == ["0 stories", "1 story", "2 stories"]
    assert hints.counted(2, "page") == "2 pages"


def test_a_topic_that_is_not_there_is_told_with_those_that_are(tmp_path: Path) -> None:
    mine = known(tmp_path, "topics: [{name: 旅游, engines: [bing_news]}, {name: 科技, engines: [bing_news]}]\n")
    assert hints.unknown_topic(mine, "旅游") is None
    assert hints.unknown_topic(mine, None) is None
    assert hints.unknown_topic(mine, "旅游业") == "sources.yaml has no topic '旅游业'; it has: 旅游, 科技 (did you mean '旅游'?)"
