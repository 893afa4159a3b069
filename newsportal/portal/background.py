"""Background threads of a served portal: they follow the store, ``sources.yaml`` and the hubs, warm up the first pages, and send alerts."""

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
from newsportal.portal.account.alerts import sender_thread
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

POLL_SECONDS = 3.0  # seconds between polls: search finds a story about as soon as the front page shows it


class FollowsStore(Protocol):
    """An index, or other data derived from the store."""

    def follow(self, store: Store) -> int: ...


class Follower(PeriodicThread):
    """Calls ``index.follow(store)`` periodically; ``name`` is the index's name in the log."""

    def __init__(self, index: FollowsStore, store: Store, every: float = POLL_SECONDS, name: str = "search index") -> None:
        super().__init__(f"{name} follower", every)
        self.index, self.store = index, store

    def step(self) -> None:
        self.index.follow(self.store)


FIRST_TEMPLATES: Final = ("home.html", "list.html", "story.html", "search.html")  # templates of the pages that readers open first
WARM_UP_DELAY: Final = 0.1  # seconds until warming begins: requests that arrive at once are served first


class WarmUp(PeriodicThread):
    """Runs the :func:`warm_up_steps` once. A failed step is left to the page that needs it, which reports the error."""

    def __init__(self, portal: Portal) -> None:
        super().__init__("warming", 0, first=WARM_UP_DELAY)
        self._portal = portal

    def step(self) -> None:
        for step in warm_up_steps(self._portal):
            if self.stopping.is_set():
                return
            try:
                step()
            except NewsportalError as error:
                log.debug("warm-up step failed; the page that needs it will retry: %s", error)
        self.stopping.set()


def warm_up_steps(portal: Portal) -> Iterator[Callable[[], object]]:
    """Yield the steps: totals, translations, templates, the stories of the front page, the segmenter of search, and the collector."""
    templates = partial(environment, choose(None, "", portal.site.language))
    yield portal.tally
    yield from (lambda name=name: templates().get_template(name) for name in FIRST_TEMPLATES)
    yield lambda: portal.fronts.get(portal.topics(), dict(portal.tally().by_topic), portal.now(), by_rank=False)
    if portal.index is not None:
        yield lambda: query_words("新闻")
    yield freeze_garbage_collector


@cache
def freeze_garbage_collector() -> None:
    """Exempt what lives as long as the process (modules, templates, dictionaries) from garbage collection: a search makes thousands of
    objects, so the collector runs often. Saves a fifth of a search page's processor time (``benchmarks/portal.py``)."""
    gc.collect()
    gc.freeze()


@dataclass(frozen=True, slots=True)
class BackgroundThreads:
    """The background threads and what they work on. ``every``: seconds between polls of the store (0: nothing follows it)."""

    store: Store
    index: Index | None
    sources: Sources
    accounts: Accounts
    daily: DailySums | None
    every: float

    @asynccontextmanager
    async def lifespan(self, app: FastAPI) -> AsyncIterator[None]:
        """Run the threads from the first request to the last."""
        state, started = app.state, list[PeriodicThread]()
        logging.getLogger().addHandler(state.log_buffer)
        try:
            for thread in self._threads(state):
                thread.start()
                started.append(thread)
            yield
        finally:
            logging.getLogger().removeHandler(state.log_buffer)
            state.jobs.runner.close()
            for thread in started:
                thread.stop()
            state.portal.stop()

    def _threads(self, state: State) -> Iterator[PeriodicThread]:
        """Yield the threads; those whose state is shown on pages are kept in ``state``."""
        polls = self.every > 0
        state.follower = Follower(self.index, self.store, self.every) if self.index is not None and polls else None
        state.subscriber = Subscriber(self.store, self.sources) if self.sources.portal.url else None
        state.sender = sender_thread(state)
        yield from (thread for thread in (state.follower, state.subscriber, state.reloader, state.sender) if thread is not None)
        if polls:
            yield Follower(self.accounts.marks, self.store, self.every, "marks")
            yield Follower(EventFollower(), self.store, self.every, "events")
            if self.daily is not None:
                yield Follower(self.daily, self.store, self.every, "daily sums")
            yield WarmUp(state.portal)
