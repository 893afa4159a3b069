"""What speaks for a story, in figures: what is learnt of a log (sums over readers and pairs), and a row of figures a candidate.

Every figure is a logarithm or of that order, because :mod:`blend` adds them up: a product of powers. x̂ is x over the largest x of the
candidates; ε = ``FLOOR`` stands for "never seen together".

| figure | of story s, asked at ``now`` |
|---|---|
| ``popular`` | ln of the mixture Σ π(h) · share(h, s) (:mod:`popularity`): what share of the views s may expect |
| ``popular-h`` | ln(0.05 + p(s)) with half-life h, as learnt |
| ``age-log``, ``age-day``, ``age-decade`` | ln(1 + a), e^(−a / 24 h), e^(−a / 240 h), a: hours since it was published |
| ``together`` | ln(ε + x̂), x = Σ together(i, s) · 0.8^place over the latest 10 stories i of the history |
| ``together-all`` | the same over the latest 50, without fading |
| ``after`` | ln(ε + x̂), x = Σ after(i → s) · 0.6^place over the latest 10 |
| ``votes`` | ln(ε + x̂), x: V-SKNN's score (:mod:`sessions`) |
| ``mixed`` | ln(ε + (x̂ of together + x̂ of after + x̂ of votes) / 3) |
| ``labels``, ``words`` | affinity of labels; mean likeness of words (:mod:`content`) |
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from newsportal.recommend import content, formulas, neighbours, sessions
from newsportal.recommend.base import Item
from newsportal.recommend.clicks import Clicks, Floats, Ints
from newsportal.recommend.content import Matrix
from newsportal.recommend.neighbours import Table
from newsportal.recommend.sessions import Rows

HALF_LIVES: Final = (3.0, 12.0, 48.0, 240.0, 960.0, float("inf"))
"""Hours: from this morning to always, by factors of about 4; which counts is learnt."""

AGES: Final = (24.0, 240.0)

ALWAYS: Final = ("popular", *(f"popular-{half_life:g}" for half_life in HALF_LIVES), "age-log", "age-day", "age-decade")
"""Figures that need no history."""

PERSONAL: Final = ("together", "together-all", "after", "votes", "mixed", "labels", "words")

LITTLE: Final = 0.05
"""A story without views counts as the twentieth of one."""

FLOOR: Final = 0.01

HISTORY: Final = 50
"""The latest stories of a history that are looked at."""

LATEST: Final = 10
"""Those of them that pair with what comes next."""

TOGETHER_FADES: Final = 0.8
AFTER_FADES: Final = 0.6
"""A place further back weighs so much less (chosen on the last day of RSC15's training part: 0.4 to 0.9 differ by 0.006)."""

MOST_READERS: Final = 20_000
"""Readers whose views are kept to vote: those who came last."""


@dataclass(frozen=True, slots=True, eq=False)
class Learnt:
    """What is known at ``moment``. ``popular`` has a row a half-life, ``mixture`` (π) an entry; ``idf`` has one a word of ``words``."""

    moment: float
    items: tuple[Item, ...]
    published: Floats
    popular: Floats
    mixture: Floats
    together: Table
    after: Table
    rows: Rows
    labels: tuple[str, ...]
    base: Floats
    words: tuple[str, ...]
    idf: Floats
    label_matrix: Matrix
    word_matrix: Matrix


@dataclass(frozen=True, slots=True, eq=False)
class Sums:
    """All that is summed over views: p of each half-life (a row each, ∞ the last), d of each story, sums over pairs, readers' latest views.

    Wherever they were summed, :func:`assembled` makes the same of them.
    """

    popular: Floats
    damped: Floats
    pairs: neighbours.Sums
    rows: Rows


def summed(clicks: Clicks, moment: float) -> Sums:
    """The sums over the views before ``moment``."""
    known = clicks.before(moment)
    return Sums(
        popular=np.array([formulas.popularity(known, moment, half_life) for half_life in HALF_LIVES]),
        damped=neighbours.damped(known),
        pairs=neighbours.pair_sums(known),
        rows=sessions.rows(known, MOST_READERS),
    )


def assembled(items: tuple[Item, ...], published: Floats, moment: float, sums: Sums) -> Learnt:
    """What the sums tell. ``items`` are sorted by story, whose places number them."""
    labels = tuple(sorted({label for item in items for label in item.labels}))
    label_matrix = content.label_matrix(items, labels)
    words, idf = content.vocabulary(items)
    return Learnt(
        moment=moment,
        items=items,
        published=published,
        popular=sums.popular,
        mixture=np.full(len(HALF_LIVES), 1 / len(HALF_LIVES)),
        together=neighbours.together(sums.pairs, sums.damped),
        after=neighbours.after(sums.pairs, sums.popular[-1]),
        rows=sums.rows,
        labels=labels,
        base=content.base_shares(label_matrix, sums.popular[-1]),
        words=words,
        idf=idf,
        label_matrix=label_matrix,
        word_matrix=content.word_matrix(items, words, idf),
    )


def learn(clicks: Clicks, moment: float) -> Learnt:
    """Everything that is known of the views before ``moment``."""
    return assembled(clicks.items, clicks.published, moment, summed(clicks, moment))


@dataclass(frozen=True, slots=True, eq=False)
class Asked:
    """A question: the history (different stories, the latest first) and the hour. ``votes``: those of other readers, a story each."""

    history: Ints
    now: float
    votes: Floats


def asked(learnt: Learnt, history: Ints, now: float) -> Asked:
    history = history[:HISTORY]
    return Asked(history, now, sessions.votes(learnt.rows, history, len(learnt.items)) if len(history) else np.empty(0))


def figures(learnt: Learnt, question: Asked, candidates: Ints) -> Floats:
    """A row a candidate: ``ALWAYS``, and with a history ``PERSONAL``."""
    popular = np.log(LITTLE + learnt.popular[:, candidates])
    expected = np.log(learnt.mixture @ shares(learnt.popular, candidates))
    age = np.maximum(0.0, question.now - learnt.published[candidates])
    always = [expected, *popular, np.log1p(age), *(np.exp(-age / unit) for unit in AGES)]
    return np.array([*always, *_personal(learnt, question, candidates)] if len(question.history) else always).T


def shares(popular: Floats, stories: Ints) -> Floats:
    """The share of the views that these stories have, a row a half-life; a story without views has a little."""
    whole = popular.sum(axis=1) + LITTLE * popular.shape[1]
    return np.asarray((popular[:, stories] + LITTLE) / whole[:, None], dtype=np.float64)


def _personal(learnt: Learnt, question: Asked, candidates: Ints) -> list[Floats]:
    history, stories = question.history, len(learnt.items)
    near = _scaled(gathered(learnt.together, history[:LATEST], TOGETHER_FADES, stories)[candidates])
    all_near = _scaled(gathered(learnt.together, history, 1.0, stories)[candidates])
    next_ones = _scaled(gathered(learnt.after, history[:LATEST], AFTER_FADES, stories)[candidates])
    votes = _scaled(question.votes[candidates])
    likings = content.label_likings(learnt.label_matrix, learnt.base, history, np.ones(len(history)))
    profile = np.asarray(learnt.word_matrix[history].mean(axis=0)).ravel()
    logarithms = [np.log(FLOOR + x) for x in (near, all_near, next_ones, votes, (near + next_ones + votes) / 3)]
    return [*logarithms, learnt.label_matrix[candidates] @ likings, learnt.word_matrix[candidates] @ profile]


def gathered(table: Table, history: Ints, fades: float, stories: int) -> Floats:
    """Σ value(i, s) · fades^place over the history, of every story s."""
    score = np.zeros(stories)
    for place, story in enumerate(history):
        near, value = table.row(int(story))
        score[near] += value * fades**place
    return score


def _scaled(values: Floats) -> Floats:
    return values / max(float(values.max(initial=0.0)), 1e-12)
