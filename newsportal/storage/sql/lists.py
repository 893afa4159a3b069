"""Lists of stories, page after page: newest or hottest first, narrowed by topic, category, source, site and time."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from sqlalchemy import ColumnElement, Connection, FromClause, Select, exists, func, or_, select

from newsportal.storage.base import Story, StoryFilter, StoryPage
from newsportal.storage.paging import chunks
from newsportal.storage.rows import article_from, name, story_from
from newsportal.storage.sql.reading import topics_of
from newsportal.storage.sql.tables import ARTICLES, LABELS, STORIES, TOPICS
from newsportal.storage.story_lists import EXCERPT_CHARS, KINDS, ORDERS, cursor, edge, given, turned, warm_enough


def stories(connection: Connection, which: StoryFilter) -> StoryPage:
    """See ``Store.stories``. A cursor that is none (a mistyped address) gives the first page."""
    limit = max(1, which.limit)
    rows = connection.execute(_page(which).limit(limit + 1)).mappings().all()
    topics = topics_of(connection, [row["id"] for row in rows])
    found = tuple(_story(dict(row), topics.get(row["id"], ())) for row in rows[:limit])
    if turned(which):
        return StoryPage(found[::-1])
    return StoryPage(found, cursor(rows[limit - 1]["order_key"], rows[limit - 1]["story_id"]) if len(rows) > limit else None)


def listed(connection: Connection, ids: Collection[str]) -> dict[str, Story]:
    """See ``Store.listed``."""
    present: dict[str, str] = {}
    for chunk in chunks(dict.fromkeys(ids)):
        present |= {id: id for id in connection.scalars(select(STORIES.c.id).where(STORIES.c.id.in_(chunk)))}
        moved = select(ARTICLES.c.id, ARTICLES.c.story_id).where(ARTICLES.c.id.in_([id for id in chunk if id not in present]))
        present |= {row.id: row.story_id for row in connection.execute(moved)}
    found: dict[str, Story] = {}
    for chunk in chunks(dict.fromkeys(present.values())):
        heads = _heads().join(ARTICLES, ARTICLES.c.id == STORIES.c.head_id).where(STORIES.c.id.in_(chunk), STORIES.c.count > 0)
        rows = connection.execute(heads).mappings().all()
        topics = topics_of(connection, [row["id"] for row in rows])
        found |= {row["story_id"]: _story(dict(row), topics.get(row["id"], ())) for row in rows}
    return {id: found[present[id]] for id in ids if present.get(id) in found}


def _heads(*further: ColumnElement[Any]) -> Select[Any]:
    """Stories with what a list shows of their heads, which the caller joins."""
    excerpt = func.substr(ARTICLES.c.text, 1, EXCERPT_CHARS).label("text")
    head = [column for column in ARTICLES.c if column.name not in ("text", "html", "first_seen")]
    figures = [STORIES.c.count, STORIES.c.sites, STORIES.c.last_seen, STORIES.c.heat, STORIES.c.first_seen.label("story_first_seen")]
    return select(*head, ARTICLES.c.first_seen, excerpt, *figures, *further).select_from(STORIES)


def _page(which: StoryFilter) -> Select[Any]:
    """Stories with their head and the value they are sorted by (``order_key``), in order, behind the cursor."""
    driver, story_id, narrowed = _driver(which)
    key = driver.c[ORDERS[which.order]]
    statement = _heads(key.label("order_key"))
    if driver is not STORIES:
        statement = statement.join(LABELS, LABELS.c.story_id == STORIES.c.id)
    least = warm_enough(which)
    if least is not None:
        narrowed = [*narrowed, key >= least]
    statement = statement.join(ARTICLES, ARTICLES.c.id == STORIES.c.head_id).where(*narrowed, *_behind(which, key, story_id))
    return statement.order_by(key, story_id) if turned(which) else statement.order_by(key.desc(), story_id.desc())


def _driver(which: StoryFilter) -> tuple[FromClause, ColumnElement[str], list[ColumnElement[bool]]]:
    """The table that is read in order, its story column, and the conditions."""
    kinds = given(which)
    narrowed: list[ColumnElement[bool]] = []
    if kinds:
        narrowed = [LABELS.c.kind == kinds[0], LABELS.c.value == name(getattr(which, kinds[0]))]
    if len(kinds) > 1 or which.since or which.until:
        narrowed.append(_some_version(which))
    return (LABELS, LABELS.c.story_id, narrowed) if kinds else (STORIES, STORIES.c.id, [*narrowed, STORIES.c.count > 0])


def _some_version(which: StoryFilter) -> ColumnElement[bool]:
    """One version of the story meets every condition."""
    version = ARTICLES.alias("version")
    conditions: list[ColumnElement[bool]] = [version.c.story_id == STORIES.c.id, version.c.hidden.is_(None)]
    conditions += [version.c[kind] == name(getattr(which, kind)) for kind in KINDS if kind != "topic" and getattr(which, kind) is not None]
    if which.topic is not None:
        conditions.append(exists().where(TOPICS.c.article_id == version.c.id, TOPICS.c.topic == name(which.topic)))
    if which.since:
        conditions.append(version.c.moment >= which.since)
    if which.until:
        conditions.append(version.c.moment < which.until)
    return exists().where(*conditions)


def _behind(which: StoryFilter, key: ColumnElement[Any], story_id: ColumnElement[str]) -> list[ColumnElement[bool]]:
    """The first condition says nothing new, but with it an index is entered at the edge and not read up to it."""
    if (end := turned(which)) is not None:
        return [key >= end[0], or_(key > end[0], story_id > end[1])]
    last = edge(which)
    return [] if last is None else [key <= last[0], or_(key < last[0], story_id < last[1])]


def _story(row: dict[str, Any], topics: Any) -> Story:
    head = article_from(row, topics)
    return story_from({**row, "id": row["story_id"], "first_seen": row["story_first_seen"]}, head)
