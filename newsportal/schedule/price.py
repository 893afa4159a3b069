"""What a request is worth when a budget must do for all sources.

The sum of all delays is least when source i, of rate λᵢ, is visited √(λᵢ / 2μ) times a day, with one price μ for all (see ``learnt``).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from newsportal.schedule.grid import Floats
from newsportal.schedule.past import LONGEST, SHORTEST

STEPS = 60
"""Halvings: more than a double can tell apart."""

CHEAPEST, DEAREST = 1e-12, 1e9


def price(rates: Sequence[float], per_hour: float, *, shortest: float = SHORTEST, longest: float = LONGEST) -> float:
    """The price, in entries times days, at which sources of these ``rates`` (entries a day) are visited ``per_hour`` times altogether.

    No source more often than every ``shortest`` nor less than every ``longest`` minutes; a budget beyond these bounds gets the bound.
    """
    values = np.asarray(rates, dtype=np.float64)
    low, high = CHEAPEST, DEAREST
    for _ in range(STEPS):
        middle = float(np.sqrt(low * high))
        if _visits(values, middle, shortest, longest) > per_hour * 24:
            low = middle
        else:
            high = middle
    return high


def _visits(rates: Floats, price: float, shortest: float, longest: float) -> float:
    """Visits a day of all sources."""
    return float(np.clip(np.sqrt(rates / (2 * price)), 1440 / longest, 1440 / shortest).sum())
