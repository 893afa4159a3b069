"""Subscriptions to feeds in the store."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

from newsportal.store.crawl_state import Subscription
from newsportal.store.store import Store

NOW = datetime(2026, 3, 5, 12, tzinfo=UTC)
ONE = Subscription("feed:甲", "https://hub.example/", "https://a.example/feed", "t1", "geheim")


def test_subscription_is_saved_and_replaced(store: Store) -> None:
    table = store.subscriptions
    table.save(ONE)
    full = replace(ONE, asked=NOW, tries=2, until=NOW + timedelta(days=9), pushed=NOW, leaving=True, denied="no")
    table.save(full)
    table.save(replace(ONE, source="feed:乙", token="t2"))
    assert table.of("feed:甲") == full
    assert table.by_token("t1") == full
    assert [row.source for row in table.all()] == ["feed:乙", "feed:甲"]
    assert table.of("feed:丙") is None
    assert table.by_token("") is None
    assert table.by_token("t" * 10_000) is None
    assert table.by_token("t1\x00") is None, "PostgreSQL does not accept NUL"
    table.drop("feed:甲")
    assert table.by_token("t1") is None


def test_lease_holds_until_it_ends_or_is_cancelled() -> None:
    leased = replace(ONE, until=NOW + timedelta(hours=1))
    assert leased.is_valid(NOW)
    assert not leased.is_valid(NOW + timedelta(hours=1))
    assert not replace(leased, leaving=True).is_valid(NOW)
    assert not ONE.is_valid(NOW)


def test_repr_shows_neither_token_nor_secret() -> None:
    assert "geheim" not in repr(ONE)
    assert "t1" not in repr(ONE)
