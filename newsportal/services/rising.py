"""The board of what rises in the record: words, names and events (docs/algorithms/rising.md)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from newsportal.classify.keywords import keywords
from newsportal.events.rising import DAY, Mention, Rise, rising
from newsportal.store.results import Story
from newsportal.store.store import Store

ENTRIES: Final = 20
"""Lines of each kind that a board has at most."""

SHOWN_STORIES: Final = 3
"""Stories that a line names, the newest."""


@dataclass(frozen=True, slots=True)
class BoardEntry:
    """A line: what rises, its title (the word, or the event's), and its newest stories."""

    rise: Rise
    title: str
    stories: tuple[Story, ...]


@dataclass(frozen=True, slots=True)
class Board:
    """``stories``: how many the window has, ``past``: how many the weeks before it. The most surprising first."""

    topic: str | None
    since: datetime
    until: datetime
    stories: int
    past: int
    events: tuple[BoardEntry, ...]
    words: tuple[BoardEntry, ...]


def compile_board(store: Store, until: datetime, days: int, *, topic: str | None = None, count: int = ENTRIES) -> Board:
    """What rises in the ``days`` before ``until``, from what was fetched by then. Raises ``StoreError``; ``OverflowError`` at the edge of
    the calendar."""

    def mentions(since: datetime, before: datetime) -> Iterator[Mention]:
        for row in store.founders(since, before, topic=topic, fetched=until):
            words = row.keywords or (one.word for one in keywords(row.title, ""))  # articles of before keywords were stored
            yield Mention(row.story_id, row.publisher, row.moment, tuple(words), row.event_id)

    found = rising(mentions, until, days, count)
    rises = (*found.events, *found.words)
    stories = store.listed({id for rise in rises for id in rise.stories[:SHOWN_STORIES]})
    titles = {rise.name: event.title for rise in found.events if (event := store.events.event(rise.name)) is not None}

    def entries(kind: tuple[Rise, ...]) -> tuple[BoardEntry, ...]:
        named = ((rise, rise.name if rise.kind == "word" else titles.get(rise.name)) for rise in kind)
        return tuple(
            BoardEntry(rise, title, tuple(stories[id] for id in rise.stories[:SHOWN_STORIES] if id in stories))
            for rise, title in named
            if title
        )

    return Board(topic, until - days * DAY, until, found.stories, found.past, entries(found.events), entries(found.words))


def as_dict(board: Board) -> dict[str, Any]:
    """As the command and the API tell it."""

    def plain(entry: BoardEntry) -> dict[str, Any]:
        rise = entry.rise
        return {
            "title": entry.title, "event": rise.name if rise.kind == "event" else rise.event, "with": list(rise.with_words),
            "stories": rise.count, "sites": rise.sites, "expected": round(rise.expected, 2), "surprise": round(rise.surprise, 2),
            "days": list(rise.days), "latest": [{"id": one.id, "title": one.head.title, "url": one.head.url} for one in entry.stories],
        }  # fmt: skip

    return {
        "topic": board.topic, "since": board.since, "until": board.until, "stories": board.stories, "past": board.past,
        "events": [plain(one) for one in board.events], "words": [plain(one) for one in board.words],
    }  # fmt: skip
