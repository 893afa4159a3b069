"""Three formulas over views: the rating of a story, the decay of interest (paper C), and popularity with a half-life."""

from typing import Final

import numpy as np

from newsportal.recommend.clicks import Clicks, Floats, round_sums

ALPHA: Final = 0.532  # α of the paper's 100,000 stories, used until there are enough views to learn it


def median_share(shares: Floats) -> float:
    """Return α, the median of w_c / w_s over the views: half of them count as positive, half as negative."""
    return round(float(np.median(shares)), 6) if len(shares) else ALPHA


def ratings(shares: Floats, alpha: float = ALPHA) -> Floats:
    """r(c, s) = w_c / w_s − α  (Jiang, Zuo 2014, formula 1) of each view.

    w_c: pictures of story s that reader c viewed; w_s: pictures in the story.
    """
    return shares - alpha


RATE: Final = 5.6  # initial λ
HOUR: Final = 1.0
DAY: Final = 24.0  # units of t, in hours


def weight(ages: Floats, rate: float = RATE, unit: float = HOUR) -> Floats:
    """W(t) = e^−λ · λ^t / t!  (Jiang, Zuo 2014, formula 2) of ages in hours; stories not yet published have age 0.

    t: age in a unit that the paper leaves open; here hours (with λ = 5.6 the curve peaks near t = 5.1; in days, it would bury fresh
    stories). Ages are not integers: t! is Γ(t + 1).
    """
    from scipy.special import gammaln

    t = np.maximum(0.0, ages) / unit
    return np.asarray(np.exp(-rate + t * np.log(rate) - gammaln(t + 1)), dtype=np.float64)


def fitted_rate(ages: Floats, unit: float = HOUR) -> float:
    """Return λ for the ages (hours) of stories when viewed: their mean in the unit, which maximises the Poisson likelihood."""
    return round(float(np.maximum(0.0, ages).mean() / unit), 6) if len(ages) else RATE


def popularity(clicks: Clicks, now: float, half_life: float = np.inf) -> Floats:
    """p(s) = Σ 2^(−(now − t) / h)  over the views of s at t < now,   h: half-life in hours; h = ∞ counts them. Every addend is rounded to a
    multiple of ``clicks.ROUNDING_STEP``, so that p does not depend on the order of the sum. After a further time d, p is p · 2^(−d / h)."""
    return weighted_counts(clicks.story, round_sums(decay(clicks.at, now, half_life)), clicks.stories)


def weighted_counts(story: np.ndarray, weights: Floats, stories: int) -> Floats:
    return np.bincount(story, weights, minlength=stories).astype(np.float64)


def decay(at: Floats, now: float, half_life: float) -> Floats:
    """Return the weight at ``now`` of views at ``at``."""
    return np.asarray(np.exp2(-np.maximum(0.0, now - at) / half_life), dtype=np.float64)
