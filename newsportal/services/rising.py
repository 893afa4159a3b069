"""The board of what rises in the record: words, names and events (docs/algorithms/rising.md)."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from newsportal.classify.keywords import keywords
from newsportal.events.rising import DAY, PAST, Mention, Mentions, Rise, rising
from newsportal.store.results import Story
from newsportal.store.store import Store

ENTRIES: Final = 20  # Lines of each kind that a board has at most
SHOWN_STORIES: Final = 3  # Stories that a line names, the newest


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
    """What rises in the ``days`` before ``until``, fetched by then. Raises ``StoreError``; ``OverflowError`` past the calendar."""

    def mentions(since: datetime, before: datetime) -> Iterator[Mention]:
        return map(_mention, store.founders(since, before, topic=topic, fetched=until))

    return _board(store, mentions, until, days, topic, count)


def replay_boards(store: Store, moments: Iterable[datetime], *, topic: str | None = None, count: int = ENTRIES) -> Iterator[Board]:
    """The boards of the day before each of these moments (rising), as they stood then. Stories are read once; those of 29 days are held."""
    held: deque[tuple[datetime, Mention]] = deque()
    read: datetime | None = None
    for until in moments:
        oldest = until - (PAST + 1) * DAY
        held.extend((row.first_seen, _mention(row)) for row in store.founders(max(read or oldest, oldest), until, topic=topic))
        read = until
        while held and held[0][1].moment < oldest:
            held.popleft()
        present = [mention for seen, mention in held if seen < until]

        def mentions(since: datetime, before: datetime, present: list[Mention] = present) -> Iterable[Mention]:
            return (one for one in present if since <= one.moment < before)

        yield _board(store, mentions, until, 1, topic, count)


def _mention(row: Any) -> Mention:
    words = row.keywords or (one.word for one in keywords(row.title, ""))  # articles of before keywords were stored
    return Mention(row.story_id, row.publisher, row.moment, tuple(words), row.event_id)


def _board(store: Store, mentions: Mentions, until: datetime, days: int, topic: str | None, count: int) -> Board:
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
