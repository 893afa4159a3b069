"""Entries are changed and dropped one at a time; every other line is kept, and earlier versions can be restored."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from newsportal.errors import SourcesError
from newsportal.sources import EditConflict, append, digest, edit
from newsportal.sources.changing import NoEntry, drop_entry, name_of, set_entry
from newsportal.sources.editing import KEPT, NoVersion, content_of, earlier_version, rewrite, roll_back, versions, with_change

TEXT = """\
portal:
  title: "甲"   # 标题

feeds:
  # first
  - name: a   # 第一个
    url: 'https://a.example/'   # 在这里
    topics: [旅游]   # flow
    # about category
    category: 财经  # cat
    article:
      body: .x
      title: h1  # t
  # second
  - name: b
    url: "https://b.example/" # bb
  # third
  - name: c
    url: https://c.example/
    topics:
      - 旅游
      # inner
      - 财经
# 话题
topics:
  - name: 旅游
  - name: 财经
# 完
"""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    file = tmp_path / "sources.yaml"
    file.write_text(TEXT, "utf-8")
    return file


def lines(path: Path) -> list[str]:
    return path.read_text("utf-8").splitlines()


def test_values_change_in_place(path: Path) -> None:
    edit(path, set_entry("feeds", "a", {"url": "https://z.example/", "enabled": False, "category": None, "article": {"title": None}}))
    after = path.read_text("utf-8")
    removed = {"    category: 财经  # cat", "      title: h1  # t", "    url: 'https://a.example/'   # 在这里"}
    assert set(TEXT.splitlines()) - set(after.splitlines()) == removed
    assert set(after.splitlines()) - set(TEXT.splitlines()) == {"    url: 'https://z.example/'   # 在这里", "    enabled: false"} or (
        "    url: https://z.example/   # 在这里" in after
    )
    assert "    # about category" in after
    assert "  # second" in after


def test_mapping_without_keys_is_removed(path: Path) -> None:
    edit(path, set_entry("feeds", "a", {"article": {"body": None, "title": None}}))
    assert "article" not in path.read_text("utf-8")
    assert "  # second" in lines(path)
    edit(path, set_entry("feeds", "a", {"article": {"body": ".y", "date": None}}))
    assert "      body: .y" in lines(path)


def test_equal_values_change_nothing(path: Path) -> None:
    before = digest(path)
    assert edit(path, set_entry("feeds", "c", {"topics": ["旅游", "财经"], "enabled": None})) == before
    assert versions(path) == []


@pytest.mark.parametrize("name", ["a", "b", "c"])
def test_dropping_an_entry_keeps_comments_behind_it(path: Path, name: str) -> None:
    edit(path, drop_entry("feeds", name))
    left = path.read_text("utf-8")
    assert f"{name}.example" not in left
    for comment in ("# first", "# second", "# third", "# 话题", "# 完", "# 标题"):
        assert comment in left
    others = {"a", "b", "c"} - {name}
    assert all(f"{other}.example" in left for other in others)


def test_all_entries_can_be_dropped_and_new_ones_added(path: Path) -> None:
    for name in "bca":
        edit(path, drop_entry("feeds", name))
    assert "feeds: []" in lines(path)
    edit(path, lambda document: append(document, "feeds", {"name": "n", "url": "https://n.example/"}))
    assert "  - name: n" in lines(path)
    assert "# 话题" in lines(path)


def test_entry_dropped_meanwhile_is_reported(path: Path) -> None:
    before = path.read_bytes()
    with pytest.raises(NoEntry, match="'x'"):
        edit(path, set_entry("feeds", "x", {"enabled": False}))
    assert path.read_bytes() == before


def test_forum_without_name_is_found_by_host() -> None:
    assert name_of("forums", {"url": "https://bbs.example/all/"}) == "bbs.example all"
    text = b"forums:\n  - url: https://bbs.example/\n"
    assert b"enabled: false" in with_change(text, set_entry("forums", "bbs.example", {"enabled": False}), Path("sources.yaml"))


def test_undo_and_redo(path: Path) -> None:
    edit(path, set_entry("feeds", "a", {"enabled": False}))
    middle = path.read_bytes()
    edit(path, drop_entry("feeds", "b"))
    assert content_of(path, earlier_version(path).id) == middle
    assert roll_back(path, earlier_version(path)) == digest(path)
    assert path.read_bytes() == middle
    roll_back(path, earlier_version(path))
    assert b"b.example" not in path.read_bytes()
    roll_back(path, versions(path)[-1])
    assert path.read_text("utf-8") == TEXT


def test_versions_are_bounded_and_keep_file_permissions(path: Path) -> None:
    path.chmod(0o600)
    for number in range(KEPT + 5):
        edit(path, set_entry("feeds", "b", {"interval": number + 1}))
    saved = versions(path)
    assert len(saved) == KEPT
    assert saved[0].at > saved[-1].at
    folder = path.parent / ".sources.yaml.versions"
    assert folder.stat().st_mode & 0o077 == 0
    if os.name == "posix":
        assert {file.stat().st_mode & 0o777 for file in folder.iterdir()} == {0o600}


@pytest.mark.parametrize("id", ["", "../sources", "/etc/passwd", "20260101T000000000000Z-" + "0" * 32])
def test_only_version_ids_can_be_read(path: Path, id: str) -> None:
    with pytest.raises(NoVersion):
        content_of(path, id)


def test_rewrite_needs_valid_text_and_unchanged_file(path: Path) -> None:
    before = digest(path)
    with pytest.raises(SourcesError, match=r"sources.yaml:2: feeds\[0\].url: "):
        rewrite(path, b"feeds:\n  - {name: a}\n", before)
    assert path.read_text("utf-8") == TEXT
    rewrite(path, b"feeds: []\n", before)
    with pytest.raises(EditConflict):
        rewrite(path, TEXT.encode(), before)
    assert path.read_bytes() == b"feeds: []\n"
    with pytest.raises(NoVersion):
        earlier_version(path, 2)


def test_damaged_version_is_not_restored(tmp_path: Path) -> None:
    file = tmp_path / "sources.yaml"
    file.write_text("feeds:\n  - {name: 甲, url: https://a.example/f}\n  - {name: 乙, url: https://b.example/f}\n", encoding="utf-8")
    edit(file, drop_entry("feeds", "乙"))
    (damaged,) = versions(file)
    (stored,) = (tmp_path / ".sources.yaml.versions").iterdir()
    stored.write_text("feeds:\n  - {name: 甲, url: https://a.example/f}\n", encoding="utf-8")
    with pytest.raises(NoVersion, match="damaged"):
        roll_back(file, damaged)
