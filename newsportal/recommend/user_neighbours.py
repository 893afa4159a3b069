"""What readers with like ratings thought of a story, faded with its age: the paper's method.

Jiang, Zuo 2014, section 2.3.2, formula 3:

    r̂(c, s) = ( r̄_c + k · Σ_{c' ≠ c} sim(c, c') · (r(c', s) − r̄_c') ) · W(t)        k = 1 / Σ_{c' ≠ c} |sim(c, c')|

r: rating (:mod:`ratings`); r̄: the mean of a reader's ratings; W: :mod:`decay`, t: the story's age. A reader c' who did not look at s adds
nothing to the sum. The paper does not tell ``sim``; here it is the cosine over the stories that both rated, as its reference 7 has it
(Adomavicius, Tuzhilin 2005, formula 13). Its root, Google's news recommendation (Das, Datar, Garg, Rajaram 2007), counts clicks alone.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from scipy import sparse

from newsportal.recommend import decay
from newsportal.recommend.clicks import Clicks, Floats, Ints
from newsportal.recommend.ratings import ALPHA, median_share, ratings

NOTHING: Final = 1e-9
"""A rating of exactly α is kept as this: it is a rating, not an absence."""


@dataclass(frozen=True, slots=True, eq=False)
class UserNeighbours:
    """Ratings as a matrix, readers by stories; ``given`` is 1 where there is one; ``unit``: that of t in hours."""

    alpha: float
    rate: float
    unit: float
    rated: Any
    given: Any
    means: Floats
    published: Floats

    def predict(self, stories: Ints, own: Floats, now: float, but: int | None = None) -> Floats:
        """r̂ of every story for a reader who gave ``stories`` the ratings ``own``; ``but``: the reader's own row."""
        faded = decay.weight(now - self.published, self.rate, self.unit)
        if not len(stories):
            return faded
        alike = self.alike(stories, own)
        if but is not None:
            alike[but] = 0.0
        whole = float(np.abs(alike).sum())
        told = self.rated.T @ alike - self.given.T @ (alike * self.means)
        return np.asarray((own.mean() + (told / whole if whole else 0.0)) * faded, dtype=np.float64)

    def alike(self, stories: Ints, own: Floats) -> Floats:
        """sim with every reader: the cosine over what both rated, 0 where that is nothing."""
        rated, given = self.rated[:, stories], self.given[:, stories]
        lengths = np.sqrt((given @ own**2) * np.asarray(rated.multiply(rated).sum(axis=1)).ravel())
        return np.asarray(np.divide(rated @ own, lengths, out=np.zeros(rated.shape[0]), where=lengths > 0), dtype=np.float64)


def fit(clicks: Clicks, *, unit: float = decay.HOUR, rate: float | None = decay.RATE, alpha: float | None = None) -> UserNeighbours:
    """Ratings of a log. ``alpha`` ``None``: its median; ``rate`` ``None``: refitted to its ages."""
    alpha = alpha if alpha is not None else median_share(clicks.share) if len(clicks) else ALPHA
    rate = rate if rate is not None else decay.fitted_rate(clicks.at - clicks.published[clicks.story], unit)
    values = ratings(clicks.share, alpha)
    values = np.where(values == 0, NOTHING, values)
    shape = (len(clicks.readers), clicks.stories)
    counts = np.bincount(clicks.reader, minlength=shape[0])
    means = np.bincount(clicks.reader, values, minlength=shape[0]) / np.maximum(counts, 1)
    cells = (clicks.reader, clicks.story)
    rated, given = (sparse.csr_array((column, cells), shape=shape) for column in (values, np.ones(len(values))))
    return UserNeighbours(alpha, rate, unit, rated, given, means, clicks.published)
