"""Page numbers in URLs, and article URLs that are merely numbered."""

from __future__ import annotations

import pytest

from newsportal.extractors.lists.page_marks import last_id, marks_of, mobile_step, step, without_mark

SITE = "http://news.hedong.example"


@pytest.mark.parametrize(
    ("path", "other", "numbers"),
    [
        ("/2026/0312/c_830115.htm", "/2026/0312/c_830115_2.htm", (None, 2)),
        ("/2026/0312/c_830115_2.htm", "/2026/0312/c_830115_3.htm", (2, 3)),
        ("/2026/0312/c_830115_3.htm", "/2026/0312/c_830115.htm", (3, None)),
        ("/2026/0312/830115_0.shtml", "/2026/0312/830115_1.shtml", (0, 1)),
        ("/n/2026/c1001-830115.html", "/n/2026/c1001-830115-2.html", (None, 2)),
        ("/wirtschaft/lange-zeile-16604.html", "/wirtschaft/lange-zeile-16604-p2.html", (None, 2)),
        ("/politik/lange-zeile", "/politik/lange-zeile/seite-2", (None, 2)),
        ("/2026/03/long-story/", "/2026/03/long-story/2/", (None, 2)),
        ("/2026/03/long-story/", "/2026/03/long-story/page/3/", (None, 3)),
        ("/a/12/index.shtml", "/a/12/index_2.shtml", (None, 2)),
        ("/a/12/", "/a/12/2.html", (None, 2)),
        ("/a/12.html", "/a/12,2.html", (None, 2)),
        ("/show-12-345-1.html", "/show-12-345-2.html", (1, 2)),
        ("/view.php?id=3", "/view.php?id=3&page=2", (None, 2)),
        ("/view.php?id=3&page=2", "/view.php?id=3&page=3", (2, 3)),
        ("/view.asp?id=3", "/view.asp?id=3&ArticlePage=2", (None, 2)),
        ("/index.php?m=show&id=3", "/index.php?m=show&id=3&page=2", (None, 2)),
        ("/2026/0312/c_830115.htm?from=rss", "/2026/0312/c_830115_2.htm", (None, 2)),
        ("/2026/03/long-story/?utm_source=feed", "/2026/03/long-story/2/", (None, 2)),
        ("/a/12/index.html", "/a/12/index2.html", (None, 2)),
        ("/meldung-16604.html", "/meldung-16604.html?artikelseite=2", (None, 2)),
        ("/c.html?page=2", "/c.html?page=3", (2, 3)),
        ("/%E5%8F%A4%E9%95%87/1234", "/古镇/1234_2", (None, 2)),
    ],
)
def test_url_continues_another(path: str, other: str, numbers: tuple[int | None, int | None]) -> None:
    found = step(marks_of(SITE + path), SITE + other)
    assert found is not None
    assert (found.current, found.other) == numbers
    if found.other is not None:
        assert found.form.replace("{}", str(found.other)) == SITE + other


@pytest.mark.parametrize(
    ("path", "other"),
    [
        ("/2026/0312/830115.html", "/2026/0312/830116.html"),
        ("/2026/0312/830115.html", "/2026/0312/830115.html#page2"),
        ("/2026/0312/830115.html", "/2026/0312/830115.html?from=singlemessage"),
        ("/view.php?id=3", "/view.php?id=4"),
        ("/view.php?id=3", "/view.php?page=2"),
        ("/2026/03/long-story/", "/2026/03/another-story/2/"),
        ("/2026/03/long-story/", "/2026/03/long-story/comment-page-2/"),
        ("/2026/0312/830115.html", "/2026/0312/830115_2012.html"),
        ("/", "/page/2/"),
        ("/", "/?page=2"),
        ("/index.html", "/index_2.html"),
    ],
)
def test_urls_of_other_articles_and_lists_do_not_continue(path: str, other: str) -> None:
    assert step(marks_of(SITE + path), SITE + other) is None


def test_mobile_hosts_are_equivalent() -> None:
    desktop = marks_of("https://www.hedong.example/a/830115.html")
    assert step(desktop, "http://m.hedong.example/a/830115_2.html") is not None
    assert step(desktop, "http://bbs.hedong.example/a/830115_2.html") is None
    other_form = "https://wap.hedong.example/Content-830115_2.html"
    assert step(desktop, other_form) is None
    assert mobile_step(desktop, other_form) is not None
    assert mobile_step(desktop, "https://wap.hexi.example/Content-830115_2.html") is None
    assert mobile_step(desktop, "https://wap.hedong.example/Content-830116_2.html") is None


def test_invalid_url_has_no_readings() -> None:
    assert marks_of("http://[") == ()
    assert marks_of("about:blank") == ()
    assert marks_of("http://a.example/" + "a" * 5000) == ()


def test_article_id_is_the_last_number_or_code() -> None:
    assert last_id("a.example/2026/t20260312_830115") == "830115"
    assert last_id("a.example/a/406539K3") == "406539K3"
    assert last_id("a.example/a/12") is None


@pytest.mark.parametrize(
    ("form", "first"),
    [("/a/1_{}.htm", "/a/1.htm"), ("/a/1-p{}.htm", "/a/1.htm"), ("/a/page/{}/", "/a/"), ("/a/{}", "/a"), ("/a?page={}", "/a")],
)
def test_first_page_url_is_without_mark(form: str, first: str) -> None:
    assert without_mark(form) == first
