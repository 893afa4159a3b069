"""The figures by which a source is judged: sums over its last visits, its entries by day, and whether its silence is out of the ordinary.

With n gaps between the moments at which something came, together S seconds, and no other knowledge of the rate, a silence of g seconds
or more has the probability

    p = (S / (S + g)) ^ n

(the predictive distribution of exponential gaps whose rate is unknown, prior 1/rate: few gaps never make a silence improbable).
Nights, weekends and holidays are long gaps as well, so a silence is also measured by the longest one that the source has had, and by
nothing shorter than a long weekend.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from itertools import accumulate, pairwise, takewhile
from statistics import median

from newsportal.items.visits import Visit
from newsportal.messages.reasons import UNREAD, cause_of

IMPROBABLE = 0.005  # one false word in two hundred silences that are longer than any before
LONGER = 1.5  # times the longest silence that the source has had
HOLIDAY = 4 * 86400.0  # seconds: three days without work and the rest of the fourth. Seen before or not, such a silence says nothing.
NIGHT = 86400.0  # seconds: until then a silence is not worth a word
MIN_GAPS = 5  # fewer gaps tell no cadence
MAX_EVENTS = 200  # moments looked at, the newest: some weeks of a busy source, years of a slow one
SEASON = 90 * 86400.0
"""Seconds. Of a source that has spoken often enough within them, older moments do not count: an entry of ten years ago is no silence of
ten years."""


@dataclass(frozen=True, slots=True)
class Cadence:
    """Of the moments at which something new came: how many gaps, the usual (median) and the longest one, their sum; the silence since
    the last. Seconds."""

    gaps: int
    usual: float
    longest: float
    total: float
    silence: float
    last: datetime

    @property
    def probability(self) -> float:
        """Of a silence as long as this one."""
        return float((self.total / (self.total + self.silence)) ** self.gaps) if self.total else 1.0

    @property
    def quiet(self) -> bool:
        """Longer silent than it ever was, and for more than a day."""
        return self.gaps >= MIN_GAPS and self.silence > max(self.longest, NIGHT)

    @property
    def silent(self) -> bool:
        """So long silent that something must have happened."""
        return self.quiet and self.silence > max(LONGER * self.longest, HOLIDAY) and self.probability < IMPROBABLE


def cadence(visits: Iterable[Visit], now: datetime) -> Cadence | None:
    """The cadence of a source; ``None`` where nothing came yet.

    What came is dated by the visit that brought it, not by the date it bears: dates may be wrong, missing, or those of other people's
    news. Where one visit brought several, at the source's first visit above all, their own dates (not after the visit) tell the gaps.
    """
    moments: set[float] = set()
    for visit in visits:
        if visit.new:
            found = visit.at.timestamp()
            moments.add(found)
            moments.update(stamp for stamp in (moment.timestamp() for moment in visit.published) if 0 < stamp <= found)
    events = sorted(moments)[-MAX_EVENTS:]
    if not events:
        return None
    season = [moment for moment in events if moment > events[-1] - SEASON]
    if len(season) > MIN_GAPS:
        events = season
    gaps = [later - earlier for earlier, later in pairwise(events)]
    last = datetime.fromtimestamp(events[-1], now.tzinfo)
    silence = max(0.0, now.timestamp() - events[-1])
    return Cadence(len(gaps), median(gaps) if gaps else 0.0, max(gaps, default=0.0), sum(gaps), silence, last)


DAYS = 14  # days of a sparkline: two weeks show the weekend
RECENT_READ = 20  # articles by which the reading of a source is judged: as many as its last visits need to have so many
MAX_RECENT = 30  # visits that are gone back for that


@dataclass(frozen=True, slots=True)
class Figures:
    """``streak``: how many visits in a row could read no list page, since when (``since``), and why. ``empty``: how many in a row could
    read it and found no entry. ``read`` articles of the last visits, of them ``stored``, ``repeats`` (folded), ``shaky``, ``garbled``;
    ``unread`` pages had no article, ``refused`` could not be had, by reason (``failed``). ``before``: share of shaky and unread pages in
    the visits before those. ``visits`` looked at."""

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
    if not visits:
        return Figures()
    broken = list(takewhile(lambda visit: visit.broken, visits))
    # the list page was read in full and had no entries; a 304 says nothing about them
    empty = list(takewhile(lambda visit: visit.list_pages > 0 and not (visit.entries or visit.not_modified or visit.broken), visits))
    totals = accumulate(visit.stored + visit.folded + sum(visit.failed.values()) for visit in visits[:MAX_RECENT])
    cut = next((number for number, total in enumerate(totals, 1) if total >= RECENT_READ), min(len(visits), MAX_RECENT))
    recent, older = visits[:cut], visits[cut:]
    counted = _summed(visit.failed for visit in recent)
    unread = sum(number for reason, number in counted.items() if cause_of(reason) == UNREAD)
    stored, repeats = sum(visit.stored for visit in recent), sum(visit.folded for visit in recent)
    return Figures(
        visits=len(visits),
        last_visit=visits[0].at,
        last_success=next((visit.at for visit in visits if not visit.broken), None),
        last_new=next((visit.at for visit in visits if visit.new), None),
        streak=len(broken),
        since=broken[-1].at if broken else None,
        streak_reasons=_summed(visit.list_failed for visit in broken),
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


def _badly(visits: Sequence[Visit]) -> float | None:
    """The share of pages without an article, or with one that is hardly sure; ``None`` for too few pages."""
    bad, pages = 0, 0
    for visit in visits:
        unread = sum(number for reason, number in visit.failed.items() if cause_of(reason) == UNREAD)
        bad += visit.shaky + unread
        pages += visit.stored + visit.folded + unread
    return bad / pages if pages >= RECENT_READ else None


def _summed(numbers: Iterable[Mapping[str, int]]) -> Counter[str]:
    counted = Counter[str]()
    for some in numbers:
        counted.update(some)
    return counted


def sparkline(visits: Sequence[Visit], now: datetime, days: int = DAYS) -> tuple[int, ...]:
    """New entries by day in the zone of ``now``, the earliest day first, today last."""
    found = Counter[date]()
    for visit in visits:
        if visit.new:
            found[visit.at.astimezone(now.tzinfo).date()] += visit.new
    return tuple(found[now.date() - timedelta(days=back)] for back in reversed(range(days)))
