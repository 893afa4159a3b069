"""Which sources are due, over all of ``sources.yaml``: what the schedule says of the pasts that the store knows."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from newsportal.runners.planning import Due
from newsportal.sources import Sources, timing
from newsportal.storage.base import Store

SPIDERS: Final = {"feeds": "rss", "sitemaps": "sitemap", "regions": "hub", "forums": "forum", "galleries": "gallery"}
"""The list of ``sources.yaml`` → the spider that visits its sources; topics are asked of their engines by ``metasearch``."""


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


def due(sources: Sources, store: Store, now: datetime) -> list[Due]:
    """The sources whose time has come by ``now`` (aware). Raises ``StoreError``."""
    states = {state.source: state for state in store.source_states()}
    never = datetime.min.replace(tzinfo=now.tzinfo)
    found = []
    for one in visited(sources):
        state = states.get(one.key)
        at = timing.due_at(state, timing.rules(sources, one.source), now)
        if at <= now:
            last = state.last_run if state else None
            found.append(Due(one.key, one.spider, last or never, last))
    return found
