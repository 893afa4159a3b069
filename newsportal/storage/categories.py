"""Who says what an article is about: its source, a classifier, an editor; and whose word may be changed by whom."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Final

from sqlalchemy import Connection, insert, select, update

from newsportal.errors import StoreError
from newsportal.storage import gallery_labels
from newsportal.storage.folding import refresh
from newsportal.storage.rows import name as looked_up
from newsportal.storage.tables import ARTICLES, CHANGES

EDITOR: Final = "editor"
"""Who has the last word: what an editor said of an article stands when the page is revised and when the model changes."""


def later(known: Mapping[str, Any], columns: Mapping[str, Any]) -> dict[str, Any]:
    """What of the category's ``columns`` a revised page may write over ``known``: nothing where it has no category or an editor spoke."""
    if columns["category"] is None or known["category_by"] == EDITOR:
        return {}
    return dict(columns)


def give(connection: Connection, article_id: str, category: str | None, by: str, now: datetime) -> None:
    """See ``Store.set_category``."""
    row = connection.execute(select(ARTICLES).where(ARTICLES.c.id == article_id)).mappings().first()
    if row is None:
        raise StoreError(f"no article {article_id!r}")
    if row["category_by"] == EDITOR != by:
        return
    values = {"category": looked_up(category) if category else None, "category_by": by, "category_score": None, "category_reason": None}
    if all(row[column] == value for column, value in values.items()):
        return
    connection.execute(update(ARTICLES).where(ARTICLES.c.id == article_id).values(**values))
    refresh(connection, row["story_id"])
    gallery_labels.put_up(connection, article_id)
    connection.execute(insert(CHANGES), {"kind": "article", "id": article_id, "at": now})
