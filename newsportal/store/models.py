"""Versions of the models that were trained on a corpus."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any, Final

from sqlalchemy import JSON, Column, Connection, ForeignKey, Integer, String, Table, func, insert, select, update

from newsportal.errors import StoreError
from newsportal.items import content_id
from newsportal.store.columns import ID_CHARS, LONG_BINARY, METADATA, Moment
from newsportal.store.columns import name as looked_up
from newsportal.store.labels import CORPORA, Model

MODELS = Table(
    "models",
    METADATA,
    Column("corpus_id", String(ID_CHARS), ForeignKey("corpora.id"), primary_key=True),
    Column("version", Integer, primary_key=True, autoincrement=False),
    Column("algorithm", String(64), nullable=False),
    Column("created", Moment, nullable=False),
    Column("activated", Moment),
    Column("facts", JSON, nullable=False),
    Column("size", Integer, nullable=False),
    Column("held_out", LONG_BINARY, nullable=False),
    Column("model", LONG_BINARY),
)
"""``held_out``: ids of documents, ten bytes each; ``model`` is empty once it was let go; ``activated``: when it was put to use last."""


ID_BYTES: Final = ID_CHARS // 2

DELETED: Final = ""
"""``algorithm`` of a version that was deleted. Its number stays taken: articles may name it."""


def model_row(
    corpus: str, version: int, algorithm: str, facts: Mapping[str, Any], now: datetime, held_out: Iterable[str], size: int
) -> dict[str, Any]:  # fmt: skip
    """The columns of a new version but the model itself."""
    packed = b"".join(bytes.fromhex(id) for id in sorted(held_out))
    row = {"corpus_id": corpus, "version": version, "algorithm": algorithm, "created": now, "facts": dict(facts)}
    return {**row, "size": size, "held_out": packed, "activated": None}


def model_of(row: Mapping[str, Any], name: str, active: int | None) -> Model:
    """The inverse of :func:`model_row`; ``active``: the version in use."""
    packed: bytes = row["held_out"]
    ids = frozenset(packed[at : at + ID_BYTES].hex() for at in range(0, len(packed), ID_BYTES))
    facts = {"facts": row["facts"], "size": row["size"], "active": row["version"] == active, "held_out": ids}
    return Model(name, row["version"], row["algorithm"], row["created"], **facts)


def deleted_row() -> dict[str, Any]:
    """The columns of a version that was deleted, but its number and the model itself."""
    return {"algorithm": DELETED, "facts": {}, "size": 0, "held_out": b"", "activated": None}


def in_use(name: str, number: int) -> StoreError:
    """The error of deleting the version in use."""
    return StoreError(f"version {number} of {name!r} is in use and cannot be deleted; put another one to use first")


def none_in_use(name: str) -> StoreError:
    """The error of a corpus without a model in use."""
    return StoreError(f"corpus {name!r} has no model in use; train one: newsportal train --corpus {name}")


def no_version(name: str, number: int, there: Sequence[int]) -> StoreError:
    """The error of an unknown version; ``there``: the numbers of those there are."""
    return StoreError(
        f"corpus {name!r} has no version {number}; " + (f"it has {', '.join(map(str, there))}" if there else "it has none yet")
    )


def was_let_go(name: str, number: int) -> StoreError:
    """The error of a version of which the figures alone are kept."""
    return StoreError(f"version {number} of {name!r} was let go: only its figures are kept")


def nothing_before(name: str, active: int) -> StoreError:
    """The error of a version before which none was in use."""
    return StoreError(f"nothing to go back to: no version of {name!r} before {active} was in use and is still kept")


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
