"""How stages write to a store that may be away: patiently, and the crawl ends, or waits, when patience does."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from time import monotonic
from typing import TYPE_CHECKING, ParamSpec, TypeVar

from newsportal.errors import StoreError, StoreUnavailable
from newsportal.frontier.ledger import STORE_FAILS, ledger_of

if TYPE_CHECKING:
    from scrapy.core.engine import ExecutionEngine
    from scrapy.crawler import Crawler

logger = logging.getLogger(__name__)

Asked = ParamSpec("Asked")
Saved = TypeVar("Saved")

PATIENCE = (0.2, 1.0, 5.0)
"""Seconds between tries while the store is away or locked; then the crawl ends, and its links stay deferred for the next run."""

LONGEST_PAUSE = 300.0
"""Seconds for which a standing worker waits at most before it looks again. A full disk answers every question and takes no article: each
try costs the pages in hand another request, so a pause is twice the one before if that was no longer ago than this."""


async def patiently(write: Callable[Asked, Saved], *args: Asked.args, **kwargs: Asked.kwargs) -> Saved:
    """What ``write`` answers, called in a thread, again while the store is away. Raises ``StoreUnavailable`` after :data:`PATIENCE`."""
    for wait in PATIENCE:
        try:
            return await asyncio.to_thread(write, *args, **kwargs)
        except StoreUnavailable:
            await asyncio.sleep(wait)
    return await asyncio.to_thread(write, *args, **kwargs)


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
