"""Files of template libraries: what exceeds the size limit is dropped, waiting pages first; any file can be read again."""

from __future__ import annotations

import json
from datetime import UTC, datetime

import pytest

from newsportal.extractors.papers.url_tree import FORMAT, VERSION, Library, UrlTree, read_library, write_library
from newsportal.text import dom

NOW = datetime(2024, 3, 6, tzinfo=UTC)
LINE = "{}的事情今天有了新的进展，记者从现场发回了报道，当地的居民都在街头谈论它，孩子们也很高兴，大家都在等待明天的结果公布。"


@pytest.fixture(scope="module")
def library() -> Library:
    """Return a library of three sites, each with a template and two waiting pages, one with a Chinese URL."""
    run = UrlTree()
    for site in ("old", "mid", "new"):
        for path, tag in (("news/a", "div"), ("news/b", "div"), ("w/1", "section"), ("等/2", "table><tr><td")):
            html = f"<title>{path}</title><body><h1>{path}</h1><{tag}><p>{LINE.format(path)}</p>"
            run.learn(dom.from_text(html, f"https://{site}.example/{path}"), None, NOW)
    return run.library


def contents(text: str) -> list[tuple[str, int, int]]:
    return [(site, len(branch.templates), len(branch.waiting)) for site, branch in read_library(text).sites.items()]


def size(text: str) -> int:
    return len(text.encode("utf-8"))


def test_file_is_compact_json(library: Library) -> None:
    text = write_library(library)
    assert contents(text) == [("old.example", 1, 2), ("mid.example", 1, 2), ("new.example", 1, 2)]
    found = json.loads(text)
    assert (found["format"], found["version"]) == (FORMAT, VERSION)
    assert text == json.dumps(found, ensure_ascii=False, separators=(",", ":"))
    assert [leaf for _, leaf in read_library(text).sites["new.example"].waiting] == ["1", "2"]


def test_waiting_pages_are_dropped_before_templates(library: Library) -> None:
    full = size(write_library(library))
    steps = []
    for most in range(full + 12, 60, -3):
        text = write_library(library, most)
        assert size(text) <= most
        if not steps or steps[-1] != contents(text):
            steps.append(contents(text))
    waiting = [sum(row[2] for row in step) for step in steps]
    templates = [sum(row[1] for row in step) for step in steps]
    assert waiting == [6, 5, 4, 3, 2, 1, 0, 0, 0, 0]
    assert templates == [3, 3, 3, 3, 3, 3, 3, 2, 1, 0]
    assert steps[2] == [("old.example", 1, 0), ("mid.example", 1, 2), ("new.example", 1, 2)]
    assert steps[-2] == [("new.example", 1, 0)]


def test_newest_waiting_page_is_kept(library: Library) -> None:
    text = write_library(library, size(write_library(library)) - 10)
    assert [leaf for _, leaf in read_library(text).sites["old.example"].waiting] == ["2"]
