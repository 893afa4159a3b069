"""The store as plain rows: what ``store copy``, ``backup`` and ``restore`` read and write.

A :data:`Record` is a row of a table (``docs/storage.md``), its values in canonical form: texts, whole numbers, floats,
true and false, moments as whole microseconds since 1970, bytes, and what JSON can say.
"""

from __future__ import annotations

import base64
import hashlib
import json
import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Final, Literal

from sqlalchemy import Column, ColumnElement, Connection, MetaData, Table, delete, func, select, tuple_, types

from newsportal.store import assistant, boards, crawl_state, link_tables, models, outbox, pictures, readers, schema, threads  # noqa: F401  declare tables
from newsportal.store.columns import METADATA, Moment
from newsportal.store.dialects import Part, count_on, snapshot, upsert

DEEPEST: Final = 40
"""Levels of lists and mappings within one another that a row may have: JSON readers have bounds. What we store has four."""


def is_shallow(value: Any, most: int = DEEPEST) -> bool:
    """Whether lists and mappings lie at most so deep within one another."""
    if not isinstance(value, list | Mapping):
        return True
    return most > 0 and all(is_shallow(inner, most - 1) for inner in (value.values() if isinstance(value, Mapping) else value))


Kind = Literal["text", "integer", "float", "flag", "moment", "json", "bytes"]

Record = Mapping[str, Any]
Key = tuple[Any, ...]  # the values of a row's primary key, in the order of its columns
PAGE: Final = 500  # rows that are read or written at once: below every database's limit of parameters, some megabytes of articles


@dataclass(frozen=True, slots=True)
class Form:
    """What a table's rows look like: the kind of every column, those of the key, and which columns name rows of other tables.

    ``counted``: the column whose numbers the database gives. ``parents``: column → table whose ``id`` stands there (foreign keys).
    ``single``: a column beside the key of which no two rows have the same value.
    """

    name: str
    columns: Mapping[str, Kind]
    key: tuple[str, ...]
    nullable: frozenset[str]
    parents: Mapping[str, str]
    counted: str | None = None
    single: str | None = None

    def key_of(self, row: Record) -> Key:
        return tuple(row[column] for column in self.key)


class Digest:
    """What a table holds, in one number that does not depend on the order of its rows: the sum of their SHA-256 modulo 2^256.

    Rows are told apart by their keys, so none is there twice; two tables of one digest and one count hold the same rows.
    """

    def __init__(self) -> None:
        self.count = 0
        self._sum = 0

    def add(self, form: Form, row: Record) -> None:
        self.count += 1
        self._sum = (self._sum + int.from_bytes(hashlib.sha256(canonical(form, row)).digest(), "big")) % 2**256

    def hexdigest(self) -> str:
        return f"{self._sum:064x}"


def digest(reading: TableReader, form: Form) -> Digest:
    made = Digest()
    for row in reading.rows(form):
        made.add(form, row)
    return made


def canonical(form: Form, row: Record) -> bytes:
    """A row as the one JSON text that stands for it: keys sorted, ASCII alone, bytes in base64."""
    return json.dumps(plain(form, row), sort_keys=True, separators=(",", ":")).encode("ascii")


def plain(form: Form, row: Record) -> dict[str, Any]:
    """A row as JSON can say it: bytes become base64."""
    return {name: base64.b64encode(value).decode("ascii") if isinstance(value := row[name], bytes) else value for name in form.columns}


TYPES: Final[Mapping[Kind, tuple[type[Any], ...]]] = {
    "text": (str,),
    "integer": (int,),
    "moment": (int,),
    "float": (float, int),
    "flag": (bool,),
    "bytes": (str,),
}
"""What JSON must say for a column of each kind; a ``json`` column may be anything."""


def from_plain(form: Form, values: Any) -> dict[str, Any]:
    """The row of :func:`plain`. Raises ``ValueError`` for what is no row of this table: nothing is trusted that comes from a file."""
    if not isinstance(values, dict):
        raise ValueError(f"no row of {form.name}: not an object")  # noqa: TRY004  a bad file, not a bad caller
    if unknown := sorted(set(values) ^ set(form.columns)):
        raise ValueError(f"no row of {form.name}: columns missing or unknown: {', '.join(unknown)[:200]}")
    return {name: _value(form, name, kind, values[name]) for name, kind in form.columns.items()}


def _value(form: Form, name: str, kind: Kind, value: Any) -> Any:
    if kind == "json":
        if not is_shallow(value):
            raise ValueError(f"no row of {form.name}: in {name}, lists or mappings lie more than {DEEPEST} deep within one another")
        return value
    if value is None:
        if name not in form.nullable:
            raise ValueError(f"no row of {form.name}: {name} is missing")
        return None
    if not (isinstance(value, TYPES[kind]) and (kind == "flag" or not isinstance(value, bool))):
        raise ValueError(f"no row of {form.name}: {name} is no {kind}")
    if not _storable(value):
        raise ValueError(f"no row of {form.name}: {name} is nothing that a database keeps")
    if kind == "bytes":
        return base64.b64decode(value, validate=True)
    return float(value) if kind == "float" else value


def _storable(value: Any) -> bool:
    """Whether every database keeps the value: no NUL, no lone surrogate, no number of more than 64 bits, none that is none."""
    if isinstance(value, str):
        return "\x00" not in value and not any("\ud800" <= char <= "\udfff" for char in value)
    return isinstance(value, bool) or (abs(value) < 2**63 if isinstance(value, int) else math.isfinite(value))


KINDS: Final[tuple[tuple[type[types.TypeEngine[Any]], Kind], ...]] = (
    (Moment, "moment"),
    (types.JSON, "json"),
    (types.Boolean, "flag"),
    (types.LargeBinary, "bytes"),
    (types.Float, "float"),
    (types.BigInteger, "integer"),
    (types.Integer, "integer"),
    (types.String, "text"),
)
"""Type of a column → kind of its values; the first that fits."""


def form_of(table: Table) -> Form:
    counted = [column.name for column in table.primary_key if column.autoincrement is True]
    return Form(
        name=table.name,
        columns={column.name: next(kind for type_, kind in KINDS if isinstance(column.type, type_)) for column in table.columns},
        key=tuple(column.name for column in table.primary_key),
        nullable=frozenset(column.name for column in table.columns if column.nullable),
        parents={next(iter(key.columns)).name: key.referred_table.name for key in table.foreign_key_constraints},
        counted=counted[0] if counted else None, single=next((column.name for column in table.columns if column.unique), None),
    )  # fmt: skip


FORMS: Final = tuple(form_of(table) for table in METADATA.sorted_tables if table not in link_tables.WORK_TABLES)
"""Every table of a store, parents before their children."""

BY_NAME: Final = {form.name: form for form in FORMS}


def _raw(table: Table, into: MetaData) -> Table:
    """``table`` with moments as the whole numbers that they are in the database."""
    columns = (
        Column(
            column.name,
            types.BigInteger() if isinstance(column.type, Moment) else column.type,
            primary_key=column.primary_key,
            autoincrement=False,
        )
        for column in table.columns
    )
    return Table(table.name, into, *columns)


RAW: Final[Mapping[str, Table]] = (lambda into: {form.name: _raw(METADATA.tables[form.name], into) for form in FORMS})(MetaData())


class TableReader:
    """One look at a store's rows: one state of it, whoever writes meanwhile."""

    def __init__(self, connection: Connection) -> None:
        self.connection = connection

    def rows(self, form: Form) -> Iterator[dict[str, Any]]:
        """All rows of a table, by key in the database's own order, streamed. Nothing else is asked of this look before they end: MySQL
        forgets the rest."""
        table = RAW[form.name]
        found = self.connection.execute(select(table).order_by(*table.primary_key), execution_options={"yield_per": PAGE})
        for row in found.mappings():
            yield dict(row)

    def get(self, form: Form, keys: Collection[Key]) -> dict[Key, dict[str, Any]]:
        """Those of these rows that exist (at most :data:`PAGE` are asked for)."""
        found = self.connection.execute(select(RAW[form.name]).where(_among(form, keys))).mappings()
        return {form.key_of(row): row for row in map(dict[str, Any], found)}

    def count(self, form: Form) -> int:
        return self.connection.scalar(select(func.count()).select_from(RAW[form.name])) or 0

    def orphans(self, form: Form, column: str) -> list[dict[str, Any]]:
        """Rows in whose ``column`` stands an id that its parent table does not have."""
        table, parent = RAW[form.name], RAW[form.parents[column]].alias("parent")
        lost = select(table).outerjoin(parent, parent.c.id == table.c[column]).where(parent.c.id.is_(None))
        return [dict(row) for row in self.connection.execute(lost.order_by(*table.primary_key)).mappings()]


class Records(Part):
    """A store as plain rows. Whoever writes records writes the whole truth: no folding, no change log of its own."""

    @contextmanager
    def reading(self) -> Iterator[TableReader]:
        with snapshot(self._engine) as connection:
            yield TableReader(connection)

    def write(self, form: Form, rows: Sequence[Record]) -> int:
        """Write rows (at most :data:`PAGE`) in place of those of their keys, in one transaction; answers how many.

        Rows whose parents are not there are left out: the parent was deleted, or came after the look at its table.
        """
        table, there = RAW[form.name], list(rows)
        with self._write() as connection:
            for column, parent in form.parents.items():
                id = RAW[parent].c.id
                known = set(connection.scalars(select(id).where(id.in_({row[column] for row in there}))))
                there = [row for row in there if row[column] in known]
            if form.single is not None and there:  # rows of other keys that have what only one may have: an article's former fingerprint
                taken = table.c[form.single].in_([row[form.single] for row in there])
                connection.execute(delete(table).where(taken, ~_among(form, [form.key_of(row) for row in there])))
            upsert(connection, table, there, update=tuple(column.name for column in table.columns if not column.primary_key))
        return len(there)

    def delete(self, form: Form, keys: Collection[Key]) -> int:
        """Answers how many there were. Children go before their parents."""
        if not keys:
            return 0
        return self._execute(delete(RAW[form.name]).where(_among(form, keys)))

    def restoring(self) -> str | None:
        """The name of the backup that :meth:`mark` noted."""
        with self._read() as connection:
            return schema.restoring(connection)

    def mark(self, backup: str | None) -> None:
        """Note in the store, before the first of its rows, which backup is restored into it (a name of at most 16 letters and digits); and
        after the last one that it is whole. Meanwhile nobody else opens the store."""
        with self._write() as connection:
            schema.mark(connection, backup)

    def finish(self) -> None:
        """After the last write: numbers that the database gives go on above those that were written."""
        with self._write() as connection:
            for form in FORMS:
                if form.counted:
                    count_on(connection, METADATA.tables[form.name], form.counted)


def _among(form: Form, keys: Collection[Key]) -> ColumnElement[bool]:
    columns = [RAW[form.name].c[name] for name in form.key]
    if len(columns) == 1:
        return columns[0].in_([key[0] for key in keys])
    return tuple_(*columns).in_(list(keys))
