"""The learning schedule: a source is visited when enough of its entries are expected to have waited long enough.

A visit finds what was published since the previous one; a later visit saves requests, but entries wait. With λ(s) the publication rate of a
source (:mod:`cadence`), t₀ its last visit and μ the price of a request, the next visit is at the first t with

    W(t) = ∫ λ(s) · (s − t₀) ds  ≥  μ        from t₀ to t

For a constant rate W = λT²/2, so T = √(2μ/λ): the number of visits grows with the square root of the rate, which minimizes the sum of all
delays for a given number of requests (Sia, Cho, Cho: Efficient Monitoring Algorithm for Fast News Alerts, IEEE TKDE 19(7), 2007; the price
is the Lagrange multiplier of the budget). If the rate varies, W jumps with every expected batch, more so the longer the source was not
visited: a bulletin at eight o'clock is fetched just after eight, and nights cost nothing. A visit within a peak is postponed while the next
cell is expected to bring more, times the wait until the following visit, than has accumulated: λ(t) · (t₂ − t) > ∫λ, the same paper's
condition for optimal times. (The optimal sequence, by dynamic programming, waited 2 % less in a trial, but loops over all cells.)
"""

from collections.abc import Sequence
from datetime import datetime

import numpy as np

from newsportal.messages import Message, join_messages
from newsportal.schedule.cadence import CELL_SECONDS, Cadence, cadence
from newsportal.schedule.policies import MAX_WAIT, MIN_WAIT, History, NextVisit, Rules, minutes

BISECTION_STEPS = 60  # bisection steps: more than the precision of a double
MIN_PRICE, MAX_PRICE = 1e-12, 1e9


def price(rates: Sequence[float], per_hour: float, *, shortest: float = MIN_WAIT, longest: float = MAX_WAIT) -> float:
    """Return the price, in entries times days, at which sources with these ``rates`` (entries a day) are visited ``per_hour`` times in all.

    Intervals are limited to between ``shortest`` and ``longest`` minutes; a budget beyond these limits gives the limiting price.
    """
    values = np.asarray(rates, dtype=np.float64)
    low, high = MIN_PRICE, MAX_PRICE
    for _ in range(BISECTION_STEPS):
        middle = float(np.sqrt(low * high))
        if float(np.clip(np.sqrt(values / (2 * middle)), 1440 / longest, 1440 / shortest).sum()) > per_hour * 24:
            low = middle
        else:
            high = middle
    return high


DAY_SECONDS = 86_400.0


def learnt(past: History, rules: Rules, now: datetime) -> NextVisit:
    """Return the time at which W reaches the price, between ``shortest`` and ``longest`` after the last visit."""
    found = cadence(past, rules, now)
    if past.last is None or past.last < now - minutes(rules.longest):
        return NextVisit(now, Message("schedule.not-visited-lately" if past.last else "schedule.never-visited"), found.spent)
    least = max(rules.shortest, requested_wait(past, rules))
    # value of a request for a single source with a constant rate that is visited every ``usual`` minutes: λT²/2
    worth = rules.price if rules.price is not None else found.daily * (rules.usual / 1440) ** 2 / 2
    wait = expected_wait(found, worth)
    at = past.last + minutes(min(max(wait, least), max(rules.longest, least)))
    rate = Message("schedule.entries-per-day", number=f"{found.daily:.3g}")
    if wait < least:
        bound = Message("schedule.requested-wait" if least > rules.shortest else "schedule.minimum", wait=round(least))
    elif wait > rules.longest:
        bound = Message("schedule.maximum", wait=round(rules.longest))
    else:
        bound = Message("schedule.entries-expected")
    return NextVisit(at, join_messages(rate, *filter(None, (found.doubt,)), bound), found.spent)


def expected_wait(found: Cadence, price: float) -> float:
    """Return minutes from the last visit until W reaches the price outside a peak; ``inf`` if that is beyond the horizon."""
    times = found.middles / DAY_SECONDS
    counts, moments = np.cumsum(found.ahead), np.cumsum(found.ahead * times)
    index = int(np.searchsorted(moments, price))
    if index >= len(moments):
        return float("inf")
    before = float(moments[index - 1]) if index else 0.0
    share = (price - before) / (float(moments[index]) - before)
    for later in range(index, min(index + MAX_POSTPONED, len(moments) - 1)):
        following = int(np.searchsorted(moments[later:] - times[later] * (counts[later:] - counts[later]), price + moments[later]))
        if found.ahead[later + 1] * following <= PEAK_FACTOR * counts[later]:
            break
        index, share = later + 1, 1.0
    return float(found.starts[index] + share * CELL_SECONDS) / 60


PEAK_FACTOR = 1.5  # times the accumulated entries: below it, cells of ten minutes are too coarse to distinguish a peak from a constant rate
MAX_POSTPONED = 6  # cells (an hour): maximum postponement, however high the peak

MAX_REQUESTED_WAIT = 6 * 60.0
"""Minutes. A feed's ``ttl`` of a day or a year is its software's default; a Retry-After is always obeyed (``rest_until``)."""


def requested_wait(past: History, rules: Rules) -> float:
    """Return the minutes the source last asked to wait (ttl, sy:updatePeriod)."""
    wait = next((visit.asked_wait for visit in past.visits if not (visit.broken or visit.not_modified)), None)
    return min(wait / 60, MAX_REQUESTED_WAIT, rules.longest) if wait and wait > 0 else 0.0


def forecast(past: History, rules: Rules, now: datetime) -> tuple[float, ...]:
    """Return the expected entries in each of the next 24 hours, from the current one."""
    found = cadence(History(past.visits, now, past.failures), rules, now)
    per_hour = int(3600 // CELL_SECONDS)
    ahead = found.ahead[: 24 * per_hour]
    return tuple(float(part.sum()) for part in np.array_split(ahead, 24)) if len(ahead) else (0.0,) * 24
