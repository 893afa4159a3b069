"""A plain Scrapy spider for the scheduler's tests: ``python plain_spider.py URL SETTINGS-AS-JSON [KIND]``.

It reads a made-up site of numbered pages that link to further ones, and prints a line for every page.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from typing import Any

import scrapy
from scrapy.crawler import AsyncCrawlerProcess
from scrapy_redis.spiders import RedisSpider

SETTINGS = {
    "SCHEDULER": "newsportal.crawl.scheduler.Scheduler",
    "DOWNLOADER_MIDDLEWARES": {"newsportal.crawl.middlewares.HostLockMiddleware": 990},
    "SPIDER_MIDDLEWARES": {"newsportal.crawl.middlewares.LeaseMiddleware": 10},
    "TELNETCONSOLE_ENABLED": False,
    "LOG_LEVEL": "WARNING",
    "DOWNLOAD_DELAY_JITTER": 0.0,
}
"""The settings of a project that uses the frontier, as in the frontier's README."""


class PageCallbacks:
    """Callbacks of both kinds of spider."""

    def parse(self, response: Any, depth: int = 0) -> Iterator[Any]:
        print(f"read {response.url}", flush=True)
        for href in response.css("a::attr(href)").getall():
            yield response.follow(href, self.parse, errback=self.failed, cb_kwargs={"depth": depth + 1})
        if response.css(".local"):
            token = object()  # not serialisable: the request stays in the process
            yield response.follow("/local", lambda found: print(f"read {found.url} {token is not None}", flush=True), dont_filter=True)

    def failed(self, failure: Any) -> Iterator[Any]:
        print(f"failed {failure.request.url}", flush=True)
        yield scrapy.Request(f"{failure.request.url}?again", self.parse, dont_filter=True)


class Plain(PageCallbacks, scrapy.Spider):
    name = "plain"

    def __init__(self, url: str) -> None:
        super().__init__()
        self.start_urls = [url]


class Fed(PageCallbacks, RedisSpider):  # type: ignore[misc]
    name = "fed"


def run(url: str, settings: dict[str, Any], kind: str = "plain") -> None:
    process = AsyncCrawlerProcess({**SETTINGS, **settings})
    if kind == "plain":
        process.crawl(Plain, url=url)
    else:
        process.crawl(Fed)
    process.start()


if __name__ == "__main__":
    run(sys.argv[1], json.loads(sys.argv[2]), *sys.argv[3:])
