"""Every source of ``sources.yaml`` with its health: what the command line, the portal and ``doctor`` show."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from newsportal.schedule.health import STATES, Health, health, merge_visits, sparkline

if TYPE_CHECKING:
    from newsportal.sources.models import Sources
    from newsportal.store.store import Store

LATEST = 12  # visits of a source that are asked for: quarantine needs eight of them
BRINGING = 30  # further ones, of those that brought something: they tell its cadence
FEW = 100  # up to so many sources are asked for by name; of more the visits of all are read, some milliseconds a source
ORDER = ("quarantined", "failing", "silent", "empty", "garbled", "shaky", "moved", "duplicate", "resting", "quiet", "new", "healthy", "off")
"""The states that need attention most come first."""


NO_VISITS = ("topic", "engine")  # topics have none of their own, and engines those of the topics that ask them


@dataclass(frozen=True, slots=True)
class Watched:
    """A source that is visited: ``key`` as in reports, ``name`` as in the file."""

    key: str
    name: str
    enabled: bool = True


@dataclass(frozen=True, slots=True)
class Judged:
    """A source and its health. ``days``: its new entries by day, today last."""

    source: Watched
    health: Health
    days: tuple[int, ...]


def watched(sources: Sources) -> tuple[Watched, ...]:
    """The sources that are visited, in the file's order; in place of topics the engines that they ask."""
    asked = {name for topic in sources.topics if topic.enabled for name in topic.engines}
    named = dict.fromkeys(name for topic in sources.topics for name in topic.engines)
    found = [Watched(f"engine:{name}", name, name in asked) for name in named]
    return (*found, *(Watched(source.key, source.name, source.enabled) for source in sources.all() if source.family not in NO_VISITS))


def judged(store: Store, sources: Sequence[Watched], now: datetime) -> list[Judged]:
    """Their health at ``now``, in whose zone the days are counted; those that need somebody first. Raises ``StoreError``."""
    keys = [source.key for source in sources] if len(sources) <= FEW else None
    latest, bringing = store.visits.recent(keys, each=LATEST), store.visits.recent(keys, each=BRINGING, bringing=True)
    states = {state.source: state for state in store.source_states()}
    found = []
    for source in sources:
        visits = merge_visits(latest.get(source.key, ()), bringing.get(source.key, ()))
        state = health(visits, now, known=states.get(source.key), enabled=source.enabled)
        found.append(Judged(source, state, sparkline(visits, now)))
    return sorted(found, key=lambda one: ORDER.index(one.health.state))


def summary(found: Sequence[Judged]) -> str:
    """``12 healthy, 1 silent``, in the order of the states."""
    counted = Counter(one.health.state for one in found)
    return ", ".join(f"{counted[state]} {state}" for state in sorted(STATES, key=ORDER.index) if counted[state])
