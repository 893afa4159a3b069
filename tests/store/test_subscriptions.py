"""Subscriptions to feeds in the store."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

from newsportal.store.crawl_state import Subscription
from newsportal.store.store import Store

NOW = datetime(2026, 3, 5, 12, tzinfo=UTC)
ONE = Subscription("feed:甲", "https://hub.example/", "https://a.example/feed", "t1", "geheim")


def test_subscription_is_saved_and_replaced(store: Store) -> None:
    kept = store.subscriptions
    kept.save(ONE)
    whole = replace(ONE, asked=NOW, tries=2, until=NOW + timedelta(days=9), pushed=NOW, leaving=True, denied="no")
    kept.save(whole)
    kept.save(replace(ONE, source="feed:乙", token="t2"))
    assert kept.of("feed:甲") == whole
    assert kept.named("t1") == whole
    assert [one.source for one in kept.all()] == ["feed:乙", "feed:甲"]
    assert kept.of("feed:丙") is None
    assert kept.named("") is None
    assert kept.named("t" * 10_000) is None
    assert kept.named("t1\x00") is None, "PostgreSQL does not accept NUL"
    kept.drop("feed:甲")
    assert kept.named("t1") is None


def test_lease_holds_until_it_ends_or_is_cancelled() -> None:
    held = replace(ONE, until=NOW + timedelta(hours=1))
    assert held.holds(NOW)
    assert not held.holds(NOW + timedelta(hours=1))
    assert not replace(held, leaving=True).holds(NOW)
    assert not ONE.holds(NOW)


def test_repr_shows_neither_token_nor_secret() -> None:
    assert "geheim" not in repr(ONE)
    assert "t1" not in repr(ONE)
