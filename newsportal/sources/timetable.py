"""Who is visited by whom, and when next: the sources of ``sources.yaml`` that are visited, and what the schedule says of each."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final

from newsportal.messages import Message, joined
from newsportal.schedule import Past, Rules, hours_on, strip
from newsportal.sources import timing
from newsportal.store.results import SourceState

if TYPE_CHECKING:
    from newsportal.sources.models import Sources
    from newsportal.store.store import Store
    from newsportal.visits import Visit

SPIDERS: Final = {"feeds": "rss", "sitemaps": "sitemap", "regions": "hub", "forums": "forum", "galleries": "gallery"}
"""The list of ``sources.yaml`` → the spider that visits its sources; topics are asked of their engines by ``metasearch``."""

FEW, FEWER = 200, 30
"""Beyond so many sources, so many visits of each are asked for: thousands are listed in seconds, and their reasons are rougher."""


@dataclass(frozen=True, slots=True)
class Engine:
    """A search engine as a source."""

    key: str


@dataclass(frozen=True, slots=True)
class Visited:
    """A source (one of the file, or an :class:`Engine`), and by whom it is visited."""

    source: Any
    spider: str

    @property
    def key(self) -> str:
        return str(self.source.key)


@dataclass(frozen=True, slots=True)
class Planned:
    """A source's schedule. ``expected``: entries in each of the next 24 hours, from this one on; ``None`` before its first visit.

    ``hours_on``: the hours of the day in which adaptive hours (paper B) visit it; ``None`` under another policy. ``hub``: one tells us.
    """

    key: str
    policy: str
    last: datetime | None
    next: datetime
    why: Message
    hub: bool
    expected: tuple[float, ...] | None
    hours_on: tuple[int, ...] | None


def visited(sources: Sources) -> Iterator[Visited]:
    """Every enabled source, the search engines of enabled topics too."""
    for family, spider in SPIDERS.items():
        for source in getattr(sources, family, ()):
            if source.enabled:
                yield Visited(source, spider)
    off = {engine.name for engine in sources.engines if not engine.enabled}
    asked = (name for topic in sources.topics if topic.enabled for name in topic.engines)
    for name in dict.fromkeys(asked):
        if name not in off:
            yield Visited(Engine(f"engine:{name}"), "metasearch")


def timetable(known: Sources, store: Store, chosen: Sequence[Visited], now: datetime) -> list[Planned]:
    """The schedule of ``chosen`` at ``now`` (aware), in their order; times in its zone. Raises ``StoreError``."""
    states = {state.source: state for state in store.source_states()}
    worth = timing.worth(known, states.values(), frozenset(one.key for one in visited(known)))
    subscribed = {known.source for known in store.subscriptions.all() if timing.tells(known, now)}
    past = store.visits.recent([one.key for one in chosen], each=timing.LOOKED_BACK if len(chosen) <= FEW else FEWER)
    asked = {one.key: timing.rules(known, one.source, worth) for one in chosen}
    asked |= {key: timing.slower(rules) for key, rules in asked.items() if key in subscribed}
    return [
        _planned(states.get(key) or SourceState(key), past.get(key, []), rules, now, hub=key in subscribed) for key, rules in asked.items()
    ]


def _planned(state: SourceState, visits: list[Visit], rules: Rules, now: datetime, *, hub: bool) -> Planned:
    found = timing.plan(state, visits, rules, now)
    at = max(now, timing.due_at(state, rules, now))
    on = hours_on(visits, rules.zone, rules.hours or hours_on((), rules.zone)) if rules.policy == "hours" else None
    return Planned(
        state.source,
        "fixed" if rules.interval else rules.policy,
        state.last_run,
        at.astimezone(now.tzinfo),
        joined(found.why, Message("why.hub")) if hub else found.why,
        hub,
        tuple(strip(Past.of(visits), rules, now)) if visits else None,
        tuple(sorted(on)) if on is not None else None,
    )
