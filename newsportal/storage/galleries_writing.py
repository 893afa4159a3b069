"""What changes photo stories: each function runs inside the caller's write transaction and leaves its rows in the change log."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from datetime import datetime, timedelta
from typing import Any, Final

from sqlalchemy import ColumnElement, Connection, delete, insert, select, update

from newsportal.errors import StoreError
from newsportal.items import Article, Gallery, GalleryPage, content_id
from newsportal.storage import gallery_folding, gallery_parting
from newsportal.storage.dialects import upsert
from newsportal.storage.editors import later
from newsportal.storage.folding import new_story
from newsportal.storage.galleries import LEFT_ALONE, SavedGallery
from newsportal.storage.galleries_rows import IMAGE, SHOWN_IN_LISTS, article_of, picture_rows, said, slug, state, text_of
from newsportal.storage.gallery_ranking import settle
from newsportal.storage.gallery_tables import GALLERIES, GALLERY_PAGES, PICTURES, REFUSED
from newsportal.storage.reading import chunks
from newsportal.storage.rows import category_of, content_of, keywords_of, row_of, sorted_by, storable, topics_of
from newsportal.storage.tables import ARTICLES, TOPICS
from newsportal.storage.writing import find, log

PAGES_KEPT: Final = timedelta(days=60)
"""Pages of stories that never became complete are kept so long."""


def put(connection: Connection, identity: str, page: GalleryPage, now: datetime) -> None:
    """See ``Galleries.put``."""
    row = {"gallery": _hash(identity), "page": _hash(page.url), "number": page.number, "seen": now, "said": said(page)}
    upsert(connection, GALLERY_PAGES, [row], update=("number", "seen", "said"))


def refuse(connection: Connection, identity: str, reason: str, now: datetime) -> None:
    """See ``Galleries.refuse``. What was refused too long ago is forgotten."""
    connection.execute(delete(REFUSED).where(REFUSED.c.seen < now - LEFT_ALONE))
    upsert(connection, REFUSED, [{"name": _hash(identity), "reason": slug(reason) or "", "seen": now}], update=("reason", "seen"))


def save(connection: Connection, gallery: Gallery, now: datetime) -> SavedGallery:
    """See ``Galleries.save``."""
    if gallery.identity is None:
        raise StoreError(f"{gallery.url}: a photo story without an identity cannot be stored")
    article = article_of(gallery)
    there = find(connection, storable(gallery.identity))
    id = there or _insert(connection, article, now)
    kept = connection.execute(select(GALLERIES).where(GALLERIES.c.id == id)).mappings().first()
    grown = kept is None or _is_fuller(connection, dict(kept), gallery)
    vain = _write(connection, id, gallery, dict(kept) if kept else None, grown, now)
    if grown and there is not None:
        _revise(connection, id, article)
    met = _add_topics(connection, id, article)
    if gallery.complete:
        connection.execute(delete(GALLERY_PAGES).where(GALLERY_PAGES.c.gallery.in_({id, _hash(gallery.identity)})))
    connection.execute(delete(GALLERY_PAGES).where(GALLERY_PAGES.c.seen < now - PAGES_KEPT))
    if grown:
        _follow(connection, id)
        _part(connection, id, now)
        gallery_folding.fold(connection, id)
    row = connection.execute(select(ARTICLES.c.story_id, ARTICLES.c.fold_of).where(ARTICLES.c.id == id)).one()
    if grown or met:
        settle(connection, row.story_id)
        log(connection, "article", id, now)
    complete = gallery.complete or bool(kept and kept["complete"])
    outcome = "same" if not grown else "grown" if kept is not None else "folded" if row.fold_of else "stored"
    return SavedGallery(outcome, id, row.story_id, complete, vain)  # type: ignore[arg-type]


def _hash(text: str) -> str:
    return content_id(storable(text))


def _insert(connection: Connection, article: Article, now: datetime) -> str:
    row = row_of(article, now=now)
    story_id = new_story(connection, row, topics_of(article))
    connection.execute(insert(ARTICLES), {"story_id": story_id, **row})
    return str(row["id"])


def _is_fuller(connection: Connection, kept: Mapping[str, Any], gallery: Gallery) -> bool:
    """Whether a visit says more than is stored, or (both complete) something else."""
    if gallery.complete != kept["complete"]:
        return gallery.complete
    new = state(gallery)
    if new["pages"] < kept["pages"]:
        return False
    rows = connection.execute(select(PICTURES.c.name, PICTURES.c.caption).where(PICTURES.c.gallery_id == kept["id"]))
    there = {(row.name, row.caption) for row in rows}
    found = {(row["name"], row["caption"]) for row in picture_rows(kept["id"], gallery, {})}
    return found != there or new["text"] != kept["text"] or new["pages"] > kept["pages"]


def _write(connection: Connection, id: str, gallery: Gallery, kept: dict[str, Any] | None, grown: bool, now: datetime) -> int:
    """The row of ``galleries`` and, where it grew, its pictures; answers the visits in vain."""
    vain = 0 if grown or gallery.complete or kept is None or kept["complete"] else kept["vain"] + 1
    if kept is None:
        empty = {"pictures": 0, "score": 0.0, "moment": now}
        connection.execute(insert(GALLERIES), {"id": id, **state(gallery), **empty, "visited": now, "vain": vain})
    elif grown:
        connection.execute(update(GALLERIES).where(GALLERIES.c.id == id).values(**state(gallery), visited=now, vain=vain))
    elif not kept["complete"]:
        why = {"failure": state(gallery)["failure"], "visited": now, "vain": vain}
        connection.execute(update(GALLERIES).where(GALLERIES.c.id == id).values(**why))
    if grown:
        at = PICTURES.c.gallery_id == id
        left = {row.name: row.dropped for row in connection.execute(select(PICTURES).where(at, PICTURES.c.dropped.is_not(None)))}
        connection.execute(delete(PICTURES).where(at))
        rows = picture_rows(id, gallery, left)
        if rows:
            connection.execute(insert(PICTURES), rows)
    return vain


def _revise(connection: Connection, id: str, article: Article) -> None:
    """What a later visit says of a known article; what it does not say stays. An article of another source is a photo story from now on."""
    known = dict(connection.execute(select(ARTICLES).where(ARTICLES.c.id == id)).mappings().one())
    content = content_of(article)
    new = {key: value for key, value in content.items() if value is not None and key not in ("text", "images")}
    derived = later(known, category_of(article)) | keywords_of(article)
    moment = sorted_by(new.get("published", known["published"]), known["first_seen"])
    values = {**new, **derived, "moment": moment, "source": row_of(article, now=known["first_seen"])["source"]}
    connection.execute(update(ARTICLES).where(ARTICLES.c.id == id).values(**values))


def _add_topics(connection: Connection, id: str, article: Article) -> bool:
    there = set(connection.scalars(select(TOPICS.c.topic).where(TOPICS.c.article_id == id)))
    marks = {topic: mark for topic, mark in topics_of(article).items() if topic not in there}
    rows = [{"article_id": id, "topic": topic, "by": mark.by, "score": mark.score} for topic, mark in sorted(marks.items())]
    upsert(connection, TOPICS, rows)
    return bool(marks)


def _follow(connection: Connection, id: str) -> None:
    """Work out what a story's pictures decide: its number of pictures, the article's text and first pictures, its moment."""
    shown = PICTURES.c.dropped.is_(None)
    rows = connection.execute(select(PICTURES).where(PICTURES.c.gallery_id == id, shown).order_by(PICTURES.c.number)).mappings().all()
    own = connection.scalar(select(GALLERIES.c.text).where(GALLERIES.c.id == id)) or ""
    text = text_of(own, [row["caption"] for row in rows])
    images = [{key: value for key, value in _image(row).items() if value is not None} for row in rows[:SHOWN_IN_LISTS]]
    connection.execute(update(ARTICLES).where(ARTICLES.c.id == id).values(text=text, length=len(text), images=images))
    moment = connection.scalar(select(ARTICLES.c.moment).where(ARTICLES.c.id == id))
    connection.execute(update(GALLERIES).where(GALLERIES.c.id == id).values(pictures=len(rows), moment=moment))


def _image(row: Mapping[str, Any] | Any) -> dict[str, Any]:
    return {key: row[key] for key in IMAGE}


def drop(connection: Connection, urls: Collection[str], prints: Collection[str], reason: str | None, now: datetime) -> int:
    """See ``Galleries.drop``."""
    dropped = slug(reason)
    changing = PICTURES.c.dropped.is_(None) if dropped is not None else PICTURES.c.dropped.is_not(None)
    wanted: list[ColumnElement[bool]] = [PICTURES.c.name.in_(chunk) for chunk in chunks({_hash(url) for url in urls})]
    wanted += [PICTURES.c.print.in_(chunk) for chunk in chunks(set(prints))]
    galleries: dict[str, None] = {}
    changed = 0
    for which in wanted:
        galleries |= dict.fromkeys(connection.scalars(select(PICTURES.c.gallery_id).where(which, changing).distinct()))
        changed += connection.execute(update(PICTURES).where(which, changing).values(dropped=dropped)).rowcount
    for id in galleries:
        _follow(connection, id)
        _part(connection, id, now)
        settle(connection, _story_of(connection, id))
        log(connection, "article", id, now)
    return changed


def _part(connection: Connection, id: str, now: datetime) -> None:
    """Take a story's folds apart that its pictures no longer bear out."""
    old = _story_of(connection, id)
    left = gallery_parting.part(connection, id)
    if left:
        for story_id in {old, *(_story_of(connection, one) for one in left)}:
            settle(connection, story_id)
    for one in left:
        log(connection, "fold", one, now)


def _story_of(connection: Connection, id: str) -> str:
    return str(connection.scalar(select(ARTICLES.c.story_id).where(ARTICLES.c.id == id)))
