"""Parsing of any markup into a tree in bounded time, and its text and links."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from urllib.parse import urljoin

import pytest
from hypothesis import given
from hypothesis import strategies as st
from work_counts import count_calls, ends

from newsportal.items import Page
from newsportal.text import dom, markup

END = "<p>页面的最后一段。</p>"
BOMBS: dict[str, Callable[[], str]] = {
    "49,000 nested tags": lambda: "<div>" * 49_000 + "深" + "</div>" * 49_000 + END,
    "20,000 unclosed bold tags": lambda: "<b>字" * 20_000 + END,
    "nested tables": lambda: "<table><tr><td>" * 5_000 + END,
    "700,000 attributes": lambda: "<div " + " ".join(f"a{number}=1" for number in range(700_000)) + ">" + END,
    "600,000 quoted attributes": lambda: "<div " + " ".join(f'a{number}=""' for number in range(600_000)) + ">" + END,
    "many tags with many attributes": lambda: ("<i " + " ".join(f"a{number}" for number in range(500)) + ">.</i>") * 500 + END,
    "long text": lambda: "<p>" + "中" * 5_000_000 + "</p>" + END,
    "long attribute": lambda: "<p title='" + "中" * 5_000_000 + "'>x</p>" + END,
    "nesting with line breaks": lambda: "<div><br></img>" * 5_000 + END,
    "angle brackets only": lambda: "<" * 2_000_000 + END,
    "entities": lambda: "<p>&#x110000; &#99999999999999; &#xD800; &#0; &bogus; &amp</p>\x00\x01\ud800" + END,
    "declared encoding": lambda: "<?xml version='1.0' encoding='gbk'?><meta charset='gbk'>" + END,
}


@pytest.mark.parametrize("name", BOMBS)
def test_bomb_is_parsed_in_bounded_time_with_following_text(name: str) -> None:
    html = f"<html><body>{BOMBS[name]()}</body></html>"
    with ends():
        root = dom.parse_html(html)
        assert "页面的最后一段。" in dom.text_of(root)
        assert dom.lines_of(dom.copy_of(root))
        assert dom.css(root, "body")
    assert max(len(node.attrib) for node in root.iter()) <= markup.MAX_ATTRIBUTES + 1


def test_depth_of_tree_is_limited() -> None:
    node, depth = dom.parse_html("<div>" * 5_000 + "深"), 0
    while len(node):
        node, depth = node[0], depth + 1
    assert markup.MAX_DEPTH - 5 <= depth <= markup.MAX_DEPTH + 5


def test_text_is_cut_at_max_chars() -> None:
    assert len(dom.text_of(dom.parse_html("<p>" + "中" * 50_000_000))) <= dom.MAX_CHARS


@pytest.mark.parametrize(
    "html", ["", " \n", "\x00" * 100, "<!-- -->", "<!DOCTYPE html>", "<?xml version='1.0'?>", "plain", "<frameset><frame src=x></frameset>"]
)
def test_degenerate_markup_is_a_tree(html: str) -> None:
    assert dom.parse_html(html).tag == "html"


PIECES = [*"<>/='\"&;#! abp-", "中", "\x00", "\ud800", "<p>", "</div>", "<table>", "<svg>", "&#x", "<!--"]


@given(st.lists(st.sampled_from(PIECES), max_size=300).map("".join))
def test_any_text_is_parsed(html: str) -> None:
    root = dom.parse_html(html)
    dom.text_of(root)
    dom.lines_of(root)


def test_lines_are_paragraphs_without_scripts() -> None:
    root = dom.parse_html("<body><h1>标题</h1><p>第一<b>段</b></p>第二段<br>第三段<script>var x</script><table><tr><td>甲<td>乙</table>")
    assert dom.lines_of(root) == ["标题", "第一段", "第二段", "第三段", "甲", "乙"]


def test_text_is_limited_by_number_of_parts() -> None:
    """Unclosed links are nested, so their texts together would be quadratic in the size of the page."""
    outer = dom.parse_html("<p>" + "".join(f"<span>{number}" for number in range(900))).find(".//span")
    assert outer is not None
    assert dom.text_of(outer, 3) == "012345"
    assert dom.text_of(outer).endswith("898899")


@pytest.mark.parametrize(
    ("base", "expected"),
    [
        ("/news/", "https://a.example/news/1.html"),
        ("https://b.example/x/", "https://b.example/x/1.html"),
        ("javascript:1", "https://a.example/q/1.html"),
        ("", "https://a.example/q/1.html"),
    ],
)
def test_links_are_relative_to_a_valid_base(base: str, expected: str) -> None:
    page = dom.from_text(f"<base href='{base}'><a href='1.html#top'>x</a>", "https://a.example/q/page.html")
    assert dom.link_of(page.css("a")[0], page.base) == expected


@pytest.mark.parametrize(
    "href",
    ["javascript:alert(1)", "java\tscript:alert(1)", "data:text/html,x", "mailto:a@b.c", "#top", "", "http://[::1", "file:///etc/passwd"],
)
def test_non_web_links_are_refused(href: str) -> None:
    assert dom.join("https://a.example/", href) is None


def test_overlong_link_is_refused() -> None:
    assert dom.join("https://a.example/", "/" + "a" * (dom.MAX_HREF - 1)) is not None
    assert dom.join("https://a.example/", "/" + "a" * dom.MAX_HREF) is None


@pytest.mark.parametrize(
    "base", ["https://a.example/b/c?d=/e", "https://a.example", "https://a.example/b//./c;d/e", "https://a.example/b/../c/"]
)
@pytest.mark.parametrize(
    "href", ["x.html", "x/y/?z=1", "./x", "../x", "x/../y", "x//y", "x:y", "x;y", "x#y", "?x", "x?y=/.z", "新闻/1.html"]
)
def test_relative_links_are_joined_like_urljoin(base: str, href: str) -> None:
    joined = urljoin(base, href)
    assert dom.join(base, href, fragment=True) == (joined if joined.startswith("http") else None)


def test_long_base_url_is_resolved_once() -> None:
    """Splitting a base with 900 path segments again for each of 24,000 links took four seconds."""
    base = f"https://a.example/{'a/' * 900}"

    def join_all() -> None:
        for number in range(300):
            dom.join(base, f"{number}.html")

    assert count_calls(join_all) < 300 * 20


def test_control_characters_in_url_are_escaped() -> None:
    assert dom.join("https://a.example/", "/a\x1b[31m\ud800 \tb#c\x00") == "https://a.example/a%1B[31m%3F b"
    assert dom.join("https://a.example/", "b#c\x00", fragment=True) == "https://a.example/b#c%00"


@pytest.mark.parametrize(
    ("selector", "found"),
    [
        ("h2 ~ p", ["b", "d"]),
        ("p ~ p", ["b", "d"]),
        ("p ~ p ~ p", ["d"]),
        (".a ~ .c, p ~ h2", ["h", "c"]),
        ("div > p ~ p", ["b", "d"]),
        ("h2 + p ~ p", ["d"]),
        ("p.a ~ p:not(.b)", ["d"]),
        ("* ~ p:nth-child(3)", ["b"]),
        ("h2 ~ div p", ["e"]),
    ],
)
def test_sibling_selectors_match_like_browsers(selector: str, found: list[str]) -> None:
    page = dom.parse_html(
        "<div><p class=a>1</p><h2 class=h>2</h2><p class=b>3</p><div class=c><p class=e>4</p></div><p class=d>5</p></div><p class=f>6</p>"
    )
    assert [node.get("class") for node in dom.css(page, selector)] == found


def test_sibling_selectors_take_linear_time() -> None:
    """Collecting the following siblings of each element takes twenty seconds (threat group B)."""
    page = dom.parse_html(f"<html><body>{'<p>x</p>' * 20_000}</body></html>")
    assert len(dom.css(page, "p ~ p")) == 19_999


def test_selector_cache_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dom, "MAX_SELECTORS", 3)
    monkeypatch.setattr(dom, "_SELECTORS", {})
    page = dom.parse_html("<p class=a1>x</p>")
    assert [len(dom.css(page, f".a{number}")) for number in range(8)] == [0, 1, 0, 0, 0, 0, 0, 0]
    assert len(dom._SELECTORS) <= 3


def test_invalid_selector_is_reported() -> None:
    with pytest.raises(ValueError, match="not a CSS selector"):
        dom.css(dom.parse_html("<p>"), "p[")
    with pytest.raises(ValueError, match="not a CSS selector"):
        dom.css(dom.parse_html("<p>"), " ".join(["p"] * 3000))
    with pytest.raises(ValueError, match="too long"):
        dom.css(dom.parse_html("<p>"), ",".join(["p"] * 20_000))
    with pytest.raises(ValueError, match="not an XPath expression"):
        dom.xpath(dom.parse_html("<p>"), "//p[")


def test_page_is_decoded_from_its_bytes() -> None:
    page = Page(
        "https://a.example/",
        "<title>新闻标题在此</title><p>正文内容。".encode("gb18030"),
        datetime(2024, 1, 1, tzinfo=UTC),
        content_type="text/html; charset=utf-8",
    )
    document = dom.document(page)
    assert (document.encoding, dom.text_of(document.css("p")[0])) == ("gb18030", "正文内容。")


@pytest.mark.parametrize("tag", ['<a b="<" {}>x</a>', "<a b='>' {}>x</a>", '<a b="<<>" c=">" {}>x</a>', '<a b="<" {}'])
def test_bracket_in_quotes_does_not_hide_attributes(tag: str) -> None:
    html = tag.format(" ".join(f"x{number}" for number in range(60_000)))
    root = dom.parse_html(f"<p>Anfang</p>{html}<p>Ende</p>")
    most = max(len(node.attrib) for node in root.iter())
    assert most <= markup.MAX_ATTRIBUTES + 1, "libxml2 takes time quadratic in the number of attributes"
    assert dom.text_of(root).startswith("Anfang")


def test_long_text_without_tags_is_kept() -> None:
    words = " ".join(f"x{number}" for number in range(10_000))
    script = f"<script>var a = '<b c=\"'; {words}</script>"
    assert dom.text_of(dom.parse_html(f"<p>{words}</p>{script}<p>Ende</p>")) == f"{words} Ende"
