"""What the migrations are made with: tables, indexes and columns that come out alike in all databases.

Names compare and sort exactly, letter by letter, in SQLite of itself, elsewhere by the collation that is given here. A database that
ends its transaction at each of these steps (MySQL) goes on where a killed process left off: what is there already is left alone.
"""

from __future__ import annotations

from typing import Any, Final

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import mysql
from sqlalchemy.types import TypeEngine

from newsportal.store.dialect_mysql import COLLATIONS

CODE_POINTS: Final = {**COLLATIONS, "postgresql": "C"}


def create_table(name: str, *columns: Any, **options: Any) -> None:
    """As Alembic's; texts in the collation of :data:`CODE_POINTS`, in MySQL the long ones as ``MEDIUMTEXT``."""
    database = op.get_bind().dialect.name
    if _is_there(name):
        return
    for column in columns:
        if isinstance(column, sa.Column):
            column.type = exact(column.type, database)
    if database in COLLATIONS:
        options |= {f"{database}_engine": "InnoDB", f"{database}_charset": "utf8mb4", f"{database}_collate": COLLATIONS[database]}
    op.create_table(name, *columns, **options)


def create_index(name: str, table: str, columns: list[str], *, unique: bool = False) -> None:
    """As Alembic's."""
    if not _is_there(table, index=name):
        op.create_index(name, table, columns, unique=unique)


def create_indexes(table: str, *columns: str) -> None:
    """Indexes over columns that are named with blanks between them, called after these."""
    for names in map(str.split, columns):
        create_index(f"ix_{table}_{'_'.join(names)}", table, names)


def add_column(table: str, column: sa.Column[Any]) -> None:
    """As Alembic's; texts as in :func:`create_table`."""
    column.type = exact(column.type, op.get_bind().dialect.name)
    if not _is_there(table, column=column.name):
        op.add_column(table, column)


def exact(type_: TypeEngine[Any], database: str) -> TypeEngine[Any]:
    """A type of texts in the collation that a ``database`` needs; others are themselves."""
    collation = CODE_POINTS.get(database)
    if collation is None or not isinstance(type_, sa.String):
        return type_
    if not isinstance(type_, sa.Text):
        return sa.String(type_.length, collation=collation)
    return sa.Text(collation=collation) if database == "postgresql" else mysql.MEDIUMTEXT(collation=collation)


def _is_there(table: str, *, index: str | None = None, column: str | None = None) -> bool:
    """Whether an earlier process, which did not come to the end, made it. Where a step is all or nothing, none did."""
    bind = op.get_bind()
    if bind.dialect.name not in COLLATIONS:
        return False
    inspector = sa.inspect(bind)
    if not inspector.has_table(table):
        return False
    if index is not None:
        return index in {found["name"] for found in inspector.get_indexes(table)}
    return column is None or column in {found["name"] for found in inspector.get_columns(table)}
