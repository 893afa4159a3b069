"""The recommender of the portal: all signals for a story, combined with weights learnt from the log.

:mod:`signals` computes the features, :mod:`blend` learns their weights on earlier windows of the same log, :func:`candidates` selects the
stories to score, :func:`diversify` diversifies the list. Nothing is tuned to a data set: half-lives, weights and content's part are learnt.

* Of ``BLOCK`` consecutive places, at most ``MAX_ALIKE`` go to stories with a common label while others are left; labels of more than
  ``COMMON`` of the candidates do not count. The next story takes the place if its score is at most ``MAX_SCORE_LOSS`` lower. For new
  readers without a history, the limit is ``MAX_ALIKE_NEW``, at any score.
* A story with similar words (cosine ≥ ``DUPLICATE_COSINE``) to the previous one is skipped.
* Every ``BLOCK``-th place shows a story drawn from the newest and least viewed (ε-greedy exploration, ε = 1 / ``BLOCK``), seeded by reader
  and day: the list does not change when a page is reloaded.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cache, cached_property
from hashlib import blake2b
from typing import Any, Final

import numpy as np

from newsportal.recommend import blend, formulas, packing, signals
from newsportal.recommend.base import Item, Log, Recommendation, View
from newsportal.recommend.blend import BROWSING, NEW, RETURNING, LocalLog, TrainingLog, Weights
from newsportal.recommend.clicks import Clicks, Floats, Ints, hours, share, to_columns
from newsportal.recommend.signals import MAX_HISTORY, Question, Statistics

MAX_POPULAR: Final = 1000
"""The most popular stories by each half-life that are candidates for every reader (RSC15's last day has 1,771 different stories in all)."""

MAX_NEWEST: Final = 500
MAX_VOTED: Final = 500  # the stories with most votes of similar readers


def general_candidates(learnt: Statistics) -> Ints:
    size = len(learnt.items)
    if size <= MAX_POPULAR:
        return np.arange(size)
    most = [_top(row, MAX_POPULAR) for row in learnt.popular]
    return np.unique(np.concatenate([*most, _top(learnt.published, MAX_NEWEST)]))


def candidates(learnt: Statistics, question: Question, everybody: Ints) -> Ints:
    """Return the candidates: ``general`` and the neighbours of the history, without the history and stories published later."""
    selected = np.zeros(len(learnt.items), dtype=bool)
    selected[everybody] = True
    for story in question.history[:MAX_HISTORY]:
        selected[learnt.joint.row(int(story))[0]] = True
        selected[learnt.after.row(int(story))[0]] = True
    if len(question.history):
        voted = _top(question.votes, MAX_VOTED)
        selected[voted[question.votes[voted] > 0]] = True
    selected[question.history] = False
    return np.flatnonzero(selected & (learnt.published <= question.now))


def _top(values: np.ndarray, count: int) -> Ints:
    return np.argpartition(-values, count - 1)[:count] if len(values) > count else np.arange(len(values))


FALLBACK: Final[Mapping[str, tuple[float, ...]]] = {
    NEW: (1.0, *(0.0,) * 6, 0.0, 1.0, 0.0),
    RETURNING: (0.6, *(0.0,) * 6, 0.0, 1.0, 0.0, 0.2, 0.2, 0.2, 0.2, 0.2, 1.0, 1.0, 1.0, 1.0, 1.0),
    BROWSING: (0.4, *(0.0,) * 6, 0.0, 1.0, 0.0, 0.3, 0.0, 0.3, 0.3, 0.5, 1.0, 1.0, 1.0, 1.0, 1.0),
}
"""Default weights if there are too few views to learn from: popular first, then similar and new (about the middle of three logs)."""

MIN_VIEWS: Final = 1000  # views of a log from which its own α and λ are used; below, those of the paper

GROUPS: Final[Mapping[str, str]] = {
    **{name: "fresh" if name.startswith("age") else "popular" for name in signals.GENERAL},
    **dict.fromkeys(signals.PERSONAL, "neighbours"),
    "labels": "content",
    "words": "content",
    **dict.fromkeys(("liked-labels", "liked-words"), "content"),
    "liked-all": "popular",
}  # feature → slug of the recommendations for which such features contribute most


@dataclass(frozen=True, eq=False)
class Best:
    """A fitted model with the weight of each feature; ``facts``: figures for display, as JSON."""

    stats: Statistics
    weights: Weights
    facts: Mapping[str, Any]

    @cached_property
    def numbers(self) -> Mapping[str, int]:
        return {item.story: number for number, item in enumerate(self.stats.items)}

    @cached_property
    def general(self) -> Ints:
        return general_candidates(self.stats)

    @cached_property
    def newest(self) -> Sequence[int]:
        """Return the stories for exploration: newest first, within an hour the least viewed first."""
        order: list[int] = np.lexsort((self.stats.popular[-1], -np.floor(self.stats.published))).tolist()
        return order[:MAX_NEWEST]

    def recommend(
        self, history: Sequence[View], now: datetime, n: int, *, without: Collection[str] = (), reader: str = ""
    ) -> tuple[Recommendation, ...]:
        """Return at most ``n`` stories, best first, diversified; none of ``history`` or ``without``, none published after ``now``.
        ``history`` may be in any order. ``reader``: with the day of ``now`` the seed of the exploration; "" disables it."""
        stories, shares, last = self.history(history)
        question = signals.question_of(self.stats, stories, shares, hours(now))
        left_out = {self.numbers[story] for story in without if story in self.numbers} | set(stories.tolist())
        order, scores, parts = self._ranked(question, blend.situation(last, question.now), left_out, DEPTH * n)
        rows = self.stats.word_matrix[order]
        likeness = (rows @ rows.T).toarray() if rows.shape[1] else np.zeros((len(order), len(order)))
        places = diversify(
            [self.stats.items[story].labels for story in order],
            lambda place, other: bool(likeness[place, other] >= DUPLICATE_COSINE),
            n,
            MAX_ALIKE if len(stories) else MAX_ALIKE_NEW,
            scores.tolist() if len(stories) else (),
        )
        alike = self._content_overlap(question.history, order[places])
        recommended = [
            self._recommendation(int(order[place]), float(scores[place]), parts[place], question, alike[:, column])
            for column, place in enumerate(places)
        ]
        return tuple(self._with_exploration(recommended, reader, now, left_out) if reader else recommended)

    def rank(self, history: Sequence[View], now: datetime, n: int) -> tuple[str, ...]:
        """Return the best ``n`` by score, without diversification and exploration: used for evaluation."""
        stories, shares, last = self.history(history)
        question = signals.question_of(self.stats, stories, shares, hours(now))
        order, _, _ = self._ranked(question, blend.situation(last, question.now), set(stories.tolist()), n)
        return tuple(self.stats.items[story].story for story in order)

    def extend(self, views: Iterable[View], items: Iterable[Item]) -> Best:
        """Return the model with stories and views since the fit: new stories have content, age and first views. Cheaper than a fit."""
        learnt = packing.extend(self.stats, views, items)
        return replace(self, stats=learnt, facts={**self.facts, "stories": len(learnt.items)})

    def pack(self) -> bytes:
        """Serialise the model without executable content; :func:`unpack` reads it."""
        return packing.pack(self.stats, self.weights, self.facts)

    def history(self, history: Sequence[View]) -> tuple[Ints, Floats, float | None]:
        """Return distinct stories, latest first; the largest viewed share of each; the hour of the latest view."""
        latest = sorted(history, key=lambda view: (view.at, view.story), reverse=True)
        shares: dict[int, float] = {}
        for view in latest:
            if (story := self.numbers.get(view.story)) is not None:
                shares[story] = max(shares.get(story, 0.0), share(view))
        last = hours(latest[0].at) if shares else None
        return np.array(list(shares), dtype=np.int64), np.array(list(shares.values()), dtype=np.float64), last

    def _ranked(self, question: Question, situation: str, left_out: Collection[int], n: int) -> tuple[Ints, Floats, Floats]:
        """Return stories, scores and the contribution of each feature, best first; ties are ordered by story name."""
        among = candidates(self.stats, question, self.general)
        allowed = np.ones(len(self.stats.items), dtype=bool)
        allowed[list(left_out)] = False
        among = among[allowed[among]]
        if not len(among):
            return among, np.empty(0), np.empty((0, 0))
        rows = signals.features(self.stats, question, among)
        weights = self.weights.get(situation, np.array(FALLBACK[situation]))
        score = rows @ weights
        best = _top(score, n)
        among, rows, score = among[best], rows[best] - rows.mean(axis=0), score[best]
        names = [self.stats.items[story].story for story in among]
        order = np.array(sorted(range(len(among)), key=lambda place: (-round(float(score[place]), 9), names[place])), dtype=np.int64)
        return among[order], score[order], (rows * weights)[order]

    def _recommendation(self, story: int, score: float, parts: Floats, question: Question, alike: Floats) -> Recommendation:
        sums: dict[str, float] = {}
        for name, part in zip(blend.feature_names(parts), parts, strict=True):
            sums[GROUPS[name]] = sums.get(GROUPS[name], 0.0) + float(part)
        by = max(sorted(sums), key=sums.__getitem__)
        reason_story = self._reason_story(story, by, question.history, alike)
        by = "popular" if by in ("neighbours", "content") and reason_story is None else by
        by = "fresh" if by == "popular" and not self.stats.popular[-1][story] else by  # a story without views is not popular
        return Recommendation(self.stats.items[story].story, round(score, 6), by, reason_story)

    def _content_overlap(self, history: Ints, stories: Ints) -> Floats:
        """Return the number of common labels plus the cosine of the words, for each story of ``history`` and each of ``stories``."""
        matrices = (self.stats.label_matrix, self.stats.word_matrix)
        return np.asarray(sum((matrix[history] @ matrix[stories].T).toarray() for matrix in matrices), dtype=np.float64)

    def _reason_story(self, story: int, by: str, history: Ints, alike: Floats) -> str | None:
        """Return the story of the history most similar to ``story``; of equals the latest. ``alike``: see :meth:`_content_overlap`."""
        if by not in ("neighbours", "content") or not len(history):
            return None
        near = [self._pair_score(int(viewed), story) if by == "neighbours" else 0.0 for viewed in history]
        if max(near) <= 0:
            near = alike.tolist()
        place = max(range(len(near)), key=lambda place: (near[place], -place))
        return self.stats.items[history[place]].story if near[place] > 0 else None

    def _pair_score(self, viewed: int, story: int) -> float:
        return sum(float(value[near == story].sum()) for near, value in (self.stats.joint.row(viewed), self.stats.after.row(viewed)))

    def _with_exploration(
        self, recommended: Sequence[Recommendation], reader: str, now: datetime, left_out: Collection[int]
    ) -> list[Recommendation]:
        in_list = {entry.story for entry in recommended}
        newest = [
            story
            for story in self.newest
            if story not in left_out and self.stats.items[story].story not in in_list and self.stats.published[story] <= hours(now)
        ]
        names = [self.stats.items[story].story for story in newest]
        extended = list(recommended)
        places = range(BLOCK - 1, len(extended), BLOCK)
        for place, number in zip(places, draw_for_reader(reader, now.date().isoformat(), names, len(places)), strict=False):
            extended[place] = Recommendation(names[number], extended[place].score, "explore")
        return extended


def fit(log: Log, now: datetime) -> Best:
    return fit_clicks(to_columns(log), hours(now))


def unpack(data: bytes) -> Best:
    """Read the output of :meth:`Best.pack`. Raises ``ModelError`` for bytes that are invalid, damaged, or of another version."""
    return Best(*packing.unpack(data))


def fit_clicks(clicks: Clicks, now: float) -> Best:
    return fit_log(LocalLog(clicks.before(now)), now)


def fit_log(log: TrainingLog, now: float) -> Best:
    """Fit a model on any kind of log."""
    alpha = log.alpha() if len(log) >= MIN_VIEWS else formulas.ALPHA
    general = cache(general_candidates)  # one for all moments of a window
    blended = blend.learn_weights(log, lambda learnt, question: candidates(learnt, question, general(learnt)), alpha)
    learnt = replace(log.statistics(now), mixture=blended.mixture, alpha=alpha)
    facts = {
        "alpha": alpha,
        "lambda": log.rate() if len(log) >= MIN_VIEWS else formulas.RATE,
        "views": len(log),
        "readers": log.readers,
        "stories": log.stories,
        "moments": dict(blended.moments),
        "half_lives": {f"{half:g}": round(float(part), 4) for half, part in zip(signals.HALF_LIVES, blended.mixture, strict=True)},
        "weights": {
            name: {figure: round(float(value), 4) for figure, value in zip(blend.feature_names(weights), weights, strict=True)}
            for name, weights in sorted(blended.weights.items())
        },
    }
    return Best(learnt, blended.weights, facts)


BLOCK: Final = 10
MAX_ALIKE: Final = 5
MAX_ALIKE_NEW: Final = 3
MAX_SCORE_LOSS: Final = 0.7  # ln 2: a story half as likely may still take a place for diversity
COMMON: Final = 0.5
DUPLICATE_COSINE: Final = 0.6
"""Twice the threshold of the paper for one story (cosine of title and first sentence ≥ 0.3, section 2.2.3): only sure duplicates."""

DEPTH: Final = 8  # stories scored for diversification, as a multiple of those requested


def diversify(
    labels: Sequence[Sequence[str]], alike: Callable[[int, int], bool], n: int, share: int = MAX_ALIKE, scores: Sequence[float] = ()
) -> list[int]:
    """Return the indexes of the candidates (best first) in the order shown, at most ``n``. If the limits exclude all candidates, or with
    ``scores`` all near ones, the best remaining one is taken."""
    occurrences = Counter(label for of_story in labels for label in set(of_story))
    distinctive = frozenset(label for label, count in occurrences.items() if count <= COMMON * len(labels))
    order: list[int] = []
    waiting = list(range(len(labels)))
    while waiting and len(order) < n:
        block = order[-(BLOCK - 1) :]
        waiting = [place for place in waiting if not (order and alike(place, order[-1]))]
        if not waiting:
            break
        near = (place for place in waiting if not scores or scores[waiting[0]] - scores[place] <= MAX_SCORE_LOSS)
        counts = Counter(label for place in block for label in set(labels[place]))
        place = next((place for place in near if all(counts[label] < share for label in set(labels[place]) & distinctive)), waiting[0])
        order.append(place)
        waiting.remove(place)
    return order


def draw_for_reader(reader: str, day: str, names: Sequence[str], n: int) -> list[int]:
    """Return ``n`` indexes of ``feature_names``: those with the lowest hash of reader, day and name."""
    return sorted(range(len(names)), key=lambda place: blake2b(f"{reader}\n{day}\n{names[place]}".encode(), digest_size=8).digest())[:n]
