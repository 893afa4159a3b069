"""Structured metadata: JSON-LD with common mistakes, microdata, canonical URLs."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from newsportal.extractors.fields.metadata import Metadata, canonical_of, read_metadata
from newsportal.text import dom

URL = "https://news.example/2024/a.html"


def read(html: str) -> Metadata:
    return read_metadata(dom.from_text(html, URL))


def ld(text: str) -> str:
    return f'<script type="application/ld+json">{text}</script>'


@pytest.mark.parametrize(
    "text",
    [
        '{"@type":"NewsArticle","headline":"滨海"}',
        '[{"@type":"NewsArticle","headline":"滨海"}]',
        '{"@graph":[{"@type":"Organization","name":"x"},{"@type":["NewsArticle","Thing"],"headline":"滨海"}]}',
        '<!-- {"@type":"NewsArticle","headline":"滨海"} -->',
        '{"@type":"NewsArticle","headline":"滨海","keywords":["a","b",],}',
        '{"@type":"NewsArticle",\n// of the newsroom\n"headline":"滨海"}',
        '{"@type":"NewsArticle","headline":"滨海","text":"one\ntwo"};',
    ],
)
def test_malformed_json_ld_is_read(text: str) -> None:
    assert read(ld(text)).article("headline") == "滨海"


def test_microdata_is_read_like_json_ld() -> None:
    meta = read(
        "<article itemscope itemtype='https://schema.org/NewsArticle'><h1 itemprop=headline>滨海新线</h1>"
        "<time itemprop=datePublished datetime='2024-03-05T08:30:00+08:00'>今天</time>"
        "<span itemprop=author itemscope itemtype='https://schema.org/Person'><b itemprop=name>王甲乙</b></span>"
        "<span itemprop=publisher itemscope itemtype='https://schema.org/Organization'><meta itemprop=name content=滨海日报></span>"
        "<img itemprop=image src=/p.jpg><div itemprop=articleBody>正文</div></article>"
    )
    assert meta.article("headline") == "滨海新线"
    assert meta.article("datePublished") == "2024-03-05T08:30:00+08:00"
    assert meta.named("author") == ("王甲乙",)
    assert meta.named("publisher", organisations=True) == ("滨海日报",)
    assert meta.article_image() == "/p.jpg"
    assert meta.article("name") is None  # the author's name must not be read as the article's


def test_json_ld_is_preferred_to_microdata_on_html_element() -> None:
    html = '<html itemscope itemtype="http://schema.org/Article"><meta itemprop=headline content=乙><body>x</body></html>'
    assert read(html).article("headline") == "乙"
    assert read(html.replace("<body>", "<body>" + ld('{"@type":"NewsArticle","headline":"甲"}'))).article("headline") == "甲"


def test_image_is_resolved_by_id() -> None:
    meta = read(ld('{"@graph":[{"@type":"NewsArticle","image":{"@id":"#i"}},{"@type":"ImageObject","@id":"#i","url":"/p.jpg"}]}'))
    assert meta.article_image() == "/p.jpg"


@pytest.mark.parametrize(
    ("href", "expected"),
    [
        ("/2024/a.html", URL),
        ("https://m.news.example/2024/a", "https://m.news.example/2024/a"),
        ("https://news.example/", None),
        ("https://other.example.org/2024/a", None),
    ],
)
def test_canonical_url_must_be_on_same_site(href: str, expected: str | None) -> None:
    document = dom.from_text(f"<link rel=canonical href='{href}'>", URL)
    assert canonical_of(document, read_metadata(document)) == expected


@pytest.mark.parametrize(
    ("url", "href", "expected"),
    [
        ("https://m.abc.com/2024/a.html", "https://www.abc.com/2024/a.html", True),  # ``abc`` is a registered name, not a public suffix
        ("https://m.abc.com.cn/2024/a.html", "https://www.abc.com.cn/2024/a.html", True),
        ("https://abc.com.cn/2024/a.html", "https://other.com.cn/2024/a.html", False),
        ("http://[broken/2024/a.html", "https://www.abc.com/2024/a.html", False),
        ("about:blank", "https://www.abc.com/2024/a.html", False),
    ],
)
def test_same_site_comparison_of_hosts(url: str, href: str, expected: bool) -> None:
    document = dom.from_text(f"<link rel=canonical href='{href}'>", url)
    assert canonical_of(document, read_metadata(document)) == (href if expected else None)


def test_deep_markup_is_bounded() -> None:
    read("<div itemscope itemtype='http://schema.org/Article'><span itemprop=author itemscope itemtype=x>" * 3000)
    read(ld("[" * 100_000))


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=20), lambda x: st.lists(x) | st.dictionaries(st.text(max_size=8), x)
)


@pytest.mark.slow
@given(json_values)
def test_any_json_value_is_accepted(value: object) -> None:
    article = {"@type": "NewsArticle", "headline": value, "author": value, "image": value, "publisher": value}
    meta = read(ld(json.dumps(article).replace("<", "\\u003c")))
    meta.article("headline")
    meta.named("author")
    meta.named("publisher", organisations=True)
    meta.article_image()
