"""The form of every table, read off the tables of the SQL stores, in an order in which they may be written (parents first)."""

from __future__ import annotations

from typing import Any, Final

from sqlalchemy import JSON, BigInteger, Boolean, Column, Float, Integer, LargeBinary, String, Table
from sqlalchemy.types import TypeEngine

from newsportal.storage.records import Form, Kind
from newsportal.storage.sql import (  # noqa: F401  their tables are those of METADATA
    gallery_tables,
    outbox_tables,
    picture_tables,
    reader_tables,
    subscription_tables,
    thread_tables,
    visit_tables,
)
from newsportal.storage.sql.tables import METADATA, Moment

KINDS: Final[tuple[tuple[type[TypeEngine[Any]], Kind], ...]] = (
    (Moment, "moment"),
    (JSON, "json"),
    (Boolean, "flag"),
    (LargeBinary, "bytes"),
    (Float, "float"),
    (BigInteger, "integer"),
    (Integer, "integer"),
    (String, "text"),
)
"""Type of a column → kind of its values; the first that fits."""


def _kind(column: Column[Any]) -> Kind:
    return next(kind for type_, kind in KINDS if isinstance(column.type, type_))


def form_of(table: Table) -> Form:
    """What a table's rows look like."""
    counted = [column.name for column in table.primary_key if column.autoincrement is True]
    return Form(
        name=table.name,
        columns={column.name: _kind(column) for column in table.columns},
        key=tuple(column.name for column in table.primary_key),
        nullable=frozenset(column.name for column in table.columns if column.nullable),
        parents={next(iter(key.columns)).name: key.referred_table.name for key in table.foreign_key_constraints},
        counted=counted[0] if counted else None,
        single=next((column.name for column in table.columns if column.unique), None),
    )


FORMS: Final = tuple(form_of(table) for table in METADATA.sorted_tables)
"""Every table of a store, parents before their children."""

BY_NAME: Final = {form.name: form for form in FORMS}
