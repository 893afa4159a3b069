"""Databases in SQL servers that serve many tests: emptied instead of created again, which takes up to a second."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import Any

from servers import Servers
from sqlalchemy import Engine

from newsportal.store.dialects import open_engine

ON_POSTGRESQL = "SET LOCAL session_replication_role = replica", "SELECT setval(pg_get_serial_sequence('{}', '{}'), 1, false)"
ON_MARIADB = "SET foreign_key_checks = 0", "ALTER TABLE {} AUTO_INCREMENT = 1"
"""Statements that allow rows to be deleted in any order, and that restart a table's counter."""


@dataclass
class EmptiedDatabases:
    """Databases of this process by server; dropped at the end with ``stack``. ``create`` opens one and creates its tables, which have the
    names ``tables``, with the column that counts its rows, if any.

    One connection empties them: for a new one, PostgreSQL reads the description of each table again.
    """

    servers: Servers
    stack: ExitStack
    create: Callable[[str], Any]
    tables: Mapping[str, str | None]
    engines: dict[str, tuple[str, Engine]] = field(default_factory=dict)

    def uri(self, server: str) -> str:
        """Return the URI of a database without rows."""
        if server in self.engines:
            uri, engine = self.engines[server]
            empty(engine, self.tables)
        else:
            uri = self.stack.enter_context(self.servers.database(server)).uri
            self.create(uri).close()
            self.engines[server] = uri, open_engine(uri)
            self.stack.callback(self.engines[server][1].dispose)
        return uri


def empty(engine: Engine, tables: Mapping[str, str | None]) -> None:
    """Delete every row and restart counters, in one request. TRUNCATE, even of empty tables, takes PostgreSQL twice as long."""
    is_postgresql = engine.dialect.name == "postgresql"
    unchecked, recount = ON_POSTGRESQL if is_postgresql else ON_MARIADB
    statements = [unchecked, *(f"DELETE FROM {table}" for table in tables)]
    statements += [recount.format(table, counted) for table, counted in tables.items() if counted]
    block = "; ".join(statements)
    with engine.begin() as connection:
        connection.exec_driver_sql(block if is_postgresql else f"BEGIN NOT ATOMIC {block}; END")
