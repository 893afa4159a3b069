"""The stories that may be recommended, as recommendation knows them."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any, Final

from sqlalchemy import Connection, Select, func, select

from newsportal.storage import readers_rows
from newsportal.storage.paging import chunks
from newsportal.storage.readers import Told
from newsportal.storage.readers_rows import BEGINNING, KINDS, in_order
from newsportal.storage.sql.reader_tables import VIEWS
from newsportal.storage.sql.tables import ARTICLES, LABELS, STORIES

TOLD: Final = select(
    STORIES.c.id, STORIES.c.moment, ARTICLES.c.title, func.substr(ARTICLES.c.text, 1, BEGINNING).label("beginning")
).join(ARTICLES, ARTICLES.c.id == STORIES.c.head_id).where(STORIES.c.count > 0)  # fmt: skip


def recent_page(connection: Connection, after: str, since: datetime, found: datetime | None) -> list[Told]:
    """The next stories by id from ``since`` on."""
    late = [STORIES.c.first_seen >= found] if found is not None else []
    wanted = TOLD.where(STORIES.c.id > after, STORIES.c.moment >= since, *late).order_by(STORIES.c.id).limit(readers_rows.STORIES_AT_ONCE)
    return _told(connection, wanted)


def looked_at(connection: Connection) -> list[str]:
    """The articles that somebody looked at."""
    return list(connection.scalars(select(VIEWS.c.article_id).distinct().order_by(VIEWS.c.article_id)))


def older(connection: Connection, articles: Sequence[str], since: datetime) -> list[Told]:
    """The stories of these articles from before ``since``."""
    theirs = select(ARTICLES.c.story_id).where(ARTICLES.c.id.in_(articles))
    return _told(connection, TOLD.where(STORIES.c.id.in_(theirs), STORIES.c.moment < since).order_by(STORIES.c.id))


def _told(connection: Connection, wanted: Select[Any]) -> list[Told]:
    rows = connection.execute(wanted).all()
    labels = _labels(connection, [row.id for row in rows])
    return [Told(row.id, row.moment, row.title, row.beginning, labels.get(row.id, ())) for row in rows]


def _labels(connection: Connection, ids: list[str]) -> dict[str, tuple[str, ...]]:
    labels: dict[str, list[tuple[str, str]]] = {}
    for chunk in chunks(ids):
        these = select(LABELS.c.story_id, LABELS.c.kind, LABELS.c.value).where(LABELS.c.story_id.in_(chunk), LABELS.c.kind.in_(KINDS))
        for id, kind, value in connection.execute(these):
            labels.setdefault(id, []).append((kind, value))
    return {id: in_order(found) for id, found in labels.items()}
