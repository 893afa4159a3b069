"""Corrections by editors take precedence over the page, and hidden articles are not shown to readers."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest
from factories import LONG, NOW, OTHER, SAME_TEXT, article
from test_galleries import gallery as photo_story

from newsportal.errors import StoreError
from newsportal.items import Article, Image
from newsportal.store.copying import find_faults
from newsportal.store.corrections import OutdatedEdit
from newsportal.store.gallery_tables import WallFilter
from newsportal.store.lists import ArticleFilter
from newsportal.store.results import StoredArticle, StoryFilter
from newsportal.store.store import Store

LATER = NOW + timedelta(hours=2)
PICTURE = Image("https://i.example/1.jpg", "桥")
WORD = {"by": "林编辑", "now": LATER}


def get(store: Store, article_id: str) -> StoredArticle:
    found = store.article(article_id)
    assert found is not None
    return found


def page(text: str = LONG, **changes: object) -> Article:
    return replace(article(text=text, html=f"<p>{text}</p>", author="王记者", images=(PICTURE,)), **changes)  # type: ignore[arg-type]


def history(store: Store, article_id: str) -> list[tuple[int, str, bool]]:
    """Return number, title and whether it is a correction of each revision, the current one last."""
    states = (*store.revisions(article_id), get(store, article_id))
    return [(state.revision, state.title, state.corrected is not None) for state in states]


def test_correction_replaces_the_pages_values(store: Store) -> None:
    added = store.add(page(), now=NOW)
    number = store.correct(added.id, {"title": " 新标题 ", "published": NOW - timedelta(days=3)}, **WORD)
    found = get(store, added.id)
    assert (number, found.revision, found.title, found.published) == (2, 2, "新标题", NOW - timedelta(days=3))
    assert (found.corrected, found.corrected_by, found.corrected_fields) == (LATER, "林编辑", ("title", "published"))
    assert (found.text, found.author, found.images) == (LONG, "王记者", (PICTURE,))
    assert history(store, added.id) == [(1, "标题 a", False), (2, "新标题", True)]
    (story,) = store.stories(StoryFilter()).stories
    assert (story.head.title, story.head.moment) == ("新标题", NOW - timedelta(days=3)), "lists are updated"
    assert [change.id for change in store.changes()] == [added.id, added.id]


def test_unchanged_values_are_not_a_correction(store: Store) -> None:
    added = store.add(page(), now=NOW)
    assert store.correct(added.id, {"title": "标题 a", "author": "王记者"}, **WORD) == 1
    assert get(store, added.id).corrected is None
    assert len(store.changes()) == 1


def test_revised_page_changes_uncorrected_fields(store: Store) -> None:
    added = store.add(page(), now=NOW)
    store.correct(added.id, {"title": "新标题"}, **WORD)
    assert store.add(page(), now=LATER).outcome == "same", "the page is unchanged"
    assert store.add(page(OTHER, title="页面的新标题"), now=LATER).outcome == "revised"
    found = get(store, added.id)
    assert (found.title, found.text, found.corrected_fields) == ("新标题", OTHER, ("title",))
    assert history(store, added.id) == [(1, "标题 a", False), (2, "新标题", True), (3, "页面的新标题", False), (4, "新标题", True)]
    assert store.add(page(OTHER, title="页面的新标题"), now=LATER).outcome == "same"


def test_revised_page_is_kept_behind_a_corrected_text(store: Store) -> None:
    added = store.add(page(), now=NOW)
    store.correct(added.id, {"text": "改过的正文", "html": "<p>改过的正文</p>", "images": ()}, **WORD)
    assert store.add(page(OTHER), now=LATER).outcome == "revised"
    found = get(store, added.id)
    assert (found.text, found.html, found.images, found.revision) == ("改过的正文", "<p>改过的正文</p>", (), 3)
    assert [revision.text for revision in store.revisions(added.id)] == [LONG, OTHER]
    assert store.add(page(OTHER), now=LATER).outcome == "same"
    assert store.withdraw(added.id, now=LATER) == 4
    assert (get(store, added.id).text, get(store, added.id).images, get(store, added.id).corrected) == (OTHER, (PICTURE,), None)
    assert store.withdraw(added.id, now=LATER) == 4, "no correction to withdraw"


def test_reposts_of_original_text_join_a_corrected_story(store: Store) -> None:
    added = store.add(page(), [SAME_TEXT], now=NOW)
    store.correct(added.id, {"text": "改过的正文", "html": None}, **WORD)
    repost = store.add(page(url="https://b.example/x", identity="b.example/x"), [SAME_TEXT], now=LATER)
    assert repost.story_id == added.story_id


def test_correction_of_outdated_revision_is_refused(store: Store) -> None:
    added = store.add(page(), now=NOW)
    store.correct(added.id, {"title": "新标题"}, seen=1, **WORD)
    with pytest.raises(OutdatedEdit, match="revision 2"):
        store.correct(added.id, {"title": "另一个"}, seen=1, **WORD)
    with pytest.raises(OutdatedEdit):
        store.withdraw(added.id, now=LATER, seen=1)
    assert get(store, added.id).title == "新标题"


def test_invalid_corrections_are_refused(store: Store) -> None:
    added = store.add(page(), now=NOW)
    with pytest.raises(StoreError, match="title"):
        store.correct(added.id, {"title": " "}, **WORD)
    with pytest.raises(StoreError, match="nowhere"):
        store.correct("nowhere", {"title": "新"}, **WORD)
    photos = store.galleries.save(photo_story(1, 2), now=NOW)
    with pytest.raises(StoreError, match="captions"):
        store.correct(photos.id, {"text": "字"}, **WORD)
    assert store.correct(photos.id, {"title": "图集的新标题"}, **WORD) == 2
    assert get(store, photos.id).title == "图集的新标题"


def test_hidden_article_is_in_no_list_but_still_known(store: Store) -> None:
    first = store.add(page(topics=("桥",), category="社会"), now=NOW)
    other = store.add(article("b", text=OTHER), now=NOW)
    assert store.hide([first.id, "nowhere"], by="林编辑", reason="误登", now=LATER) == [first.id]
    assert store.hide([first.id], by="陈编辑", reason="", now=LATER) == [], "it is already hidden"
    found = get(store, first.id)
    assert (found.hidden, found.hidden_by, found.hidden_reason) == (LATER, "林编辑", "误登")
    assert [story.id for story in store.stories(StoryFilter()).stories] == [other.story_id]
    assert store.stories(StoryFilter(topic="桥")).stories == ()
    assert store.stories(StoryFilter(since=NOW - timedelta(days=9))).stories[0].id == other.story_id
    assert store.by_id([first.story_id, other.story_id]).keys() == {other.story_id}
    assert store.story(first.story_id) is None
    full = store.story(first.story_id, hidden=True)
    assert full is not None
    assert [version.id for version in full.versions] == [first.id]
    assert (store.tally().articles, store.tally().stories, dict(store.tally().by_topic)) == (1, 1, {})
    assert [story.story for story in store.readers.stories(NOW - timedelta(days=9))] == [other.story_id]
    assert store.find_stored(["news.example/a"]) == {"news.example/a"}
    assert store.add(page(LONG + "又及此事。"), now=LATER).outcome == "revised"
    assert get(store, first.id).hidden == LATER, "a revised page stays hidden"
    assert find_faults(store.records) == []
    assert store.show([first.id], now=LATER) == [first.id]
    assert store.tally().stories == 2
    assert len(store.stories(StoryFilter(topic="桥")).stories) == 1


def test_story_continues_without_its_hidden_version(store: Store) -> None:
    first = store.add(page(), now=NOW)
    second = store.add(page(url="https://b.example/x", identity="b.example/x", published=NOW), now=NOW)
    assert second.story_id == first.story_id
    before = store.last_seq()
    store.hide([first.id], by="林编辑", reason="误登", now=LATER)
    story = store.story(first.story_id)
    assert story is not None
    assert (story.head.id, story.count, [version.id for version in story.versions]) == (second.id, 1, [second.id])
    assert {change.id for change in store.changes(before)} == {first.id, second.id}, "followers of heads see the new one"


def test_article_joining_a_hidden_story_is_hidden(store: Store) -> None:
    first = store.add(page(), now=NOW)
    store.hide([first.id], by="林编辑", reason="侵权", now=NOW)
    second = store.add(page(url="https://b.example/x", identity="b.example/x", published=NOW), now=LATER)
    assert second.story_id == first.story_id
    assert (get(store, second.id).hidden, get(store, second.id).hidden_reason) == (NOW, "侵权")
    assert store.stories(StoryFilter()).stories == ()
    store.show([second.id], now=LATER)
    assert [story.head.id for story in store.stories(StoryFilter()).stories] == [second.id]


def test_hidden_photo_story_is_not_on_the_wall(store: Store) -> None:
    photos = store.galleries.save(photo_story(1, 2), now=NOW)
    assert len(store.galleries.wall(WallFilter()).stories) == 1
    store.hide([photos.id], by="林编辑", reason="", now=LATER)
    assert store.galleries.wall(WallFilter()).stories == ()
    assert store.galleries.wall(WallFilter(source=get(store, photos.id).source)).stories == ()


def test_articles_are_filtered_for_editors(store: Store) -> None:
    guessed = {"category": "社会", "category_by": "model 1", "category_score": 0.4}
    full = store.add(page(), now=NOW)
    short = store.add(article("s", text="短", **guessed), now=NOW)
    undated = store.add(article("u", text=OTHER, published=None), now=NOW)
    store.correct(full.id, {"title": "新"}, **WORD)
    store.set_category(undated.id, "文化", by="editor", now=NOW)
    store.hide([short.id], by="林编辑", reason="", now=LATER)

    def picked(**which: object) -> list[str]:
        return [picked.id for picked in store.select_articles(ArticleFilter(**which)).articles]  # type: ignore[arg-type]

    assert picked(hidden=True) == picked(shorter=10) == picked(unsure=0.6) == [short.id]
    assert picked(corrected=True) == [full.id]
    assert picked(undated=True) == picked(judged=True) == picked(category="文化") == [undated.id]
    assert set(picked(hidden=False)) == {full.id, undated.id}
    assert picked(unsure=0.3) == picked(source="feed:别的") == picked(since=LATER) == []
    found, cursor = [], None
    while True:
        batch = store.select_articles(ArticleFilter(limit=1, before=cursor))
        found += [each.id for each in batch.articles]
        cursor = batch.next
        if cursor is None:
            break
    assert found == picked(before="nonsense")
    assert len(found) == 3


def test_editors_category_can_be_withdrawn(store: Store) -> None:
    added = store.add(page(category="社会", category_by="lexicon"), now=NOW)
    store.set_category(added.id, "文化", by="editor", now=NOW)
    store.set_category(added.id, "社会", by="lexicon", now=NOW)
    assert get(store, added.id).category == "文化"
    store.set_category(added.id, "社会", by="lexicon", now=NOW, over=True)
    assert (get(store, added.id).category, get(store, added.id).category_by) == ("社会", "lexicon")
