"""Corrections of articles by editors, and their interaction with later changes of the page. Pure functions.

Corrections apply field by field: a later text of the page is kept as a revision and only changes the fields that no editor corrected. Each
state of an article records its author: the page (``apply_correction`` is NULL) or an editor (time, name and fields).
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final, TypedDict

from newsportal.errors import StoreError
from newsportal.items import Article, Image
from newsportal.store.article_rows import current_content, revised_columns, sorted_by
from newsportal.store.columns import name as stored_name
from newsportal.store.columns import storable, to_json
from newsportal.store.results import is_gallery, is_thread
from newsportal.store.tables import CONTENT
from newsportal.text.characters import news_length

FIELDS: Final[Mapping[str, tuple[str, ...]]] = {
    "title": ("title",),
    "text": ("text", "html", "images"),
    "published": ("published",),
    "author": ("author",),
}
"""Fields that an editor may correct -> their columns: a text includes its HTML and images."""

EDITED_BY: Final = ("corrected", "corrected_by", "corrected_fields")  # columns that record the editor of a state; all NULL: the page's own


class Correction(TypedDict, total=False):
    """New values of corrected fields; omitted fields are unchanged. ``html`` and ``images`` accompany ``text``."""

    title: str
    text: str
    html: str | None
    images: tuple[Image, ...]
    published: datetime | None
    author: str | None


class OutdatedEdit(StoreError):
    """Raised by ``correct`` and ``withdraw`` if the article changed since the editor loaded it. The caller shows both states."""


@dataclass(frozen=True, slots=True)
class Changes:
    """``revisions``: states to store as revisions, oldest first; ``columns``: new values of the article's columns."""

    revisions: tuple[dict[str, Any], ...]
    columns: dict[str, Any]


def fields_of(row: Mapping[str, Any]) -> tuple[str, ...]:
    return tuple((row.get("corrected_fields") or "").split())


def columns_of(fields: Iterable[str]) -> tuple[str, ...]:
    return tuple(column for field in fields for column in FIELDS[field])


def check_revision(row: Mapping[str, Any], expected: int | None) -> None:
    """Raise :class:`OutdatedEdit` if the article is not at revision ``expected`` (``None``: any revision)."""
    if expected is not None and row["revision"] != expected:
        raise OutdatedEdit(f"article {row['id']} was changed meanwhile: it is at revision {row['revision']}, not {expected}")


def apply_correction(row: Mapping[str, Any], correction: Correction, *, by: str, now: datetime) -> Changes | None:
    """Return the changes for a correction, or ``None`` if it equals the article. Raises ``StoreError`` for invalid values."""
    values = _values(row, correction)
    changed = [field for field, columns in FIELDS.items() if any(column in values and values[column] != row[column] for column in columns)]
    if not changed:
        return None
    fields = [field for field in FIELDS if field in {*changed, *fields_of(row)}]
    attribution = {"corrected": now, "corrected_by": stored_name(by), "corrected_fields": " ".join(fields)}
    return Changes((current_content(row),), _following(row, {**values, **attribution, "revision": row["revision"] + 1}))


def withdraw_corrections(row: Mapping[str, Any], page: Mapping[str, Any]) -> Changes | None:
    """Return the changes that withdraw all corrections, or ``None`` if there are none; ``page``: the last state of the page."""
    if row.get("corrected") is None:
        return None
    values = {column: page[column] for column in columns_of(fields_of(row))}
    return Changes((current_content(row),), _following(row, {**values, **dict.fromkeys(EDITED_BY), "revision": row["revision"] + 1}))


def apply_page(row: Mapping[str, Any], article: Article) -> Changes:
    """Return the changes for a new version of the page (``article_rows.is_newer``)."""
    values = revised_columns(row, article)
    if row.get("corrected") is None:
        return Changes((current_content(row),), values)
    page_state = {**current_content(row), **dict.fromkeys(EDITED_BY), **{name: values[name] for name in CONTENT if name in values}}
    corrections = {column: row[column] for column in columns_of(fields_of(row))}
    visible = {column: {**values, **corrections}.get(column, row[column]) for column in columns_of(FIELDS)}
    if all(row[column] == value for column, value in visible.items()):  # no visible change: store the page's state before this one
        return Changes(({**page_state, "revision": row["revision"]},), _following(row, {**values, **corrections}))
    later = _following(row, {**values, **corrections, "revision": row["revision"] + 2})
    return Changes((current_content(row), {**page_state, "revision": row["revision"] + 1}), later)


def uncorrected_columns(row: Mapping[str, Any], values: Mapping[str, Any]) -> dict[str, Any]:
    """Return the ``values`` that a page may write over ``row``: those of fields that no editor corrected."""
    columns = columns_of(fields_of(row))
    return {column: value for column, value in values.items() if column not in columns}


def _following(row: Mapping[str, Any], values: dict[str, Any]) -> dict[str, Any]:
    if "text" in values:
        values["length"] = news_length(values["text"])
    if "published" in values:
        values["moment"] = sorted_by(values["published"], row["first_seen"])
    return values


def _values(row: Mapping[str, Any], correction: Correction) -> dict[str, Any]:
    values: dict[str, Any] = {}
    if "title" in correction:
        values["title"] = storable(correction["title"]).strip()
        if not values["title"]:
            raise StoreError("an article without a title cannot be stored")
    if "text" in correction:
        if is_thread(row["source"]) or is_gallery(row["source"]):
            raise StoreError("the text of a thread consists of posts, that of a photo story of captions: it cannot be corrected as a whole")
        html = correction.get("html")
        values |= {"text": storable(correction["text"]), "html": None if html is None else storable(html)}
        if "images" in correction:
            values["images"] = to_json(correction["images"])
    if "published" in correction:
        values["published"] = correction["published"]
    if "author" in correction:
        values["author"] = storable(correction["author"]).strip() or None if correction["author"] else None
    return values
