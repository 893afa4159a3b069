"""What stories tell of themselves: their labels (topics, category, source) and the words of title and first sentence.

**Labels.** With n(l) the reader's views of stories labelled l, weighing 1 each, n their sum over views, and base(l) the share of all
views, the reader's share is estimated with m = ``PRIOR`` views of anybody (Dirichlet smoothing):

    p(l) = (n(l) + m · base(l)) / (n + m)        affinity(s) = Σ over labels l of s: ln(p(l) / base(l))

**Words.** Vectors of length 1 (Salton, Buckley 1988) of each word's idf, each word once,
idf(w) = ln((1 + N) / (1 + stories with w)) + 1; the likeness of two stories is their cosine.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np
from scipy import sparse

from newsportal.recommend.base import Item
from newsportal.recommend.clicks import Floats, Ints

PRIOR: Final = 5.0
"""Views of anybody that a reader's own are added to."""

Matrix = Any
"""A sparse matrix of SciPy (it has no types)."""


def label_matrix(items: Sequence[Item], labels: Sequence[str]) -> Matrix:
    """Stories by labels: 1 where a story has the label."""
    numbers = {label: number for number, label in enumerate(labels)}
    cells = sorted({(row, numbers[label]) for row, item in enumerate(items) for label in item.labels if label in numbers})
    return _matrix([row for row, _ in cells], [column for _, column in cells], np.ones(len(cells)), (len(items), len(labels)))


def base_shares(matrix: Matrix, views: Floats) -> Floats:
    """base(l), each label seen once more than it was."""
    counts = np.asarray(matrix.T @ views, dtype=np.float64).ravel() + 1
    shares: Floats = counts / max(1.0, views.sum() + len(counts))
    return shares


def label_likings(matrix: Matrix, base: Floats, history: Ints, weights: Floats) -> Floats:
    """ln(p(l) / base(l)) of every label."""
    counts = np.asarray(matrix[history].T @ weights).ravel()
    likings: Floats = np.log((counts + PRIOR * base) / (weights.sum() + PRIOR) / base)
    return likings


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
    counts: dict[str, int] = {}
    for item in items:
        for word in set(item.words):
            counts[word] = counts.get(word, 0) + 1
    words = tuple(sorted(word for word, count in counts.items() if count > 1))
    number = np.array([counts[word] for word in words], dtype=np.float64)
    return words, np.log((1 + len(items)) / (1 + number)) + 1


def _matrix(rows: Sequence[int], columns: Sequence[int], values: Floats, shape: tuple[int, int]) -> Matrix:
    return sparse.csr_array((values, (np.array(rows, dtype=np.int64), np.array(columns, dtype=np.int64))), shape=shape)
