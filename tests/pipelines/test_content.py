"""Doubtful and garbled extractions are counted; results of rules and feeds are not doubted."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from newsportal.extractors.pages import CUT, MAX_TEXT, fill
from newsportal.items import Article, Extraction, Link
from newsportal.pipelines.content import doubts

TEXT = "今天早上六点，滨海新线的首班列车从东站出发，车厢里坐满了赶早的市民。"
ARTICLE = Article("https://a.example/1", Link("https://a.example/1", "feed:a"), datetime(2026, 3, 1, tzinfo=UTC))


@pytest.mark.parametrize(
    ("text", "confidence", "expected"),
    [
        (TEXT, 0.95, []),
        (TEXT, None, []),
        (TEXT, 0.6, ["shaky"]),
        (TEXT.encode("gb18030").decode("utf-8", "replace"), 0.9, ["garbled"]),
        (TEXT.encode().decode("gb18030", "replace"), 0.5, ["shaky", "garbled"]),
    ],
)
def test_doubtful_and_garbled_texts_are_counted(text: str, confidence: float | None, expected: list[str]) -> None:
    assert doubts(ARTICLE, Extraction(text=text, confidence=confidence)) == expected


def test_text_of_rule_is_not_doubted() -> None:
    ruled = replace(ARTICLE, text=TEXT)
    assert doubts(ruled, Extraction(text="x", confidence=0.1)) == []


def test_overlong_text_is_truncated_with_notice() -> None:
    line = "文" * 99
    found = Extraction(title="题", text="\n".join([line] * 50_000), html=f"<p>{line}</p>" * 50_000)
    filled = fill(ARTICLE, found)
    assert filled.text is not None
    assert filled.html is not None
    assert len(filled.text) == MAX_TEXT
    assert len(filled.html) < 2 * MAX_TEXT
    assert filled.text.endswith(f"\n{CUT}")
    assert filled.html.endswith(f"</p><p>{CUT}</p>")
    assert fill(filled, found) == filled
    extraction = Extraction(title="题", text="\n".join([line] * 1000), html=f"<p>{line}</p>" * 1000)
    assert (fill(ARTICLE, extraction).text, fill(ARTICLE, extraction).html) == (extraction.text, extraction.html)


@pytest.mark.parametrize(
    ("configured", "page", "site"), [("滨江晚报", "滨江晚报官网", "滨江晚报"), (None, "滨江晚报官网", "滨江晚报官网"), (None, None, None)]
)
def test_site_name_of_source_precedes_that_of_page(configured: str | None, page: str | None, site: str | None) -> None:
    article = replace(ARTICLE, link=replace(ARTICLE.link, site=configured))
    assert fill(article, Extraction(title="题", text=TEXT, site=page)).site == site
