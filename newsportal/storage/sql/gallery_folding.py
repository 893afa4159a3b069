"""Photo stories that are one: found among the stored ones, and folded. All inside the caller's transaction."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from datetime import datetime
from typing import Any, Final

from sqlalchemy import Connection, delete, func, insert, select, update

from newsportal.dedup.photo_stories import PhotoStory, compare
from newsportal.items import Fold, Image
from newsportal.storage.columns import shifted
from newsportal.storage.gallery_likeness import (
    COMMON,
    SPAN,
    Found,
    all_keys,
    most_like,
    most_shared,
    photo_story,
    picture_keys,
    shown,
    word_keys,
)
from newsportal.storage.sql.folding import refresh
from newsportal.storage.sql.gallery_tables import GALLERIES, KEYS, PICTURES, WORDS
from newsportal.storage.sql.reading import chunks
from newsportal.storage.sql.tables import ARTICLES, UNFOLDED

COLUMNS: Final = (
    ARTICLES.c.id,
    ARTICLES.c.story_id,
    ARTICLES.c.title,
    ARTICLES.c.text.label("told"),
    ARTICLES.c.moment,
    GALLERIES.c.text,
)


def fold(connection: Connection, id: str) -> Fold | None:
    """Look whether the photo story ``id``, just written, is another's repeat, and fold it; figures and ranks are the caller's.

    Only one that is alone in its story is folded, and never into a story that an editor took it out of. Answers what it was folded into.
    """
    row = _row(connection, id)
    story = photo_story(row, _pictures(connection, [id]).get(id, ()))
    _keep(connection, story, row["moment"])
    members = _members(connection, row["story_id"])
    found = _repeated(connection, row, story) if len(members) == 1 else None
    story_id = row["story_id"]
    if found is not None:
        story_id = found.row["story_id"]
        folded = {"fold_of": found.row["id"], "fold_reason": found.alike.reason, "fold_score": found.alike.score}
        connection.execute(update(ARTICLES).where(ARTICLES.c.id == id).values(story_id=story_id, **folded))
        refresh(connection, row["story_id"])  # it is empty now
    return Fold(story_id, found.row["id"], found.alike.reason, found.alike.score) if found else None


def is_one(connection: Connection, id: str, other: str) -> bool:
    """Whether two stored photo stories are one, by what is known of them now."""
    images = _pictures(connection, [id, other])
    one, two = (photo_story(_row(connection, name), images.get(name, ())) for name in (id, other))
    return compare(one, two) is not None


def _row(connection: Connection, id: str) -> Mapping[str, Any]:
    wanted = select(*COLUMNS).join(GALLERIES, GALLERIES.c.id == ARTICLES.c.id).where(ARTICLES.c.id == id)
    return dict(connection.execute(wanted).mappings().one())


def _members(connection: Connection, story_id: str) -> list[str]:
    return list(connection.scalars(select(ARTICLES.c.id).where(ARTICLES.c.story_id == story_id)))


def _pictures(connection: Connection, ids: Collection[str]) -> dict[str, tuple[Image, ...]]:
    """The pictures shown of each story, in order."""
    found: dict[str, list[Image]] = {}
    columns = (PICTURES.c[name] for name in ("gallery_id", "url", "caption", "width", "height", "print"))
    wanted = select(*columns).where(PICTURES.c.dropped.is_(None)).order_by(PICTURES.c.gallery_id, PICTURES.c.number)
    for chunk in chunks(ids):
        for row in connection.execute(wanted.where(PICTURES.c.gallery_id.in_(chunk))):
            found.setdefault(row.gallery_id, []).append(shown(dict(row._mapping)))
    return {id: tuple(images) for id, images in found.items()}


def _keep(connection: Connection, story: PhotoStory, moment: datetime) -> None:
    """Keep a story for those that come later, in place of what was kept of it."""
    for table in (KEYS, WORDS):
        connection.execute(delete(table).where(table.c.gallery_id == story.id))
    connection.execute(insert(WORDS), {"gallery_id": story.id, "words": dict(story.words)})
    keys = all_keys(story)
    if keys:
        connection.execute(insert(KEYS), [{"key": key, "gallery_id": story.id, "moment": moment} for key in keys])


def _repeated(connection: Connection, row: Mapping[str, Any], story: PhotoStory) -> Found | None:
    """The stored story that is most like this one, if one is."""
    near = {*_sharing(connection, word_keys(story), row), *_sharing(connection, picture_keys(story.pictures), row)}
    apart = set(connection.scalars(select(UNFOLDED.c.story_id).where(UNFOLDED.c.article_id == row["id"])))
    images = _pictures(connection, near)
    return most_like(story, row["story_id"], _stored(connection, near), images, apart)


def _stored(connection: Connection, ids: Collection[str]) -> list[Mapping[str, Any]]:
    """Stories with their words."""
    columns = (ARTICLES.c.id, ARTICLES.c.story_id, ARTICLES.c.title, ARTICLES.c.moment, WORDS.c.words)
    wanted = select(*columns).join(WORDS, WORDS.c.gallery_id == ARTICLES.c.id)
    return [dict(row) for chunk in chunks(ids) for row in connection.execute(wanted.where(ARTICLES.c.id.in_(chunk))).mappings()]


def _sharing(connection: Connection, keys: Iterable[int], row: Mapping[str, Any]) -> list[str]:
    """The stories of the time that share most of ``keys``, common ones left out."""
    counts: dict[str, int] = {}
    of_the_time = KEYS.c.moment.between(shifted(row["moment"], -SPAN), shifted(row["moment"], SPAN))
    for chunk in chunks(sorted(set(keys))):
        within = KEYS.c.key.in_(chunk) & of_the_time
        often = select(KEYS.c.key).where(within).group_by(KEYS.c.key).having(func.count() > COMMON)
        common = set(connection.scalars(often))
        rare = [key for key in chunk if key not in common]
        for (id,) in connection.execute(select(KEYS.c.gallery_id).where(KEYS.c.key.in_(rare) & of_the_time)):
            counts[id] = counts.get(id, 0) + 1
    return most_shared(counts, row["id"])
