"""A link tracker without a crawl, and its sources."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest
from factories import empty_store
from scrapy import Spider
from scrapy.crawler import Crawler
from scrapy.settings import Settings
from scrapy.statscollectors import MemoryStatsCollector

from newsportal.crawl.addon import SourcesAddon
from newsportal.crawl.link_tracker import LinkTracker, tracker_of

NOW = datetime(2026, 3, 5, 12, 0, tzinfo=UTC)

SOURCES = """\
topics:
  - {name: 旅游, keywords: {any: [古镇]}}
  - {name: 停用, enabled: false, keywords: {any: [古镇]}}
feeds:
  - name: 甲
    url: https://a.example/rss
    topics: [旅游]
    category: 生活
    article: {title: h2.t, body: div.text}
  - {name: 乙, url: "https://b.example/rss"}
galleries:
  - {name: 图站, seeds: "https://pic.example/", topics: [旅游], category: 风光}
  - {name: 别图, seeds: "https://other.example/", auto_classify: true}
"""


@pytest.fixture
def crawler(tmp_path: Path) -> Crawler:
    return make_crawler(tmp_path, SOURCES)


def make_crawler(folder: Path, sources: str) -> Crawler:
    path = folder / "sources.yaml"
    path.write_text(sources, "utf-8")
    empty_store(folder / "data" / "newsportal.db").close()
    crawler = Crawler(Spider, Settings({"NEWSPORTAL_SOURCES": str(path), "ADDONS": {SourcesAddon: 1}}))
    crawler.addons.load_settings(crawler.settings)
    crawler.stats = MemoryStatsCollector(crawler)
    return crawler


@pytest.fixture
def tracker(crawler: Crawler) -> Iterator[LinkTracker]:
    found = tracker_of(crawler)
    yield found
    found.store.close()
