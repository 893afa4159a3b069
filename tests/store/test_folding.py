"""Several fold keys of one article, looked up together: each has its own window, and none is lost if they are many."""

from __future__ import annotations

from datetime import timedelta

from factories import NOW, article

from newsportal.items import FoldKey
from newsportal.store.folding import KEYS_AT_ONCE
from newsportal.store.store import Store

DAY = 86400.0
WIDE, NARROW = FoldKey("text:甲", "same-text", score=0.8, window=30 * DAY), FoldKey("title:甲", "same-title", score=0.9, window=DAY)


def test_each_key_has_its_own_window(store: Store) -> None:
    store.add(article("a", published=NOW - timedelta(days=10)), [WIDE, NARROW], now=NOW)
    assert store.add(article("b"), [NARROW], now=NOW).outcome == "stored"
    assert store.add(article("c", published=NOW), [NARROW, WIDE], now=NOW).reason == "same-title"  # by the key of b: the better key first
    assert store.add(article("d", published=NOW - timedelta(days=12)), [NARROW, WIDE], now=NOW).reason == "same-text"  # by the key of a


def test_more_keys_than_fit_one_statement(store: Store) -> None:
    others = [FoldKey(f"line:{n}", "same-line", score=0.9) for n in range(2 * KEYS_AT_ONCE)]
    last = FoldKey("line:末", "same-line", score=0.1)
    first = store.add(article("a"), [last], now=NOW)
    assert store.add(article("b"), [*others, last], now=NOW).story_id == first.story_id


def test_repost_joins_the_largest_story(store: Store) -> None:
    """Not the second page of an article, a story of its own with the same title and an earlier date."""
    title = FoldKey("title:甲", "same-title", score=0.9, window=DAY, same_site=False)
    first = store.add(article("p1", site="青河网", published=NOW), [title], now=NOW)
    assert store.add(article("b", site="河湾网", published=NOW), [title], now=NOW).story_id == first.story_id
    twin = store.add(article("p2", site="青河网", published=NOW - timedelta(hours=1)), [title], now=NOW)
    assert twin.story_id != first.story_id
    assert store.add(article("c", site="山前网", published=NOW), [title], now=NOW).story_id == first.story_id
