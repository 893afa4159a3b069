"""The dictionary of pictures in a SQL database: each method is one transaction."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, Engine, case, func, select, update

from newsportal.pictures.filter import KEPT
from newsportal.storage.paging import chunks
from newsportal.storage.pictures import Census, Picture, Seen, Shown
from newsportal.storage.pictures_rows import look_of, news_of, picture_id, picture_of, picture_row, story_row
from newsportal.storage.rows import name
from newsportal.storage.sql.dialects import reading as read
from newsportal.storage.sql.dialects import upsert
from newsportal.storage.sql.dialects import writing as write
from newsportal.storage.sql.picture_tables import PICTURE_STORIES, PICTURES, SIGHTINGS


class SqlPictures:
    """The :class:`~newsportal.storage.pictures.Pictures` of a SQL store. Its transactions are short: a story has some thirty pictures."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def known(self, keys: Collection[str]) -> Mapping[str, Picture]:
        with read(self._engine) as connection:
            return {picture.key: picture for picture in _pictures(connection, map(picture_id, keys))}

    def saw(self, story: Shown, pictures: Sequence[Picture], *, now: datetime) -> None:
        with write(self._engine) as connection:
            saw(connection, story, pictures, now)

    def stories(self, keys: Collection[str], *, least: int, most: int) -> Mapping[str, tuple[Shown, ...]]:
        with read(self._engine) as connection:
            return stories(connection, keys, least, most)

    def alike(self, keys: Collection[str]) -> Mapping[str, frozenset[str]]:
        with read(self._engine) as connection:
            same = _same(connection, keys)
            named = {picture_id(picture.key): picture.key for picture in _pictures(connection, {id for ids in same.values() for id in ids})}
        return {key: frozenset(named[id] for id in ids if id in named) | {key} for key, ids in same.items()}

    def mark(self, reasons: Mapping[str, str | None], *, now: datetime) -> None:
        with write(self._engine) as connection:
            for key, reason in sorted(reasons.items()):
                values = {"frequent": reason, "since": now if reason else None}
                other = PICTURES.c.frequent.is_distinct_from(reason)
                connection.execute(update(PICTURES).where(PICTURES.c.id == picture_id(key), other).values(**values))

    def marked(self, *, since: datetime | None = None) -> list[Picture]:
        wanted = select(PICTURES).where(PICTURES.c.frequent != KEPT).order_by(PICTURES.c.since.desc(), PICTURES.c.id)
        if since is not None:
            wanted = wanted.where(PICTURES.c.since >= since)
        with read(self._engine) as connection:
            return [picture_of(row) for row in connection.execute(wanted).mappings()]

    def addresses(self, keys: Collection[str]) -> Mapping[str, frozenset[str]]:
        by_id = {picture_id(key): key for key in keys}
        found: dict[str, set[str]] = defaultdict(set)
        with read(self._engine) as connection:
            for chunk in chunks(by_id):
                for row in connection.execute(select(SIGHTINGS).where(SIGHTINGS.c.picture_id.in_(chunk))):
                    found[by_id[row.picture_id]].add(row.story_id)
        return {key: frozenset(ids) for key, ids in found.items()}

    def often(self, *, limit: int = 50) -> list[Seen]:
        number, sites = func.count(), func.count(PICTURE_STORIES.c.site.distinct())
        counted = (
            select(SIGHTINGS.c.picture_id, number.label("stories"), sites.label("sites"))
            .join(PICTURE_STORIES, PICTURE_STORIES.c.id == SIGHTINGS.c.story_id)
            .group_by(SIGHTINGS.c.picture_id)
            .order_by(number.desc(), SIGHTINGS.c.picture_id)
            .limit(limit)
        )
        with read(self._engine) as connection:
            rows = connection.execute(counted).all()
            by_key = {picture_id(picture.key): picture for picture in _pictures(connection, [row.picture_id for row in rows])}
        return [Seen(by_key[row.picture_id], row.stories, row.sites) for row in rows if row.picture_id in by_key]

    def census(self) -> Census:
        left_out = case((PICTURES.c.frequent != KEPT, 1))
        columns = [func.count(), *map(func.count, (PICTURES.c.looked, PICTURES.c.refused, left_out))]
        with read(self._engine) as connection:
            figures = list(connection.execute(select(*columns).select_from(PICTURES)).one())
            stories = connection.scalar(select(func.count()).select_from(PICTURE_STORIES))
        return Census(*(*figures, stories or 0))

    def counted(self, site: str) -> int:
        with read(self._engine) as connection:
            return connection.scalar(select(func.count()).where(PICTURE_STORIES.c.site == name(site))) or 0


def saw(connection: Connection, story: Shown, pictures: Sequence[Picture], now: datetime) -> None:
    """See ``Pictures.saw``."""
    rows = {picture_id(picture.key): picture_row(picture, now) for picture in pictures}
    there = {picture_id(picture.key): picture for picture in _pictures(connection, rows)}
    upsert(connection, PICTURES, list(rows.values()), update=("seen",))
    for picture in pictures:
        id = picture_id(picture.key)
        changed = news_of(picture, there.get(id))
        if changed:
            connection.execute(update(PICTURES).where(PICTURES.c.id == id).values(**changed))
    upsert(connection, PICTURE_STORIES, [story_row(story, now)], update=("site", "title", "seen"))
    upsert(connection, SIGHTINGS, [{"picture_id": id, "story_id": story.id} for id in sorted(rows)])


def stories(connection: Connection, keys: Collection[str], least: int, most: int) -> dict[str, tuple[Shown, ...]]:
    """See ``Pictures.stories``."""
    same = _same(connection, keys)
    counts = _counts(connection, {id for ids in same.values() for id in ids})
    wanted = {key: ids for key, ids in same.items() if sum(counts[id] for id in ids) >= least}
    showing = {key: _showing(connection, ids, most) for key, ids in wanted.items()}
    told = _told(connection, {id for ids in showing.values() for id in ids})
    return {key: tuple(told[id] for id in ids if id in told) for key, ids in showing.items() if len(ids) >= least}


def _same(connection: Connection, keys: Collection[str]) -> dict[str, set[str]]:
    """Key -> ids of the pictures that are this one: itself, and those with its print and its size (a thumbnail has the print alone)."""
    looks = {picture.key: look_of(picture) for picture in _pictures(connection, map(picture_id, keys)) if picture.print}
    alike: dict[tuple[Any, ...], set[str]] = defaultdict(set)
    for chunk in chunks({look[0] for look in looks.values()}):
        for row in connection.execute(select(PICTURES).where(PICTURES.c.print.in_(chunk))):
            alike[row.print, row.width, row.height].add(row.id)
    return {key: {picture_id(key)} | alike[looks.get(key, ())] for key in keys}


def _counts(connection: Connection, ids: Collection[str]) -> dict[str, int]:
    found: dict[str, int] = defaultdict(int)
    for chunk in chunks(ids):
        counted = select(SIGHTINGS.c.picture_id, func.count().label("stories")).where(SIGHTINGS.c.picture_id.in_(chunk))
        for row in connection.execute(counted.group_by(SIGHTINGS.c.picture_id)):
            found[row.picture_id] = row.stories
    return found


def _showing(connection: Connection, ids: Collection[str], most: int) -> list[str]:
    """Stories with one of these pictures, by their ids, which are hashes: a sample without favour."""
    found: set[str] = set()
    for chunk in chunks(ids):
        rows = select(SIGHTINGS.c.story_id).where(SIGHTINGS.c.picture_id.in_(chunk)).distinct()
        found.update(connection.scalars(rows.order_by(SIGHTINGS.c.story_id).limit(most)))
    return sorted(found)[:most]


def _told(connection: Connection, ids: Collection[str]) -> dict[str, Shown]:
    shown: dict[str, set[str]] = defaultdict(set)
    stories: dict[str, Any] = {}
    for chunk in chunks(ids):
        stories |= {row.id: row for row in connection.execute(select(PICTURE_STORIES).where(PICTURE_STORIES.c.id.in_(chunk)))}
        keys = select(SIGHTINGS.c.story_id, PICTURES.c.key, PICTURES.c.print).join(PICTURES, PICTURES.c.id == SIGHTINGS.c.picture_id)
        for row in connection.execute(keys.where(SIGHTINGS.c.story_id.in_(chunk))):
            shown[row.story_id].add(row.print or row.key)
    return {id: Shown(id, row.site, row.title, frozenset(shown[id])) for id, row in stories.items()}


def _pictures(connection: Connection, ids: Iterable[str]) -> list[Picture]:
    return [
        picture_of(row) for chunk in chunks(ids) for row in connection.execute(select(PICTURES).where(PICTURES.c.id.in_(chunk))).mappings()
    ]
