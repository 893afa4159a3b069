"""Source health, computed once for concurrent readers."""

from __future__ import annotations

from datetime import UTC, datetime
from threading import Thread
from time import monotonic
from typing import Any

from newsportal.portal.context import Portal
from newsportal.services.accounts import open_accounts
from newsportal.sources import Sources
from newsportal.store.store import Store

NOW = datetime(2026, 3, 5, 12, tzinfo=UTC)


def test_previous_health_is_returned_while_it_is_recomputed(store: Store) -> None:
    sources = Sources.model_validate({"feeds": [{"name": "甲", "url": "https://news.example/feed"}]})
    portal = Portal(store, None, sources, open_accounts("sqlite://"), lambda: NOW)
    first = portal.health()
    assert [judged.source.key for judged in first] == ["feed:甲"]
    assert portal.health() is first, "cached for all readers"
    portal.health_cache._until = monotonic() - 1
    found: list[Any] = []
    with portal.health_cache._lock:  # another thread recomputes it
        other = Thread(target=lambda: found.append(portal.health()), daemon=True)
        other.start()
        other.join(600)
    assert len(found) == 1, "readers do not wait for the computation"
    assert found[0] is first
    assert portal.health() is not first, "the next reader recomputes it"
