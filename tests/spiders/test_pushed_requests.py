"""Requests of other processes: references to sources, start URLs, tasks of deleted sources."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from scrapy.crawler import Crawler
from scrapy.settings import Settings
from scrapy.statscollectors import MemoryStatsCollector
from sqlalchemy import select

from newsportal.crawl.addon import SourcesAddon
from newsportal.crawl.link_tracker import utcnow
from newsportal.crawl.requests import UnreadableTask, link_of, request_of, task_of
from newsportal.errors import FrontierUnavailable, StoreUnavailable
from newsportal.items import Link
from newsportal.spiders.hub import HubSpider
from newsportal.spiders.metasearch import MetasearchSpider
from newsportal.spiders.rss import RssSpider
from newsportal.store.link_tables import LINKS
from newsportal.store.results import SourceState

SOURCES = """\
topics: [{name: 旅游, keywords: {any: [旅游]}, engines: [bing_news], query: 古镇}]
feeds: [{name: 甲, url: "https://a.example/rss"}]
regions: [{name: 乙, prefix: "https://b.example/news/", render: false}]
"""


@pytest.fixture
def spider_of(tmp_path: Path) -> Iterator[Callable[[Any], Any]]:
    """Return a factory of spiders with a real crawler object and store, but no network."""
    path = tmp_path / "sources.yaml"
    path.write_text(SOURCES, "utf-8")
    spiders: list[Any] = []

    def make(kind: Any) -> Any:
        crawler = Crawler(kind, Settings({"NEWSPORTAL_SOURCES": str(path), "ADDONS": {SourcesAddon: 1}}))
        crawler.addons.load_settings(crawler.settings)
        crawler.stats = MemoryStatsCollector(crawler)
        spider = kind()
        spider._set_crawler(crawler)
        spiders.append(spider)
        return spider

    yield make
    for spider in spiders:
        spider.tracker.store.close()


async def first(visit: Any) -> Any:
    return await anext(visit)


@pytest.mark.parametrize("kind", [RssSpider, HubSpider, MetasearchSpider])
def test_requests_of_every_spider_round_trip(spider_of: Callable[[Any], Any], kind: Any) -> None:
    spider = spider_of(kind)
    source = next(iter(spider.sources()))
    requests = [asyncio.run(first(spider.visit(source, SourceState(source.key)))), spider.article(Link("https://a.example/1", source.key))]
    for request in requests:
        task = task_of(request, spider)
        found = request_of(task, spider)
        assert (found.url, found.callback, found.cb_kwargs) == (request.url, request.callback, request.cb_kwargs)
        assert task.source == source.key
        assert task.lane == ("region:乙" if kind is HubSpider else None)
        assert task_of(found, spider).id == task.id


def test_list_page_of_deleted_source_is_refused(spider_of: Callable[[Any], Any]) -> None:
    spider = spider_of(RssSpider)
    source = next(iter(spider.sources()))
    task = task_of(asyncio.run(first(spider.visit(source, SourceState(source.key)))), spider)
    spider._by_key = {}
    with pytest.raises(UnreadableTask, match=r"sources\.yaml has no enabled source 'feed:甲' any more"):
        request_of(task, spider)


def test_thorough_visit_is_thorough_in_any_worker(spider_of: Callable[[Any], Any]) -> None:
    first_worker, second_worker = spider_of(HubSpider), spider_of(HubSpider)
    source = next(iter(first_worker.sources()))
    first_worker.thorough.add(source.key)
    request = request_of(task_of(asyncio.run(first(first_worker.visit(source, SourceState(source.key)))), first_worker), second_worker)
    assert request.meta["thorough"]
    plain = asyncio.run(first(second_worker.visit(source, SourceState(source.key))))
    assert "thorough" not in plain.meta


def test_pushed_url_is_an_entry_and_waits_in_store(spider_of: Callable[[Any], Any]) -> None:
    spider = spider_of(RssSpider)
    fields = {"url": "https://c.example/2", "title": "题", "topic": "旅游", "unknown": 1}
    for value in ("https://c.example/1", json.dumps(fields), " https://c.example/1\n"):
        requests = asyncio.run(spider.pushed(value.encode()))
        assert [request.callback for request in requests] == [spider.parse_article] * (not value.startswith(" "))
    bodies = spider.tracker.store.links.read(lambda tx: tx.connection.scalars(select(LINKS.c.body)).all())
    links = [link_of(body, spider) for body in bodies]
    assert [(link.url, link.title, link.topic) for link in links if link] == [
        ("https://c.example/1", None, None),
        ("https://c.example/2", "题", "旅游"),
    ]
    row = next(row for row in spider.tracker.report() if row.source == "pushed:rss")
    assert (row.entries, row.new, row.repeated) == (3, 2, 1)


@pytest.mark.parametrize("value", [b"", b"no address", b"file:///etc/passwd", b'{"title": "x"}', b"{", b"\xff"])
def test_invalid_pushed_value_is_refused(spider_of: Callable[[Any], Any], value: bytes) -> None:
    with pytest.raises((ValueError, KeyError)):
        asyncio.run(spider_of(RssSpider).pushed(value))


def test_pushed_url_is_kept_while_store_is_unavailable(spider_of: Callable[[Any], Any], monkeypatch: pytest.MonkeyPatch) -> None:
    spider = spider_of(RssSpider)

    def unavailable(*args: Any, **kwargs: Any) -> None:
        raise StoreUnavailable("locked")

    monkeypatch.setattr(spider.tracker.store.links, "open", unavailable)
    with pytest.raises(FrontierUnavailable, match="stays among the start URLs"):
        asyncio.run(spider.pushed(b"https://c.example/1"))
    monkeypatch.undo()
    assert len(asyncio.run(spider.pushed(b"https://c.example/1"))) == 1


def test_blocked_engine_is_paused_for_all_workers(spider_of: Callable[[Any], Any]) -> None:
    spider = spider_of(MetasearchSpider)
    source = next(iter(spider.sources()))
    waiting = [asyncio.run(first(spider.visit(source, SourceState(source.key)))), spider.article(Link("https://a.example/1", source.key))]
    assert asyncio.run(spider.accept(waiting[:1])) == waiting[:1]
    asyncio.run(spider.tracker.pause_now(source.key, utcnow() + timedelta(hours=1)))
    assert asyncio.run(spider.accept(waiting)) == [None, waiting[1]]
    asyncio.run(spider.tracker.pause_now(source.key, utcnow() - timedelta(hours=1)))
    assert asyncio.run(spider.accept(waiting[:1])) == waiting[:1]
