"""The dictionary of pictures in a database of documents: each method that writes is one transaction."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any, Final

from newsportal.pictures.filter import KEPT
from newsportal.storage.documents.base import Condition, Documents, In, Is, Not, Rows, Transaction, Within, moment_in
from newsportal.storage.documents.plain import aware, in_pages, plain
from newsportal.storage.documents.room_tables import PICTURE_STORIES, PICTURES, SIGHTINGS, row_id
from newsportal.storage.paging import chunks
from newsportal.storage.pictures import Census, Picture, Seen, Shown
from newsportal.storage.pictures_rows import look_of, news_of, picture_id, picture_of, picture_row, story_row
from newsportal.storage.rows import name

FREQUENT: Final = (Not(Is("frequent", None)), Not(Is("frequent", KEPT)))


class DocumentPictures:
    """The :class:`~newsportal.storage.pictures.Pictures` of a store over documents."""

    def __init__(self, documents: Documents) -> None:
        self._documents = documents

    def known(self, keys: Collection[str]) -> Mapping[str, Picture]:
        return {picture.key: picture for picture in _pictures(self._documents, map(picture_id, keys)).values()}

    def saw(self, story: Shown, pictures: Sequence[Picture], *, now: datetime) -> None:
        with self._documents.writing() as transaction:
            _saw(transaction, story, pictures, now)

    def stories(self, keys: Collection[str], *, least: int, most: int) -> Mapping[str, tuple[Shown, ...]]:
        same = _same(self._documents, keys)
        counts = _counts(self._documents, {id for ids in same.values() for id in ids})
        wanted = {key: ids for key, ids in same.items() if sum(counts[id] for id in ids) >= least}
        showing = {key: _showing(self._documents, ids, most) for key, ids in wanted.items()}
        told = _told(self._documents, {id for ids in showing.values() for id in ids})
        return {key: tuple(told[id] for id in ids if id in told) for key, ids in showing.items() if len(ids) >= least}

    def alike(self, keys: Collection[str]) -> Mapping[str, frozenset[str]]:
        same = _same(self._documents, keys)
        named = _pictures(self._documents, {id for ids in same.values() for id in ids})
        return {key: frozenset(named[id].key for id in ids if id in named) | {key} for key, ids in same.items()}

    def counted(self, site: str) -> int:
        return self._documents.count(PICTURE_STORIES, Is("site", name(site)))

    def mark(self, reasons: Mapping[str, str | None], *, now: datetime) -> None:
        with self._documents.writing() as transaction:
            there = transaction.get(PICTURES, _ids(reasons))
            for key, reason in sorted(reasons.items()):
                row = there.get(picture_id(key))
                if row is not None and row["frequent"] != reason:
                    transaction.put(PICTURES, {**row, "frequent": reason, "since": moment_in(now) if reason else None})

    def marked(self, *, since: datetime | None = None) -> list[Picture]:
        wanted: list[Condition] = [*FREQUENT, *([Within("since", low=moment_in(since))] if since is not None else [])]
        found = self._documents.find(PICTURES, *wanted, order=("-since", "id"))
        return [_picture(row) for row in found]

    def addresses(self, keys: Collection[str]) -> Mapping[str, frozenset[str]]:
        by_id = {picture_id(key): key for key in keys}
        found: dict[str, set[str]] = defaultdict(set)
        for chunk in chunks(by_id):
            for row in self._documents.find(SIGHTINGS, In("picture_id", chunk)):
                found[by_id[row["picture_id"]]].add(row["story_id"])
        return {key: frozenset(ids) for key, ids in found.items()}

    def often(self, *, limit: int = 50) -> list[Seen]:
        stories = self._documents.count_by(SIGHTINGS, "picture_id")
        most = sorted(stories, key=lambda id: (-stories[id], id))[:limit]
        there = _pictures(self._documents, most)
        sites = {id: len(self._documents.count_by(SIGHTINGS, "site", Is("picture_id", id))) for id in there}
        return [Seen(there[id], stories[id], sites[id]) for id in most if id in there]

    def census(self) -> Census:
        conditions = [(), (Not(Is("looked", None)),), (Not(Is("refused", None)),), FREQUENT]
        figures = [self._documents.count(PICTURES, *where) for where in conditions]
        return Census(*(*figures, self._documents.count(PICTURE_STORIES)))


def _ids(keys: Iterable[str]) -> list[str]:
    return list(map(picture_id, keys))


def _saw(transaction: Transaction, story: Shown, pictures: Sequence[Picture], now: datetime) -> None:
    """See ``Pictures.saw``."""
    there = transaction.get(PICTURES, _ids(picture.key for picture in pictures))
    met: set[str] = set()
    for picture in pictures:
        id = picture_id(picture.key)
        if id in there:
            there[id] |= {"seen": moment_in(now), **plain(news_of(picture, _picture(there[id])))}
            transaction.put(PICTURES, there[id])
        elif id not in met:
            transaction.put(PICTURES, {**plain(picture_row(picture, now)), "frequent": None, "since": None})
        met.add(id)
    row = story_row(story, now)
    before = transaction.get(PICTURE_STORIES, [story.id]).get(story.id)
    transaction.put(PICTURE_STORIES, plain(row))
    shown = {row_id(id, story.id): id for id in sorted(met)}
    if before is not None and before["site"] != row["site"]:  # sightings have the site of their story beside them
        shown |= {one["id"]: one["picture_id"] for one in transaction.find(SIGHTINGS, Is("story_id", story.id))}
        seen = set()
    else:
        seen = set(transaction.get(SIGHTINGS, shown)) if before is not None else set()
    for key, id in shown.items():
        if key not in seen:
            transaction.put(SIGHTINGS, {"id": key, "picture_id": id, "story_id": story.id, "site": row["site"]})


def _same(rows: Rows, keys: Collection[str]) -> dict[str, set[str]]:
    """Key -> ids of the pictures that are this one: itself, and those with its print and its size (a thumbnail has the print alone)."""
    looks = {picture.key: look_of(picture) for picture in _pictures(rows, map(picture_id, keys)).values() if picture.print}
    alike: dict[tuple[Any, ...], set[str]] = defaultdict(set)
    for chunk in chunks({print for print, *_ in looks.values()}):
        for row in rows.find(PICTURES, In("print", chunk), only=("print", "width", "height")):
            alike[row["print"], row["width"], row["height"]].add(row["id"])
    return {key: {picture_id(key)} | alike[looks.get(key, ())] for key in keys}


def _counts(rows: Rows, ids: Collection[str]) -> Counter[str]:
    """Picture → stories that show it."""
    found: Counter[str] = Counter()
    for chunk in chunks(ids):
        found.update(rows.count_by(SIGHTINGS, "picture_id", In("picture_id", chunk)))
    return found


def _showing(rows: Rows, ids: Collection[str], most: int) -> list[str]:
    """Stories with one of these pictures, by their ids, which are hashes: a sample without favour."""
    found: set[str] = set()
    for chunk in chunks(ids):
        here: set[str] = set()
        for page in in_pages(rows, SIGHTINGS, In("picture_id", chunk), order=("story_id",), only=("story_id",)):
            here.update(row["story_id"] for row in page)
            if len(here) >= most:
                break
        found |= here
    return sorted(found)[:most]


def _told(rows: Rows, ids: Collection[str]) -> dict[str, Shown]:
    shown: dict[str, set[str]] = defaultdict(set)
    stories: dict[str, Any] = {}
    for chunk in chunks(ids):
        stories |= rows.get(PICTURE_STORIES, chunk)
        sightings = rows.find(SIGHTINGS, In("story_id", chunk), only=("story_id", "picture_id"))
        pictures = _pictures(rows, {row["picture_id"] for row in sightings})
        for row in sightings:
            if row["picture_id"] in pictures:
                picture = pictures[row["picture_id"]]
                shown[row["story_id"]].add(picture.print or picture.key)
    return {id: Shown(id, row["site"], row["title"], frozenset(shown[id])) for id, row in stories.items()}


def _pictures(rows: Rows, ids: Iterable[str]) -> dict[str, Picture]:
    """Id → picture, of those there are."""
    return {id: _picture(row) for chunk in chunks(ids) for id, row in rows.get(PICTURES, chunk).items()}


def _picture(row: Mapping[str, Any]) -> Picture:
    return picture_of(aware(row, "looked", "since"))
