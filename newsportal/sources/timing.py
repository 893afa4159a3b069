"""The schedule over ``sources.yaml`` and the store: what is asked of each source's schedule, and which sources are due."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final
from zoneinfo import ZoneInfo

from newsportal.schedule import Next, Past, Rules, next_visit, price
from newsportal.visits import SKEW

if TYPE_CHECKING:
    from newsportal.sources.models import Sources
    from newsportal.store.results import SourceState
    from newsportal.store.subscriptions import Subscription
    from newsportal.visits import Visit

LOOKED_BACK: Final = 400
"""Visits that a cadence is learnt from: two weeks of hourly ones."""

ENGINE: Final = "engine:"
ENGINE_SHORTEST: Final = 60.0
"""Minutes. Search engines are asked every hour (paper A); who asks more often is taken for a robot and gets a captcha."""

AT_THE_LATEST: Final = timedelta(days=1)
"""A visit that was planned for later than that (by a clock that was wrong then) is made after a day."""

RELIED_ON: Final = timedelta(days=14)
"""A hub that told us nothing for so long may have forgotten us."""

NET: Final = 240.0
"""Minutes between visits of a source whose hub tells us what is new: half a day's news is never missed by more than that."""

DAY_HOURS: Final = 24

LONGEST_REST: Final = timedelta(days=8)
"""Nobody is asked to rest for longer: a quarantine's longest wait is a week. A rest until later than that from now was written by a clock
that was wrong, and is not believed: no source rests for ever."""


def rules(sources: Sources, source: Any, worth: float | None = None) -> Rules:
    """What is asked of the schedule of one source of the file (or of a search engine). ``worth``: the price of a request (:func:`worth`).

    A source's interval holds whatever the policy; photo stories are watched by their weight (paper C).
    """
    said = sources.schedule
    hours = frozenset(getattr(source, "hours", ()))
    engine = source.key.startswith(ENGINE)
    found = Rules(
        source.key,
        said.policy,
        interval=getattr(source, "interval", None),
        usual=max(said.usual, ENGINE_SHORTEST) if engine else said.usual,
        hours=hours if len(hours) < DAY_HOURS else frozenset(),
        shortest=max(said.shortest, ENGINE_SHORTEST) if engine else said.shortest,
        longest=max(said.longest, ENGINE_SHORTEST) if engine else said.longest,
        price=worth,
        zone=zone(sources.portal.timezone),
    )
    if (weight := getattr(source, "weight", None)) is None:
        return found
    return replace(found, policy="weight", weight=weight, shortest=source.min_period, longest=source.max_period)


@lru_cache(maxsize=16)
def zone(name: str) -> ZoneInfo:
    return ZoneInfo(name)


def worth(sources: Sources, states: Iterable[SourceState], keys: Collection[str]) -> float | None:
    """The price of a request at which the sources of these keys, as far as their rates are known, keep to the budget; ``None``: none is."""
    wanted = keys if isinstance(keys, frozenset | set | dict) else frozenset(keys)
    rates = [state.rate for state in states if state.rate is not None and state.source in wanted]
    if not rates:
        return None
    said = sources.schedule
    each = said.per_hour / len(wanted) if said.per_hour else 60 / said.usual
    return price(rates, each * len(rates), shortest=said.shortest, longest=said.longest)


def plan(state: SourceState, visits: Sequence[Visit], asked: Rules, now: datetime) -> Next:
    """The next visit as the store's knowledge gives it. ``visits`` newest first."""
    return next_visit(_past(state, [visit for visit in visits if visit.at <= now + SKEW], now), asked, now)


def _past(state: SourceState, visits: Sequence[Visit], now: datetime) -> Past:
    return Past(visits, visits[0].at if visits else state.last_run, state.failures_in_row, resting(state, now))


def resting(state: SourceState, now: datetime) -> datetime | None:
    """Until when the source asked to be left alone; ``None`` if it did not, or in a time that cannot be."""
    until = state.rest_until
    return until if until is not None and until <= now + LONGEST_REST else None


def keeps(asked: Rules) -> bool:
    """Whether the file says when the source is visited, and its visits have no say in it."""
    return asked.interval is not None or asked.policy in ("fixed", "weight")


def tells(subscribed: Subscription, now: datetime) -> bool:
    """Whether a hub can be relied upon: it has promised to tell us, and did so of late."""
    return subscribed.holds(now) and subscribed.pushed is not None and now - subscribed.pushed < RELIED_ON


def slower(asked: Rules) -> Rules:
    """Rules for a source whose hub tells us what is new: visits are a safety net. An interval of the file holds."""
    return asked if asked.interval else replace(asked, usual=max(asked.usual, NET), shortest=max(asked.shortest, min(NET, asked.longest)))


def due_at(state: SourceState | None, asked: Rules, now: datetime) -> datetime:
    """When a source is due: as planned after its last visit, or by the rules that need no visits (whose file may have changed since).

    A hub's word is a plan for an earlier moment, and holds for every source. A plan that is older than the last visit is none.
    """
    if state is None or state.last_run is None or state.last_run > now + SKEW:
        rest = resting(state, now) if state else None
        return next_visit(Past(rest_until=rest), replace(asked, policy="fixed"), now).at  # at once, in its hours: no past to learn from
    planned = state.next_visit if state.next_visit is not None and state.next_visit >= state.last_run else None
    if planned is None or keeps(asked):
        found = next_visit(_past(state, (), now), asked, now).at
        return found if planned is None else _rested(min(found, planned), state, now)
    planned = min(planned, state.last_run + max(AT_THE_LATEST, timedelta(minutes=asked.longest)))
    return _rested(planned, state, now)


def _rested(moment: datetime, state: SourceState, now: datetime) -> datetime:
    until = resting(state, now)
    return moment if until is None else max(moment, until)
