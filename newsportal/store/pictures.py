"""Dictionary of pictures: the stories that showed each one, and the properties read from its first bytes.

A picture is identified by the key of its URL (``key``). Stories are counted, not requests: a story saved twice counts once. It is counted
before it is stored, and remains counted after it was deleted.
"""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from sqlalchemy import Column, Connection, Index, String, Table, case, func, select, update

from newsportal.extractors.images.filter import KEPT
from newsportal.extractors.images.filter import StoryPictures as StoryPictures
from newsportal.store.columns import ID_CHARS, LONG_TEXT, METADATA, NAME_CHARS, NUMBER, Moment, build, name, name_id, storable
from newsportal.store.dialects import Part, chunks, select_in, upsert
from newsportal.store.gallery_tables import HASH_CHARS, SLUG_CHARS

PICTURES = Table(
    "pictures",
    METADATA,
    Column("id", String(ID_CHARS), primary_key=True),
    Column("key", LONG_TEXT, nullable=False),
    Column("url", LONG_TEXT, nullable=False),
    Column("width", NUMBER),
    Column("height", NUMBER),
    Column("format", String(SLUG_CHARS)),
    Column("perceptual_hash", String(HASH_CHARS), index=True),
    Column("rejected_reason", String(SLUG_CHARS)),
    Column("fetched", Moment),
    Column("frequent_reason", String(SLUG_CHARS)),
    Column("frequent_since", Moment, index=True),
    Column("last_seen", Moment, nullable=False),
)
"""``id``: hash of ``key``; ``last_seen``: when a story with it was last saved."""

PICTURE_STORIES = Table(
    "picture_stories",
    METADATA,
    Column("id", String(ID_CHARS), primary_key=True),
    Column("site", String(NAME_CHARS), nullable=False, index=True),
    Column("title_hash", String(ID_CHARS), nullable=False),
    Column("last_seen", Moment, nullable=False),
)
"""Counted stories. ``id``: of the article, ``title_hash``: hash of the letters of its title."""

SIGHTINGS = Table(
    "picture_sightings",
    METADATA,
    Column("picture_id", String(ID_CHARS), primary_key=True),
    Column("story_id", String(ID_CHARS), primary_key=True),
    Index(None, "story_id"),
)
"""Which story showed which picture."""


@dataclass(frozen=True, slots=True)
class Picture:
    """A known picture. ``key``: its identity, ``url``: where it was first seen; the other fields are ``None`` until its bytes are fetched.

    ``rejected_reason``: why its bytes are not a picture to show (a slug); ``frequent_reason``: why it is not part of stories (a slug),
    since ``frequent_since``; ``fetched``: when its bytes were fetched.
    """

    key: str
    url: str
    width: int | None = None
    height: int | None = None
    format: str | None = None
    perceptual_hash: str | None = None
    rejected_reason: str | None = None
    fetched: datetime | None = None
    frequent_reason: str | None = None
    frequent_since: datetime | None = None


@dataclass(frozen=True, slots=True)
class PictureCounts:
    """A picture, with the numbers of stories and sites that showed it."""

    picture: Picture
    stories: int
    sites: int


@dataclass(frozen=True, slots=True)
class PictureTotals:
    """Totals of the dictionary: pictures, fetched ones, rejected ones, frequent ones, stories."""

    pictures: int
    fetched: int
    rejected: int
    frequent: int
    stories: int


LEARNT: Final = ("width", "height", "format", "perceptual_hash", "rejected_reason", "fetched")  # columns filled from a picture's bytes


def columns_of(picture: Picture) -> dict[str, Any]:
    return {column: getattr(picture, column) for column in LEARNT}


class Pictures(Part):
    """The dictionary of pictures. Transactions are short: a story has about thirty pictures."""

    def find_stored(self, keys: Collection[str]) -> Mapping[str, Picture]:
        """Map keys to pictures, of those that are known."""
        with self._read() as connection:
            return {picture.key: picture for picture in _pictures(connection, map(name_id, keys))}

    def record_story(self, story: StoryPictures, pictures: Sequence[Picture], *, now: datetime) -> None:
        """Record that the story shows these pictures (``story.pictures`` are their keys), in addition to earlier ones; properties read from
        their bytes (``fetched``) replace older ones."""
        with self._write() as connection:
            by_id = {name_id(picture.key): picture for picture in pictures}
            rows = {
                id: {"id": id, "key": storable(new.key), "url": storable(new.url), "last_seen": now, **columns_of(new)}
                for id, new in by_id.items()
            }
            existing = {name_id(picture.key): picture for picture in _pictures(connection, rows)}
            upsert(connection, PICTURES, list(rows.values()), update=("last_seen",))
            for picture in pictures:
                id = name_id(picture.key)
                stored = existing.get(id)
                if stored is not None and picture.fetched is not None and columns_of(picture) != columns_of(stored):
                    connection.execute(update(PICTURES).where(PICTURES.c.id == id).values(**columns_of(picture)))
            row = {"id": story.id, "site": name(story.site), "title_hash": name(story.title)[:ID_CHARS], "last_seen": now}
            upsert(connection, PICTURE_STORIES, [row], update=("site", "title_hash", "last_seen"))
            upsert(connection, SIGHTINGS, [{"picture_id": id, "story_id": story.id} for id in sorted(rows)])

    def stories(self, keys: Collection[str], *, min_stories: int, max_stories: int) -> Mapping[str, tuple[StoryPictures, ...]]:
        """Map keys to stories that show the picture or one with the same hash and size, at most ``max_stories``; pictures of fewer than
        ``min_stories`` are left out. The stories' ``pictures`` are given by their hashes if known, else by their keys."""
        with self._read() as connection:
            same = _same(connection, keys)
            query = select(SIGHTINGS.c.picture_id, func.count().label("stories")).group_by(SIGHTINGS.c.picture_id)
            rows = select_in(connection, query, SIGHTINGS.c.picture_id, {id for ids in same.values() for id in ids})
            counts = Counter({row["picture_id"]: row["stories"] for row in rows})
            selected = {key: ids for key, ids in same.items() if sum(counts[id] for id in ids) >= min_stories}
            showing = {key: _showing(connection, ids, max_stories) for key, ids in selected.items()}
            occurrences = _read_occurrences(connection, {id for ids in showing.values() for id in ids})
        return {key: tuple(occurrences[id] for id in ids if id in occurrences) for key, ids in showing.items() if len(ids) >= min_stories}

    def equal_keys(self, keys: Collection[str]) -> Mapping[str, frozenset[str]]:
        """Map keys to the keys of equal pictures: itself, and those with the same hash and size (a thumbnail only has the same hash)."""
        with self._read() as connection:
            same = _same(connection, keys)
            by_id = {name_id(picture.key): picture.key for picture in _pictures(connection, {id for ids in same.values() for id in ids})}
        return {key: frozenset(by_id[id] for id in ids if id in by_id) | {key} for key, ids in same.items()}

    def mark(self, reasons: Mapping[str, str | None], *, now: datetime) -> None:
        """Mark pictures as not part of stories, with the reason (``None``: remove the mark; ``kept``: never mark, set by an editor)."""
        with self._write() as connection:
            for key, reason in sorted(reasons.items()):
                values = {"frequent_reason": reason, "frequent_since": now if reason else None}
                changed = PICTURES.c.frequent_reason.is_distinct_from(reason)
                connection.execute(update(PICTURES).where(PICTURES.c.id == name_id(key), changed).values(**values))

    def list_frequent(self, *, since: datetime | None = None) -> list[Picture]:
        """Return the frequent pictures (marked at ``since`` or later), latest first."""
        query = select(PICTURES).where(PICTURES.c.frequent_reason != KEPT).order_by(PICTURES.c.frequent_since.desc(), PICTURES.c.id)
        if since is not None:
            query = query.where(PICTURES.c.frequent_since >= since)
        return [build(Picture, row) for row in self._mappings(query)]

    def addresses(self, keys: Collection[str]) -> Mapping[str, frozenset[str]]:
        """Map keys to the ids of the stories that show the picture."""
        by_id = {name_id(key): key for key in keys}
        found: dict[str, set[str]] = defaultdict(set)
        for row in self._select_in(select(SIGHTINGS), SIGHTINGS.c.picture_id, by_id):
            found[by_id[row["picture_id"]]].add(row["story_id"])
        return {key: frozenset(ids) for key, ids in found.items()}

    def most_frequent(self, *, limit: int = 50) -> list[PictureCounts]:
        number, sites = func.count(), func.count(PICTURE_STORIES.c.site.distinct())
        query = (
            select(SIGHTINGS.c.picture_id, number.label("stories"), sites.label("sites"))
            .join(PICTURE_STORIES, PICTURE_STORIES.c.id == SIGHTINGS.c.story_id)
            .group_by(SIGHTINGS.c.picture_id)
            .order_by(number.desc(), SIGHTINGS.c.picture_id)
            .limit(limit)
        )
        with self._read() as connection:
            rows = connection.execute(query).all()
            by_key = {name_id(picture.key): picture for picture in _pictures(connection, [row.picture_id for row in rows])}
        return [PictureCounts(by_key[row.picture_id], row.stories, row.sites) for row in rows if row.picture_id in by_key]

    def totals(self) -> PictureTotals:
        left_out = case((PICTURES.c.frequent_reason != KEPT, 1))
        columns = [func.count(), *map(func.count, (PICTURES.c.fetched, PICTURES.c.rejected_reason, left_out))]
        with self._read() as connection:
            figures = list(connection.execute(select(*columns).select_from(PICTURES)).one())
            stories = connection.scalar(select(func.count()).select_from(PICTURE_STORIES))
        return PictureTotals(*(*figures, stories or 0))

    def counts_of_site(self, site: str) -> int:
        return self._scalar(select(func.count()).where(PICTURE_STORIES.c.site == name(site))) or 0


def _same(connection: Connection, keys: Collection[str]) -> dict[str, set[str]]:
    pictures = [picture for picture in _pictures(connection, map(name_id, keys)) if picture.perceptual_hash]
    features = {picture.key: (picture.perceptual_hash, picture.width, picture.height) for picture in pictures}
    alike: dict[tuple[Any, ...], set[str]] = defaultdict(set)
    for row in select_in(connection, select(PICTURES), PICTURES.c.perceptual_hash, {feature[0] for feature in features.values()}):
        alike[row["perceptual_hash"], row["width"], row["height"]].add(row["id"])
    return {key: {name_id(key)} | alike[features.get(key, ())] for key in keys}


def _showing(connection: Connection, ids: Collection[str], limit: int) -> list[str]:
    """Return stories with one of these pictures, by id; ids are hashes, so this is an unbiased sample."""
    found: set[str] = set()
    for chunk in chunks(ids):
        query = select(SIGHTINGS.c.story_id).where(SIGHTINGS.c.picture_id.in_(chunk)).distinct()
        found.update(connection.scalars(query.order_by(SIGHTINGS.c.story_id).limit(limit)))
    return sorted(found)[:limit]


def _read_occurrences(connection: Connection, ids: Collection[str]) -> dict[str, StoryPictures]:
    pictures: dict[str, set[str]] = defaultdict(set)
    query = select(SIGHTINGS.c.story_id, PICTURES.c.key, PICTURES.c.perceptual_hash).join(PICTURES, PICTURES.c.id == SIGHTINGS.c.picture_id)
    for row in select_in(connection, query, SIGHTINGS.c.story_id, ids):
        pictures[row["story_id"]].add(row["perceptual_hash"] or row["key"])
    stories = select_in(connection, select(PICTURE_STORIES), PICTURE_STORIES.c.id, ids)
    return {row["id"]: StoryPictures(row["id"], row["site"], row["title_hash"], frozenset(pictures[row["id"]])) for row in stories}


def _pictures(connection: Connection, ids: Iterable[str]) -> list[Picture]:
    return [build(Picture, row) for row in select_in(connection, select(PICTURES), PICTURES.c.id, ids)]
