"""When a source is visited next. Pure: the state and the clock come as arguments.

The rule here is a fixed interval within the source's hours, with a longer wait after failures; a source that rests is left alone.
Index pages of photo stories have a weight in place of an interval (:func:`period`).
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime, timedelta

BACKOFF_CAP = 24 * 60
"""Minutes. A source that always fails is asked once a day."""

LIGHTEST, HEAVIEST = 1, 10
"""Weights of index pages."""


def period(weight: float, shortest: float, longest: float) -> float:
    """Minutes between two visits of an index page of this weight (paper C, 2.1.1: the heavier, the shorter, between Min and Max).

        period = longest · (shortest / longest) ^ ((weight − 1) / 9)

    The paper says 「根据一定计算逻辑」 and no more. Here every step of weight shortens the period by the same factor: weight 1 waits
    ``longest``, weight 10 ``shortest``, and what lies between spreads over seconds and days alike.
    """
    share = (min(max(weight, LIGHTEST), HEAVIEST) - LIGHTEST) / (HEAVIEST - LIGHTEST)
    return float(longest * (shortest / longest) ** share)


@dataclass(frozen=True, slots=True)
class Visits:
    """What is known of a source's visits. ``last`` is None before the first; ``failures`` counts those in a row."""

    last: datetime | None = None
    failures: int = 0
    rest_until: datetime | None = None


def next_visit(visits: Visits, interval: float, hours: Collection[int], now: datetime) -> datetime:
    """The moment of the next visit, not before ``now``.

    ``interval`` in minutes, doubled per failure in a row (at most a day, never shorter than ``interval``). ``hours`` are hours of
    the day (0–23) in the zone of ``now``; an empty collection means every hour.
    """
    wait = max(interval, min(interval * 2 ** min(visits.failures, 10), BACKOFF_CAP))
    moment = now if visits.last is None else max(now, visits.last + timedelta(minutes=wait))
    if visits.rest_until is not None:
        moment = max(moment, visits.rest_until)
    if not hours:
        return moment
    local = moment.astimezone(now.tzinfo)
    for ahead in range(25):
        hour = local if ahead == 0 else (local + timedelta(hours=ahead)).replace(minute=0, second=0, microsecond=0)
        if hour.hour in hours:
            return hour
    return moment


def due(visits: Visits, interval: float, hours: Collection[int], now: datetime) -> bool:
    """Whether the source is to be visited at ``now``."""
    return next_visit(visits, interval, hours, now) <= now
