"""What a reader thinks of a story, by how much of it was looked at.

Jiang, Zuo 2014, section 2.3.1, formula 1:  r(c, s) = w_c / w_s − α

w_c: pictures of story s that reader c looked at; w_s: pictures that it has; α: the median of w_c / w_s over real clicks (0.532 on the
paper's 100,000 stories), so that half of all views count as liking and half as disliking.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from newsportal.recommend.clicks import Floats

ALPHA: Final = 0.532
"""The paper's, until views are there to learn it from."""


def median_share(shares: Floats) -> float:
    """α of these views; of an even number the mean of the two in the middle."""
    return round(float(np.median(shares)), 6) if len(shares) else ALPHA


def ratings(shares: Floats, alpha: float = ALPHA) -> Floats:
    """r of each view."""
    return shares - alpha
