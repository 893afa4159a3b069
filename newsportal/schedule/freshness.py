"""Timing in HTTP responses: freshness of a feed (HTTP caching), requested delays (Retry-After), and validators (ETag, Last-Modified) that
return 304 for too long."""

import re
from collections.abc import Collection, Sequence
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from itertools import pairwise, takewhile
from statistics import median
from typing import Final

from newsportal.items.visits import Visit

MAX_AGE: Final = re.compile(r"(?:^|[,\s])max-age\s*=\s*\"?([0-9]{1,9})", re.IGNORECASE)
MAX_CACHED: Final = 3600.0  # seconds. A max-age of a day is a server-wide default, rarely what a newsroom means.
WEEK: Final = 7 * 24
MAX_WAIT: Final = 86_400.0  # seconds. A Retry-After of ten years means: not today.


def fresh_for(cache_control: str | None, expires: str | None, date: str | None) -> float | None:
    """Return for how many seconds a response is fresh: max-age, or Expires minus Date; at most an hour, ``None`` if unknown."""
    if cache_control is not None and (found := MAX_AGE.search(cache_control)):
        seconds = float(found[1])
    elif (until := _moment(expires)) is not None and (since := _moment(date)) is not None:
        seconds = (until - since).total_seconds()
    else:
        return None
    return min(seconds, MAX_CACHED) if seconds > 0 else None


def retry_after(value: str | None, now: datetime) -> float | None:
    """Return the seconds requested by Retry-After (a number or a date), at most a day; ``None`` if it is invalid or in the past."""
    text = (value or "").strip()
    if text.isdecimal():
        seconds = float(text[:12])
    elif (until := _moment(text)) is not None:
        seconds = (until - now).total_seconds()
    else:
        return None
    return min(seconds, MAX_WAIT) if seconds > 0 else None


def skip_for(hours: Collection[int], days: Collection[int], now: datetime) -> float | None:
    """Return the seconds until the first hour that is not skipped; ``None`` if this one is not, or all are.

    ``hours`` 0–23 and ``days`` 0–6 (Monday first) in GMT, as in RSS.
    """
    start = now.astimezone(UTC).replace(minute=0, second=0, microsecond=0)
    for offset in range(WEEK + 1):
        moment = start + timedelta(hours=offset)
        if moment.hour not in hours and moment.weekday() not in days:
            return (moment - now).total_seconds() if offset else None
    return None


def _moment(text: str | None) -> datetime | None:
    try:
        moment = parsedate_to_datetime(text) if text else None
    except (ValueError, TypeError, OverflowError):
        return None
    return moment.replace(tzinfo=UTC) if moment is not None and moment.tzinfo is None else moment


MIN_SAME: Final = 12  # minimum number of consecutive "not modified" responses to be suspicious
STUCK_FACTOR: Final = 6.0
"""Multiple of the usual interval between productive visits: a steady source is silent that long by chance once in 400 intervals."""


def is_stuck(visits: Sequence[Visit]) -> bool:
    """Return whether "not modified" is implausible. ``visits``: newest first; a complete response resets the count."""
    same = list(takewhile(lambda visit: visit.not_modified, visits))
    moments = [visit.at for visit in visits[len(same) :] if visit.new]
    if len(same) < MIN_SAME or len(moments) < 3:
        return False
    usual = median((later - before).total_seconds() for later, before in pairwise(moments))
    return (same[0].at - same[-1].at).total_seconds() > STUCK_FACTOR * usual
