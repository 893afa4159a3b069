"""Versions of models in a database of documents. What changes something runs inside the caller's transaction; ``corpus`` is an id."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from newsportal.items import content_id
from newsportal.storage.corpora import Model
from newsportal.storage.documents import pieces
from newsportal.storage.documents.base import Condition, Is, Not, Row, Rows, Transaction, Within, moment_in
from newsportal.storage.documents.plain import aware, plain
from newsportal.storage.documents.room_tables import CORPORA, MODELS, row_id
from newsportal.storage.documents.tables import as_text
from newsportal.storage.models_rows import (
    DELETED,
    deleted_row,
    in_use,
    model_of,
    model_row,
    no_version,
    none_in_use,
    nothing_before,
    was_let_go,
)
from newsportal.storage.rows import name as looked_up

NEWEST: tuple[str, ...] = ("-version",)


def save(
    transaction: Transaction, corpus: str, blob: bytes, algorithm: str, facts: Mapping[str, Any], now: datetime, held_out: Sequence[str],
    keep: int,
) -> int:  # fmt: skip
    """See ``Corpora.save_model``."""
    last = transaction.find(MODELS, Is("corpus_id", corpus), order=NEWEST, limit=1, only=("version",))
    version = (last[0]["version"] if last else 0) + 1
    row = model_row(corpus, version, algorithm, facts, now, held_out, len(blob))
    transaction.put(MODELS, {"id": row_id(corpus, version), **plain(row), "facts": as_text(facts), "kept": True})
    pieces.put(transaction, _blob(corpus, version), blob)
    _let_go(transaction, corpus, keep)
    return version


def _blob(corpus: str, version: int) -> str:
    return f"model {corpus} {version}"


def _let_go(transaction: Transaction, corpus: str, keep: int) -> None:
    """Drop the models of the oldest versions; their figures stay."""
    active = _active(transaction, corpus)
    kept = transaction.find(MODELS, Is("corpus_id", corpus), Is("kept", True), order=NEWEST, only=("version",))
    for version in (row["version"] for row in kept[keep:] if row["version"] != active):
        transaction.change(MODELS, row_id(corpus, version), kept=False, size=0)
        pieces.delete(transaction, _blob(corpus, version))


def remove(transaction: Transaction, corpus: str) -> None:
    """Delete every version."""
    rows = transaction.find(MODELS, Is("corpus_id", corpus), only=("version", "kept"))
    for row in rows:
        if row["kept"]:
            pieces.delete(transaction, _blob(corpus, row["version"]))
    transaction.delete(MODELS, [row["id"] for row in rows])


def versions(rows: Rows, corpus: str, name: str, *only: int) -> list[Model]:
    """See ``Corpora.models``; ``only`` these, if any are named."""
    active = _active(rows, corpus)
    wanted: list[Condition] = [Is("corpus_id", corpus), *(Is("version", version) for version in only[:1])]
    return [model_of(_told(row), name, active) for row in rows.find(MODELS, *wanted, order=NEWEST) if row["algorithm"] != DELETED]


def _told(row: Row) -> Row:
    return {**aware(row, "created"), "facts": json.loads(row["facts"])}


def version(rows: Rows, corpus: str, name: str, wanted: int | None) -> Model:
    """See ``Corpora.model``."""
    number = _active(rows, corpus) if wanted is None else wanted
    if number is None:
        raise none_in_use(name)
    found = versions(rows, corpus, name, number)
    if not found:
        raise no_version(name, number, _numbers(rows, corpus))
    return found[0]


def blob(rows: Rows, corpus: str, name: str, number: int) -> bytes:
    """See ``Corpora.blob``."""
    row = rows.get(MODELS, [row_id(corpus, number)], without=("held_out", "facts")).get(row_id(corpus, number))
    if row is None or row["algorithm"] == DELETED:
        raise no_version(name, number, _numbers(rows, corpus))
    found = pieces.get(rows, _blob(corpus, number)) if row["kept"] else None
    if found is None:
        raise was_let_go(name, number)
    return found


def delete(transaction: Transaction, corpus: str, name: str, number: int) -> None:
    """See ``Corpora.delete_model``."""
    if number == _active(transaction, corpus):
        raise in_use(name, number)
    if number not in _numbers(transaction, corpus):
        raise no_version(name, number, _numbers(transaction, corpus))
    row = {**deleted_row(), "facts": as_text({}), "kept": False}
    transaction.change(MODELS, row_id(corpus, number), **row)
    pieces.delete(transaction, _blob(corpus, number))


def counted(rows: Rows) -> Counter[str]:
    """Corpus → how many versions it has."""
    return Counter(row["corpus_id"] for row in rows.find(MODELS, only=("corpus_id", "algorithm")) if row["algorithm"] != DELETED)


def activate(transaction: Transaction, corpus: str, name: str, number: int, now: datetime) -> None:
    """See ``Corpora.activate``."""
    blob(transaction, corpus, name, number)
    transaction.change(MODELS, row_id(corpus, number), activated=moment_in(now))
    transaction.change(CORPORA, corpus, active=number)


def rollback(transaction: Transaction, corpus: str, name: str, now: datetime) -> int:
    """See ``Corpora.rollback``."""
    active = version(transaction, corpus, name, None).version
    used = (Within("version", high=active), Is("kept", True), Not(Is("activated", None)))
    before = transaction.find(MODELS, Is("corpus_id", corpus), *used, order=NEWEST, limit=1, only=("version",))
    if not before:
        raise nothing_before(name, active)
    number: int = before[0]["version"]
    activate(transaction, corpus, name, number, now)
    return number


def active(rows: Rows, name: str) -> int | None:
    """See ``Corpora.active``."""
    return _active(rows, content_id(looked_up(name)))


def _active(rows: Rows, corpus: str) -> int | None:
    found: int | None = rows.get(CORPORA, [corpus]).get(corpus, {}).get("active")
    return found


def _numbers(rows: Rows, corpus: str) -> list[int]:
    found = rows.find(MODELS, Is("corpus_id", corpus), order=("version",), only=("version", "algorithm"))
    return [row["version"] for row in found if row["algorithm"] != DELETED]
