"""Scores become probabilities, and the score below which no label is given: fitted on documents that were held back.

One label of several: softmax of the scores times a factor (temperature scaling, Guo et al. 2017, section 4.2). Labels that do not
exclude one another: a logistic curve each (Platt 1999), and the threshold with the best F1 each. Plain numbers, so that a model keeps them.
"""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

Matrix = NDArray[np.float64]
Truth = NDArray[np.bool_]

FACTORS: Final = np.geomspace(0.05, 50.0, 400)
"""Factors that are tried; neighbours differ by 1.7 %."""

FEWEST: Final = 3
"""Documents with a label, held back, from which a curve and a threshold of its own are fitted."""

DEFAULT_CURVE: Final = (4.0, 0.0)
DEFAULT_THRESHOLD: Final = 0.5


def softmax(scores: Matrix) -> Matrix:
    """Each row's shares."""
    powers = np.exp(scores - scores.max(axis=-1, keepdims=True))
    shares: Matrix = powers / powers.sum(axis=-1, keepdims=True)
    return shares


def logistic(scores: Matrix) -> Matrix:
    values: Matrix = 1 / (1 + np.exp(-np.clip(scores, -50, 50)))
    return values


def temperature(scores: Matrix, of: NDArray[np.intp]) -> float:
    """The factor under which the true labels ``of`` the rows are most probable."""
    rows = np.arange(len(of))

    def surprise(factor: float) -> float:
        return -float(np.log(np.maximum(softmax(scores * factor)[rows, of], 1e-12)).mean())

    return float(min(FACTORS, key=surprise))


def least_score(scores: Matrix, of: NDArray[np.intp], given_up: float) -> float:
    """The score that all but ``given_up`` of the rightly answered rows reach; 0 at most, where a plane parts its label from the rest."""
    best = scores.max(axis=1)[scores.argmax(axis=1) == of]
    return min(0.0, float(np.quantile(best, given_up))) if len(best) else -np.inf


def curve(scores: Matrix, has: Truth) -> tuple[float, float]:
    """(a, b) of the probability ``logistic(a · score + b)`` of one label, by Newton's steps on Platt's smoothed targets."""
    positive, negative = int(has.sum()), int((~has).sum())
    if min(positive, negative) < FEWEST:
        return DEFAULT_CURVE
    target = np.where(has, (positive + 1) / (positive + 2), 1 / (negative + 2))
    rows = np.stack([scores, np.ones_like(scores)], axis=1)
    found = np.zeros(2)
    for _ in range(50):
        chance = logistic(rows @ found)
        slope = rows.T @ (chance - target) + 1e-6 * found
        bend = (rows * (chance * (1 - chance))[:, None]).T @ rows + 1e-6 * np.eye(2)
        step = np.linalg.solve(bend, slope)
        found = found - step * min(1.0, 5.0 / max(float(np.abs(step).max()), 1e-12))
        if np.abs(step).max() < 1e-6:
            break
    return (float(found[0]), float(found[1])) if found[0] > 0 else DEFAULT_CURVE


def threshold(chances: Matrix, has: Truth) -> float:
    """The probability from which giving the label has the best F1."""
    if has.sum() < FEWEST:
        return DEFAULT_THRESHOLD
    order = np.argsort(-chances, kind="stable")
    right = np.cumsum(has[order])
    f1 = 2 * right / (np.arange(1, len(order) + 1) + has.sum())
    at = int(f1.argmax())
    below = chances[order[at + 1]] if at + 1 < len(order) else 0.0
    return float((chances[order[at]] + below) / 2)
