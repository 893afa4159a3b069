"""The live table of a crawl."""

from __future__ import annotations

from scrapy.crawler import Crawler
from scrapy.settings import Settings

from newsportal.cli.crawl import progress_table
from newsportal.spiders.rss import RssSpider


def test_table_before_extensions_are_loaded_shows_zeros() -> None:
    crawler = Crawler(RssSpider, Settings())
    crawler.crawling = True  # as in the first moments of a crawl
    columns = progress_table([crawler]).columns
    assert [list(map(str, column.cells)) for column in columns] == [["rss"], *[["0"]] * 8]
