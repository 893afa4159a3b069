"""Stage 6, store: one transaction that keeps the article, folds it, and makes its URL known. Only now is the link done."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from dataclasses import replace
from time import monotonic
from typing import TYPE_CHECKING, Self

from newsportal.dedup.canonical import identity
from newsportal.errors import StoreError, StoreUnavailable
from newsportal.frontier.ledger import STORE_FAILS, Ledger, ledger_of, utcnow
from newsportal.frontier.links import name_of
from newsportal.items import Article
from newsportal.pipelines.base import Stage
from newsportal.storage.base import Added

if TYPE_CHECKING:
    from scrapy.core.engine import ExecutionEngine
    from scrapy.crawler import Crawler

logger = logging.getLogger(__name__)

PATIENCE = (0.2, 1.0, 5.0)
"""Seconds between tries while the store is away or locked; then the crawl ends, and its links stay deferred for the next run."""

LONGEST_PAUSE = 300.0
"""Seconds for which a standing worker waits at most before it looks again. A full disk answers every question and takes no article: each
try costs the pages in hand another request, so a pause is twice the one before if that was no longer ago than this."""

COLUMN = {"stored": "stored", "folded": "folded", "same": "same", "revised": "same"}


class Stop:
    """Ends the crawl, once, with the reason ``store-unavailable``; what is under way is finished first. A standing worker waits instead
    until the store serves again: the links of what failed meanwhile are asked for with the next visit."""

    def __init__(self, crawler: Crawler) -> None:
        self._crawler = crawler
        self._ending: asyncio.Future[None] | None = None
        self._pause = PATIENCE[-1]
        self._served = 0.0

    def __call__(self) -> None:
        engine = self._crawler.engine
        if self._ending is not None or engine is None:
            return
        if self._crawler.settings.getbool("NEWSPORTAL_STANDING"):
            self._ending = asyncio.ensure_future(self._wait(engine))
        else:
            logger.error("the crawl ends: its store takes nothing any more")
            self._ending = asyncio.ensure_future(engine.close_spider_async(reason=STORE_FAILS))

    async def _wait(self, engine: ExecutionEngine) -> None:
        logger.warning("the crawl waits: its store takes nothing just now")
        engine.pause()
        ledger = ledger_of(self._crawler)
        soon = monotonic() - self._served < LONGEST_PAUSE
        self._pause = min(2 * self._pause, LONGEST_PAUSE) if soon else PATIENCE[-1]
        while True:
            await asyncio.sleep(self._pause)
            try:
                await asyncio.to_thread(ledger.store.settle, [])
                await asyncio.to_thread(ledger.store.last_seq)
            except StoreError:
                continue
            break
        logger.warning("the store serves again, and the crawl goes on")
        self._ending, self._served = None, monotonic()
        engine.unpause()


class StorePipeline(Stage):
    """The only stage that writes articles. A link whose article could not be written is neither settled nor known."""

    def __init__(self, ledger: Ledger, stop: Callable[[], None] = lambda: None) -> None:
        super().__init__(ledger)
        self._stop = stop

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        return cls(ledger_of(crawler), Stop(crawler))

    async def process(self, article: Article) -> Article:
        try:
            added = await self._add(article)
        except StoreUnavailable:
            self._stop()  # to fetch on what cannot be kept would only trouble the servers
            raise
        await self._enter(article)
        await self.ledger.settle(article.link, COLUMN[added.outcome])
        if article.link.published is None and COLUMN[added.outcome] != "same":  # what the list said is counted already
            self.ledger.told.published(article.link.source, [article.published])
        return replace(article, page=None)

    async def _add(self, article: Article) -> Added:
        for wait in (*PATIENCE, None):
            try:
                return await asyncio.to_thread(self.ledger.store.add, article, article.keys, now=utcnow())
            except StoreUnavailable:
                if wait is None:
                    raise
                await asyncio.sleep(wait)
        raise AssertionError("unreachable")

    async def _enter(self, article: Article) -> None:
        if article.identity is None:
            raise ValueError(f"{article.url}: the URL filter gave no identity")
        others = () if article.link.identity else (article.url, *article.pages)  # else other articles have this URL's identity, too
        names = {name_of(article.link), *map(identity, others)} - {article.identity}
        if article.canonical is not None:
            await asyncio.to_thread(self.ledger.store.declare, article.canonical, article.identity)
        for name in names:
            await asyncio.to_thread(self.ledger.store.add_alias, name, article.identity)
        await asyncio.to_thread(self.ledger.known.enter, [article.identity, *names])
