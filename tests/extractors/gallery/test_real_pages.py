"""Real pages: next pages match the gold data, and articles are not mistaken for slideshows."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from stories import NOW

from newsportal.errors import NotApplicable
from newsportal.extractors.gallery import read
from newsportal.items import Page
from newsportal.text import dom

pytestmark = [pytest.mark.data, pytest.mark.slow]


def pages(folder: Path) -> Iterator[tuple[dict[str, Any], dom.Document]]:
    for file in sorted(folder.glob("*.html.gz")):
        gold = json.loads(file.with_name(file.name.replace(".html.gz", ".json")).read_text("utf-8"))
        yield gold, dom.document(Page(gold.get("url") or "about:blank", gzip.decompress(file.read_bytes()), NOW))


def test_next_pages_match_gold_data(data: Path) -> None:
    wrong = []
    for gold, document in pages(data / "pager"):
        try:
            found = read(document, now=NOW)
        except NotApplicable:
            following, count = None, 1
        else:
            following, count = found.next, max(len(found.pages), 1)
        if following != gold["next"] or (gold["total_pages"] or count) != count:
            wrong.append((gold["id"], following, count))
    assert wrong == []


def test_articles_are_rarely_slideshows(data: Path) -> None:
    """The exceptions hold the images of their body: 11 of 270."""
    complete = total = 0
    for folder in ("extraction/fundus-tests", "extraction/zh-news", "extraction/magic-article"):
        for _, document in pages(data / folder):
            total += 1
            try:
                complete += read(document, now=NOW).whole
            except NotApplicable:
                continue
    assert total > 200
    assert complete <= 14
