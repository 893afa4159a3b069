"""Records of the SQL stores: tables as they are, moments as the numbers that the database holds."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Final

from sqlalchemy import BigInteger, Column, ColumnElement, Connection, Engine, MetaData, Table, delete, func, select, tuple_

from newsportal.storage.forms import FORMS
from newsportal.storage.records import PAGE, Form, Key, Record
from newsportal.storage.sql import schema
from newsportal.storage.sql.dialects import count_on, reading, snapshot, upsert, writing
from newsportal.storage.sql.tables import METADATA, Moment


def _raw(table: Table, into: MetaData) -> Table:
    """``table`` with moments as the whole numbers that they are in the database."""
    columns = (
        Column(
            column.name,
            BigInteger() if isinstance(column.type, Moment) else column.type,
            primary_key=column.primary_key,
            autoincrement=False,
        )
        for column in table.columns
    )
    return Table(table.name, into, *columns)


RAW: Final[Mapping[str, Table]] = (lambda into: {form.name: _raw(METADATA.tables[form.name], into) for form in FORMS})(MetaData())


class SqlReading:
    """See :class:`~newsportal.storage.records.Reading`."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def rows(self, form: Form) -> Iterator[dict[str, Any]]:
        table = RAW[form.name]
        found = self._connection.execute(select(table).order_by(*table.primary_key), execution_options={"yield_per": PAGE})
        for row in found.mappings():
            yield dict(row)

    def get(self, form: Form, keys: Collection[Key]) -> dict[Key, dict[str, Any]]:
        found = self._connection.execute(select(RAW[form.name]).where(_among(form, keys))).mappings()
        return {form.key_of(row): row for row in map(dict[str, Any], found)}

    def count(self, form: Form) -> int:
        return self._connection.scalar(select(func.count()).select_from(RAW[form.name])) or 0


class SqlRecords:
    """See :class:`~newsportal.storage.records.Records`."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    @contextmanager
    def reading(self) -> Iterator[SqlReading]:
        with snapshot(self._engine) as connection:
            yield SqlReading(connection)

    def write(self, form: Form, rows: Sequence[Record]) -> int:
        with writing(self._engine) as connection:
            there = _with_parents(connection, form, rows)
            _make_room(connection, form, there)
            table = RAW[form.name]
            upsert(connection, table, there, update=tuple(column.name for column in table.columns if not column.primary_key))
        return len(there)

    def delete(self, form: Form, keys: Collection[Key]) -> int:
        if not keys:
            return 0
        with writing(self._engine) as connection:
            return connection.execute(delete(RAW[form.name]).where(_among(form, keys))).rowcount

    def restoring(self) -> str | None:
        with reading(self._engine) as connection:
            return schema.restoring(connection)

    def mark(self, backup: str | None) -> None:
        with writing(self._engine) as connection:
            schema.mark(connection, backup)

    def finish(self) -> None:
        with writing(self._engine) as connection:
            for form in FORMS:
                if form.counted:
                    count_on(connection, METADATA.tables[form.name], form.counted)


def _among(form: Form, keys: Collection[Key]) -> ColumnElement[bool]:
    columns = [RAW[form.name].c[name] for name in form.key]
    if len(columns) == 1:
        return columns[0].in_([key[0] for key in keys])
    return tuple_(*columns).in_(list(keys))


def _with_parents(connection: Connection, form: Form, rows: Sequence[Record]) -> list[Record]:
    """Those of ``rows`` that no foreign key forbids."""
    kept = list(rows)
    for column, parent in form.parents.items():
        id = RAW[parent].c.id
        there = set(connection.scalars(select(id).where(id.in_({row[column] for row in kept}))))
        kept = [row for row in kept if row[column] in there]
    return kept


def _make_room(connection: Connection, form: Form, rows: Sequence[Record]) -> None:
    """Delete rows of other keys that have what only one may have: an article that got another fingerprint."""
    if form.single is None or not rows:
        return
    table = RAW[form.name]
    connection.execute(
        delete(table).where(table.c[form.single].in_([row[form.single] for row in rows]), ~_among(form, [form.key_of(row) for row in rows]))
    )
