"""Block features of the model: their meaning on a constructed page, and invariants on any page."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from newsportal.extractors.article.block_features import (
    NO_DISTANCE,
    OWN_FEATURES,
    Table,
    block_features,
    own_features,
    shift_rows,
    unpack_bits,
)
from newsportal.extractors.article.blocks import read_blocks
from newsportal.extractors.article.body import block_model
from newsportal.text import dom
from training import made_up_pages

TITLE = "滨海新线今晨通车"
ONE = "今天早上六点，滨海新线的首班列车从东站出发，车厢里坐满了赶早的市民。这些人都是铁路爱好者。"
TWO = "据介绍，这条线路全长四十二公里，共设十一座车站。建成之后，两地之间的通行时间将缩短到半个小时以内。"
PAGE = f"""
<div class="nav"><a href="/">首页</a></div>
<div class="main">
  <h1>{TITLE}</h1>
  <div class="info">2024-03-05 08:30</div>
  <div id="content"><p>{ONE}</p><p><b>小标题</b></p><p>{TWO}</p><ul><li>第一项</li></ul></div>
</div>
<div class="comment"><p>{TWO}</p></div>
<div class="footer">版权所有，未经许可不得转载</div>
"""
NAVIGATION, HEADING, DATE, FIRST, BOLD, SECOND, ITEM, COPY, FOOTER = range(9)


def table(html: str, heading: str | None = None, summary: str | None = None, declared: str | None = None) -> Table:
    return block_features(read_blocks(next(dom.parse_html(f"<body>{html}").iter("body"))), heading, summary, declared)


@cache
def feature(name: str) -> list[float]:
    """Return one feature for each block of ``PAGE``."""
    values: list[float] = table(PAGE, TITLE, ONE).select([name])[0].tolist()
    return values


def blocks_with(name: str) -> set[int]:
    return {block for block, value in enumerate(feature(name)) if value}


@pytest.mark.parametrize(
    ("name", "blocks"),
    [
        ("is_heading", {HEADING}),
        ("date", {DATE}),
        ("notice", {FOOTER}),
        ("repeated", {COPY}),
        ("links", {NAVIGATION}),
        ("linked", {NAVIGATION}),
        ("bold", {BOLD}),
        ("ends", {FIRST, SECOND, COPY}),
        ("digits", {DATE}),
        ("own_comments", set()),
        ("near_comments", {COPY}),
        ("around_body", {HEADING, DATE, FIRST, BOLD, SECOND, ITEM}),
        ("near_navigation", {NAVIGATION}),
        ("in_list", {ITEM}),
        ("kind_paragraph", {FIRST, BOLD, SECOND, COPY}),
        ("kind_title", {HEADING}),
        ("kind_item", {ITEM}),
        ("told", {FIRST}),
        ("within_text", {FIRST, BOLD, SECOND}),
        ("previous_linked", {HEADING}),
        ("next_linked", set()),
    ],
)
def test_boolean_features_of_blocks(name: str, blocks: set[int]) -> None:
    assert blocks_with(name) == blocks


def test_length_and_sentence_features() -> None:
    assert feature("length")[HEADING] == np.float32(np.log1p(len(TITLE)))
    assert feature("sentences")[FIRST] == 4
    assert feature("sentence_rate")[FIRST] == np.float32(4 / len(ONE))
    assert feature("next_length")[NAVIGATION] == feature("length")[HEADING]
    assert feature("previous_length")[NAVIGATION] == 0


def test_position_features() -> None:
    assert feature("place")[NAVIGATION] == feature("order")[NAVIGATION] == 0
    assert feature("place") == sorted(feature("place"))
    assert feature("after_heading") == [-1, 0, 1, 2, 3, 4, 5, 6, 7]
    assert feature("before_text") == [3, 2, 1, 0, -1, -2, -3, -4, -5]
    assert feature("after_text")[SECOND] == 0
    assert feature("after_told")[SECOND] == 2


def test_climb_counts_levels_to_common_ancestor() -> None:
    assert feature("heading_climb")[HEADING] == 0
    assert feature("heading_climb")[FIRST] == feature("heading_climb")[DATE] == 1
    assert feature("heading_climb")[FOOTER] == 2
    assert [feature("climb")[block] for block in (FIRST, SECOND, ITEM, HEADING, FOOTER)] == [0, 0, 0, 1, 2]


def test_missing_references_have_sentinel_values() -> None:
    plain = table("<p>甲</p><p>乙</p>")
    assert plain.select(["after_heading", "after_told", "before_text"]).T.tolist() == [[-NO_DISTANCE, -NO_DISTANCE, NO_DISTANCE]] * 2
    assert plain.select(["heading_climb", "told_climb", "declared"]).T.tolist() == [[-1, -1, -1]] * 2


def test_reads_feature_separates_prose_from_code() -> None:
    code = "<p>.a{color:red;} .b{margin:0 auto; float:left}</p><p>function(a){return a}</p>"
    page = read_blocks(next(dom.parse_html(f"<body><p>{ONE}</p>{code}").iter("body")))
    assert own_features(page.blocks)[OWN_FEATURES.index("reads")].tolist() == [1, 0, 0]


def test_short_link_lines_skip_costly_features() -> None:
    page = read_blocks(next(dom.parse_html(f"<body><p><a href=/>2024-03-05 {TITLE}</a></p><p><a href=/>{ONE * 2}</a></p>").iter("body")))
    assert own_features(page.blocks)[[OWN_FEATURES.index("date"), OWN_FEATURES.index("sentences")]].tolist() == [[0, 0], [0, 8]]


def test_names_include_model_columns() -> None:
    names = table(PAGE).names
    assert len(set(names)) == len(names)
    assert set(block_model().columns) <= set(names)


def test_rows_follow_requested_names() -> None:
    full = table(PAGE)
    assert full.select(["order", "length"]).tolist() == [full.select(["order"])[0].tolist(), full.select(["length"])[0].tolist()]
    with pytest.raises(ValueError, match="no such features: colour, taste"):
        full.select(["length", "taste", "colour"])


@given(
    st.lists(
        st.sampled_from(["<p>甲，乙。", "<div>", "</div>", "<a href=/>链接</a>", "<li>丙", "<table><tr><td>2024-01-01", TITLE]), min_size=1
    )
)
def test_features_are_finite_on_any_page(parts: list[str]) -> None:
    page = read_blocks(next(dom.parse_html(f"<body><p>甲{''.join(parts)}").iter("body")))
    found = block_features(page, TITLE, ONE, ONE * 9)
    assert found.values.shape == (len(found.names), len(page.blocks))
    assert found.values.dtype == np.float32
    assert np.isfinite(found.values).all()


def test_features_are_deterministic_on_made_up_pages() -> None:
    for made_up in made_up_pages(10, 78):
        first, second = (table(made_up.html, made_up.title, made_up.text[:100]) for _ in range(2))
        assert first.names == second.names
        assert np.array_equal(first.values, second.values)


def test_bits_and_shifted() -> None:
    assert unpack_bits(np.array([0b01, 0b10, 0b11]), range(2)).tolist() == [[1, 0, 1], [0, 1, 1]]
    rows = np.array([[1, 2, 3]])
    assert shift_rows(rows, 1, 0).tolist() == [[0, 1, 2]]
    assert shift_rows(rows, -1, 0).tolist() == [[2, 3, 0]]
    assert shift_rows(rows, 3, 9).tolist() == [[9, 9, 9]]
