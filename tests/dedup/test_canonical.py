from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from newsportal.dedup.canonical import identity, readable, site_of

SAME = [
    ("https://www.example.com/a/1.html", "http://example.com/a/1.html"),
    ("http://EXAMPLE.com:80/a/", "http://example.com/a"),
    ("https://example.com:443/a", "https://example.com/a"),
    ("http://example.com/a?utm_source=x&id=3&spm=1.2", "http://example.com/a?id=3"),
    ("http://example.com/a?b=2&a=1", "http://example.com/a?a=1&b=2"),
    ("http://example.com/a;jsessionid=AB12?id=3", "http://example.com/a?id=3"),
    ("http://example.com/a?sid=0123456789abcdef0123&id=3", "http://example.com/a?id=3"),
    ("http://example.com/news/index.html", "http://example.com/news/"),
    ("http://example.com/新闻/1", "http://example.com/%E6%96%B0%E9%97%BB/1"),
    ("http://example.com/a%2fb", "http://example.com/a%2Fb"),
    ("http://example.com/a#comments", "http://example.com/a"),
    ("http://example.com./a", "http://example.com/a"),
    ("http://新闻.example/a", "http://xn--efvy88h.example/a"),
]

DIFFERENT = [
    ("http://example.com/a?id=3", "http://example.com/a?id=4"),
    ("http://example.com/a?sid=3", "http://example.com/a?sid=4"),
    ("http://example.com/view.jsp?187", "http://example.com/view.jsp?188"),
    ("http://example.com/a", "http://example.org/a"),
    ("http://example.com/a", "http://example.com:8080/a"),
    ("http://example.com/A", "http://example.com/a"),
    ("http://a.example.com/1", "http://b.example.com/1"),
    ("http://example.com/a%2Fb", "http://example.com/a/b"),
]


@pytest.mark.parametrize(("left", "right"), SAME)
def test_one_page_has_one_identity(left: str, right: str) -> None:
    assert identity(left) == identity(right)


@pytest.mark.parametrize(("left", "right"), DIFFERENT)
def test_two_pages_stay_two(left: str, right: str) -> None:
    assert identity(left) != identity(right)


@given(st.text())
def test_any_text_has_an_identity(text: str) -> None:
    assert isinstance(identity("http://" + text), str)
    assert isinstance(identity(text), str)


@given(st.text(alphabet="abc/%25?=&;.新\ud800", max_size=40))
def test_an_identity_is_its_own_identity(text: str) -> None:
    once = identity("http://example.com/" + text)
    assert identity("http://" + once) == once


def test_the_site_is_the_host_a_reader_would_name() -> None:
    assert site_of("https://www.Example.com:8080/a") == "example.com"
    assert site_of("about:blank") is None
    assert site_of("http://[bad") is None


def test_the_address_that_is_kept_has_lost_what_tracks_readers_alone() -> None:
    assert readable("https://www.example.com/A/?b=%E4%B8%AD&utm_source=x&a=1#top") == "https://www.example.com/A/?b=%E4%B8%AD&a=1"
    assert readable("https://example.com/view.jsp?187") == "https://example.com/view.jsp?187"
    assert readable("https://example.com/a") == "https://example.com/a"
