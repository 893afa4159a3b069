"""Which sources are due, over all of ``sources.yaml``: what the schedule says of the pasts that the store knows."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, tzinfo
from typing import Any, Final

from newsportal.runners.planning import Due
from newsportal.schedule import USUAL, Past, Rules, next_visit, period
from newsportal.sources import Sources
from newsportal.storage.base import SourceState, Store

SPIDERS: Final = {"feeds": "rss", "sitemaps": "sitemap", "regions": "hub", "forums": "forum", "galleries": "gallery"}
"""The list of ``sources.yaml`` → the spider that visits its sources; topics are asked of their engines by ``metasearch``."""


@dataclass(frozen=True, slots=True)
class Visited:
    """A source, by whom it is visited, and what its schedule is to keep to."""

    key: str
    spider: str
    interval: float
    hours: frozenset[int] = frozenset()


def visited(sources: Sources) -> Iterator[Visited]:
    """Every enabled source, the search engines of enabled topics too."""
    for family, spider in SPIDERS.items():
        for source in getattr(sources, family, ()):
            if source.enabled:
                yield Visited(source.key, spider, _interval(source), frozenset(getattr(source, "hours", ())))
    off = {engine.name for engine in sources.engines if not engine.enabled}
    asked = (name for topic in sources.topics if topic.enabled for name in topic.engines)
    for name in dict.fromkeys(asked):
        if name not in off:
            yield Visited(f"engine:{name}", "metasearch", USUAL)


def due(sources: Sources, store: Store, now: datetime) -> list[Due]:
    """The sources whose time has come by ``now`` (aware; hours are those of its zone). Raises ``StoreError``."""
    states = {state.source: state for state in store.source_states()}
    zone = now.tzinfo
    assert zone is not None
    found = []
    for one in visited(sources):
        state = states.get(one.key)
        past = _past(state)
        if next_visit(past, _rules(one, zone), now).at <= now:
            found.append(Due(one.key, one.spider, past.last or datetime.min.replace(tzinfo=zone), past.last))
    return found


def _past(state: SourceState | None) -> Past:
    return Past() if state is None else Past((), state.last_run, state.failures_in_row, state.rest_until)


def _rules(one: Visited, zone: tzinfo) -> Rules:
    return Rules(one.key, interval=one.interval, hours=one.hours, zone=zone)


def _interval(source: Any) -> float:
    if (weight := getattr(source, "weight", None)) is not None and not source.interval:
        return period(weight, source.min_period, source.max_period)
    return float(getattr(source, "interval", None) or USUAL)
