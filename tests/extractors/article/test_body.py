"""Rules that turn the probability of each block into the body."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from work_counts import count_calls

from newsportal.extractors.article.block_features import Table, block_features
from newsportal.extractors.article.blocks import Blocks, read_blocks
from newsportal.extractors.article.body import (
    GAP_CHARS,
    GAP_FEATURES,
    INNER_SHARE,
    MAX_LOOSE_CHARS,
    MIN_COPIED_CHARS,
    MIN_COPY_CHARS,
    MIN_INNER_PROBABILITY,
    MIN_THRESHOLD,
    RELATIVE_THRESHOLD,
    TOP_CHARS,
    Body,
    add_lists,
    choose_blocks,
    choose_body,
    drop_copies,
    drop_loose_ends,
    fill_gaps,
    find_body,
)
from newsportal.text import dom

TITLE = "滨海新线今晨通车，首班列车满载出发"
ONE = "今天早上六点，滨海新线的首班列车从东站出发，车厢里坐满了赶早的市民和慕名而来的铁路爱好者。"
TWO = "据介绍，这条线路全长四十二公里，共设十一座车站，建成之后两地之间的通行时间将缩短到半个小时以内。"
THREE = "“以前要换三趟车，现在一趟就到了。”住在城南的一位乘客说，他以后会每天坐这趟车上班。"


def read(html: str) -> Blocks:
    return read_blocks(next(dom.parse_html(f"<body>{html}").iter("body")))


def chosen(probs: list[float], length: list[int]) -> list[bool]:
    mask: list[bool] = choose_blocks(np.array(probs, dtype=np.float32), np.array(length, dtype=np.float32)).tolist()
    return mask


def flags(text: str) -> np.ndarray:
    return np.array([mark == "+" for mark in text])


def marks(mask: np.ndarray) -> str:
    return "".join("+" if flag else "." for flag in mask)


def test_half_probability_suffices_on_confident_page() -> None:
    assert chosen([1.0, 0.5, 0.49, 0.02], [TOP_CHARS, 100, 100, 100]) == [True, True, False, False]


def test_unconfident_page_has_a_relative_threshold() -> None:
    best = 0.4
    assert chosen([best, RELATIVE_THRESHOLD * best + 0.01, RELATIVE_THRESHOLD * best - 0.01], [TOP_CHARS, 200, 200]) == [True, True, False]


def test_blocks_below_minimum_are_never_chosen() -> None:
    assert chosen([MIN_THRESHOLD - 0.01] * 3, [500] * 3) == [False] * 3


def test_one_confident_line_does_not_raise_the_threshold() -> None:
    """The reference is the mean over the most probs characters, not the maximum."""
    assert chosen([0.9, 0.3, 0.3], [10, 400, 400]) == [True, True, True]


def filled(mask: str, probs: list[float], length: list[int], **columns: list[float]) -> str:
    """Return the flags after filling gaps; columns that are not given are zero on every line."""
    rows = {name: [0.0] * len(mask) for name in GAP_FEATURES} | {"counted": [1.0] * len(mask)} | columns
    table = Table(GAP_FEATURES, np.array([rows[name] for name in GAP_FEATURES], dtype=np.float32), np.array(length, dtype=np.float32))
    return marks(fill_gaps(flags(mask), np.array(probs, dtype=np.float32), table))


@pytest.mark.parametrize(
    ("length", "probs", "expected"),
    [(GAP_CHARS, 0.2, "+++"), (GAP_CHARS + 1, 0.2, "+.+"), (GAP_CHARS, 0.05, "+.+")],
)
def test_short_line_between_text_is_filled(length: int, probs: float, expected: str) -> None:
    link = [0.0, 1.0, 0.0]
    assert filled("+.+", [0.9, probs, 0.9], [TOP_CHARS, length, TOP_CHARS], linked=link) == expected
    assert filled("++.", [0.9, 0.9, probs], [TOP_CHARS, TOP_CHARS, length]) == "++.", "the last line is not between text"


LONG = [400, 60, 100, 400]


@pytest.mark.parametrize("column", ["linked", "around_picture", "in_figure", "climb"])
def test_longer_gap_is_filled_only_within_the_same_box(column: str) -> None:
    probs = [0.9, MIN_INNER_PROBABILITY + 0.01, MIN_INNER_PROBABILITY, 0.9]
    assert filled("+..+", probs, LONG) == "++++"
    assert filled("+..+", probs, LONG, **{column: [0, 0, 1, 0]}) == "+..+"
    assert filled("+..+", probs, LONG, counted=[1, 0, 1, 1]) == "+..+", "not counted as body"
    assert filled("+..+", [0.9, 0.01, MIN_INNER_PROBABILITY, 0.9], LONG) == "+..+", "unlikely on average"
    assert filled("+..+", probs, [400, 60, 110, 400]) == "+..+", f"more than {INNER_SHARE} of the text"


def test_headings_within_text_are_included() -> None:
    probs, length = [0.2, 0.9, 0.2, 0.01, 0.9, 0.2], [10, 90, 10, 90, 90, 10]
    kinds = [1, 0, 1, 0, 0, 1]
    assert filled(".+..+.", probs, length, kind_heading=kinds) == ".++.+."
    assert filled(".+..+.", probs, length, kind_subheading=kinds) == ".++.+."
    assert filled(".+..+.", probs, length, kind_heading=kinds, linked=kinds) == ".+..+.", "linked headings belong to other stories"
    assert filled("......", probs, length, kind_heading=kinds) == "......"


def listed(mask: str, probs: float = 0.3, item: str = "<li>一项内容</li>") -> str:
    page = read(f"<p>{ONE}</p><ul>{item * 3}</ul><p>{TWO}</p>")
    return marks(add_lists(flags(mask), np.array([0.9, probs, probs, probs, 0.9], dtype=np.float32), page))


@pytest.mark.parametrize(("mask", "expected"), [("+...+", "+++++"), ("..+..", ".+++."), ("+....", "++++."), ("....+", ".++++")])
def test_list_next_to_text_is_included_as_a_unit(mask: str, expected: str) -> None:
    assert listed(mask) == expected


LINK = "<li><a href=/>一条新闻</a></li>"


@pytest.mark.parametrize(
    ("probs", "item"), [(0.05, "<li>一项内容</li>"), (0.3, LINK), (0.3, "<p>一行</p>")], ids=["unlikely", "links", "lines"]
)
def test_unrelated_lists_stay_out(probs: float, item: str) -> None:
    assert listed("+...+", probs, item) == "+...+"


def test_list_far_from_text_stays_out() -> None:
    page = read(f"<ul>{'<li>一项内容</li>' * 3}</ul><p>甲</p><p>{ONE}</p>")
    assert marks(add_lists(flags("....+"), np.full(5, 0.3, dtype=np.float32), page)) == "....+"


def test_block_that_repeats_the_text_is_removed() -> None:
    paragraphs = [f"第{number}段：{ONE}" * 4 for number in range(4)]
    copy = "".join(paragraphs)
    assert min(map(len, paragraphs)) >= MIN_COPIED_CHARS
    assert len(copy) >= MIN_COPY_CHARS
    page = read("".join(f"<p>{text}</p>" for text in [*paragraphs, copy]))
    assert marks(drop_copies(flags("+++++"), page)) == "++++."
    assert marks(drop_copies(flags("....+"), page)) == "....+", "without the originals it is not a copy"
    assert marks(drop_copies(flags("+...+"), page)) == "+...+", "it has more text than the chosen blocks"


def test_quote_from_the_text_is_kept() -> None:
    page = read(f"<p>{ONE}{TWO}{THREE}</p><p>{ONE}</p>")
    assert marks(drop_copies(flags("++"), page)) == "++"
    short = read(f"<p>{ONE}{TWO}</p><p>{ONE}</p><p>{TWO}</p>")
    assert marks(drop_copies(flags("+++"), short)) == "+++", "a summary may repeat"


def test_copies_search_is_linear_on_long_paragraphs() -> None:
    page = read("".join(f"<p>第{number}段：{f'{number}{ONE}' * 20}</p>" for number in range(6000)))
    number = len(page.blocks)
    assert number > 500, "as many as MAX_CHARS allows"
    assert drop_copies(np.ones(number, dtype=bool), page).all()
    assert count_calls(drop_copies, np.ones(number, dtype=bool), page) < 400 * number


def test_short_links_at_both_ends_are_removed() -> None:
    loose, long = "<p><a href=/>返回首页</a></p>", f"<p><a href=/>{'长' * (MAX_LOOSE_CHARS + 1)}</a></p>"
    page = read(f"{loose}{loose}<p>{ONE}</p>{loose}<p>{TWO}</p>{loose}")
    assert marks(drop_loose_ends(flags("++++++"), page)) == "..+++."
    assert marks(drop_loose_ends(flags("++"), read(f"<p>{ONE}</p>{long}"))) == "++"
    assert marks(drop_loose_ends(flags("+."), read(loose * 2))) == "+.", "one line is always kept"


def test_imprint_after_text_is_removed() -> None:
    imprint = "<div>版权所有 滨海新闻网 未经书面授权，不得转载。京ICP备00000000号</div>"
    page = read(f"<p>{ONE}</p>{imprint}")
    assert marks(drop_loose_ends(flags("++"), page)) == "+."
    assert marks(drop_loose_ends(flags("+"), read(imprint))) == ".", "a page with only an imprint has no text"
    within = read(f"<p>{ONE}</p><p>本案的书名页印着“版权所有”四个字。</p><p>{ONE}</p>")
    assert marks(drop_loose_ends(flags("+++"), within)) == "+++"


EASY = f"<h1>{TITLE}</h1><div id=content><p>{ONE}</p><p>{TWO}</p><p>{THREE}</p></div>"
DOUBTFUL = f"<div><span>{ONE[:20]}</span></div><div class=item><p>{TWO[:30]}</p></div><div class=item><p>{THREE[:20]}</p></div>"


def body(html: str, heading: str | None = TITLE) -> Body:
    return find_body(next(dom.parse_html(f"<body>{html}").iter("body")), heading)


def test_body_is_found() -> None:
    links = "".join(f"<li><a href=/{number}>另一条新闻的标题在这里</a></li>" for number in range(9))
    found = body(f"<div class=nav><a href=/>首页</a></div>{EASY}<div class=related><ul>{links}</ul></div>")
    assert found.lines == [ONE, TWO, THREE]


def test_confidence_ranks_easy_pages_above_doubtful() -> None:
    assert 0 <= body(DOUBTFUL, None).confidence < body(EASY).confidence <= 1


def test_unlikely_blocks_do_not_change_confidence() -> None:
    page = read(f"<p>{ONE}</p><p>{TWO}</p>")
    long = read(f"<p>{ONE}</p><p>{TWO}</p>" + f"<p>{THREE}</p>" * 50)
    sure = Body(page, flags("++"), np.array([0.8, 0.6], dtype=np.float32))
    same = Body(long, flags("++" + "." * 50), np.array([0.8, 0.6] + [0.01] * 50, dtype=np.float32))
    assert sure.confidence == pytest.approx(same.confidence)
    assert 0.6 < sure.confidence < 0.8


def test_an_empty_page_has_an_empty_body() -> None:
    empty = body("")
    assert (empty.lines, empty.confidence) == ([], 0.0)


@given(st.lists(st.floats(0, 1, width=32), min_size=1, max_size=12))
def test_any_probabilities_make_a_valid_body(probs: list[float]) -> None:
    page = read("".join(f"<li>第{number}项内容</li>" for number in range(len(probs))))
    found = choose_body(page, np.array(probs, dtype=np.float32), block_features(page, None, None))
    assert 0 <= found.confidence <= 1
    assert len(found.lines) == found.chosen.sum()
