"""Hot lists beside one's own stories: what is on them, since when, and which stories tell of it; and the board of what rises in the record:
words, names and events (docs/algorithms/rising.md)."""

from __future__ import annotations

from collections import Counter, defaultdict, deque
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final

from newsportal.classify.keywords import keywords
from newsportal.events.rising import DAY, PAST, Mention, Mentions, Rise, rising
from newsportal.sources import HotList, Sources
from newsportal.store.boards import Standing, Standings
from newsportal.store.results import Story
from newsportal.store.store import Store
from newsportal.text import segment

LOOKED_BACK: Final = timedelta(days=3)  # stories of so many last days are looked at: what is on a hot list is of these days. Chosen.
LEAST_WORDS, LEAST_SHARE = 2, 0.5
"""Words of an entry's title that a story's title must share, and their share of the entry's words. Chosen."""

SHOWN: Final = 3  # stories of an entry


@dataclass(frozen=True, slots=True)
class Crossed:
    """An entry, the stories that tell of it, the event of the best of them, and its rank on other lists (name → rank)."""

    standing: Standing
    stories: tuple[Story, ...] = ()
    event: str | None = None
    others: tuple[tuple[str, int], ...] = ()


@dataclass(frozen=True, slots=True)
class HotBoard:
    """``at``: when it was visited last; ``None``: never."""

    key: str
    name: str
    at: datetime | None
    entries: tuple[Crossed, ...] = ()


def compile_boards(store: Store, sources: Sources, now: datetime, only: str | None = None) -> list[HotBoard]:
    """The lists of the file that are enabled (or the one of this name or key) as they stand. Raises ``StoreError``."""
    lists = [source for source in sources.lists if source.enabled]
    standings = {source.key: found for source in lists if (found := store.boards.standings(source.key)) is not None}
    titles = {key: {one.place.item: title_words(one.place.title) for one in found.entries} for key, found in standings.items()}
    wanted = {word for words in titles.values() for item in words.values() for word in item}
    items = {item for words in titles.values() for item in words}
    founders: dict[str, Any] = {}
    by_word: defaultdict[str, list[str]] = defaultdict(list)
    for row in store.founders(now - LOOKED_BACK, now) if standings else ():
        shared = title_words(row.title) & wanted
        if shared or row.id in items:
            founders[row.id] = row
        for word in shared:
            by_word[word].append(row.id)
    names = {source.key: source.name for source in lists}
    places = [(key, entry.place) for key, found in standings.items() for entry in found.entries]
    places_by_word: defaultdict[str, list[int]] = defaultdict(list)  # by each word of a title, and by the entry itself
    for number, (key, place) in enumerate(places):
        for word in (*titles[key][place.item], place.item):
            places_by_word[word].append(number)

    def crossed(key: str, one: Standing) -> Row:
        words = titles[key][one.place.item]
        shared = Counter(id for word in words for id in by_word[word])
        told = [founders[id] for id, number in shared.most_common() if is_match(words, number) and id != one.place.item]
        told = [founders[one.place.item], *told] if one.place.item in founders else told
        near = Counter(number for word in words for number in places_by_word[word])
        alike = {number for number, count in near.items() if is_match(words, count)} | set(places_by_word[one.place.item])
        others = [(names[other], place.rank) for other, place in (places[number] for number in sorted(alike)) if other != key]
        return one, told[:SHOWN], others

    chosen = [source for source in lists if only in (None, source.name, source.key)]
    rows = {one.key: [crossed(one.key, entry) for entry in standings[one.key].entries] for one in chosen if one.key in standings}
    stories = store.listed({row.story_id for some in rows.values() for _, told, _ in some for row in told})
    return [_hot_board(source, standings.get(source.key), rows.get(source.key, ()), stories) for source in chosen]


Row = tuple[Standing, list[Any], list[tuple[str, int]]]  # an entry, the articles that tell of it, and its ranks on other lists


def _hot_board(source: HotList, found: Standings | None, rows: Iterable[Row], stories: Mapping[str, Story]) -> HotBoard:
    entries = (
        Crossed(
            one,
            tuple(stories[id] for id in dict.fromkeys(row.story_id for row in told) if id in stories),
            next((row.event_id for row in told if row.event_id), None),
            tuple(others),
        )
        for one, told, others in rows
    )
    return HotBoard(source.key, source.name, found.at if found else None, tuple(entries))


def title_words(title: str) -> frozenset[str]:
    """What of a title can be shared: its words of two characters and more, digits alone left out."""
    return frozenset(word for word in segment(title.lower()) if len(word) > 1 and any(map(str.isalpha, word)))


def is_match(words: frozenset[str], shared: int) -> bool:
    return shared >= LEAST_WORDS and shared >= LEAST_SHARE * len(words)


def board_row(board: HotBoard) -> dict[str, Any]:
    """As the command and the API tell it."""
    return {
        "key": board.key, "name": board.name, "at": board.at,
        "entries": [
            {
                "rank": one.standing.place.rank, "title": one.standing.place.title, "url": one.standing.place.url,
                "heat": one.standing.place.heat, "since": one.standing.since, "best": one.standing.best,
                "curve": [{"at": at, "rank": rank} for at, rank in one.standing.curve], "event": one.event,
                "others": [{"name": name, "rank": rank} for name, rank in one.others],
                "stories": [{"id": story.id, "title": story.head.title, "url": story.head.url} for story in one.stories],
            }
            for one in board.entries
        ],
    }  # fmt: skip


ENTRIES: Final = 20  # lines of each kind that a board has at most
SHOWN_STORIES: Final = 3  # stories that a line names, the newest


@dataclass(frozen=True, slots=True)
class BoardEntry:
    """A line: what rises, its title (the word, or the event's), and its newest stories."""

    rise: Rise
    title: str
    stories: tuple[Story, ...]


@dataclass(frozen=True, slots=True)
class RisingBoard:
    """``stories``: how many the window has, ``past``: how many the weeks before it. The most surprising first."""

    topic: str | None
    since: datetime
    until: datetime
    stories: int
    past: int
    events: tuple[BoardEntry, ...]
    words: tuple[BoardEntry, ...]


def compile_board(store: Store, until: datetime, days: int, *, topic: str | None = None, count: int = ENTRIES) -> RisingBoard:
    """What rises in the ``days`` before ``until``, fetched by then. Raises ``StoreError``; ``OverflowError`` past the calendar."""

    def mentions(since: datetime, before: datetime) -> Iterator[Mention]:
        return map(_mention, store.founders(since, before, topic=topic, fetched=until))

    return _rising_board(store, mentions, until, days, topic, count)


def replay_boards(store: Store, moments: Iterable[datetime], *, topic: str | None = None, count: int = ENTRIES) -> Iterator[RisingBoard]:
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

        yield _rising_board(store, mentions, until, 1, topic, count)


def _mention(row: Any) -> Mention:
    words = row.keywords or (one.word for one in keywords(row.title, ""))  # articles of before keywords were stored
    return Mention(row.story_id, row.publisher, row.moment, tuple(words), row.event_id)


def _rising_board(store: Store, mentions: Mentions, until: datetime, days: int, topic: str | None, count: int) -> RisingBoard:
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

    return RisingBoard(topic, until - days * DAY, until, found.stories, found.past, entries(found.events), entries(found.words))


def rising_row(board: RisingBoard) -> dict[str, Any]:
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
