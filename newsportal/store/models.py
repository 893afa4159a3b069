"""Versions of the models trained on a corpus."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final

from sqlalchemy import JSON, Column, Connection, ForeignKey, Integer, String, Table, func, insert, select, update

from newsportal.errors import StoreError
from newsportal.items import content_id
from newsportal.store.columns import ID_CHARS, LONG_BINARY, METADATA, Moment
from newsportal.store.columns import name as stored_name
from newsportal.store.dialects import Part
from newsportal.store.labels import CORPORA, corpus_id

MODELS_KEPT: Final = 5  # versions whose model is kept, besides the active one: it takes up to 20 MB. Of older ones only the figures stay.
ID_BYTES: Final = ID_CHARS // 2

DELETED: Final = ""  # ``algorithm`` of a deleted version. Its number is not reused: articles may refer to it.

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
"""``held_out``: ids of documents, ten bytes each; ``model``: NULL once deleted; ``activated``: last activation."""

EXISTING: Final = MODELS.c.algorithm != DELETED


@dataclass(frozen=True, slots=True)
class Model:
    """A version of a corpus' model. ``facts``: report of its training as JSON; ``size``: bytes of the model, 0 once deleted; ``held_out``:
    ids of documents not used for training, so that versions can be compared on those that none has seen."""

    corpus: str
    version: int
    algorithm: str
    created: datetime
    facts: Mapping[str, Any] = field(default_factory=dict, repr=False)
    size: int = 0
    active: bool = False
    held_out: frozenset[str] = field(default=frozenset(), repr=False)


class Models(Part):
    def save_model(
        self, name: str, blob: bytes, *, algorithm: str, facts: Mapping[str, Any], now: datetime, held_out: Iterable[str] = ()
    ) -> int:  # fmt: skip
        """Store a model as the next version, not yet active, and return its number. Delete models beyond :data:`MODELS_KEPT`."""
        packed = b"".join(bytes.fromhex(id) for id in sorted(held_out))
        row = {"algorithm": algorithm, "created": now, "facts": dict(facts), "size": len(blob), "held_out": packed, "model": blob}
        with self._write() as connection:
            corpus = corpus_id(connection, name)
            version = (connection.scalar(select(func.max(MODELS.c.version)).where(MODELS.c.corpus_id == corpus)) or 0) + 1
            connection.execute(insert(MODELS), [{**row, "corpus_id": corpus, "version": version, "activated": None}])
            query = select(MODELS.c.version).where(MODELS.c.corpus_id == corpus, MODELS.c.model.is_not(None))
            active = _active(connection, corpus)
            old = [number for number in connection.scalars(query.order_by(MODELS.c.version.desc())).all()[MODELS_KEPT:] if number != active]
            connection.execute(update(MODELS).where(*_these(corpus, *old)).values(model=None, size=0))
        return version

    def models(self, name: str) -> list[Model]:
        """Return all versions, newest first."""
        with self._read() as connection:
            return _versions(connection, name)

    def model(self, name: str, version: int | None = None) -> Model:
        """Return one version; by default the active one."""
        with self._read() as connection:
            return _version(connection, name, version)

    def blob(self, name: str, version: int) -> bytes:
        """Return the serialized model. Raises ``StoreError`` if it was deleted."""
        with self._read() as connection:
            return _blob(connection, name, version)

    def activate(self, name: str, version: int, *, now: datetime) -> None:
        """Activate a version. Raises ``StoreError`` if its model was deleted."""
        with self._write() as connection:
            _activate(connection, name, version, now)

    def rollback(self, name: str, *, now: datetime) -> int:
        """Activate the newest earlier version that was active before and still has its model, and return its number."""
        with self._write() as connection:
            active = _version(connection, name, None).version
            earlier = (MODELS.c.corpus_id == corpus_id(connection, name), MODELS.c.version < active)
            used = (MODELS.c.model.is_not(None), MODELS.c.activated.is_not(None))
            number = connection.scalar(select(func.max(MODELS.c.version)).where(*earlier, *used))
            if number is None:
                raise StoreError(f"no earlier version: none of {name!r} before {active} was active and is still stored")
            _activate(connection, name, number, now)
        return int(number)

    def delete_model(self, name: str, version: int) -> None:
        """Delete a version with its figures; its number is not reused. Raises ``StoreError`` for the active one."""
        with self._write() as connection:
            corpus = corpus_id(connection, name)
            if version == _active(connection, corpus):
                raise StoreError(f"version {version} of {name!r} is active and cannot be deleted; activate another one first")
            emptied = {"algorithm": DELETED, "facts": {}, "size": 0, "held_out": b"", "activated": None, "model": None}
            if not connection.execute(update(MODELS).where(*_these(corpus, version), EXISTING).values(**emptied)).rowcount:
                raise _unknown(connection, name, version)

    def active(self, name: str) -> int | None:
        """Return the active version; ``None`` if there is none, or no such corpus. One lookup of one row, cheap enough for polling."""
        with self._read() as connection:
            return _active(connection, content_id(stored_name(name)))


def _these(corpus: str, *versions: int) -> tuple[Any, ...]:
    return MODELS.c.corpus_id == corpus, MODELS.c.version.in_(versions)


def _versions(connection: Connection, name: str, *only: int) -> list[Model]:
    """Return the versions of a corpus, newest first; ``only`` these, if given."""
    corpus = corpus_id(connection, name)
    active = _active(connection, corpus)
    columns = [column for column in MODELS.c if column.name not in ("model", "corpus_id", "activated")]
    conditions = _these(corpus, *only) if only else (MODELS.c.corpus_id == corpus,)
    rows = connection.execute(select(*columns).where(*conditions, EXISTING).order_by(MODELS.c.version.desc())).mappings()
    return [
        Model(name, **{**row, "active": row["version"] == active, "held_out": frozenset(row["held_out"].hex(" ", ID_BYTES).split())})
        for row in rows
    ]


def _version(connection: Connection, name: str, version: int | None) -> Model:
    number = _active(connection, corpus_id(connection, name)) if version is None else version
    if number is None:
        raise StoreError(f"corpus {name!r} has no active model; train one: newsportal train --corpus {name}")
    found = _versions(connection, name, number)
    if not found:
        raise _unknown(connection, name, number)
    return found[0]


def _blob(connection: Connection, name: str, number: int) -> bytes:
    row = connection.execute(select(MODELS.c.model).where(*_these(corpus_id(connection, name), number), EXISTING)).first()
    if row is None:
        raise _unknown(connection, name, number)
    if row[0] is None:
        raise StoreError(f"version {number} of {name!r} was deleted: only its figures are stored")
    return bytes(row[0])


def _activate(connection: Connection, name: str, number: int, now: datetime) -> None:
    _blob(connection, name, number)
    corpus = corpus_id(connection, name)
    connection.execute(update(MODELS).where(*_these(corpus, number)).values(activated=now))
    connection.execute(update(CORPORA).where(CORPORA.c.id == corpus).values(active_version=number))


def _active(connection: Connection, corpus: str) -> int | None:
    found: int | None = connection.scalar(select(CORPORA.c.active_version).where(CORPORA.c.id == corpus))
    return found


def _unknown(connection: Connection, name: str, number: int) -> StoreError:
    query = select(MODELS.c.version).where(MODELS.c.corpus_id == corpus_id(connection, name), EXISTING).order_by(MODELS.c.version)
    versions = connection.scalars(query).all()
    return StoreError(
        f"corpus {name!r} has no version {number}; " + (f"it has {', '.join(map(str, versions))}" if versions else "it has none yet")
    )
