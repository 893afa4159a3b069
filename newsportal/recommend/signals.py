"""Features of candidate stories, and the statistics of the log that they are computed from (sums over readers and pairs).

Every feature is a logarithm or of that order, because :mod:`blend` sums them: a product of powers. x̂ is x divided by the largest x of the
candidates; ε = ``MIN_SHARE`` stands for "never viewed together".

| feature | of story s at ``now`` |
|---|---|
| ``popular`` | ln of the mixture Σ π(h) · share(h, s) (:func:`.popularity`): the expected share of s in the views |
| ``popular-h`` | ln(0.05 + p(s)) with half-life h |
| ``age-log``, ``age-day``, ``age-decade`` | ln(1 + a), e^(−a / 24 h), e^(−a / 240 h), a: hours since publication |
| ``together`` | ln(ε + x̂), x = Σ together(i, s) · 0.8^place over the latest 10 stories i of the history |
| ``together-all`` | the same over the latest 50, without decay |
| ``viewed_next`` | ln(ε + x̂), x = Σ after(i → s) · 0.6^place over the latest 10 |
| ``votes`` | ln(ε + x̂), x: V-SKNN's score |
| ``mixed`` | ln(ε + (x̂ of together + x̂ of after + x̂ of votes) / 3) |
| ``labels``, ``words`` | affinity of labels; mean similarity of words |
| ``liked-labels``, ``liked-words``, ``liked-all`` | interest, negative for stories of which little was viewed: see below |

**Votes** (V-SKNN; Ludewig, Jannach 2018, "Evaluation of session-based recommendation algorithms", section 2.3, as in their code). The story
at place p of a history of n distinct stories, latest first (place 1), has the weight w(p) = 1 − 0.1 · p, at least 0 (linear). Of the
readers of these stories the ``MAX_COMPARED`` with the latest views are candidates; the similarity to reader u is

    sim(u) = Σ w(story of the history that u viewed) / n

and the ``MAX_VOTERS`` most similar vote: score(s) = Σ sim(u) · w(place of the latest story of the history that u viewed) · idf(s), idf(s) =
ln(readers / readers of s) as factor 1 + λ · idf, with λ = 5.

**Labels** (topics, category, source). With n(l) the reader's views of stories labelled l, n their sum over views, and base(l) the share of
l in all views, the reader's share is estimated with m = ``PRIOR_VIEWS`` pseudo-views (Dirichlet smoothing):

    p(l) = (n(l) + m · base(l)) / (n + m)        affinity(s) = Σ over labels l of s: ln(p(l) / base(l))

**Interest**. A view counts with its rating r = w_c / w_s − α (paper C, formula 1): a story of which few pictures were viewed counts against
similar ones. Mean ratings, with m further ratings of 0: the reader's of each label (summed over the labels of s), the reader's of all
stories, each times its cosine with s, and everybody's of s. In a log where all views have the share α they are 0.

**Words** of title and first sentence. Unit vectors (Salton, Buckley 1988) of the idf of each distinct word, idf(w) = ln((1 + N) / (1 +
stories with w)) + 1; the similarity of two stories is their cosine.
"""

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

MAX_COMPARED: Final = 2000  # readers compared (the paper's sample_size on RSC15 is 1,000 to 5,000)
MAX_VOTERS: Final = 200  # readers that vote (the paper's k)
MAX_ROW: Final = 100  # latest views stored per reader: bounds the influence of one reader
IDF: Final = 5.0


@dataclass(frozen=True, slots=True, eq=False)
class Rows:
    """Views by reader and by story. Reader ``u`` (numbered by the time of the latest view) viewed ``story[starts[u]:starts[u + 1]]``, of
    each the share in ``share``; story ``s`` was viewed by ``by[began[s]:began[s + 1]]``, descending; ``read`` is the sum of its shares."""

    starts: Ints
    story: Ints
    share: Floats
    began: Ints
    by: Ints
    read: Floats


def rows(clicks: Clicks, max_readers: int | None = None) -> Rows:
    """Return the latest ``MAX_ROW`` views of the ``max_readers`` most recent readers; ties by name."""
    starts = clicks.starts()
    counts = np.diff(starts)
    readers = np.flatnonzero(counts)
    order = readers[np.lexsort((readers, clicks.at[starts[readers + 1] - 1]))]
    order = order[-max_readers:] if max_readers else order
    sizes = np.minimum(counts[order], MAX_ROW)
    ends = np.concatenate(([0], np.cumsum(sizes)))
    places = np.repeat(starts[order + 1] - ends[1:], sizes) + np.arange(ends[-1])
    story, reader = clicks.story[places], np.repeat(np.arange(len(order)), sizes)
    return index_rows(ends, story, clicks.share[places], reader, clicks.stories)


def index_rows(starts: Ints, story: Ints, share: Floats, reader: Ints, stories: int) -> Rows:
    by = np.lexsort((-reader, story))
    read = np.bincount(story, share, stories).astype(np.float64)
    return Rows(starts, story, share, np.searchsorted(story[by], np.arange(stories + 1)), reader[by], read)


def votes(rows: Rows, history: Ints, stories: int) -> Floats:
    """Return the vote score of every story. ``history``: distinct stories, latest first."""
    weight = np.maximum(0.0, 1 - 0.1 * np.arange(1, len(history) + 1))
    parts = [rows.by[rows.began[s] : rows.began[s + 1]][:MAX_COMPARED] for s in history]
    readers = np.concatenate(parts) if parts else np.empty(0, dtype=np.int64)
    if not len(readers):
        return np.zeros(stories)
    places = np.repeat(np.arange(len(history)), [len(part) for part in parts])
    voters, inverse = np.unique(readers, return_inverse=True)
    likeness = np.bincount(inverse, weight[places]) / len(history)
    latest = np.full(len(voters), len(history))
    np.minimum.at(latest, inverse, places)
    recent = np.arange(len(voters))[-MAX_COMPARED:]
    nearest = recent[np.lexsort((-voters[recent], -likeness[recent]))][:MAX_VOTERS]
    vote = likeness[nearest] * weight[latest[nearest]]
    begins, ends = rows.starts[voters[nearest]], rows.starts[voters[nearest] + 1]
    counts = ends - begins
    viewed = rows.story[np.repeat(ends - np.cumsum(counts), counts) + np.arange(counts.sum())]
    score = np.asarray(np.bincount(viewed, np.repeat(vote, counts), stories), dtype=np.float64)
    voted = np.flatnonzero(score)
    idf = np.log(max(1, len(rows.starts) - 1) / np.diff(rows.began)[voted])
    score[voted] *= 1 + IDF * idf
    return score


PRIOR_VIEWS: Final = 5.0  # pseudo-views added to a reader's own
Matrix = Any  # a sparse matrix of SciPy (untyped)


def label_matrix(items: Sequence[Item], labels: Sequence[str]) -> Matrix:
    numbers = {label: number for number, label in enumerate(labels)}
    cells = sorted({(row, numbers[label]) for row, item in enumerate(items) for label in item.labels if label in numbers})
    return _matrix([row for row, _ in cells], [column for _, column in cells], np.ones(len(cells)), (len(items), len(labels)))


def base_shares(matrix: Matrix, views: Floats) -> Floats:
    """Return base(l), with add-one smoothing."""
    counts = np.asarray(matrix.T @ views, dtype=np.float64).ravel() + 1
    return np.asarray(counts / max(1.0, views.sum() + len(counts)))


def label_preferences(counts: Floats, base: Floats, views: int) -> Floats:
    """Return ln(p(l) / base(l)) of every label; ``counts``: n(l), ``views``: n."""
    return np.asarray(np.log((counts + PRIOR_VIEWS * base) / (views + PRIOR_VIEWS) / base))


def word_matrix(items: Sequence[Item], words: Sequence[str], idf: Floats) -> Matrix:
    """Return the stories-by-words matrix of idf, rows normalised to length 1 including words that occur in no other story."""
    numbers = {word: number for number, word in enumerate(words)}
    rare = float(idf.max(initial=1.0)) ** 2
    rows: list[int] = []
    columns: list[int] = []
    others = np.zeros(len(items))
    for row, item in enumerate(items):
        item_words = set(item.words)
        item_columns = sorted(numbers[word] for word in item_words if word in numbers)
        others[row] = rare * (len(item_words) - len(item_columns))
        rows += [row] * len(item_columns)
        columns += item_columns
    matrix = _matrix(rows, columns, idf[np.array(columns, dtype=np.int64)], (len(items), len(words)))
    lengths = np.sqrt(np.asarray(matrix.multiply(matrix).sum(axis=1)).ravel() + others)
    return sparse.diags_array(1 / np.maximum(lengths, 1e-12)) @ matrix


def vocabulary(items: Sequence[Item]) -> tuple[tuple[str, ...], Floats]:
    """Return the words of at least two stories, sorted, and their idf."""
    counts = Counter(word for item in items for word in set(item.words))
    words = tuple(sorted(word for word, count in counts.items() if count > 1))
    number = np.array([counts[word] for word in words], dtype=np.float64)
    return words, np.log((1 + len(items)) / (1 + number)) + 1


def _matrix(rows: Sequence[int], columns: Sequence[int], values: Floats, shape: tuple[int, int]) -> Matrix:
    return sparse.csr_array((values, (np.array(rows, dtype=np.int64), np.array(columns, dtype=np.int64))), shape=shape)


HALF_LIVES: Final = (3.0, 12.0, 48.0, 240.0, 960.0, float("inf"))
"""Hours: from this morning to always, by factors of about 4; their weights are learnt."""

AGES: Final = (24.0, 240.0)

GENERAL: Final = ("popular", *(f"popular-{half_life:g}" for half_life in HALF_LIVES), "age-log", "age-day", "age-decade")
"""Features that need no history."""

LIKED: Final = ("liked-labels", "liked-words", "liked-all")
PERSONAL: Final = ("together", "together-all", "after", "votes", "mixed", "labels", "words", *LIKED)
SMOOTHING: Final = 0.05  # views added to each story's
MIN_SHARE: Final = 0.01
MAX_HISTORY: Final = 50  # latest stories of a history that are used
MAX_LATEST: Final = 10  # those of them used for ``together`` and ``viewed_next``
TOGETHER_DECAY: Final = 0.8
AFTER_DECAY: Final = 0.6
"""Decay per place in the history (chosen on the last day of RSC15's training part: 0.4 to 0.9 differ by 0.006)."""

MAX_READERS: Final = 20_000  # number of most recent readers whose views are stored for voting


@dataclass(frozen=True, slots=True, eq=False)
class Statistics:
    """Statistics of a log at ``moment``. ``popular`` has a row, ``mixture`` (π) an entry per half-life; ``idf`` one per word."""

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
    """All sums over views: p of each half-life (a row each, ∞ last), d of each story, sums over pairs, latest views of readers.
    :func:`assemble` gives the same result wherever they were computed."""

    popular: Floats
    damped: Floats
    pairs: neighbours.PairSums
    rows: Rows


def sums_of(clicks: Clicks, moment: float) -> Sums:
    earlier = clicks.before(moment)
    return Sums(
        popular=np.array([formulas.popularity(earlier, moment, half_life) for half_life in HALF_LIVES]),
        damped=neighbours.damping_of(earlier),
        pairs=neighbours.pair_sums(earlier),
        rows=rows(earlier, MAX_READERS),
    )


def assemble(items: tuple[Item, ...], published: Floats, moment: float, sums: Sums) -> Statistics:
    """Build the statistics from the sums. ``items`` are sorted by story and numbered in this order."""
    labels = tuple(sorted({label for item in items for label in item.labels}))
    by_label = label_matrix(items, labels)
    words, idf = vocabulary(items)
    return Statistics(
        moment=moment,
        items=items,
        published=published,
        popular=sums.popular,
        mixture=np.full(len(HALF_LIVES), 1 / len(HALF_LIVES)),
        joint=neighbours.viewed_jointly(sums.pairs, sums.damped),
        after=neighbours.viewed_next(sums.pairs, sums.popular[-1]),
        rows=sums.rows,
        labels=labels,
        base=base_shares(by_label, sums.popular[-1]),
        words=words,
        idf=idf,
        label_matrix=by_label,
        word_matrix=word_matrix(items, words, idf),
    )


def learn(clicks: Clicks, moment: float) -> Statistics:
    return assemble(clicks.items, clicks.published, moment, sums_of(clicks, moment))


@dataclass(frozen=True, slots=True, eq=False)
class Question:
    """A request: history (distinct stories, latest first), viewed share of each, hour, and other readers' ``votes`` per story."""

    history: Ints
    shares: Floats
    now: float
    votes: Floats


def question_of(learnt: Statistics, history: Ints, shares: Floats, now: float) -> Question:
    history = history[:MAX_HISTORY]
    return Question(history, shares[:MAX_HISTORY], now, votes(learnt.rows, history, len(learnt.items)) if len(history) else np.empty(0))


def features(learnt: Statistics, question: Question, candidates: Ints) -> Floats:
    """Return the features, a row per candidate: ``GENERAL``, and with a history ``PERSONAL``."""
    popular = np.log(SMOOTHING + learnt.popular[:, candidates])
    expected = np.log(learnt.mixture @ shares(learnt.popular, candidates))
    age = np.maximum(0.0, question.now - learnt.published[candidates])
    always = [expected, *popular, np.log1p(age), *(np.exp(-age / unit) for unit in AGES)]
    return np.array([*always, *_personal(learnt, question, candidates)] if len(question.history) else always).T


def shares(popular: Floats, stories: Ints) -> Floats:
    """Return the smoothed share of these stories in all views, a row per half-life."""
    totals = popular.sum(axis=1) + SMOOTHING * popular.shape[1]
    return np.asarray((popular[:, stories] + SMOOTHING) / totals[:, None], dtype=np.float64)


def _personal(learnt: Statistics, question: Question, candidates: Ints) -> list[Floats]:
    history, stories = question.history, len(learnt.items)
    near = _scaled(sum_values(learnt.joint, history[:MAX_LATEST], TOGETHER_DECAY, stories)[candidates])
    all_near = _scaled(sum_values(learnt.joint, history, 1.0, stories)[candidates])
    following = _scaled(sum_values(learnt.after, history[:MAX_LATEST], AFTER_DECAY, stories)[candidates])
    votes = _scaled(question.votes[candidates])
    logarithms = [np.log(MIN_SHARE + x) for x in (near, all_near, following, votes, (near + following + votes) / 3)]
    interest = formulas.ratings(question.shares, learnt.alpha)  # for ``labels``, ``words`` and the features ``LIKED``
    counts, label_interest = _sums(learnt.label_matrix, history, np.ones(len(history)), interest)
    profile, word_interest = _sums(learnt.word_matrix, history, np.full(len(history), 1 / len(history)), interest)
    likings = label_preferences(counts, learnt.base, len(history))
    labels, liked_labels = _products(learnt.label_matrix, candidates, likings, label_interest / (counts + PRIOR_VIEWS))
    words, liked_words = _products(learnt.word_matrix, candidates, profile, word_interest / (len(history) + PRIOR_VIEWS))
    rows = learnt.rows
    views = (rows.began[candidates + 1] - rows.began[candidates]).astype(np.float64)
    everybody = (rows.read[candidates] - learnt.alpha * views) / (views + PRIOR_VIEWS)
    return [*logarithms, labels, words, liked_labels, liked_words, everybody]


def _sums(matrix: Matrix, stories: Ints, *weights: Floats) -> Floats:
    """Return the weighted sum of the rows of ``stories``, for each of ``weights``."""
    return np.asarray((matrix[stories].T @ np.column_stack(weights)).T) if matrix.nnz else np.zeros((len(weights), matrix.shape[1]))


def _products(matrix: Matrix, stories: Ints, *vectors: Floats) -> Floats:
    """Return the products of the rows of ``stories`` with each of ``vectors``."""
    return np.asarray((matrix[stories] @ np.column_stack(vectors)).T) if matrix.nnz else np.zeros((len(vectors), len(stories)))


def sum_values(table: Table, history: Ints, fades: float, stories: int) -> Floats:
    """Return Σ value(i, s) · fades^place over the history, for every story s."""
    score = np.zeros(stories)
    for place, story in enumerate(history):
        near, value = table.row(int(story))
        score[near] += value * fades**place
    return score


def _scaled(values: Floats) -> Floats:
    return values / max(float(values.max(initial=0.0)), 1e-12)
