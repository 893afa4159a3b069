"""Calibrate scores to probabilities and choose the score below which no label is assigned, both on held-out documents.

One label of several: softmax of the scores times a factor (temperature scaling, Guo et al. 2017, section 4.2). Multi-label: for each label
a logistic curve (Platt 1999) and the threshold with the best F1. All parameters are plain numbers, stored in the model.

The threshold is measured by leaving labels out: the labels are divided into three parts; classifiers fitted without the texts of one part
and without one fold score that fold, which has texts of labels they were trained on and texts of unknown labels (foreign texts).
"""

from bisect import bisect_left
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from newsportal.classify.features import Sparse
from newsportal.classify.fitting import Matrix, Mix, Truth, fit
from newsportal.classify.held_out import FOLDS

SACRIFICED_SHARES: Final = (0.01, 0.02, 0.03, 0.04, 0.05)
"""Shares of correct answers that may be sacrificed to reject foreign texts; the first is the default if nothing could be measured."""

MIN_REJECTED: Final = 0.9  # rejected share of the foreign texts that is enough: no more correct answers are sacrificed
MIN_COMPARED: Final = 20  # minimum number of correct answers, and of foreign texts, for which a part is evaluated


@dataclass(frozen=True, slots=True)
class Rejection:
    """The share of correct answers sacrificed and its effect: the rejected share of the foreign texts and the area under the ROC curve."""

    given_up: float = SACRIFICED_SHARES[0]
    refused: float | None = None
    auroc: float | None = None

    def figures(self) -> dict[str, float]:
        if self.refused is None or self.auroc is None:
            return {}
        return {"right_given_up": self.given_up, "foreign_refused": self.refused, "foreign_auroc": self.auroc}


def choose_rejection(vectors: Sparse, truth: Truth, fold: NDArray[np.intp], mix: Mix, seed: int) -> Rejection:
    """Return the smallest sacrificed share that is enough, measured on scores with labels left out."""
    rank = np.empty(truth.shape[1], dtype=np.intp)
    rank[np.argsort(-truth.sum(axis=0), kind="stable")] = np.arange(truth.shape[1])
    found = []
    for part in range(FOLDS):
        correct, known, foreign = _held_out_scores(vectors, truth, fold == part, rank % FOLDS != part, mix, seed)
        if min(len(correct), len(foreign)) >= MIN_COMPARED:
            refused = [float((foreign < np.quantile(correct, share)).mean()) for share in SACRIFICED_SHARES]
            found.append([auroc(known, foreign), *refused])
    if not found:
        return Rejection()
    area, *refused = np.mean(found, axis=0).tolist()
    at = next((at for at, share in enumerate(refused) if share >= MIN_REJECTED), len(SACRIFICED_SHARES) - 1)
    return Rejection(SACRIFICED_SHARES[at], refused[at], area)


def _held_out_scores(
    vectors: Sparse, truth: Truth, scored: NDArray[np.bool_], labels: NDArray[np.bool_], mix: Mix, seed: int
) -> tuple[Matrix, Matrix, Matrix]:  # fmt: skip
    """Return the best scores of the correct answers, of all texts with a label in ``labels``, and of the foreign texts."""
    empty = np.zeros(0)
    train, targets = ~scored & truth[:, labels].any(axis=1), truth[scored][:, labels]
    if labels.sum() < 2 or not truth[train][:, labels].any(axis=0).all() or not scored.any():
        return empty, empty, empty
    features = np.bincount(vectors[train].indices, minlength=vectors.shape[1]) > 1
    scores = fit(_restricted(vectors[train], features), truth[train][:, labels], mix, seed).scores(_restricted(vectors[scored], features))
    best, labelled = scores.max(axis=1), targets.any(axis=1)
    correct = targets[np.arange(len(targets)), scores.argmax(axis=1)]
    return best[correct], best[labelled], best[~labelled]


def _restricted(vectors: Sparse, features: NDArray[np.bool_]) -> Sparse:
    """Restrict ``vectors`` to ``features`` (a mask) and normalise them to length 1."""
    from scipy.sparse import diags

    subset = vectors[:, np.flatnonzero(features)]
    lengths = np.sqrt(np.asarray(subset.multiply(subset).sum(axis=1)).ravel())
    return (diags(1 / np.maximum(lengths, 1e-12)) @ subset).tocsr()


def auroc(higher: Matrix, lower: Matrix) -> float:
    """Return the probability that one of ``higher`` exceeds one of ``lower``, ties half: the area under the ROC curve (Hanley 1982)."""
    ordered = np.sort(lower)
    below, up_to = np.searchsorted(ordered, higher, "left"), np.searchsorted(ordered, higher, "right")
    return float((below + up_to).mean() / 2 / max(1, len(lower)))


@dataclass(frozen=True, slots=True)
class Level:
    """Softmax factor and minimum score for texts with about ``features`` features; ``features`` 0: not measured."""

    features: float
    factor: float
    min_score: float


NO_LEVEL: Final = Level(0.0, 1.0, 0.0)

FACTORS: Final = np.geomspace(0.05, 50.0, 400)  # neighbouring values differ by 1.7 %
MIN_DOCUMENTS: Final = 3  # minimum number of held-out documents with a label to fit a curve and a threshold for it
DEFAULT_CURVE: Final = (4.0, 0.0)
DEFAULT_THRESHOLD: Final = 0.5


def softmax(scores: Matrix) -> Matrix:
    powers = np.exp(scores - scores.max(axis=-1, keepdims=True))
    shares: Matrix = powers / powers.sum(axis=-1, keepdims=True)
    return shares


def logistic(scores: Matrix) -> Matrix:
    values: Matrix = 1 / (1 + np.exp(-np.clip(scores, -50, 50)))
    return values


def fit_temperature(scores: Matrix, labels: NDArray[np.intp]) -> float:
    """Return the factor that maximises the likelihood of the true ``labels`` of the rows, by bisection: the loss is convex."""
    rows = np.arange(len(labels))

    def loss(at: int) -> float:
        return -float(np.log(np.maximum(softmax(scores * FACTORS[at])[rows, labels], 1e-12)).mean())

    return float(FACTORS[bisect_left(range(len(FACTORS) - 1), 0.0, key=lambda at: loss(at + 1) - loss(at))])


def minimum_score(scores: Matrix, labels: NDArray[np.intp], given_up: float) -> float:
    """Return the score reached by all but ``given_up`` of the correctly classified rows, at most 0, the decision boundary of a label."""
    best = scores.max(axis=1)[scores.argmax(axis=1) == labels]
    return min(0.0, float(np.quantile(best, given_up))) if len(best) else -np.inf


def fit_curve(scores: Matrix, truth: Truth) -> tuple[float, float]:
    """Return (a, b) of the probability ``logistic(a · score + b)`` of one label: Newton's method on Platt's smoothed targets."""
    positive, negative = int(truth.sum()), int((~truth).sum())
    if min(positive, negative) < MIN_DOCUMENTS:
        return DEFAULT_CURVE
    target = np.where(truth, (positive + 1) / (positive + 2), 1 / (negative + 2))
    rows = np.stack([scores, np.ones_like(scores)], axis=1)
    params = np.zeros(2)
    for _ in range(50):
        chance = logistic(rows @ params)
        gradient = rows.T @ (chance - target) + 1e-6 * params
        hessian = (rows * (chance * (1 - chance))[:, None]).T @ rows + 1e-6 * np.eye(2)
        step = np.linalg.solve(hessian, gradient)
        params = params - step * min(1.0, 5.0 / max(float(np.abs(step).max()), 1e-12))
        if np.abs(step).max() < 1e-6:
            break
    return (float(params[0]), float(params[1])) if params[0] > 0 else DEFAULT_CURVE


def best_threshold(chances: Matrix, truth: Truth) -> float:
    """Return the probability threshold with the best F1."""
    if truth.sum() < MIN_DOCUMENTS:
        return DEFAULT_THRESHOLD
    order = np.argsort(-chances, kind="stable")
    correct = np.cumsum(truth[order])
    f1 = 2 * correct / (np.arange(1, len(order) + 1) + truth.sum())
    at = int(f1.argmax())
    below = chances[order[at + 1]] if at + 1 < len(order) else 0.0
    return float((chances[order[at]] + below) / 2)
