"""A spider's schedule: what is planned after a visit lies in the source's state, and decides whether it is due."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import timedelta

from newsportal.frontier.ledger import Ledger, utcnow
from newsportal.frontier.timing import Timing
from newsportal.visits import Visit


def test_a_visit_that_is_over_is_followed_by_a_plan(ledger: Ledger) -> None:
    source = next(iter(ledger.sources.feeds)).model_copy(update={"interval": None})
    now, timing, store = utcnow(), Timing(ledger), ledger.store
    state = store.source_state(source.key)
    assert timing.due(source, state, now)
    for hours in range(30, -1, -1):
        store.visits.add(Visit(source.key, now - timedelta(hours=hours), list_pages=1, entries=20, new=10))
    store.save_source_state(replace(state, last_run=now))
    asyncio.run(timing.plan([source], now))
    found = store.source_state(source.key)
    assert found.next_visit is not None
    assert timedelta(minutes=9) < found.next_visit - now < timedelta(hours=12)
    assert found.rate is not None
    assert 100 < found.rate < 400
    assert not timing.due(source, found, now)
    assert timing.due(source, found, found.next_visit)
