"""State of a spider belongs to one visit: in a long-lived process the second visit of a source behaves like the first."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from scrapy import Request
from scrapy.crawler import Crawler
from scrapy.http import HtmlResponse
from scrapy.settings import Settings
from scrapy.statscollectors import MemoryStatsCollector

from newsportal.crawl.addon import SourcesAddon
from newsportal.spiders.forum import ForumSpider
from newsportal.spiders.gallery import GallerySpider
from newsportal.spiders.hub import HubSpider
from newsportal.spiders.metasearch import MetasearchSpider
from newsportal.spiders.sitemap import SitemapSpider
from newsportal.store.results import SourceState

SITE = "https://b.example/news/"

SOURCES = f"""\
topics: [{{name: 旅游, keywords: {{any: [旅游]}}, engines: [bing_news], query: 古镇}}]
regions: [{{name: 甲, prefix: "{SITE}", pages: 5}}]
forums: [{{name: 乙, url: "{SITE}"}}]
galleries: [{{name: 丙, seeds: ["{SITE}"], seed: story}}]
sitemaps: [{{name: 丁, url: "{SITE}sitemap.xml"}}]
"""

LIST = """<html><body><ul>{}</ul><a href="?page=2">下一页</a></body></html>"""

ENTRY = '<li><a href="/news/2026/0305/story{0}{1}.html">今天上午第{0}{1}家豆腐铺在海棠街开张迎来街坊</a> 2026-03-05</li>'


@pytest.fixture
def spider_of(tmp_path: Path) -> Iterator[Callable[[Any], Any]]:
    path = tmp_path / "sources.yaml"
    path.write_text(SOURCES, "utf-8")
    spiders: list[Any] = []

    def make(kind: Any) -> Any:
        crawler = Crawler(kind, Settings({"NEWSPORTAL_SOURCES": str(path), "ADDONS": {SourcesAddon: 1}}))
        crawler.addons.load_settings(crawler.settings)
        crawler.stats = MemoryStatsCollector(crawler)
        crawler.engine = SimpleNamespace(scheduler=None, running=True)  # type: ignore[assignment]
        spider = kind()
        spider._set_crawler(crawler)
        spiders.append(spider)
        return spider

    yield make
    for spider in spiders:
        spider.tracker.store.close()


async def requested_urls(spider: Any, number: int) -> list[str]:
    """Return the list pages requested in one visit; the first of them links to the new articles of ``number`` and to the next page."""
    source = next(iter(spider.sources()))
    requests = [request async for request in spider.visit(source, SourceState(source.key))]
    first: Request = requests[0]
    body = LIST.format("".join(ENTRY.format(number, place) for place in range(8)))
    response = HtmlResponse(first.url, body=body.encode(), request=first)
    further = [result async for result in first.callback(response, **first.cb_kwargs)]
    return [request.url for request in requests] + [item.url for item in further if isinstance(item, Request) and "page=2" in item.url]


@pytest.mark.parametrize("kind", [HubSpider, GallerySpider])
def test_second_visit_follows_pagers(spider_of: Callable[[Any], Any], kind: Any) -> None:
    spider = spider_of(kind)
    key = next(iter(spider.sources())).key

    async def visits() -> list[list[str]]:
        first = await requested_urls(spider, 1)
        spider.forget_visit(key)
        return [first, await requested_urls(spider, 2)]

    assert asyncio.run(visits()) == [[SITE, f"{SITE}?page=2"]] * 2


@pytest.mark.parametrize("kind", [HubSpider, GallerySpider, ForumSpider, SitemapSpider, MetasearchSpider])
def test_state_is_cleared_after_visit(spider_of: Callable[[Any], Any], kind: Any) -> None:
    spider = spider_of(kind)
    source = next(iter(spider.sources()))

    async def visit() -> int:
        return len([request async for request in spider.visit(source, SourceState(source.key))])

    assert asyncio.run(visit()) == 1
    for memory in spider._memories:
        assert memory[source.key] is not None  # created on first access
    spider.thorough.add(source.key)
    assert spider.remembered_sources == {source.key}
    spider.forget_visit(source.key)
    assert spider.remembered_sources == set()
    assert asyncio.run(visit()) == 1
