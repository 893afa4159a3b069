"""What answers say of time: how long a feed promises not to change (HTTP caching), when a server wants to be asked again (Retry-After),
and validators (ETag, Last-Modified) that answer 304 for too long."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from itertools import pairwise, takewhile
from statistics import median
from typing import Final

from newsportal.items.visits import Visit

MAX_AGE: Final = re.compile(r"(?:^|[,\s])max-age\s*=\s*\"?([0-9]{1,9})", re.IGNORECASE)
CACHED_AT_MOST: Final = 3600.0  # seconds. A day's max-age is what a server says of all its files, seldom what a newsroom means.
WEEK: Final = 7 * 24
MAX_WAIT: Final = 86_400.0  # seconds. A Retry-After of ten years means: not today.


def cached_for(cache_control: str | None, expires: str | None, date: str | None) -> float | None:
    """Seconds for which an answer stays fresh: max-age, else Expires less Date; at most an hour, ``None`` where nothing of use is said."""
    if cache_control is not None and (found := MAX_AGE.search(cache_control)):
        seconds = float(found[1])
    elif (until := _moment(expires)) is not None and (since := _moment(date)) is not None:
        seconds = (until - since).total_seconds()
    else:
        return None
    return min(seconds, CACHED_AT_MOST) if seconds > 0 else None


def retry_after(written: str | None, now: datetime) -> float | None:
    """Seconds that a Retry-After asks to wait (a number or a date), at most a day; ``None`` where it asks for none that is to come."""
    text = (written or "").strip()
    if text.isdecimal():
        seconds = float(text[:12])
    elif (until := _moment(text)) is not None:
        seconds = (until - now).total_seconds()
    else:
        return None
    return min(seconds, MAX_WAIT) if seconds > 0 else None


def skipped_for(hours: Collection[int], days: Collection[int], now: datetime) -> float | None:
    """Seconds until the first hour that is not skipped; ``None`` where this one is not, or all are.

    ``hours`` 0–23 and ``days`` 0–6 (Monday first) in GMT, as RSS has them.
    """
    start = now.astimezone(UTC).replace(minute=0, second=0, microsecond=0)
    for ahead in range(WEEK + 1):
        moment = start + timedelta(hours=ahead)
        if moment.hour not in hours and moment.weekday() not in days:
            return (moment - now).total_seconds() if ahead else None
    return None


def _moment(text: str | None) -> datetime | None:
    try:
        moment = parsedate_to_datetime(text) if text else None
    except (ValueError, TypeError, OverflowError):
        return None
    return moment.replace(tzinfo=UTC) if moment is not None and moment.tzinfo is None else moment


MIN_SAME: Final = 12  # answers of "not modified" in a row before which nothing is suspected
TIMES: Final = 6.0
"""Times the usual wait between two visits that brought something: chance lets a steady source be silent that long once in 400 waits."""


def stuck(visits: Sequence[Visit]) -> bool:
    """Whether "not modified" is hardly believable any more. ``visits`` newest first; a page read in full makes the count begin anew."""
    same = list(takewhile(lambda visit: visit.not_modified, visits))
    bringing = [visit.at for visit in visits[len(same) :] if visit.new]
    if len(same) < MIN_SAME or len(bringing) < 3:
        return False
    usual = median((one - before).total_seconds() for one, before in pairwise(bringing))
    return (same[0].at - same[-1].at).total_seconds() > TIMES * usual
