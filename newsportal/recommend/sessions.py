"""Readers whose recent views resemble one's own, and what they looked at: V-SKNN.

Ludewig, Jannach 2018, "Evaluation of session-based recommendation algorithms", section 2.3 (V-SKNN), as in their code. A history of
n different stories, the latest first at place 1, weighs w(place) = 1 − 0.1 · place, not below 0 (linear). Of the readers who looked at
one of its stories the ``SAMPLED`` with the latest views are candidates; the likeness to reader u is

    sim(u) = Σ w(story of the history that u looked at) / n

and the ``NEIGHBOURS`` most alike vote: score(s) = Σ sim(u) · w(place of the latest story of the history that u looked at) · idf(s),
idf(s) = ln(readers / readers of s) as factor 1 + λ · idf, with λ = 5.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from newsportal.recommend.clicks import Clicks, Floats, Ints

SAMPLED: Final = 2000
"""Readers compared (the paper's sample_size on RSC15 is 1,000 to 5,000)."""

NEIGHBOURS: Final = 200
"""Readers that vote (the paper's k)."""

ROW: Final = 100
"""The latest views of a reader that are kept: bounds what one reader weighs."""

IDF: Final = 5.0


@dataclass(frozen=True, slots=True, eq=False)
class Rows:
    """What readers looked at, and by whom stories were: reader ``u`` (the later the number, the later the reader's latest view) has
    ``story[starts[u]:starts[u + 1]]``; story ``s`` was looked at by ``by[began[s]:began[s + 1]]``, falling numbers."""

    starts: Ints
    story: Ints
    began: Ints
    by: Ints


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
    return indexed(ends, story, reader, clicks.stories)


def indexed(starts: Ints, story: Ints, reader: Ints, stories: int) -> Rows:
    by = np.lexsort((-reader, story))
    return Rows(starts, story, np.searchsorted(story[by], np.arange(stories + 1)), reader[by])


def votes(known: Rows, history: Ints, stories: int) -> Floats:
    """The score of every story. ``history``: different stories, the latest first."""
    score = np.zeros(stories)
    weight = np.maximum(0.0, 1 - 0.1 * np.arange(1, len(history) + 1))
    parts = [known.by[known.began[s] : known.began[s + 1]][:SAMPLED] for s in history]
    readers = np.concatenate(parts) if parts else np.empty(0, dtype=np.int64)
    if not len(readers):
        return score
    places = np.repeat(np.arange(len(history)), [len(part) for part in parts])
    found, inverse = np.unique(readers, return_inverse=True)
    likeness = np.bincount(inverse, weight[places]) / len(history)
    latest = np.full(len(found), len(history))
    np.minimum.at(latest, inverse, places)
    recent = np.arange(len(found))[-SAMPLED:]
    chosen = recent[np.lexsort((-found[recent], -likeness[recent]))][:NEIGHBOURS]
    vote = likeness[chosen] * weight[latest[chosen]]
    for u, strength in zip(found[chosen], vote, strict=True):
        score[known.story[known.starts[u] : known.starts[u + 1]]] += strength
    readers_of = np.diff(known.began)
    idf = np.log(max(1, len(known.starts) - 1) / np.maximum(readers_of, 1))
    return score * (1 + IDF * idf)
