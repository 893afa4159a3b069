"""Recommendations for a reader, from the latest fit and later events. One :class:`Recommender` per process, shared by threads.

The fit is read once, and again when a newer one exists. Every :data:`FRESH` seconds, in the background, stories and views since the fit are
added, so that a story of a minute ago can be recommended. Before the first fit, statistics of the latest views (neighbours, votes, words)
are computed here every :data:`EARLY`, and used with default weights.
"""

import logging
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final, NamedTuple

from newsportal.errors import ModelError, StoreError
from newsportal.recommend import best, signals
from newsportal.recommend.base import Log, Recommendation
from newsportal.recommend.clicks import hours, to_columns
from newsportal.recommend.formulas import DAY, HOUR
from newsportal.recommend.paper import Paper
from newsportal.services.recommending.parts import items, new_items
from newsportal.sources.parts import Recommending
from newsportal.store.results import Story
from newsportal.store.store import Store

log = logging.getLogger(__name__)
FRESH: Final = 60.0  # seconds between updates
EARLY: Final = timedelta(minutes=10)  # between updates as long as there is no fit
EARLY_VIEWS: Final = 10_000
"""Latest views used then: about a second of processor time, mostly for pairs. More need a fit."""

SPARE: Final = 10  # additional recommendations: some stories may have been folded into others since the fit


class Suggestion(NamedTuple):
    """A story to show, the reason, and the story in the reader's history that led to it, if any."""

    story: Story
    recommendation: Recommendation
    origin: Story | None


@dataclass(frozen=True, slots=True)
class _Fitted:
    """A model in use. ``base``: the fit at ``made`` (``None``: none yet); ``model``: the same extended by everything since ``since``."""

    made: datetime | None
    since: datetime
    base: best.Best | Paper
    model: best.Best | Paper


def method_of(fit: best.Best, settings: Recommending) -> best.Best | Paper:
    """Return the method named by ``settings`` for a fit."""
    if settings.method == "best":
        return fit
    return Paper(fit, settings.alpha, settings.rate, DAY if settings.unit == "days" else HOUR)


def early_model(store: Store, now: datetime, days: int) -> best.Best:
    """Return a model of the latest views with default weights, before the first fit. Raises ``StoreError``."""
    views = store.readers.recent(now - timedelta(days=days), limit=EARLY_VIEWS)
    clicks = to_columns(Log(views, items(store.readers, now, days=days)))
    return best.Best(signals.learn(clicks, hours(now)), {}, {"views": len(clicks), "stories": clicks.stories})


class Recommender:
    """Recommends for readers. ``fresh`` 0: update on every call, for tests."""

    def __init__(
        self, store: Store, settings: Recommending | None = None, *, fresh: float = FRESH, clock: Callable[[], float] = time.monotonic
    ) -> None:  # fmt: skip
        self._store = store
        self._settings = settings or Recommending()
        self._fresh = fresh
        self._clock = clock
        self._fitted: _Fitted | None = None
        self._looked = 0.0
        self._looking = threading.Lock()

    def recommended(self, reader: str | None, now: datetime, n: int = 20) -> list[Suggestion]:
        """Return at most ``n`` stories for a reader (``None``: unknown reader), best first. Raises ``StoreError``."""
        if self._fitted is None or self._fresh <= 0:
            with self._looking:
                if self._fitted is None or self._fresh <= 0:
                    self.refresh(now)
        elif self._clock() - self._looked > self._fresh and self._looking.acquire(blocking=False):
            threading.Thread(target=self._look, args=(now,), daemon=True, name="recommender").start()
        assert self._fitted is not None
        model = self._fitted.model
        history = self._store.readers.history(reader) if reader else []
        answers = model.recommend(history, now, n + SPARE, reader=reader or "")
        story_ids = {answer.story for answer in answers} | {answer.reason_story for answer in answers if answer.reason_story}
        stories = self._store.by_id(story_ids)
        excluded = {view.story for view in history}
        found: list[Suggestion] = []
        for answer in answers:
            story = stories.get(answer.story)
            if story is not None and story.id not in excluded:  # not if folded into a story already viewed or listed
                excluded.add(story.id)
                found.append(Suggestion(story, answer, stories.get(answer.reason_story or "")))
        return found[:n]

    def refresh(self, now: datetime) -> None:
        """Load new views and stories, and a newer fit. Raises ``StoreError``."""
        made_at, since, base = self._base(now)
        readers = self._store.readers
        self._fitted = _Fitted(made_at, since, base, base.extend(readers.recent(since), new_items(readers, since)))
        self._looked = self._clock()

    def _base(self, now: datetime) -> tuple[datetime | None, datetime, best.Best | Paper]:
        """Return the newest readable fit, else a model of the first views, with its time and the time from which views are new."""
        current = self._fitted
        fit = self._store.readers.fit(newer_than=current.made if current else None)
        if fit is not None:
            try:
                return fit.created, fit.created, method_of(best.unpack(fit.model), self._settings)
            except ModelError as error:
                log.warning("the fit of %s is not used: %s", fit.created, error)
        if current is not None and (current.made is not None or now - current.since < EARLY):
            return current.made, current.since, current.base
        return None, now, method_of(early_model(self._store, now, self._settings.days), self._settings)

    def _look(self, now: datetime) -> None:
        try:
            self.refresh(now)
        except StoreError as error:  # continue with the current model
            self._looked = self._clock()
            log.warning("new stories are not recommended yet: %s", error)
        finally:
            self._looking.release()
