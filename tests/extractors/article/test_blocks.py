"""A page as visible lines of text in boxes, and the range of lines in each box."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from newsportal.extractors.article.blocks import MAX_BLOCKS, MAX_CHARS, MAX_LINK_CHARS, SKIPPED, Blocks, read_blocks
from newsportal.extractors.article.hints import ARTICLE_BODY, HIDDEN, MEANINGS
from newsportal.text import dom
from training import made_up_pages

TEXT = "一段没有尽头的文字，"


def read(html: str) -> Blocks:
    return read_blocks(next(dom.parse_html(f"<body>{html}").iter("body")))


@pytest.mark.parametrize(
    ("html", "lines"),
    [
        ("甲<br>乙<hr>丙", ["甲", "乙", "丙"]),
        ("<p>甲<b>乙</b><span> 丙</span>丁</p>戊", ["甲乙 丙丁", "戊"]),
        ("<pre>甲\n  乙\n\n丙</pre>", ["甲", "乙", "丙"]),
        ("<p>a line\n of the source</p>", ["a line of the source"]),
        ("<table><tr><td>甲</td><td>乙</td></tr><tr><td>丙</td></tr></table>", ["甲", "乙", "丙"]),
        ("<div>甲<div>乙<div>丙</div>丁</div></div>戊", ["甲", "乙", "丙", "丁", "戊"]),
        ("甲<script>var x</script>乙<p><style>p{}</style>丙<select><option>丁</select>", ["甲乙", "丙"]),
        ("<p>甲\u200b\u00ad乙\x07</p><p>\u200b</p><p>&nbsp;</p>", ["甲乙"]),
        ("", []),
        (" \n <div> </div>", []),
    ],
)
def test_lines_are_the_visible_lines(html: str, lines: list[str]) -> None:
    assert read(html).texts == lines


def test_block_counts_visible_linked_and_bold_chars() -> None:
    (block,) = read("<p>甲 乙<a href=/>丙 丁</a><strong>戊</strong></p>").blocks
    assert (block.length, block.linked, block.bold, block.links) == (5, 2, 1, 1)


def test_block_lists_its_text_nodes() -> None:
    (block,) = read("<p>甲<b>乙</b>丙</p>").blocks
    assert [(node.tag, tail) for node, tail in block.parts] == [("p", False), ("b", False), ("b", True)]


def test_box_masks_come_from_names_and_attributes() -> None:
    page = read('<div class=comments>甲<p style="display: none">乙</p></div><div itemprop=articleBody>丙</div><p hidden>丁')
    comments = 1 << list(MEANINGS).index("comments")
    assert [page.mask[block.box] for block in page.blocks] == [comments, HIDDEN, ARTICLE_BODY, HIDDEN]
    assert page.around[page.blocks[1].box] == comments | HIDDEN


def test_boxes_with_same_tag_and_class_share_a_path() -> None:
    page = read("<ul><li class=a>甲<li class=a>乙<li class=b>丙</ul><ol><li class=a>丁</ol>")
    first, second, other_class, other_place = (page.path[block.box] for block in page.blocks)
    assert first == second
    assert len({first, other_class, other_place}) == 3


def test_picture_precedes_the_following_block() -> None:
    page = read("<p>甲<p><img src=a><p>乙<p>丙<img src=b>")
    assert [(node.get("src"), number) for node, _, number in page.pictures] == [("a", 1), ("b", 2)]


def test_unclosed_link_is_ignored() -> None:
    long = TEXT * (MAX_LINK_CHARS // len(TEXT))
    page = read(f"<p><a href=/x>甲</a></p><div><a href=/>乙<p>{long}</p><p>{long}</p></div>")
    assert page.blocks[0].linked == 1
    assert not any(block.linked for block in page.blocks[1:])
    short = read("<div><a href=/><p>一条新闻的标题</p><p>和它的提要</p></a></div>")
    assert all(block.linked == block.length for block in short.blocks), "a teaser is a link around two lines"


def test_page_is_cut_at_max_blocks() -> None:
    page = read("<div><p>甲</p>" * (MAX_BLOCKS + 100))
    assert len(page.blocks) == page.end[0] == MAX_BLOCKS


def test_pre_lines_count_towards_max_blocks() -> None:
    page = read("<pre>" + "甲\n" * (MAX_BLOCKS + 100) + "</pre><p>乙</p>")
    assert len(page.blocks) == page.end[0] == MAX_BLOCKS


def test_page_is_cut_at_max_chars() -> None:
    page = read(f"<p>{'字' * (MAX_CHARS - 2)}</p><p>一二三四</p><p>五</p>")
    assert [block.text[-2:] for block in page.blocks] == ["字字", "一二"]
    assert page.end[0] == 2
    assert min(page.end) >= 0


PIECES = st.sampled_from(["", "甲乙。", "some words, ", " ", "\n", "<br>", "<img src=a>", "丙\n丁"])
TREES = st.recursive(
    PIECES,
    lambda inner: st.builds(
        lambda tag, parts: f"<{tag}>{''.join(parts)}</{tag}>",
        st.sampled_from("div p section table tr td ul li h1 blockquote pre span a b script".split()),
        st.lists(inner, max_size=5),
    ),
    max_leaves=30,
)


def ancestors(page: Blocks, node: int) -> set[int]:
    """Return the box and all its ancestors."""
    found = set()
    while node >= 0:
        found.add(node)
        node = page.parent[node]
    return found


@given(TREES)
def test_ranges_hold_the_blocks_of_their_boxes(html: str) -> None:
    page = read(html)
    around = [ancestors(page, block.box) for block in page.blocks]
    for node in range(len(page.nodes)):
        assert list(range(page.start[node], page.end[node])) == [number for number, parents in enumerate(around) if node in parents]


@given(TREES)
def test_lines_equal_dom_lines(html: str) -> None:
    body = next(dom.parse_html(f"<body>{html}").iter("body"))
    assert read_blocks(body).texts == dom.lines_of(body)


@given(TREES)
def test_block_counts_fit_its_text(html: str) -> None:
    for block in read(html).blocks:
        assert block.length == len("".join(block.text.split()))
        assert 0 <= block.linked <= block.length
        assert 0 <= block.bold <= block.length


def test_made_up_page_lines_equal_dom_lines() -> None:
    for made_up in made_up_pages(40, 78):
        body = next(dom.from_text(made_up.html).root.iter("body"))
        for control in [node for node in body.iter() if node.tag in SKIPPED]:
            control.drop_tree()  # ``lines_of`` keeps the text of buttons and other controls, ``read_blocks`` does not
        assert read_blocks(body).texts == dom.lines_of(body), made_up.id
