"""When a source publishes: a rate by weekday, hour and ten minutes of the day, learnt from its visits and shrunk towards the plain mean.

    λ(t) = m · r · w(weekday) · h(hour) · s(ten minutes)        entries a day

Each factor is (entries seen + κ) / (entries expected without it + κ), in batches of the source's usual size: 1 where nothing is known, the
source's own where much is, with the κ that its own table bears out (:func:`factors`). Visits of ten days ago weigh half. m compares the
last hours with what was expected of them: a source that woke up or fell asleep is noticed within a day.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Final

import numpy as np

from newsportal.messages import Message
from newsportal.schedule.grid import AHEAD_DAYS, CELL_SECONDS, CELLS_A_DAY, CELLS_AN_HOUR, Floats, Grid, Places, grid
from newsportal.schedule.past import Past, Rules, minutes
from newsportal.schedule.sightings import Sightings, sightings

KAPPAS: Final = np.array([0.1, 0.3, 1.0, 3.0, 10.0, 30.0])
"""From "nearly always at the same hour" to "as even as chance lets it be"."""

HALF_LOG_TWO_PI = 0.9189385332046727


def factors(seen: Floats, expected: Floats, unit: float) -> Floats:
    """The factor of each cell, shrunk by empirical Bayes. ``unit``: entries that make one piece of evidence (a batch).

    A cell with e entries expected saw n. If its true factor f is drawn from Γ(κ, κ) and n from Poisson(f·e), the best guess of f is
    (n + κ) / (e + κ), and the chance of the table is a product of negative binomials. κ is the one of :data:`KAPPAS` that maximises it.
    """
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


PRIOR_RATE, PRIOR_DAYS = 12.0, 0.25
"""Entries a day of a source never seen, and for how many days of watching that counts."""

KAPPA_NOW = 3.0
"""Batches by which a mood must be told before it counts half (benchmarks/schedule.py)."""

NOW_HALF_LIFE = CELLS_A_DAY / 4
"""Six hours: how far the present mood of a source is looked back for, in cells."""


@dataclass(frozen=True, slots=True)
class Cadence:
    """What is expected of a source from its last visit on.

    ``ahead``: entries in each cell; ``starts`` and ``middles``: seconds from the last visit to the cell's begin and middle. ``daily``:
    entries a day on the average; ``spent``: the constant rate that would cost as many visits, (mean of √λ)². ``doubt``: what is not
    believed.
    """

    ahead: Floats
    starts: Floats
    middles: Floats
    daily: float
    spent: float
    doubt: Message | None = None


def cadence(past: Past, rules: Rules, now: datetime) -> Cadence:
    """What the past lets expect. A source without a past has the prior rate at all hours."""
    cells = grid(now, rules.zone)
    seen = sightings(past.visits, cells)
    rate = rates(seen, cells)
    since = max(past.last or now, now - minutes(rules.longest)).timestamp()
    first = min(max(cells.cell(since), 0), cells.now)
    ahead = rate[first : first + AHEAD_DAYS * CELLS_A_DAY] / CELLS_A_DAY
    starts = cells.start + np.arange(first, first + len(ahead)) * CELL_SECONDS - since
    ends = starts + CELL_SECONDS
    starts = np.maximum(starts, 0.0)
    ahead = ahead * (ends - starts) / CELL_SECONDS
    week = rate[cells.now : cells.now + 7 * CELLS_A_DAY]
    return Cadence(ahead, starts, (starts + ends) / 2, float(week.mean()), float(np.sqrt(week).mean() ** 2), seen.doubt)


def rates(seen: Sightings, cells: Grid) -> Floats:
    """Entries a day in every cell, those of the past as well."""
    begin, end = seen.begin, min(seen.end + 1, cells.now)
    if begin >= end:
        return np.full(len(cells.slot), PRIOR_RATE)
    weight, counts = cells.weight[begin:end], seen.counts[begin:end]
    entries, days = float(counts @ weight), float(weight.sum()) / CELLS_A_DAY
    mean = (entries + PRIOR_RATE * PRIOR_DAYS) / (days + PRIOR_DAYS)
    batch = _batch(counts)
    shape = np.full(len(cells.slot), mean)
    weighed = counts * weight
    for keys, number in ((cells.weekday, 7), (cells.slot // CELLS_AN_HOUR, 24), (cells.slot, CELLS_A_DAY)):
        expected = _by(keys[begin:end], weight * shape[begin:end] / CELLS_A_DAY, number)
        shape = shape * factors(_by(keys[begin:end], weighed, number), expected, batch)[keys]
    return shape * _mood(counts, shape[begin:end] / CELLS_A_DAY, cells.now - end, batch)


def _by(keys: Places, values: Floats, number: int) -> Floats:
    """Sums by key. Half of each ten minutes is shared with those beside them: nobody publishes to the minute."""
    sums: Floats = np.bincount(keys, values, number).astype(np.float64)
    return np.asarray(sums / 2 + (np.roll(sums, 1) + np.roll(sums, -1)) / 4) if number == CELLS_A_DAY else sums


def _batch(counts: Floats) -> float:
    """Entries that come together: ten of one moment are one piece of evidence."""
    busy = counts[counts >= 1]
    return float(busy.mean()) if len(busy) else 1.0


def _mood(counts: Floats, expected: Floats, ago: int, batch: float) -> float:
    """What came of late over what was expected of late."""
    recent = min(len(counts), 4 * int(NOW_HALF_LIFE))
    weight = 0.5 ** ((np.arange(recent, 0, -1) + ago) / NOW_HALF_LIFE)
    came, hoped = float(counts[-recent:] @ weight), float(expected[-recent:] @ weight)
    return (came + KAPPA_NOW * batch) / (hoped + KAPPA_NOW * batch)
