"""Photo stories in a SQL database: each method is one transaction. Writes: :mod:`galleries_writing`; the wall: :mod:`galleries_wall`."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, Engine, Select, select

from newsportal.items import Gallery, GalleryPage, content_id
from newsportal.storage.galleries import LEFT_ALONE, SavedGallery, StoredGallery, StoredPicture, WallFilter, WallPage
from newsportal.storage.galleries_rows import gallery_of, page_of, stored_pictures
from newsportal.storage.rows import storable
from newsportal.storage.sql import galleries_wall, galleries_writing
from newsportal.storage.sql.dialects import reading as read
from newsportal.storage.sql.dialects import writing as write
from newsportal.storage.sql.gallery_tables import GALLERIES, GALLERY_PAGES, PICTURES, REFUSED
from newsportal.storage.sql.reading import chunks
from newsportal.storage.sql.tables import ALIASES, ARTICLES


class SqlGalleries:
    """The :class:`~newsportal.storage.galleries.Galleries` of a SQL store."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def put(self, identity: str, page: GalleryPage, *, now: datetime) -> None:
        with write(self._engine) as connection:
            galleries_writing.put(connection, identity, page, now)

    def pages(self, identity: str) -> list[GalleryPage]:
        wanted = select(GALLERY_PAGES.c.said).where(GALLERY_PAGES.c.gallery == content_id(storable(identity)))
        in_order = wanted.order_by(GALLERY_PAGES.c.number.is_(None), GALLERY_PAGES.c.number, GALLERY_PAGES.c.seen, GALLERY_PAGES.c.page)
        with read(self._engine) as connection:
            return [page_of(said) for said in connection.scalars(in_order)]

    def save(self, gallery: Gallery, *, now: datetime) -> SavedGallery:
        with write(self._engine) as connection:
            return galleries_writing.save(connection, gallery, now)

    def refuse(self, identity: str, reason: str, *, now: datetime) -> None:
        with write(self._engine) as connection:
            galleries_writing.refuse(connection, identity, reason, now)

    def refused(self, identities: Collection[str], *, now: datetime) -> set[str]:
        by_id = {content_id(storable(identity)): identity for identity in identities}
        found: set[str] = set()
        with read(self._engine) as connection:
            for chunk in chunks(by_id):
                lately = select(REFUSED.c.name).where(REFUSED.c.name.in_(chunk), REFUSED.c.seen > now - LEFT_ALONE)
                found |= {by_id[name] for name in connection.scalars(lately)}
        return found

    def drop(self, *, urls: Collection[str] = (), prints: Collection[str] = (), reason: str | None, now: datetime) -> int:
        with write(self._engine) as connection:
            return galleries_writing.drop(connection, urls, prints, reason, now)

    def caption(self, id: str, captions: Mapping[str, str | None], *, now: datetime) -> int:
        with write(self._engine) as connection:
            return galleries_writing.caption(connection, id, captions, now)

    def known(self, identities: Collection[str]) -> Mapping[str, StoredGallery]:
        by_id = {content_id(storable(identity)): identity for identity in identities}
        with read(self._engine) as connection:
            leads = _leads(connection, by_id)
            found = _galleries(connection, set(leads.values()))
        return {by_id[name]: found[id] for name, id in leads.items() if id in found}

    def gallery(self, id: str) -> StoredGallery | None:
        with read(self._engine) as connection:
            return _galleries(connection, {id}).get(id)

    def sizes(self, ids: Collection[str]) -> Mapping[str, int]:
        found: dict[str, int] = {}
        with read(self._engine) as connection:
            for chunk in chunks(ids):
                wanted = select(GALLERIES.c.id, GALLERIES.c.pictures).where(GALLERIES.c.id.in_(chunk))
                found |= {row.id: row.pictures for row in connection.execute(wanted)}
        return found

    def pictures(self, id: str, *, dropped: bool = False) -> list[StoredPicture]:
        wanted = select(PICTURES).where(PICTURES.c.gallery_id == id).order_by(PICTURES.c.number)
        with read(self._engine) as connection:
            rows = [dict(row) for row in connection.execute(wanted).mappings()]
        return stored_pictures(rows, dropped)

    def incomplete(self, *, limit: int = 100) -> list[StoredGallery]:
        wanted = _joined().where(GALLERIES.c.complete.is_(False)).order_by(GALLERIES.c.visited.desc(), GALLERIES.c.id).limit(limit)
        with read(self._engine) as connection:
            return [gallery_of(dict(row)) for row in connection.execute(wanted).mappings()]

    def wall(self, which: WallFilter) -> WallPage:
        with read(self._engine) as connection:
            return galleries_wall.wall(connection, which)


def _joined() -> Select[Any]:
    return select(GALLERIES, ARTICLES.c.identity).join(ARTICLES, ARTICLES.c.id == GALLERIES.c.id)


def _galleries(connection: Connection, ids: Collection[str]) -> dict[str, StoredGallery]:
    found: dict[str, StoredGallery] = {}
    for chunk in chunks(ids):
        found |= {row["id"]: gallery_of(dict(row)) for row in connection.execute(_joined().where(GALLERIES.c.id.in_(chunk))).mappings()}
    return found


def _leads(connection: Connection, names: Collection[str]) -> dict[str, str]:
    """Hash of a name → the article that it leads to, itself or as an alias."""
    leads: dict[str, str] = {}
    for chunk in chunks(names):
        aliases = select(ALIASES.c.id, ALIASES.c.article_id).where(ALIASES.c.id.in_(chunk))
        leads |= {row.id: row.article_id for row in connection.execute(aliases)}
    return {name: leads.get(name, name) for name in names}
