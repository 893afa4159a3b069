"""Stage 6, store: one transaction that keeps the article and folds it, with those that wait as well; then its URL is known. Only now is the
link done."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Self

from newsportal.dedup.canonical import identity
from newsportal.errors import StoreUnavailable
from newsportal.frontier.ledger import Ledger, ledger_of
from newsportal.frontier.links import name_of
from newsportal.items import Article
from newsportal.pipelines.base import Stage
from newsportal.pipelines.together import Together
from newsportal.pipelines.writing import Stop, patiently

if TYPE_CHECKING:
    from scrapy.crawler import Crawler

logger = logging.getLogger(__name__)

COLUMN = {"stored": "stored", "folded": "folded", "same": "same", "revised": "same"}


class StorePipeline(Stage):
    """The only stage that writes articles. A link whose article could not be written is neither settled nor known."""

    def __init__(self, ledger: Ledger, stop: Callable[[], None] = lambda: None) -> None:
        super().__init__(ledger)
        self._stop = stop
        self._together = Together(ledger.store)

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        return cls(ledger_of(crawler), Stop(crawler))

    async def process(self, article: Article) -> Article:
        try:
            added = await self._together.add(article)
        except StoreUnavailable:
            self._stop()  # to fetch on what cannot be kept would only trouble the servers
            raise
        await self._enter(article)
        await self.ledger.settle(article.link, COLUMN[added.outcome])
        if article.link.published is None and COLUMN[added.outcome] != "same":  # what the list said is counted already
            self.ledger.told.published(article.link.source, [article.published])
        return replace(article, page=None)

    async def _enter(self, article: Article) -> None:
        if article.identity is None:
            raise ValueError(f"{article.url}: the URL filter gave no identity")
        others = () if article.link.identity else (article.url, *article.pages)  # else other articles have this URL's identity, too
        names = {name_of(article.link), *map(identity, others)} - {article.identity}
        if article.canonical is not None:
            await patiently(self.ledger.store.declare, article.canonical, article.identity)
        for name in names:
            await patiently(self.ledger.store.add_alias, name, article.identity)
        await patiently(self.ledger.known.enter, [article.identity, *names])
