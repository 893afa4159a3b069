"""A real crawler object with a real store, without a crawl."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from factories import empty_store
from scrapy import Spider
from scrapy.crawler import Crawler
from scrapy.settings import Settings
from scrapy.statscollectors import MemoryStatsCollector

from newsportal.crawl.addon import SourcesAddon
from newsportal.crawl.link_tracker import LinkTracker, tracker_of

SOURCES = """\
topics: [{name: 旅游, keywords: {any: [旅游, 古镇]}}]
feeds:
  - {name: 甲, url: "https://a.example/rss"}
  - {name: 乙, url: "https://b.example/rss", category: 科技, topics: [旅游]}
"""


@pytest.fixture
def crawler_for(tmp_path: Path) -> Callable[..., Crawler]:
    """Function that creates a crawler for the sources file, complete enough for a link tracker."""

    def make(**settings: Any) -> Crawler:
        path = tmp_path / "sources.yaml"
        if not path.exists():
            path.write_text(SOURCES, "utf-8")
            empty_store(tmp_path / "data" / "newsportal.db").close()
        crawler = Crawler(Spider, Settings({"NEWSPORTAL_SOURCES": str(path), "ADDONS": {SourcesAddon: 1}, **settings}))
        crawler.addons.load_settings(crawler.settings)
        crawler.stats = MemoryStatsCollector(crawler)
        return crawler

    return make


@pytest.fixture
def crawler(crawler_for: Callable[..., Crawler]) -> Crawler:
    return crawler_for()


@pytest.fixture
def tracker(crawler: Crawler) -> Iterator[LinkTracker]:
    found = tracker_of(crawler)
    yield found
    found.store.close()
