"""The figures by which a source is judged: sums over its last visits, and its entries by day."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from newsportal.messages.reasons import UNREAD, cause_of
from newsportal.visits import Visit

DAYS = 14
"""Days of a sparkline: two weeks show the weekend."""

RECENT_READ = 20
"""Articles by which the reading of a source is judged: as many as its last visits need to have so many."""

MAX_RECENT = 30
"""Visits that are gone back for that."""


@dataclass(frozen=True, slots=True)
class Figures:
    """``streak``: how many visits in a row could read no list page, since when (``since``), and why. ``empty``: how many in a row could
    read it and found no entry. ``read`` articles of the last visits, of them ``stored``, ``repeats`` (folded), ``shaky``, ``garbled``;
    ``unread`` pages had no article, ``refused`` could not be had, by reason (``failed``). ``before``: share of shaky and unread pages in
    the visits before those. ``visits`` looked at.
    """

    visits: int = 0
    last_visit: datetime | None = None
    last_success: datetime | None = None
    last_new: datetime | None = None
    streak: int = 0
    since: datetime | None = None
    streak_reasons: Mapping[str, int] = field(default_factory=dict)
    empty: int = 0
    empty_since: datetime | None = None
    moved: str | None = None
    read: int = 0
    stored: int = 0
    repeats: int = 0
    shaky: int = 0
    garbled: int = 0
    unread: int = 0
    refused: int = 0
    failed: Mapping[str, int] = field(default_factory=dict)
    before: float | None = None


def figures(visits: Sequence[Visit]) -> Figures:
    """``visits`` newest first."""
    if not visits:
        return Figures()
    broken = _while(visits, lambda visit: visit.broken)
    empty = _while(visits, _found_nothing)
    cut = _recent(visits)
    recent, older = visits[:cut], visits[cut:]
    counted = Counter[str]()
    for visit in recent:
        counted.update(visit.failed)
    unread = sum(number for reason, number in counted.items() if cause_of(reason) == UNREAD)
    stored, repeats = sum(visit.stored for visit in recent), sum(visit.folded for visit in recent)
    return Figures(
        visits=len(visits),
        last_visit=visits[0].at,
        last_success=next((visit.at for visit in visits if not visit.broken), None),
        last_new=next((visit.at for visit in visits if visit.new), None),
        streak=len(broken),
        since=broken[-1].at if broken else None,
        streak_reasons=_summed(broken),
        empty=len(empty),
        empty_since=empty[-1].at if empty else None,
        moved=next((visit.moved for visit in visits if visit.list_pages or visit.entries), None),
        read=stored + repeats,
        stored=stored,
        repeats=repeats,
        shaky=sum(visit.shaky for visit in recent),
        garbled=sum(visit.garbled for visit in recent),
        unread=unread,
        refused=sum(counted.values()) - unread,
        failed=counted,
        before=_badly(older),
    )


def _while(visits: Sequence[Visit], holds: Callable[[Visit], bool]) -> list[Visit]:
    found = []
    for visit in visits:
        if not holds(visit):
            break
        found.append(visit)
    return found


def _found_nothing(visit: Visit) -> bool:
    """Its list page was read in full and had no entries; a 304 says nothing about them."""
    return not visit.entries and not visit.not_modified and not visit.broken and visit.list_pages > 0


def _recent(visits: Sequence[Visit]) -> int:
    """How many of the newest visits have :data:`RECENT_READ` articles."""
    total = 0
    for number, visit in enumerate(visits[:MAX_RECENT]):
        total += visit.stored + visit.folded + sum(visit.failed.values())
        if total >= RECENT_READ:
            return number + 1
    return min(len(visits), MAX_RECENT)


def _badly(visits: Sequence[Visit]) -> float | None:
    """The share of pages without an article, or with one that is hardly sure; ``None`` for too few pages."""
    bad, pages = 0, 0
    for visit in visits:
        unread = sum(number for reason, number in visit.failed.items() if cause_of(reason) == UNREAD)
        bad += visit.shaky + unread
        pages += visit.stored + visit.folded + unread
    return bad / pages if pages >= RECENT_READ else None


def _summed(visits: Sequence[Visit]) -> Mapping[str, int]:
    counted = Counter[str]()
    for visit in visits:
        counted.update(visit.list_failed)
    return counted


def sparkline(visits: Sequence[Visit], now: datetime, days: int = DAYS) -> tuple[int, ...]:
    """New entries by day in the zone of ``now``, the earliest day first, today last."""
    found = [0] * days
    today = now.date()
    first = today - timedelta(days=days - 1)
    for visit in visits:
        if visit.new:
            day = (visit.at.astimezone(now.tzinfo).date() - first).days
            if 0 <= day < days:
                found[day] += visit.new
    return tuple(found)
