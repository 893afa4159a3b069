"""For how long a feed says that it does not change: caches' headers (RFC 9111), skipHours and skipDays (RSS 2.0)."""

from __future__ import annotations

import re
from collections.abc import Collection
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from typing import Final

MAX_AGE: Final = re.compile(r"(?:^|[,\s])max-age\s*=\s*\"?([0-9]{1,9})", re.IGNORECASE)

CACHED_AT_MOST: Final = 3600.0
"""Seconds. A day's max-age is what a server says of all its files, seldom what a newsroom means."""

WEEK: Final = 7 * 24


def cached_for(cache_control: str | None, expires: str | None, date: str | None) -> float | None:
    """Seconds for which an answer stays fresh: max-age, else Expires less Date; at most an hour, ``None`` where nothing of use is said."""
    if cache_control is not None and (found := MAX_AGE.search(cache_control)):
        seconds = float(found[1])
    elif (until := _moment(expires)) is not None and (since := _moment(date)) is not None:
        seconds = (until - since).total_seconds()
    else:
        return None
    return min(seconds, CACHED_AT_MOST) if seconds > 0 else None


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
