"""What changes photo stories: each function runs inside the caller's write transaction and leaves its rows in the change log."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, Connection, delete, insert, select, update

from newsportal.items import Article, Gallery, GalleryPage, content_id
from newsportal.store import gallery_folding
from newsportal.store.article_rows import topics_of
from newsportal.store.columns import storable
from newsportal.store.dialects import chunks, upsert
from newsportal.store.gallery_folding import refresh_galleries
from newsportal.store.gallery_rows import (
    PAGES_KEPT,
    article_of,
    followed,
    identity_of,
    in_vain,
    is_fuller,
    outcome,
    picture_rows,
    recaptioned,
    revised,
    said,
    slug,
    written,
)
from newsportal.store.gallery_tables import (
    GALLERIES,
    GALLERY_PAGES,
    GALLERY_PICTURES,
    LEFT_ALONE,
    REFUSED_GALLERIES,
    SavedGallery,
)
from newsportal.store.reading import find
from newsportal.store.tables import ARTICLES
from newsportal.store.writing import add_topics, insert_alone, log


def put(connection: Connection, identity: str, page: GalleryPage, now: datetime) -> None:
    """See ``Galleries.put``."""
    row = {"gallery": _hash(identity), "page": _hash(page.url), "number": page.number, "seen": now, "said": said(page)}
    upsert(connection, GALLERY_PAGES, [row], update=("number", "seen", "said"))


def refuse(connection: Connection, identity: str, reason: str, now: datetime) -> None:
    """See ``Galleries.refuse``. What was refused too long ago is forgotten."""
    connection.execute(delete(REFUSED_GALLERIES).where(REFUSED_GALLERIES.c.seen < now - LEFT_ALONE))
    upsert(connection, REFUSED_GALLERIES, [{"name": _hash(identity), "reason": slug(reason) or "", "seen": now}], update=("reason", "seen"))


def save(connection: Connection, gallery: Gallery, now: datetime) -> SavedGallery:
    """See ``Galleries.save``."""
    identity = identity_of(gallery)
    article = article_of(gallery)
    there = find(connection, identity)
    id = there or insert_alone(connection, article, now)[0]
    found = connection.execute(select(GALLERIES).where(GALLERIES.c.id == id)).mappings().first()
    kept = dict(found) if found else None
    grown = is_fuller(kept, gallery, lambda: _named(connection, id))
    _write(connection, id, gallery, kept, grown, now)
    if grown and there is not None:
        _revise(connection, id, article)
    met = add_topics(connection, id, topics_of(article))
    if gallery.complete:
        connection.execute(delete(GALLERY_PAGES).where(GALLERY_PAGES.c.gallery.in_({id, _hash(identity)})))
    connection.execute(delete(GALLERY_PAGES).where(GALLERY_PAGES.c.seen < now - PAGES_KEPT))
    if grown:
        _follow(connection, id)
        _part(connection, id, now)
        gallery_folding.fold_gallery(connection, id)
    row = connection.execute(select(ARTICLES.c.story_id, ARTICLES.c.fold_of).where(ARTICLES.c.id == id)).one()
    if grown or met:
        refresh_galleries(connection, row.story_id)
        log(connection, "article", id, now)
    complete = gallery.complete or bool(kept and kept["complete"])
    told: Any = outcome(kept is not None, grown, bool(row.fold_of))
    return SavedGallery(told, id, row.story_id, complete, in_vain(kept, gallery, grown))


def _hash(text: str) -> str:
    return content_id(storable(text))


def _named(connection: Connection, id: str) -> list[tuple[str, str | None]]:
    """Names and captions of a story's pictures."""
    rows = connection.execute(select(GALLERY_PICTURES.c.name, GALLERY_PICTURES.c.caption).where(GALLERY_PICTURES.c.gallery_id == id))
    return [(row.name, row.caption) for row in rows]


def _write(connection: Connection, id: str, gallery: Gallery, kept: dict[str, Any] | None, grown: bool, now: datetime) -> None:
    """The row of ``galleries`` and, where it grew, its pictures."""
    values = written(kept, gallery, grown, now)
    if kept is None:
        connection.execute(insert(GALLERIES), {"id": id, **values})
    elif values:
        connection.execute(update(GALLERIES).where(GALLERIES.c.id == id).values(**values))
    if grown:
        at = GALLERY_PICTURES.c.gallery_id == id
        there = connection.execute(select(GALLERY_PICTURES.c.name, GALLERY_PICTURES.c.dropped, GALLERY_PICTURES.c.said).where(at)).all()
        left = {row.name: row.dropped for row in there if row.dropped is not None}
        words = {row.name: row.said for row in there if row.said is not None}
        connection.execute(delete(GALLERY_PICTURES).where(at))
        rows = picture_rows(id, gallery, left, words)
        if rows:
            connection.execute(insert(GALLERY_PICTURES), rows)


def _revise(connection: Connection, id: str, article: Article) -> None:
    """What a later visit says of a known article."""
    known = dict(connection.execute(select(ARTICLES).where(ARTICLES.c.id == id)).mappings().one())
    connection.execute(update(ARTICLES).where(ARTICLES.c.id == id).values(**revised(known, article)))


def _follow(connection: Connection, id: str) -> None:
    """Work out what a story's pictures decide: its number of pictures, the article's text and first pictures, its moment."""
    shown = GALLERY_PICTURES.c.dropped.is_(None)
    rows = (
        connection.execute(select(GALLERY_PICTURES).where(GALLERY_PICTURES.c.gallery_id == id, shown).order_by(GALLERY_PICTURES.c.number))
        .mappings()
        .all()
    )
    own = connection.scalar(select(GALLERIES.c.text).where(GALLERIES.c.id == id)) or ""
    connection.execute(update(ARTICLES).where(ARTICLES.c.id == id).values(**followed(own, [dict(row) for row in rows])))
    moment = connection.scalar(select(ARTICLES.c.moment).where(ARTICLES.c.id == id))
    connection.execute(update(GALLERIES).where(GALLERIES.c.id == id).values(pictures=len(rows), moment=moment))


def caption(connection: Connection, id: str, captions: Mapping[str, str | None], now: datetime) -> int:
    """See ``Galleries.caption``."""
    wanted = {_hash(url): said for url, said in captions.items()}
    changed = 0
    for row in connection.execute(select(GALLERY_PICTURES).where(GALLERY_PICTURES.c.gallery_id == id)).mappings().all():
        said = recaptioned(dict(row), wanted[row["name"]]) if row["name"] in wanted else row["said"]
        if said != row["said"]:
            at = (GALLERY_PICTURES.c.gallery_id == id, GALLERY_PICTURES.c.number == row["number"])
            connection.execute(update(GALLERY_PICTURES).where(*at).values(said=said))
            changed += 1
    if changed:
        _follow(connection, id)
        refresh_galleries(connection, _story_of(connection, id))
        log(connection, "article", id, now)
    return changed


def drop(connection: Connection, urls: Collection[str], prints: Collection[str], reason: str | None, now: datetime) -> int:
    """See ``Galleries.drop``."""
    dropped = slug(reason)
    changing = GALLERY_PICTURES.c.dropped.is_(None) if dropped is not None else GALLERY_PICTURES.c.dropped.is_not(None)
    wanted: list[ColumnElement[bool]] = [GALLERY_PICTURES.c.name.in_(chunk) for chunk in chunks({_hash(url) for url in urls})]
    wanted += [GALLERY_PICTURES.c.print.in_(chunk) for chunk in chunks(set(prints))]
    galleries: dict[str, None] = {}
    changed = 0
    for which in wanted:
        galleries |= dict.fromkeys(connection.scalars(select(GALLERY_PICTURES.c.gallery_id).where(which, changing).distinct()))
        changed += connection.execute(update(GALLERY_PICTURES).where(which, changing).values(dropped=dropped)).rowcount
    for id in galleries:
        _follow(connection, id)
        _part(connection, id, now)
        refresh_galleries(connection, _story_of(connection, id))
        log(connection, "article", id, now)
    return changed


def _part(connection: Connection, id: str, now: datetime) -> None:
    """Take a story's folds apart that its pictures no longer bear out."""
    old = _story_of(connection, id)
    left = gallery_folding.part_galleries(connection, id)
    if left:
        for story_id in {old, *(_story_of(connection, one) for one in left)}:
            refresh_galleries(connection, story_id)
    for one in left:
        log(connection, "fold", one, now)


def _story_of(connection: Connection, id: str) -> str:
    return str(connection.scalar(select(ARTICLES.c.story_id).where(ARTICLES.c.id == id)))
