"""Schedules by a fixed interval, by the weight of an index page (paper C, 2.1.1) and by adaptive hours (paper B)."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime, timedelta, tzinfo
from hashlib import blake2b

from newsportal.messages import Message, joined
from newsportal.schedule.past import Next, Past, Rules, minutes
from newsportal.visits import Visit


def phase(name: str) -> float:
    """Where in an hour, or in any other period, a source's turn is: from 0 to below 1, even over many names."""
    return int.from_bytes(blake2b(name.encode("utf-8", "surrogatepass"), digest_size=4).digest(), "big") / 2**32


def fixed(past: Past, rules: Rules, now: datetime) -> Next:
    """The interval of the file, else the usual one, after the last visit."""
    wait = rules.interval or rules.usual
    return Next(now if past.last is None else past.last + minutes(wait), Message("why.interval", wait=float(wait)))


CAP = 24 * 60.0
"""Minutes. A source that always fails is asked once a day."""


def backed_off(past: Past, rules: Rules) -> float:
    """Minutes to wait after the last visit: the interval, doubled per failure in a row (at most a day, never shorter than the interval)."""
    interval = rules.interval or rules.usual
    return max(interval, min(interval * 2 ** min(past.failures, 10), CAP)) if past.failures else 0.0


LIGHTEST, HEAVIEST = 1, 10
"""Weights of index pages."""

MIDDLE = 5.0
"""The weight of a source that has none."""


def period(weight: float, shortest: float, longest: float) -> float:
    """Minutes between two visits of an index page of this weight: the heavier, the shorter, between Min and Max.

        period = longest · (shortest / longest) ^ ((weight − 1) / 9)

    The paper says 「根据一定计算逻辑」 and no more. Here every step of weight shortens the period by the same factor: weight 1 waits
    ``longest``, weight 10 ``shortest``, and what lies between spreads over seconds and days alike.
    """
    share = (min(max(weight, LIGHTEST), HEAVIEST) - LIGHTEST) / (HEAVIEST - LIGHTEST)
    return float(longest * (shortest / longest) ** share)


def by_weight(past: Past, rules: Rules, now: datetime) -> Next:
    """The period of the source's weight after its last visit."""
    weight = rules.weight or MIDDLE
    wait = period(weight, rules.shortest, rules.longest)
    return Next(now if past.last is None else past.last + minutes(wait), Message("why.weight", weight=float(weight), wait=round(wait)))


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
    """The next hour that is on, at the source's own minute, so that thousands do not come at the stroke (paper B, section 1).

    From 6:00 to 24:00 a source is visited every hour. An hour without new pages is switched off; when the hour after a switched-off one
    brings pages, it is switched on again (「则恢复该区域该失效采集时间点」). A source all of whose hours are off gets all of them back.
    """
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
