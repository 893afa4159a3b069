"""Precedence of an article's category: by the source, a classifier or an editor."""

from __future__ import annotations

from dataclasses import replace

import pytest
from factories import NOW, article

from newsportal.errors import StoreError
from newsportal.items import Article, TopicMark
from newsportal.store.results import StoredArticle, StoryFilter
from newsportal.store.store import Store


def get_article(store: Store, article_id: str) -> StoredArticle:
    found = store.article(article_id)
    assert found is not None
    return found


def count_listed(store: Store, category: str) -> int:
    return len(store.stories(StoryFilter(category=category)).stories)


def classified(category: str, by: str = "model 1", **changes: object) -> Article:
    return replace(article(), category=category, category_by=by, category_score=0.8, category_reason="桥", **changes)  # type: ignore[arg-type]


def test_editors_category_is_listed_and_logged(store: Store) -> None:
    added = store.add(classified("社会"), now=NOW)
    store.set_category(added.id, "交通", by="editor", now=NOW)
    found = get_article(store, added.id)
    assert (found.category, found.category_by, found.category_score, found.category_reason) == ("交通", "editor", None, None)
    assert (count_listed(store, "交通"), count_listed(store, "社会")) == (1, 0)
    assert store.changes()[-1].id == added.id
    assert len(store.changes()) == 2
    store.set_category(added.id, "交通", by="editor", now=NOW)
    assert len(store.changes()) == 2, "the same category is not a change"


def test_editors_category_survives_revision_and_model(store: Store) -> None:
    added = store.add(classified("社会"), now=NOW)
    store.set_category(added.id, "交通", by="editor", now=NOW)
    assert store.add(classified("体育", text="另一段文字，说的是别的事。"), now=NOW).outcome == "revised"
    store.set_category(added.id, "财经", by="model 2", now=NOW)
    assert (get_article(store, added.id).category, get_article(store, added.id).category_by) == ("交通", "editor")
    store.set_category(added.id, None, by="editor", now=NOW)
    assert (get_article(store, added.id).category, count_listed(store, "交通")) == (None, 0)


def test_revised_page_is_classified_again(store: Store) -> None:
    added = store.add(classified("社会"), now=NOW)
    store.add(replace(classified("体育", by="source", text="另一段文字。"), category_score=None, category_reason=None), now=NOW)
    found = get_article(store, added.id)
    assert (found.category, found.category_by, found.category_score, found.category_reason) == ("体育", "source", None, None)
    assert (count_listed(store, "体育"), count_listed(store, "社会")) == (1, 0)
    store.add(replace(article(), text="第三段文字。", category=None), now=NOW)
    assert get_article(store, added.id).category == "体育", "a missing category removes nothing"


def test_topic_marks_say_how_an_article_got_its_topic(store: Store) -> None:
    marks = (TopicMark("桥", "keywords", 0.04), TopicMark("河", "model 2", 0.9))
    added = store.add(replace(article(topic="水"), topics=("桥", "河", "山"), topic_marks=marks), now=NOW)
    assert get_article(store, added.id).topic_marks == (
        *sorted((*marks, TopicMark("山", "source"), TopicMark("水", "search")), key=lambda mark: mark.topic),
    )


def test_unknown_article_is_an_error(store: Store) -> None:
    with pytest.raises(StoreError, match="nowhere"):
        store.set_category("nowhere", "交通", by="editor", now=NOW)
