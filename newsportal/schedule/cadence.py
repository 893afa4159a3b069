"""When a source publishes: a rate by weekday, hour and ten minutes of the day, learnt from its visits and shrunk towards the plain mean.

    λ(t) = m · r · w(weekday) · h(hour) · s(ten minutes)        entries a day

Each factor is (entries seen + κ) / (entries expected without it + κ): 1 where nothing is known, the source's own where much is, with κ in
entries, as many as a batch of the source has. So a source's hours stand out after days, its minutes after weeks. Visits of ten days ago
weigh half. m compares the last day with what was expected of it: a source that woke up or fell asleep is noticed within hours.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

import numpy as np

from newsportal.schedule.grid import AHEAD_DAYS, CELL_SECONDS, CELLS_A_DAY, CELLS_AN_HOUR, Floats, Grid, Places, grid
from newsportal.schedule.past import Past, Rules, minutes
from newsportal.schedule.sightings import Sightings, sightings

PRIOR_RATE, PRIOR_DAYS = 12.0, 0.25
"""Entries a day of a source never seen, and for how many days of watching that counts."""

KAPPA_WEEKDAY, KAPPA_HOUR, KAPPA_SLOT = 6.0, 3.0, 3.0
"""Batches that a factor must be told by before it counts half (benchmarks/schedule.py tries others)."""

KAPPA_NOW = 3.0
NOW_HALF_LIFE = CELLS_A_DAY / 4
"""Six hours: how far the present mood of a source is looked back for, in cells."""

FLOOR = 1e-9


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
    doubt: str | None = None


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
    for keys, number, kappa in _levels(cells):
        expected = np.bincount(keys[begin:end], weight * shape[begin:end], number) / CELLS_A_DAY
        found = np.bincount(keys[begin:end], weighed, number)
        shape *= ((found + kappa * batch) / (expected + kappa * batch))[keys]
    return shape * _mood(counts, shape[begin:end] / CELLS_A_DAY, cells.now - end, batch)


def _levels(cells: Grid) -> tuple[tuple[Places, int, float], ...]:
    return (
        (cells.weekday, 7, KAPPA_WEEKDAY),
        (cells.slot // CELLS_AN_HOUR, 24, KAPPA_HOUR),
        (cells.slot, CELLS_A_DAY, KAPPA_SLOT),
    )


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
