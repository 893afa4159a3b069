"""What is remembered of sources between visits: gathered while one is under way, and saved at its end."""

from __future__ import annotations

import asyncio
import logging
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import replace
from datetime import datetime

from scrapy.statscollectors import StatsCollector

from newsportal.errors import StoreError
from newsportal.frontier import render_backoff
from newsportal.frontier.visit_counters import OUTAGE, PREFIX, Reach, ReportCounters, unreached, utcnow
from newsportal.messages import Message
from newsportal.store.results import SourceState
from newsportal.store.store import Store

logger = logging.getLogger(__name__)

BLOCKED = "blocked"
"""How the reasons begin when an engine asks who we are."""

Validators = tuple[str | None, str | None]


class States(ReportCounters):
    """Methods that ask the store are coroutines."""

    def __init__(self, stats: StatsCollector, reach: Reach, store: Store) -> None:
        super().__init__(stats, reach)
        self.store = store
        self.hung: dict[str, set[str]] = defaultdict(set)
        self._validators: dict[str, dict[str, Validators]] = defaultdict(dict)
        self._errors: dict[str, str] = {}
        self._rests: dict[str, datetime] = {}
        self._layouts: set[str] = set()

    def list_failed(self, source: str, reason: str, detail: str | None = None) -> None:
        """A list page gave nothing; ``detail`` is for the source's health page."""
        self.count(source, "list_failed", reason)
        self._errors[source] = f"{reason}: {detail}" if detail else reason
        if unreached([reason]):
            self._reach.missed(source, detail or "")

    def list_left(self, source: str, reason: str) -> None:
        """A list page that is not for us (a board for members only) is counted in the report; the visit has not failed by it."""
        self._stats.inc_value(f"{PREFIX}{source}/list_failed/{reason}")

    def validate(self, source: str, url: str, validators: Validators) -> None:
        """Remember a list page's ETag and Last-Modified; saved at the end of the run, when its links are safely deferred."""
        self._validators[source][url] = validators

    def rest(self, source: str, until: datetime) -> None:
        """Leave ``source`` alone until then (a captcha, a Retry-After)."""
        self._rests[source] = until
        self.told.asked(source, max(0.0, (until - utcnow()).total_seconds()))

    async def rest_at_once(self, source: str, until: datetime) -> None:
        """The same, and told to the workers that ask it just now: see :meth:`rests`."""
        self.rest(source, until)
        try:
            await asyncio.to_thread(self._save_rest, source, until)
        except StoreError as error:
            logger.warning("other workers are not told that %s rests: %s", source, error)

    def _save_rest(self, source: str, until: datetime) -> None:
        self.store.save_source_state(replace(self.store.source_state(source), rest_until=until))

    async def rests(self, source: str) -> bool:
        """Whether some worker was asked to leave ``source`` alone. While the store is away it is not known, and said to be false."""
        try:
            until = (await self.state(source)).rest_until
        except StoreError:
            return False
        return until is not None and until > utcnow()

    def layout_changed(self, source: str) -> None:
        """The wrapper of ``source`` found nothing where the template-free reader did."""
        self._layouts.add(source)
        self.note(source, Message("note.layout-changed"))

    async def state(self, source: str) -> SourceState:
        return await asyncio.to_thread(self.store.source_state, source)

    async def begin(self, state: SourceState) -> bool:
        """A visit of a source begins. Whether it must be thorough: the one before did not come to its end, or there was none.

        Else list pages may lie behind one whose entries are all known: the run was killed before it got there. Raises ``StoreError``.
        """
        await asyncio.to_thread(self.store.save_source_state, replace(state, unfinished=utcnow()))
        return state.unfinished is not None or state.last_success is None

    @property
    def offline(self) -> bool:
        """Whether the network is away, by what all spiders of this process met (:class:`Reach`): no fault of the sources."""
        return self._reach.away

    def unreached(self, source: str) -> bool:
        """Whether its host was not reached, as is the case where there is no network."""
        return self._errors.get(source, "").startswith(OUTAGE)

    async def transfer_visit(self, source: str) -> None:
        """What this process saw of a visit that another one began and will close, for the next visit. Raises ``StoreError``."""
        if self._validators.get(source) or source in self._rests or source in self._layouts or self.hung.get(source):
            await asyncio.to_thread(self._save_seen, source)

    def _save_seen(self, source: str) -> None:
        self.store.save_source_state(self._seen(self.store.source_state(source), utcnow()))

    def _seen(self, state: SourceState, now: datetime) -> SourceState:
        """``state`` with what was seen of the source here."""
        source = state.source
        return replace(
            state,
            validators={**state.validators, **self._validators.get(source, {})},
            rest_until=self._rests.get(source, state.rest_until),
            layout_changed=now if source in self._layouts else state.layout_changed,
            hung=render_backoff.counted(state.hung, self.hung.get(source, set()), now),
        )

    async def close(self, visited: Iterable[str], now: datetime, *, finished: bool = True) -> None:
        """Save what is remembered of the sources visited in this run; ``finished``: it was not cut short. Raises ``StoreError``."""
        seen = set(visited)
        away = self.offline
        for source in sorted(seen):
            await asyncio.to_thread(self._save_state, source, now, away and self.unreached(source), finished)

    def _save_state(self, source: str, now: datetime, ours: bool, finished: bool) -> None:
        state = self.store.source_state(source)
        error = self._errors.get(source) or self._failed_elsewhere(source)
        if ours:
            self.store.save_source_state(replace(state, last_error=error))
            return
        complete = finished and (error is None or error.startswith(BLOCKED))  # an engine that blocks is not asked for more
        self.store.save_source_state(
            replace(
                self._seen(state, now),
                last_run=now,
                last_success=state.last_success if error else now,
                last_error=error or state.last_error,
                failures_in_row=state.failures_in_row + 1 if error else 0,
                unfinished=None if complete else state.unfinished,
            )
        )

    def _failed_elsewhere(self, source: str) -> str | None:
        """Why list pages of the visit that ends failed in another process."""
        visits = self.store.visits.of(source, limit=1)
        return max(visits[0].list_failed, key=visits[0].list_failed.__getitem__, default=None) if visits else None
