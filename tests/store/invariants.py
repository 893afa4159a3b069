"""Invariants of every store."""

from __future__ import annotations

from newsportal.store.results import StoryFilter
from newsportal.store.store import Store


def assert_consistent(store: Store) -> None:
    """Assert that the counts and lists of every story match its articles, which must have the topic 旅游. Closes the store."""
    by_story: dict[str, set[str]] = {}
    for found in store.all_articles():
        by_story.setdefault(found.story_id, set()).add(found.id)
    stories = store.stories(StoryFilter(limit=10**6, topic="旅游")).stories
    assert {story.id for story in stories} == set(by_story)
    for story in stories:
        full = store.story(story.id)
        assert full is not None
        assert {version.id for version in full.versions} == by_story[story.id]
        assert full.count == story.count == len(by_story[story.id])
        assert full.head.id == story.head.id == full.versions[0].id
    store.close()
