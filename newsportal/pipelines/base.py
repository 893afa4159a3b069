"""What the stages share: the ledger, and how an article leaves the line."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any, Self

from scrapy.exceptions import DropItem

from newsportal.errors import StoreError
from newsportal.frontier.ledger import STORE_FAILS, Ledger, ledger_of
from newsportal.items import Article

if TYPE_CHECKING:
    from scrapy.crawler import Crawler

logger = logging.getLogger(__name__)


class Left(DropItem):
    """An article left the line here; its fate is counted already. Raised by stages; Scrapy ends the item quietly."""

    def __init__(self, why: str) -> None:
        super().__init__(why, log_level="DEBUG")


class Stage:
    """A pipeline stage for articles; other items pass by untouched."""

    def __init__(self, ledger: Ledger) -> None:
        self.ledger = ledger

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        return cls(ledger_of(crawler))

    async def process_item(self, item: Any) -> Any:
        if not isinstance(item, Article):
            return item
        try:
            return await self.process(item)
        except Left:
            raise
        except StoreError as error:
            logger.error("%s waits for the next run: %s", item.url, error)
            raise await self.failed(item, STORE_FAILS, error, later=True) from error
        except Exception as error:  # a page that breaks a stage must not be lost without a trace
            logger.exception("%s failed on %s", type(self).__name__, item.url)
            raise await self.failed(item, f"error: {type(error).__name__}", error) from error

    async def failed(self, article: Article, reason: str, error: Exception, *, later: bool = False) -> Left:
        """What to raise once the failure is counted. ``later``: the link waits for the next run."""
        await self.ledger.fail(article.link, reason, later=later)
        return Left(f"{article.url}: {error}")

    async def process(self, article: Article) -> Article:
        """The article, fuller than before. Raises :class:`Left` once its fate is counted."""
        raise NotImplementedError(type(self).__name__)
