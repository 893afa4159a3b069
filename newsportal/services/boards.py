"""Hot lists beside one's own stories: what is on them, since when, and which stories tell of it."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final

from newsportal.sources import HotList, Sources
from newsportal.store.boards import Standing, Standings
from newsportal.store.results import Story
from newsportal.store.store import Store
from newsportal.text import segment

LOOKED_BACK: Final = timedelta(days=3)  # Stories of so many last days are looked at: what is on a hot list is of these days. Chosen.
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
class Board:
    """``at``: when it was visited last; ``None``: never."""

    key: str
    name: str
    at: datetime | None
    entries: tuple[Crossed, ...] = ()


def compile_boards(store: Store, sources: Sources, now: datetime, only: str | None = None) -> list[Board]:
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
    return [_board(source, standings.get(source.key), rows.get(source.key, ()), stories) for source in chosen]


Row = tuple[Standing, list[Any], list[tuple[str, int]]]  # an entry, the articles that tell of it, and its ranks on other lists


def _board(source: HotList, found: Standings | None, rows: Iterable[Row], stories: Mapping[str, Story]) -> Board:
    entries = (
        Crossed(
            one,
            tuple(stories[id] for id in dict.fromkeys(row.story_id for row in told) if id in stories),
            next((row.event_id for row in told if row.event_id), None),
            tuple(others),
        )
        for one, told, others in rows
    )
    return Board(source.key, source.name, found.at if found else None, tuple(entries))


def title_words(title: str) -> frozenset[str]:
    """What of a title can be shared: its words of two characters and more, digits alone left out."""
    return frozenset(word for word in segment(title.lower()) if len(word) > 1 and any(map(str.isalpha, word)))


def is_match(words: frozenset[str], shared: int) -> bool:
    return shared >= LEAST_WORDS and shared >= LEAST_SHARE * len(words)


def as_dict(board: Board) -> dict[str, Any]:
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
