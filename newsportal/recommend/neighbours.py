"""Item neighbours, from sums over pairs of views, and user neighbours (paper C, 2.3.2).

**Together** (item neighbours; Sarwar, Karypis, Konstan, Riedl 2001, section 3.1.1, with long histories damped in the spirit of Breese,
Heckerman, Kadie 1998, section 2.3). A reader's views are ordered by time, then story. For views p < q of one reader with q − p ≤ ``WINDOW``
(places, not hours), with n the reader's number of views,

    c(i, j) = Σ 1 / n        w(i, j) = number of such pairs        d(i) = Σ over readers of i: 1 / n
    together(i, j) = c(i, j) / √(d(i) d(j)) · w(i, j) / (w(i, j) + ``SHRINK``)

which is symmetric. **After** (sequential rules; Ludewig, Jannach 2018, section 2.2, formula 3): for q − p ≤ ``MAX_STEPS``,

    s(i → j) = Σ 1 / (q − p)      after(i → j) = s(i → j) / v(i),   v(i) = views of i

Every addend is rounded to a multiple of ``clicks.ROUNDING_STEP``, so that the sums do not depend on their order. For each story the
``MAX_NEIGHBOURS`` largest values are kept; ties are broken by story name.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields
from typing import Any, Final

import numpy as np

from newsportal.recommend import formulas
from newsportal.recommend.clicks import Clicks, Floats, Ints, round_sums
from newsportal.recommend.formulas import ratings

WINDOW: Final = 50  # maximum distance of two views of one reader that form a pair: a reader with n views has at most 50 n pairs
MAX_STEPS: Final = 10  # maximum distance of a sequential rule (Ludewig, Jannach 2018, section 3.2: the same bound)
SHRINK: Final = 5.0  # strength of the shrinkage, in pairs (Bell, Koren 2007, section 2.2, use the same form)
MAX_NEIGHBOURS: Final = 100  # neighbours stored for each story
MAX_BLOCK_PAIRS: Final = 4_000_000  # pairs summed in one block: about 400 MB
DIGITS: Final = 10  # decimals used to rank neighbours: values that differ only by rounding are ties


@dataclass(frozen=True, slots=True, eq=False)
class Table:
    """Rows of neighbours: those of story ``i`` are ``story[starts[i]:starts[i + 1]]``, nearest first."""

    starts: Ints
    story: Ints
    value: Floats

    def row(self, story: int) -> tuple[Ints, Floats]:
        part = slice(self.starts[story], self.starts[story + 1])
        return self.story[part], self.value[part]


@dataclass(frozen=True, slots=True, eq=False)
class PairSums:
    """Sums over ordered pairs of different stories, ordered by first, then second: ``joint`` c, ``pairs`` w, ``viewed_next`` s."""

    first: Ints
    second: Ints
    joint: Floats
    pairs: Floats
    after: Floats


def pair_sums(clicks: Clicks) -> PairSums:
    """Return c, w and s of the pairs kept by :func:`viewed_jointly` or :func:`viewed_next`, in blocks of stories to bound the memory."""
    damping, views = damping_of(clicks), np.bincount(clicks.story, minlength=clicks.stories).astype(np.float64)
    return concatenate([prune_sums(block_sums(clicks, low, high), damping, views) for low, high in blocks(views)])


def concatenate(parts: Sequence[PairSums]) -> PairSums:
    """Concatenate the sums of consecutive ranges of stories."""
    if not parts:
        return PairSums(*(np.empty(0, dtype=np.int64),) * 2, *(np.empty(0),) * 3)
    return PairSums(*(np.concatenate(columns) for columns in zip(*(_columns(part) for part in parts), strict=True)))


def _columns(sums: PairSums) -> list[Any]:
    return [getattr(sums, field.name) for field in fields(sums)]


def blocks(views: Floats) -> Iterator[tuple[int, int]]:
    """Yield ranges of stories with at most ``MAX_BLOCK_PAIRS`` pairs, unless a single story has more."""
    ends = np.cumsum(views) * 2 * WINDOW
    low = 0
    while low < len(views):
        done = ends[low - 1] if low else 0.0
        high = max(low + 1, int(np.searchsorted(ends, done + MAX_BLOCK_PAIRS, side="right")))
        yield low, high
        low = high


def block_sums(clicks: Clicks, low: int, high: int) -> PairSums:
    """Return the sums of the pairs whose first story is in a range."""
    starts = clicks.starts()
    rows = np.flatnonzero((clicks.story >= low) & (clicks.story < high))
    firsts: list[Ints] = []
    seconds: list[Ints] = []
    steps: list[Floats] = []
    for sign, room in ((1, starts[clicks.reader[rows] + 1] - 1 - rows), (-1, rows - starts[clicks.reader[rows]])):
        for gap in range(1, WINDOW + 1):
            firsts.append(first := rows[room >= gap])  # ``room``: the reader's views on this side
            seconds.append(first + sign * gap)
            steps.append(np.full(len(first), round_sums(np.array(1 / gap)) if sign > 0 and gap <= MAX_STEPS else 0.0))
    first, damping = np.concatenate(firsts), round_sums(1.0 / np.maximum(np.diff(starts), 1))
    values = np.array([damping[clicks.reader[first]], np.ones(len(first)), np.concatenate(steps)]).T  # columns in consecutive memory
    first, second, value = sum_pairs(clicks.story[first] - low, clicks.story[np.concatenate(seconds)], values, clicks.stories)
    return PairSums(first + low, second, *value.T)


def sum_pairs(first: Ints, second: Ints, values: Floats, stories: int) -> tuple[Ints, Ints, Floats]:
    """Return the distinct pairs, ordered by first and second, and the sum of each column of ``values`` over the entries of a pair."""
    from scipy import sparse

    if not len(first):
        return first, second, values
    entries = sparse.coo_matrix((np.arange(len(first)), (first, second)), shape=(int(first.max()) + 1, stories))
    entries.has_canonical_format = True  # do not merge entries of one pair
    ordered = entries.tocsc().tocsr()  # sorted by second, then by first, in linear time
    rows, columns = np.repeat(np.arange(ordered.shape[0]), np.diff(ordered.indptr)), ordered.indices.astype(np.int64)
    begins = np.flatnonzero(np.concatenate(([True], (rows[1:] != rows[:-1]) | (columns[1:] != columns[:-1]))))
    return rows[begins], columns[begins], np.array([np.add.reduceat(column[ordered.data], begins) for column in values.T]).T


def prune_sums(sums: PairSums, damping: Floats, views: Floats) -> PairSums:
    """Keep only the sums needed by a table."""
    near = np.zeros(len(sums.first), dtype=bool)
    for value in (_joint_likeness(sums, damping), _after(sums, views)):
        near[_nearest(sums.first, sums.second, value, len(views), MAX_NEIGHBOURS)] = True
    return PairSums(*(column[near] for column in _columns(sums)))


def damping_of(clicks: Clicks) -> Floats:
    counts = np.bincount(clicks.reader, minlength=len(clicks.readers))
    return np.bincount(clicks.story, round_sums(1.0 / np.maximum(counts, 1))[clicks.reader], minlength=clicks.stories).astype(np.float64)


def viewed_jointly(sums: PairSums, damping: Floats) -> Table:
    """Return for each story the ``MAX_NEIGHBOURS`` stories most often viewed together with it; ``damping``: d."""
    return nearest_stories(sums.first, sums.second, _joint_likeness(sums, damping), len(damping))


def _joint_likeness(sums: PairSums, damping: Floats) -> Floats:
    likeness = sums.joint / np.sqrt(damping[sums.first] * damping[sums.second])
    return np.asarray(likeness * sums.pairs / (sums.pairs + SHRINK), dtype=np.float64)


def viewed_next(sums: PairSums, views: Floats) -> Table:
    """Return for each story the ``MAX_NEIGHBOURS`` stories most often viewed next; ``views``: v."""
    return nearest_stories(sums.first, sums.second, _after(sums, views), len(views))


def _after(sums: PairSums, views: Floats) -> Floats:
    return np.asarray(sums.after / np.maximum(views, 1)[sums.first], dtype=np.float64)


def nearest_stories(first: Ints, second: Ints, value: Floats, stories: int, limit: int = MAX_NEIGHBOURS) -> Table:
    """Return the ``limit`` largest values above 0 of each first story; ties prefer the lower second."""
    places = _nearest(first, second, value, stories, limit)
    return Table(np.searchsorted(first[places], np.arange(stories + 1)), second[places], value[places])


def _nearest(first: Ints, second: Ints, value: Floats, stories: int, limit: int) -> Ints:
    """Return indexes into ``first``, which is sorted."""
    some = np.flatnonzero(value > 0)
    rounded = np.round(value[some], DIGITS)
    starts = np.searchsorted(first[some], np.arange(stories + 1))
    among = np.ones(len(some), dtype=bool)
    for story in np.flatnonzero(np.diff(starts) > limit):  # reduces what has to be sorted
        row = slice(starts[story], starts[story + 1])
        among[row] = rounded[row] >= np.partition(rounded[row], -limit)[-limit]
    some = some[among]
    order = some[np.lexsort((second[some], -rounded[among], first[some]))]
    starts = np.searchsorted(first[order], np.arange(stories + 1))
    return order[np.arange(len(order)) - starts[first[order]] < limit]


ZERO_RATING: Final = 1e-9  # stored for a rating of exactly α, to distinguish it from no rating


@dataclass(frozen=True, slots=True, eq=False)
class UserNeighbours:
    """Ratings of similar readers, decayed with the story's age (Jiang, Zuo 2014, section 2.3.2, formula 3):

        r̂(c, s) = ( r̄_c + k · Σ_{c' ≠ c} sim(c, c') · (r(c', s) − r̄_c') ) · W(t)        k = 1 / Σ_{c' ≠ c} |sim(c, c')|

    ``rated``: r as a matrix, readers by stories; ``given`` is 1 where a rating exists; ``means``: r̄; ``unit``: of t, in hours. The paper
    does not define ``sim``; here it is the cosine over the stories that both rated (Adomavicius, Tuzhilin 2005, formula 13).
    """

    alpha: float
    rate: float
    unit: float
    rated: Any
    given: Any
    means: Floats
    published: Floats

    def predict(self, stories: Ints, values: Floats, now: float) -> Floats:
        """Return r̂ of every story for a reader who rated ``stories`` with ``values``. Readers without other ratings do not contribute."""
        faded = formulas.weight(now - self.published, self.rate, self.unit)
        if not len(stories):
            return faded
        alike = self.similarities(stories, values)
        alike[self.given[:, stories].sum(axis=1) == np.diff(self.given.indptr)] = 0.0
        total_similarity = float(np.abs(alike).sum())
        weighted_sum = self.rated.T @ alike - self.given.T @ (alike * self.means)
        return np.asarray((values.mean() + (weighted_sum / total_similarity if total_similarity else 0.0)) * faded, dtype=np.float64)

    def similarities(self, stories: Ints, values: Floats) -> Floats:
        """Return sim with every reader: the cosine over the stories rated by both, 0 if there are none."""
        rated, given = self.rated[:, stories], self.given[:, stories]
        lengths = np.sqrt((given @ values**2) * np.asarray(rated.multiply(rated).sum(axis=1)).ravel())
        return np.asarray(np.divide(rated @ values, lengths, out=np.zeros(rated.shape[0]), where=lengths > 0), dtype=np.float64)


def rated_by(starts: Ints, story: Ints, share: Floats, published: Floats, *, alpha: float, rate: float, unit: float) -> UserNeighbours:
    """Build the neighbours from rows of readers: reader ``u`` viewed the shares ``share[starts[u]:starts[u + 1]]`` of those stories."""
    from scipy import sparse

    values = ratings(share, alpha)
    values = np.where(values == 0, ZERO_RATING, values)
    shape, counts = (len(starts) - 1, len(published)), np.diff(starts)
    means = np.bincount(np.repeat(np.arange(shape[0]), counts), values, minlength=shape[0]) / np.maximum(counts, 1)
    rated, given = (sparse.csr_array((column, story, starts), shape=shape) for column in (values, np.ones(len(values))))
    return UserNeighbours(alpha, rate, unit, rated, given, means, published)
