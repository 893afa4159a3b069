"""What speaks for a story, in figures: what is learnt of a log (sums over readers and pairs), and a row of figures a candidate.

Every figure is a logarithm or of that order, because :mod:`blend` adds them up: a product of powers. x̂ is x over the largest x of the
candidates; ε = ``FLOOR`` stands for "never seen together".

| figure | of story s, asked at ``now`` |
|---|---|
| ``popular`` | ln of the mixture Σ π(h) · share(h, s) (:func:`.popularity`): what share of the views s may expect |
| ``popular-h`` | ln(0.05 + p(s)) with half-life h, as learnt |
| ``age-log``, ``age-day``, ``age-decade`` | ln(1 + a), e^(−a / 24 h), e^(−a / 240 h), a: hours since it was published |
| ``together`` | ln(ε + x̂), x = Σ together(i, s) · 0.8^place over the latest 10 stories i of the history |
| ``together-all`` | the same over the latest 50, without fading |
| ``after`` | ln(ε + x̂), x = Σ after(i → s) · 0.6^place over the latest 10 |
| ``votes`` | ln(ε + x̂), x: V-SKNN's score |
| ``mixed`` | ln(ε + (x̂ of together + x̂ of after + x̂ of votes) / 3) |
| ``labels``, ``words`` | affinity of labels; mean likeness of words |
| ``liked-labels``, ``liked-words``, ``liked-all`` | interest, which is negative where little was seen: see below |

**Votes** (V-SKNN; Ludewig, Jannach 2018, "Evaluation of session-based recommendation algorithms", section 2.3, as in their code). A history
of n different stories, the latest first at place 1, weighs w(place) = 1 − 0.1 · place, not below 0 (linear). Of the readers who looked at
one of its stories the ``SAMPLED`` with the latest views are candidates; the likeness to reader u is

    sim(u) = Σ w(story of the history that u looked at) / n

and the ``NEIGHBOURS`` most alike vote: score(s) = Σ sim(u) · w(place of the latest story of the history that u looked at) · idf(s),
idf(s) = ln(readers / readers of s) as factor 1 + λ · idf, with λ = 5.

**Labels** (topics, category, source). With n(l) the reader's views of stories labelled l, weighing 1 each, n their sum over views, and
base(l) the share of all views, the reader's share is estimated with m = ``PRIOR`` views of anybody (Dirichlet smoothing):

    p(l) = (n(l) + m · base(l)) / (n + m)        affinity(s) = Σ over labels l of s: ln(p(l) / base(l))

**Interest**. A view counts with its rating r = w_c / w_s − α (paper C, formula 1), so a story of which few pictures were seen speaks
against those like it. Mean ratings, of which m views are taken to be 0: the reader's of each label (their sum over the labels of s), the
reader's of all stories, each times its cosine with s, and everybody's of s. In a log where all views have the share α they are 0.

**Words** of title and first sentence. Vectors of length 1 (Salton, Buckley 1988) of each word's idf, each word once,
idf(w) = ln((1 + N) / (1 + stories with w)) + 1; the likeness of two stories is their cosine.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from scipy import sparse

from newsportal.recommend import formulas, neighbours
from newsportal.recommend.base import Item
from newsportal.recommend.clicks import Clicks, Floats, Ints
from newsportal.recommend.neighbours import Table

SAMPLED: Final = 2000  # readers compared (the paper's sample_size on RSC15 is 1,000 to 5,000)
NEIGHBOURS: Final = 200  # readers that vote (the paper's k)
ROW: Final = 100  # the latest views of a reader that are kept: bounds what one reader weighs
IDF: Final = 5.0


@dataclass(frozen=True, slots=True, eq=False)
class Rows:
    """What readers looked at, and by whom stories were: reader ``u`` (the later the number, the later the reader's latest view) has
    ``story[starts[u]:starts[u + 1]]``, ``share`` of which was seen; story ``s`` was looked at by ``by[began[s]:began[s + 1]]``, falling
    numbers, who saw the share ``read`` of it, summed."""

    starts: Ints
    story: Ints
    share: Floats
    began: Ints
    by: Ints
    read: Floats


def rows(clicks: Clicks, most: int | None = None) -> Rows:
    """The latest ``ROW`` views of the ``most`` readers who came last; ties by name."""
    starts = clicks.starts()
    counts = np.diff(starts)
    readers = np.flatnonzero(counts)
    order = readers[np.lexsort((readers, clicks.at[starts[readers + 1] - 1]))]
    order = order[-most:] if most else order
    kept = np.minimum(counts[order], ROW)
    ends = np.concatenate(([0], np.cumsum(kept)))
    places = np.repeat(starts[order + 1] - ends[1:], kept) + np.arange(ends[-1])
    story, reader = clicks.story[places], np.repeat(np.arange(len(order)), kept)
    return indexed(ends, story, clicks.share[places], reader, clicks.stories)


def indexed(starts: Ints, story: Ints, share: Floats, reader: Ints, stories: int) -> Rows:
    by = np.lexsort((-reader, story))
    read = np.bincount(story, share, stories).astype(np.float64)
    return Rows(starts, story, share, np.searchsorted(story[by], np.arange(stories + 1)), reader[by], read)


def votes(known: Rows, history: Ints, stories: int) -> Floats:
    """The score of every story. ``history``: different stories, the latest first."""
    weight = np.maximum(0.0, 1 - 0.1 * np.arange(1, len(history) + 1))
    parts = [known.by[known.began[s] : known.began[s + 1]][:SAMPLED] for s in history]
    readers = np.concatenate(parts) if parts else np.empty(0, dtype=np.int64)
    if not len(readers):
        return np.zeros(stories)
    places = np.repeat(np.arange(len(history)), [len(part) for part in parts])
    found, inverse = np.unique(readers, return_inverse=True)
    likeness = np.bincount(inverse, weight[places]) / len(history)
    latest = np.full(len(found), len(history))
    np.minimum.at(latest, inverse, places)
    recent = np.arange(len(found))[-SAMPLED:]
    chosen = recent[np.lexsort((-found[recent], -likeness[recent]))][:NEIGHBOURS]
    vote = likeness[chosen] * weight[latest[chosen]]
    begins, ends = known.starts[found[chosen]], known.starts[found[chosen] + 1]
    counts = ends - begins
    seen = known.story[np.repeat(ends - np.cumsum(counts), counts) + np.arange(counts.sum())]
    score = np.asarray(np.bincount(seen, np.repeat(vote, counts), stories), dtype=np.float64)
    voted = np.flatnonzero(score)
    idf = np.log(max(1, len(known.starts) - 1) / np.diff(known.began)[voted])
    score[voted] *= 1 + IDF * idf
    return score


PRIOR: Final = 5.0  # views of anybody that a reader's own are added to
Matrix = Any  # a sparse matrix of SciPy (it has no types)


def label_matrix(items: Sequence[Item], labels: Sequence[str]) -> Matrix:
    numbers = {label: number for number, label in enumerate(labels)}
    cells = sorted({(row, numbers[label]) for row, item in enumerate(items) for label in item.labels if label in numbers})
    return _matrix([row for row, _ in cells], [column for _, column in cells], np.ones(len(cells)), (len(items), len(labels)))


def base_shares(matrix: Matrix, views: Floats) -> Floats:
    """base(l), each label seen once more than it was."""
    counts = np.asarray(matrix.T @ views, dtype=np.float64).ravel() + 1
    return np.asarray(counts / max(1.0, views.sum() + len(counts)))


def label_likings(counts: Floats, base: Floats, views: int) -> Floats:
    """ln(p(l) / base(l)) of every label; ``counts``: n(l), ``views``: n."""
    return np.asarray(np.log((counts + PRIOR * base) / (views + PRIOR) / base))


def word_matrix(items: Sequence[Item], words: Sequence[str], idf: Floats) -> Matrix:
    """Stories by words: idf rows, of length 1 together with the words that no other story has."""
    numbers = {word: number for number, word in enumerate(words)}
    rare = float(idf.max(initial=1.0)) ** 2
    rows: list[int] = []
    columns: list[int] = []
    others = np.zeros(len(items))
    for row, item in enumerate(items):
        own = set(item.words)
        known = sorted(numbers[word] for word in own if word in numbers)
        others[row] = rare * (len(own) - len(known))
        rows += [row] * len(known)
        columns += known
    matrix = _matrix(rows, columns, idf[np.array(columns, dtype=np.int64)], (len(items), len(words)))
    lengths = np.sqrt(np.asarray(matrix.multiply(matrix).sum(axis=1)).ravel() + others)
    return sparse.diags_array(1 / np.maximum(lengths, 1e-12)) @ matrix


def vocabulary(items: Sequence[Item]) -> tuple[tuple[str, ...], Floats]:
    """The words of two stories or more, sorted, and their idf."""
    counts = Counter(word for item in items for word in set(item.words))
    words = tuple(sorted(word for word, count in counts.items() if count > 1))
    number = np.array([counts[word] for word in words], dtype=np.float64)
    return words, np.log((1 + len(items)) / (1 + number)) + 1


def _matrix(rows: Sequence[int], columns: Sequence[int], values: Floats, shape: tuple[int, int]) -> Matrix:
    return sparse.csr_array((values, (np.array(rows, dtype=np.int64), np.array(columns, dtype=np.int64))), shape=shape)


HALF_LIVES: Final = (3.0, 12.0, 48.0, 240.0, 960.0, float("inf"))
"""Hours: from this morning to always, by factors of about 4; which counts is learnt."""

AGES: Final = (24.0, 240.0)

ALWAYS: Final = ("popular", *(f"popular-{half_life:g}" for half_life in HALF_LIVES), "age-log", "age-day", "age-decade")
"""Figures that need no history."""

LIKED: Final = ("liked-labels", "liked-words", "liked-all")
PERSONAL: Final = ("together", "together-all", "after", "votes", "mixed", "labels", "words", *LIKED)
LITTLE: Final = 0.05  # a story without views counts as the twentieth of one
FLOOR: Final = 0.01
HISTORY: Final = 50  # the latest stories of a history that are looked at
LATEST: Final = 10  # those of them that pair with what comes next
TOGETHER_FADES: Final = 0.8
AFTER_FADES: Final = 0.6
"""A place further back weighs so much less (chosen on the last day of RSC15's training part: 0.4 to 0.9 differ by 0.006)."""

MOST_READERS: Final = 20_000  # readers whose views are kept to vote: those who came last


@dataclass(frozen=True, slots=True, eq=False)
class Learnt:
    """What is known at ``moment``. ``popular`` has a row a half-life, ``mixture`` (π) an entry; ``idf`` has one a word of ``words``."""

    moment: float
    items: tuple[Item, ...]
    published: Floats
    popular: Floats
    mixture: Floats
    joint: Table
    after: Table
    rows: Rows
    labels: tuple[str, ...]
    base: Floats
    words: tuple[str, ...]
    idf: Floats
    label_matrix: Matrix
    word_matrix: Matrix
    alpha: float = formulas.ALPHA


@dataclass(frozen=True, slots=True, eq=False)
class Sums:
    """All that is summed over views: p of each half-life (a row each, ∞ the last), d of each story, sums over pairs, readers' latest views.

    Wherever they were summed, :func:`assembled` makes the same of them.
    """

    popular: Floats
    damped: Floats
    pairs: neighbours.PairSums
    rows: Rows


def summed(clicks: Clicks, moment: float) -> Sums:
    known = clicks.before(moment)
    return Sums(
        popular=np.array([formulas.popularity(known, moment, half_life) for half_life in HALF_LIVES]),
        damped=neighbours.damped(known),
        pairs=neighbours.pair_sums(known),
        rows=rows(known, MOST_READERS),
    )


def assembled(items: tuple[Item, ...], published: Floats, moment: float, sums: Sums) -> Learnt:
    """What the sums tell. ``items`` are sorted by story, whose places number them."""
    labels = tuple(sorted({label for item in items for label in item.labels}))
    by_label = label_matrix(items, labels)
    words, idf = vocabulary(items)
    return Learnt(
        moment=moment,
        items=items,
        published=published,
        popular=sums.popular,
        mixture=np.full(len(HALF_LIVES), 1 / len(HALF_LIVES)),
        joint=neighbours.viewed_jointly(sums.pairs, sums.damped),
        after=neighbours.after(sums.pairs, sums.popular[-1]),
        rows=sums.rows,
        labels=labels,
        base=base_shares(by_label, sums.popular[-1]),
        words=words,
        idf=idf,
        label_matrix=by_label,
        word_matrix=word_matrix(items, words, idf),
    )


def learn(clicks: Clicks, moment: float) -> Learnt:
    return assembled(clicks.items, clicks.published, moment, summed(clicks, moment))


@dataclass(frozen=True, slots=True, eq=False)
class Question:
    """The history (different stories, the latest first), the share seen of each, the hour; other readers' ``votes``, a story each."""

    history: Ints
    shares: Floats
    now: float
    votes: Floats


def question_of(learnt: Learnt, history: Ints, shares: Floats, now: float) -> Question:
    history = history[:HISTORY]
    return Question(history, shares[:HISTORY], now, votes(learnt.rows, history, len(learnt.items)) if len(history) else np.empty(0))


def figures(learnt: Learnt, question: Question, candidates: Ints) -> Floats:
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


def _personal(learnt: Learnt, question: Question, candidates: Ints) -> list[Floats]:
    history, stories = question.history, len(learnt.items)
    near = _scaled(gathered(learnt.joint, history[:LATEST], TOGETHER_FADES, stories)[candidates])
    all_near = _scaled(gathered(learnt.joint, history, 1.0, stories)[candidates])
    next_ones = _scaled(gathered(learnt.after, history[:LATEST], AFTER_FADES, stories)[candidates])
    votes = _scaled(question.votes[candidates])
    logarithms = [np.log(FLOOR + x) for x in (near, all_near, next_ones, votes, (near + next_ones + votes) / 3)]
    interest = formulas.ratings(question.shares, learnt.alpha)  # for ``labels``, ``words`` and the figures ``LIKED``
    counts, label_interest = _sums(learnt.label_matrix, history, np.ones(len(history)), interest)
    profile, word_interest = _sums(learnt.word_matrix, history, np.full(len(history), 1 / len(history)), interest)
    likings = label_likings(counts, learnt.base, len(history))
    labels, liked_labels = _products(learnt.label_matrix, candidates, likings, label_interest / (counts + PRIOR))
    words, liked_words = _products(learnt.word_matrix, candidates, profile, word_interest / (len(history) + PRIOR))
    rows = learnt.rows
    views = (rows.began[candidates + 1] - rows.began[candidates]).astype(np.float64)
    everybody = (rows.read[candidates] - learnt.alpha * views) / (views + PRIOR)
    return [*logarithms, labels, words, liked_labels, liked_words, everybody]


def _sums(matrix: Matrix, stories: Ints, *weights: Floats) -> Floats:
    """The sums of the rows of ``stories``, once for each of ``weights``."""
    return np.asarray((matrix[stories].T @ np.column_stack(weights)).T) if matrix.nnz else np.zeros((len(weights), matrix.shape[1]))


def _products(matrix: Matrix, stories: Ints, *vectors: Floats) -> Floats:
    """The products of the rows of ``stories`` with each of ``vectors``."""
    return np.asarray((matrix[stories] @ np.column_stack(vectors)).T) if matrix.nnz else np.zeros((len(vectors), len(stories)))


def gathered(table: Table, history: Ints, fades: float, stories: int) -> Floats:
    """Σ value(i, s) · fades^place over the history, of every story s."""
    score = np.zeros(stories)
    for place, story in enumerate(history):
        near, value = table.row(int(story))
        score[near] += value * fades**place
    return score


def _scaled(values: Floats) -> Floats:
    return values / max(float(values.max(initial=0.0)), 1e-12)
