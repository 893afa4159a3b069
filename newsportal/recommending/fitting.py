"""Learning from what readers looked at, on this machine: views and stories are streamed from the store, the fit goes back to it."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import datetime
from typing import Any, Final

from newsportal.recommend import best
from newsportal.recommend.base import Log, View
from newsportal.recommend.ratings import ALPHA
from newsportal.recommending.candidates import DAYS, items
from newsportal.store.readers import Fit
from newsportal.store.store import Store

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
