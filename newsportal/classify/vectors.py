"""A text as a vector: its features weighted by how often it has them and how few texts have them, at length 1; a title counts apart.

    value = (1 + ln n) · idf^¾          idf = 1 + ln((1 + N) / (1 + df))

n: how often the text has the feature; df: texts of the training that have it; N: all of them. Of an article with a title the vector is
body + ½ title, each at length 1, the sum at length 1 again.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

import numpy as np

from newsportal.classify.features import Codes, Counts, Numbers, Places, counts

Sparse: TypeAlias = Any
"""A ``scipy.sparse.csr_matrix``; scipy is loaded by training alone."""

TITLE: Final = 0.5
"""What a title counts beside the body. First lines of Sogou-10's articles counted 0.3 more gain 0.1 points, held-out, 0.7 no more."""

IDF_POWER: Final = 0.75
"""Between 0.5, best for full articles, and 1, best for titles (0.3 points each way, held-out parts of the training data)."""

FEW: Final = 100
"""Documents up to which features of one document alone are kept."""


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """The features that are known, ascending, and what each weighs."""

    codes: Codes
    weights: Numbers

    def vector(self, title: Counts, body: Counts) -> tuple[Places, Numbers]:
        """The known features of an article, each once, and their values."""
        body_at, body_values = self._part(body)
        title_at, title_values = self._part(title)
        if not len(title_at):
            return body_at, body_values
        if not len(body_at):
            return title_at, title_values
        at, where = np.unique(np.concatenate((body_at, title_at)), return_inverse=True)
        values = np.bincount(where, np.concatenate((body_values, np.float32(TITLE) * title_values)))
        return at, (values / np.linalg.norm(values)).astype(np.float32)

    def _part(self, part: Counts) -> tuple[Places, Numbers]:
        if not len(self.codes) or not len(part.codes):
            return np.zeros(0, dtype=np.intp), np.zeros(0, dtype=np.float32)
        at = np.minimum(np.searchsorted(self.codes, part.codes), len(self.codes) - 1)
        known = self.codes[at] == part.codes
        at = at[known]
        values = (1 + np.log(part.times[known])).astype(np.float32) * self.weights[at]
        return at, values / np.float32(max(float(np.linalg.norm(values)), 1e-12))


def vocabulary(documents: Sequence[tuple[Counts, Counts]]) -> Vocabulary:
    """What is known after ``documents`` (counts of title and body): features of two of them at least, of one if they are few."""
    codes = [np.union1d(title.codes, body.codes) if len(title.codes) else body.codes for title, body in documents]
    known, frequency = np.unique(np.concatenate(codes), return_counts=True)
    kept = frequency >= (1 if len(documents) <= FEW else 2)
    idf = 1 + np.log((1 + len(documents)) / (1 + frequency[kept]))
    return Vocabulary(known[kept], (idf**IDF_POWER).astype(np.float32))


def matrix(known: Vocabulary, documents: Iterable[tuple[Counts, Counts]]) -> Sparse:
    """A row a document."""
    from scipy.sparse import csr_matrix

    rows = [known.vector(title, body) for title, body in documents]
    ends = np.concatenate(([0], np.cumsum([len(at) for at, _ in rows])))
    at = np.concatenate([at for at, _ in rows]).astype(np.int32)
    return csr_matrix((np.concatenate([values for _, values in rows]), at, ends), shape=(len(rows), len(known.codes)))


def counted(title: str, text: str) -> tuple[Counts, Counts]:
    """The counts of an article's title and body."""
    return counts(title), counts(text)
