"""Recommendations for a reader, from the latest fit and from what happened since. One :class:`Recommender` a process, shared by threads.

The fit is read once, and again when a newer one is there. Every :data:`FRESH` seconds, beside the requests, stories that were found and
views that were recorded since the fit are added, so a story of a minute ago can be recommended. Before the first fit that is all there
is, and the answer is what is fresh and what others look at.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final, NamedTuple

from newsportal.errors import ModelError, StoreError
from newsportal.recommend import best
from newsportal.recommend.base import Log, Model, Recommendation
from newsportal.recommending.candidates import DAYS, items, new_items
from newsportal.storage.base import Store, Story

log = logging.getLogger(__name__)

FRESH: Final = 60.0
"""Seconds between two looks at what is new."""

SPARE: Final = 10
"""Asked for beyond what is wanted: some stories may have been folded into others since the fit."""


class Suggestion(NamedTuple):
    """A story to show, why, and the story of the reader's own history that speaks for it, if one does."""

    story: Story
    recommendation: Recommendation
    because: Story | None


@dataclass(frozen=True, slots=True)
class _Known:
    """``base``: what the fit of the moment ``made`` left (``None``: there is none yet). ``model``: the same with what is new."""

    made: datetime | None
    base: Model
    model: Model


class Recommender:
    """Answers for readers. ``fresh`` 0: looks at what is new with every question; tests want that."""

    def __init__(
        self, store: Store, *, days: int = DAYS, fresh: float = FRESH, clock: Callable[[], float] = time.monotonic
    ) -> None:  # fmt: skip
        self._store = store
        self._days = days
        self._fresh = fresh
        self._clock = clock
        self._known: _Known | None = None
        self._looked = 0.0
        self._looking = threading.Lock()

    def recommended(self, reader: str | None, now: datetime, n: int = 20) -> list[Suggestion]:
        """At most ``n`` stories for a reader (``None``: one of whom nothing is known), the best first. Raises ``StoreError``."""
        model = self._model(now)
        history = self._store.readers.history(reader) if reader else []
        answers = model.recommend(history, now, n + SPARE, reader=reader or "")
        named = {answer.story for answer in answers} | {answer.because for answer in answers if answer.because}
        stories = self._store.listed(named)
        taken = {view.story for view in history}
        found: list[Suggestion] = []
        for answer in answers:
            story = stories.get(answer.story)
            if story is not None and story.id not in taken:  # folded into one that was seen or stands above: not again
                taken.add(story.id)
                found.append(Suggestion(story, answer, stories.get(answer.because or "")))
        return found[:n]

    def refresh(self, now: datetime) -> None:
        """Look at what is new, and for a newer fit. Raises ``StoreError``."""
        readers, known = self._store.readers, self._known
        fit = readers.fit(newer_than=known.made if known else None)
        made, base = (known.made, known.base) if known else (None, None)
        if fit is not None:
            try:
                made, base = fit.made, best.unpack(fit.packed)
            except ModelError as error:
                log.warning("the fit of %s is not used: %s", fit.made, error)
        if base is None:
            base = best.fit(Log((), ()), now)
        if made is None:
            fresh, views = items(readers, now, days=self._days), readers.recent(now - timedelta(days=self._days))
        else:
            fresh, views = new_items(readers, made), readers.recent(made)
        self._known = _Known(made, base, base.extended(views, fresh))
        self._looked = self._clock()

    def _model(self, now: datetime) -> Model:
        """What is known, at most :data:`FRESH` seconds old but for the time that a look takes."""
        if self._known is None or self._fresh <= 0:
            with self._looking:
                if self._known is None or self._fresh <= 0:
                    self.refresh(now)
        elif self._clock() - self._looked > self._fresh and self._looking.acquire(blocking=False):
            threading.Thread(target=self._look, args=(now,), daemon=True, name="recommender").start()
        assert self._known is not None
        return self._known.model

    def _look(self, now: datetime) -> None:
        try:
            self.refresh(now)
        except StoreError as error:  # what is known serves on
            self._looked = self._clock()
            log.warning("what is new is not recommended yet: %s", error)
        finally:
            self._looking.release()
