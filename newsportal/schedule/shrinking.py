"""How much a table of counts is believed: as much as it shows that its cells differ by more than chance (empirical Bayes).

A cell with e entries expected saw n. If its true factor f is drawn from Γ(κ, κ) (mean 1, variance 1/κ) and n from Poisson(f·e), then f is
best guessed by (n + κ) / (e + κ), and the chance of the whole table is a product of negative binomials. κ is the value of
:data:`KAPPAS` at which that chance is greatest: small where a source keeps to its hours, large where it has none.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from newsportal.schedule.grid import Floats

KAPPAS: Final = np.array([0.1, 0.3, 1.0, 3.0, 10.0, 30.0])
"""From "nearly always at the same hour" to "as even as chance lets it be"."""

HALF_LOG_TWO_PI = 0.9189385332046727


def factors(seen: Floats, expected: Floats, unit: float) -> Floats:
    """The factor of each cell. ``unit``: entries that make one piece of evidence (a batch published together)."""
    found, hoped = seen / unit, expected / unit
    kappa = KAPPAS[int(np.argmax(_evidence(found, hoped)))]
    return np.asarray((found + kappa) / (hoped + kappa))


def _evidence(found: Floats, hoped: Floats) -> Floats:
    """The logarithm of the table's chance under each κ, up to what all have in common."""
    kappa = KAPPAS[:, None]
    alone = _log_gamma(KAPPAS)[:, None] - kappa * np.log(kappa)
    return np.asarray((_log_gamma(found + kappa) - alone - (found + kappa) * np.log(hoped + kappa)).sum(axis=1))


def _log_gamma(x: Floats) -> Floats:
    """ln Γ(x) for x > 0, good to 1e-7: Stirling's series five steps further up, where it is that good."""
    far = x + 5
    series = (far - 0.5) * np.log(far) - far + HALF_LOG_TWO_PI + 1 / (12 * far) - 1 / (360 * far**3)
    return np.asarray(series - np.log(x * (x + 1) * (x + 2) * (x + 3) * (x + 4)))
