"""The final sanitising of stored articles before they reach a browser."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import UTC, datetime

import pytest

from newsportal.items import Image
from newsportal.portal import safe_text
from newsportal.store.results import StoredArticle

NOW = datetime(2026, 5, 20, tzinfo=UTC)
PLAIN = StoredArticle("a", "s", "https://a.example/1", "https://a.example/news/1.html", "标题", NOW, NOW, "feed:甲")


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        ("<p>一<script>x</script></p>", "<p>一</p>"),
        ("<p>一</p><p> &nbsp;</p><p>　</p><p>二</p>", "<p>一</p><p>二</p>"),
        ('<p style="color:red" class="x" id="main">一</p>', "<p>一</p>"),
        ('<a href="/next">下</a>', '<a href="https://a.example/next" rel="noopener noreferrer nofollow ugc">下</a>'),
        ('<a href="//b.example/x">下</a>', '<a href="https://b.example/x" rel="noopener noreferrer nofollow ugc">下</a>'),
        ('<a href="java&#9;script:alert(1)">下</a>', '<a rel="noopener noreferrer nofollow ugc">下</a>'),
        ("<h1>大</h1>正文", "大正文"),
    ],
)
def test_body_is_sanitised_and_links_resolved(html: str, expected: str) -> None:
    assert str(safe_text.body(replace(PLAIN, html=html), safe_text.web_address)) == expected


@pytest.mark.parametrize(
    ("html", "levels"),
    [
        ("<h4>一</h4><p>文</p><h4>二</h4>", "22"),
        ("<h5>一</h5><h2>二</h2><h6>三</h6><h5>四</h5>", "2233"),
        ("<h2>一</h2><h3>二</h3><h4>三</h4>", "234"),
        ("<h2>一<b>粗</b>&lt;h5&gt;</h2>", "2"),
        ("<p>文</p>", ""),
    ],
)
def test_heading_levels_are_consecutive(html: str, levels: str) -> None:
    body = str(safe_text.body(replace(PLAIN, html=html), safe_text.web_address))
    assert "".join(re.findall(r"<h(\d)>", body)) == "".join(re.findall(r"</h(\d)>", body)) == levels


def test_images_are_lazy_and_serialised_uniformly() -> None:
    body = str(safe_text.body(replace(PLAIN, html='<img src="p.jpg" onerror="x" srcset="y 2x">'), safe_text.web_address))
    assert 'src="https://a.example/news/p.jpg"' in body
    assert (
        len({str(safe_text.body(replace(PLAIN, html='<img src="p.jpg" alt="a" title="b">'), safe_text.web_address)) for _ in range(20)})
        == 1
    )
    assert 'loading="lazy"' in body
    assert "srcset" not in body


def test_relative_links_without_base_url_are_dropped() -> None:
    assert "href" not in str(safe_text.body(replace(PLAIN, url="javascript:x", html='<a href="/admin">点</a>'), safe_text.web_address))


def test_text_without_html_becomes_paragraphs() -> None:
    assert str(safe_text.body(replace(PLAIN, text="一<b>\n\n二&\u202e"), safe_text.web_address)) == "<p>一&lt;b&gt;</p>\n<p>二&amp;</p>"


def test_empty_article_has_an_empty_body() -> None:
    assert not safe_text.body(PLAIN, safe_text.web_address)


@pytest.mark.parametrize(
    "url",
    [
        *("javascript:alert(1)", "JAVASCRIPT:x", "data:text/html,x", "ftp://a.example/"),
        *("//a.example", "/x", "", None, "http://", "http://[::1"),
        *("https://a@b.example/", "http://a.example\\@b", "https://a b"),
    ],
)
def test_unsafe_urls_are_refused(url: str | None) -> None:
    assert safe_text.web_address(url) is None


@pytest.mark.parametrize("url", ["https://a.example/x?y=1&z=2#t", "http://例子.example/新闻", "http://[2001:db8::1]:8080/"])
def test_web_urls_are_accepted(url: str) -> None:
    assert safe_text.web_address(url) == url


def test_only_mark_elements_survive_in_hits() -> None:
    assert str(safe_text.safe_snippet("<mark>峡谷</mark><b>x</b><script>y</script>&lt;i&gt;")) == "<mark>峡谷</mark>x&lt;i&gt;"


@pytest.mark.parametrize(
    ("text", "summary", "expected"),
    [
        ("标题 正文从这里开始，一直写到足够长为止，这样才算数。", None, "正文从这里开始，一直写到足够长为止，这样才算数。"),
        ("快讯", "摘要里有<b>更多</b>&nbsp;内容", "摘要里有更多 内容"),
        ("快讯", None, "快讯"),
        ("", None, ""),
        ("长" * 300, None, "长" * 139 + "…"),
    ],
)
def test_excerpt_omits_title_and_is_truncated(text: str, summary: str | None, expected: str) -> None:
    assert safe_text.excerpt(replace(PLAIN, text=text, summary=summary)) == expected


def test_site_name_falls_back_to_host() -> None:
    assert safe_text.site_name(PLAIN) == "a.example"
    assert safe_text.site_name(replace(PLAIN, site=" 甲\u202e报 ")) == "甲报"
    assert safe_text.site_name(replace(PLAIN, url="http://[")) == "feed:甲"


def test_images_in_body_are_not_listed_again() -> None:
    first, second, unsafe = Image("https://a.example/p.jpg?a=1&b=2"), Image("https://a.example/q.jpg", "题"), Image("javascript:x")
    article = replace(PLAIN, html='<img src="p.jpg?a=1&amp;b=2">', url="https://a.example/", images=(first, second, second, unsafe))
    assert safe_text.pictures(article, safe_text.web_address) == [second]


def test_icon_is_not_a_thumbnail() -> None:
    icon, photograph = Image("https://a.example/i.gif", None, 16, 16), Image("https://a.example/p.jpg", None, 800, 600)
    assert safe_text.thumbnail((icon, photograph)) == (2, photograph)
    assert safe_text.thumbnail((Image("data:image/png;base64,x"),)) is None
