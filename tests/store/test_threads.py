"""What every store guarantees about threads: posts are stored once and in order, edits are kept, one row of the change log per change."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from newsportal.errors import StoreError
from newsportal.items import Image, Link, Post, Thread, content_id
from newsportal.store.results import StoredArticle, StoryFilter, is_thread
from newsportal.store.store import Store

NOW = datetime(2026, 3, 5, 12, tzinfo=UTC)
URL = "https://bbs.example/thread-1-1-1.html"
NAME = "bbs.example/#thread=1"


def post(number: int, text: str | None = None, **more: object) -> Post:
    default = Post(f"作者{number}", NOW - timedelta(hours=50 - number), text or f"第 {number} 条说的话", floor=number, id=f"{100 + number}")
    return replace(default, **more)  # type: ignore[arg-type]


def thread(*numbers: int, **more: object) -> Thread:
    link = Link(URL, "forum:某论坛", title="怎么换窗户", site="某论坛", identity=NAME)
    default = Thread(
        URL,
        "怎么换窗户",
        link,
        NOW,
        tuple(map(post, numbers)),
        "修修补补",
        NAME,
        URL,
        replies=len(numbers) - 1,
        listed=NOW,
        topics=("家居",),
    )
    return replace(default, **more)  # type: ignore[arg-type]


def _article(store: Store, id: str) -> StoredArticle:
    found = store.article(id)
    assert found is not None
    return found


def test_thread_is_an_article_with_posts(store: Store) -> None:
    saved = store.threads.save(thread(1, 2, 3), now=NOW)
    assert (saved.outcome, saved.posts, saved.edited) == ("stored", 3, 0)
    article = _article(store, saved.id)
    assert is_thread(article.source)
    assert (article.title, article.author, article.published) == ("怎么换窗户", "作者1", post(1).published)
    assert article.text == "第 1 条说的话\n第 2 条说的话\n第 3 条说的话"
    assert [post.name for post in store.threads.posts(saved.id)] == ["101", "102", "103"]
    assert [post.floor for post in store.threads.posts(saved.id, offset=1, limit=1)] == [2]
    assert [story.head.id for story in store.stories(StoryFilter(topic="家居")).stories] == [saved.id]
    found = store.threads.find_stored([NAME, "bbs.example/#thread=2"])
    assert list(found) == [NAME]
    assert (found[NAME].posts, found[NAME].last_post, found[NAME].replies, found[NAME].complete) == (3, post(3).published, 2, True)
    assert store.threads.thread(saved.id) == found[NAME]
    assert store.threads.thread("nobody") is None
    assert store.threads.posts("nobody") == []
    assert store.find_stored([NAME]) == {NAME}


def test_new_posts_are_appended_once(store: Store) -> None:
    store.threads.save(thread(1, 2, 3), now=NOW)
    assert store.threads.save(thread(1, 2, 3), now=NOW).outcome == "same"
    before = store.last_seq()
    saved = store.threads.save(thread(3, 4, 5, last_page=URL.replace("1-1.", "2-1."), whole=False), now=NOW + timedelta(hours=1))
    assert (saved.outcome, saved.posts) == ("grown", 2)
    assert [post.name for post in store.threads.posts(saved.id)] == ["101", "102", "103", "104", "105"]
    found = store.threads.find_stored([NAME])[NAME]
    assert (found.posts, found.complete, found.last_page) == (5, False, URL.replace("1-1.", "2-1."))
    assert [change.id for change in store.changes(before)] == [saved.id]
    assert "第 5 条说的话" in _article(store, saved.id).text
    store.threads.save(thread(3, 4, 5), now=NOW)
    assert store.last_seq() == before + 1  # a visit without new posts is not logged


def test_deleted_post_is_kept_and_edited_post_keeps_its_earlier_text(store: Store) -> None:
    saved = store.threads.save(thread(1, 2, 3), now=NOW)
    again = store.threads.save(thread(1, 3, posts=(post(1), post(3, "改过的话"))), now=NOW + timedelta(hours=2))
    assert (again.outcome, again.posts, again.edited) == ("grown", 0, 1)
    posts = store.threads.posts(saved.id)
    assert [post.text for post in posts] == ["第 1 条说的话", "第 2 条说的话", "改过的话"]
    assert (posts[2].former_texts, posts[2].edited) == (("第 3 条说的话",), NOW + timedelta(hours=2))
    assert "改过的话" in _article(store, saved.id).text


def test_posts_without_ids_are_known_by_their_text(store: Store) -> None:
    nameless = tuple(replace(post(number), id=None) for number in (1, 2))
    saved = store.threads.save(thread(posts=nameless), now=NOW)
    assert store.threads.save(thread(posts=nameless), now=NOW).posts == 0
    assert len(store.threads.posts(saved.id)) == 2


def test_posts_with_changing_ids_are_known_by_author_and_time(store: Store) -> None:
    saved = store.threads.save(thread(posts=(post(1, id="said-abc"), post(2, id="floor-2"))), now=NOW)
    again = store.threads.save(thread(1, 2, 3), now=NOW)
    assert (again.posts, again.edited) == (1, 0)
    assert [post.name for post in store.threads.posts(saved.id)] == ["101", "102", "103"]
    other = store.threads.save(thread(posts=(post(1, id="said-x", author=None),), identity="bbs.example/#thread=2"), now=NOW)
    assert store.threads.save(thread(1, 2, identity="bbs.example/#thread=2"), now=NOW).posts == 1
    assert [post.author for post in store.threads.posts(other.id)] == ["作者1", "作者2"]
    twin = post(4, id="999", author=post(3).author, published=post(3).published)
    assert store.threads.save(thread(posts=(twin,)), now=NOW).posts == 1  # different ids: two posts within a minute


def test_unstorable_characters_are_replaced(store: Store) -> None:
    odd = post(1, "一\x00二\ud800", author="a\x00", quoted="\x00", images=(Image("https://bbs.example/1.jpg"),), id="9" * 90)
    saved = store.threads.save(thread(posts=(odd,)), now=NOW)
    stored = store.threads.posts(saved.id)[0]
    assert (stored.text, stored.author, stored.images) == ("一二\ufffd", "a", (Image("https://bbs.example/1.jpg"),))
    assert len(stored.name) <= 40
    assert store.threads.save(thread(posts=(odd,)), now=NOW).posts == 0


def test_thread_needs_an_identity(store: Store) -> None:
    with pytest.raises(StoreError, match="without an identity"):
        store.threads.save(thread(1, identity=None), now=NOW)
    assert store.tally().articles == 0


def test_later_topics_are_added(store: Store) -> None:
    saved = store.threads.save(thread(1), now=NOW)
    store.threads.save(thread(1, topics=("家居", "省钱")), now=NOW)
    assert _article(store, saved.id).topics == ("家居", "省钱")
    assert saved.id == content_id(NAME)


def test_posts_of_one_author_and_minute_stay_apart(store: Store) -> None:
    first, second = post(1, "一"), post(2, "二", author="作者1", published=post(1).published)
    saved = store.threads.save(thread(posts=(replace(first, id="floor-1"),)), now=NOW)
    store.threads.save(thread(posts=(first, second)), now=NOW)
    assert [(post.name, post.text) for post in store.threads.posts(saved.id)] == [("101", "一"), ("102", "二")]


def test_long_first_post_is_cut_in_the_article_only(store: Store) -> None:
    saved = store.threads.save(thread(posts=(post(1, "长" * 250_000), post(2))), now=NOW)
    assert len(_article(store, saved.id).text) == 200_000
    assert [len(post.text) for post in store.threads.posts(saved.id)] == [250_000, 8]
