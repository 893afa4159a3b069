"""Stories that the same readers look at: sums over pairs of views, made to likenesses.

**Together** (item neighbours; Sarwar, Karypis, Konstan, Riedl 2001, section 3.1.1, with the damping of long histories of Breese,
Heckerman, Kadie 1998, section 2.3 in spirit). A reader's views stand in the order of time, then story. For views p < q of one reader
with q − p ≤ ``WINDOW`` (places, not hours), with n the reader's number of views,

    c(i, j) = Σ 1 / n        w(i, j) = number of such pairs        d(i) = Σ over readers of i: 1 / n
    together(i, j) = c(i, j) / √(d(i) d(j)) · w(i, j) / (w(i, j) + ``SHRINK``)

which is symmetric. **After** (sequential rules; Ludewig, Jannach 2018, section 2.2, formula 3): for q − p ≤ ``STEPS``,

    s(i → j) = Σ 1 / (q − p)      after(i → j) = s(i → j) / v(i),   v(i) = views of i

Of each story's row the ``KEPT`` largest stay; of equal values those of the story whose name sorts first.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from newsportal.recommend.clicks import Clicks, Floats, Ints

WINDOW: Final = 50
"""Places between two views of one reader that still make a pair: bounds the pairs of a reader with n views to 50 n."""

STEPS: Final = 10
"""Places of a sequential rule (Ludewig, Jannach 2018, section 3.2: the same bound)."""

SHRINK: Final = 5.0
"""Pairs that weigh as much as no knowledge (Bell, Koren 2007, section 2.2, use the same form)."""

KEPT: Final = 100
"""Neighbours of a story that are kept."""

CHUNK: Final = 4_000_000
"""Pairs summed at once: about 200 MB."""

DIGITS: Final = 10
"""Decimals that decide which neighbours stay: sums that differ in rounding alone are ties, wherever they were summed."""


@dataclass(frozen=True, slots=True, eq=False)
class Table:
    """Rows of neighbours: story ``i`` has those of ``story[starts[i]:starts[i + 1]]``, the nearest first."""

    starts: Ints
    story: Ints
    value: Floats

    def row(self, story: int) -> tuple[Ints, Floats]:
        part = slice(self.starts[story], self.starts[story + 1])
        return self.story[part], self.value[part]


@dataclass(frozen=True, slots=True, eq=False)
class Sums:
    """Sums over pairs, an entry an ordered pair of different stories: ``together`` c, ``pairs`` w, ``after`` s."""

    first: Ints
    second: Ints
    together: Floats
    pairs: Floats
    after: Floats


def pair_sums(clicks: Clicks) -> Sums:
    """c, w and s of every pair of stories. Both orders of a pair have an entry."""
    counts = np.bincount(clicks.reader, minlength=len(clicks.readers))
    weight = 1.0 / np.maximum(counts, 1)[clicks.reader] if len(clicks) else np.empty(0)
    summed: list[tuple[Ints, Floats]] = []
    waiting: list[tuple[Ints, Floats]] = []
    held = 0
    for gap in range(1, WINDOW + 1):
        here = np.flatnonzero(clicks.reader[gap:] == clicks.reader[:-gap])
        if not len(here):
            break
        waiting += _pairs(clicks, here, gap, weight[here])
        held += 2 * len(here)
        if held > CHUNK:
            summed, waiting, held = [_summed([*summed, *waiting])], [], 0
    keys, values = _summed([*summed, *waiting])
    stories = max(1, clicks.stories)
    return Sums(keys // stories, keys % stories, *values.T)


def _pairs(clicks: Clicks, here: Ints, gap: int, weight: Floats) -> list[tuple[Ints, Floats]]:
    first, second = clicks.story[here], clicks.story[here + gap]
    one = np.ones(len(here))
    step = one / gap if gap <= STEPS else np.zeros(len(here))
    forth = np.column_stack((weight, one, step))
    back = np.column_stack((weight, one, np.zeros(len(here))))
    return [(first * clicks.stories + second, forth), (second * clicks.stories + first, back)]


def _summed(parts: list[tuple[Ints, Floats]]) -> tuple[Ints, Floats]:
    if not parts:
        return np.empty(0, dtype=np.int64), np.empty((0, 3))
    keys, values = np.concatenate([part[0] for part in parts]), np.concatenate([part[1] for part in parts])
    order = np.argsort(keys, kind="stable")
    keys, values = keys[order], values[order]
    starts = np.flatnonzero(np.concatenate(([True], keys[1:] != keys[:-1])))
    return keys[starts], np.add.reduceat(values, starts, axis=0)


def damped(clicks: Clicks) -> Floats:
    """d of every story."""
    counts = np.bincount(clicks.reader, minlength=len(clicks.readers))
    return np.bincount(clicks.story, 1.0 / np.maximum(counts, 1)[clicks.reader], minlength=clicks.stories).astype(np.float64)


def together(sums: Sums, damping: Floats) -> Table:
    """The ``KEPT`` stories that are looked at together most, of each story; ``damping``: d."""
    value = sums.together / np.sqrt(damping[sums.first] * damping[sums.second]) * sums.pairs / (sums.pairs + SHRINK)
    return nearest(sums.first, sums.second, value, len(damping))


def after(sums: Sums, views: Floats) -> Table:
    """The ``KEPT`` stories that are looked at next most, of each story; ``views``: v."""
    return nearest(sums.first, sums.second, sums.after / np.maximum(views, 1)[sums.first], len(views))


def nearest(first: Ints, second: Ints, value: Floats, stories: int, kept: int = KEPT) -> Table:
    """The ``kept`` largest values above 0 of each first story; of equal ones the lower second."""
    some = np.flatnonzero(value > 0)
    order = some[np.lexsort((second[some], -np.round(value[some], DIGITS), first[some]))]
    first, second, value = first[order], second[order], value[order]
    starts = np.searchsorted(first, np.arange(stories + 1))
    stay = np.arange(len(first)) - starts[first] < kept
    first, second, value = first[stay], second[stay], value[stay]
    return Table(np.searchsorted(first, np.arange(stories + 1)), second, value)
