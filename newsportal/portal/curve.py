"""A curve of days as bars in SVG: places and sizes, written by the server. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from typing import Final

STEP: Final = 20
GAP: Final = 4
HEIGHT: Final = 96
LEAST: Final = 2  # of a day with something


@dataclass(frozen=True, slots=True)
class Bar:
    """One day; ``x``, ``y`` and ``tall`` in units of the drawing."""

    day: date
    count: int
    x: int
    y: int
    tall: int


def bars(days: Sequence[tuple[date, int]]) -> tuple[Bar, ...]:
    """``days`` (day, count) side by side, the highest as high as the drawing."""
    most = max((count for _, count in days), default=0)
    made = []
    for place, (day, count) in enumerate(days):
        tall = max(LEAST, round(HEIGHT * count / most)) if count else 0
        made.append(Bar(day, count, place * STEP, HEIGHT - tall, tall))
    return tuple(made)


def width(days: Sequence[tuple[date, int]]) -> int:
    return max(0, len(days) * STEP - GAP)
