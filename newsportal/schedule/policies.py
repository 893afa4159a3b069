"""Past and rules of a source, and the schedules of the papers: intervals, weights (C, 2.1.1), hours and hub pages (B), result pages (A)."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta, tzinfo
from hashlib import blake2b
from math import log, sqrt
from typing import Final, NamedTuple

from newsportal.items.visits import MAX_CLOCK_SKEW, Visit
from newsportal.messages import Message, join_messages

USUAL_MINUTES = 60.0  # minutes between visits of an unknown source (paper A: every hour)
MIN_WAIT, MAX_WAIT = 10.0, 12 * 60.0
"""Minutes. Ten is considered polite for a feed; even a silent source is visited twice a day."""


@dataclass(frozen=True, slots=True)
class History:
    """History of a source. ``visits``: newest first; ``last``: last visit (``None``: never), ``failures``: consecutive visits without a
    readable list, ``rest_until``: end of a backoff it requested."""

    visits: Sequence[Visit] = ()
    last: datetime | None = None
    failures: int = 0
    rest_until: datetime | None = None

    @classmethod
    def from_visits(cls, visits: Sequence[Visit]) -> History:
        failures = next((index for index, visit in enumerate(visits) if not visit.broken), len(visits))
        return cls(visits, visits[0].at if visits else None, failures)

    def without_future_visits(self, now: datetime) -> History:
        """Return the past without visits dated after ``now``: if the clock was set back, the source is visited at once."""
        if self.last is None or self.last <= now + MAX_CLOCK_SKEW:
            return self
        return replace(self, last=None, visits=tuple(visit for visit in self.visits if visit.at <= now))


@dataclass(frozen=True, slots=True)
class Rules:
    """Scheduling rules of a source. Times in minutes.

    ``interval``: configured, overrides the policy. ``hours`` (0–23, in ``zone``): hours for visits; empty: all. ``weight`` of an index page
    (1–10). ``price``: value of a request, in entries times days of waiting (``learnt.price``); ``None``: its value for a source with a
    constant rate that is visited every ``usual`` minutes. ``source``: name used to spread visits.
    """

    source: str = ""
    policy: str = "learnt"
    interval: float | None = None
    usual: float = USUAL_MINUTES
    hours: frozenset[int] = frozenset()
    weight: float | None = None
    shortest: float = MIN_WAIT
    longest: float = MAX_WAIT
    price: float | None = None
    zone: tzinfo = UTC


@dataclass(frozen=True, slots=True)
class NextVisit:
    """Time of the next visit, and its reason. ``rate``: entries per day that count towards its share of a budget, if known."""

    at: datetime
    reason: Message
    rate: float | None = None


def minutes(number: float) -> timedelta:
    return timedelta(minutes=number)


def source_phase(name: str) -> float:
    """Return a source's offset within an hour or any other period: 0 ≤ offset < 1, evenly distributed over names."""
    return int.from_bytes(blake2b(name.encode("utf-8", "surrogatepass"), digest_size=4).digest(), "big") / 2**32


def fixed(past: History, rules: Rules, now: datetime) -> NextVisit:
    """Return the configured interval, or the usual one, after the last visit."""
    wait = rules.interval or rules.usual
    return NextVisit(now if past.last is None else past.last + minutes(wait), Message("schedule.interval", wait=float(wait)))


MAX_BACKOFF = 24 * 60.0  # minutes. A source that always fails is visited once a day.


def backoff_minutes(past: History, rules: Rules) -> float:
    """Return minutes to wait after the last visit: the interval, doubled per consecutive failure (at most a day, or the interval)."""
    interval = rules.interval or rules.usual
    return max(interval, min(interval * 2 ** min(past.failures, 10), MAX_BACKOFF)) if past.failures else 0.0


MIN_WEIGHT, MAX_WEIGHT = 1, 10  # weights of index pages
DEFAULT_WEIGHT = 5.0  # the weight of a source that has none


def period(weight: float, shortest: float, longest: float) -> float:
    """Return the minutes between two visits of an index page with this weight, between Min and Max.

        period = longest · (shortest / longest) ^ ((weight − 1) / 9)

    The paper only says 「根据一定计算逻辑」. Here every step of weight shortens the period by the same factor: weight 1 waits ``longest``,
    weight 10 ``shortest``, and the values between are spread over seconds as well as days.
    """
    share = (min(max(weight, MIN_WEIGHT), MAX_WEIGHT) - MIN_WEIGHT) / (MAX_WEIGHT - MIN_WEIGHT)
    return float(longest * (shortest / longest) ** share)


def by_weight(past: History, rules: Rules, now: datetime) -> NextVisit:
    weight = rules.weight or DEFAULT_WEIGHT
    wait = period(weight, rules.shortest, rules.longest)
    return NextVisit(
        now if past.last is None else past.last + minutes(wait), Message("schedule.weight", weight=float(weight), wait=round(wait))
    )


FIRST_HOURS = frozenset(range(6, 24))  # 6:00 to 24:00, the initial hours of the paper


def active_hours(visits: Iterable[Visit], zone: tzinfo, first: frozenset[int] = FIRST_HOURS) -> frozenset[int]:
    """Return the active hours after these visits (newest first). A visit that could not read its list has no effect."""
    active = set(first)
    for visit in reversed(list(visits)):
        hour = visit.at.astimezone(zone).hour
        if visit.new:
            active |= {hour, (hour - 1) % 24} & first
        elif not visit.broken:
            active.discard(hour)
        active = active or set(first)
    return frozenset(active)


def by_hours(past: History, rules: Rules, now: datetime) -> NextVisit:
    """Return the next active hour, at the source's own minute, so that thousands are not visited at once (paper B, section 1).

    From 6:00 to 24:00 a source is visited every hour. An hour without new pages is deactivated; when the hour after it has new pages, it is
    activated again (「则恢复该区域该失效采集时间点」). A source without active hours gets all of them back.
    """
    if past.last is None:
        return NextVisit(now, Message("schedule.never-visited"))
    first = rules.hours or FIRST_HOURS
    active = active_hours(past.visits, rules.zone, first)
    local = past.last.astimezone(rules.zone)
    next_hour = local + timedelta(minutes=60 - local.minute, seconds=-local.second, microseconds=-local.microsecond - 1)
    at = next_active_hour(active, rules.zone, next_hour, source_phase(rules.source))
    off = sorted(first - active)
    hour = Message("schedule.hour", hour=f"{at.astimezone(rules.zone):%H}")
    return NextVisit(at, join_messages(hour, Message("schedule.hours-off", hours=", ".join(map(str, off)))) if off else hour)


def next_active_hour(hours: frozenset[int], zone: tzinfo, after: datetime, share: float) -> datetime:
    """Return the first time after ``after`` at ``share`` of one of these hours. Steps are in absolute time, safe across summer time."""
    local = after.astimezone(zone)
    start = local.replace(minute=0, second=0, microsecond=0).astimezone(UTC)
    for offset in range(50):  # two days: the night of a time change may lack the only hour
        moment = start + timedelta(hours=offset + share)
        if moment > after and moment.astimezone(zone).hour in hours:
            return moment
    return after


MAX_PAGES: Final = 5  # pages (paper A: 「元引擎的广度搜索设置为 5 页」)
FULL_SHARE: Final = 0.5  # an hour with half of its entries new gets all pages: the last one then still has some
KAPPA: Final = 40.0  # entries: two pages of twenty
MIN_VISITS: Final = 6  # minimum number of visits: in the first ones everything is new


def result_pages(visits: Sequence[Visit], now: datetime, zone: tzinfo, *, usual: int, max_pages: int = MAX_PAGES) -> int:
    """Return the number of result pages of a search engine for the hour of ``now``; ``usual`` if too few ``visits`` (newest first).

    Paper A (Bai, Wang, Zhao 2009) reads five every hour and suggests adapting the number to the hour: at night most results are repeats.
    With n_h new ones among e_h entries of the visits at hour h, f the share of new ones over all hours, and κ entries as prior:

        fresh(h) = (n_h + κ·f) / (e_h + κ)        pages(h) = 1 + round((most − 1) · min(1, fresh(h) / enough))
    """
    read = [visit for visit in visits if visit.entries]
    if len(read) < MIN_VISITS:
        return usual
    hour = now.astimezone(zone).hour
    share = sum(visit.new for visit in read) / sum(visit.entries for visit in read)
    same_hour = [visit for visit in read if visit.at.astimezone(zone).hour == hour]
    fresh = (sum(visit.new for visit in same_hour) + KAPPA * share) / (sum(visit.entries for visit in same_hour) + KAPPA)
    return 1 + round((max_pages - 1) * min(1.0, fresh / FULL_SHARE))


# Hub pages of a region (paper B, section 1.3): which of those found are asked for in a visit, by what each has brought.
#
#     λ = (n + κ) / (d + κ′)      articles a day that a page was the first to name, in d days; those of ten days ago weigh half
#     T = √(2μ / λ)               between two requests of a page, μ the price of a request
#
# as in `learnt`, for an even rate: most channels bring too little for more. What a first request finds is an archive, and counts for
# nothing. A region may be a trap: a calendar, a list of lists, a parameter without end. Four things bound it: the depth below the seeds,
# the pages of a visit, MAX_HUBS pages in all, and of one shape of address MAX_TRIES pages that brought nothing for each that did.

HALF_LIFE_DAYS: Final = 10.0  # half-life of observations
PRIOR_RATE, PRIOR_DAYS = 12.0, 0.25  # prior rate of an unknown source, in entries per day, and its weight in days of observation
DAY: Final = 86_400.0
MAX_HUBS: Final = 200  # maximum number of hub pages kept per region; the largest known front page links to some hundred
MAX_TRIES: Final = 4
MAX_UNLINKED: Final = 30 * DAY  # seconds after which a page without links to it is removed


class HubPage(NamedTuple):
    """``depth``: links from a seed. Seconds since 1970: when a link to it was ``first`` and ``last`` seen, when it was last fetched
    (``asked``; 0: never). ``found``: articles it was the first to link to; ``recent``: the same without its first response, weighted at the
    time of ``asked`` (``None``: no response yet)."""

    depth: int
    first: float
    last: float
    asked: float = 0.0
    found: int = 0
    recent: float | None = None


def weight(seconds: float) -> float:
    """Return the weight of an observation of this age."""
    return float(0.5 ** (max(0.0, seconds) / (HALF_LIFE_DAYS * DAY)))


def hub_rate(page: HubPage, now: float) -> float:
    """Return articles per day."""
    watched = HALF_LIFE_DAYS / log(2) * (1 - weight(now - page.first))
    return ((page.recent or 0.0) * weight(now - page.asked) + PRIOR_RATE * PRIOR_DAYS) / (watched + PRIOR_DAYS)


def hub_interval(page: HubPage, rules: Rules, of_region: float | None, now: float) -> float:
    """Return the seconds between two requests of a page. ``of_region``: rate of the whole region, if known."""
    usual = rules.interval or rules.usual
    worth = rules.price if rules.price is not None else (of_region or PRIOR_RATE) * (usual / 1440) ** 2 / 2
    return min(sqrt(2 * worth / hub_rate(page, now)) * DAY, max(rules.longest, usual) * 60)


def add_hubs(pages: Mapping[str, HubPage], links: Iterable[str], depth: int, now: float) -> dict[str, HubPage]:
    """Return ``result_pages`` after reading a page at ``depth`` - 1 with these links."""
    found = {url: page for url, page in pages.items() if now - page.last < MAX_UNLINKED}
    for url in links:
        page = found.get(url)
        if page is not None:
            found[url] = page._replace(depth=min(depth, page.depth), last=now)
        elif len(found) < MAX_HUBS:
            found[url] = HubPage(depth, now, now)
    return found


def record_request(page: HubPage, now: float) -> HubPage:
    """Return ``page`` after it was requested."""
    return page._replace(asked=now, recent=page.recent and page.recent * weight(now - page.asked))


def record_articles(page: HubPage, number: int) -> HubPage:
    """Return ``page`` after it was read and had ``number`` new articles."""
    return page._replace(found=page.found + number, recent=0.0 if page.recent is None else page.recent + number)


def choose_hubs(
    pages: Mapping[str, HubPage], rules: Rules, of_region: float | None, now: float, *, depth: int, limit: int, began: float
) -> list[str]:
    """Return the pages to request now, in a visit that ``began`` then and may request ``limit``: new ones by depth, then due ones."""
    remaining = limit - sum(page.asked >= began for page in pages.values())
    shapes = {url: re.sub(r"\d+", "0", url) for url in pages}
    unproductive = Counter(shapes[url] for url, page in pages.items() if page.asked and not page.found)
    productive = Counter(shapes[url] for url, page in pages.items() if page.found)
    selected = []
    for url, page in sorted(pages.items(), key=lambda item: (item[1].asked > 0, item[1].depth)):
        if page.depth > depth or page.asked >= began:
            continue
        if not page.asked:
            due = unproductive[shapes[url]] < MAX_TRIES * (1 + productive[shapes[url]])
            unproductive[shapes[url]] += due
        else:
            due = page.asked + hub_interval(page, rules, of_region, now) - rules.shortest * 60 <= now
        if due:
            selected.append(url)
    return selected[: max(0, remaining)]
