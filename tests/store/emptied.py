"""A store in a SQL server for one test after the other: emptied, not made anew, which takes a second or more."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import dataclass, field

from servers import Servers
from sqlalchemy import Connection

from newsportal.store import open_store
from newsportal.store.dialects import open_engine
from newsportal.store.records import FORMS


@dataclass
class Emptied:
    """Server -> the URI of its store in this process, dropped at the end with the databases of ``stack``."""

    servers: Servers
    stack: ExitStack
    uris: dict[str, str] = field(default_factory=dict)

    def uri(self, server: str) -> str:
        """Of an empty store."""
        if server in self.uris:
            empty(self.uris[server])
        else:
            self.uris[server] = self.stack.enter_context(self.servers.database(server)).uri
            open_store(self.uris[server]).close()
        return self.uris[server]


def empty(uri: str) -> None:
    """Delete every row, and count from one again."""
    engine = open_engine(uri)
    with engine.begin() as connection:
        if engine.dialect.name == "postgresql":
            connection.exec_driver_sql(f"TRUNCATE {', '.join(form.name for form in FORMS)} RESTART IDENTITY")
        else:
            _empty_mariadb(connection)
    engine.dispose()


def _empty_mariadb(connection: Connection) -> None:
    connection.exec_driver_sql("SET foreign_key_checks = 0")
    for form in FORMS:
        connection.exec_driver_sql(f"DELETE FROM {form.name}")
    for form in FORMS:
        if form.counted:
            connection.exec_driver_sql(f"ALTER TABLE {form.name} AUTO_INCREMENT = 1")
