"""Conversion between photo stories and rows, and the changes caused by a visit, a fold or a hidden picture. Pure functions."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import fields
from datetime import datetime, timedelta
from types import MappingProxyType
from typing import Any, Final

from newsportal.errors import StoreError
from newsportal.items import Article, Gallery, Image
from newsportal.store.article_rows import category_of, content_of, keywords_of, revised_category, row_of, sorted_by
from newsportal.store.columns import build, name_id, storable, to_json
from newsportal.store.corrections import uncorrected_columns
from newsportal.store.gallery_tables import HASH_CHARS, SLUG_CHARS, StoredGallery, StoredPicture

WALL_ORDERS: Final = {"ranked": "score", "newest": "moment"}  # order of the wall → sort key of photo stories, descending
WALL_KINDS: Final = ("topic", "source", "category")
"""Filters of the wall, rarest first: the first one given is read from the index in order, the others are looked up."""

MAX_TEXT: Final = 200_000
"""Maximum characters of captions and text in the article's text, for search and lists. All captions are kept."""

SHOWN_IN_LISTS: Final = 3  # pictures stored in the article's row, which every list reads: the cover and two more


IMAGE_COLUMNS: Final = {"page": "page_url", "print": "perceptual_hash", "dropped": "hidden_reason"}  # fields of ``Image`` → columns


def picture_rows(
    gallery_id: str, gallery: Gallery, hidden: Mapping[str, str], captions: Mapping[str, str] = MappingProxyType({})
) -> list[dict[str, Any]]:
    """Return the rows of a story's pictures in order, each URL once; ``hidden``: hash of a URL → reason for hiding; ``captions``: hash of a
    URL → editor's caption."""
    pictures: dict[str, Image] = {}
    for image in gallery.images:
        pictures.setdefault(name_id(image.url), image)
    rows = []
    for number, (name, image) in enumerate(pictures.items(), 1):
        row = {IMAGE_COLUMNS.get(field.name, field.name): to_json(getattr(image, field.name)) for field in fields(Image)}
        row |= {"perceptual_hash": (image.print or "")[:HASH_CHARS] or None, "hidden_reason": slug(image.dropped or hidden.get(name))}
        rows.append({"gallery_id": gallery_id, "number": number, "url_hash": name, **row, "edited_caption": captions.get(name)})
    return rows


def slug(reason: str | None) -> str | None:
    return None if reason is None else storable(reason)[:SLUG_CHARS]


def caption_of(row: Mapping[Any, Any]) -> str | None:
    """Return the caption of a picture: the editor's, or the page's."""
    caption: str | None = row.get("edited_caption")
    return row["caption"] if caption is None else caption or None


def caption_override(row: Mapping[str, Any], caption: str | None) -> str | None:
    """Return the column ``edited_caption`` for an editor's caption; ``None`` if it equals the page's."""
    if caption is None or " ".join(caption.split()) == " ".join((row["caption"] or "").split()):
        return None
    return storable(caption).strip()


def image_of(row: Mapping[Any, Any]) -> Image:
    return build(Image, {**row, **{name: row[column] for name, column in IMAGE_COLUMNS.items()}, "caption": caption_of(row)})


def stored_pictures(rows: Sequence[Mapping[str, Any]], dropped: bool) -> list[StoredPicture]:
    """Return the pictures of a story, hidden ones at the end if ``dropped``."""
    visible = [row for row in rows if row["hidden_reason"] is None]
    hidden = [row for row in rows if row["hidden_reason"] is not None] if dropped else []
    return [
        StoredPicture(place, image_of(row), row["hidden_reason"], row.get("edited_caption") is not None, row["caption"])
        for place, row in enumerate((*visible, *hidden), 1)
    ]


SHARED: Final = frozenset(field.name for field in fields(Gallery)) - {"images", "pages"}
"""Fields that ``Gallery`` shares with its ``Article``."""


def article_of(gallery: Gallery) -> Article:
    """Return the photo story as an article, for lists and search."""
    shared = {field.name: getattr(gallery, field.name) for field in fields(Article) if field.name in SHARED}
    derived = {
        "text": "", "published": gallery.published or gallery.link.published, "author": gallery.author or gallery.link.author,
        "site": gallery.site or gallery.link.site, "category_by": (gallery.category_by or "source") if gallery.category else None,
        "algorithm": "gallery",
    }  # fmt: skip
    return Article(**{**shared, **derived})


def gallery_columns(gallery: Gallery) -> dict[str, Any]:
    """Return the columns that a visit fills."""
    return {
        "complete": gallery.complete, "pages": len(gallery.pages) or 1, "total": gallery.total, "missing": list(gallery.missing),
        "failure": storable(gallery.failure) if gallery.failure else None, "weight": gallery.weight,
        "page_urls": [storable(url) for url in gallery.pages], "text": storable(gallery.text or ""),
    }  # fmt: skip


def gallery_of(row: Mapping[Any, Any]) -> StoredGallery:
    """Build a photo story from a row of ``galleries`` with its article's identity."""
    return build(StoredGallery, row, missing=tuple, page_urls=tuple)


PAGES_KEPT: Final = timedelta(days=60)  # how long pages of incomplete stories are kept


def identity_of(gallery: Gallery) -> str:
    """Return the identity of a photo story. Raises ``StoreError`` if it has none."""
    if gallery.identity is None:
        raise StoreError(f"{gallery.url}: a photo story without an identity cannot be stored")
    return storable(gallery.identity)


def is_fuller(stored: Mapping[str, Any] | None, gallery: Gallery, captions: Callable[[], Iterable[Any]]) -> bool:
    """Return whether a visit adds to ``stored``, or (both complete) differs from it. ``captions`` reads (name, caption) of its pictures."""
    if stored is None:
        return True
    if gallery.complete != stored["complete"]:
        return gallery.complete
    new = gallery_columns(gallery)
    if new["pages"] < stored["pages"]:
        return False
    found = {(row["url_hash"], row["caption"]) for row in picture_rows(stored["id"], gallery, {})}
    return found != set(map(tuple, captions())) or bool(new["text"] != stored["text"]) or bool(new["pages"] > stored["pages"])


def visit_columns(stored: Mapping[str, Any] | None, gallery: Gallery, grown: bool, now: datetime) -> dict[str, Any]:
    """Return the columns of ``galleries`` that a visit writes; empty if it adds nothing to a complete story."""
    if stored is None:
        return {**gallery_columns(gallery), "pictures": 0, "score": 0.0, "moment": now, "visited": now, "fruitless_visits": 0}
    if grown:
        return {**gallery_columns(gallery), "visited": now, "fruitless_visits": 0}
    if stored["complete"]:
        return {}
    return {
        "failure": gallery_columns(gallery)["failure"],
        "visited": now,
        "fruitless_visits": count_fruitless_visits(stored, gallery, grown),
    }


def count_fruitless_visits(stored: Mapping[str, Any] | None, gallery: Gallery, grown: bool) -> int:
    """Return the number of consecutive visits without result, including this one."""
    return 0 if grown or gallery.complete or stored is None or stored["complete"] else int(stored["fruitless_visits"]) + 1


def updated_columns(row: Mapping[str, Any], article: Article) -> dict[str, Any]:
    """Return the columns of the article ``row`` that a later visit changes; missing values are kept. Articles become photo stories."""
    new = {key: value for key, value in content_of(article).items() if value is not None and key not in ("text", "images")}
    derived = revised_category(row, category_of(article)) | keywords_of(article)
    new = uncorrected_columns(row, new)
    moment = sorted_by(new.get("published", row["published"]), row["first_seen"])
    return {**new, **derived, "moment": moment, "source": row_of(article, now=row["first_seen"])["source"]}


def derived_columns(own_text: str, pictures: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return the article's columns that depend on the story's pictures: its text (``own_text``: without captions), and its first pictures.
    ``pictures``: rows of pictures in order."""
    parts = (own_text, *map(caption_of, pictures))
    lines = dict.fromkeys(line for part in parts if part for line in map(str.strip, part.splitlines()) if line)
    text = "\n".join(lines)[:MAX_TEXT]
    return {"text": text, "length": len(text), "images": [to_json(image_of(row)) for row in pictures[:SHOWN_IN_LISTS]]}
