"""Publication rates of a source: by weekday, hour and ten minutes of the day, learned from its visits and shrunk towards the mean.

    λ(t) = m · r · w(weekday) · h(hour) · s(ten minutes)        entries per day

Each factor is (entries seen + κ) / (entries expected without it + κ), in batches of the source's usual size: 1 without data, the source's
own with much, with the κ that its own table supports (:func:`factors`). Visits of ten days ago weigh half. m compares the last hours with
their expectation: a source that became active or inactive is noticed within a day.

An entry that is new at a visit was published after the previous one. Its publication time is used if it lies between the two; otherwise
only the interval is known (:func:`observe_entries`). If a source's times always equal those of our visits, only the numbers of entries
count (:func:`has_false_times`).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, tzinfo
from functools import lru_cache
from itertools import pairwise
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from newsportal.items.visits import Visit
from newsportal.messages import Message
from newsportal.schedule.policies import HALF_LIFE_DAYS, PRIOR_DAYS, PRIOR_RATE, History, Rules, minutes

CELL_SECONDS = 600.0  # ten minutes: the shortest interval between two visits
CELLS_A_DAY = int(86_400 // CELL_SECONDS)
CELLS_AN_HOUR = CELLS_A_DAY // 24
PAST_DAYS = 28  # four weeks of each weekday; older data belongs to another season
AHEAD_DAYS = 8  # a week and a day: nothing is planned further ahead
Floats = NDArray[np.float64]
Places = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Grid:
    """The cells around now. ``start``: epoch seconds; ``slot`` (0–143) and ``weekday`` (0–6) of each cell in local time; ``weight`` of each
    past cell; ``now``: number of the current cell."""

    start: float
    now: int
    slot: Places
    weekday: Places
    weight: Floats

    def cell(self, seconds: float) -> int:
        return int((seconds - self.start) // CELL_SECONDS)


def time_grid(now: datetime, zone: tzinfo) -> Grid:
    """Return the cells from four weeks ago to eight days ahead, shared by all sources for ten minutes."""
    return _grid(int(now.timestamp() // CELL_SECONDS), zone)


@lru_cache(maxsize=8)
def _grid(present: int, zone: Any) -> Grid:
    behind, ahead = PAST_DAYS * CELLS_A_DAY, AHEAD_DAYS * CELLS_A_DAY
    first = present - behind
    cells = np.arange(first, present + ahead)
    count = len(cells)
    found = np.empty(count)
    for start in range(0, count, CELLS_A_DAY):
        stop = min(start + CELLS_A_DAY, count)
        ends = _offset(first + start, zone), _offset(first + stop - 1, zone)
        found[start:stop] = ends[0] if ends[0] == ends[1] else [_offset(first + cell, zone) for cell in range(start, stop)]
    local = cells * CELL_SECONDS + found
    days = (local // 86_400).astype(np.int64)
    slot = ((local - days * 86_400) // CELL_SECONDS).astype(np.int64)
    weight = 0.5 ** ((behind - np.arange(behind)) / (HALF_LIFE_DAYS * CELLS_A_DAY))
    return Grid(first * CELL_SECONDS, behind, slot, (days + 3) % 7, weight)


def _offset(cell: int, zone: tzinfo) -> float:
    offset = datetime.fromtimestamp(cell * CELL_SECONDS, UTC).astimezone(zone).utcoffset()
    return offset.total_seconds() if offset else 0.0


SUSPICIOUS_SECONDS = 90.0  # seconds. A publication time this close to our visit is suspicious.
LONG_GAP = 1200.0  # seconds between two visits from which on entries within SUSPICIOUS_SECONDS of the second are rarely chance
MAX_SUSPICIOUS_SHARE = 0.6  # share of such entries from which on a source's times are not trusted; chance gives a thirteenth at most
MAX_EXAMINED_VISITS = 40  # newest visits examined: a site that fixed its clock is trusted again after these
MIN_ENTRIES = 6  # minimum number of entries for that conclusion
FALSE_TIMES = Message("schedule.dates-ignored")


@dataclass(frozen=True, slots=True)
class ObservedEntries:
    """Entries by cell; ``begin`` and ``end``: first and last observed cell; ``doubt``: why its times are not trusted."""

    counts: Floats
    begin: int
    end: int
    doubt: Message | None = None


def has_false_times(visits: Sequence[Visit]) -> bool:
    """Return whether the source's publication times are those of our visits. ``visits``: newest first."""
    dated = just_now = 0
    for visit, before in pairwise(visits[:MAX_EXAMINED_VISITS]):
        at = visit.at.timestamp()
        if at - before.at.timestamp() >= LONG_GAP:
            dated += len(visit.published)
            just_now += sum(1 for moment in visit.published if at - moment.timestamp() < SUSPICIOUS_SECONDS)
    return dated >= MIN_ENTRIES and just_now >= MAX_SUSPICIOUS_SHARE * dated


def observe_entries(visits: Sequence[Visit], cells: Grid) -> ObservedEntries:
    """Assign the entries of the visits (newest first) to the past cells."""
    read = [visit for visit in visits if not visit.broken]
    if not read:
        return ObservedEntries(np.zeros(cells.now), cells.now, 0)
    doubted = has_false_times(read)
    begin, end = _cell_of(read[-1].at.timestamp(), cells), _cell_of(read[0].at.timestamp(), cells)
    points: list[float] = []
    spans = np.zeros(cells.now + 1)
    for number, visit in enumerate(read):
        if not visit.new:
            continue
        at = visit.at.timestamp()
        before = read[number + 1].at.timestamp() if number + 1 < len(read) else None
        earliest = at - WEEKS if before is None else before  # at the first visit, times of the preceding weeks are trusted
        dates = [] if doubted else [stamp for moment in visit.published if earliest < (stamp := moment.timestamp()) <= at]
        points += dates
        if before is None and dates:
            begin = min(begin, _cell_of(min(dates), cells))
        if before is not None and visit.new > len(dates):  # spread evenly between the visits: ``spans`` holds differences
            first, last = _cell_of(before, cells), _cell_of(at, cells)
            share = (visit.new - len(dates)) / (last - first + 1)
            spans[first] += share
            spans[last + 1] -= share
    counts = np.cumsum(spans)[:-1]
    if points:
        indices = np.clip(((np.array(points) - cells.start) // CELL_SECONDS).astype(np.int64), 0, cells.now - 1)
        counts += np.bincount(indices, minlength=cells.now)
    return ObservedEntries(counts, begin, end, FALSE_TIMES if doubted else None)


def _cell_of(seconds: float, cells: Grid) -> int:
    """Return the cell of a time, limited to the first and last cell."""
    return min(max(cells.cell(seconds), 0), cells.now - 1)


WEEKS = 14 * 86_400.0  # seconds. Older entries in a first visit are an archive, not a cadence.

KAPPAS: Final = np.array([0.1, 0.3, 1.0, 3.0, 10.0, 30.0])  # from "nearly always at the same hour" to "as even as chance allows"
HALF_LOG_TWO_PI = 0.9189385332046727


def factors(observed: Floats, expected: Floats, unit: float) -> Floats:
    """Return the factor of each cell, shrunk by empirical Bayes. ``unit``: entries per piece of evidence (a batch).

    A cell with e expected entries saw n. If its true factor f is drawn from Γ(κ, κ) and n from Poisson(f·e), the posterior mean of f is (n
    + κ) / (e + κ), and the likelihood of the table is a product of negative binomials. κ is the one of :data:`KAPPAS` that maximizes it.
    """
    found, expectation = observed / unit, expected / unit
    each = KAPPAS[:, None]
    constant = _log_gamma(KAPPAS)[:, None] - each * np.log(each)
    # log-likelihood of the table for each κ, up to a common constant
    evidence = (_log_gamma(found + each) - constant - (found + each) * np.log(expectation + each)).sum(axis=1)
    kappa = KAPPAS[int(np.argmax(evidence))]
    return np.asarray((found + kappa) / (expectation + kappa))


def _log_gamma(x: Floats) -> Floats:
    """Return ln Γ(x) for x > 0, accurate to 1e-7: Stirling's series at x + 5, where it is that accurate."""
    shifted = x + 5
    series = (shifted - 0.5) * np.log(shifted) - shifted + HALF_LOG_TWO_PI + 1 / (12 * shifted) - 1 / (360 * shifted**3)
    return np.asarray(series - np.log(x * (x + 1) * (x + 2) * (x + 3) * (x + 4)))


KAPPA_NOW = 3.0  # batches of evidence for half the weight of recent activity (benchmarks/schedule.py)
NOW_HALF_LIFE = CELLS_A_DAY / 4  # six hours, in cells: half-life of recent activity


@dataclass(frozen=True, slots=True)
class Cadence:
    """Expectations for a source from its last visit on.

    ``ahead``: entries in each cell; ``starts`` and ``middles``: seconds from the last visit to the cell's start and middle. ``daily``: mean
    entries per day; ``spent``: the constant rate that would cost as many visits, (mean of √λ)². ``doubt``: why its times are not trusted.
    """

    ahead: Floats
    starts: Floats
    middles: Floats
    daily: float
    spent: float
    doubt: Message | None = None


def cadence(past: History, rules: Rules, now: datetime) -> Cadence:
    """Return the expectations from the past. A source without a past has the prior rate at all hours."""
    cells = time_grid(now, rules.zone)
    observed = observe_entries(past.visits, cells)
    rate = rates(observed, cells)
    since = max(past.last or now, now - minutes(rules.longest)).timestamp()
    first = min(max(cells.cell(since), 0), cells.now)
    ahead = rate[first : first + AHEAD_DAYS * CELLS_A_DAY] / CELLS_A_DAY
    starts = cells.start + np.arange(first, first + len(ahead)) * CELL_SECONDS - since
    ends = starts + CELL_SECONDS
    starts = np.maximum(starts, 0.0)
    ahead = ahead * (ends - starts) / CELL_SECONDS
    week = rate[cells.now : cells.now + 7 * CELLS_A_DAY]
    return Cadence(ahead, starts, (starts + ends) / 2, float(week.mean()), float(np.sqrt(week).mean() ** 2), observed.doubt)


def rates(observed: ObservedEntries, cells: Grid) -> Floats:
    """Return entries per day in every cell, including past ones."""
    begin, end = observed.begin, min(observed.end + 1, cells.now)
    if begin >= end:
        return np.full(len(cells.slot), PRIOR_RATE)
    weight, counts = cells.weight[begin:end], observed.counts[begin:end]
    entries, days = float(counts @ weight), float(weight.sum()) / CELLS_A_DAY
    mean = (entries + PRIOR_RATE * PRIOR_DAYS) / (days + PRIOR_DAYS)
    busy = counts[counts >= 1]
    batch = float(busy.mean()) if len(busy) else 1.0
    shape = np.full(len(cells.slot), mean)
    weighed = counts * weight
    for keys, number in ((cells.weekday, 7), (cells.slot // CELLS_AN_HOUR, 24), (cells.slot, CELLS_A_DAY)):
        expected = _sum_by_key(keys[begin:end], weight * shape[begin:end] / CELLS_A_DAY, number)
        shape = shape * factors(_sum_by_key(keys[begin:end], weighed, number), expected, batch)[keys]
    recent = min(len(counts), 4 * int(NOW_HALF_LIFE))  # recent activity relative to the expectation
    weight = 0.5 ** ((np.arange(recent, 0, -1) + (cells.now - end)) / NOW_HALF_LIFE)
    actual, predicted = float(counts[-recent:] @ weight), float((shape[begin:end] / CELLS_A_DAY)[-recent:] @ weight)
    return shape * ((actual + KAPPA_NOW * batch) / (predicted + KAPPA_NOW * batch))


def _sum_by_key(keys: Places, values: Floats, number: int) -> Floats:
    """Sum by key. Half of each ten minutes is shared with its neighbours: publication times vary by minutes."""
    sums: Floats = np.bincount(keys, values, number).astype(np.float64)
    return np.asarray(sums / 2 + (np.roll(sums, 1) + np.roll(sums, -1)) / 4) if number == CELLS_A_DAY else sums
