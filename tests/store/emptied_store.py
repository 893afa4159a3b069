"""A store in a SQL server that serves many tests: emptied instead of created again, which takes a second or more."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import dataclass, field

from servers import Servers
from sqlalchemy import Engine

from newsportal.store import open_store
from newsportal.store.dialects import open_engine
from newsportal.store.records import FORMS

ON_POSTGRESQL = "SET LOCAL session_replication_role = replica", "SELECT setval(pg_get_serial_sequence('{}', '{}'), 1, false)"
ON_MARIADB = "SET foreign_key_checks = 0", "ALTER TABLE {} AUTO_INCREMENT = 1"
"""Statements that allow rows to be deleted in any order, and that restart a table's counter."""


@dataclass
class EmptiedStores:
    """Stores of this process by server; dropped at the end with the databases of ``stack``.

    One connection empties them: for a new one, PostgreSQL reads the description of each table again.
    """

    servers: Servers
    stack: ExitStack
    engines: dict[str, tuple[str, Engine]] = field(default_factory=dict)

    def uri(self, server: str) -> str:
        """Return the URI of an empty store."""
        if server in self.engines:
            uri, engine = self.engines[server]
            empty(engine)
        else:
            uri = self.stack.enter_context(self.servers.database(server)).uri
            open_store(uri).close()
            self.engines[server] = uri, open_engine(uri)
            self.stack.callback(self.engines[server][1].dispose)
        return uri


def empty(engine: Engine) -> None:
    """Delete every row and restart counters, in one request. TRUNCATE, even of empty tables, takes PostgreSQL twice as long."""
    is_postgresql = engine.dialect.name == "postgresql"
    unchecked, recount = ON_POSTGRESQL if is_postgresql else ON_MARIADB
    statements = [unchecked, *(f"DELETE FROM {form.name}" for form in FORMS)]
    statements += [recount.format(form.name, form.counted) for form in FORMS if form.counted]
    block = "; ".join(statements)
    with engine.begin() as connection:
        connection.exec_driver_sql(block if is_postgresql else f"BEGIN NOT ATOMIC {block}; END")
