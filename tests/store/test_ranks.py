"""Ranks of the hottest stories and their movement."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from factories import empty_store

from newsportal.items import Article, FoldKey, Link
from newsportal.store.lists import rank_stories
from newsportal.store.results import StoryFilter
from newsportal.store.store import Store

NOW = datetime(2026, 5, 20, 10, 30, tzinfo=UTC)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with closing(empty_store(tmp_path / "store.db")) as opened:
        yield opened


def report(store: Store, title: str, site: str, hours: float) -> None:
    """Add a report of the story ``title`` by ``site``, so many hours ago."""
    at, url = NOW - timedelta(hours=hours), f"https://{site}.example/{title}"
    link = Link(url=url, source=f"feed:{site}")
    new = Article(url=url, link=link, fetched=at, identity=url, title=title, text=f"{title}，{site}的说法。" * 20, published=at, site=site)
    store.add(new, [FoldKey(title, "同题")], now=at)


def current_ranks(store: Store) -> list[tuple[str, int, float, int | None]]:
    found = rank_stories(store.story, store.stories(StoryFilter(order="hottest")).stories, now=NOW)
    return [(ranked.story.head.title, ranked.rank, round(ranked.heat, 1), ranked.rose) for ranked in found]


def test_newly_reported_story_rises_and_others_fall(store: Store) -> None:
    for site in ("a", "b", "c"):
        report(store, "早", site, 12)
    report(store, "午", "a", 12)
    for site in ("b", "c", "d"):
        report(store, "午", site, 1)
    report(store, "晚", "a", 0)
    assert current_ranks(store) == [("午", 1, 3.3, 1), ("早", 2, 1.5, -1), ("晚", 3, 1.0, None)]


def test_ranks_of_no_or_one_story(store: Store) -> None:
    assert current_ranks(store) == []
    report(store, "一", "a", 12)
    assert current_ranks(store) == [("一", 1, 0.5, 0)]
