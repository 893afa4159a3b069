"""Methods by name, to be compared: each learns from a log and ranks all stories for a history. What the portal runs is ``best``."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cached_property, partial
from typing import Any, Final, Protocol, TypeAlias

import numpy as np

from newsportal.recommend import best, formulas, neighbours, signals
from newsportal.recommend.base import Item, Recommendation, View
from newsportal.recommend.clicks import Clicks, Floats, Ints, hours, share

Scores: TypeAlias = Callable[["Question"], Floats]  # the score of every story for a question
LATE: Final = 0.9  # quantile of the views from which those are that a half-life is chosen by, before what is asked about


class Ranker(Protocol):
    """What a measure asks."""

    def ranked(self, history: Sequence[View], now: datetime, n: int) -> tuple[str, ...]:
        """The best ``n`` stories, none of the history or published after ``now``."""


@dataclass(frozen=True, slots=True, eq=False)
class Question:
    """A history as numbers, different stories, the latest first, with each view's share; the hour."""

    history: Ints
    shares: Floats
    now: float


@dataclass(frozen=True, eq=False)
class Scored:
    """A method that gives every story a score. ``again``: stories of the history are ranked too."""

    clicks: Clicks
    numbers: Mapping[str, int]
    scores: Scores
    again: bool = False

    def ranked(self, history: Sequence[View], now: datetime, n: int) -> tuple[str, ...]:
        return tuple(self.clicks.items[place].story for place, _ in self.best(history, now, n))

    def best(self, history: Sequence[View], now: datetime, n: int) -> list[tuple[int, float]]:
        """The numbers of the best ``n`` stories, each with its score."""
        latest = sorted(history, key=lambda view: (view.at, view.story), reverse=True)
        own = {self.numbers[view.story]: share(view) for view in reversed(latest) if view.story in self.numbers}
        stories = np.array(list(reversed(own)), dtype=np.int64)
        question = Question(stories, np.array([own[int(one)] for one in stories]), hours(now))
        score = np.where(self.clicks.published <= question.now, self.scores(question), -np.inf)
        if not self.again:
            score[stories] = -np.inf
        order = np.lexsort((np.arange(len(score)), -score))[:n]
        return [(int(place), float(score[place])) for place in order if np.isfinite(score[place])]


def _scored(clicks: Clicks, scores: Scores) -> Scored:
    return Scored(clicks, {item.story: number for number, item in enumerate(clicks.items)}, scores)


def popular(clicks: Clicks, now: float) -> Scored:
    views = formulas.popularity(clicks, now)
    return _scored(clicks, lambda question: views)


def recent(clicks: Clicks, now: float) -> Scored:
    """Popularity by recency: views fade, with the half-life that told the latest tenth of the views best."""
    views = formulas.popularity(clicks, now, best_half_life(clicks))
    return _scored(clicks, lambda question: views)


def best_half_life(clicks: Clicks) -> float:
    """Of the half-lives of :mod:`signals` that under which the views from :data:`LATE` on were likeliest, by what was before them."""
    if not len(clicks):
        return signals.HALF_LIVES[0]
    begin = float(np.quantile(clicks.at, LATE))
    before = clicks.before(begin)
    later = clicks.story[clicks.at >= begin]
    later = later[clicks.published[later] <= begin]
    seen = np.array([formulas.popularity(before, begin, half_life) for half_life in signals.HALF_LIVES])
    told = np.log(signals.shares(seen, later)).sum(axis=1)
    return signals.HALF_LIVES[int(np.argmax(told))]


def items(clicks: Clicks, now: float) -> Scored:
    """Item neighbours: likeness summed over the history."""
    table = neighbours.viewed_jointly(neighbours.pair_sums(clicks), neighbours.damped(clicks))
    return _scored(clicks, lambda question: signals.gathered(table, question.history, 1.0, clicks.stories))


def items_decay(clicks: Clicks, now: float) -> Scored:
    """Item neighbours, faded with the story's age: 2^(−age / h), h the median age of the latest tenth of the views."""
    near, fades = items(clicks, now).scores, age_half_life(clicks)
    return _scored(clicks, lambda question: near(question) * formulas.fading(clicks.published, question.now, fades))


def age_half_life(clicks: Clicks) -> float:
    """The age in hours that half of the latest tenth of the views have not reached."""
    late = clicks.at >= np.quantile(clicks.at, LATE) if len(clicks) else np.zeros(0, dtype=bool)
    ages = (clicks.at - clicks.published[clicks.story])[late]
    return max(1.0, float(np.median(ages))) if len(ages) else 24.0


def vsknn(clicks: Clicks, now: float) -> Scored:
    """V-SKNN: what readers with like recent views looked at."""
    rows = signals.rows(clicks)
    return _scored(clicks, lambda question: signals.votes(rows, question.history, clicks.stories))


def paper(
    clicks: Clicks, now: float, *, unit: float = formulas.HOUR, rate: float | None = formulas.RATE, alpha: float | None = None
) -> Scored:
    """The paper's: mean-centred neighbours, faded by W(t)."""
    model = neighbours.user_neighbours(clicks, unit=unit, rate=rate, alpha=alpha)
    return _scored(clicks, lambda question: model.predict(question.history, question.shares - model.alpha, question.now))


@dataclass(frozen=True, eq=False)
class Paper:
    """The paper's method from what a fit of ``best`` holds: the latest views of the readers who came last, with the share seen of each.

    ``alpha`` and ``rate`` (λ) ``None``: as the log has them. ``unit``: that of t, in hours.
    """

    fit: best.Best
    alpha: float | None = None
    rate: float | None = None
    unit: float = formulas.HOUR

    @cached_property
    def neighbours(self) -> neighbours.UserNeighbours:
        learnt = self.fit.learnt
        alpha = learnt.alpha if self.alpha is None else self.alpha
        facts = self.fit.facts
        known = facts["lambda"] / self.unit if "lambda" in facts and facts["views"] >= best.LATELY else formulas.RATE
        rate = known if self.rate is None else self.rate
        rows = learnt.rows
        return neighbours.rated_by(rows.starts, rows.story, rows.share, learnt.published, alpha=alpha, rate=rate, unit=self.unit)

    @property
    def facts(self) -> Mapping[str, Any]:
        return {**self.fit.facts, "method": "paper", "alpha": self.neighbours.alpha, "lambda": self.neighbours.rate, "unit": self.unit}

    def recommend(
        self, history: Sequence[View], now: datetime, n: int, *, without: Collection[str] = (), reader: str = ""
    ) -> tuple[Recommendation, ...]:
        """As :meth:`newsportal.recommend.best.Best.recommend`; of equal ratings the newest first. Nothing is explored."""
        known, shares, _ = self.fit.history(history)
        score = self.neighbours.predict(known, shares - self.neighbours.alpha, hours(now))
        published = self.fit.learnt.published
        score[published > hours(now)] = -np.inf
        score[[*known, *(self.fit.numbers[story] for story in without if story in self.fit.numbers)]] = -np.inf
        order = [story for story in np.lexsort((-published, -score))[:n].tolist() if np.isfinite(score[story])]
        by = "neighbours" if len(known) else "fresh"
        return tuple(Recommendation(self.fit.learnt.items[story].story, round(float(score[story]), 6), by) for story in order)

    def extended(self, views: Iterable[View], items: Iterable[Item]) -> Paper:
        return replace(self, fit=self.fit.extended(views, items))


METHODS: Final[Mapping[str, Callable[[Clicks, float], Ranker]]] = {
    "paper": paper,
    "paper-days": partial(paper, unit=formulas.DAY),
    "paper-refitted": partial(paper, rate=None),
    "popular": popular,
    "recent": recent,
    "items": items,
    "items-decay": items_decay,
    "vsknn": vsknn,
    "best": best.fitted,
}
"""What can be compared, the paper's first. Each learns from columns and the hour."""
