"""Lines stay separate in the markup of every extractor, rule and feed."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from newsportal.extractors import extractor
from newsportal.extractors.article.rule import ArticleRule, apply
from newsportal.extractors.article.tidy import markup_of, read_fragment
from newsportal.items import Link
from newsportal.text import dom

NOW = datetime(2024, 3, 6, 12, 0, tzinfo=UTC)
URL = "https://news.example/a.html"
ONE = "今天早上六点，滨海新线的首班列车从东站出发，车厢里坐满了赶早的市民和慕名而来的铁路爱好者。"
TWO = "据介绍，这条线路全长四十二公里，共设十一座车站，建成之后两地之间的通行时间将缩短到半个小时以内。"
BODY = f"<div>{ONE}</div><div>{TWO}</div>"
EXPECTED = [ONE, TWO]


def lines(html: str | None) -> list[str]:
    return dom.lines_of(dom.parse_html(html or ""))


@pytest.mark.parametrize("name", ["best", "cevc", "cetd", "cepr", "cetr", "table_stats", "summary_anchor"])
@pytest.mark.parametrize("tag", ["div", "table", "section"])
def test_every_extractor_keeps_lines_separate(name: str, tag: str) -> None:
    inner = f"<tr><td>{BODY}</td></tr>" if tag == "table" else BODY
    document = dom.from_text(f"<html><head><title>滨海新线通车</title></head><body><{tag}>{inner}</{tag}></body></html>", URL)
    found = extractor(name)(document, Link(URL, "feed:x", summary=ONE), NOW)
    assert found.text
    assert lines(found.html) == found.text.split("\n")


def test_rules_and_feeds_keep_lines_separate() -> None:
    page = dom.from_text(f"<body><form id=a>{BODY}</form></body>", URL)
    assert lines(apply(ArticleRule(body="#a"), page, NOW).html) == EXPECTED
    assert lines(read_fragment(BODY, URL).html) == lines(read_fragment(f"<form>{BODY}</form>", URL).html) == EXPECTED
    assert lines(read_fragment(f"\x01<div>{ONE}<i>\x01</i></div>{TWO}\x01", URL).html) == EXPECTED, "lxml refuses control characters"
    assert lines(read_fragment(f"{ONE}<div>{TWO}</div>", URL).html) == EXPECTED


def test_node_is_not_modified() -> None:
    node = dom.parse_html(f"<body><div>{ONE}<div>{TWO}</div></div></body>")
    before = dom.html_of(node)
    assert markup_of(node) != before
    assert dom.html_of(node) == before
