"""How much looked at a story is: in all, or with views that fade.

    p(s) = Σ 2^(−(now − t) / h)  over the views of s at t < now,   h: half-life in hours; h = ∞ counts them

Every addend is rounded to a multiple of ``clicks.STEP``, so p does not depend on the order of adding. Fading is the same for every view:
p at a later moment is p · 2^(−later / h), and the order stays.
"""

from __future__ import annotations

import numpy as np

from newsportal.recommend.clicks import Clicks, Floats, summable


def popularity(clicks: Clicks, now: float, half_life: float = np.inf) -> Floats:
    """p of every story."""
    return counted(clicks.story, summable(fading(clicks.at, now, half_life)), clicks.stories)


def counted(story: np.ndarray, weights: Floats, stories: int) -> Floats:
    """The sum of the weights of each story's views."""
    return np.bincount(story, weights, minlength=stories).astype(np.float64)


def fading(at: Floats, now: float, half_life: float) -> Floats:
    """What a view at ``at`` weighs ``now``."""
    return np.asarray(np.exp2(-np.maximum(0.0, now - at) / half_life), dtype=np.float64)
