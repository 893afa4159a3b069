"""URLs of the same page, and of different ones. The second table is more important: a wrong join loses an article."""

from __future__ import annotations

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from work_counts import ends

from newsportal.dedup.canonical import bare, display_url, domain, identity, is_specific, main_host, site_of, without_amp_cache

A = "example.com/2026/0305/123456.html"
SLUG = "example.com/news/old-town-roads-are-mended"

SAME = [
    # spelling
    ("https://www.example.com/a/1.html", "http://example.com/a/1.html"),
    ("http://EXAMPLE.com:80/a/", "http://example.com/a"),
    ("https://example.com:443/a", "https://example.com/a"),
    ("http://example.com/a?b=2&a=1", "http://example.com/a?a=1&b=2"),
    ("http://example.com/a?a=1&amp;b=2", "http://example.com/a?a=1&b=2"),
    ("http://example.com/a?a=1;b=2", "http://example.com/a?a=1&b=2"),
    ("http://example.com/新闻/1", "http://example.com/%E6%96%B0%E9%97%BB/1"),
    ("http://example.com/a%2fb", "http://example.com/a%2Fb"),
    ("http://example.com/%7Ewang/1", "http://example.com/~wang/1"),
    ("http://example.com//a///1.html", "http://example.com/a/1.html"),
    ("http://example.com/a#comments", "http://example.com/a"),
    ("http://example.com./a", "http://example.com/a"),
    ("http://新闻.example/a", "http://xn--efvy88h.example/a"),
    (" http://example.com/a\n", "http://example.com/a"),
    # tracking and session parameters
    ("http://example.com/a?utm_source=x&id=3&spm=1.2", "http://example.com/a?id=3"),
    ("http://example.com/a?fbclid=IwAR0&gclid=1", "http://example.com/a"),
    ("http://example.com/a?id=3&nsukey=abc&isappinstalled=0", "http://example.com/a?id=3"),
    ("http://example.com/a?UTM_Medium=mail", "http://example.com/a"),
    ("http://example.com/a;jsessionid=AB12?id=3", "http://example.com/a?id=3"),
    ("http://example.com/a?sid=0123456789abcdef0123&id=3", "http://example.com/a?id=3"),
    ("http://example.com/a?PHPSESSID=1234&id=3", "http://example.com/a?id=3"),
    (f"http://{A}?from=timeline", f"http://{A}"),
    (f"http://{A}?from=singlemessage&isappinstalled=0", f"http://{A}"),
    (f"http://{A}?ref=rss", f"http://{A}"),
    (f"http://{SLUG}?source=weibo&via=twitter", f"http://{SLUG}"),
    # default documents
    ("http://example.com/news/index.html", "http://example.com/news/"),
    ("http://example.com/news/default.aspx", "http://example.com/news"),
    ("http://example.com/index.php?id=7", "http://example.com/?id=7"),
    # hosts for other devices
    (f"https://m.{A}", f"https://www.{A}"),
    (f"https://wap.{A}", f"https://{A}"),
    (f"https://3g.{A}", f"https://{A}"),
    (f"https://mobile.{A}", f"https://{A}"),
    (f"https://m.www.{A}", f"https://{A}"),
    (f"https://www.m.{A}", f"https://{A}"),
    (f"https://m.{SLUG}", f"https://{SLUG}"),
    ("https://m.news.example.com/c/20260305-1234.html", "https://news.example.com/c/20260305-1234.html"),
    ("https://m.example.com.cn/a/123456789_100200", "https://www.example.com.cn/a/123456789_100200"),
    ("https://3g.example.com/news/article/K0N2S1AB0001XYZ9.html", "https://www.example.com/news/article/K0N2S1AB0001XYZ9.html"),
    ("https://m.example.com/view?id=7654321", "https://www.example.com/view?id=7654321"),
    ("https://wap.example.com/2026-03/05/c_112233.htm", "https://www.example.com/2026-03/05/c_112233.htm"),
    # AMP
    (f"https://{A}/amp", f"https://{A}"),
    (f"https://{A}/amp/", f"https://{A}"),
    (f"https://{SLUG}/amp", f"https://{SLUG}"),
    ("https://example.com/amp/2026/0305/123456.html", f"https://{A}"),
    ("https://example.com/2026/0305/123456.amp.html", f"https://{A}"),
    ("https://example.com/2026/0305/123456-amp.html", f"https://{A}"),
    (f"https://{A}?amp", f"https://{A}"),
    (f"https://{A}?amp=1", f"https://{A}"),
    (f"https://{A}?outputType=amp", f"https://{A}"),
    (f"https://amp.{A}", f"https://{A}"),
    (f"https://example-com.cdn.ampproject.org/c/s/{A}", f"https://{A}"),
    (f"https://example-com.cdn.ampproject.org/v/s/{A}?amp_js_v=0.1&usqp=mq331AQ", f"https://{A}"),
    (f"https://cdn.ampproject.org/c/{A}", f"http://{A}"),
    (f"https://www.google.com/amp/s/www.{A}", f"https://{A}"),
    (f"https://www.bing.com/amp/s/{A}", f"https://{A}"),
    (f"https://www.google.com/amp/s/amp.{A}/amp?amp=1", f"https://{A}"),
    # print
    (f"https://{A}?print=1", f"https://{A}"),
    (f"https://{A}?view=print", f"https://{A}"),
    (f"https://{SLUG}/print", f"https://{SLUG}"),
    ("https://example.com/print/2026/0305/123456.html", f"https://{A}"),
    ("https://example.com/2026/0305/123456_print.html", f"https://{A}"),
]

DIFFERENT = [
    # parameters and paths that identify an article
    ("http://example.com/a?id=3", "http://example.com/a?id=4"),
    ("http://example.com/a?sid=3", "http://example.com/a?sid=4"),
    ("http://example.com/view.jsp?187", "http://example.com/view.jsp?188"),
    ("http://example.com/a?id=3", "http://example.com/a?id=3&page=2"),
    ("http://example.com/a?id=3&id=4", "http://example.com/a?id=3"),
    ("http://example.com/a", "http://example.org/a"),
    ("http://example.com/a", "http://example.com:8080/a"),
    ("http://example.com/A", "http://example.com/a"),
    ("http://a.example.com/1", "http://b.example.com/1"),
    ("http://example.com/a%2Fb", "http://example.com/a/b"),
    ("http://example.com/a%3Fb", "http://example.com/a?b"),
    ("http://example.com/a+b", "http://example.com/a%20b"),
    ("http://example.com/1_2.html", "http://example.com/1.html"),
    ("http://example.com/index_2.html", "http://example.com/index.html"),
    ("http://example.com/a/index.html", "http://example.com/b/index.html"),
    ("http://example.com/2026/0305/123456.html", "http://example.com/2026/0305/123457.html"),
    ("http://example.com/content_1.html?p=1", "http://example.com/content_1.html?p=2"),
    ("http://example.com/a?token=short1", "http://example.com/a?token=short2"),
    ("http://example.com/a?s=news", "http://example.com/a?s=sport"),
    ("http://example.com/a?source=rss", "http://example.com/a?source=web"),
    ("http://example.com/a?from=10", "http://example.com/a?from=20"),
    (f"http://{A}?from=10", f"http://{A}?from=20"),
    (f"http://{A}?view=full", f"http://{A}?view=print"),
    # a mobile host may be a different system
    ("http://m.example.com/view?id=12", "http://www.example.com/view?id=12"),
    ("http://wap.example.com/news/123.html", "http://example.com/news/123.html"),
    ("http://m.example.com/", "http://example.com/"),
    ("http://m.example.com/list", "http://example.com/list"),
    ("http://m.example.com/20260305/", "http://example.com/20260305/"),
    ("http://m.example.com/2026-03/05/node_2.htm", "http://example.com/2026-03/05/node_2.htm"),
    (f"http://m.{A}".replace(".com", ".com:8080"), f"http://{A}".replace(".com", ".com:8080")),
    (f"http://mm.{A}", f"http://{A}"),
    (f"http://en.{A}", f"http://{A}"),
    (f"http://news.{A}", f"http://{A}"),
    (f"http://map.{A}", f"http://{A}"),
    (f"http://m-{A}", f"http://{A}"),
    # public suffixes
    ("http://m.com.cn/2026/0305/123456.html", "http://com.cn/2026/0305/123456.html"),
    ("http://wap.co.uk/2026/0305/123456.html", "http://co.uk/2026/0305/123456.html"),
    ("http://m.bj.cn/2026/0305/123456.html", "http://bj.cn/2026/0305/123456.html"),
    ("http://m.com/2026/0305/123456.html", "http://com/2026/0305/123456.html"),
    ("http://m.example.com/2026/0305/123456.html", "http://m.example.org/2026/0305/123456.html"),
    # similar to AMP or print URLs
    ("http://example.com/guitars/amp", "http://example.com/guitars"),
    ("http://example.com/amp/", "http://example.com/"),
    ("http://example.com/amp/list.html", "http://example.com/list.html"),
    ("http://example.com/print/", "http://example.com/"),
    ("http://example.com/news/print", "http://example.com/news"),
    ("http://example.com/a?amp=3", "http://example.com/a?amp=4"),
    (f"http://{A}?amp=3", f"http://{A}"),
    (f"http://{A}?print=2", f"http://{A}?print=3"),
    ("http://example.com/2026/0305/camp.html", "http://example.com/2026/0305/c.html"),
    ("http://example.com/2026/0305/123456-camp.html", "http://example.com/2026/0305/123456-c.html"),
    ("http://example.com/2026/0305/123456/ample", "http://example.com/2026/0305/123456"),
    ("http://example.com/2026/0305/123456/blueprint", "http://example.com/2026/0305/123456"),
    ("http://example.com/a?amp", "http://example.com/a"),
    # imitations of AMP caches
    (f"http://cdn.ampproject.org.evil.example/c/s/{A}", f"http://{A}"),
    (f"http://ampproject.org/c/s/{A}", f"http://{A}"),
    (f"http://evil.example/c/s/{A}", f"http://{A}"),
    (f"http://evil.example/amp/s/{A}", f"http://{A}"),
    (f"http://evil.example/?u=https://cdn.ampproject.org/c/s/{A}", f"http://{A}"),
    (f"http://google.com.evil.example/amp/s/{A}", f"http://{A}"),
    (f"http://cdn.ampproject.org@evil.example/c/s/{A}", f"http://{A}"),
    ("https://www.google.com/amp/s/guide", "https://guide"),
    (f"https://x.cdn.ampproject.org/i/s/{A}", f"https://{A}"),
    (f"http://evil.example/{A}", f"http://{A}"),
    (f"http://user@evil.example/{A}", f"http://{A}"),
    (f"http://{A}.evil.example/", f"http://{A}"),
]


def test_number_of_pairs() -> None:
    assert len(SAME) + len(DIFFERENT) >= 110
    assert len(set(SAME + DIFFERENT)) == len(SAME + DIFFERENT)


@pytest.mark.parametrize(("left", "right"), SAME)
def test_url_variants_have_one_identity(left: str, right: str) -> None:
    assert identity(left) == identity(right)


@pytest.mark.parametrize(("left", "right"), DIFFERENT)
def test_different_pages_have_different_identities(left: str, right: str) -> None:
    assert identity(left) != identity(right)


@given(st.text())
def test_any_text_has_an_identity_and_bare_name(text: str) -> None:
    for url in (text, "http://" + text, "https://x.cdn.ampproject.org/c/s/" + text, "http://m.example.com/" + text):
        assert isinstance(identity(url), str)
        assert isinstance(bare(url), str)


PARTS = st.sampled_from(
    "www. m. wap. amp. 3g. example com cn .com .com.cn .cn /amp /print /amp/ amp.html _print.html / // 123456.html 20260305 2026/03/05 "
    "1234567 a-long-title-in-words ?amp ?amp=1 &print=1 &from=timeline ?id=7 &id=1234567 &utm_source=x ;jsessionid=1 index.html %2F %41 "
    "新 # : 8080 https://x.cdn.ampproject.org/c/s/ www.google.com/amp/s/ \ud800 . - _ = & ; +".split()
)


@given(st.text(alphabet="abc/%25?=&;.新\ud800", max_size=40))
def test_identity_is_idempotent(text: str) -> None:
    once = identity("http://example.com/" + text)
    assert identity("http://" + once) == once


@settings(max_examples=500)
@example(["index.html", "/"])
@example(["index.html", "/", "index.html", "/", "/"])
@given(st.lists(PARTS, min_size=1, max_size=12))
def test_identity_of_variant_parts_is_idempotent(parts: list[str]) -> None:
    once = identity("http://m.example.com/" + "".join(parts))
    assert identity("http://" + once) == once
    assert identity("https://www." + once) == once or once.startswith("www.")


@given(st.lists(PARTS, max_size=12), st.sampled_from(["utm_source=x", "fbclid=1", "spm=a.b.c"]))
def test_tracker_does_not_change_identity(parts: list[str], tracker: str) -> None:
    url = "http://example.com/" + "".join(parts).replace("#", "").replace("?", "")
    assert identity(f"{url}?{tracker}") == identity(url)


@given(st.integers(1, 10**9), st.integers(1, 10**9), st.lists(PARTS, max_size=4))
def test_numbers_distinguish_articles(first: int, other: int, parts: list[str]) -> None:
    around = "".join(parts).replace("#", "").replace("?", "").replace(";jsessionid=1", "")
    left, right = (identity(f"http://m.example.com/{around}/n{number}x/show") for number in (first, other))
    assert (left == right) == (first == other)


def test_huge_url_takes_bounded_time() -> None:
    for url in (
        "http://example.com/" + "amp/" * 200_000,
        "http://example.com/1234567" + "/amp" * 20_000,
        "https://" + "x.cdn.ampproject.org/c/s/" * 20_000,
        "http://" + "m." * 100_000 + "example.com/1234567",
        "http://example.com/" + "a-" * 300_000,
        "http://example.com/?" + "a=1&" * 5_000,
        "http://example.com/" + "1a" * 300_000,
    ):
        with ends():
            identity(url)


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("/2026/0305/123456.html", True),
        ("/2026-03/05/c_112233.htm", True),
        ("/a/123456789_100200", True),
        ("/n1/2026/0305/c1001-40123456.html", True),
        ("/article/K0N2S1AB0001XYZ9.html", True),
        ("/news/old-town-roads-are-mended", True),
        ("/news/123.html", False),
        ("/20260305/", False),
        ("/2026-03/05/node_2.htm", False),
        ("/", False),
        ("/china/politics/", False),
        ("/top-10-news", False),
    ],
)
def test_specific_paths(path: str, expected: bool) -> None:
    assert is_specific(path) is expected


def test_hosts_and_registered_domains() -> None:
    assert main_host("m.www.example.com") == "example.com"
    assert main_host("m.com.cn") == "m.com.cn"
    assert domain("a.b.example.com.cn") == "example.com.cn"
    assert domain("news.example.com") == "example.com"
    assert domain("localhost") == "localhost"
    assert without_amp_cache("https://example.com/a") == "https://example.com/a"


def test_site_is_the_host_without_www() -> None:
    assert site_of("https://www.Example.com:8080/a") == "example.com"
    assert site_of("about:blank") is None
    assert site_of("http://[bad") is None


def test_readable_url_drops_only_trackers() -> None:
    assert display_url("https://www.example.com/A/?b=%E4%B8%AD&utm_source=x&a=1#top") == "https://www.example.com/A/?b=%E4%B8%AD&a=1"
    assert display_url("https://example.com/view.jsp?187") == "https://example.com/view.jsp?187"
    assert display_url("https://example.com/a") == "https://example.com/a"


def test_bare_name_keeps_everything() -> None:
    assert bare("https://www.Example.com/a/index.html?utm_source=x&sid=0123456789abcdef0123") == (
        "example.com/a/index.html?utm_source=x&sid=0123456789abcdef0123"
    )
    assert bare("http://m.example.com/1234567/amp?b=2&a=1") == "m.example.com/1234567/amp?b=2&a=1"
    assert bare("http://example.com#x") == "example.com/"
