"""Changes keep comments, never leave an invalid file and never overwrite the change of another writer."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from ruamel.yaml.comments import CommentedMap

from newsportal.errors import SourcesError
from newsportal.sources import EditConflict, append, digest, edit, load
from newsportal.sources.editing import with_change

TEXT = """\
# 我的门户
portal:
  title: "甲"   # 标题

feeds:
  - name: a   # 第一个
    url: 'https://a.example/'   # 在这里
    topics: [旅游]

# 话题
topics:
  - name: 旅游
# 完
"""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    file = tmp_path / "sources.yaml"
    file.write_text(TEXT, "utf-8")
    return file


def title(value: Any) -> Any:
    def change(document: CommentedMap) -> None:
        document["portal"]["title"] = value

    return change


def add_feed(name: str) -> Any:
    return lambda document: append(document, "feeds", {"name": name, "url": f"https://{name}.example/"})


def test_edit_changes_only_its_value(path: Path) -> None:
    before = digest(path)
    after = edit(path, title("乙"), expected=before)
    assert path.read_text("utf-8") == TEXT.replace("甲", "乙")
    assert after == digest(path) != before
    assert load(path).portal.title == "乙"


@pytest.mark.parametrize("indent", ["  - ", "- ", "    - "])
def test_unchanged_document_is_written_identically(indent: str) -> None:
    body = " " * (len(indent) - 2)
    text = f"# 一\nfeeds:\n{indent}name: a # 二\n{body}  url: https://a.example/{'x' * 300}\n\n\n# 三\n{indent}name: b\n{body}  url: 'https://b.example/'\n"
    for content in (text.encode(), text.replace("\n", "\r\n").encode()):
        assert with_change(content, lambda _: None, Path("sources.yaml")) == content


def test_appended_feed_keeps_following_comment_in_place(path: Path) -> None:
    edit(path, add_feed("b"))
    expected = "    topics: [旅游]\n  - name: b\n    url: https://b.example/\n\n# 话题\ntopics:\n"
    assert expected in path.read_text("utf-8")
    assert [feed.name for feed in load(path).feeds] == ["a", "b"]


@pytest.mark.parametrize(
    "text",
    ["version: 1\n", "feeds:\n", "feeds: []\n# end\n", "# nothing but a comment\n", "feeds: [{name: a, url: 'https://a.example/'}]\n"],
)
def test_feed_can_be_added_to_any_file_without_feeds(tmp_path: Path, text: str) -> None:
    path = tmp_path / "sources.yaml"
    path.write_text(text, "utf-8")
    edit(path, add_feed("b"))
    assert load(path).feeds[-1].name == "b"
    assert all(line in path.read_text("utf-8") for line in text.splitlines() if line.startswith("#"))


def test_invalid_result_is_refused(path: Path) -> None:
    with pytest.raises(SourcesError, match=r"sources\.yaml:3: portal\.title: found a list; allowed: text"):
        edit(path, title(["x"]))
    assert path.read_text("utf-8") == TEXT


def test_failed_change_leaves_file_unchanged(path: Path) -> None:
    with pytest.raises(KeyError):
        edit(path, lambda document: document["nothing"]["here"])
    assert path.read_text("utf-8") == TEXT
    assert not [name for name in os.listdir(path.parent) if name.startswith(".sources.yaml.") and not name.endswith(".lock")]


def test_concurrent_change_is_not_overwritten(path: Path) -> None:
    before = digest(path)
    edit(path, title("乙"))
    with pytest.raises(EditConflict, match="changed by someone else"):
        edit(path, title("丙"), expected=before)
    assert load(path).portal.title == "乙"

    def with_an_editor_open(document: CommentedMap) -> None:
        path.write_text(TEXT, "utf-8")
        document["portal"]["title"] = "丁"

    with pytest.raises(EditConflict):
        edit(path, with_an_editor_open)
    assert path.read_text("utf-8") == TEXT


def test_concurrent_writers_lose_nothing(path: Path) -> None:
    names = [f"n{number}" for number in range(8)]
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda name: edit(path, add_feed(name)), names))
    assert sorted(feed.name for feed in load(path).feeds) == ["a", *names]


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root may give files away")
def test_change_by_root_keeps_the_owner(path: Path) -> None:
    os.chown(path, 12345, 23456)
    edit(path, title("乙"))
    files = [path, *path.parent.glob(".*"), *path.parent.glob(".*/*")]
    assert len(files) == 4, "the file, its lock, a version and its folder"
    assert {(file.stat().st_uid, file.stat().st_gid) for file in files} == {(12345, 23456)}


def test_file_mode_and_symlink_are_kept(path: Path, tmp_path: Path) -> None:
    path.chmod(0o640)
    link = tmp_path / "link.yaml"
    link.symlink_to(path)
    edit(link, title("乙"))
    assert link.is_symlink()
    assert path.stat().st_mode & 0o777 == 0o640
    assert load(path).portal.title == "乙"


@pytest.mark.parametrize("content", [b"- a\n", b"a: [", b"\xff\xff", b"a: &a [*a]\n"])
def test_unreadable_file_is_reported(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "sources.yaml"
    path.write_bytes(content)
    with pytest.raises(SourcesError):
        edit(path, title("x"))
    assert path.read_bytes() == content
