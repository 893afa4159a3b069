"""Figures for judging a source: sums over its last visits, its entries by day, and whether its silence is unusual.

With n gaps between times of new entries, S seconds in total, and no other knowledge of the rate, the probability of a silence of g seconds
or more is

    p = (S / (S + g)) ^ n

(the predictive distribution of exponential gaps with unknown rate, prior 1/rate: few gaps never make a silence improbable). Nights,
weekends and holidays are long gaps, too, so a silence is also compared with the longest one of the source, and with a long weekend.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from itertools import accumulate, pairwise, takewhile
from statistics import median

from newsportal.items.visits import Visit
from newsportal.messages.reasons import UNREAD, cause_of

MAX_SILENCE_PROBABILITY = 0.005  # one false alarm in two hundred silences longer than any before
SILENCE_FACTOR = 1.5  # multiple of the source's longest silence
HOLIDAY = 4 * 86400.0  # seconds: three days off and the rest of the fourth. A silence this long is normal, even for the first time.
MIN_SILENCE_SECONDS = 86400.0  # seconds: shorter silences are not reported
MIN_GAPS = 5  # fewer gaps give no cadence
MAX_EVENTS = 200  # maximum number of times examined, the newest: some weeks of a busy source, years of a slow one
SEASON_SECONDS = 90 * 86400.0
"""Seconds. For a source with enough entries within this time, older ones are ignored: an entry of ten years ago is not a long silence."""


@dataclass(frozen=True, slots=True)
class Cadence:
    """Gaps between times of new entries: number, usual (median), longest and total length; the silence since the last one. In seconds."""

    gaps: int
    usual: float
    longest: float
    total: float
    silence: float
    last: datetime

    @property
    def probability(self) -> float:
        """Probability of a silence as long as the current one."""
        return float((self.total / (self.total + self.silence)) ** self.gaps) if self.total else 1.0

    @property
    def quiet(self) -> bool:
        """Whether the silence is the longest so far, and longer than a day."""
        return self.gaps >= MIN_GAPS and self.silence > max(self.longest, MIN_SILENCE_SECONDS)

    @property
    def silent(self) -> bool:
        """Whether the silence is so long that something must have happened."""
        return self.quiet and self.silence > max(SILENCE_FACTOR * self.longest, HOLIDAY) and self.probability < MAX_SILENCE_PROBABILITY


def cadence(visits: Iterable[Visit], now: datetime) -> Cadence | None:
    """Return the cadence of a source, or ``None`` before its first entry.

    Entries are dated by the visit that found them, not by their own dates, which may be wrong, missing, or those of syndicated news. If one
    visit found several, especially the first one, their own dates (not after the visit) define the gaps.
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
    season = [moment for moment in events if moment > events[-1] - SEASON_SECONDS]
    if len(season) > MIN_GAPS:
        events = season
    gaps = [later - earlier for earlier, later in pairwise(events)]
    last = datetime.fromtimestamp(events[-1], now.tzinfo)
    silence = max(0.0, now.timestamp() - events[-1])
    return Cadence(len(gaps), median(gaps) if gaps else 0.0, max(gaps, default=0.0), sum(gaps), silence, last)


DAYS = 14  # days of a sparkline: two weeks show the weekend
RECENT_READ = 20  # articles by which the extraction of a source is judged, from as many recent visits as necessary
MAX_RECENT = 30  # maximum number of visits for that


@dataclass(frozen=True, slots=True)
class Figures:
    """``streak``: number of consecutive visits that could read no list page, since when (``since``), and why. ``empty``: number of
    consecutive visits with readable lists without entries. ``read``: articles of the last visits, of them ``stored``, ``repeats`` (folded),
    ``shaky``, ``garbled``; ``unread``: pages without an article, ``refused``: pages that could not be fetched, by reason (``failed``).
    ``before``: share of shaky and unread pages in earlier visits. ``visits``: number examined."""

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


def compute_figures(visits: Sequence[Visit]) -> Figures:
    if not visits:
        return Figures()
    broken = list(takewhile(lambda visit: visit.broken, visits))
    # the list page was complete and had no entries; a 304 does not tell
    empty = list(takewhile(lambda visit: visit.list_pages > 0 and not (visit.entries or visit.not_modified or visit.broken), visits))
    totals = accumulate(visit.stored + visit.folded + sum(visit.failed.values()) for visit in visits[:MAX_RECENT])
    cut = next((number for number, total in enumerate(totals, 1) if total >= RECENT_READ), min(len(visits), MAX_RECENT))
    recent, older = visits[:cut], visits[cut:]
    failures = _sum_counts(visit.failed for visit in recent)
    unread = sum(number for reason, number in failures.items() if cause_of(reason) == UNREAD)
    stored, repeats = sum(visit.stored for visit in recent), sum(visit.folded for visit in recent)
    return Figures(
        visits=len(visits),
        last_visit=visits[0].at,
        last_success=next((visit.at for visit in visits if not visit.broken), None),
        last_new=next((visit.at for visit in visits if visit.new), None),
        streak=len(broken),
        since=broken[-1].at if broken else None,
        streak_reasons=_sum_counts(visit.list_failed for visit in broken),
        empty=len(empty),
        empty_since=empty[-1].at if empty else None,
        moved=next((visit.moved for visit in visits if visit.list_pages or visit.entries), None),
        read=stored + repeats,
        stored=stored,
        repeats=repeats,
        shaky=sum(visit.shaky for visit in recent),
        garbled=sum(visit.garbled for visit in recent),
        unread=unread,
        refused=sum(failures.values()) - unread,
        failed=failures,
        before=_share_of_bad_pages(older),
    )


def _share_of_bad_pages(visits: Sequence[Visit]) -> float | None:
    """Return the share of pages without an article, or with low confidence; ``None`` for too few pages."""
    bad, pages = 0, 0
    for visit in visits:
        unread = sum(number for reason, number in visit.failed.items() if cause_of(reason) == UNREAD)
        bad += visit.shaky + unread
        pages += visit.stored + visit.folded + unread
    return bad / pages if pages >= RECENT_READ else None


def _sum_counts(numbers: Iterable[Mapping[str, int]]) -> Counter[str]:
    counts = Counter[str]()
    for mapping in numbers:
        counts.update(mapping)
    return counts


def sparkline(visits: Sequence[Visit], now: datetime, days: int = DAYS) -> tuple[int, ...]:
    """Return new entries by day in the time zone of ``now``, from the earliest day to today."""
    found = Counter[date]()
    for visit in visits:
        if visit.new:
            found[visit.at.astimezone(now.tzinfo).date()] += visit.new
    return tuple(found[now.date() - timedelta(days=age)] for age in reversed(range(days)))
