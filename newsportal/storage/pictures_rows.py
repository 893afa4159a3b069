"""Between pictures and rows of ``pictures``. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Final

from newsportal.items import content_id
from newsportal.pictures.filter import Shown
from newsportal.storage.columns import ID_CHARS
from newsportal.storage.pictures import Picture
from newsportal.storage.rows import name, storable

LEARNT: Final = ("width", "height", "format", "print", "refused", "looked")
"""Columns that a look at a picture's bytes fills."""


def picture_id(key: str) -> str:
    """The id of the picture of a key."""
    return content_id(storable(key))


def picture_row(picture: Picture, now: datetime) -> dict[str, Any]:
    """The columns of a picture that nobody has seen before."""
    return {"id": picture_id(picture.key), "key": storable(picture.key), "url": storable(picture.url), "seen": now, **learnt(picture)}


def learnt(picture: Picture) -> dict[str, Any]:
    """The columns :data:`LEARNT`."""
    return {column: getattr(picture, column) for column in LEARNT}


def news_of(picture: Picture, known: Picture | None) -> dict[str, Any]:
    """The columns that a look at the picture's bytes changes of what is ``known``; none if nobody looked."""
    if known is None or picture.looked is None or learnt(picture) == learnt(known):
        return {}
    return learnt(picture)


def picture_of(row: Mapping[Any, Any]) -> Picture:
    """The inverse of :func:`picture_row`."""
    return Picture(**{column: row[column] for column in Picture.__dataclass_fields__})


def look_of(picture: Picture) -> tuple[Any, ...]:
    """What pictures that are one have in common: print and size (a thumbnail has the print alone)."""
    return picture.print, picture.width, picture.height


def story_row(story: Shown, now: datetime) -> dict[str, Any]:
    """The columns of ``picture_stories``."""
    return {"id": story.id, "site": name(story.site), "title": name(story.title)[:ID_CHARS], "seen": now}
