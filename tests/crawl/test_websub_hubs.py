"""Feeds that name a WebSub hub are stored once, each with its own callback token and secret."""

from __future__ import annotations

import asyncio

import pytest
from scrapy.http import Response

from newsportal.crawl.link_tracker import LinkTracker
from newsportal.crawl.source_visits import note_hub

HUB, FEED = "https://hub.example/", "https://a.example/feed"


@pytest.fixture
def public_tracker(tracker: LinkTracker) -> LinkTracker:
    portal = tracker.sources.portal.model_copy(update={"url": "https://news.example.org"})
    tracker.sources = tracker.sources.model_copy(update={"portal": portal})
    return tracker


def note(tracker: LinkTracker, hub: str | None = HUB, topic: str | None = None, **headers: str) -> None:
    asyncio.run(note_hub(tracker, "feed:甲", Response(FEED, headers=headers), hub, topic))


def test_hub_and_topic_are_stored_and_updated(public_tracker: LinkTracker) -> None:
    note(public_tracker, topic="https://a.example/self")
    found = public_tracker.store.subscriptions.of("feed:甲")
    assert found is not None
    assert (found.hub, found.topic) == (HUB, "https://a.example/self")
    assert len(found.token) >= 32
    assert len(found.secret) >= 64
    note(public_tracker, topic="https://a.example/self")
    assert public_tracker.store.subscriptions.of("feed:甲") == found
    note(public_tracker, hub="https://other.example/")
    moved = public_tracker.store.subscriptions.of("feed:甲")
    assert moved is not None
    assert (moved.hub, moved.topic, moved.token) == ("https://other.example/", FEED, found.token)


def test_link_header_has_priority_over_the_feed(public_tracker: LinkTracker) -> None:
    note(public_tracker, Link='<https://header.example/>; rel="hub"')
    found = public_tracker.store.subscriptions.of("feed:甲")
    assert found is not None
    assert found.hub == "https://header.example/"


@pytest.mark.parametrize("hub", [None, "javascript:alert(1)", "ftp://hub.example/", "https://hub.example/\ud800"])
def test_invalid_hub_is_ignored(public_tracker: LinkTracker, hub: str | None) -> None:
    note(public_tracker, hub=hub)
    assert public_tracker.store.subscriptions.all() == []


@pytest.mark.parametrize("topic", ["/feed", "https://a.example/\ud800", "https://a.example/\x00"])
def test_invalid_topic_is_ignored(public_tracker: LinkTracker, topic: str) -> None:
    note(public_tracker, topic=topic)
    assert public_tracker.store.subscriptions.all() == []


def test_portal_without_public_url_stores_no_hub(tracker: LinkTracker) -> None:
    tracker.sources = tracker.sources.model_copy(update={"portal": tracker.sources.portal.model_copy(update={"url": None})})
    note(tracker)
    assert tracker.store.subscriptions.all() == []
