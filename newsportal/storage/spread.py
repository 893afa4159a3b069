"""How a story spread: how many sites, how fast. Pure, from its versions; a curve is drawn from ``steps``."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

FIRST: Final = timedelta(hours=6)
"""The first hours, in which news is taken over if it ever is (the story page names them). Chosen, not measured."""


@dataclass(frozen=True, slots=True)
class Spread:
    """``steps``: the moments at which another site had the story, ascending; the n-th brought the n-th site.

    ``hours`` lie between the first and the last of them; ``at_first`` sites had the story within the :data:`FIRST` hours.
    """

    steps: tuple[datetime, ...]

    @property
    def sites(self) -> int:
        return len(self.steps)

    @property
    def hours(self) -> float:
        return (self.steps[-1] - self.steps[0]) / timedelta(hours=1) if self.steps else 0.0

    @property
    def at_first(self) -> int:
        return sum(step - self.steps[0] <= FIRST for step in self.steps)

    @property
    def per_hour(self) -> float | None:
        """Sites an hour after the first one; ``None`` while there is no other, or all came at one moment."""
        return (self.sites - 1) / self.hours if self.hours else None


def spread(reports: Iterable[tuple[datetime, str]]) -> Spread:
    """From the (moment, site) of a story's versions."""
    first: dict[str, datetime] = {}
    for moment, site in reports:
        first[site] = min(moment, first.get(site, moment))
    return Spread(tuple(sorted(first.values())))
