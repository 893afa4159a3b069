"""Items made of stories, and the fit on this machine: views and stories are streamed from the store, the fit is saved there."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import datetime, timedelta
from typing import Any, Final

from newsportal.dedup.cosine import unit_vector
from newsportal.recommend import best
from newsportal.recommend.base import Item, Log, View
from newsportal.recommend.formulas import ALPHA
from newsportal.store.readers import Fit, Readers, StoryOffer
from newsportal.store.store import Store

DAYS: Final = 30
"""Days back from which a story may be recommended that nobody looked at: paper C counts its stories by the month, and clicks come in the
first days."""

LATE: Final = timedelta(days=3)
"""Stories are found so long after they were published, at most, to be noticed between two fits; the next fit knows all of them."""


def items(readers: Readers, now: datetime, *, days: int = DAYS) -> Iterator[Item]:
    """All that a fit may speak of: the stories of the last days, and whatever somebody looked at."""
    return map(item, readers.stories(now - timedelta(days=days)))


def new_items(readers: Readers, since: datetime) -> Iterator[Item]:
    """The stories that were found since a fit."""
    return map(item, readers.stories(since - LATE, found=since, looked_at=False))


def item(told: StoryOffer) -> Item:
    """The item of a story. Its words are those that tell reposts of photo stories apart (paper C, 2.2.3), each once."""
    return Item(told.story, told.published, tuple(unit_vector(told.title, told.text)), told.labels)


Watch = Callable[[int, int], None]
"""Told how many views of how many were read."""

EVERY: Final = 10_000
"""Views between two words about progress."""


def fit(store: Store, now: datetime, *, since: datetime | None = None, days: int = DAYS, watch: Watch | None = None) -> Fit:
    """Learn from all views that are kept (from ``since`` on), and put the fit to use. What is older than is promised goes first.

    Raises ``StoreError``.
    """
    began = time.perf_counter()
    gone = store.readers.let_go(alpha=alpha_of(store), now=now)
    views, readers = store.readers.counts()
    seen = store.readers.views(since=since)
    model = best.fit(Log(watched(seen, views, watch) if watch else seen, items(store.readers, now, days=days)), now)
    facts = {"by": "embedded", "views": views, "readers": readers, "let_go": gone, "seconds": round(time.perf_counter() - began, 3)}
    made = Fit(now, {**model.facts, **facts}, model.packed())
    store.readers.save_fit(made)
    return made


def watched(views: Iterable[View], total: int, watch: Watch) -> Iterator[View]:
    """The views, with a word about progress now and then."""
    number = 0
    for number, view in enumerate(views, 1):
        if number % EVERY == 0:
            watch(number, max(total, number))
        yield view
    watch(number, number)


def alpha_of(store: Store) -> float:
    """The α in use: the latest fit's, else the paper's."""
    facts: Mapping[str, Any] = next((facts for _, facts in store.readers.fits()[:1]), {})
    return float(facts.get("alpha", ALPHA))
