"""Hot lists matched with stored stories: their entries, since when, and the stories about them; and the board of rising words, names and
events (docs/algorithms/rising.md)."""

from collections import Counter, defaultdict, deque
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final

from newsportal.classify.keywords import keywords
from newsportal.events.rising import DAY, PAST_DAYS, Mention, Mentions, Rise, find_rising
from newsportal.sources import HotList, Sources
from newsportal.store.boards import Standing, Standings
from newsportal.store.results import Story
from newsportal.store.store import Store
from newsportal.text import segment

LOOKED_BACK: Final = timedelta(days=3)  # age of stories compared with hot lists, which are about these days. Chosen.
MIN_WORDS, MIN_SHARE = 2, 0.5
"""Minimum number and share of the words of an entry's title that a story's title must have. Chosen."""

SHOWN: Final = 3  # stories of an entry


@dataclass(frozen=True, slots=True)
class MatchedEntry:
    """An entry of a hot list with the stories about it, the event of the best match, and its rank on other lists (name → rank)."""

    standing: Standing
    stories: tuple[Story, ...] = ()
    event: str | None = None
    others: tuple[tuple[str, int], ...] = ()


@dataclass(frozen=True, slots=True)
class HotBoard:
    """A hot list. ``at``: time of the last visit; ``None``: never visited."""

    key: str
    name: str
    at: datetime | None
    entries: tuple[MatchedEntry, ...] = ()


def compile_boards(store: Store, sources: Sources, now: datetime, only: str | None = None) -> list[HotBoard]:
    """Return the current hot lists that are enabled in the file (or the one of this name or key). Raises ``StoreError``."""
    lists = [source for source in sources.lists if source.enabled]
    standings = {source.key: found for source in lists if (found := store.boards.standings(source.key)) is not None}
    titles = {key: {entry.place.item: title_words(entry.place.title) for entry in found.entries} for key, found in standings.items()}
    vocabulary = {word for words in titles.values() for item in words.values() for word in item}
    items = {item for words in titles.values() for item in words}
    founders: dict[str, Any] = {}
    by_word: defaultdict[str, list[str]] = defaultdict(list)
    for row in store.founders(now - LOOKED_BACK, now) if standings else ():
        shared = title_words(row.title) & vocabulary
        if shared or row.id in items:
            founders[row.id] = row
        for word in shared:
            by_word[word].append(row.id)
    names = {source.key: source.name for source in lists}
    places = [(key, entry.place) for key, found in standings.items() for entry in found.entries]
    places_by_word: defaultdict[str, list[int]] = defaultdict(list)  # by each word of a title, and by the id of the entry
    for number, (key, place) in enumerate(places):
        for word in (*titles[key][place.item], place.item):
            places_by_word[word].append(number)

    def match_entry(key: str, entry: Standing) -> Row:
        words = titles[key][entry.place.item]
        shared = Counter(id for word in words for id in by_word[word])
        articles = [founders[id] for id, number in shared.most_common() if is_match(words, number) and id != entry.place.item]
        articles = [founders[entry.place.item], *articles] if entry.place.item in founders else articles
        counts = Counter(number for word in words for number in places_by_word[word])
        similar = {number for number, count in counts.items() if is_match(words, count)} | set(places_by_word[entry.place.item])
        others = [(names[other], place.rank) for other, place in (places[number] for number in sorted(similar)) if other != key]
        return entry, articles[:SHOWN], others

    selected = [source for source in lists if only in (None, source.name, source.key)]
    keys = [source.key for source in selected if source.key in standings]
    rows = {key: [match_entry(key, entry) for entry in standings[key].entries] for key in keys}
    stories = store.by_id({row.story_id for matched in rows.values() for _, articles, _ in matched for row in articles})
    return [_hot_board(source, standings.get(source.key), rows.get(source.key, ()), stories) for source in selected]


Row = tuple[Standing, list[Any], list[tuple[str, int]]]  # an entry, the articles about it, and its ranks on other lists


def _hot_board(source: HotList, found: Standings | None, rows: Iterable[Row], stories: Mapping[str, Story]) -> HotBoard:
    entries = (
        MatchedEntry(
            entry,
            tuple(stories[id] for id in dict.fromkeys(row.story_id for row in articles) if id in stories),
            next((row.event_id for row in articles if row.event_id), None),
            tuple(others),
        )
        for entry, articles, others in rows
    )
    return HotBoard(source.key, source.name, found.at if found else None, tuple(entries))


def title_words(title: str) -> frozenset[str]:
    """Return the words of a title that are compared: two or more characters, not only digits."""
    return frozenset(word for word in segment(title.lower()) if len(word) > 1 and any(map(str.isalpha, word)))


def is_match(words: frozenset[str], shared: int) -> bool:
    return shared >= MIN_WORDS and shared >= MIN_SHARE * len(words)


def board_row(board: HotBoard) -> dict[str, Any]:
    """Return a hot list as output by the command and the API."""
    return {
        "key": board.key, "name": board.name, "at": board.at,
        "entries": [
            {
                "rank": entry.standing.place.rank, "title": entry.standing.place.title, "url": entry.standing.place.url,
                "heat": entry.standing.place.heat, "since": entry.standing.since, "best": entry.standing.best,
                "curve": [{"at": at, "rank": rank} for at, rank in entry.standing.curve], "event": entry.event,
                "others": [{"name": name, "rank": rank} for name, rank in entry.others],
                "stories": [{"id": story.id, "title": story.head.title, "url": story.head.url} for story in entry.stories],
            }
            for entry in board.entries
        ],
    }  # fmt: skip


ENTRIES: Final = 20  # maximum lines of each kind on a board
SHOWN_STORIES: Final = 3  # newest stories shown on a line


@dataclass(frozen=True, slots=True)
class BoardEntry:
    """A line: the rising term, its title (the word, or that of the event), and its newest stories."""

    rise: Rise
    title: str
    stories: tuple[Story, ...]


@dataclass(frozen=True, slots=True)
class RisingBoard:
    """A board, most surprising first. ``stories``: number of stories in the window; ``past``: in the weeks before."""

    topic: str | None
    since: datetime
    until: datetime
    stories: int
    past: int
    events: tuple[BoardEntry, ...]
    words: tuple[BoardEntry, ...]


def compile_board(store: Store, until: datetime, days: int, *, topic: str | None = None, count: int = ENTRIES) -> RisingBoard:
    """Return what rises in the ``days`` before ``until``, from stories fetched until then. Raises ``StoreError`` and ``OverflowError``."""

    def mentions(since: datetime, before: datetime) -> Iterator[Mention]:
        return map(_mention, store.founders(since, before, topic=topic, fetched=until))

    return _rising_board(store, mentions, until, days, topic, count)


def replay_boards(store: Store, moments: Iterable[datetime], *, topic: str | None = None, count: int = ENTRIES) -> Iterator[RisingBoard]:
    """Yield the boards of the day before each moment (ascending), as they were then, reading stories once and keeping those of 29 days."""
    window: deque[tuple[datetime, Mention]] = deque()
    read_until: datetime | None = None
    for until in moments:
        oldest = until - (PAST_DAYS + 1) * DAY
        window.extend((row.first_seen, _mention(row)) for row in store.founders(max(read_until or oldest, oldest), until, topic=topic))
        read_until = until
        while window and window[0][1].moment < oldest:
            window.popleft()
        present = [mention for first_seen, mention in window if first_seen < until]

        def mentions(since: datetime, before: datetime, present: list[Mention] = present) -> Iterable[Mention]:
            return (mention for mention in present if since <= mention.moment < before)

        yield _rising_board(store, mentions, until, 1, topic, count)


def _mention(row: Any) -> Mention:
    words = row.keywords or (keyword.word for keyword in keywords(row.title, ""))  # articles stored before keywords were
    return Mention(row.story_id, row.publisher, row.moment, tuple(words), row.event_id)


def _rising_board(store: Store, mentions: Mentions, until: datetime, days: int, topic: str | None, count: int) -> RisingBoard:
    found = find_rising(mentions, until, days, count)
    rises = (*found.events, *found.words)
    stories = store.by_id({id for rise in rises for id in rise.stories[:SHOWN_STORIES]})
    titles = {rise.name: event.title for rise in found.events if (event := store.events.event(rise.name)) is not None}

    def entries(kind: tuple[Rise, ...]) -> tuple[BoardEntry, ...]:
        titled = ((rise, rise.name if rise.kind == "word" else titles.get(rise.name)) for rise in kind)
        return tuple(
            BoardEntry(rise, title, tuple(stories[id] for id in rise.stories[:SHOWN_STORIES] if id in stories))
            for rise, title in titled
            if title
        )

    return RisingBoard(topic, until - days * DAY, until, found.stories, found.past, entries(found.events), entries(found.words))


def rising_row(board: RisingBoard) -> dict[str, Any]:
    """Return a board as output by the command and the API."""

    def plain(entry: BoardEntry) -> dict[str, Any]:
        rise = entry.rise
        return {
            "title": entry.title, "event": rise.name if rise.kind == "event" else rise.event, "related_words": list(rise.with_words),
            "stories": rise.count, "sites": rise.sites, "expected": round(rise.expected, 2), "surprise": round(rise.surprise, 2),
            "days": list(rise.days), "latest": [{"id": item.id, "title": item.head.title, "url": item.head.url} for item in entry.stories],
        }  # fmt: skip

    return {
        "topic": board.topic, "since": board.since, "until": board.until, "stories": board.stories, "past": board.past,
        "events": [plain(entry) for entry in board.events], "words": [plain(entry) for entry in board.words],
    }  # fmt: skip
