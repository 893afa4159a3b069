"""How many result pages of a search engine are read at an hour of the day, learnt from what that hour's pages repeated.

Bai, Wang, Zhao 2009 (paper A) read five pages every hour and wish that the number followed the hour, for at night most results are repeats.
With n_h new ones among e_h entries of the visits at hour h, f the share of new ones over all hours, and κ entries of doubt:

    fresh(h) = (n_h + κ·f) / (e_h + κ)
    pages(h) = 1 + round((most − 1) · min(1, fresh(h) / enough))
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, tzinfo
from typing import Final

from newsportal.visits import Visit

MOST: Final = 5
"""Pages (paper A: 「元引擎的广度搜索设置为 5 页」)."""

ENOUGH: Final = 0.5
"""An hour half of whose entries are new gets all pages: the last of them then still holds some."""

KAPPA: Final = 40.0
"""Entries: two pages of twenty."""

MIN_VISITS: Final = 6
"""Visits before which nothing is learnt: the first ones bring what is new to us alone."""


def pages(visits: Sequence[Visit], now: datetime, zone: tzinfo, *, usual: int, most: int = MOST) -> int:
    """Result pages for the hour of ``now``; ``usual`` while too little is known. ``visits`` newest first."""
    read = [visit for visit in visits if visit.entries]
    if len(read) < MIN_VISITS:
        return usual
    hour = now.astimezone(zone).hour
    share = sum(visit.new for visit in read) / sum(visit.entries for visit in read)
    here = [visit for visit in read if visit.at.astimezone(zone).hour == hour]
    fresh = (sum(visit.new for visit in here) + KAPPA * share) / (sum(visit.entries for visit in here) + KAPPA)
    return 1 + round((most - 1) * min(1.0, fresh / ENOUGH))
