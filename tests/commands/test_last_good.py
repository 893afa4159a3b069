"""A file that broke leaves those who crawl the last good one."""

from __future__ import annotations

from pathlib import Path

from newsportal.commands.last_good import LastGood
from newsportal.sources import load


def test_a_file_that_broke_leaves_the_crawl_the_last_good_one(tmp_path: Path) -> None:
    path = tmp_path / "sources.yaml"
    path.write_text("feeds: [{name: 甲, url: 'https://a.example/rss'}]\n", "utf-8")
    said: list[str] = []
    good = LastGood(path, load(path), said.append)
    assert good.file() == path
    path.write_text("feeds: [{name: 甲}]\n", "utf-8")
    kept = good.file()
    assert kept is not None
    assert kept.parent == path.parent, "relative paths mean the same"
    assert [feed.name for feed in load(kept).feeds] == ["甲"]
    assert [feed.name for feed in good.known.feeds] == ["甲"]
    good.file()
    assert len(said) == 1, "told once"
    assert "feeds[0].url" in said[0]
    path.write_text("feeds: [{name: 乙, url: 'https://b.example/rss'}]\n", "utf-8")
    assert good.file() == path
    assert "mended" in said[1]
    path.write_text("nonsense", "utf-8")
    assert [feed.name for feed in load(good.file()).feeds] == ["乙"]
    good.forget()
    assert not kept.exists()
