"""The wall: photo stories page after page, the highest score or the newest first."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from sqlalchemy import ColumnElement, Connection, Select, and_, exists, func, or_, select

from newsportal.storage.galleries import WallFilter, WallPage, WallStory
from newsportal.storage.galleries_rows import WALL_KINDS, WALL_ORDERS, gallery_of
from newsportal.storage.rows import article_from, name
from newsportal.storage.sql.gallery_tables import GALLERIES, LABELLED
from newsportal.storage.sql.reading import topics_of
from newsportal.storage.sql.tables import ARTICLES, STORIES
from newsportal.storage.story_lists import EXCERPT_CHARS, cursor, edge

FIGURES = tuple(column for column in GALLERIES.c if column.name not in ("id", "text", "moment"))


def wall(connection: Connection, which: WallFilter) -> WallPage:
    """See ``Galleries.wall``. A cursor that is none (a mistyped address) gives the first page."""
    limit = max(1, which.limit)
    rows = [dict(row) for row in connection.execute(_page(which).limit(limit + 1)).mappings()]
    topics = topics_of(connection, [row["id"] for row in rows])
    found = tuple(
        WallStory(article_from(row, topics.get(row["id"], ())), gallery_of(row), row["count"], row["sites"]) for row in rows[:limit]
    )
    return WallPage(found, cursor(rows[limit - 1]["order_key"], rows[limit - 1]["id"]) if len(rows) > limit else None)


def _page(which: WallFilter) -> Select[Any]:
    given = [(kind, name(value)) for kind in WALL_KINDS if (value := getattr(which, kind)) is not None]
    driver = LABELLED if given else GALLERIES
    key, id = driver.c[WALL_ORDERS[which.order]], LABELLED.c.gallery_id if given else GALLERIES.c.id
    excerpt = func.substr(ARTICLES.c.text, 1, EXCERPT_CHARS).label("text")
    head = [column for column in ARTICLES.c if column.name not in ("text", "html")]
    statement = select(*head, excerpt, *FIGURES, STORIES.c.count, STORIES.c.sites, key.label("order_key")).select_from(driver)
    if given:
        statement = statement.join(GALLERIES, GALLERIES.c.id == LABELLED.c.gallery_id)
    return (
        statement.join(ARTICLES, ARTICLES.c.id == GALLERIES.c.id)
        .join(STORIES, and_(STORIES.c.id == ARTICLES.c.story_id, STORIES.c.head_id == GALLERIES.c.id))
        .where(GALLERIES.c.pictures > 0, STORIES.c.count > 0, *_narrowed(given), *_behind(which, key, id))
        .order_by(key.desc(), id.desc())
    )


def _narrowed(given: Sequence[tuple[str, str]]) -> Iterator[ColumnElement[bool]]:
    for place, (kind, value) in enumerate(given):
        labels = LABELLED if place == 0 else LABELLED.alias(f"also_{kind}")
        fits = and_(labels.c.kind == kind, labels.c.value == value)
        yield fits if place == 0 else exists().where(labels.c.gallery_id == GALLERIES.c.id, fits)


def _behind(which: WallFilter, key: ColumnElement[Any], id: ColumnElement[str]) -> list[ColumnElement[bool]]:
    found = edge(which)
    return [] if found is None else [key <= found[0], or_(key < found[0], id < found[1])]  # the first: where the index is entered
