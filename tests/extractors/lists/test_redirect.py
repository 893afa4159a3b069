"""Redirect links of search engines: resolved from their parameters, otherwise kept."""

from __future__ import annotations

import base64

import pytest
from hypothesis import given
from hypothesis import strategies as st

from newsportal.extractors.lists.redirect import is_advert, is_redirect, needs_fetch, resolve

TARGET = "https://news.example.cn/2026/旅游.html?a=1&b=2"
PACKED = base64.urlsafe_b64encode(TARGET.encode()).decode().rstrip("=")
QUOTED = "https%3A%2F%2Fnews.example.cn%2F2026%2F%E6%97%85%E6%B8%B8.html%3Fa%3D1%26b%3D2"
ARTICLE = base64.urlsafe_b64encode(b"\x08\x13\x22\x2chttps://news.example.com/a/1.html\xd2\x01\x00").decode().rstrip("=")


@pytest.mark.parametrize(
    "url",
    [
        f"https://www.google.com/url?q={QUOTED}&sa=U&ved=x",
        f"https://www.google.co.jp/url?sa=t&url={QUOTED}",
        f"https://www.bing.com/ck/a?!&&p=0&u=a1{PACKED}&ntb=1",
        f"http://cn.bing.com/news/apiclick.aspx?ref=FexRss&url={QUOTED}&c=1",
        f"https://r.search.yahoo.com/_ylt=A/RV=2/RO=10/RU={QUOTED}/RK=0/RS=x-",
        f"https://duckduckgo.com/l/?uddg={QUOTED}&rut=1",
        f"//duckduckgo.com/l/?kh=-1&uddg={QUOTED}",
        f"http://www.so.com/link?url={QUOTED}&q=%E6%97%85",
        f"https://www.sogou.com/link?url={QUOTED}",
    ],
)
def test_target_is_read_from_link(url: str) -> None:
    assert resolve(url) == TARGET
    assert is_redirect(url)
    assert not needs_fetch(url)


def test_old_google_news_ids_are_decoded() -> None:
    assert resolve(f"https://news.google.com/rss/articles/{ARTICLE}?oc=5") == "https://news.example.com/a/1.html"


@pytest.mark.parametrize(
    "url",
    [
        "http://www.baidu.com/link?url=JH9TtoiqQ93d_PYH82OG",
        "https://www.sogou.com/link?url=44aejrzSKwVQJPJOVp91EOXD0mlUZJWX.",
        "https://www.so.com/link?m=abcdef",
        "https://news.google.com/rss/articles/CBMiAU_yqLNpbm5lZA?oc=5",
    ],
)
def test_opaque_link_needs_a_fetch(url: str) -> None:
    assert resolve(url) == url
    assert needs_fetch(url)
    assert is_redirect(url)


@pytest.mark.parametrize(
    "url",
    [
        "https://news.example.cn/link?url=https%3A%2F%2Fother.example%2F",
        "https://evilgoogle.com/url?q=https%3A%2F%2Fother.example%2F",
        "https://www.google.com/search?q=https%3A%2F%2Fother.example%2F",
        "https://www.google.com/url?q=javascript%3Aalert(1)",
        "https://www.bing.com/ck/a?u=a1_not-base64-of-a-url",
        "https://r.search.yahoo.com/_ylt=A/RU=javascript%3aalert(1)/RK=0",
        "http://[broken/url?q=https://a.example/",
        "http://www.google.com:99999999/url?q=https://a.example/",
        "",
    ],
)
def test_other_links_are_unchanged(url: str) -> None:
    assert resolve(url) == url
    assert not needs_fetch(url)


def test_nested_redirects_are_limited() -> None:
    inner = "https%3A%2F%2Fduckduckgo.com%2Fl%2F%3Fuddg%3Dhttps%253A%252F%252Fa.example%252F"
    assert resolve(f"https://www.google.com/url?q={inner}") == "https://a.example/"
    deep = "https://a.example/"
    for _ in range(9):
        deep = f"https://www.google.com/url?q={deep}"
    assert resolve(deep).startswith("https://www.google.com/url")


def test_relative_redirect_is_recognised() -> None:
    assert is_redirect("/link?url=44aejrzSKw.")
    assert is_redirect("/url?q=https://a.example/&sa=U")
    assert not is_redirect("/news/link?url=x")


@pytest.mark.parametrize(
    ("url", "advert"),
    [
        ("https://www.bing.com/aclick?ld=x", True),
        ("http://www.sogou.com/bill_cpc?v=1&p=x", True),
        ("https://www.googleadservices.com/pagead/aclk?sa=L", True),
        ("https://www.baidu.com/baidu.php?url=x", True),
        ("https://duckduckgo.com/y.js?ad_domain=x", True),
        ("https://news.example.cn/aclick.html", False),
        ("https://www.baidu.com/link?url=x", False),
    ],
)
def test_advertisement_links(url: str, advert: bool) -> None:
    assert is_advert(url) is advert


HOSTS = st.sampled_from(
    ["www.google.com", "www.bing.com", "r.search.yahoo.com", "duckduckgo.com", "www.so.com", "www.baidu.com", "[::1", "a:b"]
)
PATHS = st.sampled_from(["/url", "/ck/a", "/l/", "/link", "/articles/CBMi", "/RU=", "/**http", ""])


@given(HOSTS, PATHS, st.text(max_size=80))
def test_any_link_is_accepted(host: str, path: str, tail: str) -> None:
    for url in (f"https://{host}{path}?q={tail}&u=a1{tail}&uddg={tail}", f"//{host}{path}{tail}", tail):
        target = resolve(url)
        assert target == url or target.startswith(("http://", "https://"))
        assert isinstance(needs_fetch(url) or is_redirect(url) or is_advert(url), bool)
