"""Adaptive hours (paper B): a source is visited once in every hour that is switched on.

Zhang, Kang, Wu: automatic Web news gathering and publishing, 2009, section 1: from 6:00 to 24:00 every region is visited every hour. An
hour that brought no page is switched off; when the hour after a switched-off one brings pages, it is switched on again
(「则恢复该区域该失效采集时间点」). The paper does not say what becomes of a region all of whose hours are off; here they all go on again.
Nor does it say when in the hour: here each source has its own minute, so that thousands do not come at the stroke.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime, timedelta, tzinfo

from newsportal.messages import Message, joined
from newsportal.schedule.past import Next, Past, Rules
from newsportal.schedule.spread import phase
from newsportal.visits import Visit

FROM_SIX = frozenset(range(6, 24))
"""6:00 to 24:00, the hours that the paper begins with."""


def hours_on(visits: Iterable[Visit], zone: tzinfo, first: frozenset[int] = FROM_SIX) -> frozenset[int]:
    """The hours that are switched on after these visits (newest first). A visit that could not read its list says nothing."""
    on = set(first)
    for visit in reversed(list(visits)):
        hour = visit.at.astimezone(zone).hour
        if visit.new:
            on |= {hour, (hour - 1) % 24} & first
        elif not visit.broken:
            on.discard(hour)
        on = on or set(first)
    return frozenset(on)


def by_hours(past: Past, rules: Rules, now: datetime) -> Next:
    """The next hour that is on, at the source's own minute; a visit at any minute is that hour's visit."""
    if past.last is None:
        return Next(now, Message("why.never"))
    first = rules.hours or FROM_SIX
    on = hours_on(past.visits, rules.zone, first)
    local = past.last.astimezone(rules.zone)
    over = local + timedelta(minutes=60 - local.minute, seconds=-local.second, microseconds=-local.microsecond - 1)
    at = next_in(on, rules.zone, over, phase(rules.source))
    off = sorted(first - on)
    hour = Message("why.hour", hour=f"{at.astimezone(rules.zone):%H}")
    return Next(at, joined(hour, Message("why.off", hours=", ".join(map(str, off)))) if off else hour)


def next_in(hours: frozenset[int], zone: tzinfo, after: datetime, share: float) -> datetime:
    """The first moment after ``after`` at ``share`` of one of these hours. Steps are of absolute time: summer time hurts nothing."""
    local = after.astimezone(zone)
    start = local.replace(minute=0, second=0, microsecond=0).astimezone(UTC)
    for ahead in range(50):  # two days: a summer-time night may lack the only hour
        moment = start + timedelta(hours=ahead + share)
        if moment > after and moment.astimezone(zone).hour in hours:
            return moment
    return after
