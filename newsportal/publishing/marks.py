"""Marks of what was published, in the database that it was published into: a row and its mark are one transaction.

So whoever comes after a crash sees by the mark that the row is there, although nobody was told.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Final

from sqlalchemy import (
    BigInteger,
    Column,
    Connection,
    DateTime,
    Integer,
    MetaData,
    String,
    Table,
    Text,
    insert,
    inspect,
    select,
    update,
)

NAME: Final = "newsportal_published"


@dataclass(frozen=True, slots=True)
class Mark:
    """``place``: the row's key, as JSON; empty for a row that was deleted. ``digest`` is empty for one that was taken back."""

    place: str
    revision: int
    digest: str
    fence: int


def table_of(schema: str | None) -> Table:
    """The table of marks beside theirs."""
    return Table(
        NAME,
        MetaData(),
        Column("target", String(100), primary_key=True),
        Column("article", String(20), primary_key=True),
        Column("place", Text, nullable=False),
        Column("revision", Integer, nullable=False),
        Column("digest", String(64), nullable=False),
        Column("fence", BigInteger, nullable=False),
        Column("changed", DateTime, nullable=False),
        schema=schema,
        mysql_charset="utf8mb4",
        mariadb_charset="utf8mb4",
        mysql_engine="InnoDB",
        mariadb_engine="InnoDB",
    )


def is_there(connection: Connection, table: Table) -> bool:
    return inspect(connection).has_table(table.name, schema=table.schema)


def read(connection: Connection, table: Table, target: str, article_id: str) -> Mark | None:
    found = connection.execute(select(table).where(table.c.target == target, table.c.article == article_id)).one_or_none()
    return None if found is None else Mark(found.place, found.revision, found.digest, found.fence)


def write(connection: Connection, table: Table, target: str, article_id: str, mark: Mark, now: datetime, *, new: bool) -> None:
    values = {
        "place": mark.place,
        "revision": mark.revision,
        "digest": mark.digest,
        "fence": mark.fence,
        "changed": now.replace(tzinfo=None, microsecond=0),
    }
    if new:
        connection.execute(insert(table).values(target=target, article=article_id, **values))
    else:
        connection.execute(update(table).where(table.c.target == target, table.c.article == article_id).values(values))
