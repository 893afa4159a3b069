"""Invalid links of sites, and how redirects, pagers and cache validators handle them."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from link_rows import SPIDER, ask, filtered, waiting
from scrapy import Request
from scrapy.crawler import Crawler
from scrapy.http import HtmlResponse, Response
from scrapy.settings import Settings
from scrapy.statscollectors import MemoryStatsCollector

from newsportal.crawl.link_tracker import LinkTracker, tracker_of, utcnow
from newsportal.crawl.requests import can_request
from newsportal.extractors.feeds.feed import parse_feed
from newsportal.extractors.lists.engines import Result
from newsportal.extractors.lists.engines import load_engine as engine
from newsportal.items import Link
from newsportal.sources.places import Feed
from newsportal.spiders.base import NewsSpider
from newsportal.spiders.metasearch import MetasearchSpider, Search
from newsportal.spiders.metasearch import _link as result_link
from newsportal.spiders.rss import RssSpider
from newsportal.spiders.rss import _link as rss_link

SOURCES = """
version: 1
store: "sqlite:///{folder}/news.db"
topics:
  - {{name: 旅游, keywords: [旅游], engines: [own], breadth: 3}}
engines:
  - {{name: own, url: "https://search.example/?q=##QUERY##"}}
feeds:
  - {{name: 快讯, url: "http://news.example/rss.xml"}}
"""

SOURCE = "feed:快讯"


def spider_of(kind: type[NewsSpider], folder: Path) -> Any:
    file = folder / "sources.yaml"
    file.write_text(SOURCES.format(folder=folder), "utf-8")
    addons = {"newsportal.crawl.addon.SourcesAddon": 100}
    crawler = Crawler(kind, Settings({"NEWSPORTAL_SOURCES": str(file), "ADDONS": addons}))
    crawler.addons.load_settings(crawler.settings)  # a minimal crawler without a reactor, whichever reactor other tests have installed
    crawler.stats = MemoryStatsCollector(crawler)
    return kind.from_crawler(crawler)


@pytest.fixture
def tracker(tmp_path: Path) -> Iterator[LinkTracker]:
    spider = spider_of(RssSpider, tmp_path)
    yield tracker_of(spider.crawler)
    spider.tracker.store.close()


def link(url: str) -> Link:
    return Link(url=url, source=SOURCE, title="一条新闻")


INVALID_URLS = ("http://news.example:99999/1.html", "http://[news.example/2.html", "javascript:show(3)", "http:///4.html", "")


@pytest.mark.parametrize("url", INVALID_URLS)
def test_invalid_urls_are_not_askable(url: str) -> None:
    assert not can_request(url)


@pytest.mark.parametrize("url", ["http://news.example", "https://新闻.example/文章?编号=1", "http://news.example:8080/a b.html"])
def test_askable_url_makes_a_request(url: str) -> None:
    assert can_request(url)
    Request(url)


def test_invalid_links_are_counted_and_skipped(tracker: LinkTracker) -> None:
    good = link("http://news.example/2026/11/1.html")
    sifted = filtered(tracker, [*map(link, INVALID_URLS), good])
    (row,) = tracker.report()
    assert sifted.fresh == (good,)
    assert (row.entries, row.new, row.failed, row.left) == (6, 6, {"bad-address": 5}, 1)


def test_redirect_from_http_to_https_keeps_article(tracker: LinkTracker) -> None:
    found = link("http://search.example/link?url=abc")
    (fresh,) = filtered(tracker, [found]).fresh
    led = asyncio.run(tracker.follow_redirect(fresh, "https://search.example/link?url=abc", SPIDER, ask))
    assert led is not None
    assert led.cb_kwargs["link"] == replace(found, url="https://search.example/link?url=abc")
    assert waiting(tracker.store, SOURCE) == [found.url]


@pytest.mark.parametrize("target", INVALID_URLS)
def test_redirect_to_invalid_url_is_a_failure(tracker: LinkTracker, target: str) -> None:
    (fresh,) = filtered(tracker, [link("http://search.example/link?url=abc")]).fresh
    assert asyncio.run(tracker.follow_redirect(fresh, target, SPIDER, ask)) is None
    (row,) = tracker.report()
    assert (row.failed, row.left, waiting(tracker.store, SOURCE)) == ({"bad-address": 1}, 0, [])


def test_validators_are_stored_for_source_url_only(tmp_path: Path) -> None:
    spider = spider_of(RssSpider, tmp_path)
    (source,) = spider.sources()

    async def nothing(response: Response, source: Any) -> Any:
        for found in ():
            yield found

    async def visit() -> None:
        state = await spider.tracker.state(source.key)
        first = spider.list_page(source.url, source, nothing, state=state)
        further = spider.list_page("http://news.example/rss.xml?page=2", source, nothing)
        for request in (first.replace(url="https://news.example/feed.xml"), further):
            response = Response(request.url, headers={"ETag": '"e1"'}, request=request)
            assert [found async for found in spider.parse_list(response, source, nothing)] == []
        await spider.tracker.close([source.key], utcnow())

    asyncio.run(visit())
    assert spider.tracker.store.source_state(source.key).validators == {source.url: ('"e1"', None)}
    spider.tracker.store.close()


RESULTS = "".join(
    f'<li class="r"><h3><a href="https://site{number}.example/2026/{number}.html">海滨城市的旅游季第 {number} 次提前开始</a></h3>'
    f"<p>往年六月才热闹起来的海滨，今年第 {number} 周就迎来了成批的旅客，旅馆和渡轮都在加班。</p></li>"
    for number in range(1, 9)
)


def test_engine_without_further_pages_is_queried_once(tmp_path: Path) -> None:
    spider = spider_of(MetasearchSpider, tmp_path)
    (search,) = spider.sources()
    body = f"<html><body><ol>{RESULTS}</ol></body></html>".encode()
    first = spider.result_page(search, search.topics[0], "旅游", 0, 2)

    async def parse() -> list[Request]:
        response = HtmlResponse(first.url, body=body, encoding="utf-8", request=first)
        return [request async for request in spider.parse_results(response, search, search.topics[0], "旅游", 0, 2)]

    requests = asyncio.run(parse())
    assert len(requests) == 8
    assert first.url not in [request.url for request in requests]
    spider.tracker.store.close()


FED = (
    b"""<rss version="2.0"><channel><title>x</title><item><title>t</title><link>http://127.0.0.24/a/1.html</link></item></channel></rss>"""
)


@pytest.mark.parametrize(("site", "expected"), [(None, "滨江晚报"), ("滨江网", "滨江网")])
def test_feed_links_have_source_name_as_site(site: str | None, expected: str) -> None:
    source = Feed.model_validate({"name": "滨江晚报", "url": "http://127.0.0.24/rss.xml", "site": site})
    found = parse_feed(FED, source.url, "application/rss+xml", utcnow())
    assert [rss_link(source, entry).site for entry in found.entries] == [expected]


@pytest.mark.parametrize(
    ("site_name", "expected"),
    [
        ("滨江晚报", "滨江晚报"),
        ("The Harbour Ledger", "The Harbour Ledger"),
        ("news.example", None),
        ("https://a.example/x", None),
        (None, None),
    ],
)
def test_host_shown_by_engine_is_not_a_site_name(site_name: str | None, expected: str | None) -> None:
    found = Result("标题", "https://a.example/1.html", site=site_name)
    assert result_link(Search(engine("bing_news"), ()), None, found).site == expected
