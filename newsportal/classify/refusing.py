"""How sure an answer must be: measured within the training by leaving labels out, as texts come whose subject was never learnt.

The labels are dealt into three parts. Planes are fitted without the texts of a part and without a fold; they answer the fold: texts of
labels that they know and texts of labels that they never met. What only the latter have is unknown to them, as it would be.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from newsportal.classify.features import Sparse
from newsportal.classify.fitting import Matrix, Mix, Truth, fit
from newsportal.classify.held_out import FOLDS

GIVEN_UP: Final = (0.01, 0.02, 0.03, 0.04, 0.05)
"""Shares of the right answers that may be given up so that foreign texts are refused; the first where nothing could be measured."""

ENOUGH: Final = 0.9
"""Share of the foreign texts above which no more right answers are given up."""

FEWEST: Final = 20
"""Right answers, and foreign texts, from which a part says something."""


@dataclass(frozen=True, slots=True)
class Refusal:
    """The share of right answers to give up, and what it brought: shares of the foreign texts, the area under the ROC curve."""

    given_up: float = GIVEN_UP[0]
    refused: float | None = None
    auroc: float | None = None

    def figures(self) -> dict[str, float]:
        """For the facts of a model."""
        if self.refused is None or self.auroc is None:
            return {}
        return {"right_given_up": self.given_up, "foreign_refused": self.refused, "foreign_auroc": self.auroc}


def refusal(vectors: Sparse, truth: Truth, fold: NDArray[np.intp], mix: Mix, seed: int) -> Refusal:
    """The least share of right answers that suffices, by the scores with labels left out."""
    rank = np.empty(truth.shape[1], dtype=np.intp)
    rank[np.argsort(-truth.sum(axis=0), kind="stable")] = np.arange(truth.shape[1])
    found = []
    for part in range(FOLDS):
        right, known, foreign = _asked(vectors, truth, fold == part, rank % FOLDS != part, mix, seed)
        if min(len(right), len(foreign)) >= FEWEST:
            refused = [float((foreign < np.quantile(right, share)).mean()) for share in GIVEN_UP]
            found.append([auroc(known, foreign), *refused])
    if not found:
        return Refusal()
    area, *refused = np.mean(found, axis=0).tolist()
    at = next((at for at, share in enumerate(refused) if share >= ENOUGH), len(GIVEN_UP) - 1)
    return Refusal(GIVEN_UP[at], refused[at], area)


def _asked(
    vectors: Sparse, truth: Truth, asked: NDArray[np.bool_], kept: NDArray[np.bool_], mix: Mix, seed: int
) -> tuple[Matrix, Matrix, Matrix]:  # fmt: skip
    """The best scores of the right answers, of all texts whose label is ``kept``, and of the foreign texts."""
    none = np.zeros(0)
    learnt, own = ~asked & truth[:, kept].any(axis=1), truth[asked][:, kept]
    if kept.sum() < 2 or not truth[learnt][:, kept].any(axis=0).all() or not asked.any():
        return none, none, none
    seen = np.bincount(vectors[learnt].indices, minlength=vectors.shape[1]) > 1
    scores = fit(_only(vectors[learnt], seen), truth[learnt][:, kept], mix, seed).scores(_only(vectors[asked], seen))
    best, has = scores.max(axis=1), own.any(axis=1)
    right = own[np.arange(len(own)), scores.argmax(axis=1)]
    return best[right], best[has], best[~has]


def _only(vectors: Sparse, seen: NDArray[np.bool_]) -> Sparse:
    """``vectors`` of the features that are ``seen``, at length 1 again."""
    from scipy.sparse import diags

    few = vectors[:, np.flatnonzero(seen)]
    lengths = np.sqrt(np.asarray(few.multiply(few).sum(axis=1)).ravel())
    return (diags(1 / np.maximum(lengths, 1e-12)) @ few).tocsr()


def auroc(higher: Matrix, lower: Matrix) -> float:
    """How often one of ``higher`` is above one of ``lower``, equal ones half: the area under the ROC curve (Hanley & McNeil 1982)."""
    ordered = np.sort(lower)
    below, up_to = np.searchsorted(ordered, higher, "left"), np.searchsorted(ordered, higher, "right")
    return float((below + up_to).mean() / 2 / max(1, len(lower)))
