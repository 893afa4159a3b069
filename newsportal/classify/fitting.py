"""Fit the linear models of the default classifier: for each label a hyperplane, the sum of up to three that make different errors.

- NB-SVM (Wang & Manning 2012, Baselines and Bigrams): each feature is scaled by its log-count ratio r, then a linear SVM is fitted::

      r = |ln (p / ‖p‖₁) / (q / ‖q‖₁)|        p = α + Σ vectors with the label        q = α + Σ vectors without it

- the same SVM (squared hinge loss, one-vs-rest) without the scaling;
- complement naive Bayes (Rennie et al. 2003, section 3).

All are linear in the vector, so their sum is one matrix. Full articles need NB-SVM alone with little regularisation, titles all three with
more regularisation; the best ``Mix`` is selected on a held-out part of the examples.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from newsportal.classify.features import Sparse

Truth = NDArray[np.bool_]  # a row per example, a column per label
Matrix = NDArray[np.float64]

RATIO_SMOOTHING: Final = 0.03
"""α of the log-count ratios, in vector lengths (features of a vector weigh 0.01 to 0.2). 0.02 to 0.1 perform alike, 1 loses 2 points."""

BAYES_SMOOTHING: Final = 0.3

TOLERANCE: Final = 1e-2  # stopping tolerance of the SVM; 1e-4 gives the same answers


@dataclass(frozen=True, slots=True)
class Mix:
    """``cost``: C of NB-SVM; ``plain`` and ``bayes``: weights of the SVM without ratios and of naive Bayes relative to it."""

    name: str
    cost: float
    plain: float = 0.0
    bayes: float = 0.0


MIXES: Final = (Mix("articles", 3.0), Mix("mixed", 1.0, 0.25), Mix("titles", 0.3, 0.5, 0.25))
"""Of 16 mixes, those that were best on some of the corpora (held-out parts of training data)."""

PLAIN_COST: Final = 0.7


@dataclass(frozen=True, slots=True)
class Planes:
    """``scores = vectors @ weights + bias``, a column per label."""

    weights: Matrix
    bias: Matrix

    def scores(self, vectors: Sparse, short: float = 0.0) -> Matrix:
        """``short``: see :func:`shrink_bias`."""
        bias = shrink_bias(self.bias, np.diff(vectors.indptr)[:, None], short) if short else self.bias
        return np.asarray(vectors @ self.weights, dtype=np.float64) + bias

    def __add__(self, other: Planes) -> Planes:
        return Planes(self.weights + other.weights, self.bias + other.bias)

    def scaled(self, factor: float) -> Planes:
        return Planes(self.weights * factor, self.bias * factor)


def shrink_bias(bias: Matrix, features: Any, short: float) -> Matrix:
    """Return the biases for texts with ``features`` features. Below ``short`` they approach their mean: those of articles mislead on
    titles."""
    mean = bias.mean()
    return np.asarray(mean + (bias - mean) * np.minimum(1.0, features / short), dtype=np.float64)


def fit(vectors: Sparse, truth: Truth, mix: Mix, seed: int) -> Planes:
    """Fit the hyperplanes of ``mix``. The plane of a label that no example has never accepts it, that of a label all have always does."""
    return next(fit_all(vectors, truth, [mix], seed))


def fit_all(vectors: Sparse, truth: Truth, mixes: Iterable[Mix], seed: int) -> Iterator[Planes]:
    """Yield :func:`fit` of each mix. Parts that do not depend on the mix are fitted once."""
    plain: Planes | None = None
    for mix in mixes:
        planes = _at_one_scale(_svm(vectors, truth, mix.cost, seed, scaled=True), vectors)
        if mix.plain:
            plain = plain or _at_one_scale(_svm(vectors, truth, PLAIN_COST, seed, scaled=False), vectors)
            planes += plain.scaled(mix.plain)
        if mix.bayes:
            planes += _at_one_scale(_bayes(vectors, truth), vectors).scaled(mix.bayes)
        yield planes


def _at_one_scale(planes: Planes, vectors: Sparse) -> Planes:
    """Scale ``planes`` so that the scores of the training vectors, centred per row, have a standard deviation of 1."""
    scores = planes.scores(vectors)
    centred = scores - scores.mean(axis=1, keepdims=True) if scores.shape[1] > 1 else scores
    return planes.scaled(1 / max(float(centred.std()), 1e-9))


def _svm(vectors: Sparse, truth: Truth, cost: float, seed: int, *, scaled: bool) -> Planes:
    weights = np.zeros((vectors.shape[1], truth.shape[1]))
    bias = np.zeros(truth.shape[1])
    total = np.asarray(vectors.sum(axis=0)).ravel()
    for label in range(truth.shape[1]):
        positive = truth[:, label]
        if positive.all() or not positive.any():
            bias[label] = 1.0 if positive.all() else -1.0
            continue
        ratio = _ratio(np.asarray(vectors[positive].sum(axis=0)).ravel(), total) if scaled else None
        weights[:, label], bias[label] = _plane(vectors, positive, cost, seed, ratio)
    return Planes(weights, bias)


def _ratio(with_label: Matrix, total: Matrix) -> Matrix:
    p, q = with_label + RATIO_SMOOTHING, total - with_label + RATIO_SMOOTHING
    ratio: Matrix = np.abs(np.log(p / p.sum()) - np.log(q / q.sum()))
    return ratio


def _plane(vectors: Sparse, positive: NDArray[np.bool_], cost: float, seed: int, ratio: Matrix | None) -> tuple[Matrix, float]:
    """Fit one label's weights and bias. Scaled vectors have a root mean square length of 1, so that ``cost`` keeps its meaning."""
    from scipy.sparse import csr_matrix
    from sklearn.svm import LinearSVC

    scale: Any = 1.0
    if ratio is not None:
        data = vectors.data * ratio[vectors.indices]
        scale = ratio / max(float(np.sqrt((data**2).sum() / vectors.shape[0])), 1e-12)
        vectors = csr_matrix((vectors.data * scale[vectors.indices], vectors.indices, vectors.indptr), shape=vectors.shape)
    svm = LinearSVC(C=cost, tol=TOLERANCE, random_state=seed, max_iter=300).fit(vectors, positive)
    return svm.coef_.ravel() * scale, float(svm.intercept_[0])


def _bayes(vectors: Sparse, truth: Truth) -> Planes:
    """Fit complement naive Bayes, centred on the mean of the labels."""
    total = np.asarray(vectors.sum(axis=0)).ravel()
    others = np.stack([total - np.asarray(vectors[positive].sum(axis=0)).ravel() for positive in truth.T], axis=1) + BAYES_SMOOTHING
    weights = -np.log(others / others.sum(axis=0))
    return Planes(weights - weights.mean(axis=1, keepdims=True), np.zeros(truth.shape[1]))
