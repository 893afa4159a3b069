"""Author names as pages write them, and similar text that is not a name."""

from __future__ import annotations

import pytest

from newsportal.extractors.fields.author import find_author, find_origin
from newsportal.extractors.fields.metadata import read_metadata
from newsportal.text import dom

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
    return find_author(document, read_metadata(document), lines, language, "新线通车")


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
        ("<p>【某某日報記者林甲乙台北報導】</p>", "林甲乙"),
        ("<p>本报记者 张甲乙 通讯员 李丙丁</p>", "张甲乙; 李丙丁"),
        ("<p>记者张甲乙 实习生李丙丁</p>", "张甲乙; 李丙丁"),
        ("<p>采写：南方某报记者 张甲乙</p>", "张甲乙"),
        ("<p>文/某某晚报全媒体记者 张甲乙</p>", "张甲乙"),
        ("<p>文丨张甲乙 李丙丁</p>", "张甲乙; 李丙丁"),
        ("<p>图/文 张甲乙</p>", "张甲乙"),
        ("<p>報導╱林甲乙</p>", "林甲乙"),
        ("<p>撰稿人：张甲乙</p>", "张甲乙"),
        ("<p>通讯员：王甲乙</p>", "王甲乙"),
        ("<p>某报记者 王甲乙 摄影报道</p>", "王甲乙"),
        ("<p>作者：本报评论员</p>", "本报评论员"),
        ("<p>作者：记者王甲乙</p>", "王甲乙"),
        ("<p>作者：王甲乙2024-03-05</p>", "王甲乙"),
        ("<p>作者：阿某古丽·买某提</p>", "阿某古丽·买某提"),
        ("<div class=author-login>账号</div>", None),
        ("<p>By Ada Fenn, Bob Stone and Cy Marsh</p>", "Ada Fenn; Bob Stone; Cy Marsh"),
        ("<p>By Ada Fenn, Senior Reporter</p>", "Ada Fenn"),
        ("<div class=byline>Ada Fenn<span class=role>Reporter</span></div>", "Ada Fenn"),
        ("<p><a href=https://news.example/author/ada-fenn/>Ada Fenn</a></p>", "Ada Fenn"),
        ("<p><a href=https://news.example/authors/>All authors</a></p>", None),
        ("<p>〔記者紀甲乙／台北報導〕</p>", "紀甲乙"),
        ("<p>作者：责任编辑：王甲乙</p>", None),
        ("<p>现场的队伍。某报记者李甲乙 摄</p>", None),
        ("<p>记者从气象局获悉，明天有雨。</p>", None),
        ("<p>By Ada Fenn | November 20</p>", "Ada Fenn"),
        ("<p>Do 25.04. | Von <a>Eva Mustermann</a></p>", "Eva Mustermann"),
        ("<div><a rel=author>Ada Fenn</a> · today</div>", "Ada Fenn"),
        ("<div class=comments><b class=author>路人甲</b></div>", None),
        ("<p>Written by</p><p>Ada Fenn</p>", "Ada Fenn"),
        ("<p><span>作者</span></p><p>王甲乙</p>", "王甲乙"),
        ("<p>Posted by ada at March 5, 2024</p>", "ada"),
        ("<p>Posted by <a>Ada Fenn</a> <a>59 Comments</a></p>", "Ada Fenn"),
        ("<div class=has-sidebar><h1>新线通车</h1><b class=author>王甲乙</b></div>", "王甲乙"),
        ("<h1>新线通车</h1><div class=sidebar><b class=author>王甲乙</b></div>", None),
        ("<p class=author-box-title>About the Author</p><b class=author-name>Ada Fenn</b>", "Ada Fenn"),
    ],
)
def test_bylines(body: str, expected: str | None) -> None:
    assert read(body) == expected


@pytest.mark.parametrize(
    ("last", "expected"),
    [
        ("雨停了。（张甲乙 李丙）", "张甲乙; 李丙"),
        ("雨停了。（完）", None),
        ("雨停了。(文/图 张甲乙 李丙丁)", "张甲乙; 李丙丁"),
        ("雨停了。（记者王甲乙、李丙）", "王甲乙; 李丙"),
    ],
)
def test_authors_at_end_of_last_line(last: str, expected: str | None) -> None:
    assert read(f"<p>{last}</p>", lines=("雨下了一夜。", last)) == expected


def test_declared_author_is_preferred_unless_site_or_editor() -> None:
    assert read("<p>作者：王甲乙</p>", PERSON) == "甲乙丙"
    assert read("<p>作者：王甲乙</p>", ORGANISATION) == "王甲乙"
    assert read("<p>责任编辑：李丁</p>", '<meta name=author content="李丁">') is None
    assert read("<p>正文</p>", '<meta name=author content="滨海新闻网">') is None


def test_author_in_other_metadata() -> None:
    card = '<meta name=twitter:label1 content="Written by"><meta name=twitter:data1 content="Ada &amp;amp; Bob">'
    assert read("<p>text</p>", card) == "Ada & Bob"
    assert read("<p>text</p>", card.replace("Written by", "Est. reading time")) is None
    paper = "".join(f'<meta name=citation_author content="{name}">' for name in ("Fenn, Ada", "Bob Stone"))
    assert read("<p>text</p>", paper) == "Ada Fenn; Bob Stone"
    keys = "<meta name=author content=page.head.author>"
    assert read("<b class=author>Ada Fenn</b>", keys) == "Ada Fenn"


def test_author_elements_after_site_byline_are_ignored() -> None:
    site = "<meta property=og:site_name content='Harbour News'>"
    names = "<b class=author>{}</b><p>text</p><b class=author>Ada Fenn</b>"
    assert read(names.format("Harbour News"), site, language="en") == "Harbour News"
    assert read(names.format("Share"), site, language="en") == "Ada Fenn"


def test_organisation_as_author_depends_on_language() -> None:
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
        ("<p>本文来源于 <a>《滨海日报》</a> 2024年03月05日</p>", "滨海日报"),
        ("<p><span>发表于</span> <span>来源</span><span>滨海日报</span></p>", "滨海日报"),
        ("<p>来源：( 滨海日报 )</p>", "滨海日报"),
        ("<p>图片来源：某某图片社</p>", None),
        ("<p>来源：资料图</p>", None),
        ("<p>凡本网注明“来源：某某网”的作品，均转载自其它媒体</p>", None),
        ("<p><span class=source>滨海日报</span></p>", "滨海日报"),
        ("<p><strong class=profile_nickname>滨海夜话</strong></p>", "滨海夜话"),
        ("<p><span class=media-box>滨海夜话</span></p>", None),
    ],
)
def test_origins(body: str, expected: str | None) -> None:
    document = page(body)
    assert find_origin(document, read_metadata(document)) == expected
