"""Stage 6, store: one transaction that keeps the article, folds it, and makes its URL known. Only now is the link done."""

from __future__ import annotations

import asyncio
import logging
from dataclasses import replace

from newsportal.errors import StoreError, StoreUnavailable
from newsportal.frontier.ledger import name_of, utcnow
from newsportal.items import Article
from newsportal.pipelines.base import Left, Stage
from newsportal.storage.base import Added

logger = logging.getLogger(__name__)

PATIENCE = (0.2, 1.0, 5.0)
"""Seconds between tries while the store is away or locked; then the link stays deferred for the next run."""

COLUMN = {"stored": "stored", "folded": "folded", "same": "same", "revised": "same"}


class StorePipeline(Stage):
    """The only stage that writes articles. A link whose article could not be written is neither settled nor known."""

    async def process(self, article: Article) -> Article:
        try:
            added = await self._add(article)
        except StoreError as error:
            logger.error("not stored: %s: %s", article.url, error)
            await self.ledger.fail(article.link, "store-unavailable", later=True)
            raise Left(f"{article.url}: {error}") from error
        await self._enter(article)
        await self.ledger.settle(article.link, COLUMN[added.outcome])
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
        linked = name_of(article.link)
        if linked != article.identity:
            await asyncio.to_thread(self.ledger.store.add_alias, linked, article.identity)
            self.ledger.known.enter(linked)
        self.ledger.known.enter(article.identity)
