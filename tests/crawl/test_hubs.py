"""Feeds that name a WebSub hub are stored once, each with its own callback token and secret."""

from __future__ import annotations

import asyncio

import pytest
from scrapy.http import Response

from newsportal.crawl.link_tracker import LinkTracker
from newsportal.crawl.source_visits import note_hub

HUB, FEED = "https://hub.example/", "https://a.example/feed"


@pytest.fixture
def public(tracker: LinkTracker) -> LinkTracker:
    portal = tracker.sources.portal.model_copy(update={"url": "https://news.example.org"})
    tracker.sources = tracker.sources.model_copy(update={"portal": portal})
    return tracker


def offer(tracker: LinkTracker, hub: str | None = HUB, topic: str | None = None, **headers: str) -> None:
    asyncio.run(note_hub(tracker, "feed:甲", Response(FEED, headers=headers), hub, topic))


def test_hub_and_topic_are_stored_and_updated(public: LinkTracker) -> None:
    offer(public, topic="https://a.example/self")
    found = public.store.subscriptions.of("feed:甲")
    assert found is not None
    assert (found.hub, found.topic) == (HUB, "https://a.example/self")
    assert len(found.token) >= 32
    assert len(found.secret) >= 64
    offer(public, topic="https://a.example/self")
    assert public.store.subscriptions.of("feed:甲") == found
    offer(public, hub="https://other.example/")
    moved = public.store.subscriptions.of("feed:甲")
    assert moved is not None
    assert (moved.hub, moved.topic, moved.token) == ("https://other.example/", FEED, found.token)


def test_link_header_has_priority_over_the_feed(public: LinkTracker) -> None:
    offer(public, Link='<https://header.example/>; rel="hub"')
    found = public.store.subscriptions.of("feed:甲")
    assert found is not None
    assert found.hub == "https://header.example/"


@pytest.mark.parametrize("hub", [None, "javascript:alert(1)", "ftp://hub.example/", "https://hub.example/\ud800"])
def test_invalid_hub_is_ignored(public: LinkTracker, hub: str | None) -> None:
    offer(public, hub=hub)
    assert public.store.subscriptions.all() == []


@pytest.mark.parametrize("topic", ["/feed", "https://a.example/\ud800", "https://a.example/\x00"])
def test_invalid_topic_is_ignored(public: LinkTracker, topic: str) -> None:
    offer(public, topic=topic)
    assert public.store.subscriptions.all() == []


def test_portal_without_public_url_stores_no_hub(tracker: LinkTracker) -> None:
    tracker.sources = tracker.sources.model_copy(update={"portal": tracker.sources.portal.model_copy(update={"url": None})})
    offer(tracker)
    assert tracker.store.subscriptions.all() == []
