"""Markup of the body: the chosen text with its images and nothing else, line by line."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from work_counts import count_lines

from newsportal.extractors.article.blocks import Block, read_blocks
from newsportal.extractors.article.body import Body
from newsportal.extractors.article.sanitise import sanitise
from newsportal.extractors.article.tidy import tidy_body
from newsportal.text import dom

BASE = "https://news.example/a.html"
AD = "广告"


def body_of(html: str, keep: Callable[[Block], bool] = lambda block: AD not in block.text) -> Body:
    """Choose every block without an advertisement."""
    page = read_blocks(next(dom.parse_html(f"<body>{html}").iter("body")))
    mask = np.array([keep(block) for block in page.blocks], dtype=bool)
    return Body(page, mask, mask.astype(np.float32))


def sanitised(body: Body) -> str:
    """Return the sanitised HTML of the body."""
    return sanitise(dom.html_of(tidy_body(body)), BASE)


def lines(html: str) -> list[str]:
    return dom.lines_of(dom.parse_html(html))


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        (f"<p>{AD}</p><div><p>甲</p><p>{AD}</p><p>乙</p></div><p>{AD}</p>", "<p>甲</p><p>乙</p>"),
        (f"<div>甲<br>{AD}<br>乙</div>", "<p>甲<br><br>乙</p>"),
        (f"<div>甲<b>乙</b><p>{AD} <a href=/>丙</a></p><ul><li>{AD}</li></ul><p>丁</p></div>", "<p>甲<b>乙</b></p><p>丁</p>"),
        ("<p>甲<script>var x</script>乙</p><p>丙<button>按</button></p>", "<p>甲乙</p><p>丙</p>"),
        (f"<div><table><tr><td>甲</td></tr><tr><td>{AD}</td></tr></table></div>", "<p>甲</p>"),
    ],
)
def test_markup_holds_only_chosen_text(html: str, expected: str) -> None:
    assert sanitised(body_of(html)) == expected


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        ("<div>甲</div><div>乙</div>", "<p>甲</p><p>乙</p>"),
        ("<div>甲<section>乙</section>丙<i>丁</i></div>", "<p>甲</p><p>乙</p><p>丙<i>丁</i></p>"),
        (f"<div>甲<div>{AD}</div>乙</div>", "<p>甲<br>乙</p>"),
        ("<h1>甲</h1>乙<hr>丙", "<h2>甲</h2><p>乙<br>丙</p>"),
        ("<form><p>甲</p><p>乙</p></form>", "<p>甲</p><p>乙</p>"),
        ("<ul><li>甲</li><li>乙</li></ul>", "<ul><li>甲</li><li>乙</li></ul>"),
        ("<font><div>甲</div><div>乙</div></font>", "<p>甲</p><p>乙</p>"),
    ],
)
def test_unsupported_boxes_become_paragraphs(html: str, expected: str) -> None:
    assert sanitised(body_of(html)) == expected


def test_table_row_keeps_its_table() -> None:
    assert lines(sanitised(body_of("<table><tr><td>甲</td><td>乙</td></tr></table>"))) == ["甲", "乙"]


def test_preformatted_lines_are_kept() -> None:
    found = lines(sanitised(body_of(f"<pre>甲\n{AD}\n乙</pre>")))
    assert [line for line in found if AD not in line] == ["甲", "乙"]


def test_images_keep_their_captions() -> None:
    figure = f"<figure><img src=/i.jpg><figcaption>图：{AD}</figcaption></figure>"
    html = sanitised(body_of(f"<div>{figure}<p>甲</p><p>乙</p>{figure}<p>丙</p></div>"))
    assert html.count("<img") == html.count("<figcaption>") == 2
    assert lines(html) == [f"图：{AD}", "甲", "乙", f"图：{AD}", "丙"]


@pytest.mark.parametrize(
    "element",
    [
        f"<div class=share><img src=/qr.png>{AD}</div>",
        f"<div><a href=/x><img src=/x.jpg>{AD}的标题</a></div>",
        f"<div><img src=/x.jpg>{AD * 101}</div>",
        "<div hidden><img src=/x.jpg></div>",
    ],
    ids=["share", "teaser", "long", "hidden"],
)
def test_unrelated_images_are_removed(element: str) -> None:
    assert "<img" not in sanitised(body_of(f"<div><p>甲</p>{element}<p>乙</p></div>"))


def test_image_far_above_the_text_is_removed() -> None:
    far = "".join(f"<p>{AD}</p>" for _ in range(9))
    assert "<img" not in sanitised(body_of(f"<div><p><img src=/x.jpg></p>{far}<p>甲</p><p>乙</p></div>"))
    assert "<img" in sanitised(body_of(f"<div><p><img src=/x.jpg></p><p>{AD}</p><p>甲</p><p>乙</p></div>"))


def test_deep_images_take_linear_time() -> None:
    """Boxes named as advertisements exclude their images; the path from them to the text is walked only once."""

    def page(pictures: int) -> Body:
        boxes = f"<div>{'<div>' * 500}{'<div class=ad><img src=/a.jpg></div>' * pictures}{'</div>' * 500}</div>"
        return body_of(f"<p>甲乙丙</p>{boxes}<p>丁戊己</p>")

    few, many = page(10), page(200)
    assert count_lines(tidy_body, many) < 4 * count_lines(tidy_body, few)


def test_hidden_text_is_removed() -> None:
    hidden = f'<div style="display:none"><p>{AD}</p></div><div hidden>{AD}</div><template>{AD}</template><noscript>{AD}</noscript>'
    assert AD not in sanitised(body_of(f"<div><p>甲</p>{hidden}<p>乙</p></div>"))


def test_empty_body_gives_empty_markup() -> None:
    assert sanitised(body_of(f"<p>{AD}</p>")) == ""
    assert sanitised(body_of("")) == ""


INLINE = ("span", "b", "a", "font")
PIECES = st.sampled_from(["", "甲乙。", "words, ", " ", "\x01", AD, "<br>", "<img src=a>"])
TREES = st.recursive(
    PIECES,
    lambda inner: st.builds(
        lambda tag, parts: f"<{tag}>{''.join(parts)}</{tag}>",
        st.sampled_from(["div", "p", "section", "form", "center", "ul", "li", "h1", "h2", "blockquote", "article", *INLINE]),
        st.lists(inner, max_size=5),
    ),
    max_leaves=30,
)


@given(TREES)
def test_markup_of_all_blocks_keeps_lines(html: str) -> None:
    body = body_of(html, lambda block: True)
    assert lines(sanitised(body)) == body.lines


@given(TREES)
def test_markup_of_chosen_blocks_keeps_lines(html: str) -> None:
    body = body_of(html)
    found = lines(sanitised(body))
    assert [line for line in found if AD not in line] == body.lines


@given(TREES)
def test_page_is_not_modified(html: str) -> None:
    body = body_of(html)
    before = dom.html_of(body.page.nodes[0])
    tidy_body(body)
    assert dom.html_of(body.page.nodes[0]) == before
