"""Versions of models in SQL. Every function runs inside the caller's transaction (:mod:`corpora`); ``corpus`` is an id."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, func, insert, select, update

from newsportal.errors import StoreError
from newsportal.items import content_id
from newsportal.storage.corpora import Model
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
from newsportal.storage.sql.tables import CORPORA, MODELS

THERE = MODELS.c.algorithm != DELETED


def save(
    connection: Connection, corpus: str, blob: bytes, algorithm: str, facts: Mapping[str, Any], now: datetime, held_out: Sequence[str],
    keep: int,
) -> int:  # fmt: skip
    """See ``Corpora.save_model``."""
    version = (connection.scalar(select(func.max(MODELS.c.version)).where(MODELS.c.corpus_id == corpus)) or 0) + 1
    row = model_row(corpus, version, algorithm, facts, now, held_out, len(blob))
    connection.execute(insert(MODELS), [row | {"model": blob}])
    _let_go(connection, corpus, keep)
    return version


def _let_go(connection: Connection, corpus: str, keep: int) -> None:
    """Drop the models of the oldest versions; their figures stay."""
    kept = select(MODELS.c.version).where(MODELS.c.corpus_id == corpus, MODELS.c.model.is_not(None)).order_by(MODELS.c.version.desc())
    active = _active(connection, corpus)
    old = [version for version in connection.scalars(kept).all()[keep:] if version != active]
    connection.execute(
        update(MODELS).where(MODELS.c.corpus_id == corpus, MODELS.c.version.in_(old)).values(model=None, size=0)
    )  # fmt: skip


def versions(connection: Connection, corpus: str, name: str, *only: int) -> list[Model]:
    """See ``Corpora.models``; ``only`` these, if any are named."""
    active = _active(connection, corpus)
    columns = [column for column in MODELS.c if column.name != "model"]
    wanted = (MODELS.c.corpus_id == corpus, THERE, *([MODELS.c.version.in_(only)] if only else []))
    rows = connection.execute(select(*columns).where(*wanted).order_by(MODELS.c.version.desc())).mappings()
    return [model_of(dict(row), name, active) for row in rows]


def version(connection: Connection, corpus: str, name: str, wanted: int | None) -> Model:
    """See ``Corpora.model``."""
    number = _active(connection, corpus) if wanted is None else wanted
    if number is None:
        raise none_in_use(name)
    found = versions(connection, corpus, name, number)
    if not found:
        raise _unknown(connection, corpus, name, number)
    return found[0]


def blob(connection: Connection, corpus: str, name: str, number: int) -> bytes:
    """See ``Corpora.blob``."""
    row = connection.execute(select(MODELS.c.model).where(MODELS.c.corpus_id == corpus, MODELS.c.version == number, THERE)).first()
    if row is None:
        raise _unknown(connection, corpus, name, number)
    if row[0] is None:
        raise was_let_go(name, number)
    return bytes(row[0])


def delete(connection: Connection, corpus: str, name: str, number: int) -> None:
    """See ``Corpora.delete_model``."""
    if number == _active(connection, corpus):
        raise in_use(name, number)
    one = (MODELS.c.corpus_id == corpus, MODELS.c.version == number, THERE)
    if not connection.execute(update(MODELS).where(*one).values(**deleted_row(), model=None)).rowcount:
        raise _unknown(connection, corpus, name, number)


def activate(connection: Connection, corpus: str, name: str, number: int, now: datetime) -> None:
    """See ``Corpora.activate``."""
    blob(connection, corpus, name, number)
    connection.execute(update(MODELS).where(MODELS.c.corpus_id == corpus, MODELS.c.version == number).values(activated=now))
    connection.execute(update(CORPORA).where(CORPORA.c.id == corpus).values(active=number))


def rollback(connection: Connection, corpus: str, name: str, now: datetime) -> int:
    """See ``Corpora.rollback``."""
    active = version(connection, corpus, name, None).version
    before = select(func.max(MODELS.c.version)).where(
        MODELS.c.corpus_id == corpus, MODELS.c.version < active, MODELS.c.model.is_not(None), MODELS.c.activated.is_not(None)
    )
    number = connection.scalar(before)
    if number is None:
        raise nothing_before(name, active)
    activate(connection, corpus, name, number, now)
    return int(number)


def active(connection: Connection, name: str) -> int | None:
    """See ``Corpora.active``."""
    return _active(connection, content_id(looked_up(name)))


def _active(connection: Connection, corpus: str) -> int | None:
    found: int | None = connection.scalar(select(CORPORA.c.active).where(CORPORA.c.id == corpus))
    return found


def _unknown(connection: Connection, corpus: str, name: str, number: int) -> StoreError:
    there = connection.scalars(select(MODELS.c.version).where(MODELS.c.corpus_id == corpus, THERE).order_by(MODELS.c.version)).all()
    return no_version(name, number, there)
