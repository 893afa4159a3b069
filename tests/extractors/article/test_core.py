"""The walk to where a page's text is densest."""

from __future__ import annotations

import numpy as np

from newsportal.extractors.article.blocks import Blocks, read_blocks
from newsportal.extractors.article.core import Core, below, find_core, levels_from
from newsportal.text import dom

LONG = "这是一个足够长的句子，它属于正文，而且还会继续下去。" * 4
SHORT = "很短的一句。"


def read(html: str) -> Blocks:
    return read_blocks(next(dom.parse_html(f"<body>{html}").iter("body")))


def core(page: Blocks, heading: int | None = None) -> Core:
    """Links are no valid text here, all else is."""
    length = np.array([block.length for block in page.blocks], dtype=float)
    linked = np.array([block.linked for block in page.blocks], dtype=float)
    return find_core(page, length - linked, length, linked, heading)


def found(html: str, heading: int | None = None) -> str | None:
    """The id of the box that was found."""
    page = read(html)
    return page.nodes[core(page, heading).box].get("id")


PARAGRAPHS = f"<p>{LONG}</p><p>{LONG}</p>"


def test_the_walk_ends_where_no_part_holds_most() -> None:
    assert found(f"<div id=page><div id=top>{SHORT}</div><div id=here>{PARAGRAPHS}</div></div>") == "here"
    assert found(f"<div id=page><div id=one>{PARAGRAPHS}</div><div id=two>{PARAGRAPHS}</div><div>{PARAGRAPHS}</div></div>") == "page"


def test_the_walk_never_enters_a_single_paragraph() -> None:
    assert found(f"<div id=here><p>{LONG}</p><p>{SHORT}</p></div>") == "here"
    assert found(f"<div id=here><h1>{SHORT}</h1><blockquote id=quote><p>{LONG}</p><p>{LONG}</p></blockquote></div>") == "here"


def test_text_of_the_box_itself_counts_against_its_parts() -> None:
    assert found(f"<div id=here>{LONG}<br>{LONG}<div id=inner>{LONG}<div>{LONG}</div></div>{LONG}</div>") == "here"


def test_text_among_links_weighs_less() -> None:
    links = f"<a href=/>{LONG * 6}</a>"
    assert found(f"<div id=page><div id=links>{PARAGRAPHS}{LONG}{links}</div><div id=here>{PARAGRAPHS}</div></div>") == "here"


def test_asides_do_not_count() -> None:
    comments = f"<div id=comments class=comments><p>{LONG}</p><p>{LONG}</p><p>{LONG}</p></div>"
    text = f"<div id=here>{PARAGRAPHS}{PARAGRAPHS}</div>"
    page = read(f"<div id=page>{text}{comments}</div>")
    result = core(page)
    assert page.nodes[result.box].get("id") == "here"
    assert result.counted.tolist() == [True] * 4 + [False] * 3


def test_a_box_that_holds_most_of_the_page_is_no_aside_whatever_it_calls_itself() -> None:
    other = f"<div id=other>{PARAGRAPHS}</div>"
    assert found(f"<div class=sidebar id=here>{PARAGRAPHS}<p>{LONG}</p></div>{other}") == "here"
    assert found(f"<div class=sidebar id=here>{PARAGRAPHS}</div>{other}<p>{LONG}</p>") != "here"


def test_a_box_that_holds_the_heading_is_no_aside() -> None:
    html = f"<div id=other>{PARAGRAPHS}<p>{LONG}</p></div><div class=sidebar id=here><h1>题目</h1><p>{LONG}</p><p>{LONG}</p></div>"
    assert found(html) == "other"
    assert found(html, heading=3) == "here"


def test_what_stands_with_the_heading_weighs_double() -> None:
    """Heading or not, the other box has half as much text again."""
    other = f"<div id=other>{PARAGRAPHS}<p>{LONG}</p></div>"
    html = f"<div id=page><div id=here><h1>题目</h1>{PARAGRAPHS}</div>{other}</div>"
    assert found(html) == "other"
    assert found(html, heading=0) == "here"


def test_a_declared_body_is_where_the_walk_begins() -> None:
    declared = f"<div id=here itemprop=articleBody>{PARAGRAPHS}</div>"
    assert found(f"<div id=page>{declared}<div id=other>{PARAGRAPHS * 2}</div></div>") == "here"
    assert found(f"<div itemprop=articleBody id=empty>{SHORT}</div><div id=other>{PARAGRAPHS * 2}</div>") == "other", (
        "it holds nearly nothing"
    )


def test_share_and_links_of_the_box() -> None:
    page = read(f"<div id=here><p>{LONG}</p><p>{LONG}<a href=/>{LONG}</a></p></div><div><p>{LONG}</p></div>")
    result = core(page)
    assert (round(result.share, 3), round(result.linked, 3)) == (round(2 / 3, 3), round(1 / 3, 3))


def test_levels_climb_to_the_smallest_box_around_both() -> None:
    page = read("<div>甲<div><p id=here>乙</p>丙</div></div>丁")
    here = next(box for box, node in enumerate(page.nodes) if node.get("id") == "here")
    assert levels_from(page, here).tolist() == [2, 0, 1, 3]


def test_sums_below_every_box() -> None:
    page = read("<div><p>甲</p><p>乙</p></div><p>丙</p>")
    rows = np.array([[1.0, 2.0, 4.0]])
    assert below(page, rows).tolist() == [[7, 3, 1, 2, 4]]


def test_a_page_of_nothing_but_asides_counts_whole() -> None:
    page = read("".join(f"<div class=related><p>{LONG}</p></div>" for _ in range(5)))
    assert core(page).counted.all()
