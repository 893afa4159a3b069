"""Read marks, stars and saved searches, with a real database and a real store."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from newsportal.items import Article, Link
from newsportal.services.accounts import Accounts, marks, open_accounts
from newsportal.services.accounts.marks import SearchNotSaved, TooManyStarred
from newsportal.store import open_store
from newsportal.store.results import Story, StoryFilter
from newsportal.store.store import Store

NOW = datetime(2026, 5, 20, 10, 30, tzinfo=UTC)
HOUR = timedelta(hours=1)
ME, YOU = "me", "you"


@pytest.fixture
def accounts(tmp_path: Path) -> Iterator[Accounts]:
    with closing(open_accounts(f"sqlite:///{tmp_path / 'accounts.db'}")) as opened:
        yield opened


def write(store: Store, *names: str, topics: tuple[str, ...] = (), at: datetime = NOW) -> list[str]:
    """Add stories with these titles, first seen ``at``."""
    ids = []
    for name in names:
        url, text = f"https://a.example/{name}", f"{name}的正文，" * 20
        link = Link(url=url, source="feed:a")
        article = Article(url=url, link=link, fetched=at, identity=url, title=name, text=text, published=at, topics=topics)
        ids.append(store.add(article, now=at).story_id)
    return ids


def read(accounts: Accounts, store: Store, person: str = ME) -> set[str]:
    stories: tuple[Story, ...] = store.stories(StoryFilter(limit=100)).stories
    marked = accounts.marks.of(person, [story.id for story in stories])
    return {story.head.title for story in stories if marked.read(story)}


def test_marks_are_personal(accounts: Accounts, store: Store) -> None:
    [first, second] = write(store, "一", "二")
    accounts.marks.set_read(ME, first, True, now=NOW)
    accounts.marks.star(ME, second, True, now=NOW)
    assert read(accounts, store) == {"一"}
    assert read(accounts, store, YOU) == set()
    assert accounts.marks.of(ME, [first, second]).starred(second)
    accounts.marks.set_read(ME, first, False, now=NOW)
    accounts.marks.star(ME, second, False, now=NOW)
    assert read(accounts, store) == set()
    assert accounts.marks.starred(ME) == []


def test_starred_stories_are_paged_newest_star_first(accounts: Accounts) -> None:
    for number in range(7):
        accounts.marks.star(ME, f"story-{number}", True, now=NOW + (number // 2) * HOUR)
    accounts.marks.star(ME, "story-0", True, now=NOW + 9 * HOUR)  # it is starred already
    accounts.marks.set_read(ME, "story-3", True, now=NOW + 9 * HOUR)
    seen, before = [], None
    while page := accounts.marks.starred(ME, before=before, limit=3):
        seen += page
        before = page[-1]
    assert [story for _, story in seen] == [f"story-{number}" for number in (6, 5, 4, 3, 2, 1, 0)]


def test_catch_up_covers_existing_stories_and_can_be_undone(accounts: Accounts, store: Store) -> None:
    write(store, "早", topics=("旅游",))
    [unread] = write(store, "午", topics=("旅游",))
    write(store, "别的")
    accounts.marks.mark_all_read(ME, "旅游", now=NOW + HOUR)
    assert read(accounts, store) == {"早", "午"}
    accounts.marks.set_read(ME, unread, False, now=NOW + 2 * HOUR)
    write(store, "晚", topics=("旅游",), at=NOW + 3 * HOUR)
    assert read(accounts, store) == {"早"}
    accounts.marks.mark_all_read(ME, now=NOW + 4 * HOUR)
    assert read(accounts, store) == {"早", "午", "晚", "别的"}
    accounts.marks.undo_mark_all_read(ME)
    assert read(accounts, store) == {"早"}
    accounts.marks.mark_all_read(ME, "旅游", now=NOW + 5 * HOUR)
    accounts.marks.undo_mark_all_read(ME, "旅游")
    assert read(accounts, store) == {"早"}
    accounts.marks.undo_mark_all_read(YOU)


def test_marks_follow_folded_stories(accounts: Accounts, store: Store) -> None:
    assert accounts.marks.follow(store) == 0
    [first, second, third] = write(store, "一", "二", "三")
    accounts.marks.star(ME, second, True, now=NOW + HOUR)
    accounts.marks.star(ME, third, True, now=NOW)
    accounts.marks.set_read(YOU, second, True, now=NOW)
    store.fold(second, first, reason="by hand", now=NOW)
    assert accounts.marks.follow(store) > 0
    assert [story for _, story in accounts.marks.starred(ME)] == [first, third]
    assert read(accounts, store, YOU) == {"一"}
    store.fold(third, first, reason="by hand", now=NOW)
    accounts.marks.follow(store)
    assert accounts.marks.starred(ME) == [(NOW, first)]
    assert accounts.marks.follow(store) == 0


def test_following_survives_change_of_store(accounts: Accounts, store: Store, tmp_path: Path) -> None:
    accounts.marks.follow(store)
    write(store, "一", "二", "三")
    accounts.marks.follow(store)
    with closing(open_store(f"sqlite:///{tmp_path / 'other.db'}")) as other:
        assert accounts.marks.follow(other) == 0
        write(other, "四")
        assert accounts.marks.follow(other) > 0


def test_marks_are_limited_and_stars_are_kept(accounts: Accounts, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(marks, "MAX_MARKS", 10)
    monkeypatch.setattr(marks, "SPARE", 2)
    monkeypatch.setattr(marks, "MAX_STARRED", 2)
    accounts.marks.star(ME, "first", True, now=NOW)
    for number in range(13):
        accounts.marks.set_read(ME, f"story-{number}", True, now=NOW + number * HOUR)
    marked = accounts.marks.of(ME, ["first", *(f"story-{number}" for number in range(13))]).marks
    assert set(marked) == {"first", *(f"story-{number}" for number in range(3, 13))}
    accounts.marks.star(ME, "second", True, now=NOW)
    with pytest.raises(TooManyStarred, match="2 stories"):
        accounts.marks.star(ME, "third", True, now=NOW)


def test_feed_key_can_be_replaced(accounts: Accounts) -> None:
    key = accounts.marks.feed_key(ME)
    assert accounts.marks.feed_key(ME) == key != accounts.marks.feed_key(YOU)
    assert accounts.marks.person_of_feed(key) == ME
    assert accounts.marks.feed_key(ME, renew=True) != key
    assert accounts.marks.person_of_feed(key) is None


def test_saved_searches_are_unique_by_name(accounts: Accounts, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(marks, "MAX_SEARCHES", 2)
    saved = accounts.searches.save(ME, " 峡谷\x00 ", "q=峡谷", now=NOW)
    assert accounts.searches.save(ME, "桥", "q=峡谷", now=NOW).id == saved.id
    accounts.searches.save(ME, "啊", "q=啊", now=NOW)
    assert [search.name for search in accounts.searches.of(ME)] == ["啊", "桥"]
    with pytest.raises(SearchNotSaved, match="2 searches"):
        accounts.searches.save(ME, "第三", "q=三", now=NOW)
    for name, query in ((" ", "q=a"), ("名", ""), ("名", "q=" + "a" * 5_000)):
        with pytest.raises(SearchNotSaved):
            accounts.searches.save(ME, name, query, now=NOW)
    accounts.searches.rename(YOU, saved.id, "不是我的")
    assert accounts.searches.remove(YOU, saved.id) is None
    accounts.searches.rename(ME, saved.id, "新名")
    removed = accounts.searches.remove(ME, saved.id)
    assert removed is not None
    assert removed.name == "新名"
    assert accounts.searches.search(ME, saved.id) is None
