"""The past and the rules of a source, and the papers' schedules: an interval, weights (paper C, 2.1.1), adaptive hours (B), breadth (A)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta, tzinfo
from hashlib import blake2b
from typing import Final

from newsportal.items.visits import SKEW, Visit
from newsportal.messages import Message, joined

USUAL = 60.0  # minutes between visits of a source of which nothing is known (paper A: every hour)
SHORTEST, LONGEST = 10.0, 12 * 60.0
"""Minutes. Ten are what site owners call polite for a feed; twice a day even a silent source is looked at."""


@dataclass(frozen=True, slots=True)
class Past:
    """What is known of a source. ``visits`` newest first; ``last`` when it was visited last (``None``: never), ``failures`` how often in a
    row no list could be read since, ``rest_until`` until when it asked to be left alone."""

    visits: Sequence[Visit] = ()
    last: datetime | None = None
    failures: int = 0
    rest_until: datetime | None = None

    @classmethod
    def of(cls, visits: Sequence[Visit]) -> Past:
        failures = next((place for place, visit in enumerate(visits) if not visit.broken), len(visits))
        return cls(visits, visits[0].at if visits else None, failures)

    def until(self, now: datetime) -> Past:
        """The past as it can be: where the clock was put back since, visits of tomorrow tell nothing, and the source is visited at once."""
        if self.last is None or self.last <= now + SKEW:
            return self
        return replace(self, last=None, visits=tuple(visit for visit in self.visits if visit.at <= now))


@dataclass(frozen=True, slots=True)
class Rules:
    """What is asked of a source's schedule. Times in minutes.

    ``interval`` as the file says it: it holds whatever the policy. ``hours`` (0–23, in ``zone``): others are left out; empty: none is.
    ``weight`` of an index page (1–10). ``price``: what a request is worth, in entries times days of waiting (``price.price``); ``None``:
    what it would be to a source of an even rate that is visited every ``usual`` minutes. ``source`` is the name by which visits are spread.
    """

    source: str = ""
    policy: str = "learnt"
    interval: float | None = None
    usual: float = USUAL
    hours: frozenset[int] = frozenset()
    weight: float | None = None
    shortest: float = SHORTEST
    longest: float = LONGEST
    price: float | None = None
    zone: tzinfo = UTC


@dataclass(frozen=True, slots=True)
class Next:
    """When a source is visited next, and why then. ``rate``: entries a day by which its share of a budget counts, if known."""

    at: datetime
    why: Message
    rate: float | None = None


def minutes(number: float) -> timedelta:
    return timedelta(minutes=number)


def phase(name: str) -> float:
    """Where in an hour, or in any other period, a source's turn is: from 0 to below 1, even over many names."""
    return int.from_bytes(blake2b(name.encode("utf-8", "surrogatepass"), digest_size=4).digest(), "big") / 2**32


def fixed(past: Past, rules: Rules, now: datetime) -> Next:
    """The interval of the file, else the usual one, after the last visit."""
    wait = rules.interval or rules.usual
    return Next(now if past.last is None else past.last + minutes(wait), Message("why.interval", wait=float(wait)))


CAP = 24 * 60.0  # minutes. A source that always fails is asked once a day.


def backed_off(past: Past, rules: Rules) -> float:
    """Minutes to wait after the last visit: the interval, doubled per failure in a row (at most a day, never shorter than the interval)."""
    interval = rules.interval or rules.usual
    return max(interval, min(interval * 2 ** min(past.failures, 10), CAP)) if past.failures else 0.0


LIGHTEST, HEAVIEST = 1, 10  # weights of index pages
MIDDLE = 5.0  # the weight of a source that has none


def period(weight: float, shortest: float, longest: float) -> float:
    """Minutes between two visits of an index page of this weight: the heavier, the shorter, between Min and Max.

        period = longest · (shortest / longest) ^ ((weight − 1) / 9)

    The paper says 「根据一定计算逻辑」 and no more. Here every step of weight shortens the period by the same factor: weight 1 waits
    ``longest``, weight 10 ``shortest``, and what lies between spreads over seconds and days alike.
    """
    share = (min(max(weight, LIGHTEST), HEAVIEST) - LIGHTEST) / (HEAVIEST - LIGHTEST)
    return float(longest * (shortest / longest) ** share)


def by_weight(past: Past, rules: Rules, now: datetime) -> Next:
    weight = rules.weight or MIDDLE
    wait = period(weight, rules.shortest, rules.longest)
    return Next(now if past.last is None else past.last + minutes(wait), Message("why.weight", weight=float(weight), wait=round(wait)))


FROM_SIX = frozenset(range(6, 24))  # 6:00 to 24:00, the hours that the paper begins with


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


MOST: Final = 5  # pages (paper A: 「元引擎的广度搜索设置为 5 页」)
ENOUGH: Final = 0.5  # an hour half of whose entries are new gets all pages: the last of them then still holds some
KAPPA: Final = 40.0  # entries: two pages of twenty
MIN_VISITS: Final = 6  # visits before which nothing is learnt: the first ones bring what is new to us alone


def pages(visits: Sequence[Visit], now: datetime, zone: tzinfo, *, usual: int, most: int = MOST) -> int:
    """Result pages of a search engine for the hour of ``now``; ``usual`` while too little is known. ``visits`` newest first.

    Paper A (Bai, Wang, Zhao 2009) reads five every hour and wishes that the number followed the hour: at night most results are repeats.
    With n_h new ones among e_h entries of the visits at hour h, f the share of new ones over all hours, and κ entries of doubt:

        fresh(h) = (n_h + κ·f) / (e_h + κ)        pages(h) = 1 + round((most − 1) · min(1, fresh(h) / enough))
    """
    read = [visit for visit in visits if visit.entries]
    if len(read) < MIN_VISITS:
        return usual
    hour = now.astimezone(zone).hour
    share = sum(visit.new for visit in read) / sum(visit.entries for visit in read)
    here = [visit for visit in read if visit.at.astimezone(zone).hour == hour]
    fresh = (sum(visit.new for visit in here) + KAPPA * share) / (sum(visit.entries for visit in here) + KAPPA)
    return 1 + round((most - 1) * min(1.0, fresh / ENOUGH))
