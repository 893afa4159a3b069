"""A worker that stays: every few seconds it looks which sources are due, and begins their visits."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Sequence
from typing import TYPE_CHECKING, Any, Final

from newsportal.errors import StoreError
from newsportal.frontier.ledger import utcnow

if TYPE_CHECKING:
    from newsportal.spiders.base import NewsSpider

logger = logging.getLogger(__name__)

EVERY: Final = 5.0
"""Seconds between two looks. A push (WebSub) or a new source waits so long; a look reads the states of all sources, once."""

MOST: Final = 100
"""Visits that a spider has open. After a pause all sources are due at once: the next are begun as those end, so that the first ones'
news do not wait behind thousands of list pages, and other workers get their share."""

OFFLINE: Final = 60.0
"""Seconds between two looks while the network is away: no visit counts then, so all that were tried stay due."""


async def rounds(spider: NewsSpider, sources: Sequence[Any]) -> AsyncIterator[Any]:
    """What visits begin with, of all that come due, for ever. While store or queue are away nothing begins."""
    away = False
    while True:
        try:
            async for wanted in _round(spider, sources):
                yield wanted
            if away:
                logger.warning("%s: visits begin again", spider.name)
            away = False
        except StoreError as error:
            if not away:
                logger.warning("%s: no visit begins for now: %s", spider.name, error)
            away = True
        await asyncio.sleep(OFFLINE if spider.ledger.offline else EVERY)


async def _round(spider: NewsSpider, sources: Sequence[Any]) -> AsyncIterator[Any]:
    spider.began = utcnow()
    await _forget(spider)
    states = {state.source: state for state in await asyncio.to_thread(spider.ledger.store.source_states)}
    for source in sources:
        if len(spider.visiting.open) >= MOST:
            return
        if source.key in spider.visiting.open:
            continue
        async for wanted in spider.begin(source, states.get(source.key)):
            yield wanted


async def _forget(spider: NewsSpider) -> None:
    """Nothing is kept of visits that other workers began, once what this one did of them is written. Raises ``StoreError``."""
    ledger, ours = spider.ledger, spider.visiting.open
    for key in (ledger.claimed | spider.remembered) - ours:
        spider.visiting.follow(key)
    for key in (spider.visited | ledger.met) - ours - ledger.told.uncounted:
        await ledger.hand_over(key)
        spider.visited.discard(key)
        ledger.forget(key)
