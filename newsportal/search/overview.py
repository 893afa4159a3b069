"""A topic in numbers: who reports how much of it, in what categories, on which days."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime, timedelta, tzinfo
from typing import Final

from newsportal.search.base import Index, Query

DAYS: Final = 30
"""The days that a curve shows."""


@dataclass(frozen=True, slots=True)
class Overview:
    """``days``: the reports (articles) of each of the last days, the earliest first, today last; a day that an index did not count whole
    is left out at the beginning. ``sites`` and ``categories``: the most frequent first. ``reports``: their sum over the days; ``capped``:
    at least so many."""

    days: tuple[tuple[date, int], ...]
    sites: Mapping[str, int]
    categories: Mapping[str, int]
    reports: int
    capped: bool = False

    @property
    def most(self) -> int:
        return max((count for _, count in self.days), default=0)


def overview(index: Index, topic: str, *, now: datetime, zone: tzinfo, days: int = DAYS) -> Overview:
    """What the index counts of ``topic`` over the last ``days`` in ``zone``. Raises ``SearchError``."""
    today = now.astimezone(zone).date()
    first = today - timedelta(days=days - 1)
    found = index.search(Query(f"since:{first.isoformat()}", topic=topic, collapse=False, sort="time", limit=0, zone=zone))
    counted = found.facets.get("day", {})
    shown = [first + timedelta(days=number) for number in range(days)]
    if found.capped and counted:  # the earliest day was counted in part
        earliest = date.fromisoformat(min(counted))
        shown = [day for day in shown if day > earliest]
    return Overview(
        days=tuple((day, counted.get(day.isoformat(), 0)) for day in shown),
        sites=found.facets.get("site", {}),
        categories=found.facets.get("category", {}),
        reports=found.total,
        capped=found.capped,
    )
