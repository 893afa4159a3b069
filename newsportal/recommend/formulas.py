"""Three formulas over views: the rating of a story, the decay of interest (paper C), and popularity with a half-life."""

from __future__ import annotations

from typing import Final

import numpy as np

from newsportal.recommend.clicks import Clicks, Floats, summable

ALPHA: Final = 0.532  # α of the paper's 100,000 stories, until views are there to learn it from


def median_share(shares: Floats) -> float:
    """α, the median of w_c / w_s over these views: half of all views count as liking, half as disliking."""
    return round(float(np.median(shares)), 6) if len(shares) else ALPHA


def ratings(shares: Floats, alpha: float = ALPHA) -> Floats:
    """r(c, s) = w_c / w_s − α  (Jiang, Zuo 2014, formula 1) of each view.

    w_c: pictures of story s that reader c looked at; w_s: pictures that it has.
    """
    return shares - alpha


RATE: Final = 5.6  # λ at first
HOUR: Final = 1.0
DAY: Final = 24.0  # units of t, in hours


def weight(ages: Floats, rate: float = RATE, unit: float = HOUR) -> Floats:
    """W(t) = e^−λ · λ^t / t!  (Jiang, Zuo 2014, formula 2) of ages in hours; a story not yet published has that of its first moment.

    t: age in a unit that the paper leaves open; here hours (with λ = 5.6 the curve peaks near t = 5.1, so in days it would bury what is
    fresh). Ages are no whole numbers: t! is Γ(t + 1).
    """
    from scipy.special import gammaln

    t = np.maximum(0.0, ages) / unit
    return np.asarray(np.exp(-rate + t * np.log(rate) - gammaln(t + 1)), dtype=np.float64)


def fitted_rate(ages: Floats, unit: float = HOUR) -> float:
    """λ of the ages (hours) at which stories were viewed: their mean in the unit, which maximises the Poisson likelihood."""
    return round(float(np.maximum(0.0, ages).mean() / unit), 6) if len(ages) else RATE


def popularity(clicks: Clicks, now: float, half_life: float = np.inf) -> Floats:
    """p(s) = Σ 2^(−(now − t) / h)  over the views of s at t < now,   h: half-life in hours; h = ∞ counts them.

    Every addend is rounded to a multiple of ``clicks.STEP``, so p does not depend on the order of adding. p at a later moment is
    p · 2^(−later / h).
    """
    return counted(clicks.story, summable(fading(clicks.at, now, half_life)), clicks.stories)


def counted(story: np.ndarray, weights: Floats, stories: int) -> Floats:
    return np.bincount(story, weights, minlength=stories).astype(np.float64)


def fading(at: Floats, now: float, half_life: float) -> Floats:
    """What a view at ``at`` weighs ``now``."""
    return np.asarray(np.exp2(-np.maximum(0.0, now - at) / half_life), dtype=np.float64)
