"""Photo stories: each method is one transaction."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, Connection, Select, and_, exists, func, or_, select

from newsportal.items import Gallery, GalleryPage, content_id
from newsportal.store import gallery_writing
from newsportal.store.article_rows import article_from
from newsportal.store.columns import name, storable
from newsportal.store.dialects import Part, chunks
from newsportal.store.gallery_rows import WALL_KINDS, WALL_ORDERS, gallery_of, page_of, stored_pictures
from newsportal.store.gallery_tables import (
    GALLERIES,
    GALLERY_LABELS,
    GALLERY_PAGES,
    GALLERY_PICTURES,
    LEFT_ALONE,
    REFUSED_GALLERIES,
    SavedGallery,
    StoredGallery,
    StoredPicture,
    WallFilter,
    WallPage,
    WallStory,
)
from newsportal.store.lists import EXCERPT_CHARS, cursor, edge
from newsportal.store.reading import topics_of
from newsportal.store.tables import ALIASES, ARTICLES, STORIES


class Galleries(Part):
    """Photo stories, their pages and pictures."""

    def put(self, identity: str, page: GalleryPage, *, now: datetime) -> None:
        """Keep one page of the story known as ``identity``, whoever read it and in whatever order; the same page again replaces it."""
        with self._write() as connection:
            gallery_writing.put(connection, identity, page, now)

    def pages(self, identity: str) -> list[GalleryPage]:
        """The pages kept so far, by number, those without one last. They go when the story is saved complete."""
        wanted = select(GALLERY_PAGES.c.said).where(GALLERY_PAGES.c.gallery == content_id(storable(identity)))
        in_order = wanted.order_by(GALLERY_PAGES.c.number.is_(None), GALLERY_PAGES.c.number, GALLERY_PAGES.c.seen, GALLERY_PAGES.c.page)
        with self._read() as connection:
            return [page_of(said) for said in connection.scalars(in_order)]

    def save(self, gallery: Gallery, *, now: datetime) -> SavedGallery:
        """Write a photo story with its pictures, those left out too, in one transaction with its row of the change log. An incomplete one
        is kept, and is finished when it is saved again with more; one that is saved again with less stays as it was."""
        with self._write() as connection:
            return gallery_writing.save(connection, gallery, now)

    def refuse(self, identity: str, reason: str, *, now: datetime) -> None:
        """What is known as ``identity`` is no photo story (an index page, a dead link); ``reason`` is a slug."""
        with self._write() as connection:
            gallery_writing.refuse(connection, identity, reason, now)

    def refused(self, identities: Collection[str], *, now: datetime) -> set[str]:
        """Those of these identities that were refused within :data:`LEFT_ALONE`."""
        by_id = {content_id(storable(identity)): identity for identity in identities}
        found: set[str] = set()
        with self._read() as connection:
            for chunk in chunks(by_id):
                lately = select(REFUSED_GALLERIES.c.name).where(
                    REFUSED_GALLERIES.c.name.in_(chunk), REFUSED_GALLERIES.c.seen > now - LEFT_ALONE
                )
                found |= {by_id[name] for name in connection.scalars(lately)}
        return found

    def drop(self, *, urls: Collection[str] = (), prints: Collection[str] = (), reason: str | None, now: datetime) -> int:
        """Leave pictures out of the stories that have them, by address or perceptual hash; ``reason`` is a slug (``None``: show them
        again). Answers how many pictures of stories that changed; each story's text, figures and score follow."""
        with self._write() as connection:
            return gallery_writing.drop(connection, urls, prints, reason, now)

    def caption(self, id: str, captions: Mapping[str, str | None], *, now: datetime) -> int:
        """An editor's captions in place of the pages': address of a picture → what it is to say (``""``: nothing; ``None``: again what its
        page says). They stand whatever later visits bring. Answers how many say something else now."""
        with self._write() as connection:
            return gallery_writing.caption(connection, id, captions, now)

    def known(self, identities: Collection[str]) -> Mapping[str, StoredGallery]:
        """Identity → photo story, of those that are stored; a name of any of its pages (an alias) leads to it."""
        by_id = {content_id(storable(identity)): identity for identity in identities}
        with self._read() as connection:
            leads = _leads(connection, by_id)
            found = _galleries(connection, set(leads.values()))
        return {by_id[name]: found[id] for name, id in leads.items() if id in found}

    def gallery(self, id: str) -> StoredGallery | None:
        with self._read() as connection:
            return _galleries(connection, {id}).get(id)

    def sizes(self, ids: Collection[str]) -> Mapping[str, int]:
        """Id → how many pictures a photo story shows, of those that exist."""
        found: dict[str, int] = {}
        with self._read() as connection:
            for chunk in chunks(ids):
                wanted = select(GALLERIES.c.id, GALLERIES.c.pictures).where(GALLERIES.c.id.in_(chunk))
                found |= {row.id: row.pictures for row in connection.execute(wanted)}
        return found

    def pictures(self, id: str, *, dropped: bool = False) -> list[StoredPicture]:
        """The pictures of a photo story in order; with ``dropped``, those left out too, at the end."""
        wanted = select(GALLERY_PICTURES).where(GALLERY_PICTURES.c.gallery_id == id).order_by(GALLERY_PICTURES.c.number)
        with self._read() as connection:
            rows = [dict(row) for row in connection.execute(wanted).mappings()]
        return stored_pictures(rows, dropped)

    def incomplete(self, *, limit: int = 100) -> list[StoredGallery]:
        """Those that lack pages, the latest visited first."""
        wanted = _joined().where(GALLERIES.c.complete.is_(False)).order_by(GALLERIES.c.visited.desc(), GALLERIES.c.id).limit(limit)
        with self._read() as connection:
            return [gallery_of(dict(row)) for row in connection.execute(wanted).mappings()]

    def wall(self, which: WallFilter) -> WallPage:
        """Photo stories with pictures, one of each story (its head), by score or by time."""
        with self._read() as connection:
            limit = max(1, which.limit)
            rows = [dict(row) for row in connection.execute(_page(which).limit(limit + 1)).mappings()]
            topics = topics_of(connection, [row["id"] for row in rows])
            found = tuple(
                WallStory(article_from(row, topics.get(row["id"], ())), gallery_of(row), row["count"], row["sites"]) for row in rows[:limit]
            )
            return WallPage(found, cursor(rows[limit - 1]["order_key"], rows[limit - 1]["id"]) if len(rows) > limit else None)


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


FIGURES = tuple(column for column in GALLERIES.c if column.name not in ("id", "text", "moment"))


def _page(which: WallFilter) -> Select[Any]:
    given = [(kind, name(value)) for kind in WALL_KINDS if (value := getattr(which, kind)) is not None]
    driver = GALLERY_LABELS if given else GALLERIES
    key, id = driver.c[WALL_ORDERS[which.order]], GALLERY_LABELS.c.gallery_id if given else GALLERIES.c.id
    excerpt = func.substr(ARTICLES.c.text, 1, EXCERPT_CHARS).label("text")
    head = [column for column in ARTICLES.c if column.name not in ("text", "html")]
    statement = select(*head, excerpt, *FIGURES, STORIES.c.count, STORIES.c.sites, key.label("order_key")).select_from(driver)
    if given:
        statement = statement.join(GALLERIES, GALLERIES.c.id == GALLERY_LABELS.c.gallery_id)
    return (
        statement.join(ARTICLES, ARTICLES.c.id == GALLERIES.c.id)
        .join(STORIES, and_(STORIES.c.id == ARTICLES.c.story_id, STORIES.c.head_id == GALLERIES.c.id))
        .where(GALLERIES.c.pictures > 0, STORIES.c.count > 0, *_narrowed(given), *_behind(which, key, id))
        .order_by(key.desc(), id.desc())
    )


def _narrowed(given: Sequence[tuple[str, str]]) -> Iterator[ColumnElement[bool]]:
    for place, (kind, value) in enumerate(given):
        labels = GALLERY_LABELS if place == 0 else GALLERY_LABELS.alias(f"also_{kind}")
        fits = and_(labels.c.kind == kind, labels.c.value == value)
        yield fits if place == 0 else exists().where(labels.c.gallery_id == GALLERIES.c.id, fits)


def _behind(which: WallFilter, key: ColumnElement[Any], id: ColumnElement[str]) -> list[ColumnElement[bool]]:
    found = edge(which)
    return [] if found is None else [key <= found[0], or_(key < found[0], id < found[1])]  # the first: where the index is entered
