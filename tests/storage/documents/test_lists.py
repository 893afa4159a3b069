"""Lists of a store over documents whose conditions must meet in one version: some stories at a time, and never too many for one page."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from invented_articles import HOUR, NOW, article

from newsportal.items import FoldKey
from newsportal.storage.base import StoryFilter
from newsportal.storage.documents import lists
from newsportal.storage.documents.store import DocumentStore

pytestmark = pytest.mark.slow


@pytest.fixture
def store(uri: str) -> Iterator[DocumentStore]:
    """Nine stories, the newest first: of two versions, of which in every third story one is both of the topic and of the site."""
    store = DocumentStore(uri)
    batch = []
    for number in range(9):
        both = number % 3 == 2
        key = FoldKey(f"story {number}", "same-title")
        of_topic = article(f"{number}", topic="旅游", site="甲网" if both else "丙网", published=NOW - number * HOUR)
        of_site = article(f"{number}", host="b.example", site="甲网", published=NOW - number * HOUR)
        batch += [(of_topic, [key]), (of_site, [key])]
    store.add_all(batch, now=NOW)
    yield store
    store.close()


def pages(store: DocumentStore, **which: object) -> list[list[str]]:
    """The titles of each page, to the end."""
    found, cursor = [], None
    while True:
        page = store.stories(StoryFilter(before=cursor, **which))  # type: ignore[arg-type]
        found.append([story.head.title for story in page.stories])
        cursor = page.next
        if cursor is None:
            return found


def test_stories_are_looked_at_some_at_a_time(store: DocumentStore, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lists, "AT_ONCE", 2)
    assert pages(store, topic="旅游", site="甲网") == [["标题 2", "标题 5", "标题 8"]]
    assert pages(store, topic="旅游", site="甲网", limit=2) == [["标题 2", "标题 5"], ["标题 8"]]
    assert pages(store, topic="旅游", site="甲网", limit=1) == [["标题 2"], ["标题 5"], ["标题 8"]]


def test_a_page_ends_where_it_has_looked_at_enough_and_the_next_goes_on(store: DocumentStore, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lists, "AT_ONCE", 2)
    monkeypatch.setattr(lists, "MOST_LOOKED_AT", 4)
    found = pages(store, topic="旅游", site="甲网")
    assert [title for page in found for title in page] == ["标题 2", "标题 5", "标题 8"]
    assert len(found) == 3
    hottest = pages(store, topic="旅游", site="甲网", order="hottest")
    assert sorted(title for page in hottest for title in page) == ["标题 2", "标题 5", "标题 8"]


def test_times_are_those_of_one_version_too(store: DocumentStore) -> None:
    late = article("late", host="c.example", site="甲网", published=NOW)
    store.add(late, [FoldKey("story 8", "same-title")], now=NOW)
    assert pages(store, topic="旅游", since=NOW - HOUR) == [["标题 0", "标题 1"]]
    assert pages(store, site="甲网", since=NOW - HOUR) == [["标题 0", "标题 1", "标题 8"]]
    assert pages(store, until=NOW - 7 * HOUR) == [["标题 8"]]
