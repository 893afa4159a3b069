"""An article's category is changed in a SQL store; :mod:`editors` says by whom."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import Connection, insert, select, update

from newsportal.errors import StoreError
from newsportal.storage.editors import given
from newsportal.storage.sql import gallery_labels
from newsportal.storage.sql.folding import refresh
from newsportal.storage.sql.tables import ARTICLES, CHANGES


def give(connection: Connection, article_id: str, category: str | None, by: str, now: datetime, over: bool) -> None:
    """See ``Store.set_category``."""
    row = connection.execute(select(ARTICLES).where(ARTICLES.c.id == article_id)).mappings().first()
    if row is None:
        raise StoreError(f"no article {article_id!r}")
    values = given(dict(row), category, by, over=over)
    if values is None:
        return
    connection.execute(update(ARTICLES).where(ARTICLES.c.id == article_id).values(**values))
    refresh(connection, row["story_id"])
    gallery_labels.put_up(connection, article_id)
    connection.execute(insert(CHANGES), {"kind": "article", "id": article_id, "at": now})
