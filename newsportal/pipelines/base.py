"""The base class of stages: access to the link tracker, outcomes of items, and retries while the store is unavailable."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from time import monotonic
from typing import TYPE_CHECKING, Any, ClassVar, Final, ParamSpec, Self, TypeVar
from weakref import WeakKeyDictionary

from scrapy.exceptions import DropItem

from newsportal.crawl.link_tracker import STORE_FAILS, LinkTracker, tracker_of
from newsportal.crawl.reader_pool import SHUTDOWN, Interrupted
from newsportal.errors import StoreError, StoreUnavailable
from newsportal.items import Article, Gallery, Thread

if TYPE_CHECKING:
    from scrapy.core.engine import ExecutionEngine
    from scrapy.crawler import Crawler

logger = logging.getLogger(__name__)

Params = ParamSpec("Params")
Result = TypeVar("Result")

RETRY_DELAYS = (0.2, 1.0, 5.0)
"""Seconds between retries while the store is unavailable or locked; then the crawl ends, and its links wait for the next run."""

LONGEST_PAUSE: Final = 300.0
"""Longest pause of a permanent worker, in seconds. A full disk answers queries but stores no article: each retry costs the pages in
progress another request, so a pause is twice the previous one if that ended less than this ago."""

COLUMN: Final = {"stored": "stored", "folded": "folded", "same": "same", "revised": "same", "grown": "same"}
"""The report's column for each outcome. A thread or photo story that has grown is not new: a note reports what was added."""


class ItemDone(DropItem):
    """Raised by a stage when an item is finished and its outcome counted; Scrapy then drops the item quietly."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason, log_level="DEBUG")


class Stage:
    """A pipeline stage for items of one ``kind``; others pass unchanged. ``outage`` is called when the store is unavailable."""

    kind: ClassVar[type[Article | Thread | Gallery]] = Article

    def __init__(self, tracker: LinkTracker, outage: Callable[[], None] = lambda: None) -> None:
        self.tracker = tracker
        self._outage = outage
        self.setup()

    def setup(self) -> None:
        """Create what the stage needs; called once."""

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        return cls(tracker_of(crawler), _OUTAGES.setdefault(crawler, Outage(crawler)))

    async def process_item(self, item: Any) -> Any:
        if not isinstance(item, self.kind):
            return item
        try:
            return await self.process(item)
        except ItemDone:
            raise
        except Interrupted as error:
            raise await self.failed(item, SHUTDOWN, error, later=True) from error
        except StoreError as error:
            logger.error("%s waits for the next run: %s", item.url, error, extra={"url": item.url})
            if isinstance(error, StoreUnavailable):
                self._outage()  # fetching what cannot be stored would only burden the servers
            raise await self.failed(item, STORE_FAILS, error, later=True) from error
        except Exception as error:  # an item that fails in a stage must not be lost silently
            logger.exception("%s failed on %s", type(self).__name__, item.url, extra={"url": item.url})
            raise await self.failed(item, f"error: {type(error).__name__}", error) from error

    async def failed(self, item: Article | Thread | Gallery, reason: str, error: Exception, *, later: bool = False) -> ItemDone:
        """Count the failure; return the exception to raise. ``later``: the link waits for the next run."""
        await self.tracker.fail(item.link, reason, later=later)
        return ItemDone(f"{item.url}: {error}")

    async def process(self, item: Any) -> Any:
        """Return the item with this stage's results. Raises :class:`ItemDone` once its outcome is counted."""
        raise NotImplementedError(type(self).__name__)


async def retry(call: Callable[Params, Result], *args: Params.args, **kwargs: Params.kwargs) -> Result:
    """Run ``call`` in a thread, with retries while the store is unavailable. Raises ``StoreUnavailable`` after :data:`RETRY_DELAYS`."""
    for delay in RETRY_DELAYS:
        try:
            return await asyncio.to_thread(call, *args, **kwargs)
        except StoreUnavailable:
            await asyncio.sleep(delay)
    return await asyncio.to_thread(call, *args, **kwargs)


class Outage:
    """Ends the crawl, once, with the reason ``store-unavailable``, after requests in progress. A permanent worker waits instead until the
    store is back: links that failed meanwhile are retried by the next visit."""

    def __init__(self, crawler: Crawler) -> None:
        self._crawler = crawler
        self._ending: asyncio.Future[None] | None = None
        self._pause = RETRY_DELAYS[-1]
        self._served = 0.0

    def __call__(self) -> None:
        engine = self._crawler.engine
        if self._ending is not None or engine is None:
            return
        if self._crawler.settings.getbool("NEWSPORTAL_STANDING"):
            self._ending = asyncio.ensure_future(self._wait(engine))
        else:
            logger.error("the crawl ends: the store accepts no writes")
            self._ending = asyncio.ensure_future(engine.close_spider_async(reason=STORE_FAILS))

    async def _wait(self, engine: ExecutionEngine) -> None:
        logger.warning("the crawl waits: its store accepts no writes at present")
        engine.pause()
        store = tracker_of(self._crawler).store
        soon = monotonic() - self._served < LONGEST_PAUSE
        self._pause = min(2 * self._pause, LONGEST_PAUSE) if soon else RETRY_DELAYS[-1]
        while True:
            await asyncio.sleep(self._pause)
            try:
                await asyncio.to_thread(store.links.write, lambda turn: None)
                await asyncio.to_thread(store.last_seq)
            except StoreError:
                continue
            break
        logger.warning("the store is available again, the crawl continues")
        self._ending, self._served = None, monotonic()
        engine.unpause()


_OUTAGES: WeakKeyDictionary[Crawler, Outage] = WeakKeyDictionary()
