"""Hot lists: stored ranks, and requests for the linked pages."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
from scrapy.crawler import Crawler
from scrapy.http import TextResponse
from scrapy.settings import Settings
from scrapy.statscollectors import MemoryStatsCollector

from newsportal.dedup.canonical import identity
from newsportal.errors import NotApplicable
from newsportal.items import content_id
from newsportal.spiders.lists import ListsSpider

SOURCES = """
store: "sqlite:///{folder}/news.db"
extraction: {{processes: 0}}
lists:
  - {{name: 热, url: "https://board.example/hot", items: data, title: t, link: u, heat: h, articles: {articles}}}
"""
ROWS = [{"t": "台风登陆", "u": "/1", "h": "3万"}, {"t": "高铁提速", "u": "/2"}]


def parse_list(folder: Path, rows: Any, articles: str) -> tuple[list[Any], ListsSpider]:
    file = folder / "sources.yaml"
    file.write_text(SOURCES.format(folder=folder, articles=articles), "utf-8")
    crawler = Crawler(ListsSpider, Settings({"NEWSPORTAL_SOURCES": str(file), "ADDONS": {"newsportal.crawl.addon.SourcesAddon": 100}}))
    crawler.addons.load_settings(crawler.settings)
    crawler.stats = MemoryStatsCollector(crawler)
    spider = ListsSpider.from_crawler(crawler)
    (source,) = spider.sources()

    async def read() -> list[Any]:
        response = TextResponse("https://board.example/hot", body=json.dumps({"data": rows}).encode(), encoding="utf-8")
        return [result async for result in spider.parse_board(response, source)]

    return asyncio.run(read()), spider


@pytest.mark.parametrize(("articles", "requested"), [("false", []), ("true", ["https://board.example/1", "https://board.example/2"])])
def test_ranks_are_stored_and_pages_requested_if_configured(tmp_path: Path, articles: str, requested: list[str]) -> None:
    results, spider = parse_list(tmp_path, ROWS, articles)
    assert [result.url for result in results] == requested
    found = spider.tracker.store.boards.standings("list:热")
    assert found is not None
    assert [(entry.place.rank, entry.place.title, entry.place.heat) for entry in found.entries] == [
        (1, "台风登陆", 30_000.0),
        (2, "高铁提速", None),
    ]
    assert found.entries[0].place.item == content_id(identity("https://board.example/1"))
    spider.tracker.store.close()


def test_page_without_entries_is_a_failure(tmp_path: Path) -> None:
    with pytest.raises(NotApplicable, match="no item"):
        parse_list(tmp_path, [], "true")
