"""All forms of pagers that link to an article's next page, and similar links that do not."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest
from work_counts import count_calls

from newsportal.cli.pages import saved_pages
from newsportal.extractors.lists.pagination import MAX_PAGES, Pager, find_pager, is_thread
from newsportal.items import Page
from newsportal.text import dom

SITE = "http://news.hedong.example"
URL = f"{SITE}/2026/0312/830115.html"
BODY = "<h1>古镇修路</h1><div id=content><p>" + "山间古镇的石板路昨天重新铺好，走了六十年的路终于不再积水。" * 10 + "</p></div>"


def pager(html: str, url: str = URL) -> Pager:
    return find_pager(dom.from_text(f"<html><body>{BODY}{html}</body></html>", url))


def further(html: str, url: str = URL) -> list[str]:
    return [page.removeprefix(f"{SITE}/2026/0312/") for page in pager(html, url).pages[1:]]


@pytest.mark.parametrize(
    ("html", "found"),
    [
        ('<a href="830115_2.html">下一页</a>', ["830115_2.html"]),
        ('<a href="/2026/0312/830115_2.html">下一頁</a>', ["830115_2.html"]),
        ('<a href="830115_2.html">下页</a>', ["830115_2.html"]),
        ('<a href="830115_2.html"><span>下一页 ›</span></a>', ["830115_2.html"]),
        ('<a href="830115_2.html">›</a>', ["830115_2.html"]),
        ('<a href="830115_2.html">Next</a>', ["830115_2.html"]),
        ('<a href="830115_2.html">Next Page »</a>', ["830115_2.html"]),
        ('<a href="830115_2.html">Nächste Seite Durchgehende Wege</a>', ["830115_2.html"]),
        ('<a href="830115_2.html">Weiter</a>', ["830115_2.html"]),
        ('<a href="830115_2.html">Suivant ›</a>', ["830115_2.html"]),
        ('<a href="830115_2.html">下一页：路上的石头</a>', ["830115_2.html"]),
        ('<a href="830115_2.html">次ページ 石の道 ></a>', ["830115_2.html"]),
        ('<a href="830115_2.html">Lesen Sie auf der nächsten Seite: Steine</a>', ["830115_2.html"]),
        ('<a href="830115_2.html">Continue to page 2</a>', ["830115_2.html"]),
        ('<a href="830115_2.html">余下全文</a>', ["830115_2.html"]),
        ('<a href="830115_2.html" title="下一页"></a>', ["830115_2.html"]),
        ('<a href="830115_2.html"><img src="r.gif" alt="下一页"></a>', ["830115_2.html"]),
        ('<link rel="next" href="830115_2.html">', ["830115_2.html"]),
        ('<a rel="next" href="830115_2.html"><i class="arrow"></i></a>', ["830115_2.html"]),
        ('<b>1</b> <a href="830115_2.html">2</a> <a href="830115_3.html">3</a>', ["830115_2.html", "830115_3.html"]),
        (
            '<a href="830115.html">1</a> <a href="830115_2.html">[2]</a> <a href="830115_3.html">第3页</a>',
            ["830115_2.html", "830115_3.html"],
        ),
        ('1 <a href="830115_1.html">2</a> <a href="830115_2.html">3</a>', ["830115_1.html", "830115_2.html"]),
        ('1 <a href="830115_2.html">2</a> … <a href="830115_5.html">5</a>', [f"830115_{n}.html" for n in (2, 3, 4, 5)]),
        ('<a href="?page=2">2</a> <a href="?page=3">3</a> <a href="?page=2">下一页</a>', ["830115.html?page=2", "830115.html?page=3"]),
        ('<select><option value="830115.html">第1页<option value="830115_2.html">第2页：路</select>', ["830115_2.html"]),
        ('<script>createPageHTML(3, 0, "830115", "html")</script>', ["830115_1.html", "830115_2.html"]),
    ],
)
def test_forms_of_pagers(html: str, found: list[str]) -> None:
    assert further(html) == found


@pytest.mark.parametrize(
    "html",
    [
        "",
        '<a href="830116.html">下一篇</a> <a href="830114.html">上一篇</a>',
        '<a href="830116.html">下一页</a>',
        '<a rel="next" href="/2026/0313/830200.html">古镇修桥</a><link rel="next" href="/2026/0313/830200.html">',
        '<a href="830115.html">下一页</a>',
        '<a href="#page2">下一页</a> <a href="830115.html#2">2</a>',
        '<a href="javascript:next()">下一页</a>',
        '<a class="next disabled" href="830115_2.html">下一页</a>',
        '<a href="http://ads.example/830115_2.html">下一页</a>',
        '<div id="comments"><a href="?page=2">2</a> <a href="?page=3">3</a> <a href="?page=2">下一页</a></div>',
        '<a href="?page=2#comments">2</a> <a href="?page=3#comments">3</a> <a href="?page=2#comments">Next</a>',
        '<a href="?cpage=2">2</a> <a href="?cpage=2">下一页</a>',
        '<h3>网友评论</h3><div><form><textarea></textarea></form></div><p>1 <a href="?p=2">2</a> <a href="?p=3">3</a></p>',
        '<div class="related"><a href="830115_2.html">2</a> <a href="830115_3.html">3</a></div>',
        '<a href="830115_9.html">末页</a>',
        '<ul><li><a href="830201.html">1</a><li><a href="830202.html">2</a><li><a href="830203.html">3</a></ul>',
        '<table><tr><td><a href="/2026/03/01/">1</a><td><a href="/2026/03/02/">2</a></table>',
        '<a href="/2026/0312/">2</a>',
        '<script>var countPage = 1; createPageHTML(1, 0, "830115", "html")</script>',
        '<script>createPageHTML(5, 0, "index", "html")</script>',
        '<a href="830115_2.html">图</a>',
    ],
)
def test_other_links_are_not_a_pager(html: str) -> None:
    assert pager(html) == Pager((URL,))


@pytest.mark.parametrize(
    ("path", "html"),
    [
        ("/news_12.html", '<a href="/news_13.html">›</a><a href="/news_11.html">‹</a>'),
        ("/diary-2/", '<a rel="next" href="/diary-3/">Diary, part 3</a>'),
        ("/diary-2/", '<a href="/diary-3/">Next</a>'),
        ("/open-thread/", '<link rel="next" href="/open-thread-2/"><a rel="next" href="/open-thread-2/">Open thread</a>'),
        ("/open-thread/", '<a href="/open-thread-2/">»</a>'),
        ("/t/1.html", '<a href="/t/2.html">下一篇</a>'),
        ("/", '<a href="/page/2/">2</a> <a href="/page/2/">下一页</a>'),
    ],
)
def test_numbered_article_urls_are_not_pages(path: str, html: str) -> None:
    assert pager(html, SITE + path).next is None


@pytest.mark.parametrize("following", ["/open-thread/2/", "/open-thread/page/2/", "/open-thread/seite-2", "/open-thread?page=2"])
def test_declared_next_link_needs_a_page_url(following: str) -> None:
    assert pager(f'<link rel="next" href="{following}">', f"{SITE}/open-thread/").next == SITE + following


def test_later_page_has_next_and_first() -> None:
    html = '<a href="830115.html">1</a> <b>2</b> <a href="830115_3.html">3</a> <a href="830115_3.html">下一页</a>'
    found = pager(html, f"{SITE}/2026/0312/830115_2.html")
    assert found.pages == (f"{SITE}/2026/0312/830115_2.html", f"{SITE}/2026/0312/830115_3.html")
    assert found.first == URL


def test_last_page_has_no_next() -> None:
    html = '<a href="830115.html">1</a> <a href="830115_2.html">2</a> <b>3</b> <a href="830115_2.html">上一页</a>'
    found = pager(html, f"{SITE}/2026/0312/830115_3.html")
    assert (found.next, found.first, found.several_pages) == (None, URL, ())


def test_canonical_url_of_later_page_is_the_first() -> None:
    html = f'<link rel="canonical" href="{URL}">'
    assert pager(html, f"{SITE}/2026/0312/830115_2.html").first == URL
    assert pager(html, f"{SITE}/2026/0312/830116_2.html").first is None
    assert pager(html).first is None


def test_page_urls_may_count_from_zero() -> None:
    first = pager('1 <a href="830115_1.html">2</a> <a href="830115_1.html">下一页</a>', f"{SITE}/2026/0312/830115_0.html")
    assert first.next == f"{SITE}/2026/0312/830115_1.html"
    assert first.first is None


@pytest.mark.parametrize(
    "link",
    [
        '<a href="830115_all.html#p1">在本页阅读全文</a>',
        '<a href="830115.html?printPaged=true">Artikel auf einer Seite lesen</a>',
        '<a href="830115_0.html">单页阅读</a>',
    ],
)
def test_single_page_link_is_found(link: str) -> None:
    assert pager(f'<a href="830115_2.html">下一页</a>{link}').single_page is not None
    assert pager(link).single_page is None, "an article of one page has no single-page version"
    assert pager('<a href="830115_2.html">下一页</a><a href="/photos/">查看全部</a>').single_page is None


def test_pager_without_known_page_url() -> None:
    found = pager('<a href="830115.html">1</a> <a href="830115_2.html">2</a> <a href="830115_2.html">下一页</a>', "about:blank")
    assert [url.rpartition("/")[2] for url in found.pages] == ["830115.html", "830115_2.html"]
    assert pager('<a href="830116.html">2</a>', "about:blank").next is None
    drawn = pager('<script>createPageHTML(3, 1, "t1", "html")</script>', "about:blank")
    assert [url.rpartition("/")[2] for url in drawn.pages] == ["t1_1.html", "t1_2.html"]
    canonical = f'<link rel="canonical" href="{URL}">'
    assert pager(f'{canonical}<a href="830115_2.html">2</a>', "about:blank").pages[0] == URL


def test_pages_are_limited() -> None:
    html = "".join(f'<a href="830115_{number}.html">{number}</a>' for number in range(2, 300))
    assert len(pager(html).pages) == MAX_PAGES


def test_many_links_take_bounded_time() -> None:
    html = "".join(f'<a href="830115_{number % 90}.html"><b>{number % 90}</b></a>' for number in range(20_000))
    document = dom.from_text(html, URL)
    assert document.root is not None
    assert count_calls(find_pager, document) < 1_200_000, "the number of compared links is limited"


def test_large_unclosed_links_take_bounded_time() -> None:
    document = dom.from_text("<a href='830115_2.html'>" * 900 + "<b>字</b>" * 50_000, URL)
    assert document.root is not None
    assert count_calls(find_pager, document) < 50_000, "a constant number for each of 900 links"


def test_thread_urls_are_recognised() -> None:
    assert is_thread("http://bbs.hedong.example/thread-12-1-1.html")
    assert is_thread("http://hedong.example/viewthread.php?tid=3")
    assert not is_thread(URL)


@pytest.mark.data
def test_real_pagers(data: Path) -> None:
    right = []
    for page in saved_pages(data / "pager"):
        gold = json.loads((data / "pager" / f"{page.id}.json").read_text("utf-8"))
        found = find_pager(dom.document(Page(page.url or "about:blank", page.body, datetime.now(UTC))))
        right.append(found.next == gold["next"] and gold["total_pages"] in (None, len(found.pages)))
    assert right == [True] * 10


PAGES_WITH_NEXT = [("daniel-zh", 21), ("zh-news", 1), ("magic-article", 5), ("fundus-tests", 0), ("scrapinghub", 0), ("tw-event", 0)]
"""Number of pages in each folder with a next page; each one found was checked by hand."""


@pytest.mark.data
@pytest.mark.parametrize(("folder", "several"), PAGES_WITH_NEXT)
def test_next_pages_of_real_articles(data: Path, folder: str, several: int) -> None:
    pages = (page for page in saved_pages(data / "extraction" / folder) if page.error is None)
    found = [find_pager(dom.document(Page(page.url or "about:blank", page.body, datetime.now(UTC)))).next for page in pages]
    urls = [url for url in found if url]
    assert len(urls) == several, f"check these pages by hand: {urls}"
