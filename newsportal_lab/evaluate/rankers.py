"""Recommendation methods for comparison, by name: each learns from a log and ranks all stories for a history. The portal uses ``best``."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import Final, TypeAlias

import numpy as np

from newsportal.recommend import best, formulas, neighbours, signals
from newsportal.recommend.base import View
from newsportal.recommend.clicks import Clicks, Floats, Ints, hours, share
from newsportal.recommend.neighbours import UserNeighbours, rated_by
from newsportal_lab.evaluate.ranking import Ranker

Scores: TypeAlias = Callable[["Question"], Floats]  # the score of every story for a question
LATE: Final = 0.9  # quantile of the views after which views are used to choose a half-life, still before the cut


@dataclass(frozen=True, slots=True, eq=False)
class Question:
    """A history as numbers, distinct stories, the latest first, with each view's share; the hour."""

    history: Ints
    shares: Floats
    now: float


@dataclass(frozen=True, eq=False)
class ScoringRanker:
    """A method that scores every story. ``again``: stories of the history are ranked too."""

    clicks: Clicks
    numbers: Mapping[str, int]
    scores: Scores
    again: bool = False

    def rank(self, history: Sequence[View], now: datetime, n: int) -> tuple[str, ...]:
        return tuple(self.clicks.items[index].story for index, _ in self.best(history, now, n))

    def best(self, history: Sequence[View], now: datetime, n: int) -> list[tuple[int, float]]:
        """Return the numbers of the best ``n`` stories, each with its score."""
        latest = sorted(history, key=lambda view: (view.at, view.story), reverse=True)
        shares = {self.numbers[view.story]: share(view) for view in reversed(latest) if view.story in self.numbers}
        stories = np.array(list(reversed(shares)), dtype=np.int64)
        question = Question(stories, np.array([shares[int(story)] for story in stories]), hours(now))
        score = np.where(self.clicks.published <= question.now, self.scores(question), -np.inf)
        if not self.again:
            score[stories] = -np.inf
        order = np.lexsort((np.arange(len(score)), -score))[:n]
        return [(int(index), float(score[index])) for index in order if np.isfinite(score[index])]


def _scored(clicks: Clicks, scores: Scores) -> ScoringRanker:
    return ScoringRanker(clicks, {item.story: number for number, item in enumerate(clicks.items)}, scores)


def popular(clicks: Clicks, now: float) -> ScoringRanker:
    views = formulas.popularity(clicks, now)
    return _scored(clicks, lambda question: views)


def recent(clicks: Clicks, now: float) -> ScoringRanker:
    """Popularity by recency: views decay, with the half-life that best predicted the latest tenth of the views."""
    views = formulas.popularity(clicks, now, best_half_life(clicks))
    return _scored(clicks, lambda question: views)


def best_half_life(clicks: Clicks) -> float:
    """Return the half-life of :data:`newsportal.recommend.signals.HALF_LIVES` that maximises the likelihood of views after :data:`LATE`."""
    if not len(clicks):
        return signals.HALF_LIVES[0]
    begin = float(np.quantile(clicks.at, LATE))
    before = clicks.before(begin)
    later = clicks.story[clicks.at >= begin]
    later = later[clicks.published[later] <= begin]
    views = np.array([formulas.popularity(before, begin, half_life) for half_life in signals.HALF_LIVES])
    return signals.HALF_LIVES[int(np.argmax(np.log(signals.shares(views, later)).sum(axis=1)))]


def items(clicks: Clicks, now: float) -> ScoringRanker:
    """Item neighbours: similarity summed over the history."""
    table = neighbours.viewed_jointly(neighbours.pair_sums(clicks), neighbours.damping_of(clicks))
    return _scored(clicks, lambda question: signals.sum_values(table, question.history, 1.0, clicks.stories))


def items_decay(clicks: Clicks, now: float) -> ScoringRanker:
    """Item neighbours, decayed by the story's age: 2^(−age / h), h the median age of the latest tenth of the views."""
    similar, half_life = items(clicks, now).scores, age_half_life(clicks)
    return _scored(clicks, lambda question: similar(question) * formulas.decay(clicks.published, question.now, half_life))


def age_half_life(clicks: Clicks) -> float:
    """Return the median age in hours of the latest tenth of the views."""
    late = clicks.at >= np.quantile(clicks.at, LATE) if len(clicks) else np.zeros(0, dtype=bool)
    ages = (clicks.at - clicks.published[clicks.story])[late]
    return max(1.0, float(np.median(ages))) if len(ages) else 24.0


def vsknn(clicks: Clicks, now: float) -> ScoringRanker:
    """V-SKNN: views of readers with similar recent views."""
    rows = signals.rows(clicks)
    return _scored(clicks, lambda question: signals.votes(rows, question.history, clicks.stories))


def paper(
    clicks: Clicks, now: float, *, unit: float = formulas.HOUR, rate: float | None = formulas.RATE, alpha: float | None = None
) -> ScoringRanker:
    """The paper's method: mean-centred neighbours, decayed by W(t)."""
    model = user_neighbours(clicks, unit=unit, rate=rate, alpha=alpha)
    return _scored(clicks, lambda question: model.predict(question.history, question.shares - model.alpha, question.now))


def user_neighbours(
    clicks: Clicks, *, unit: float = formulas.HOUR, rate: float | None = formulas.RATE, alpha: float | None = None
) -> UserNeighbours:
    """Ratings of a log. ``alpha`` ``None``: its median; ``rate`` ``None``: refitted to its ages."""
    alpha = alpha if alpha is not None else formulas.median_share(clicks.share)
    rate = rate if rate is not None else formulas.fitted_rate(clicks.at - clicks.published[clicks.story], unit)
    return rated_by(clicks.starts(), clicks.story, clicks.share, clicks.published, alpha=alpha, rate=rate, unit=unit)


METHODS: Final[Mapping[str, Callable[[Clicks, float], Ranker]]] = {
    "paper": paper,
    "paper-days": partial(paper, unit=formulas.DAY),
    "paper-refitted": partial(paper, rate=None),
    "popular": popular,
    "recent": recent,
    "items": items,
    "items-decay": items_decay,
    "vsknn": vsknn,
    "best": best.fit_clicks,
}
"""Methods to compare, the paper's first. Each learns from columns and the hour."""
