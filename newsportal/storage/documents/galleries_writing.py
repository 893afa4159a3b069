"""What changes photo stories in a database of documents: each function runs inside the caller's transaction and leaves its rows in the
change log."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from datetime import datetime
from typing import Any

from newsportal.items import Article, Gallery, GalleryPage, content_id
from newsportal.storage.documents import gallery_folding
from newsportal.storage.documents.base import Condition, Either, In, Is, Not, Row, Transaction, Within, moment_in
from newsportal.storage.documents.gallery_ranking import settle
from newsportal.storage.documents.names import find
from newsportal.storage.documents.plain import plain
from newsportal.storage.documents.room_tables import GALLERIES, GALLERY_PAGES, GALLERY_PICTURES, REFUSED, row_id
from newsportal.storage.documents.tables import ARTICLES, as_text, kept
from newsportal.storage.documents.writing import add_topics, existing, founded, log
from newsportal.storage.galleries import LEFT_ALONE, SavedGallery
from newsportal.storage.galleries_rows import article_of, picture_rows, recaptioned, said, slug
from newsportal.storage.galleries_steps import PAGES_KEPT, followed, identity_of, in_vain, is_fuller, outcome, revised, written
from newsportal.storage.paging import chunks
from newsportal.storage.rows import storable, topics_of


def put(transaction: Transaction, identity: str, page: GalleryPage, now: datetime) -> None:
    """See ``Galleries.put``."""
    story, name = hashed(identity), hashed(page.url)
    row = {"gallery": story, "page": name, "number": page.number, "seen": moment_in(now), "said": as_text(said(page))}
    transaction.put(GALLERY_PAGES, {"id": row_id(story, name), **row})


def refuse(transaction: Transaction, identity: str, reason: str, now: datetime) -> None:
    """See ``Galleries.refuse``. What was refused too long ago is forgotten."""
    old = transaction.find(REFUSED, Within("seen", high=moment_in(now - LEFT_ALONE)), only=("id",))
    transaction.delete(REFUSED, [row["id"] for row in old])
    name = hashed(identity)
    transaction.put(REFUSED, {"id": row_id(name), "name": name, "reason": slug(reason) or "", "seen": moment_in(now)})


def hashed(text: str) -> str:
    """The id of what is known by ``text``."""
    return content_id(storable(text))


def save(transaction: Transaction, gallery: Gallery, now: datetime) -> SavedGallery:
    """See ``Galleries.save``."""
    identity, article = identity_of(gallery), article_of(gallery)
    there = find(transaction, identity)
    if there is None:
        founded(transaction, article, now)
    id = there or content_id(identity)
    before = transaction.get(GALLERIES, [id]).get(id)
    pictures = transaction.find(GALLERY_PICTURES, Is("gallery_id", id)) if before is not None else []
    grown = is_fuller(before, gallery, lambda: ((row["name"], row["caption"]) for row in pictures))
    _write(transaction, id, gallery, before, pictures if grown else None, now)
    row = existing(transaction, id)
    if grown and there is not None:
        row |= _revise(transaction, row, article)
    met = add_topics(transaction, row, topics_of(article))
    _forget_pages(transaction, {id, hashed(identity)} if gallery.complete else set(), now)
    if grown:
        _follow(transaction, id)
        if there is not None:  # a new one is alone
            _part(transaction, id, now)
        gallery_folding.fold(transaction, id)
    where = transaction.get(ARTICLES, [id], only=("story_id", "fold_of"))[id]
    if grown or met:
        settle(transaction, where["story_id"])
        log(transaction, "article", id, now)
    complete = gallery.complete or bool(before and before["complete"])
    told: Any = outcome(before is not None, grown, bool(where["fold_of"]))
    return SavedGallery(told, id, where["story_id"], complete, in_vain(before, gallery, grown))


def _write(
    transaction: Transaction, id: str, gallery: Gallery, before: Row | None, pictures: list[Row] | None, now: datetime
) -> None:  # fmt: skip
    """The row of ``galleries`` and, where it grew, its pictures in place of ``pictures``."""
    values = plain(written(before, gallery, pictures is not None, now))
    if values:
        transaction.put(GALLERIES, {"labels": [], **(before or {}), "id": id, **values})
    if pictures is None:
        return
    left = {row["name"]: row["dropped"] for row in pictures if row["dropped"] is not None}
    words = {row["name"]: row["said"] for row in pictures if row.get("said") is not None}
    rows = {row_id(id, row["number"]): row for row in picture_rows(id, gallery, left, words)}
    transaction.delete(GALLERY_PICTURES, [row["id"] for row in pictures if row["id"] not in rows])
    there = {row["id"]: row for row in pictures}
    for name, row in rows.items():
        if there.get(name) != {"id": name, **row}:
            transaction.put(GALLERY_PICTURES, {"id": name, **row})


def _revise(transaction: Transaction, known: Mapping[str, Any], article: Article) -> dict[str, Any]:
    """What a later visit says of a known article."""
    values = revised(known, article)
    transaction.change(ARTICLES, known["id"], **kept(values))
    return values


def _forget_pages(transaction: Transaction, galleries: Collection[str], now: datetime) -> None:
    """Pages of these photo stories, and of those that never became complete."""
    old = Within("seen", high=moment_in(now - PAGES_KEPT))
    which = Either((In("gallery", galleries), old)) if galleries else old
    transaction.delete(GALLERY_PAGES, [row["id"] for row in transaction.find(GALLERY_PAGES, which, only=("id",))])


def _follow(transaction: Transaction, id: str) -> None:
    """Work out what a story's pictures decide: its number of pictures, the article's text and first pictures, its moment."""
    rows = transaction.find(GALLERY_PICTURES, Is("gallery_id", id), Is("dropped", None), order=("number",))
    row = transaction.get(GALLERIES, [id])[id]
    transaction.change(ARTICLES, id, **kept(followed(row["text"], rows)))
    moment = transaction.get(ARTICLES, [id], only=("moment",))[id]["moment"]
    transaction.put(GALLERIES, {**row, "pictures": len(rows), "moment": moment})


def caption(transaction: Transaction, id: str, captions: Mapping[str, str | None], now: datetime) -> int:
    """See ``Galleries.caption``."""
    wanted = {hashed(url): said for url, said in captions.items()}
    changed = 0
    for row in transaction.find(GALLERY_PICTURES, Is("gallery_id", id)):
        said = recaptioned(row, wanted[row["name"]]) if row["name"] in wanted else row.get("said")
        if said != row.get("said"):
            transaction.put(GALLERY_PICTURES, {**row, "said": said})
            changed += 1
    if changed:
        _follow(transaction, id)
        settle(transaction, _story_of(transaction, id))
        log(transaction, "article", id, now)
    return changed


def drop(transaction: Transaction, urls: Collection[str], prints: Collection[str], reason: str | None, now: datetime) -> int:
    """See ``Galleries.drop``."""
    dropped = slug(reason)
    changing: Condition = Is("dropped", None) if dropped is not None else Not(Is("dropped", None))
    wanted: list[Condition] = [In("name", chunk) for chunk in chunks({hashed(url) for url in urls})]
    wanted += [In("print", chunk) for chunk in chunks(set(prints))]
    galleries: dict[str, None] = {}
    changed = 0
    for which in wanted:
        for row in transaction.find(GALLERY_PICTURES, which, changing):
            transaction.put(GALLERY_PICTURES, {**row, "dropped": dropped})
            galleries[row["gallery_id"]] = None
            changed += 1
    for id in galleries:
        _follow(transaction, id)
        _part(transaction, id, now)
        settle(transaction, _story_of(transaction, id))
        log(transaction, "article", id, now)
    return changed


def _part(transaction: Transaction, id: str, now: datetime) -> None:
    """Take a story's folds apart that its pictures no longer bear out."""
    old = _story_of(transaction, id)
    left = gallery_folding.part(transaction, id)
    if left:
        for story_id in {old, *(_story_of(transaction, one) for one in left)}:
            settle(transaction, story_id)
    for one in left:
        log(transaction, "fold", one, now)


def _story_of(transaction: Transaction, id: str) -> str:
    return str(transaction.get(ARTICLES, [id], only=("story_id",))[id]["story_id"])
