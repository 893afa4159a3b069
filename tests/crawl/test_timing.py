"""A spider's schedule: the next visit is planned after each visit, stored in the source's state, and decides when the source is due."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import timedelta

from newsportal.crawl.link_tracker import LinkTracker, utcnow
from newsportal.crawl.source_visits import Timing
from newsportal.items.visits import Visit
from newsportal.store.crawl_state import Subscription


def test_next_visit_is_planned_after_a_visit(tracker: LinkTracker) -> None:
    source = next(iter(tracker.sources.feeds)).model_copy(update={"interval": None})
    now, timing, store = utcnow(), Timing(tracker), tracker.store
    state = store.source_state(source.key)
    assert timing.due_at(source, state, now) <= now
    for hours in range(30, -1, -1):
        store.visits.add(Visit(source.key, now - timedelta(hours=hours), list_pages=1, entries=20, new=10))
    store.save_source_state(replace(state, last_run=now))
    asyncio.run(timing.plan([source], now))
    found = store.source_state(source.key)
    assert found.next_visit is not None
    assert timedelta(minutes=9) < found.next_visit - now < timedelta(hours=12)
    assert found.rate is not None
    assert 100 < found.rate < 400
    assert timing.due_at(source, found, now) > now
    assert timing.due_at(source, found, found.next_visit) <= found.next_visit


def test_push_during_a_visit_is_not_lost(tracker: LinkTracker) -> None:
    source = next(iter(tracker.sources.feeds)).model_copy(update={"interval": None})
    now, store = utcnow(), tracker.store
    store.visits.add(Visit(source.key, now - timedelta(minutes=2), list_pages=1, entries=20, new=1))
    store.save_source_state(replace(store.source_state(source.key), last_run=now))
    subscription = Subscription(
        source.key, "https://hub.example/", source.url, "t", "s", until=now + timedelta(days=5), pushed=now - timedelta(minutes=1)
    )
    store.subscriptions.save(subscription)
    asyncio.run(Timing(tracker).plan([source], now))
    assert store.source_state(source.key).next_visit == now


def test_source_with_active_hub_is_polled_slowly(tracker: LinkTracker) -> None:
    source = next(iter(tracker.sources.feeds)).model_copy(update={"interval": None})
    now, store = utcnow(), tracker.store
    for hours in range(30):
        store.visits.add(Visit(source.key, now - timedelta(hours=hours), list_pages=1, entries=20, new=10))
    store.save_source_state(replace(store.source_state(source.key), last_run=now))
    subscription = Subscription(
        source.key, "https://hub.example/", source.url, "t", "s", until=now + timedelta(days=5), pushed=now - timedelta(hours=2)
    )
    store.subscriptions.save(subscription)
    asyncio.run(Timing(tracker).plan([source], now))
    found = store.source_state(source.key).next_visit
    assert found is not None
    assert found - now >= timedelta(hours=4)
    store.subscriptions.save(replace(subscription, pushed=now - timedelta(days=60)))
    asyncio.run(Timing(tracker).plan([source], now))
    again = store.source_state(source.key).next_visit
    assert again is not None
    assert again - now < timedelta(hours=2), "a hub without pushes for long is not trusted"


def test_long_visit_is_not_followed_by_the_next_at_once(tracker: LinkTracker) -> None:
    source = next(iter(tracker.sources.feeds)).model_copy(update={"interval": None})
    now, store = utcnow(), tracker.store
    for hours in (2, 4, 6):
        store.visits.add(Visit(source.key, now - timedelta(hours=hours), list_pages=1, entries=99, new=90))
    store.save_source_state(replace(store.source_state(source.key), last_run=now))
    for planned in (source, source.model_copy(update={"interval": 30.0})):
        asyncio.run(Timing(tracker).plan([planned], now))
        found = store.source_state(source.key).next_visit
        assert found is not None
        assert found - now >= timedelta(minutes=planned.interval or tracker.sources.schedule.shortest)
