"""Photo stories. Each method of :class:`Galleries` is one transaction; the functions run inside it and write the change log."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any, Final

from pydantic import TypeAdapter
from sqlalchemy import ColumnElement, Connection, Select, and_, bindparam, delete, exists, insert, select, update

from newsportal.items import Gallery, GalleryPage
from newsportal.store import gallery_folding, gallery_rows
from newsportal.store.article_rows import topics_of
from newsportal.store.columns import name, name_id, to_json
from newsportal.store.dialects import Part, chunks, select_in, upsert
from newsportal.store.gallery_folding import refresh_galleries
from newsportal.store.gallery_tables import (
    GALLERIES,
    GALLERY_LABELS,
    GALLERY_PAGES,
    GALLERY_PICTURES,
    RECHECK_AFTER,
    REJECTED_GALLERIES,
    GalleryOutcome,
    SavedGallery,
    StoredGallery,
    StoredPicture,
    WallFilter,
    WallPage,
    WallStory,
)
from newsportal.store.lists import cursor, parse_cursor, rows_after
from newsportal.store.reading import LISTED, find, find_stored, with_articles
from newsportal.store.tables import ARTICLES, STORIES
from newsportal.store.writing import add_topics, insert_separately, log_changes

PAGES: Final = TypeAdapter(list[GalleryPage])


class Galleries(Part):
    def put_page(self, identity: str, page: GalleryPage, *, now: datetime) -> None:
        """Store one page of the photo story ``identity``, from any process and in any order; an existing page is replaced."""
        with self._write() as connection:
            key, content = {"gallery_id": name_id(identity), "page_id": name_id(page.url)}, to_json(page)
            row = {**key, "number": page.number, "fetched": now, "content": content}
            upsert(connection, GALLERY_PAGES, [row], update=("number", "fetched", "content"))

    def pages(self, identity: str) -> list[GalleryPage]:
        """Return the pages stored so far by number, those without a number last. They are deleted when the story is saved complete."""
        query = select(GALLERY_PAGES.c.content).where(GALLERY_PAGES.c.gallery_id == name_id(identity))
        page = GALLERY_PAGES.c
        in_order = query.order_by(page.number.is_(None), page.number, page.fetched, page.page_id)
        return PAGES.validate_python(self._scalars(in_order))

    def save(self, gallery: Gallery, *, now: datetime) -> SavedGallery:
        """Write a photo story with its pictures, including omitted ones, and its change log row in one transaction. An incomplete story is
        completed when saved again with more; saving it with less changes nothing."""
        with self._write() as connection:
            identity = gallery_rows.identity_of(gallery)
            article = gallery_rows.article_of(gallery)
            existing = find(connection, identity)
            id = existing or insert_separately(connection, article, now)[0]
            found = connection.execute(select(GALLERIES).where(GALLERIES.c.id == id)).mappings().first()
            stored = dict(found) if found else None
            grown = gallery_rows.is_fuller(stored, gallery, lambda: connection.execute(CAPTIONS, {"gallery": id}).all())
            _write(connection, id, gallery, stored, grown, now)
            if grown and existing is not None:
                article_row = dict(connection.execute(select(ARTICLES).where(ARTICLES.c.id == id)).mappings().one())
                connection.execute(update(ARTICLES).where(ARTICLES.c.id == id).values(**gallery_rows.updated_columns(article_row, article)))
            topics_added = add_topics(connection, id, topics_of(article))
            if gallery.complete:
                connection.execute(delete(GALLERY_PAGES).where(GALLERY_PAGES.c.gallery_id.in_({id, name_id(identity)})))
            connection.execute(delete(GALLERY_PAGES).where(GALLERY_PAGES.c.fetched < now - gallery_rows.PAGES_KEPT))
            if grown:
                _update_derived(connection, id)
                _unfold(connection, id, now)
                gallery_folding.fold_gallery(connection, id)
            row = connection.execute(select(ARTICLES.c.story_id, ARTICLES.c.fold_of).where(ARTICLES.c.id == id)).one()
            if grown or topics_added:
                refresh_galleries(connection, row.story_id)
                log_changes(connection, "article", id, now)
            complete = gallery.complete or bool(stored and stored["complete"])
            outcome: GalleryOutcome = "same" if not grown else "grown" if stored else "folded" if row.fold_of else "stored"
            return SavedGallery(outcome, id, row.story_id, complete, gallery_rows.count_fruitless_visits(stored, gallery, grown))

    def refuse(self, identity: str, reason: str, *, now: datetime) -> None:
        """Record that ``identity`` is not a photo story (an index page, a dead link); ``reason`` is a slug."""
        row = {"id": name_id(identity), "reason": gallery_rows.slug(reason) or "", "rejected": now}
        with self._write() as connection:  # delete expired refusals
            connection.execute(delete(REJECTED_GALLERIES).where(REJECTED_GALLERIES.c.rejected < now - RECHECK_AFTER))
            upsert(connection, REJECTED_GALLERIES, [row], update=("reason", "rejected"))

    def filter_refused(self, identities: Collection[str], *, now: datetime) -> set[str]:
        """Return those of these identities that were refused within :data:`RECHECK_AFTER`."""
        by_id = {name_id(identity): identity for identity in identities}
        query = select(REJECTED_GALLERIES.c.id).where(REJECTED_GALLERIES.c.rejected > now - RECHECK_AFTER)
        return {by_id[row["id"]] for row in self._select_in(query, REJECTED_GALLERIES.c.id, by_id)}

    def drop(self, *, urls: Collection[str] = (), prints: Collection[str] = (), reason: str | None, now: datetime) -> int:
        """Hide pictures in their stories, by URL or perceptual hash; ``reason`` is a slug (``None``: show them again). Return the number of
        pictures changed; the text, figures and score of each story are updated."""
        with self._write() as connection:
            dropped = gallery_rows.slug(reason)
            picture = GALLERY_PICTURES.c
            changing = picture.hidden_reason.is_(None) if dropped is not None else picture.hidden_reason.is_not(None)
            conditions: list[ColumnElement[bool]] = [picture.url_hash.in_(chunk) for chunk in chunks({name_id(url) for url in urls})]
            conditions += [picture.perceptual_hash.in_(chunk) for chunk in chunks(set(prints))]
            galleries: dict[str, None] = {}
            changed = 0
            for condition in conditions:
                galleries |= dict.fromkeys(connection.scalars(select(GALLERY_PICTURES.c.gallery_id).where(condition, changing).distinct()))
                changed += connection.execute(update(GALLERY_PICTURES).where(condition, changing).values(hidden_reason=dropped)).rowcount
            for id in galleries:
                _update_derived(connection, id)
                _unfold(connection, id, now)
                refresh_galleries(connection, _story_of(connection, id))
                log_changes(connection, "article", id, now)
            return changed

    def set_captions(self, id: str, captions: Mapping[str, str | None], *, now: datetime) -> int:
        """Set editors' captions: URL of a picture → caption (``""``: none; ``None``: restore the page's own). They are permanent, whatever
        later visits find. Return the number of captions changed."""
        with self._write() as connection:
            by_name = {name_id(url): caption for url, caption in captions.items()}
            changed = 0
            for row in connection.execute(select(GALLERY_PICTURES).where(GALLERY_PICTURES.c.gallery_id == id)).mappings().all():
                caption, url = row["edited_caption"], row["url_hash"]
                if url in by_name:
                    caption = gallery_rows.caption_override(dict(row), by_name[url])
                if caption != row["edited_caption"]:
                    at = (GALLERY_PICTURES.c.gallery_id == id, GALLERY_PICTURES.c.number == row["number"])
                    connection.execute(update(GALLERY_PICTURES).where(*at).values(edited_caption=caption))
                    changed += 1
            if changed:
                _update_derived(connection, id)
                refresh_galleries(connection, _story_of(connection, id))
                log_changes(connection, "article", id, now)
            return changed

    def find_stored(self, identities: Collection[str]) -> Mapping[str, StoredGallery]:
        """Map identities to their photo stories, of those stored; the identity of any page of a story (an alias) finds it."""
        with self._read() as connection:
            ids = find_stored(connection, identities)
            found = _galleries(connection, set(ids.values()))
        return {identity: found[id] for identity, id in ids.items() if id in found}

    def gallery(self, id: str) -> StoredGallery | None:
        with self._read() as connection:
            return _galleries(connection, {id}).get(id)

    def sizes(self, ids: Collection[str]) -> Mapping[str, int]:
        """Map ids to the number of pictures shown, of the photo stories that exist."""
        query = select(GALLERIES.c.id, GALLERIES.c.pictures)
        return {row["id"]: row["pictures"] for row in self._select_in(query, GALLERIES.c.id, ids)}

    def pictures(self, id: str, *, dropped: bool = False) -> list[StoredPicture]:
        """Return the pictures of a photo story in order; with ``dropped``, hidden ones are included at the end."""
        query = select(GALLERY_PICTURES).where(GALLERY_PICTURES.c.gallery_id == id).order_by(GALLERY_PICTURES.c.number)
        rows = [dict(row) for row in self._mappings(query)]
        return gallery_rows.stored_pictures(rows, dropped)

    def picture_urls(self, ids: Collection[str]) -> set[str]:
        query = select(GALLERY_PICTURES.c.url).where(GALLERY_PICTURES.c.hidden_reason.is_(None))
        return {row["url"] for row in self._select_in(query, GALLERY_PICTURES.c.gallery_id, ids)}

    def incomplete(self, *, limit: int = 100) -> list[StoredGallery]:
        """Return photo stories with missing pages, the most recently visited first."""
        query = _joined().where(GALLERIES.c.complete.is_(False)).order_by(GALLERIES.c.visited.desc(), GALLERIES.c.id).limit(limit)
        return list(map(gallery_rows.gallery_of, self._mappings(query)))

    def wall(self, criteria: WallFilter) -> WallPage:
        """Return a page of photo stories with pictures, one per story (its head), by score or by time."""
        with self._read() as connection:
            limit = max(1, criteria.limit)
            rows = with_articles(connection, _page(criteria).limit(limit + 1))
            found = tuple(WallStory(article, gallery_rows.gallery_of(row), row["count"], row["sites"]) for row, article in rows[:limit])
            last = rows[limit - 1][0] if len(rows) > limit else None
            return WallPage(found, cursor(last["order_key"], last["id"]) if last else None)


def _joined() -> Select[Any]:
    return select(GALLERIES, ARTICLES.c.identity).join(ARTICLES, ARTICLES.c.id == GALLERIES.c.id)


def _galleries(connection: Connection, ids: Collection[str]) -> dict[str, StoredGallery]:
    return {row["id"]: gallery_rows.gallery_of(row) for row in select_in(connection, _joined(), GALLERIES.c.id, ids)}


CAPTIONS = select(GALLERY_PICTURES.c.url_hash, GALLERY_PICTURES.c.caption).where(GALLERY_PICTURES.c.gallery_id == bindparam("gallery"))
FIGURES = tuple(column for column in GALLERIES.c if column.name not in ("id", "text", "moment"))


def _page(criteria: WallFilter) -> Select[Any]:
    filters = [(kind, name(value)) for kind in gallery_rows.WALL_KINDS if (value := getattr(criteria, kind)) is not None]
    driver = GALLERY_LABELS if filters else GALLERIES
    key, id = driver.c[gallery_rows.WALL_ORDERS[criteria.order]], GALLERY_LABELS.c.gallery_id if filters else GALLERIES.c.id
    query = select(*LISTED, *FIGURES, STORIES.c.count, STORIES.c.sites, key.label("order_key")).select_from(driver)
    if filters:
        query = query.join(GALLERIES, GALLERIES.c.id == GALLERY_LABELS.c.gallery_id)
    return (
        query.join(ARTICLES, ARTICLES.c.id == GALLERIES.c.id)
        .join(STORIES, and_(STORIES.c.id == ARTICLES.c.story_id, STORIES.c.head_id == GALLERIES.c.id))
        .where(GALLERIES.c.pictures > 0, STORIES.c.count > 0, *_narrowed(filters))
        .where(*rows_after(parse_cursor(criteria.before, criteria.order), key, id))
        .order_by(key.desc(), id.desc())
    )


def _narrowed(filters: Sequence[tuple[str, str]]) -> Iterator[ColumnElement[bool]]:
    for place, (kind, value) in enumerate(filters):
        labels = GALLERY_LABELS if place == 0 else GALLERY_LABELS.alias(f"also_{kind}")
        fits = and_(labels.c.kind == kind, labels.c.value == value)
        yield fits if place == 0 else exists().where(labels.c.gallery_id == GALLERIES.c.id, fits)


def _write(connection: Connection, id: str, gallery: Gallery, stored: dict[str, Any] | None, grown: bool, now: datetime) -> None:
    """Write the row of ``galleries`` and, if the story has ``grown``, its pictures."""
    values = gallery_rows.visit_columns(stored, gallery, grown, now)
    if stored is None:
        connection.execute(insert(GALLERIES), {"id": id, **values})
    elif values:
        connection.execute(update(GALLERIES).where(GALLERIES.c.id == id).values(**values))
    if grown:
        story = GALLERY_PICTURES.c.gallery_id == id
        old = connection.execute(select(GALLERY_PICTURES).where(story)).all()
        dropped = {row.url_hash: row.hidden_reason for row in old if row.hidden_reason is not None}
        captions = {row.url_hash: row.edited_caption for row in old if row.edited_caption is not None}
        connection.execute(delete(GALLERY_PICTURES).where(story))
        rows = gallery_rows.picture_rows(id, gallery, dropped, captions)
        if rows:
            connection.execute(insert(GALLERY_PICTURES), rows)


def _update_derived(connection: Connection, id: str) -> None:
    """Update what depends on a story's pictures: their number, the article's text and first pictures, its moment."""
    query = select(GALLERY_PICTURES).where(GALLERY_PICTURES.c.gallery_id == id, GALLERY_PICTURES.c.hidden_reason.is_(None))
    rows = [dict(row) for row in connection.execute(query.order_by(GALLERY_PICTURES.c.number)).mappings()]
    text = connection.scalar(select(GALLERIES.c.text).where(GALLERIES.c.id == id)) or ""
    connection.execute(update(ARTICLES).where(ARTICLES.c.id == id).values(**gallery_rows.derived_columns(text, rows)))
    moment = connection.scalar(select(ARTICLES.c.moment).where(ARTICLES.c.id == id))
    connection.execute(update(GALLERIES).where(GALLERIES.c.id == id).values(pictures=len(rows), moment=moment))


def _unfold(connection: Connection, id: str, now: datetime) -> None:
    """Undo the folds of a story that its pictures no longer support."""
    old = _story_of(connection, id)
    moved = gallery_folding.split_galleries(connection, id)
    if moved:
        for story_id in {old, *(_story_of(connection, gallery_id) for gallery_id in moved)}:
            refresh_galleries(connection, story_id)
        log_changes(connection, "fold", moved, now)


def _story_of(connection: Connection, id: str) -> str:
    return str(connection.scalar(select(ARTICLES.c.story_id).where(ARTICLES.c.id == id)))
