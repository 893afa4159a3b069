"""The health of the sources, judged for many readers at once."""

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


def test_readers_get_what_was_judged_before_while_one_judges_anew(store: Store) -> None:
    known = Sources.model_validate({"feeds": [{"name": "甲", "url": "https://news.example/feed"}]})
    portal = Portal(store, None, known, open_accounts("sqlite://"), lambda: NOW)
    first = portal.health()
    assert [one.source.key for one in first] == ["feed:甲"]
    assert portal.health() is first, "not judged for every reader"
    portal.health_cache._until = monotonic() - 1
    found: list[Any] = []
    with portal.health_cache._lock:  # somebody judges, and it takes a minute
        other = Thread(target=lambda: found.append(portal.health()), daemon=True)
        other.start()
        other.join(600)
    assert len(found) == 1, "nobody waits for him"
    assert found[0] is first
    assert portal.health() is not first, "they are judged anew by the next"
