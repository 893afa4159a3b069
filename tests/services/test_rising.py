"""The board of rising subjects: from stored stories, by topic, and at an earlier time."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from factories import empty_store

from newsportal.items import Article, Link
from newsportal.services.boards import compile_board, rising_row
from newsportal.store.events import Assignment
from newsportal.store.store import Store

NOW = datetime(2026, 5, 20, 8, tzinfo=UTC)
HOUR = timedelta(hours=1)
DAY = timedelta(days=1)


def write(store: Store, number: int, ago: timedelta, *words: str, title: str = "标题", topics: tuple[str, ...] = ()) -> str:
    site = f"site{number % 3}"
    url = f"https://{site}.example/{number}/{ago}/{words}"
    article = Article(
        url=url, link=Link(url, f"feed:{site}"), fetched=NOW - ago, identity=url, title=title, text="正文", site=site,
        topics=topics, published=NOW - ago, keywords=words,
    )  # fmt: skip
    return store.add(article, [], now=NOW - ago).story_id


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    """Two stories a day about 天气; 台风 in the last hours, all of one event and partly of a topic."""
    with closing(empty_store(tmp_path / "store.db")) as opened:
        for day in range(12):
            for number in range(2):
                write(opened, number, day * DAY + 2 * HOUR, "天气", topics=("航运",))
        ids = [write(opened, number, HOUR, "台风", "海燕", title="台风海燕登陆", topics=("航运",)) for number in range(4)]
        ids += [write(opened, number, HOUR, title="台风逼近") for number in range(4, 6)]
        assignments = [Assignment(id, "storm", 1.0) for id in ids]
        assert opened.events.assign(assignments, {"storm": "[0,{},{},[]]"}, after=0, up_to=opened.last_seq())
        yield opened


def test_words_and_events_have_their_stories(store: Store) -> None:
    board = compile_board(store, NOW, 1)
    assert (board.stories, board.past, board.since) == (8, 22, NOW - DAY)
    (event,) = board.events
    assert (event.rise.name, event.rise.count, event.rise.sites) == ("storm", 6, 3)
    assert event.title in {"台风海燕登陆", "台风逼近"}
    (word,) = board.words
    assert (word.title, word.rise.count, word.rise.event) == ("台风", 6, "storm")  # two by their titles: they have no keywords
    assert word.rise.with_words[0] == "海燕"
    assert len(word.stories) == 3
    row = rising_row(board)
    assert row["words"][0]["event"] == row["events"][0]["event"] == "storm"
    assert row["words"][0]["expected"] == 0.5
    assert sum(row["words"][0]["days"]) == 6
    assert row["words"][0]["latest"][0]["id"] == word.stories[0].id


def test_board_of_a_topic(store: Store) -> None:
    board = compile_board(store, NOW, 1, topic="航运")
    assert (board.stories, [entry.rise.count for entry in board.words]) == (6, [4])
    assert compile_board(store, NOW, 1, topic="无").words == ()


def test_past_board_uses_articles_fetched_by_then(store: Store) -> None:
    assert compile_board(store, NOW - 3 * HOUR, 1).words == ()
    late = Article(
        url="https://late.example/", link=Link("https://late.example/", "feed:late"), fetched=NOW + DAY, identity="late", title="台风",
        text="正文", published=NOW - HOUR, keywords=("台风",),
    )  # fmt: skip
    store.add(late, [], now=NOW + DAY)
    assert [entry.rise.count for entry in compile_board(store, NOW, 1).words] == [6]
