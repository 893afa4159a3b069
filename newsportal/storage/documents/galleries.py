"""Photo stories in a database of documents: each method that writes is one transaction. Writes: :mod:`galleries_writing`; the wall:
:mod:`galleries_wall`."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping
from datetime import datetime

from newsportal.items import Gallery, GalleryPage
from newsportal.storage.documents import galleries_wall, galleries_writing
from newsportal.storage.documents.base import Documents, Is, Row, Rows, moment_in
from newsportal.storage.documents.galleries_told import told
from newsportal.storage.documents.galleries_writing import hashed
from newsportal.storage.documents.room_tables import GALLERIES, GALLERY_PAGES, GALLERY_PICTURES, REFUSED, row_id
from newsportal.storage.documents.tables import ALIASES, ARTICLES
from newsportal.storage.galleries import LEFT_ALONE, SavedGallery, StoredGallery, StoredPicture, WallFilter, WallPage
from newsportal.storage.galleries_rows import page_of, stored_pictures
from newsportal.storage.paging import chunks


class DocumentGalleries:
    """The :class:`~newsportal.storage.galleries.Galleries` of a store over documents."""

    def __init__(self, documents: Documents) -> None:
        self._documents = documents

    def put(self, identity: str, page: GalleryPage, *, now: datetime) -> None:
        with self._documents.writing() as transaction:
            galleries_writing.put(transaction, identity, page, now)

    def pages(self, identity: str) -> list[GalleryPage]:
        found = self._documents.find(GALLERY_PAGES, Is("gallery", hashed(identity)), order=("number", "seen", "page"))
        return [page_of(json.loads(row["said"])) for row in found]

    def save(self, gallery: Gallery, *, now: datetime) -> SavedGallery:
        with self._documents.writing() as transaction:
            return galleries_writing.save(transaction, gallery, now)

    def refuse(self, identity: str, reason: str, *, now: datetime) -> None:
        with self._documents.writing() as transaction:
            galleries_writing.refuse(transaction, identity, reason, now)

    def refused(self, identities: Collection[str], *, now: datetime) -> set[str]:
        by_id = {row_id(hashed(identity)): identity for identity in identities}
        lately = moment_in(now - LEFT_ALONE) or 0
        found = (row for chunk in chunks(by_id) for row in self._documents.get(REFUSED, chunk).values())
        return {by_id[row["id"]] for row in found if row["seen"] > lately}

    def drop(self, *, urls: Collection[str] = (), prints: Collection[str] = (), reason: str | None, now: datetime) -> int:
        with self._documents.writing() as transaction:
            return galleries_writing.drop(transaction, urls, prints, reason, now)

    def caption(self, id: str, captions: Mapping[str, str | None], *, now: datetime) -> int:
        with self._documents.writing() as transaction:
            return galleries_writing.caption(transaction, id, captions, now)

    def known(self, identities: Collection[str]) -> Mapping[str, StoredGallery]:
        by_id = {hashed(identity): identity for identity in identities}
        leads = _leads(self._documents, by_id)
        found = _galleries(self._documents, set(leads.values()))
        return {by_id[name]: found[id] for name, id in leads.items() if id in found}

    def gallery(self, id: str) -> StoredGallery | None:
        return _galleries(self._documents, [id] if id else []).get(id)

    def sizes(self, ids: Collection[str]) -> Mapping[str, int]:
        rows = (row for chunk in chunks(ids) for row in self._documents.get(GALLERIES, chunk, only=("pictures",)).values())
        return {row["id"]: row["pictures"] for row in rows}

    def pictures(self, id: str, *, dropped: bool = False) -> list[StoredPicture]:
        rows = self._documents.find(GALLERY_PICTURES, Is("gallery_id", id), order=("number",))
        return stored_pictures(rows, dropped)

    def incomplete(self, *, limit: int = 100) -> list[StoredGallery]:
        found = self._documents.find(GALLERIES, Is("complete", False), order=("-visited", "id"), limit=limit, without=("text",))
        return list(_with_names(self._documents, found).values())

    def wall(self, which: WallFilter) -> WallPage:
        with self._documents.together():
            return galleries_wall.wall(self._documents, which)


def _galleries(rows: Rows, ids: Collection[str]) -> dict[str, StoredGallery]:
    found: dict[str, StoredGallery] = {}
    for chunk in chunks(ids):
        found |= _with_names(rows, rows.get(GALLERIES, chunk, without=("text",)).values())
    return found


def _with_names(rows: Rows, galleries: Iterable[Row]) -> dict[str, StoredGallery]:
    by_id = {row["id"]: row for row in galleries}
    names = rows.get(ARTICLES, list(by_id), only=("identity",)) if by_id else {}
    return {id: told(row, names[id]["identity"]) for id, row in by_id.items() if id in names}


def _leads(rows: Rows, names: Collection[str]) -> dict[str, str]:
    """Hash of a name → the article that it leads to, itself or as an alias."""
    leads: dict[str, str] = {}
    for chunk in chunks(names):
        leads |= {id: row["article_id"] for id, row in rows.get(ALIASES, chunk, only=("article_id",)).items()}
    return {name: leads.get(name, name) for name in names}
