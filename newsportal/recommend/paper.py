"""The method of paper C, computed from a model of :mod:`best`."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cached_property
from typing import Any

import numpy as np

from newsportal.recommend import best, formulas, neighbours
from newsportal.recommend.base import Item, Recommendation, View
from newsportal.recommend.clicks import hours


@dataclass(frozen=True, eq=False)
class Paper:
    """The paper's method, from the model of ``best``: the latest views of the most recent readers, with the share viewed of each. ``alpha``
    and ``rate`` (λ) ``None``: those of the log. ``unit``: of t, in hours."""

    fit: best.Best
    alpha: float | None = None
    rate: float | None = None
    unit: float = formulas.HOUR

    @cached_property
    def neighbours(self) -> neighbours.UserNeighbours:
        learnt = self.fit.stats
        alpha = learnt.alpha if self.alpha is None else self.alpha
        facts = self.fit.facts
        learnt_rate = facts["lambda"] / self.unit if "lambda" in facts and facts["views"] >= best.MIN_VIEWS else formulas.RATE
        rate = learnt_rate if self.rate is None else self.rate
        rows = learnt.rows
        return neighbours.rated_by(rows.starts, rows.story, rows.share, learnt.published, alpha=alpha, rate=rate, unit=self.unit)

    @property
    def facts(self) -> Mapping[str, Any]:
        return {**self.fit.facts, "method": "paper", "alpha": self.neighbours.alpha, "lambda": self.neighbours.rate, "unit": self.unit}

    def recommend(
        self, history: Sequence[View], now: datetime, n: int, *, without: Collection[str] = (), reader: str = ""
    ) -> tuple[Recommendation, ...]:
        """See :meth:`newsportal.recommend.best.Best.recommend`; ties are ordered newest first. There is no exploration."""
        stories, shares, _ = self.fit.history(history)
        score = self.neighbours.predict(stories, shares - self.neighbours.alpha, hours(now))
        published = self.fit.stats.published
        score[published > hours(now)] = -np.inf
        score[[*stories, *(self.fit.numbers[story] for story in without if story in self.fit.numbers)]] = -np.inf
        order = [story for story in np.lexsort((-published, -score))[:n].tolist() if np.isfinite(score[story])]
        by = "neighbours" if len(stories) else "fresh"
        return tuple(Recommendation(self.fit.stats.items[story].story, round(float(score[story]), 6), by) for story in order)

    def extend(self, views: Iterable[View], items: Iterable[Item]) -> Paper:
        return replace(self, fit=self.fit.extend(views, items))
