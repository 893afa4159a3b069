"""The classifier of paper B (Zhang, Kang, Wu 2009, section 2.5): words selected by CHI, one vector per class, nearest vector wins.

Text is segmented by forward maximum matching. With N documents, of which A contain the word and have the class, B contain it without the
class, C have the class without the word and D neither::

    CHI(word, class) = N (A D − B C)² / ((A + C)(B + D)(A + B)(C + D))          0 for words that speak against the class (A D < B C)

The words with the highest CHI of each class are kept. A document is the vector of its kept words, each tf · ln(N / df), at length 1; the
vector of a class is the mean of its documents; a text gets the class with the largest cosine. The paper states neither how many words are
kept nor how they are weighted; docs/algorithms/chi_cosine.md compares interpretations.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from newsportal.classify.base import NO_ANSWER, Answer, Example, Facts, Progress, Reason
from newsportal.errors import ModelError
from newsportal.packing import pack, unpack
from newsportal.text import STOP_WORDS
from newsportal.text.words import forward_maximum

WORDS_PER_CLASS: Final = 1000
"""Words kept for each class, selected by CHI. Not stated in the paper; 500 to 5,000 differ by less than one point on full articles."""

Matrix = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class ChiCosine:
    """A trained classifier (see :class:`newsportal.classify.base.Classifier`). ``vectors`` has a row per word and a column per label."""

    labels: tuple[str, ...]
    facts: Facts
    words: tuple[str, ...] = field(repr=False)
    idf: NDArray[np.float32] = field(repr=False)
    vectors: NDArray[np.float32] = field(repr=False)
    place: dict[str, int] = field(repr=False)

    @classmethod
    def train(cls, examples: Sequence[Example], *, multi_label: bool, progress: Progress, seed: int, trained: datetime | None) -> ChiCosine:
        """See :func:`newsportal.classify.base.train`. Training is deterministic: ``seed`` is not used."""
        if multi_label:
            raise ModelError("chi_cosine assigns one label per text; for several labels train linear")
        labels = tuple(sorted({example.labels[0] for example in examples}))
        counts = []
        for done, example in enumerate(examples):
            counts.append(_counts(example.title, example.text))
            if done % 500 == 0:
                progress(0.9 * done / len(examples), "features")
        progress(0.9, "fit")
        classes = np.array([labels.index(example.labels[0]) for example in examples])
        words, idf, vectors = _fit(counts, classes, len(labels))
        if not words:
            raise ModelError("no word distinguishes the labels; the examples need more text")
        documents = Counter(example.labels[0] for example in examples)
        progress(1.0, "fit")
        return cls._made(labels, Facts("chi_cosine", dict(sorted(documents.items())), {}, trained), words, idf, vectors)

    @classmethod
    def _made(cls, labels: tuple[str, ...], facts: Facts, words: Sequence[str], idf: NDArray[Any], vectors: NDArray[Any]) -> ChiCosine:
        place = {word: number for number, word in enumerate(words)}
        return cls(labels, facts, tuple(words), idf.astype(np.float32), vectors.astype(np.float32), place)

    def classify(self, title: str, text: str) -> Answer:
        """Return the label of the nearest vector. ``scores`` are the cosines divided by their sum: not probabilities, but ordered alike."""
        indexes, values = self._document(title, text)
        cosines = values @ self.vectors[indexes]
        total = float(cosines.sum())
        if total <= 0.0:
            return NO_ANSWER
        best = self.labels[int(cosines.argmax())]
        return Answer(best, {label: float(cosine) / total for label, cosine in zip(self.labels, cosines, strict=True)}, (best,))

    def explain(self, title: str, text: str, label: str | None = None, limit: int = 10) -> tuple[Reason, ...]:
        """Return each word's part of the cosine minus its mean part over all labels."""
        indexes, values = self._document(title, text)
        target = label if label is not None else self.classify(title, text).label
        if target not in self.labels or not len(indexes):
            return ()
        parts = values[:, None] * self.vectors[indexes]
        weights = parts[:, self.labels.index(target)] - parts.mean(axis=1)
        order = np.argsort(-np.abs(weights), kind="stable")[:limit]
        return tuple(Reason(self.words[indexes[row]], float(weights[row])) for row in order if weights[row])

    def to_bytes(self) -> bytes:
        arrays: dict[str, NDArray[Any]] = {
            "words": np.frombuffer("\n".join(self.words).encode(), dtype=np.uint8),
            "idf": self.idf,
            "vectors": self.vectors,
        }
        return pack(self.facts.as_json() | {"labels": list(self.labels)}, arrays)

    @classmethod
    def from_bytes(cls, data: bytes) -> ChiCosine:
        """Read the output of :meth:`to_bytes`. Raises ``ModelError`` for any other data."""
        facts, arrays = unpack(data)
        try:
            labels = tuple(map(str, facts["labels"]))
            words = arrays["words"].tobytes().decode().split("\n")
            idf, vectors = arrays["idf"], arrays["vectors"]
        except (KeyError, TypeError, ValueError) as error:
            raise ModelError("the model is damaged: a part is missing") from error
        numbers = idf.dtype.kind == vectors.dtype.kind == "f" and bool(np.isfinite(vectors).all() and np.isfinite(idf).all())
        if not numbers or idf.shape != (len(words),) or vectors.shape != (len(words), len(labels)):
            raise ModelError("the model is damaged: its parts are inconsistent")
        return cls._made(labels, Facts.from_json(facts), words, idf, vectors)

    def _document(self, title: str, text: str) -> tuple[NDArray[np.intp], NDArray[np.float32]]:
        """Return the indexes of the known words of a text and their values, normalised to length 1."""
        counts = _counts(title, text)
        pairs = [(place, count) for word, count in counts.items() if (place := self.place.get(word)) is not None]
        places = np.array([place for place, _ in pairs], dtype=np.intp)
        values = np.array([count for _, count in pairs], dtype=np.float32) * self.idf[places]
        return places, values / max(float(np.linalg.norm(values)), 1e-12)


def _counts(title: str, text: str) -> Counter[str]:
    """Count the words of an article that have two or more characters and are not stop words."""
    counts = Counter(forward_maximum(f"{title}\n{text}" if title else text))
    return Counter({word: times for word, times in counts.items() if len(word) > 1 and word not in STOP_WORDS})


def _fit(counts: Sequence[Counter[str]], classes: NDArray[np.intp], labels: int) -> tuple[list[str], Matrix, Matrix]:
    """Return the kept words, their idf, and the vectors of the classes (a column each, at length 1)."""
    place: dict[str, int] = {}
    columns = np.array([place.setdefault(word, len(place)) for count in counts for word in count], dtype=np.intp)
    rows = np.repeat(np.arange(len(counts)), [len(count) for count in counts])
    frequencies = np.array([times for count in counts for times in count.values()], dtype=float)
    if not place:
        return [], np.zeros(0), np.zeros((0, labels))
    with_word = np.bincount(classes[rows] * len(place) + columns, minlength=labels * len(place)).reshape(labels, -1).astype(float)
    scores = chi(with_word, np.bincount(classes, minlength=labels).astype(float))
    first = np.argsort(-scores, axis=1, kind="stable")[:, :WORDS_PER_CLASS]  # of each class
    selected = np.unique(first[np.take_along_axis(scores, first, axis=1) > 0.0])
    idf = np.log(len(counts) / with_word.sum(axis=0))
    new_index = np.full(len(place), -1)
    new_index[selected] = np.arange(len(selected))
    inside = new_index[columns] >= 0
    rows, columns, values = rows[inside], new_index[columns[inside]], (frequencies * idf[columns])[inside]
    lengths = np.sqrt(np.bincount(rows, values**2, minlength=len(counts)))
    shares = values / np.maximum(lengths[rows], 1e-12)
    vectors = np.bincount(columns * labels + classes[rows], shares, minlength=len(selected) * labels).reshape(-1, labels)
    words = list(place)
    return [words[number] for number in selected], idf[selected], vectors / np.maximum(np.linalg.norm(vectors, axis=0), 1e-12)


def chi(with_word: Matrix, documents: Matrix) -> Matrix:
    """Return CHI of each class (row) and word (column). ``with_word``: documents of the class with the word; ``documents``: all of it."""
    total = documents.sum()
    a, b = with_word, with_word.sum(axis=0) - with_word
    c = documents[:, None] - a
    d = total - documents[:, None] - b
    difference = a * d - b * c
    return np.where(difference > 0, total * difference**2 / np.maximum((a + c) * (b + d) * (a + b) * (c + d), 1e-12), 0.0)
