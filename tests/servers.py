"""Real servers for the tests, by ``scripts/servers``: one of each kind per run, and separate servers that a test may kill.

A server of the run is started on first use, shared by the processes of pytest-xdist, and ends with the last of them, even if they are
killed. Each test has its own database in it, which is dropped afterwards.
"""

from __future__ import annotations

import fcntl
import http.client
import itertools
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "scripts"))
from local_servers import KINDS, Missing, keeping
from local_servers.machine import scratch
from local_servers.running import Server

OVER_SERVERS = ["postgresql", "mariadb"]
"""Servers supported as stores."""

NO_SERVER = "no server:"
"""Prefix of the reason of a test that is skipped because its server is missing."""


def create_in_postgresql(port: int, name: str) -> None:
    in_postgresql(port, f'CREATE DATABASE "{name}" TEMPLATE template0')


def drop_in_postgresql(port: int, name: str) -> None:
    in_postgresql(port, f'DROP DATABASE IF EXISTS "{name}" WITH (FORCE)')


def in_postgresql(port: int, statement: str, database: str = "postgres") -> None:
    import psycopg

    with closing(psycopg.connect(host="127.0.0.1", port=port, user="postgres", dbname=database, autocommit=True)) as connection:
        connection.execute(statement.encode())


def create_in_mariadb(port: int, name: str) -> None:
    in_mariadb(port, f"CREATE DATABASE `{name}`")


def drop_in_mariadb(port: int, name: str) -> None:
    in_mariadb(port, f"DROP DATABASE IF EXISTS `{name}`")


def in_mariadb(port: int, statement: str) -> None:
    import pymysql

    with closing(pymysql.connect(host="127.0.0.1", port=port, user="root")) as connection, connection.cursor() as cursor:
        cursor.execute(statement)


def drop_in_mongodb(port: int, name: str) -> None:
    import pymongo

    with pymongo.MongoClient("127.0.0.1", port, serverSelectionTimeoutMS=10_000) as client:  # type: ignore[var-annotated]
        client.drop_database(name)


def drop_in_elasticsearch(port: int, name: str) -> None:
    with closing(http.client.HTTPConnection("127.0.0.1", port, timeout=60)) as asking:
        asking.request("DELETE", f"/{name}*?ignore_unavailable=true&expand_wildcards=all")
        answer = asking.getresponse()
        assert answer.status in (200, 404), answer.read()


def not_needed(port: int, name: str) -> None:
    """Do nothing: the database is created by the first write."""


MAKE: dict[str, Callable[[int, str], None]] = {"postgresql": create_in_postgresql, "mariadb": create_in_mariadb}
DROP: dict[str, Callable[[int, str], None]] = {
    "postgresql": drop_in_postgresql,
    "mariadb": drop_in_mariadb,
    "mongodb": drop_in_mongodb,
    "elasticsearch": drop_in_elasticsearch,
}


@dataclass(frozen=True)
class Database:
    """An empty database: ``uri`` is the argument of ``open_store``."""

    server: str
    port: int
    name: str
    uri: str

    def drop(self) -> None:
        DROP[self.server](self.port, self.name)


@dataclass
class Servers:
    """The servers of this run. ``folder`` is common to all its processes."""

    folder: Path
    _numbers: Iterator[int] = field(default_factory=itertools.count)

    def url(self, server: str) -> str:
        """Return the URL of the run's server; skip the test if it is missing."""
        state = keeping.start(server, self.folder, held=self.users)
        if "error" in state:
            pytest.skip(f"{NO_SERVER} {server}: {' '.join(state['error'].split())}")
        return str(state["uri"])

    @property
    def users(self) -> Path:
        """The file on which every process of the run holds a lock."""
        return self.folder / "users"

    @contextmanager
    def database(self, server: str) -> Iterator[Database]:
        """Yield an empty database in the run's server; drop it afterwards."""
        port = urlsplit(self.url(server)).port
        assert port is not None
        name = f"t{os.getpid()}_{next(self._numbers)}"
        database = Database(server, port, name, KINDS[server].uri(port, name))
        MAKE.get(server, not_needed)(port, name)
        try:
            yield database
        finally:
            database.drop()


@contextmanager
def servers_of(folder: Path) -> Iterator[Servers]:
    """Yield the servers of the run whose processes share ``folder``; they stop when the last of these leaves."""
    servers = Servers(folder / "servers")
    servers.folder.mkdir(exist_ok=True)
    with servers.users.open("a") as users:
        fcntl.flock(users, fcntl.LOCK_SH)
        yield servers


@contextmanager
def own_server(kind: str) -> Iterator[Server]:
    """Start a separate server, which may be killed and restarted, and remove it with its data afterwards."""
    server = Server(KINDS[kind], scratch(kind))
    try:
        try:
            server.start()
        except Missing as error:
            pytest.skip(f"{NO_SERVER} {kind}: {' '.join(str(error).split())}")
        yield server
    finally:
        server.remove()
