"""A spider's schedule: whether a source is due, and, when its visit is over, when the next one is (written into its state)."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterable
from dataclasses import replace
from datetime import datetime, timedelta
from time import monotonic
from typing import TYPE_CHECKING, Any, Final

from newsportal.errors import StoreError
from newsportal.frontier.ledger import utcnow
from newsportal.schedule import Rules, freshness, policies
from newsportal.sources import timing

if TYPE_CHECKING:
    from newsportal.frontier.ledger import Ledger
    from newsportal.store.results import SourceState

logger = logging.getLogger(__name__)

DOUBTED: Final = 100
"""Visits that are looked at before "not modified" is doubted."""

PRICED: Final = 600.0
"""Seconds for which a price holds: it depends on the rates of all sources, which change over hours."""


class Timing:
    """See the module. One a spider; blocking calls run in threads."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        self._worth: float | None = None
        self._priced: float | None = None

    def rules(self, source: Any) -> Rules:
        return timing.rules(self._ledger.sources, source, self._worth)

    def due(self, source: Any, state: SourceState, now: datetime) -> bool:
        """Whether the source is to be visited at ``now`` (aware)."""
        return self.due_at(source, state, now) <= now

    def due_at(self, source: Any, state: SourceState, now: datetime) -> datetime:
        """When the source is, or was, due."""
        return timing.due_at(state, self.rules(source), now)

    async def stuck(self, source: str) -> bool:
        """Whether the source answers "not modified" for longer than can be believed. Raises ``StoreError``."""
        return freshness.stuck(await asyncio.to_thread(self._ledger.store.visits.of, source, limit=DOUBTED))

    async def pages(self, source: str, *, usual: int) -> int:
        """Result pages of a search engine at this hour."""
        try:
            visits = await asyncio.to_thread(self._ledger.store.visits.of, source, limit=timing.LOOKED_BACK)
        except StoreError as error:
            logger.warning("how many pages of %s are worth reading is not known: %s", source, error)
            return usual
        return policies.pages(visits, utcnow(), timing.zone(self._ledger.sources.portal.timezone), usual=usual)

    async def plan(self, sources: Iterable[Any], now: datetime) -> None:
        """The visits of these sources are over and their states saved. What cannot be planned now is due by the usual interval."""
        for source in sources:
            try:
                await asyncio.to_thread(self._plan, source, now)
            except StoreError as error:
                logger.warning("the next visit of %s is not planned: %s", source.key, error)

    def _plan(self, source: Any, now: datetime) -> None:
        store = self._ledger.store
        self._price()
        state, visits = store.source_state(source.key), store.visits.of(source.key, limit=timing.LOOKED_BACK)
        subscribed = store.subscriptions.of(source.key)
        asked = timing.slower(self.rules(source)) if subscribed and timing.tells(subscribed, now) else self.rules(source)
        found = timing.plan(state, visits, asked, now)
        if timing.keeps(asked):
            at = timing.due_at(replace(state, next_visit=None), asked, now)
        else:
            at = max(found.at, now + timedelta(minutes=asked.shortest))  # a visit of hours is not followed by the next at once
        state = replace(state, next_visit=at, rate=found.rate)
        store.save_source_state(state)
        if subscribed and visits and (told := store.subscriptions.of(source.key)) and told.pushed and told.pushed > visits[0].at:
            store.save_source_state(replace(state, next_visit=now))  # asked only now: whoever tells us later finds the plan, and hastens it

    def _price(self) -> None:
        if self._priced is None or monotonic() - self._priced > PRICED:
            sources = self._ledger.sources
            states = self._ledger.store.source_states()
            visited = {source.key for source in sources.all() if source.enabled} | {
                f"engine:{n}" for t in sources.topics for n in t.engines
            }
            self._worth, self._priced = timing.worth(sources, states, visited), monotonic()
