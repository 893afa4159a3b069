"""When a source's entries appeared, as far as its visits tell.

An entry that was new at a visit appeared after the visit before. Where its own time of publication lies between the two, it is believed;
where it lies before (the site was slow, or its times are days without a clock), all that is known is the time between the visits. A source
whose times are always those of our visit (feeds made when they are asked for) is believed in nothing but numbers.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from newsportal.messages import Message
from newsportal.schedule.grid import CELL_SECONDS, Floats, Grid
from newsportal.visits import Visit

AT_ONCE = 90.0
"""Seconds. A time of publication so close to our visit was hardly waited for."""

LONG_GAP = 1200.0
"""Seconds between two visits from which on chance would seldom publish within :data:`AT_ONCE` of the second."""

LYING = 0.6
"""The share of entries published "just now" from which on a source's clock is not believed; chance gives a thirteenth at most."""

LOOKED_AT = 40
"""Visits, the newest: a site that mended its clock is believed again after these."""

MIN_WITNESSES = 6
"""Entries before which nobody is called a liar."""

ALWAYS_NOW = Message("why.now")


@dataclass(frozen=True, slots=True)
class Sightings:
    """Entries by cell; ``begin`` and ``end`` the cells between which the source was watched; ``doubt``: why its times are not believed."""

    counts: Floats
    begin: int
    end: int
    doubt: Message | None = None


def lies(visits: Sequence[Visit]) -> bool:
    """Whether the source's times of publication are those of our visits. ``visits`` newest first."""
    told = just_now = 0
    for visit, before in pairwise(visits[:LOOKED_AT]):
        at = visit.at.timestamp()
        if at - before.at.timestamp() >= LONG_GAP:
            told += len(visit.published)
            just_now += sum(1 for moment in visit.published if at - moment.timestamp() < AT_ONCE)
    return told >= MIN_WITNESSES and just_now >= LYING * told


def sightings(visits: Sequence[Visit], cells: Grid) -> Sightings:
    """The entries of the visits (newest first) in the cells of the past."""
    read = [visit for visit in visits if not visit.broken]
    if not read:
        return Sightings(np.zeros(cells.now), cells.now, 0)
    doubted = lies(read)
    begin, end = _place(read[-1].at.timestamp(), cells), _place(read[0].at.timestamp(), cells)
    points: list[float] = []
    spans = np.zeros(cells.now + 1)
    for number, visit in enumerate(read):
        if not visit.new:
            continue
        at = visit.at.timestamp()
        before = read[number + 1].at.timestamp() if number + 1 < len(read) else None
        told = [] if doubted else _believed([moment.timestamp() for moment in visit.published], before, at)
        points += told
        if before is not None:
            _spread(spans, _place(before, cells), _place(at, cells), visit.new - len(told))
        elif told:
            begin = min(begin, _place(min(told), cells))
    counts = np.cumsum(spans)[:-1]
    if points:
        where = np.clip(((np.array(points) - cells.start) // CELL_SECONDS).astype(np.int64), 0, cells.now - 1)
        counts += np.bincount(where, minlength=cells.now)
    return Sightings(counts, begin, end, ALWAYS_NOW if doubted else None)


def _place(seconds: float, cells: Grid) -> int:
    """The cell of a moment; the first or the last for what lies outside."""
    return min(max(cells.cell(seconds), 0), cells.now - 1)


def _believed(told: list[float], before: float | None, at: float) -> list[float]:
    """The times that can be: between the visits; at the first visit, those of the weeks before it."""
    return [moment for moment in told if (at - WEEKS if before is None else before) < moment <= at]


WEEKS = 14 * 86_400.0
"""Seconds. What a first visit lists of older things is an archive, not a cadence."""


def _spread(spans: Floats, first: int, last: int, number: float) -> None:
    """Add ``number`` evenly to the cells ``first`` to ``last`` of a table of differences."""
    if number > 0:
        share = number / (last - first + 1)
        spans[first] += share
        spans[last + 1] -= share
