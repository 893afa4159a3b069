"""Hints from title, description and declared text, before the body is found."""

from __future__ import annotations

from newsportal.extractors.article.blocks import read_blocks
from newsportal.extractors.article.reference_hints import MAX_TERMS, MIN_DECLARED, ReferenceHints, find_hints, terms
from newsportal.text import dom

TITLE = "滨海新线今晨通车"
ONE = "今天早上六点，滨海新线的首班列车从东站出发，车厢里坐满了赶早的市民和慕名而来的铁路爱好者。"
TWO = "据介绍，这条线路全长四十二公里，共设十一座车站，建成之后两地之间的通行时间将缩短到半个小时以内。"


def hints(html: str, heading: str | None = None, summary: str | None = None, declared: str | None = None) -> ReferenceHints:
    return find_hints(read_blocks(next(dom.parse_html(f"<body>{html}").iter("body"))), heading, summary, declared)


def test_heading_equals_title_ignoring_punctuation() -> None:
    found = hints(f"<p>首页</p><h1>滨海新线 今晨通车！</h1><p>{ONE}</p>", TITLE)
    assert (found.heading, found.headings) == (1, {1})


def test_marked_heading_is_preferred() -> None:
    found = hints(f"<div>{TITLE}</div><h1>{TITLE}</h1><p>{ONE}</p><div>{TITLE}</div>", TITLE)
    assert (found.heading, found.headings) == (1, {0, 1, 3})
    assert hints(f"<div>{TITLE}</div><p>{TITLE}</p>", TITLE).heading == 0, "the first one by default"


def test_no_heading_without_a_matching_title() -> None:
    assert hints(f"<h1>{TITLE}</h1>").heading is None
    assert hints("<h1>另一个标题</h1>", TITLE).heading is None
    assert hints("<h1>！！</h1>", "？？").heading is None


def test_title_terms_are_bigrams_and_stems() -> None:
    assert terms("通车啦 Trains") == ["通车", "车啦", "trains"]
    assert terms("Announcements of it") == ["announc"], "short words are ignored, endings are cut"
    assert terms("通车通车") == ["通车", "车通"], "without duplicates"
    assert len(terms("".join(map(chr, range(0x4E00, 0x4F00))))) == MAX_TERMS


def test_blocks_score_by_title_terms() -> None:
    found = hints(f"<p>{ONE}</p><p>无关的话。</p>", "滨海新线")
    assert found.terms == [1.0, 0.0]
    assert hints(f"<p>{ONE}</p>").terms == [0.0]


def test_description_pieces_are_counted_per_block() -> None:
    found = hints(f"<p>{ONE}</p><p>{TWO}</p>", summary=ONE[:24])
    assert found.pieces == 2
    assert found.in_description == [2, 0]


def test_declared_share_of_each_block() -> None:
    found = hints(f"<p>{ONE}</p><p>{TWO}</p><p>网友评论仅供表达个人看法。</p>", declared=ONE * 3 + TWO * 2)
    assert found.declared == [1.0, 1.0, 0.0]


def test_short_declared_text_is_ignored() -> None:
    assert len(ONE) < MIN_DECLARED
    assert hints(f"<p>{ONE}</p>", declared=ONE).declared == [-1.0]
    assert hints(f"<p>{ONE}</p>").declared == [-1.0]


def test_empty_page() -> None:
    found = hints("", TITLE, ONE, ONE * 9)
    assert (found.heading, found.terms, found.in_description, found.declared) == (None, [], [], [])
