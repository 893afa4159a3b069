"""How often a source speaks, and whether its silence is out of the ordinary for it.

With n gaps between the moments at which something came, together S seconds, and no other knowledge of the rate, a silence of g seconds
or more has the probability

    p = (S / (S + g)) ^ n

(the predictive distribution of exponential gaps whose rate is unknown, prior 1/rate: few gaps never make a silence improbable).
News are not spread evenly: nights, weekends and holidays are long gaps as well. So a silence is also measured by the longest one that the
source has had, and by nothing shorter than a long weekend.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from itertools import pairwise
from statistics import median

from newsportal.visits import Visit

IMPROBABLE = 0.005
"""One false word in two hundred silences that are longer than any before."""

LONGER = 1.5
"""Times the longest silence that the source has had."""

HOLIDAY = 4 * 86400.0
"""Seconds: three days without work and the rest of the fourth. Seen before or not, such a silence says nothing."""

NIGHT = 86400.0
"""Seconds: until then a silence is not worth a word."""

MIN_GAPS = 5
"""Fewer gaps tell no cadence."""

MAX_EVENTS = 200
"""Moments looked at, the newest: some weeks of a busy source, years of a slow one."""

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
