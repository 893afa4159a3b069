"""What the stages share: the ledger, and how an article leaves the line."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

from scrapy.exceptions import DropItem

from newsportal.frontier.ledger import Ledger, ledger_of
from newsportal.items import Article

if TYPE_CHECKING:
    from scrapy.crawler import Crawler


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
        return await self.process(item) if isinstance(item, Article) else item

    async def process(self, article: Article) -> Article:
        """The article, fuller than before. Raises :class:`Left` once its fate is counted."""
        raise NotImplementedError(type(self).__name__)
