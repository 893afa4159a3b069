"""Canonical URLs declared by pages: accepted where no article can be lost, otherwise only if the contents agree."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from newsportal.dedup.canonical import identity
from newsportal.dedup.declared import Content, declared_identity, same_article

A = "https://www.example.com/2026/0305/123456.html"
NOW = datetime(2026, 3, 5, 12, tzinfo=UTC)
TEXT = (
    "山间古镇的石板路昨天重新铺好，镇上的老人说，走了六十年的路终于不再积水。"
    "施工队用了 45 天，换下 12000 块石板，旧石板运到河边砌成了台阶。"
)

TRUSTED = [
    (f"{A}?maca=rss-all", A),
    (f"{A}?r=rss&ico=top", A),
    ("https://example.com/view?aid=1234567&cid=99", "https://example.com/view?aid=1234567"),
    ("https://m.example.com/2026/0305/123456.html?tt=1", A),
    ("https://example.com/news/old-town-roads-are-mended?tag=x", "https://example.com/news/old-town-roads-are-mended"),
]

CLAIMS = [
    ("https://example.com/?p=123", "https://example.com/2026/03/old-town-roads-are-mended/"),
    ("https://m.example.com/view?id=12", "https://www.example.com/news/12.html"),
    ("https://sports.example.com/2026/0305/123456.html", "https://news.example.com/2026/0305/123456.html"),
    (f"{A}?d=20260305", A),
    (f"{A}?no=1234", A),
    ("https://example.com/a/1234567/some-slug", "https://example.com/a/1234567"),
]

IGNORED = [
    (A, None),
    (A, ""),
    (A, A),
    (A, "http://m.example.com/2026/0305/123456.html/amp"),
    (A, "https://www.example.com/"),
    (A, "https://www.example.com/2026/0305/"),
    (A, "https://www.example.com/2026/"),
    (A, "https://www.example.com/china/"),
    (A, "https://www.other.example/2026/0305/123456.html"),
    (A, "https://example.com.evil.example/2026/0305/123456.html"),
    (A, "https://www.example.com:8080/2026/0305/123456.html"),
    (A, "https://user@www.example.com/2026/0305/123457.html"),
    (A, "javascript:alert(1)"),
    (A, "ftp://www.example.com/2026/0305/123457.html"),
    (A, "https://"),
    (A, "http://[bad/1234567"),
    (A, "/2026/0305/123457.html"),
    (A, "https://www.example.com/{{article.url}}/1234567"),
    (A, "https://www.example.com/undefined/1234567"),
    (A, "https://www.example.com/" + "a" * 3000),
    ("https://www.example.com/view.php?id=123", "https://www.example.com/view.php"),
    ("https://www.example.com/en/2026/0305/123456.html", "https://www.example.com/zh/2026/0305/123456.html"),
    ("https://www.example.com/2026/0305/123456.html?lang=en", A),
    ("https://en.example.com/2026/0305/123456.html", A),
    ("https://www.example.com/2026/0305/123456_2.html", A),
    ("https://www.example.com/2026/0305/1234567/2", "https://www.example.com/2026/0305/1234567"),
    (f"{A}?page=2", A),
    ("https://a.com.cn/2026/0305/123456.html", "https://b.com.cn/2026/0305/123456.html"),
    ("about:blank", A),
]


@pytest.mark.parametrize(("url", "canonical"), TRUSTED)
def test_canonical_url_drops_meaningless_parameters(url: str, canonical: str) -> None:
    found = declared_identity(url, canonical)
    assert found is not None
    assert (found.identity, found.trusted) == (identity(canonical), True)


@pytest.mark.parametrize(("url", "canonical"), CLAIMS)
def test_other_url_of_the_site_is_only_a_claim(url: str, canonical: str) -> None:
    found = declared_identity(url, canonical)
    assert found is not None
    assert (found.identity, found.trusted) == (identity(canonical), False)


@pytest.mark.parametrize(("url", "canonical"), IGNORED)
def test_other_canonical_urls_are_ignored(url: str, canonical: str | None) -> None:
    assert declared_identity(url, canonical) is None


@given(st.text(), st.text())
def test_any_two_texts_are_accepted(url: str, canonical: str) -> None:
    for first, other in ((url, canonical), (A, "https://www.example.com/" + canonical), ("http://" + url, "http://" + url + canonical)):
        declared_identity(first, other)


def content(text: str = TEXT, title: str = "古镇的路铺好了", published: datetime | None = NOW) -> Content:
    return Content(title, text, published)


@pytest.mark.parametrize(
    ("other", "expected"),
    [
        (content(), True),
        (content("本报讯 " + TEXT + "（完）"), True),
        (content(TEXT.replace("，", ",")), True),
        (content(published=NOW + timedelta(hours=20)), True),
        (content(published=None), True),
        (content(published=NOW + timedelta(days=2)), False),
        (content(TEXT.replace("45", "46").replace("12000", "13000")), False),
        (
            content(TEXT[: len(TEXT) // 2] + "码头的渡船又开了，每天二十班，票价两元，老人孩子免票，渡口边的茶馆也开到十点，雨天停航。"),
            False,
        ),
        (content(""), False),
        (Content(None, None, None), False),
    ],
)
def test_contents_agree_only_for_the_same_article(other: Content, expected: bool) -> None:
    assert same_article(content(), other) is expected
    assert same_article(other, content()) is expected


def test_same_template_on_another_day_disagrees() -> None:
    weather = "今天白天{}晴间多云，北风{}级，最高气温{}℃，夜间多云，北风转南风二级，最低气温{}℃，请注意添衣保暖，出行注意安全。"
    assert not same_article(content(weather.format("", 3, 12, 1), published=None), content(weather.format("", 2, 9, 4), published=None))


def test_stub_texts_need_the_same_title() -> None:
    assert same_article(content("点击查看视频"), content("点击查看视频"))
    assert not same_article(content("点击查看视频"), content("点击查看视频", title="渡船又开了"))
