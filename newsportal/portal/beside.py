"""What goes on beside the pages while a portal is served: threads that follow the store, the file and the hubs, and that send alerts."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Protocol

from fastapi import FastAPI
from starlette.datastructures import State

from newsportal.accounts import Accounts
from newsportal.daily import DailySums
from newsportal.portal.alerting import sender
from newsportal.portal.follower import Follower
from newsportal.portal.site import SourcesLike
from newsportal.portal.subscribing import Subscriber
from newsportal.portal.warming import Warming
from newsportal.search.base import Index
from newsportal.sources import Sources
from newsportal.store.store import Store


class Goes(Protocol):
    """A thread. ``stop`` ends it after the step at hand."""

    def start(self) -> None: ...

    def stop(self) -> None: ...


@dataclass(frozen=True, slots=True)
class Beside:
    """What goes on, over what was opened for the portal. ``every``: seconds between two looks at the store (0: nothing follows it)."""

    store: Store
    index: Index | None
    sources: SourcesLike
    accounts: Accounts | None
    daily: DailySums | None
    every: float

    @asynccontextmanager
    async def served(self, app: FastAPI) -> AsyncIterator[None]:
        """The life of ``app``: all of it goes on from the first request to the last."""
        state, begun = app.state, list[Goes]()
        logging.getLogger().addHandler(state.ring)
        try:
            for thread in self._threads(state):
                thread.start()
                begun.append(thread)
            yield
        finally:
            logging.getLogger().removeHandler(state.ring)
            state.jobs.stop()
            for thread in begun:
                thread.stop()
            state.portal.stop()

    def _threads(self, state: State) -> Iterator[Goes]:
        """Those that others ask of how they do are kept in ``state``."""
        followed = self.every > 0
        state.follower = Follower(self.index, self.store, self.every) if self.index is not None and followed else None
        hubs = isinstance(self.sources, Sources) and self.sources.portal.url
        state.subscriber = Subscriber(self.store, self.sources) if hubs and isinstance(self.sources, Sources) else None
        state.sender = sender(state)
        yield from (thread for thread in (state.follower, state.subscriber, state.reloading, state.sender) if thread is not None)
        if self.accounts is not None and followed:
            yield Follower(self.accounts.marks, self.store, self.every, "marks")
        if self.daily is not None and followed:
            yield Follower(self.daily, self.store, self.every, "daily sums")
        if followed:
            yield Warming(state.portal)
