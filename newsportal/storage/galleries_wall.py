"""The wall: photo stories page after page, the highest score or the newest first."""

from __future__ import annotations

from typing import Any

from sqlalchemy import ColumnElement, Connection, Select, and_, exists, func, or_, select

from newsportal.storage.galleries import WallFilter, WallPage, WallStory
from newsportal.storage.galleries_rows import gallery_of
from newsportal.storage.gallery_tables import GALLERIES
from newsportal.storage.lists import EXCERPT_CHARS
from newsportal.storage.reading import topics_of
from newsportal.storage.rows import article_from, name
from newsportal.storage.tables import ARTICLES, EPOCH, MICROSECOND, STORIES, TOPICS

ORDERS = {"ranked": GALLERIES.c.score, "newest": GALLERIES.c.moment}

FIGURES = tuple(column for column in GALLERIES.c if column.name not in ("id", "text", "moment"))


def wall(connection: Connection, which: WallFilter) -> WallPage:
    """See ``Galleries.wall``. A cursor that is none (a mistyped address) gives the first page."""
    limit = max(1, which.limit)
    rows = [dict(row) for row in connection.execute(_page(which).limit(limit + 1)).mappings()]
    topics = topics_of(connection, [row["id"] for row in rows])
    found = tuple(
        WallStory(article_from(row, topics.get(row["id"], ())), gallery_of(row), row["count"], row["sites"]) for row in rows[:limit]
    )
    return WallPage(found, _cursor(rows[limit - 1]) if len(rows) > limit else None)


def _page(which: WallFilter) -> Select[Any]:
    key = ORDERS[which.order]
    excerpt = func.substr(ARTICLES.c.text, 1, EXCERPT_CHARS).label("text")
    head = [column for column in ARTICLES.c if column.name not in ("text", "html")]
    return (
        select(*head, excerpt, *FIGURES, STORIES.c.count, STORIES.c.sites, key.label("order_key"))
        .select_from(GALLERIES)
        .join(ARTICLES, ARTICLES.c.id == GALLERIES.c.id)
        .join(STORIES, and_(STORIES.c.id == ARTICLES.c.story_id, STORIES.c.head_id == GALLERIES.c.id))
        .where(GALLERIES.c.pictures > 0, *_narrowed(which), *_behind(which, key))
        .order_by(key.desc(), GALLERIES.c.id.desc())
    )


def _narrowed(which: WallFilter) -> list[ColumnElement[bool]]:
    conditions: list[ColumnElement[bool]] = []
    if which.topic is not None:
        conditions.append(exists().where(TOPICS.c.article_id == GALLERIES.c.id, TOPICS.c.topic == name(which.topic)))
    if which.category is not None:
        conditions.append(ARTICLES.c.category == name(which.category))
    if which.source is not None:
        conditions.append(ARTICLES.c.source == name(which.source))
    return conditions


def _behind(which: WallFilter, key: ColumnElement[Any]) -> list[ColumnElement[bool]]:
    value, _, last = (which.before or "").partition("~")
    try:
        edge = EPOCH + int(value) * MICROSECOND if which.order == "newest" else float(value)
    except (ValueError, OverflowError):
        return []
    return [or_(key < edge, and_(key == edge, GALLERIES.c.id < last))]


def _cursor(row: dict[str, Any]) -> str:
    value = row["order_key"]
    written = repr(value) if isinstance(value, float) else str((value - EPOCH) // MICROSECOND)
    return f"{written}~{row['id']}"
