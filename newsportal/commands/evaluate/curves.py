"""The curves of the report: the pages' F1 of each reader, sorted from the worst page to the best, as points of an SVG."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

LEFT, RIGHT, TOP, BOTTOM = 46.0, 634.0, 14.0, 262.0
"""The drawing's frame."""

MOST_POINTS: Final = 200
"""Points of a curve; more could not be told apart."""

DASHES: Final = ("none", "7 3", "2 3", "9 3 2 3", "1 4", "12 4")
"""With the colours of the style sheet: two curves of one dash have different colours, whoever sees no colours has the dashes."""

COLOURS: Final = 8


@dataclass(frozen=True, slots=True)
class Curve:
    """A line of the drawing. ``colour`` counts from 0; ``good`` is the share of pages at 0.9 or above, as text."""

    name: str
    points: str
    colour: int
    dash: str
    good: str


def curves(scores: Mapping[str, Sequence[float]]) -> list[Curve]:
    """A curve for each reader that found a text."""
    return [_curve(number, name, sorted(values)) for number, (name, values) in enumerate(scores.items()) if any(values)]


def _curve(number: int, name: str, values: Sequence[float]) -> Curve:
    places = sorted({round(step * (len(values) - 1) / MOST_POINTS) for step in range(MOST_POINTS + 1)})
    points = " ".join(f"{_x(place, len(values)):.1f},{_y(values[place]):.1f}" for place in places)
    good = f"{100 * sum(value >= 0.9 for value in values) / len(values):.0f} %"
    return Curve(name, points, number % COLOURS, DASHES[number % len(DASHES)], good)


def _x(place: int, number: int) -> float:
    return LEFT + (RIGHT - LEFT) * (place / (number - 1) if number > 1 else 0.5)


def _y(score: float) -> float:
    return BOTTOM - (BOTTOM - TOP) * score
