"""Reassigning topics of stored articles: marks by keywords are added and removed, all others are kept."""

from __future__ import annotations

from dataclasses import replace

from factories import HOUR, NOW, article, invented

from newsportal.items import TopicMark
from newsportal.store.results import StoryFilter, TopicChange
from newsportal.store.store import Store


def add_article(store: Store, *marks: TopicMark) -> str:
    return store.add(replace(article(), topics=tuple(mark.topic for mark in marks), topic_marks=marks), now=NOW).id


def topics(store: Store, id: str) -> dict[str, str]:
    found = store.article(id)
    assert found is not None
    return {mark.topic: mark.by for mark in found.topic_marks}


def listed(store: Store, topic: str) -> int:
    return len(store.stories(StoryFilter(topic=topic)).stories)


def test_topics_are_added_and_removed_in_lists(store: Store) -> None:
    id = add_article(store, TopicMark("桥", "keywords"))
    assert store.mark_topics([TopicChange(id, (TopicMark("河", "keywords"),), ("桥",))], now=NOW) == 1
    assert topics(store, id) == {"河": "keywords"}
    assert (listed(store, "桥"), listed(store, "河")) == (0, 1)
    assert [change.id for change in store.changes()] == [id, id]


def test_marks_of_other_origin_are_kept(store: Store) -> None:
    id = add_article(store, TopicMark("桥", "source"), TopicMark("山", "model 2", 0.97), TopicMark("水", "search"))
    again = TopicChange(id, (TopicMark("桥", "keywords"),), ("山", "水", "桥", "云"))
    assert store.mark_topics([again], now=NOW) == 0
    assert topics(store, id) == {"山": "model 2", "桥": "source", "水": "search"}
    assert len(store.changes()) == 1, "no change is logged"


def test_missing_articles_are_skipped(store: Store) -> None:
    id = add_article(store)
    mark = (TopicMark("桥", "keywords"),)
    assert store.mark_topics([TopicChange("nowhere", mark), TopicChange(id, mark)], now=NOW) == 1
    assert store.mark_topics([], now=NOW) == 0
    assert topics(store, id) == {"桥": "keywords"}


def test_stories_of_a_topic_are_counted_since_a_time(store: Store) -> None:
    hours = (1, 30, 30 * 24)
    added = [store.add(article(f"t{back}", topic="旅游", published=NOW - back * HOUR, text=invented(back)), now=NOW) for back in hours]
    store.add(article("other", topic="美食", text=invented(7)), now=NOW)
    assert [store.stories_since("旅游", NOW - back * HOUR) for back in (1, 2, 31, 31 * 24)] == [1, 1, 2, 3]
    assert store.stories_since("没有", NOW - 9999 * HOUR) == 0
    store.hide([added[0].id], by="林编辑", reason="", now=NOW)
    assert store.stories_since("旅游", NOW - 31 * HOUR) == 1


def test_topic_set_by_an_editor_can_be_removed(store: Store) -> None:
    id = store.add(article("a", topic="旅游"), now=NOW).id
    assert store.mark_topics([TopicChange(id, (TopicMark("美食", "editor"),))], now=NOW) == 1
    assert store.mark_topics([TopicChange(id, drop=("美食", "旅游"))], now=NOW) == 1
    found = store.article(id)
    assert found is not None
    assert found.topics == ("旅游",), "topics set by a source are kept"
