"""How interest fades: the paper's Poisson curve.

Jiang, Zuo 2014, section 2.3.2, formula 2:  W(t) = e^−λ · λ^t / t!

t: age of the story in a unit that the paper leaves open; here hours unless said (with λ = 5.6 the curve peaks near t = 5.1, so in days
it would bury what is fresh). Ages are no whole numbers: t! is Γ(t + 1). λ: 5.6 at first, then refitted; the likelihood of ages under
the Poisson law is greatest where λ is their mean.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from newsportal.recommend.clicks import Floats

RATE: Final = 5.6
"""λ at first."""

HOUR: Final = 1.0
DAY: Final = 24.0
"""Units of t, in hours."""


def weight(ages: Floats, rate: float = RATE, unit: float = HOUR) -> Floats:
    """W of ages in hours; a story not yet published has that of its first moment."""
    from scipy.special import gammaln

    t = np.maximum(0.0, ages) / unit
    return np.asarray(np.exp(-rate + t * np.log(rate) - gammaln(t + 1)), dtype=np.float64)


def fitted_rate(ages: Floats, unit: float = HOUR) -> float:
    """λ of the ages (hours) at which stories were looked at: their mean in the unit."""
    return round(float(np.maximum(0.0, ages).mean() / unit), 6) if len(ages) else RATE
