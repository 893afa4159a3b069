"""Known URLs: the filter never calls a stored one new, the store has the last word."""

from __future__ import annotations

from datetime import UTC, datetime

from newsportal.frontier.known import KnownUrls
from newsportal.frontier.ledger import Ledger
from newsportal.items import Article, Link

NOW = datetime(2026, 3, 5, tzinfo=UTC)


def stored(ledger: Ledger, name: str) -> None:
    link = Link(f"https://{name}", "feed:甲")
    ledger.store.add(Article(url=link.url, link=link, fetched=NOW, identity=name, title="题", text="正文"), now=NOW)


def test_what_was_stored_by_earlier_runs_is_known_from_the_start(ledger: Ledger) -> None:
    stored(ledger, "a.example/1")
    ledger.store.add_alias("a.example/old", "a.example/1")
    fresh = KnownUrls(ledger.store)
    assert fresh.known(["a.example/1", "a.example/old", "a.example/2"]) == {"a.example/1", "a.example/old"}


def test_the_store_has_the_last_word(ledger: Ledger) -> None:
    ledger.known.enter(["a.example/gone"])
    assert ledger.known.known(["a.example/gone"]) == set()
