"""A store in a SQL server that serves many tests: emptied instead of created again, which takes a second or more."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import dataclass, field

from servers import Servers

from newsportal.store import open_store
from newsportal.store.dialects import open_engine
from newsportal.store.records import FORMS

ON_POSTGRESQL = "SET LOCAL session_replication_role = replica", "SELECT setval(pg_get_serial_sequence('{}', '{}'), 1, false)"
ON_MARIADB = "SET foreign_key_checks = 0", "ALTER TABLE {} AUTO_INCREMENT = 1"
"""Statements that allow rows to be deleted in any order, and that restart a table's counter."""


@dataclass
class EmptiedStores:
    """URIs of the stores of this process by server; dropped at the end with the databases of ``stack``."""

    servers: Servers
    stack: ExitStack
    uris: dict[str, str] = field(default_factory=dict)

    def uri(self, server: str) -> str:
        """Return the URI of an empty store."""
        if server in self.uris:
            empty(self.uris[server])
        else:
            self.uris[server] = self.stack.enter_context(self.servers.database(server)).uri
            open_store(self.uris[server]).close()
        return self.uris[server]


def empty(uri: str) -> None:
    """Delete every row and restart counters. TRUNCATE, even of empty tables, takes PostgreSQL twice as long."""
    engine = open_engine(uri)
    unchecked, recount = ON_POSTGRESQL if (postgresql := engine.dialect.name == "postgresql") else ON_MARIADB
    statements = [unchecked, *(f"DELETE FROM {form.name}" for form in FORMS)]
    statements += [recount.format(form.name, form.counted) for form in FORMS if form.counted]
    with engine.begin() as connection:
        for statement in ["; ".join(statements)] if postgresql else statements:
            connection.exec_driver_sql(statement)
    engine.dispose()
