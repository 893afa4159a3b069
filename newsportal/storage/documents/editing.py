"""What editors do to articles in a database of documents: correct them, and hide them from readers."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from datetime import datetime
from typing import Any

from newsportal.storage.corrections import Correction, Written, corrected, expect, withdrawn
from newsportal.storage.documents.base import Row, Transaction, moment_in
from newsportal.storage.documents.plain import aware
from newsportal.storage.documents.room_tables import GALLERIES
from newsportal.storage.documents.tables import ARTICLE_MOMENTS, ARTICLES, kept
from newsportal.storage.documents.writing import existing, keep, log, said_last, settled
from newsportal.storage.hiding import hidden, shown


def correct(transaction: Transaction, article_id: str, said: Correction, by: str, seen: int | None, now: datetime) -> int:
    """See ``Store.correct``."""
    return _written(transaction, article_id, lambda known: corrected(known, said, by=by, now=now), seen, now)


def withdraw(transaction: Transaction, article_id: str, seen: int | None, now: datetime) -> int:
    """See ``Store.withdraw``."""
    return _written(transaction, article_id, lambda known: withdrawn(known, said_last(transaction, known)), seen, now)


def _written(transaction: Transaction, article_id: str, become: Callable[[Row], Written | None], seen: int | None, now: datetime) -> int:
    known = existing(transaction, article_id)
    expect(known, seen)
    written = become(known)
    if written is None:
        return int(known["revision"])
    keep(transaction, article_id, written)
    if (moment := written.columns.get("moment", known["moment"])) != known["moment"]:
        transaction.change(GALLERIES, article_id, moment=moment_in(moment))
    settled(transaction, [known["story_id"]], {article_id}, now)
    log(transaction, "article", article_id, now)
    return int(written.columns["revision"])


def hide(transaction: Transaction, article_ids: Collection[str], by: str, reason: str, now: datetime) -> list[str]:
    """See ``Store.hide``."""
    return _seen(transaction, article_ids, hidden(by, reason, now), now, was_hidden=False)


def show(transaction: Transaction, article_ids: Collection[str], now: datetime) -> list[str]:
    """See ``Store.show``."""
    return _seen(transaction, article_ids, shown(), now, was_hidden=True)


def _seen(transaction: Transaction, ids: Collection[str], columns: Mapping[str, Any], now: datetime, *, was_hidden: bool) -> list[str]:
    wanted = list(dict.fromkeys(ids))
    rows = transaction.get(ARTICLES, wanted, only=("id", "story_id", "hidden")) if wanted else {}
    found = {id: aware(row, *ARTICLE_MOMENTS) for id, row in rows.items()}
    changed = [id for id in wanted if id in found and (found[id]["hidden"] is not None) == was_hidden]
    for id in changed:
        transaction.change(ARTICLES, id, **kept(columns))
    settled(transaction, dict.fromkeys(str(found[id]["story_id"]) for id in changed), set(changed), now)
    for id in changed:
        log(transaction, "article", id, now)
    return changed
