"""Names as pages write them, and what stands beside names without being one."""

from __future__ import annotations

import pytest

from newsportal import dom
from newsportal.extractors.author import author
from newsportal.extractors.metadata import read_metadata
from newsportal.extractors.origin import origin

ORGANISATION = (
    '<script type="application/ld+json">{"@type": "NewsArticle", "author": {"@type": "Organization", "name": "滨海新闻网"}}</script>'
)
PERSON = (
    '<script type="application/ld+json">{"@graph": [{"@type": "NewsArticle", "author": {"@id": "#p"}}, '
    '{"@type": "Person", "@id": "#p", "name": "甲乙丙"}]}</script>'
)


def page(body: str, head: str = "") -> dom.Document:
    return dom.from_text(
        f"<html><head><title>新线通车_社会_滨海新闻网</title>{head}</head><body>{body}</body></html>", "https://news.example/a"
    )


def read(body: str, head: str = "", lines: tuple[str, ...] = (), language: str = "zh") -> str | None:
    document = page(body, head)
    return author(document, read_metadata(document), lines, language, "新线通车")


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("<p><span>来源：滨海日报</span><span>作者：王甲乙</span></p>", "王甲乙"),
        ("<p><span>来源：滨海日报</span><span>海棠都市网记者 何乙丙</span><a href=/c>评论</a></p>", "何乙丙"),
        ("<p>2024-03-05　来源：滨海日报　记者 李丙　【字号：大 中 小】</p>", "李丙"),
        ("<p>文 / 顾甲乙</p>", "顾甲乙"),
        ("<p>撰文 | 李甲 王乙丙</p>", "李甲; 王乙丙"),
        ("<p>某某新闻记者 段甲乙 廖丙</p>", "段甲乙; 廖丙"),
        ("<p>〔記者紀甲乙／報導〕</p>", "紀甲乙"),
        ("<p>〔記者紀甲乙／台北報導〕</p>", "紀甲乙"),
        ("<p>作者：责任编辑：王甲乙</p>", None),
        ("<p>现场的队伍。某报记者李甲乙 摄</p>", None),
        ("<p>记者从气象局获悉，明天有雨。</p>", None),
        ("<p>By Ada Fenn | November 20</p>", "Ada Fenn"),
        ("<p>Do 25.04. | Von <a>Eva Mustermann</a></p>", "Eva Mustermann"),
        ("<div><a rel=author>Ada Fenn</a> · today</div>", "Ada Fenn"),
        ("<div class=comments><b class=author>路人甲</b></div>", None),
    ],
)
def test_bylines(body: str, expected: str | None) -> None:
    assert read(body) == expected


@pytest.mark.parametrize(
    ("last", "expected"),
    [
        ("雨停了。（张甲乙 李丙）", "张甲乙; 李丙"),
        ("雨停了。（完）", None),
        ("雨停了。（记者王甲乙、李丙）", "王甲乙; 李丙"),
    ],
)
def test_the_last_line_ends_with_its_authors(last: str, expected: str | None) -> None:
    assert read(f"<p>{last}</p>", lines=("雨下了一夜。", last)) == expected


def test_machines_are_told_first_but_not_of_the_site_nor_of_the_editor() -> None:
    assert read("<p>作者：王甲乙</p>", PERSON) == "甲乙丙"
    assert read("<p>作者：王甲乙</p>", ORGANISATION) == "王甲乙"
    assert read("<p>责任编辑：李丁</p>", '<meta name=author content="李丁">') is None
    assert read("<p>正文</p>", '<meta name=author content="滨海新闻网">') is None


def test_an_organisation_signs_only_where_that_is_the_custom() -> None:
    assert read("<p>正文</p>", ORGANISATION) is None
    assert read("<p>text</p>", ORGANISATION.replace("滨海新闻网", "Example News"), language="en") == "Example News"


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("<span>来源：滨海日报</span><span>作者：王甲乙</span>", "滨海日报"),
        ("<p>2024年3月5日 来源：滨海日报 【打印】</p>", "滨海日报"),
        ("<p>稿源：<a>滨海日报</a></p>", "滨海日报"),
        ("<p>By Ada Fenn | November 20 | Source: The Harbour Paper</p>", "The Harbour Paper"),
        ("<p><a>Ada Fenn</a> · <time>today</time> · First published by Pen &amp; Rope</p>", "Pen & Rope"),
        ("<p>据知情人士说，消息的来源不明。</p>", None),
    ],
)
def test_origins(body: str, expected: str | None) -> None:
    document = page(body)
    assert origin(document, read_metadata(document)) == expected
