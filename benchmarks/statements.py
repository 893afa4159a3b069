"""The claim: an article costs at most eight statements from the URL filter to the end of its link, with sixteen in progress.

    python benchmarks/statements.py [ARTICLES] [--at-once 1 4 16] [--each]

Made-up articles, one in twenty a repost, pass the stages ``url_filter``, ``duplicate`` and ``store`` into SQLite; BEGIN is not counted.
``--each``: the number of each statement. How many share a transaction depends on how busy the machine is.
"""

from __future__ import annotations

import argparse
import asyncio
import random
import tempfile
from collections import Counter
from datetime import UTC, datetime
from pathlib import Path

from crawl import words
from scrapy import Spider
from scrapy.crawler import Crawler
from scrapy.settings import Settings
from scrapy.statscollectors import MemoryStatsCollector
from sqlalchemy import event
from sqlalchemy.engine import Engine

from newsportal.crawl.addon import SourcesAddon
from newsportal.crawl.link_tracker import LinkTracker, tracker_of
from newsportal.crawl.requests import id_of
from newsportal.items import Article, Link
from newsportal.pipelines.duplicate import DuplicatePipeline, UrlFilterPipeline
from newsportal.pipelines.store import StorePipeline
from newsportal.store.link_tables import Task

SOURCES = 'feeds:\n  - {name: 快讯, url: "https://a.example/rss"}\n'
REPOSTS = 20  # every twentieth


def article(number: int) -> Article:
    url = f"https://s{number % 20}.example/2026/02/{number}.html"
    chance = random.Random(number if number % REPOSTS else 0)
    return Article(url, Link(url, "feed:快讯", topic="旅游"), datetime.now(UTC), title=f"第 {number} 号", text=words(chance, 300))


def opened(folder: Path) -> LinkTracker:
    (folder / "sources.yaml").write_text(SOURCES, encoding="utf-8")
    crawler = Crawler(Spider, Settings({"NEWSPORTAL_SOURCES": str(folder / "sources.yaml"), "ADDONS": {SourcesAddon: 1}}))
    crawler.addons.load_settings(crawler.settings)
    crawler.stats = MemoryStatsCollector(crawler)
    return tracker_of(crawler)


async def store(tracker: LinkTracker, articles: list[Article], at_once: int) -> None:
    stages, places = [stage(tracker) for stage in (UrlFilterPipeline, DuplicatePipeline, StorePipeline)], asyncio.Semaphore(at_once)

    async def through(item: Article) -> None:
        async with places:
            for stage in stages:
                item = await stage.process(item)

    await asyncio.gather(*map(through, articles))


def measure(number: int, at_once: int, counts: Counter[str]) -> None:
    articles = [article(n) for n in range(number)]
    with tempfile.TemporaryDirectory() as folder:
        tracker = opened(Path(folder))
        tasks = [Task(id_of(item.link), item.url.split("/")[2], "{}", source=item.source, link=True) for item in articles]
        tracker.store.links.open("rss", tasks, since=0.0)
        counts.clear()
        asyncio.run(store(tracker, articles, at_once))
        tracker.store.close()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("articles", nargs="?", type=int, default=200)
    parser.add_argument("--at-once", type=int, nargs="+", default=[1, 4, 16])
    parser.add_argument("--each", action="store_true")
    options = parser.parse_args()
    counts: Counter[str] = Counter()
    event.listen(Engine, "before_cursor_execute", lambda *args: counts.update([" ".join(args[2].split())[:100]]))
    for at_once in options.at_once:
        measure(options.articles, at_once, counts)
        statements = {statement: count for statement, count in counts.most_common() if not statement.startswith("BEGIN")}
        print(f"{at_once:3} at once: {sum(statements.values()) / options.articles:5.1f} statements an article", flush=True)
        for statement, count in statements.items() if options.each else ():
            print(f"{count / options.articles:8.2f}  {statement}")


if __name__ == "__main__":
    main()
