"""The schedule of the sources: which spider visits each, which are due, and when each is visited next; and the health of each, as shown by
the command line, the portal and ``doctor``."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, Final
from zoneinfo import ZoneInfo

from newsportal.items.visits import MAX_CLOCK_SKEW, Visit
from newsportal.messages import Message, join_messages, reason_message
from newsportal.schedule import next_visit
from newsportal.schedule.health import STATES, Health, health, merge_visits, sparkline
from newsportal.schedule.learnt import forecast, price
from newsportal.schedule.policies import History, NextVisit, Rules, active_hours
from newsportal.store.results import SourceState

if TYPE_CHECKING:
    from newsportal.sources.models import Sources
    from newsportal.store.crawl_state import Subscription
    from newsportal.store.store import Store

LOOKED_BACK: Final = 400  # visits from which a cadence is learned: two weeks of hourly ones
ENGINE: Final = "engine:"
ENGINE_SHORTEST: Final = 60.0
"""Minutes. Search engines are queried hourly (paper A); more frequent queries are treated as a robot's and get a captcha."""

AT_THE_LATEST: Final = timedelta(days=1)
"""A visit planned further ahead (by a clock that was wrong) is made after a day."""

RELIED_ON: Final = timedelta(days=14)  # a hub without pushes for this time may have dropped our subscription
NET: Final = 240.0  # minutes between visits of a source with WebSub pushes: limits what a failed hub can delay

LONGEST_REST: Final = timedelta(days=8)
"""The longest plausible pause: a quarantine lasts a week at most. A later end is a wrong clock's and ignored: none lasts forever."""


def rules(sources: Sources, source: Any, request_price: float | None = None) -> Rules:
    """Return the scheduling rules for a source of the file, or for a search engine. ``request_price`` as of :func:`request_price`. A
    source's interval overrides the policy; photo stories are scheduled by their weight (paper C)."""
    schedule = sources.schedule
    hours = frozenset(getattr(source, "hours", ()))
    least = ENGINE_SHORTEST if source.key.startswith(ENGINE) else 0.0
    found = Rules(
        source.key, schedule.policy, interval=getattr(source, "interval", None), usual=max(schedule.usual, least),
        hours=hours if len(hours) < 24 else frozenset(), shortest=max(schedule.shortest, least), longest=max(schedule.longest, least),
        price=request_price, zone=ZoneInfo(sources.portal.timezone),
    )  # fmt: skip
    if (weight := getattr(source, "weight", None)) is None:
        return found
    return replace(found, policy="weight", weight=weight, shortest=source.min_period, longest=source.max_period)


def request_price(sources: Sources, states: Iterable[SourceState], keys: Collection[str]) -> float | None:
    """Return the price of a request at which the sources with these keys and known rates stay within the budget; ``None`` without rates."""
    selected = keys if isinstance(keys, frozenset | set | dict) else frozenset(keys)
    rates = [state.rate for state in states if state.rate is not None and state.source in selected]
    if not rates:
        return None
    schedule = sources.schedule
    each = schedule.per_hour / len(selected) if schedule.per_hour else 60 / schedule.usual
    return price(rates, each * len(rates), shortest=schedule.shortest, longest=schedule.longest)


def plan(state: SourceState, visits: Sequence[Visit], rules: Rules, now: datetime) -> NextVisit:
    """Return the next visit given the stored state. ``visits`` newest first."""
    return next_visit(_past(state, [visit for visit in visits if visit.at <= now + MAX_CLOCK_SKEW], now), rules, now)


def _past(state: SourceState, visits: Sequence[Visit], now: datetime) -> History:
    return History(visits, visits[0].at if visits else state.last_run, state.failures_in_row, paused_until(state, now))


def paused_until(state: SourceState, now: datetime) -> datetime | None:
    """Return the end of the source's pause; ``None`` if it has none, or an implausible one."""
    until = state.rest_until
    return until if until is not None and until <= now + LONGEST_REST else None


def is_fixed(rules: Rules) -> bool:
    """Return whether the file determines the visits of the source, regardless of its history."""
    return rules.interval is not None or rules.policy in ("fixed", "weight")


def is_reliable(subscribed: Subscription, now: datetime) -> bool:
    """Return whether a hub is reliable: the subscription is valid, and it has pushed recently."""
    return subscribed.is_valid(now) and subscribed.pushed is not None and now - subscribed.pushed < RELIED_ON


def with_pushes(rules: Rules) -> Rules:
    """Return the rules for a source with WebSub pushes: visits are a safety net. An interval of the file overrides."""
    return rules if rules.interval else replace(rules, usual=max(rules.usual, NET), shortest=max(rules.shortest, min(NET, rules.longest)))


def due_at(state: SourceState | None, rules: Rules, now: datetime) -> datetime:
    """Return when a source is due: as planned after its last visit (or by a push; older plans are ignored), or by rules independent of its
    history, since the file may have changed."""
    until = paused_until(state, now) if state else None
    if state is None or state.last_run is None or state.last_run > now + MAX_CLOCK_SKEW:
        return next_visit(History(rest_until=until), replace(rules, policy="fixed"), now).at  # at once, in its hours: no past to learn from
    planned = state.next_visit if state.next_visit is not None and state.next_visit >= state.last_run else None
    if planned is None or is_fixed(rules):
        found = next_visit(_past(state, (), now), rules, now).at
        if planned is None:
            return found
        planned = min(found, planned)
    else:
        planned = min(planned, state.last_run + max(AT_THE_LATEST, timedelta(minutes=rules.longest)))
    return max(planned, until or planned)


def visit_soon(store: Store, key: str, now: datetime) -> datetime:
    """Plan the next visit of the source ``key`` for ``now``, regardless of its interval and failures; return when it is due.

    A pause requested by the server is kept. Raises ``StoreError``.
    """
    state = store.source_state(key)
    if state.last_run is not None and (state.next_visit is None or state.next_visit > now or state.next_visit < state.last_run):
        store.save_source_state(replace(state, next_visit=max(now, state.last_run)))
    return max(now, paused_until(state, now) or now)


def refusal(engine: str, state: SourceState | None, now: datetime) -> Message | None:
    """Return why an engine fails, since when, and when it is queried again; ``None`` if its last visit succeeded."""
    if state is None or not state.failures_in_row or not state.last_error:
        return None
    again = max(now, paused_until(state, now) or now, state.next_visit or now)
    params: dict[str, Any] = {"engine": engine, "reason": reason_message(state.last_error), "again": again}
    return (
        Message("engine.failing-since", since=state.last_success, **params)
        if state.last_success
        else Message("engine.never-worked", **params)
    )


SPIDERS: Final = {
    "feeds": "rss", "sitemaps": "sitemap", "regions": "hub", "forums": "forum", "galleries": "gallery", "lists": "lists",
    "newsletters": "newsletter",
}  # fmt: skip
"""The list of ``sources.yaml`` → the spider of its sources; the engines of topics are visited by ``metasearch``."""

FEW, FEWER = 200, 30
"""Visits read per source, up to and beyond this number of sources: thousands are listed in seconds, with less precise reasons."""


@dataclass(frozen=True, slots=True)
class Engine:
    key: str


@dataclass(frozen=True, slots=True)
class VisitedSource:
    """A source (of the file, or an :class:`Engine`), and the spider that visits it."""

    source: Any
    spider: str

    @property
    def key(self) -> str:
        return str(self.source.key)


@dataclass(frozen=True, slots=True)
class SourceSchedule:
    """A source's schedule. ``expected``: entries in each of the next 24 hours (``None``: not visited yet); ``hours_on``: active hours of
    the adaptive policy (paper B), ``None`` under another one; ``hub``: it has WebSub pushes."""

    key: str
    policy: str
    last: datetime | None
    next: datetime
    reason: Message
    hub: bool
    expected: tuple[float, ...] | None
    hours_on: tuple[int, ...] | None


def visited_sources(sources: Sources) -> Iterator[VisitedSource]:
    for family, spider in SPIDERS.items():
        for source in getattr(sources, family, ()):
            if source.enabled:
                yield VisitedSource(source, spider)
    disabled = {engine.name for engine in sources.engines if not engine.enabled}
    names = (name for topic in sources.topics if topic.enabled for name in topic.engines if name not in disabled)
    for name in dict.fromkeys(names):
        yield VisitedSource(Engine(f"engine:{name}"), "metasearch")


def timetable(sources: Sources, store: Store, selected: Sequence[VisitedSource], now: datetime) -> list[SourceSchedule]:
    """Return the schedule of ``selected`` at ``now`` (aware), in their order; times in its zone. Raises ``StoreError``."""
    states = {state.source: state for state in store.source_states()}
    price_of = request_price(sources, states.values(), frozenset(entry.key for entry in visited_sources(sources)))
    subscribed = {subscription.source for subscription in store.subscriptions.all() if is_reliable(subscription, now)}
    past = store.visits.recent([entry.key for entry in selected], each=LOOKED_BACK if len(selected) <= FEW else FEWER)
    by_key = {entry.key: rules(sources, entry.source, price_of) for entry in selected}
    by_key |= {key: with_pushes(rules) for key, rules in by_key.items() if key in subscribed}
    return [
        _planned(states.get(key) or SourceState(key), past.get(key, []), rules, now, hub=key in subscribed) for key, rules in by_key.items()
    ]


def _planned(state: SourceState, visits: list[Visit], rules: Rules, now: datetime, *, hub: bool) -> SourceSchedule:
    slot = plan(state, visits, rules, now)
    at = max(now, due_at(state, rules, now))
    active = active_hours(visits, rules.zone, rules.hours or active_hours((), rules.zone)) if rules.policy == "hours" else None
    return SourceSchedule(
        state.source, "fixed" if rules.interval else rules.policy, state.last_run, at.astimezone(now.tzinfo),
        join_messages(slot.reason, Message("schedule.websub")) if hub else slot.reason, hub,
        tuple(forecast(History.from_visits(visits), rules, now)) if visits else None, tuple(sorted(active)) if active is not None else None,
    )  # fmt: skip


LATEST = 12  # visits read per source: quarantine needs eight of them
BRINGING = 30  # further ones with new entries, which show its cadence
NAMED = 100  # up to this number sources are queried by name; for more the visits of all are read, some milliseconds per source
ORDER = ("quarantined", "failing", "silent", "empty", "garbled", "shaky", "moved", "duplicate", "resting", "quiet", "new", "healthy", "off")
"""The order of states by urgency."""

NO_VISITS = ("topic", "engine")  # topics have no visits, and engines those of the topics that use them


@dataclass(frozen=True, slots=True)
class SourceRef:
    """A source to be visited: ``key`` as in reports, ``name`` as in the file."""

    key: str
    name: str
    enabled: bool = True


@dataclass(frozen=True, slots=True)
class SourceHealth:
    """A source and its health. ``days``: its new entries per day, today last."""

    source: SourceRef
    health: Health
    days: tuple[int, ...]


def monitored_sources(sources: Sources) -> tuple[SourceRef, ...]:
    """Return the sources to be visited, in the file's order; in place of topics their engines."""
    enabled = {name for topic in sources.topics if topic.enabled for name in topic.engines}
    engines = dict.fromkeys(name for topic in sources.topics for name in topic.engines)
    found = [SourceRef(f"engine:{name}", name, name in enabled) for name in engines]
    return (*found, *(SourceRef(entry.key, entry.name, entry.enabled) for entry in sources.all() if entry.family not in NO_VISITS))


def sources_health(store: Store, sources: Sequence[SourceRef], now: datetime) -> list[SourceHealth]:
    """Return the sources with their health at ``now``, whose zone defines the days; the most urgent first. Raises ``StoreError``."""
    keys = [source.key for source in sources] if len(sources) <= NAMED else None
    latest, bringing = store.visits.recent(keys, each=LATEST), store.visits.recent(keys, each=BRINGING, bringing=True)
    states = {state.source: state for state in store.source_states()}
    found = []
    for source in sources:
        visits = merge_visits(latest.get(source.key, ()), bringing.get(source.key, ()))
        state = health(visits, now, previous=states.get(source.key), enabled=source.enabled)
        found.append(SourceHealth(source, state, sparkline(visits, now)))
    return sorted(found, key=lambda item: ORDER.index(item.health.state))


def summary(found: Sequence[SourceHealth]) -> str:
    """Return a text such as ``12 healthy, 1 silent``, in the order of the states."""
    counts = Counter(item.health.state for item in found)
    return ", ".join(f"{counts[state]} {state}" for state in sorted(STATES, key=ORDER.index) if counts[state])
