"""Threads that run while a portal is served: they follow the store, the file and the hubs, prepare the first pages, and send alerts."""

from __future__ import annotations

import gc
import logging
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import cache, partial
from typing import Final, Protocol

from fastapi import FastAPI
from starlette.datastructures import State

from newsportal.errors import NewsportalError
from newsportal.portal.account.alerts import sender
from newsportal.portal.context import Portal
from newsportal.portal.language import choose
from newsportal.portal.render import environment
from newsportal.portal.websub import Subscriber
from newsportal.search.base import Index
from newsportal.search.words import query_words
from newsportal.services.accounts import Accounts
from newsportal.services.daily import DailySums
from newsportal.services.events.following import EventFollower
from newsportal.services.periodic import PeriodicThread
from newsportal.sources import Sources
from newsportal.store.store import Store

log = logging.getLogger(__name__)

EVERY = 3.0  # seconds between two looks: a story is found by search about as soon as it is on the front page


class Follows(Protocol):
    """An index, or marks."""

    def follow(self, store: Store) -> int: ...


class Follower(PeriodicThread):
    """Runs ``index.follow(store)`` again and again; ``name`` is what the log calls the index."""

    def __init__(self, index: Follows, store: Store, every: float = EVERY, name: str = "search index") -> None:
        super().__init__(f"{name} follower", every)
        self.index, self.store = index, store

    def step(self) -> None:
        self.index.follow(self.store)


PAGES: Final = ("home.html", "list.html", "story.html", "search.html")  # the templates of what readers open first
BEFORE_FIRST: Final = 0.1  # seconds until it begins: who asks at once is served first


class Warming(PeriodicThread):
    """Goes through :func:`steps` once. What fails is left to the page that needs it, which says so."""

    def __init__(self, portal: Portal) -> None:
        super().__init__("warming", 0, first=BEFORE_FIRST)
        self._portal = portal

    def step(self) -> None:
        for step in steps(self._portal):
            if self.stopping.is_set():
                return
            try:
                step()
            except NewsportalError as error:
                log.debug("left for the first page: %s", error)
        self.stopping.set()


def steps(portal: Portal) -> Iterator[Callable[[], object]]:
    """Totals, the words of the portal's language, templates, the stories of the front page, the segmenter of search; then rest."""
    templates = partial(environment, choose(None, "", portal.site.language))
    yield portal.tally
    yield from (lambda name=name: templates().get_template(name) for name in PAGES)
    yield lambda: portal.fronts.get(portal.topics(), dict(portal.tally().by_topic), portal.now(), by_rank=False)
    if portal.index is not None:
        yield lambda: query_words("新闻")
    yield settle


@cache
def settle() -> None:
    """Let the collection of garbage not look again and again at what stays as long as the process (modules, templates, dictionaries): a
    search makes thousands of objects, so it runs often. A fifth of a search page's processor time (``benchmarks/portal.py``)."""
    gc.collect()
    gc.freeze()


@dataclass(frozen=True, slots=True)
class BackgroundThreads:
    """What goes on, over what was opened for the portal. ``every``: seconds between two looks at the store (0: nothing follows it)."""

    store: Store
    index: Index | None
    sources: Sources
    accounts: Accounts
    daily: DailySums | None
    every: float

    @asynccontextmanager
    async def lifespan(self, app: FastAPI) -> AsyncIterator[None]:
        """The life of ``app``: all of it goes on from the first request to the last."""
        state, begun = app.state, list[PeriodicThread]()
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

    def _threads(self, state: State) -> Iterator[PeriodicThread]:
        """Those that others ask of how they do are kept in ``state``."""
        followed = self.every > 0
        state.follower = Follower(self.index, self.store, self.every) if self.index is not None and followed else None
        state.subscriber = Subscriber(self.store, self.sources) if self.sources.portal.url else None
        state.sender = sender(state)
        yield from (thread for thread in (state.follower, state.subscriber, state.reloading, state.sender) if thread is not None)
        if followed:
            yield Follower(self.accounts.marks, self.store, self.every, "marks")
            yield Follower(EventFollower(), self.store, self.every, "events")
            if self.daily is not None:
                yield Follower(self.daily, self.store, self.every, "daily sums")
            yield Warming(state.portal)
