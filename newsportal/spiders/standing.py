"""A worker that stays: every few seconds it looks which sources are due, and begins their visits."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Sequence
from operator import itemgetter
from time import monotonic
from typing import TYPE_CHECKING, Any, Final

from newsportal.errors import StoreError
from newsportal.frontier.ledger import utcnow
from newsportal.spiders.visiting import MOST
from newsportal.store.results import SourceState

if TYPE_CHECKING:
    from newsportal.spiders.base import NewsSpider

logger = logging.getLogger(__name__)

EVERY: Final = 5.0
"""Seconds between two looks. A push (WebSub) or a new source waits so long; a look reads the states of all sources, once."""

SPARE: Final = 10.0
"""Times as long as a look took, until the next one: 100,000 sources are looked through in three seconds, and not all the time."""

OFFLINE: Final = 60.0
"""Seconds between two looks while the network is away: no visit counts then, so all that were tried stay due."""


async def rounds(spider: NewsSpider, sources: Sequence[Any]) -> AsyncIterator[Any]:
    """What visits begin with, of all that come due, for ever. While store or queue are away nothing begins."""
    away = False
    while True:
        began, took = monotonic(), 0.0
        try:
            await _forget(spider)
            spider.began = utcnow()
            waiting = await asyncio.to_thread(_waiting, spider, sources)
            took = monotonic() - began
            async for wanted in _begun(spider, waiting):
                yield wanted
            if away:
                logger.warning("%s: visits begin again", spider.name)
            away = False
        except StoreError as error:
            if not away:
                logger.warning("%s: no visit begins for now: %s", spider.name, error)
            away = True
        await asyncio.sleep(OFFLINE if spider.ledger.offline else max(EVERY, SPARE * took))


def _waiting(spider: NewsSpider, sources: Sequence[Any]) -> list[tuple[Any, SourceState]]:
    """What is due, with what is known of it: never visited ones first, then those that waited longest. Raises ``StoreError``."""
    states = {state.source: state for state in spider.ledger.store.source_states()}
    opened, found = spider.visiting.open, []
    for source in sources:
        state = states.get(source.key) or SourceState(source.key)
        if source.key not in opened and not spider.skips(source, state):
            found.append((spider.timing.due_at(source, state, spider.began).timestamp() if state.last_run else 0.0, source, state))
    return [(source, state) for _, source, state in sorted(found, key=itemgetter(0))]


async def _begun(spider: NewsSpider, waiting: Sequence[tuple[Any, SourceState]]) -> AsyncIterator[Any]:
    for source, state in waiting:
        if len(spider.visiting.open) >= MOST:
            return
        async for wanted in spider.begin(source, state):
            yield wanted


async def _forget(spider: NewsSpider) -> None:
    """Nothing is kept of visits that other workers began, once what this one did of them is written. Raises ``StoreError``."""
    ledger, ours = spider.ledger, spider.visiting.open
    for key in (ledger.counted | spider.remembered) - ours:
        spider.visiting.follow(key)
    for key in (spider.visited | ledger.met) - ours - ledger.told.uncounted:
        await ledger.transfer_visit(key)
        spider.visited.discard(key)
        ledger.forget(key)
