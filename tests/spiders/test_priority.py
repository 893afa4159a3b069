"""The priority of a source: its links precede those of other sources, on any host."""

from __future__ import annotations

import asyncio
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from scrapy.crawler import Crawler
from scrapy.settings import Settings
from scrapy.statscollectors import MemoryStatsCollector

from newsportal.crawl import scheduler
from newsportal.crawl.addon import SourcesAddon
from newsportal.crawl.queues import open_queue
from newsportal.errors import SourcesError
from newsportal.items import Link
from newsportal.sources import load
from newsportal.spiders.rss import RssSpider

SOURCES = """\
feeds:
- {name: 平, url: 'https://a.example/rss'}
- {name: 急, url: 'https://b.example/rss', priority: 9}
- {name: 缓, url: 'https://c.example/rss', priority: 1}
"""


@pytest.fixture
def spider(tmp_path: Path) -> Any:
    path = tmp_path / "sources.yaml"
    path.write_text(SOURCES, "utf-8")
    crawler = Crawler(RssSpider, Settings({"NEWSPORTAL_SOURCES": str(path), "ADDONS": {SourcesAddon: 1}}))
    crawler.addons.load_settings(crawler.settings)
    crawler.stats = MemoryStatsCollector(crawler)
    rss = RssSpider()
    rss._set_crawler(crawler)
    queue = open_queue(load(path), crawler.settings, "rss", rss.tracker.store.links)
    scheduler._SCHEDULERS[crawler] = SimpleNamespace(feeder=SimpleNamespace(queue=queue))  # type: ignore[assignment]
    yield rss
    rss.tracker.store.close()


def test_urgent_links_are_leased_first_on_every_host(spider: Any) -> None:
    for source in ("平", "缓", "急"):
        links = [Link(f"https://{host}.example/{source}", f"feed:{source}") for host in ("a", "b", "c")]
        asyncio.run(spider.filter_new(links))
    queue, order = spider._queue(), []
    while leases := queue.take(1, delay=0, ahead=1).leases:
        order.append(leases[0].task.source)
        spider.tracker.store.links.finish([leases[0].task.id])
        queue.done([leases[0].task.id])
    assert order == ["feed:急"] * 3 + ["feed:平"] * 3 + ["feed:缓"] * 3


def test_list_page_priority_is_between_own_articles_and_urgent_ones(spider: Any) -> None:
    usual, urgent, _ = spider.sources()
    priority = spider.list_page(usual.url, usual, spider.parse_feed).priority
    assert spider.article(Link("https://a.example/1", usual.key)).priority < priority
    assert priority < spider.article(Link("https://b.example/1", urgent.key)).priority


@pytest.mark.parametrize("priority", [0, 10, "high"])
def test_priority_must_be_1_to_9(tmp_path: Path, priority: object) -> None:
    path = tmp_path / "sources.yaml"
    path.write_text(SOURCES.replace("priority: 9", f"priority: {priority}"), "utf-8")
    with pytest.raises(SourcesError, match="priority"):
        load(path)
