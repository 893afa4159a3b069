"""The search for the box with the densest text."""

from __future__ import annotations

import numpy as np

from newsportal.extractors.article.blocks import Blocks, read_blocks
from newsportal.extractors.article.core import Core, find_core, levels_from, sum_below
from newsportal.text import dom

LONG = "这是一个足够长的句子，它属于正文，而且还会继续下去。" * 4
SHORT = "很短的一句。"


def read(html: str) -> Blocks:
    return read_blocks(next(dom.parse_html(f"<body>{html}").iter("body")))


def core(page: Blocks, heading: int | None = None) -> Core:
    """Count all text as valid, except links."""
    length = np.array([block.length for block in page.blocks], dtype=float)
    linked = np.array([block.linked for block in page.blocks], dtype=float)
    return find_core(page, length - linked, length, linked, heading)


def core_id(html: str, heading: int | None = None) -> str | None:
    """Return the id of the box that was found."""
    page = read(html)
    return page.nodes[core(page, heading).box].get("id")


PARAGRAPHS = f"<p>{LONG}</p><p>{LONG}</p>"


def test_search_stops_where_no_child_dominates() -> None:
    assert core_id(f"<div id=page><div id=top>{SHORT}</div><div id=here>{PARAGRAPHS}</div></div>") == "here"
    assert core_id(f"<div id=page><div id=one>{PARAGRAPHS}</div><div id=two>{PARAGRAPHS}</div><div>{PARAGRAPHS}</div></div>") == "page"


def test_search_never_enters_a_single_paragraph() -> None:
    assert core_id(f"<div id=here><p>{LONG}</p><p>{SHORT}</p></div>") == "here"
    assert core_id(f"<div id=here><h1>{SHORT}</h1><blockquote id=quote><p>{LONG}</p><p>{LONG}</p></blockquote></div>") == "here"


def test_own_text_of_a_box_counts_against_children() -> None:
    assert core_id(f"<div id=here>{LONG}<br>{LONG}<div id=inner>{LONG}<div>{LONG}</div></div>{LONG}</div>") == "here"


def test_text_among_links_weighs_less() -> None:
    links = f"<a href=/>{LONG * 6}</a>"
    assert core_id(f"<div id=page><div id=links>{PARAGRAPHS}{LONG}{links}</div><div id=here>{PARAGRAPHS}</div></div>") == "here"


def test_asides_are_not_counted() -> None:
    comments = f"<div id=comments class=comments><p>{LONG}</p><p>{LONG}</p><p>{LONG}</p></div>"
    text = f"<div id=here>{PARAGRAPHS}{PARAGRAPHS}</div>"
    page = read(f"<div id=page>{text}{comments}</div>")
    result = core(page)
    assert page.nodes[result.box].get("id") == "here"
    assert result.counted.tolist() == [True] * 4 + [False] * 3


def test_dominant_box_is_no_aside_despite_its_name() -> None:
    other = f"<div id=other>{PARAGRAPHS}</div>"
    assert core_id(f"<div class=sidebar id=here>{PARAGRAPHS}<p>{LONG}</p></div>{other}") == "here"
    assert core_id(f"<div class=sidebar id=here>{PARAGRAPHS}</div>{other}<p>{LONG}</p>") != "here"


def test_box_with_heading_is_no_aside() -> None:
    html = f"<div id=other>{PARAGRAPHS}<p>{LONG}</p></div><div class=sidebar id=here><h1>题目</h1><p>{LONG}</p><p>{LONG}</p></div>"
    assert core_id(html) == "other"
    assert core_id(html, heading=3) == "here"


def test_text_beside_the_heading_weighs_double() -> None:
    """Without the bonus for the heading the other box wins: it has 1.5 times the text."""
    other = f"<div id=other>{PARAGRAPHS}<p>{LONG}</p></div>"
    html = f"<div id=page><div id=here><h1>题目</h1>{PARAGRAPHS}</div>{other}</div>"
    assert core_id(html) == "other"
    assert core_id(html, heading=0) == "here"


def test_search_starts_at_declared_body() -> None:
    declared = f"<div id=here itemprop=articleBody>{PARAGRAPHS}</div>"
    assert core_id(f"<div id=page>{declared}<div id=other>{PARAGRAPHS * 2}</div></div>") == "here"
    assert core_id(f"<div itemprop=articleBody id=empty>{SHORT}</div><div id=other>{PARAGRAPHS * 2}</div>") == "other", (
        "it has almost no text"
    )


def test_core_reports_text_share_and_link_share() -> None:
    page = read(f"<div id=here><p>{LONG}</p><p>{LONG}<a href=/>{LONG}</a></p></div><div><p>{LONG}</p></div>")
    result = core(page)
    assert (round(result.share, 3), round(result.linked, 3)) == (round(2 / 3, 3), round(1 / 3, 3))


def test_levels_to_common_ancestor() -> None:
    page = read("<div>甲<div><p id=here>乙</p>丙</div></div>丁")
    start = next(place for place, node in enumerate(page.nodes) if node.get("id") == "here")
    assert levels_from(page, start).tolist() == [2, 0, 1, 3]


def test_sums_of_descendants() -> None:
    page = read("<div><p>甲</p><p>乙</p></div><p>丙</p>")
    rows = np.array([[1.0, 2.0, 4.0]])
    assert sum_below(page, rows).tolist() == [[7, 3, 1, 2, 4]]


def test_page_of_only_asides_counts_all_text() -> None:
    page = read("".join(f"<div class=related><p>{LONG}</p></div>" for _ in range(5)))
    assert core(page).counted.all()
