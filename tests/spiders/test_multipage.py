"""Further pages of an article are fetched, joined and marked as known; misleading pagers and failing pages lose no article and end."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest
from link_rows import let_wait, waiting
from scrapy.http import Response

from newsportal.crawl.link_tracker import LinkTracker
from newsportal.dedup.canonical import identity
from newsportal.extractors.lists.pagination import MAX_FETCHED
from newsportal.items import Article, Link, Page
from newsportal.pipelines.base import ItemDone
from newsportal.pipelines.content import ContentPipeline, WrapperPipeline
from newsportal.pipelines.duplicate import UrlFilterPipeline
from newsportal.pipelines.store import StorePipeline
from newsportal.spiders import multipage
from newsportal.spiders.fetcher import Interrupted, Outcome, PageUnavailable
from newsportal.spiders.multipage import ArticleFetcher

NOW = datetime(2026, 3, 5, 12, 0, tzinfo=UTC)
SITE = "https://b.example/2026/"
NUMBERS = "一二三四五六七八九十"


def url(number: int) -> str:
    return f"{SITE}830115.html" if number == 1 else f"{SITE}830115_{number}.html"


def sentence_of(number: int) -> str:
    return (
        f"山间古镇的第{NUMBERS[number % 10]}段石板路昨天重新铺好，编号{number * 7919}的石头是镇上老人自己挑的，走了六十年的路终于不再积水。"
    )


def links(*numbers: int, following: int | None = None) -> str:
    written = "".join(f'<a href="{url(number)}">{number}</a> ' for number in numbers)
    return written + (f'<a href="{url(following)}">下一页</a>' if following else "")


def body(number: int) -> str:
    return f"<p>{sentence_of(number)}</p><p>来看路的人比买豆腐的人还多，第{number}天店家把凳子搬到了门外，一直坐到太阳下山才回去。</p>"


def html(number: int, pager: str, title: str = "古镇的路铺好了", text: str | None = None) -> str:
    inner = body(number) if text is None else text
    return f"<html><head><title>{title}</title></head><body><h1>{title}</h1><div class=text>{inner}</div><p>{pager}</p></body></html>"


def missing(reason: str) -> PageUnavailable:
    return PageUnavailable(Outcome(reason, reason))


class Web:
    """Pages by URL; an exception stands for a failed request. ``requests`` records the requests."""

    def __init__(self, pages: dict[str, str | Exception], leads: dict[str, str] | None = None) -> None:
        self.pages = pages
        self.leads = leads or {}
        self.requests: list[str] = []

    async def __call__(self, address: str, source: str) -> Response:
        self.requests.append(address)
        final = self.leads.get(address, address)
        found = self.pages.get(final, missing("http-404"))
        if isinstance(found, Exception):
            raise found
        return Response(final, body=found.encode(), headers={"Content-Type": "text/html; charset=utf-8"})


def web(last: int, change: dict[int, str | Exception] | None = None) -> Web:
    """Return an article of pages 1 to ``last``, each with a complete pager."""
    pages: dict[str, str | Exception] = {
        url(number): html(number, links(*range(1, last + 1), following=number + 1 if number < last else None))
        for number in range(1, last + 1)
    }
    return Web(pages | {url(number): page for number, page in (change or {}).items()})


def article(served: Web, number: int = 1, source: str = "feed:乙") -> Article:
    page = served.pages[url(number)]
    assert isinstance(page, str)
    fetched = Page(url(number), page.encode(), NOW, content_type="text/html; charset=utf-8")
    return Article(url=url(number), link=Link(url(number), source), fetched=NOW, page=fetched)


def process_article(tracker: LinkTracker, served: Any, item: Article) -> Article:
    """Process the article as the spider and the stages after it do."""
    item = asyncio.run(ArticleFetcher(tracker, served).complete(item))
    for stage in (WrapperPipeline(tracker), ContentPipeline(tracker)):
        item = asyncio.run(stage.process_item(item))
    return item


def read_article(tracker: LinkTracker, served: Web, number: int = 1, source: str = "feed:乙") -> Article:
    return process_article(tracker, served, article(served, number, source))


def pages_of(found: Article, end: int = 40) -> list[int]:
    """Return the numbers of the pages whose text is in the article, in its order."""
    text = found.text or ""
    places = [(text.find(sentence_of(number)), number) for number in range(1, end)]
    assert all(text.count(sentence_of(number)) <= 1 for number in range(1, end))
    return [number for place, number in sorted(places) if place >= 0]


def notes(tracker: LinkTracker) -> list[str]:
    return [str(note) for row in tracker.report() for note in row.notes]


def test_pages_are_joined_in_order(tracker: LinkTracker) -> None:
    served = web(4)
    found = read_article(tracker, served)
    assert pages_of(found) == [1, 2, 3, 4]
    assert found.html is not None
    assert all(sentence_of(number) in found.html for number in range(1, 5))
    assert found.pages == tuple(url(number) for number in range(1, 5))
    assert served.requests == [url(number) for number in range(2, 5)]
    assert notes(tracker) == []


def test_single_page_needs_no_requests(tracker: LinkTracker) -> None:
    served = web(1)
    assert read_article(tracker, served).pages == ()
    assert served.requests == []


def chain(last: int, after: Callable[[int], int | None]) -> Web:
    """Return pages that link only to the next one."""
    return Web({url(number): html(number, links(following=after(number))) for number in range(1, last + 1)})


@pytest.mark.parametrize(
    ("served", "pages", "requests"),
    [
        (chain(3, lambda number: number % 3 + 1), [1, 2, 3], 2),  # a cycle
        (chain(3, lambda number: number + 1 if number < 3 else 3), [1, 2, 3], 2),  # the last page links to itself
        (web(5, {4: html(3, links(following=5)), 5: html(3, links(following=6))}), [1, 2, 3], 3),  # repeats the last page
        (web(3, {3: html(9, "", title="古镇的路铺好了的网友评论")}), [1, 2], 2),  # comments
        (web(3, {3: "<html><title>页面不存在</title><body><p>您访问的页面不存在</p></body></html>"}), [1, 2], 2),  # soft 404
        (web(3, {2: "<html><title>空</title></html>"}), [1], 1),
    ],
)
def test_misleading_pagers_end(tracker: LinkTracker, served: Web, pages: list[int], requests: int) -> None:
    assert pages_of(read_article(tracker, served)) == pages
    assert len(served.requests) == requests


def test_endless_pager_is_cut_and_noted(tracker: LinkTracker) -> None:
    served = chain(100, lambda number: number + 1)
    assert len(pages_of(read_article(tracker, served), 101)) == MAX_FETCHED
    assert len(served.requests) == MAX_FETCHED - 1
    assert "too-many" in notes(tracker)[0]


def test_slow_host_is_given_up(tracker: LinkTracker, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(multipage, "MAX_SECONDS", 0.0)
    served = web(4)
    assert pages_of(read_article(tracker, served)) == [1]
    assert served.requests == []


@pytest.mark.parametrize("reason", ["http-404", "http-500", "robots", "timeout"])
def test_failed_page_ends_article_without_losing_it(tracker: LinkTracker, reason: str) -> None:
    found = read_article(tracker, web(4, {3: missing(reason)}))
    assert pages_of(found) == [1, 2]
    assert found.pages == (url(1), url(2))
    assert notes(tracker) == [f"further pages of some articles cannot be fetched ({reason})"]


@pytest.mark.parametrize("number", [1, 4])
def test_reader_error_on_page_loses_no_article(tracker: LinkTracker, caplog: pytest.LogCaptureFixture, number: int) -> None:
    found = read_article(tracker, web(4, {3 if number == 1 else 1: ValueError("?")}), number)
    assert pages_of(found) == ([1, 2] if number == 1 else [4])
    assert notes(tracker) == ["further pages of some articles cannot be fetched (error: ValueError)"]
    assert "reading a further page failed" in caplog.text


def test_missing_second_page_leaves_one_page(tracker: LinkTracker) -> None:
    served = web(2, {1: html(1, links(1, 2, following=2), title="古镇的路铺好了（1）"), 2: missing("http-404")})
    found = read_article(tracker, served)
    assert (pages_of(found), found.pages, found.title) == ([1], (), "古镇的路铺好了")


def test_redirect_to_front_or_earlier_page_is_the_end(tracker: LinkTracker) -> None:
    for target in ("https://b.example/", url(1), url(2)):
        served = web(3)
        served.pages["https://b.example/"] = html(9, "")
        served.leads = {url(3): target}
        assert pages_of(read_article(tracker, served)) == [1, 2]


def test_interrupted_article_is_left_to_next_run(tracker: LinkTracker) -> None:
    served = web(3, {3: Interrupted()})
    let_wait(tracker, Link(url(1), "feed:乙"))
    with pytest.raises(Interrupted):
        read_article(tracker, served)
    assert waiting(tracker.store, "feed:乙") == [url(1)]
    assert all(row.failed == {} and row.parsed == 0 for row in tracker.report())


def test_single_page_view_is_preferred(tracker: LinkTracker) -> None:
    served = web(4)
    link = f'<a href="{SITE}830115_all.html">在本页阅读全文</a>'
    first = served.pages[url(1)]
    assert isinstance(first, str)
    served.pages[url(1)] = first.replace("</body>", f"{link}</body>")
    served.pages[f"{SITE}830115_all.html"] = html(0, "", title="单页", text="".join(map(body, range(1, 5))))
    found = read_article(tracker, served)
    assert (pages_of(found), found.title) == ([1, 2, 3, 4], "古镇的路铺好了")
    assert served.requests == [f"{SITE}830115_all.html"]
    served.pages[f"{SITE}830115_all.html"] = html(9, "")
    assert pages_of(read_article(tracker, served)) == [1, 2, 3, 4], "the page has another article"


def test_later_page_in_list_resolves_to_first(tracker: LinkTracker) -> None:
    served = web(3)
    found = read_article(tracker, served, number=2)
    assert (found.url, pages_of(found)) == (url(1), [1, 2, 3])
    incomplete = web(3, {1: missing("http-404")})
    found = read_article(tracker, Web(incomplete.pages | {url(2): html(2, links(1, 2, 3, following=3))}), number=2)
    assert (found.url, pages_of(found)) == (url(2), [2, 3])


def stored(tracker: LinkTracker, found: Article) -> Article:
    for stage in (UrlFilterPipeline(tracker), StorePipeline(tracker)):
        found = asyncio.run(stage.process_item(found))
    return found


def test_all_pages_are_known_after_storing(tracker: LinkTracker) -> None:
    served = web(3)
    stored(tracker, read_article(tracker, served))
    names = {identity(url(number)) for number in range(1, 4)}
    assert tracker.stored_urls.find_stored(names) == names
    assert [stored.url for stored in tracker.store.all_articles()] == [url(1)]
    served.requests.clear()
    with pytest.raises(ItemDone):
        stored(tracker, read_article(tracker, served, number=3))
    assert served.requests == [], "the first page is known, so nothing is fetched"
    assert len(list(tracker.store.all_articles())) == 1


def test_article_rule_applies_to_further_pages(tracker: LinkTracker) -> None:
    served = web(3)
    for number in (1, 2, 3):
        served.pages[url(number)] = html(number, links(1, 2, 3, following=number + 1)).replace("<p>来看", "<p>规则里的话。</p><p>来看")
    found = read_article(tracker, served, source="feed:甲")
    assert pages_of(found) == [1, 2, 3]
    assert found.algorithm == "rule"
    assert found.text.count("规则里的话。") == 3


def test_thread_pages_are_not_joined(tracker: LinkTracker) -> None:
    served = web(3)
    address = "https://bbs.b.example/830115.html"
    page = served.pages[url(1)]
    assert isinstance(page, str)
    fetched = Page(address, page.replace("b.example", "bbs.b.example").encode(), NOW)
    item = Article(url=address, link=Link(address, "feed:乙"), fetched=NOW, page=fetched)
    assert process_article(tracker, served, item).pages == ()
    assert served.requests == []


def test_only_first_page_updates_site_knowledge(tracker: LinkTracker) -> None:
    read_article(tracker, web(3))
    assert [address for address, _ in tracker.sites.knowledge.pages()] == [url(1)]
    read_article(tracker, web(3), number=2)
    assert [address for address, _ in tracker.sites.knowledge.pages()] == [url(1)]
