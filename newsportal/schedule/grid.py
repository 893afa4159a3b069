"""Time in cells of ten minutes: what a moment is on the clock of the sources' zone, summer time included."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, tzinfo
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

CELL_SECONDS = 600.0
"""Ten minutes: the shortest time between two visits."""

CELLS_A_DAY = int(86_400 // CELL_SECONDS)
CELLS_AN_HOUR = CELLS_A_DAY // 24

PAST_DAYS = 28
"""Four weeks of each weekday; what is older tells of another season."""

AHEAD_DAYS = 8
"""A week and a day: further ahead nothing is planned."""

HALF_LIFE_DAYS = 10.0
"""A visit so long ago counts half."""

Floats = NDArray[np.float64]
Places = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Grid:
    """The cells around now. ``start`` in epoch seconds; ``slot`` (0–143) and ``weekday`` (0–6) of each cell on the local clock; ``weight``
    of each past cell; ``now`` the number of the present cell."""

    start: float
    now: int
    slot: Places
    weekday: Places
    weight: Floats

    def cell(self, seconds: float) -> int:
        return int((seconds - self.start) // CELL_SECONDS)


def grid(now: datetime, zone: tzinfo) -> Grid:
    """The cells from four weeks ago to eight days ahead; made once for all sources that are asked about within ten minutes."""
    return _grid(int(now.timestamp() // CELL_SECONDS), zone)


@lru_cache(maxsize=8)
def _grid(present: int, zone: Any) -> Grid:
    behind, ahead = PAST_DAYS * CELLS_A_DAY, AHEAD_DAYS * CELLS_A_DAY
    first = present - behind
    cells = np.arange(first, present + ahead)
    local = cells * CELL_SECONDS + _offsets(first, len(cells), zone)
    days = (local // 86_400).astype(np.int64)
    slot = ((local - days * 86_400) // CELL_SECONDS).astype(np.int64)
    weight = 0.5 ** ((behind - np.arange(behind)) / (HALF_LIFE_DAYS * CELLS_A_DAY))
    return Grid(first * CELL_SECONDS, behind, slot, (days + 3) % 7, weight)


def _offsets(first: int, count: int, zone: tzinfo) -> Floats:
    """What the local clock is ahead of UTC in each cell, in seconds: asked once a day, cell by cell on days on which it changes."""
    found = np.empty(count)
    for place in range(0, count, CELLS_A_DAY):
        stop = min(place + CELLS_A_DAY, count)
        ends = _offset(first + place, zone), _offset(first + stop - 1, zone)
        found[place:stop] = ends[0] if ends[0] == ends[1] else [_offset(first + cell, zone) for cell in range(place, stop)]
    return found


def _offset(cell: int, zone: tzinfo) -> float:
    offset = datetime.fromtimestamp(cell * CELL_SECONDS, UTC).astimezone(zone).utcoffset()
    return offset.total_seconds() if offset else 0.0
