"""What the portal runs: all that speaks for a story, weighed as readers of this log weigh it.

:mod:`signals` counts, :mod:`blend` learns the weights on earlier windows of the same log, :func:`candidates` chooses what is looked at,
:func:`varied` makes a list of it. No setting knows a set of data: half-lives, weights and what content counts are learnt.

* Of ``BLOCK`` places in a row at most ``SHARE`` go to stories that have a label in common, as long as others are left; labels that
  more than ``COMMON`` of the candidates have tell nothing and do not count. The next story takes the place if its score is at most ``NEAR``
  lower. For new readers, of whom nothing is known, ``NEW_SHARE``, however far the next one is.
* A story whose words are alike (cosine ≥ ``ALIKE``) to one in the list is passed over.
* Every ``BLOCK``-th place shows a story drawn from the newest and least seen (ε-greedy exploration, ε = 1 / ``BLOCK``), by a draw that a
  reader and a day settle: the list does not jump about when a page is loaded again.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cached_property
from hashlib import blake2b
from typing import Any, Final

import numpy as np

from newsportal.recommend import blend, formulas, packing, signals
from newsportal.recommend.base import Item, Log, Recommendation, View
from newsportal.recommend.blend import BACK, NEW, UNDERWAY, LocalLog, TrainingLog, Weights
from newsportal.recommend.clicks import Clicks, Floats, Ints, columns, hours, share
from newsportal.recommend.signals import HISTORY, Learnt, Question

POPULAR: Final = 1000
"""The most popular stories of each half-life that any reader may be shown (RSC15's last day has 1,771 different stories in all)."""

NEWEST: Final = 500
VOTED: Final = 500  # the stories with most votes of readers alike


def general(learnt: Learnt) -> Ints:
    size = len(learnt.items)
    if size <= POPULAR:
        return np.arange(size)
    most = [_top(row, POPULAR) for row in learnt.popular]
    return np.unique(np.concatenate([*most, _top(learnt.published, NEWEST)]))


def candidates(learnt: Learnt, question: Question, everybody: Ints) -> Ints:
    """``everybody``'s, and those that stand near the history; neither of the history nor published later."""
    found = np.zeros(len(learnt.items), dtype=bool)
    found[everybody] = True
    for story in question.history[:HISTORY]:
        found[learnt.joint.row(int(story))[0]] = True
        found[learnt.after.row(int(story))[0]] = True
    if len(question.history):
        voted = _top(question.votes, VOTED)
        found[voted[question.votes[voted] > 0]] = True
    found[question.history] = False
    return np.flatnonzero(found & (learnt.published <= question.now))


def _top(values: np.ndarray, most: int) -> Ints:
    if len(values) <= most:
        return np.arange(len(values))
    return np.argpartition(-values, most - 1)[:most]


FALLBACK: Final[Mapping[str, tuple[float, ...]]] = {
    NEW: (1.0, *(0.0,) * 6, 0.0, 1.0, 0.0),
    BACK: (0.6, *(0.0,) * 6, 0.0, 1.0, 0.0, 0.2, 0.2, 0.2, 0.2, 0.2, 1.0, 1.0, 1.0, 1.0, 1.0),
    UNDERWAY: (0.4, *(0.0,) * 6, 0.0, 1.0, 0.0, 0.3, 0.0, 0.3, 0.3, 0.5, 1.0, 1.0, 1.0, 1.0, 1.0),
}
"""Weights where too little was seen to learn them: what is popular, then what is near and new (about the
middle of what three logs teach)."""

LATELY: Final = 1000  # views of a log from which its figures are worth telling as learnt (α, λ); below, the paper's stand

GROUPS: Final[Mapping[str, str]] = {
    **{name: "fresh" if name.startswith("age") else "popular" for name in signals.ALWAYS},
    **dict.fromkeys(signals.PERSONAL, "neighbours"),
    "labels": "content",
    "words": "content",
    **dict.fromkeys(("liked-labels", "liked-words"), "content"),
    "liked-all": "popular",
}  # figure → the slug that a recommendation bears when such figures speak most for it


@dataclass(frozen=True, eq=False)
class Best:
    """What was learnt of a log, and how much each figure counts; ``facts``: figures for people, as JSON.

    It answers new readers (an empty history), and leaves out what ``without`` names.
    """

    learnt: Learnt
    weights: Weights
    facts: Mapping[str, Any]

    @cached_property
    def numbers(self) -> Mapping[str, int]:
        return {item.story: number for number, item in enumerate(self.learnt.items)}

    @cached_property
    def everybody(self) -> Ints:
        return general(self.learnt)

    @cached_property
    def newest(self) -> Sequence[int]:
        """What may be shown to explore: the newest, of one hour those seen least first."""
        order: list[int] = np.lexsort((self.learnt.popular[-1], -np.floor(self.learnt.published))).tolist()
        return order[:NEWEST]

    def recommend(
        self, history: Sequence[View], now: datetime, n: int, *, without: Collection[str] = (), reader: str = ""
    ) -> tuple[Recommendation, ...]:
        """At most ``n`` stories, the best first, varied; never one of ``history`` or ``without``, nor one published after ``now``.

        ``history`` may come in any order. ``reader``: with the day of ``now`` the seed of what is shown to explore; "" explores nothing.
        """
        known, shares, last = self.history(history)
        question = signals.question_of(self.learnt, known, shares, hours(now))
        left_out = {self.numbers[story] for story in without if story in self.numbers} | set(known.tolist())
        order, scores, parts = self._ranked(question, blend.situation(last, question.now), left_out, DEPTH * n)
        rows = self.learnt.word_matrix[order]
        likeness = (rows @ rows.T).toarray() if rows.shape[1] else np.zeros((len(order), len(order)))
        shown = varied(
            [self.learnt.items[story].labels for story in order],
            lambda one, other: bool(likeness[one, other] >= ALIKE),
            n,
            SHARE if len(known) else NEW_SHARE,
            scores.tolist() if len(known) else (),
        )
        alike = self._contents(question.history, order[shown])
        told = [
            self._recommendation(int(order[place]), float(scores[place]), parts[place], question, alike[:, column])
            for column, place in enumerate(shown)
        ]
        return tuple(self._explored(told, reader, now, left_out) if reader else told)

    def ranked(self, history: Sequence[View], now: datetime, n: int) -> tuple[str, ...]:
        """The best ``n`` as they are scored, neither varied nor explored: what measures compare."""
        known, shares, last = self.history(history)
        question = signals.question_of(self.learnt, known, shares, hours(now))
        order, _, _ = self._ranked(question, blend.situation(last, question.now), set(known.tolist()), n)
        return tuple(self.learnt.items[story].story for story in order)

    def extended(self, views: Iterable[View], items: Iterable[Item]) -> Best:
        """With what was published and seen since: new stories have their content, age and first views. It costs little."""
        learnt = packing.extended(self.learnt, views, items)
        return replace(self, learnt=learnt, facts={**self.facts, "stories": len(learnt.items)})

    def packed(self) -> bytes:
        """The model as bytes in which nothing can run; :func:`unpack` reads them."""
        return packing.pack(self.learnt, self.weights, self.facts)

    def history(self, history: Sequence[View]) -> tuple[Ints, Floats, float | None]:
        """Different stories, the latest first; the largest share seen of each; the hour of the latest view."""
        latest = sorted(history, key=lambda view: (view.at, view.story), reverse=True)
        known: dict[int, float] = {}
        for view in latest:
            if (story := self.numbers.get(view.story)) is not None:
                known[story] = max(known.get(story, 0.0), share(view))
        last = hours(latest[0].at) if known else None
        return np.array(list(known), dtype=np.int64), np.array(list(known.values()), dtype=np.float64), last

    def _ranked(self, question: Question, situation: str, left_out: Collection[int], n: int) -> tuple[Ints, Floats, Floats]:
        """Stories, scores and what each figure adds, the best first; of equal scores the story whose name sorts first."""
        among = candidates(self.learnt, question, self.everybody)
        allowed = np.ones(len(self.learnt.items), dtype=bool)
        allowed[list(left_out)] = False
        among = among[allowed[among]]
        if not len(among):
            return among, np.empty(0), np.empty((0, 0))
        rows = signals.figures(self.learnt, question, among)
        weights = self.weights.get(situation, np.array(FALLBACK[situation]))
        score = rows @ weights
        kept = _top(score, n)
        among, rows, score = among[kept], rows[kept] - rows.mean(axis=0), score[kept]
        names = [self.learnt.items[story].story for story in among]
        order = np.array(sorted(range(len(among)), key=lambda place: (-round(float(score[place]), 9), names[place])), dtype=np.int64)
        return among[order], score[order], (rows * weights)[order]

    def _recommendation(self, story: int, score: float, parts: Floats, question: Question, alike: Floats) -> Recommendation:
        sums: dict[str, float] = {}
        for name, part in zip(blend.names(parts), parts, strict=True):
            sums[GROUPS[name]] = sums.get(GROUPS[name], 0.0) + float(part)
        by = max(sorted(sums), key=sums.__getitem__)
        because = self._because(story, by, question.history, alike)
        by = "popular" if by in ("neighbours", "content") and because is None else by
        by = "fresh" if by == "popular" and not self.learnt.popular[-1][story] else by  # what nobody looked at is not popular
        return Recommendation(self.learnt.items[story].story, round(score, 6), by, because)

    def _contents(self, history: Ints, stories: Ints) -> Floats:
        """How many labels, and how much of their words, each story of a history has in common with each of others."""
        matrices = (self.learnt.label_matrix, self.learnt.word_matrix)
        return np.asarray(sum((matrix[history] @ matrix[stories].T).toarray() for matrix in matrices), dtype=np.float64)

    def _because(self, story: int, by: str, history: Ints, alike: Floats) -> str | None:
        """The story of the history nearest to this one; of equally near ones the latest. ``alike``: see :meth:`_contents`."""
        if by not in ("neighbours", "content") or not len(history):
            return None
        near = [self._near(int(seen), story) if by == "neighbours" else 0.0 for seen in history]
        if max(near) <= 0:
            near = alike.tolist()
        place = max(range(len(near)), key=lambda place: (near[place], -place))
        return self.learnt.items[history[place]].story if near[place] > 0 else None

    def _near(self, seen: int, story: int) -> float:
        return sum(float(value[near == story].sum()) for near, value in (self.learnt.joint.row(seen), self.learnt.after.row(seen)))

    def _explored(self, told: Sequence[Recommendation], reader: str, now: datetime, left_out: Collection[int]) -> list[Recommendation]:
        shown = {one.story for one in told}
        newest = [
            story
            for story in self.newest
            if story not in left_out and self.learnt.items[story].story not in shown and self.learnt.published[story] <= hours(now)
        ]
        names = [self.learnt.items[story].story for story in newest]
        found = list(told)
        places = range(BLOCK - 1, len(found), BLOCK)
        for place, chosen in zip(places, drawn(reader, now.date().isoformat(), names, len(places)), strict=False):
            found[place] = Recommendation(names[chosen], found[place].score, "explore")
        return found


def fit(log: Log, now: datetime) -> Best:
    return fitted(columns(log), hours(now))


def unpack(data: bytes) -> Best:
    """The model that :meth:`Best.packed` wrote. Raises ``ModelError`` for bytes that are none, damaged, or of another version."""
    return Best(*packing.unpack(data))


def fitted(clicks: Clicks, now: float) -> Best:
    return learnt_of(LocalLog(clicks.before(now)), now)


def learnt_of(known: TrainingLog, now: float) -> Best:
    """The same from a log wherever it lies."""
    alpha = known.alpha() if len(known) >= LATELY else formulas.ALPHA
    found = blend.weigh(known, lambda learnt, question: candidates(learnt, question, general(learnt)), alpha)
    learnt = replace(known.learnt(now), mixture=found.mixture, alpha=alpha)
    facts = {
        "alpha": alpha,
        "lambda": known.rate() if len(known) >= LATELY else formulas.RATE,
        "views": len(known),
        "readers": known.readers,
        "stories": known.stories,
        "moments": dict(found.moments),
        "half_lives": {f"{half:g}": round(float(part), 4) for half, part in zip(signals.HALF_LIVES, found.mixture, strict=True)},
        "weights": {
            name: {figure: round(float(value), 4) for figure, value in zip(blend.names(weights), weights, strict=True)}
            for name, weights in sorted(found.weights.items())
        },
    }
    return Best(learnt, found.weights, facts)


BLOCK: Final = 10
SHARE: Final = 5
NEW_SHARE: Final = 3
NEAR: Final = 0.7  # ln 2: a story half as likely still takes a place for variety's sake
COMMON: Final = 0.5
ALIKE: Final = 0.6
"""Twice the paper's bound of one story (cosine of title and first sentence ≥ 0.3, section 2.2.3): only what is surely one."""

DEPTH: Final = 8  # how many times as many stories as are asked for are looked through


def telling(labels: Sequence[Sequence[str]]) -> frozenset[str]:
    """Labels that not most of the candidates have."""
    counts = Counter(label for own in labels for label in set(own))
    return frozenset(label for label, count in counts.items() if count <= COMMON * len(labels))


def varied(
    labels: Sequence[Sequence[str]], alike: Callable[[int, int], bool], n: int, share: int = SHARE, scores: Sequence[float] = ()
) -> list[int]:
    """Places of the candidates (the best first) as they are shown; at most ``n``. What the bounds pass over comes when
    nothing else is left, with ``scores`` as soon as nothing near is."""
    counted = telling(labels)
    chosen: list[int] = []
    waiting = list(range(len(labels)))
    while waiting and len(chosen) < n:
        block = chosen[-(BLOCK - 1) :]
        waiting = [place for place in waiting if not (chosen and alike(place, chosen[-1]))]
        if not waiting:
            break
        near = (place for place in waiting if not scores or scores[waiting[0]] - scores[place] <= NEAR)
        taken = Counter(label for place in block for label in set(labels[place]))
        found = next((place for place in near if all(taken[label] < share for label in set(labels[place]) & counted)), waiting[0])
        chosen.append(found)
        waiting.remove(found)
    return chosen


def drawn(reader: str, day: str, names: Sequence[str], n: int) -> list[int]:
    """``n`` places of ``names``: those whose hash with reader and day is least."""
    return sorted(range(len(names)), key=lambda place: blake2b(f"{reader}\n{day}\n{names[place]}".encode(), digest_size=8).digest())[:n]
