"""While the sources file is broken, crawls use its last valid version."""

from __future__ import annotations

from pathlib import Path

from newsportal.services.jobs.supervisor import SourcesReloader
from newsportal.sources import load


def test_broken_file_is_replaced_by_last_valid_copy(tmp_path: Path) -> None:
    path = tmp_path / "sources.yaml"
    path.write_text("feeds: [{name: 甲, url: 'https://a.example/rss'}]\n", "utf-8")
    messages: list[str] = []
    reloader = SourcesReloader(path, load(path), messages.append)
    assert not reloader.reload()
    assert reloader.path == path
    path.write_text("feeds: [{name: 甲}]\n", "utf-8")
    assert not reloader.reload()
    copy = reloader.path
    assert copy is not None
    assert copy.parent == path.parent, "relative paths stay valid"
    assert [feed.name for feed in load(copy).feeds] == ["甲"]
    assert [feed.name for feed in reloader.sources.feeds] == ["甲"]
    path.write_text("feeds: [{name: 甲}]\n\n", "utf-8")
    reloader.reload()
    assert len(messages) == 1, "reported once"
    assert "feeds[0].url" in messages[0]
    path.write_text("feeds: [{name: 乙, url: 'https://b.example/rss'}]\n", "utf-8")
    assert reloader.reload()
    assert reloader.path == path
    assert "valid again" in messages[1]
    path.write_text("nonsense", "utf-8")
    reloader.reload()
    assert [feed.name for feed in load(reloader.path).feeds] == ["乙"]
    reloader.remove_copy()
    assert not copy.exists()


def test_broken_file_is_reported_without_copies(tmp_path: Path) -> None:
    path = tmp_path / "sources.yaml"
    path.write_text("feeds: []\n", "utf-8")
    messages: list[str] = []
    file = SourcesReloader(path, load(path), messages.append, copies=False)
    path.write_text("nonsense", "utf-8")
    assert not file.reload()
    assert len(messages) == 1
    assert list(tmp_path.iterdir()) == [path]
