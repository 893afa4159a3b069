"""What list pages and items have in common: a spider that asks for them, with a source's manners, and counts what cannot be had."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Awaitable
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final, Protocol, TypeVar

from newsportal.errors import NotApplicable, StoreError
from newsportal.frontier.ledger import STORE_FAILS, Ledger
from newsportal.items import Link
from newsportal.spiders.fetcher import Fetcher, Interrupted, PageUnavailable, outcome_of

if TYPE_CHECKING:
    from scrapy.crawler import Crawler
    from scrapy.http import Response
    from twisted.python.failure import Failure

logger = logging.getLogger(__name__)

Item = TypeVar("Item")

USUAL_PRIORITY: Final = 5
URGENCY: Final = 1000
"""By so much requests of one priority of sources go before those of the next. List pages go 10 before articles."""


class Source(Protocol):
    """What every kind of source in sources.yaml has."""

    @property
    def key(self) -> str: ...
    @property
    def name(self) -> str: ...
    @property
    def enabled(self) -> bool: ...


class Asking:
    """What a spider that asks for pages knows; ``base.NewsSpider`` says whence."""

    crawler: Crawler
    thorough: set[str]
    visited: set[str]

    @property
    def ledger(self) -> Ledger:
        raise NotImplementedError

    def by_key(self, key: str) -> Any:
        """The source that a link names; ``None`` if it has gone from the file since."""
        raise NotImplementedError

    def manners(self, source: Any) -> dict[str, Any]:
        """What the middlewares must know of a source."""
        obeys = getattr(source, "obey_robots", None)
        return {
            "obey_robots": self.ledger.sources.politeness.obey_robots if obeys is None else obeys,
            "verify_certificate": getattr(source, "verify_certificate", True),
            **({"render": True} if getattr(source, "render", False) else {}),
        }

    def urgency(self, key: str) -> int:
        """What the priority of a source adds to that of its requests: more than kinds of requests differ by."""
        return (getattr(self.by_key(key), "priority", USUAL_PRIORITY) - USUAL_PRIORITY) * URGENCY

    def request_meta(self, key: str) -> dict[str, Any]:
        """The meta of a request for a source, by its key."""
        source = self.by_key(key)
        return {"source": key, **(self.manners(source) if source else {})}

    @cached_property
    def fetch(self) -> Fetcher:
        """Fetches further pages and pictures inside a callback."""
        return Fetcher(self.crawler, self.request_meta)

    async def parse_first(self, response: Response, link: Link, **about: Any) -> AsyncIterator[Any]:
        """The callback of a thread or photo story: its first page has come."""
        async for item in self.finished(link, self.read_item(response, link, **about)):
            yield item

    async def first_failed(self, failure: Failure) -> AsyncIterator[Any]:
        about = failure.request.cb_kwargs  # type: ignore[attr-defined]
        async for item in self.finished(about["link"], self.read_item(PageUnavailable(outcome_of(failure)), **about)):
            yield item

    async def read_item(self, first: Response | PageUnavailable, link: Link, **about: Any) -> Any:
        """The item over all pages that can be had, of which ``first`` was asked for already; ``None`` once its fate is counted."""
        raise NotImplementedError

    async def finished(self, link: Link, item: Awaitable[Item | None]) -> AsyncIterator[Item]:
        """The item, if there is one; else the reason is counted."""
        try:
            found = await item
        except Interrupted:
            logger.info("%s waits for the next run: the crawl ends before its further pages are read", link.url)
        except PageUnavailable as error:
            await self.ledger.fail(link, error.outcome.reason, later=error.outcome.passing)
        except NotApplicable as error:
            await self.ledger.fail(link, error.reason)
        except StoreError as error:
            logger.error("%s waits for the next run: %s", link.url, error)
            await self.ledger.fail(link, STORE_FAILS, later=True)
        except Exception as error:  # a page that breaks its reader must not be lost without a trace
            logger.exception("reading failed on %s", link.url)
            await self.ledger.fail(link, f"error: {type(error).__name__}")
        else:
            if found is not None:
                yield found
