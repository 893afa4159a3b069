"""What editors do to articles in a SQL store: correct them, and hide them from readers (``storage.corrections``, ``storage.hiding``)."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, select, update

from newsportal.storage.corrections import Correction, Written, corrected, expect, withdrawn
from newsportal.storage.hiding import hidden, shown
from newsportal.storage.paging import chunks
from newsportal.storage.sql.gallery_tables import GALLERIES
from newsportal.storage.sql.tables import ARTICLES, FOLD_KEYS
from newsportal.storage.sql.writing import existing, keep, log, said_last, settled


def correct(connection: Connection, article_id: str, said: Correction, by: str, seen: int | None, now: datetime) -> int:
    """See ``Store.correct``."""
    return _written(connection, article_id, lambda known: corrected(known, said, by=by, now=now), seen, now)


def withdraw(connection: Connection, article_id: str, seen: int | None, now: datetime) -> int:
    """See ``Store.withdraw``."""
    return _written(connection, article_id, lambda known: withdrawn(known, said_last(connection, known)), seen, now)


def _written(
    connection: Connection, article_id: str, become: Callable[[Mapping[str, Any]], Written | None], seen: int | None, now: datetime
) -> int:
    known = existing(connection, article_id)
    expect(known, seen)
    written = become(known)
    if written is None:
        return int(known["revision"])
    keep(connection, article_id, written)
    if (moment := written.columns.get("moment", known["moment"])) != known["moment"]:
        connection.execute(update(FOLD_KEYS).where(FOLD_KEYS.c.article_id == article_id).values(moment=moment))
        connection.execute(update(GALLERIES).where(GALLERIES.c.id == article_id).values(moment=moment))
    settled(connection, [known["story_id"]], {article_id}, now)
    log(connection, "article", article_id, now)
    return int(written.columns["revision"])


def hide(connection: Connection, article_ids: Collection[str], by: str, reason: str, now: datetime) -> list[str]:
    """See ``Store.hide``."""
    return _seen(connection, article_ids, hidden(by, reason, now), now, was_hidden=False)


def show(connection: Connection, article_ids: Collection[str], now: datetime) -> list[str]:
    """See ``Store.show``."""
    return _seen(connection, article_ids, shown(), now, was_hidden=True)


def _seen(connection: Connection, ids: Collection[str], columns: Mapping[str, Any], now: datetime, *, was_hidden: bool) -> list[str]:
    state = ARTICLES.c.hidden.is_not(None) if was_hidden else ARTICLES.c.hidden.is_(None)
    found: dict[str, str] = {}
    for chunk in chunks(dict.fromkeys(ids)):
        rows = connection.execute(select(ARTICLES.c.id, ARTICLES.c.story_id).where(ARTICLES.c.id.in_(chunk), state))
        found |= {row.id: row.story_id for row in rows}
        connection.execute(update(ARTICLES).where(ARTICLES.c.id.in_(chunk), state).values(**columns))
    changed = [id for id in dict.fromkeys(ids) if id in found]
    settled(connection, dict.fromkeys(found.values()), set(changed), now)
    for id in changed:
        log(connection, "article", id, now)
    return changed
