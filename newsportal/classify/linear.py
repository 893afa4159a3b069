"""The default classifier: characters and character bigrams, one matrix, calibrated; figures are in docs/algorithms/classification.md.

Training needs scikit-learn; classifying needs only NumPy. For explanations, the contribution of each feature is distributed over the
characters it covers and summed by word.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from itertools import islice
from math import log
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from newsportal.classify import calibration
from newsportal.classify.base import NO_ANSWER, Answer, Example, Facts, Progress, Reason
from newsportal.classify.calibration import NO_LEVEL, Level
from newsportal.classify.features import MAX_CHARS, Codes, Numbers, Vocabulary, count_article, pieces
from newsportal.classify.fitting import shrink_bias
from newsportal.errors import ModelError
from newsportal.packing import pack, unpack
from newsportal.text import WORD, segment

MAX_MODEL_BYTES: Final = 20_000_000  # bytes of a model's arrays. Of larger models the least significant features are dropped.
MAX_VALUE: Final = 65_504.0  # maximum absolute value in a model: that of ``float16``, in which weights are stored
MIN_FEATURES: Final = 2  # minimum number of known features to classify a text: a word of two characters has three
Matrix = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Linear:
    """A trained classifier (see :class:`newsportal.classify.base.Classifier`). ``weights`` has a row per feature and a column per label;
    ``short`` is the number of features that nine in ten training texts have: from there on ``factor`` and ``min_score`` apply, for
    headlines those of ``brief``."""

    labels: tuple[str, ...]
    facts: Facts
    vocabulary: Vocabulary = field(repr=False)
    weights: NDArray[np.float32] = field(repr=False)
    bias: Matrix = field(repr=False)
    factor: float = 1.0
    min_score: float = -np.inf
    curves: Matrix = field(default_factory=lambda: np.zeros((0, 3)), repr=False)
    short: float = 0.0
    brief: Level = NO_LEVEL

    @classmethod
    def train(cls, examples: Sequence[Example], *, multi_label: bool, progress: Progress, seed: int, trained: datetime | None) -> Linear:
        from newsportal.classify.training import learn

        labels = tuple(sorted({label for example in examples for label in example.labels}))
        result = learn(examples, labels, multi_label=multi_label, progress=progress, seed=seed)
        documents = Counter(label for example in examples for label in example.labels)
        facts = Facts("linear", dict(sorted(documents.items())), result.figures, trained, multi_label, result.warnings)
        vocab, weights = _limited(result.vocabulary, result.planes.weights.astype(np.float16))
        return cls(
            labels, facts, vocab, weights.astype(np.float32), result.planes.bias, result.factor, result.min_score, result.curves,
            result.short, result.brief,
        )  # fmt: skip

    def classify(self, title: str, text: str) -> Answer:
        """Classify an article; a text without enough known features gets no label and no scores."""
        at, values = self.vocabulary.vector(*count_article(title, text))
        if len(at) < MIN_FEATURES:
            return NO_ANSWER
        scores = values @ self.weights[at] + self._bias(len(at))
        if self.facts.multi_label:
            chances = calibration.logistic(self.curves[:, 0] * scores + self.curves[:, 1])
            assigned = [at for at in np.argsort(-chances, kind="stable") if chances[at] >= self.curves[at, 2]]
            labels = tuple(self.labels[at] for at in assigned)
            return Answer(labels[0] if labels else None, dict(zip(self.labels, chances.tolist(), strict=True)), labels)
        factor, min_score = self._level(len(at))
        shares = calibration.softmax(scores * factor).tolist()
        best = int(scores.argmax())
        label = self.labels[best] if scores[best] >= min_score else None
        return Answer(label, dict(zip(self.labels, shares, strict=True)), (label,) if label is not None else ())

    def _bias(self, features: int) -> Matrix:
        return self.bias if self.facts.multi_label or features >= self.short else shrink_bias(self.bias, features, self.short)

    def _level(self, features: int) -> tuple[float, float]:
        """Return factor and minimum score for a text with ``features`` features, log-interpolated between headlines and ``short``."""
        if not 0 < self.brief.features < self.short:
            return self.factor, self.min_score
        share = min(1.0, max(0.0, log(features / self.brief.features) / log(self.short / self.brief.features)))
        return self.brief.factor ** (1 - share) * self.factor**share, self.brief.min_score + (self.min_score - self.brief.min_score) * share

    def explain(self, title: str, text: str, label: str | None = None, limit: int = 10) -> tuple[Reason, ...]:
        """Return the decisive words: their contribution to the label's score minus the mean of the other labels."""
        at, values = self.vocabulary.vector(*count_article(title, text))
        if len(at) < MIN_FEATURES or (label is not None and label not in self.labels):
            return ()
        scores = values @ self.weights[at] + self._bias(len(at))
        target = self.labels.index(label) if label is not None else int(scores.argmax())
        weights = self.weights[at]
        others = 0.0 if self.facts.multi_label else np.delete(weights, target, axis=1).mean(axis=1)
        slope = float(self.curves[target, 0]) if self.facts.multi_label else self._level(len(at))[0]
        parts = values * (weights[:, target] - others) * slope
        return feature_words(self.vocabulary.codes[at], parts, (title, text), limit)

    def to_bytes(self) -> bytes:
        arrays: dict[str, NDArray[Any]] = {
            "codes": self.vocabulary.codes,
            "idf": self.vocabulary.weights,
            "weights": self.weights.astype(np.float16),
            "bias": self.bias,
            "curves": self.curves,
            "scale": np.array([self.factor, self.min_score, self.short, self.brief.features, self.brief.factor, self.brief.min_score]),
        }
        return pack(self.facts.as_json() | {"labels": list(self.labels)}, arrays)

    @classmethod
    def from_bytes(cls, data: bytes) -> Linear:
        """Read the output of :meth:`to_bytes`. Raises ``ModelError`` for any other data."""
        facts, arrays = unpack(data)
        try:
            labels = tuple(map(str, facts["labels"]))
            codes, idf, weights, bias, curves, scale = (arrays[name] for name in ("codes", "idf", "weights", "bias", "curves", "scale"))
        except (KeyError, TypeError, ValueError) as error:
            raise ModelError("the model is damaged: a part is missing") from error
        metadata = Facts.from_json(facts)
        if scale.shape == (3,) and scale.dtype.kind == "f":  # a model saved without a level for headlines
            scale = np.concatenate((scale, (NO_LEVEL.features, NO_LEVEL.factor, NO_LEVEL.min_score)))
        shapes = (codes.shape, idf.shape, weights.shape, bias.shape, curves.shape, scale.shape)
        size, number = codes.size, len(labels)
        expected = ((size,), (size,), (size, number), (number,), (number if metadata.multi_label else 0, 3), (6,))
        floats = all(array.dtype.kind == "f" for array in (idf, weights, bias, curves, scale))
        if shapes != expected or not floats or codes.dtype != np.uint32 or not labels or (codes[1:] <= codes[:-1]).any():
            raise ModelError("the model is damaged: its parts are inconsistent")
        factor, min_score, short, *brief = scale.tolist()  # ``min_score``: minus infinity if nothing is rejected
        finite = (idf, weights, bias, curves, np.array([factor, short, *brief]))
        if not all((np.abs(array) <= MAX_VALUE).all() for array in finite) or not min_score <= MAX_VALUE or not brief[1] > 0:
            raise ModelError("the model is damaged: it contains NaN, infinite or too large numbers")
        vocab = Vocabulary(codes, idf.astype(np.float32))
        return cls(labels, metadata, vocab, weights.astype(np.float32), bias, factor, min_score, curves, short, Level(*brief))


def _limited(vocabulary: Vocabulary, weights: NDArray[np.float16]) -> tuple[Vocabulary, NDArray[np.float16]]:
    """Limit a model to ``MAX_MODEL_BYTES`` bytes by keeping the features with the largest spread of weights, times idf."""
    limit = MAX_MODEL_BYTES // (2 * weights.shape[1] + 8)
    if len(vocabulary.codes) <= limit:
        return vocabulary, weights
    spread = weights.max(axis=1).astype(np.float32) - weights.min(axis=1).astype(np.float32)
    selected = np.sort(np.argsort(-spread * vocabulary.weights, kind="stable")[:limit])
    return Vocabulary(vocabulary.codes[selected], vocabulary.weights[selected]), weights[selected]


ROUNDING_ERROR: Final = 1e-9  # rounding error of the sums: a word that weighs less has no feature


def feature_words(codes: Codes, contributions: Numbers, texts: Sequence[str], limit: int) -> tuple[Reason, ...]:
    """Return the words of an article's ``texts`` (title, body) with their total contributions, largest first. ``codes``: the article's
    features, ascending; ``contributions``: the total contribution of each."""
    parsed = [pieces(text) for text in texts]
    counts = np.zeros(len(codes))
    nearest = [np.minimum(np.searchsorted(codes, features.codes), len(codes) - 1) for features in parsed]
    places = [(at, codes[at] == features.codes) for at, features in zip(nearest, parsed, strict=True)]
    for at, is_known in places:
        counts += np.bincount(at[is_known], minlength=len(codes))
    share = contributions / np.maximum(counts, 1)
    totals: dict[str, float] = {}
    for text, features, (at, is_known) in zip(texts, parsed, places, strict=True):
        cumulative = _cumulative(share[at[is_known]], features.starts[is_known], features.ends[is_known], min(len(text), MAX_CHARS))
        for word, start, end in _segments(text[:MAX_CHARS]):
            totals[word] = totals.get(word, 0.0) + cumulative[end] - cumulative[start]
    ranked = sorted(totals.items(), key=lambda item: (-abs(item[1]), item[0]))
    reasons = (Reason(word, weight) for word, weight in ranked if abs(weight) > ROUNDING_ERROR and WORD.search(word))
    return tuple(islice(reasons, limit))


def _cumulative(contributions: NDArray[np.float64], starts: NDArray[np.intp], ends: NDArray[np.intp], length: int) -> list[float]:
    """Return the cumulative contribution before every position; each feature is spread evenly over the characters it covers."""
    share = contributions / np.maximum(ends - starts, 1)
    steps = np.bincount(starts, share, length + 1) - np.bincount(ends, share, length + 1)
    cumulative: list[float] = np.concatenate(([0.0], np.cumsum(np.cumsum(steps)[:-1]))).tolist()
    return cumulative


def _segments(text: str) -> Iterator[tuple[str, int, int]]:
    """Yield the segments of ``text``, including punctuation, with their positions."""
    end = 0
    for word in segment(text):
        if (start := text.find(word, end)) >= 0:
            end = start + len(word)
            yield word, start, end
