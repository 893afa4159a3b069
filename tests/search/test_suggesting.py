"""Completion of queries from topics, names and words of titles, for any input."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from newsportal.search.suggesting import MAX_CHARS, completions, suggest, suggestions_of

if TYPE_CHECKING:
    from conftest import Newsroom


def fill(newsroom: Newsroom) -> None:
    newsroom.write("旅游公园今天开放", topic="旅游出行")
    newsroom.write("旅游业复苏，公园游客多", topic="旅游出行")
    newsroom.write("旅游业大会", topic="Travel")
    newsroom.write("电影《旅游的人》上映", topic="Travel")
    newsroom.write("COVID-19 travellers")
    newsroom.index.follow(newsroom.store)


@pytest.mark.parametrize(
    ("typed", "first"),
    [
        ("旅游", ("旅游出行", "旅游业", "旅游的人")),  # topics, then frequent words
        ("旅遊", ("旅游出行", "旅游业", "旅游的人")),
        ("旅游业", ()),  # the complete word is not repeated
        ("cov", ("covid",)),
        ("ＣＯＶ", ("covid",)),
        ("trav", ("Travel", "travellers")),
        ("今天 公", ("今天 公园",)),
        ("title:公", ("title:公园",)),
        ("-公", ("-公园",)),
        ('"公', ('"公园',)),
        ("旅游公", ("旅游公园",)),  # the last of several words
    ],
)
def test_completions_of_prefix(newsroom: Newsroom, typed: str, first: tuple[str, ...]) -> None:
    fill(newsroom)
    assert newsroom.index.suggest(typed)[: len(first) or 1] == first


def test_no_completion_is_not_an_error(newsroom: Newsroom) -> None:
    fill(newsroom)
    for typed in ("", " ", "旅游 ", "zzz", "'; DROP TABLE", "%", "_", ".*", "[", "\\", "a" * 10_000, "\x00", "\ud800"):
        assert newsroom.index.suggest(typed) == (), typed


def test_limit_of_suggestions(newsroom: Newsroom) -> None:
    fill(newsroom)
    assert newsroom.index.suggest("旅游", 2) == ("旅游出行", "旅游业")
    assert newsroom.index.suggest("旅游", 0) == newsroom.index.suggest("旅游", -1) == ()


def test_words_of_replaced_titles_are_not_suggested(newsroom: Newsroom) -> None:
    newsroom.write("旧桥拆除", identity="x.example/1")
    newsroom.index.follow(newsroom.store)
    assert newsroom.index.suggest("拆") == ("拆除",)
    newsroom.write("新桥通车", identity="x.example/1")
    newsroom.index.follow(newsroom.store)
    assert newsroom.index.suggest("拆") == ()
    assert newsroom.index.suggest("通") == ("通车",)
    newsroom.index.rebuild(newsroom.store)
    assert newsroom.index.suggest("通") == ("通车",)


@given(st.text())
def test_any_text_can_be_completed(typed: str) -> None:
    for completion in completions(typed):
        assert 0 < len(completion.prefix) <= MAX_CHARS
    assert suggest(typed, 3, lambda prefix, limit: [(prefix + "x", "y")] * limit) is not None


@given(st.text())
def test_any_title_gives_valid_suggestions(title: str) -> None:
    assert all(len(offer.plain) > 1 and len(offer.shown) <= MAX_CHARS for offer in suggestions_of(title, [title]))
