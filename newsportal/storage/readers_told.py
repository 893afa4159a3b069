"""The stories that may be recommended, as recommendation knows them."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Final

from sqlalchemy import ColumnElement, Connection, func, or_, select

from newsportal.storage.reader_tables import VIEWS
from newsportal.storage.readers import Told
from newsportal.storage.reading import chunks
from newsportal.storage.tables import ARTICLES, LABELS, STORIES

STORIES_AT_ONCE: Final = 1000

BEGINNING: Final = 300
"""Characters of a text that are told: they hold its first sentence."""

KINDS: Final = ("topic", "category", "source")


def told_page(connection: Connection, after: str, since: datetime, found: datetime | None, looked_at: bool) -> list[Told]:
    """The next stories by id. See ``Readers.stories``."""
    beginning = func.substr(ARTICLES.c.text, 1, BEGINNING).label("beginning")
    wanted = (
        select(STORIES.c.id, STORIES.c.moment, ARTICLES.c.title, beginning)
        .join(ARTICLES, ARTICLES.c.id == STORIES.c.head_id)
        .where(STORIES.c.id > after, *_which(since, found, looked_at))
        .order_by(STORIES.c.id)
        .limit(STORIES_AT_ONCE)
    )
    rows = connection.execute(wanted).all()
    labels = _labels(connection, [row.id for row in rows])
    return [Told(row.id, row.moment, row.title, row.beginning, tuple(labels.get(row.id, ()))) for row in rows]


def _which(since: datetime, found: datetime | None, looked_at: bool) -> list[ColumnElement[bool]]:
    recent: ColumnElement[bool] = STORIES.c.moment >= since
    if looked_at:
        seen = select(ARTICLES.c.story_id).join(VIEWS, VIEWS.c.article_id == ARTICLES.c.id)
        recent = or_(recent, STORIES.c.id.in_(seen))
    return [recent] if found is None else [recent, STORIES.c.first_seen >= found]


def _labels(connection: Connection, ids: list[str]) -> dict[str, list[str]]:
    labels: dict[str, list[str]] = {}
    for chunk in chunks(ids):
        these = select(LABELS.c.story_id, LABELS.c.kind, LABELS.c.value).where(LABELS.c.story_id.in_(chunk), LABELS.c.kind.in_(KINDS))
        for row in sorted(map(tuple, connection.execute(these)), key=_in_order):
            labels.setdefault(row[0], []).append(f"{row[1]}:{row[2]}")
    return labels


def _in_order(row: tuple[Any, ...]) -> tuple[str, int, str]:
    return row[0], KINDS.index(row[1]), row[2]
