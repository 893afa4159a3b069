"""The stores that the contract test runs over. A further store is one line in ``FILES``, or in ``SERVERS`` of tests/servers.py."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from emptied_databases import EmptiedDatabases
from factories import empty_store
from servers import OVER_SERVERS, Servers

from newsportal.store import open_store
from newsportal.store.dialect_sqlite import sqlite_file
from newsportal.store.records import FORMS
from newsportal.store.store import Store

sys.path.insert(0, str(Path(__file__).resolve().parent))  # import filled_store, killed_writers

FILES: dict[str, Callable[[Path], str]] = {
    "sqlite-file": lambda folder: f"sqlite:///{folder}/新闻 库/news portal.db",
    "sqlite-memory": lambda folder: "sqlite://",
}
"""Functions that return the URI of an empty store, given an empty folder, by name."""

EMPTIED = ("postgresql", "mariadb")
"""Servers in which one store serves all tests: creating the tables takes a second and more."""

STORES_UNDER_TEST = [*sorted(FILES), *(pytest.param(server, marks=pytest.mark.slow) for server in OVER_SERVERS)]


@pytest.fixture
def store_uri(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """URI of an empty store of the kind of the test's ``store``."""
    name = request.node.callspec.params["store"]
    if name in FILES:
        yield FILES[name](tmp_path)
        return
    if name in EMPTIED:
        yield request.getfixturevalue("emptied_stores").uri(name)
        return
    servers: Servers = request.getfixturevalue("servers")
    with servers.database(name) as database:
        yield database.uri


@pytest.fixture(scope="session")
def emptied_stores(servers: Servers) -> Iterator[EmptiedDatabases]:
    """One store in each SQL server, emptied for each test."""
    with ExitStack() as stack:
        yield EmptiedDatabases(servers, stack, open_store, {form.name: form.counted for form in FORMS})


@pytest.fixture(params=STORES_UNDER_TEST)
def store(request: pytest.FixtureRequest, store_uri: str) -> Iterator[Store]:
    is_sqlite = request.node.callspec.params["store"] in FILES
    opened = empty_store(sqlite_file(store_uri)) if is_sqlite else open_store(store_uri)
    yield opened
    opened.close()


@pytest.fixture
def another(store: Store, store_uri: str) -> Iterator[Callable[[], Store]]:
    """Function that opens the same store again, as another process does."""
    if store_uri == "sqlite://":
        pytest.skip("lives in its one connection")
    opened: list[Store] = []

    def once_more() -> Store:
        opened.append(open_store(store_uri))
        return opened[-1]

    yield once_more
    for reopened in opened:
        reopened.close()


@pytest.fixture(params=[pytest.param(server, marks=pytest.mark.slow) for server in OVER_SERVERS])
def server_uri(request: pytest.FixtureRequest, servers: Servers) -> Iterator[str]:
    """URI of an empty store in each supported server."""
    with servers.database(request.param) as database:
        yield database.uri


@pytest.fixture(params=["sqlite", *(pytest.param(server, marks=pytest.mark.slow) for server in EMPTIED)])
def sql_uri(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """URI of a database without tables, in each SQL database."""
    if request.param == "sqlite":
        yield f"sqlite:///{tmp_path}/news.db"
        return
    with request.getfixturevalue("servers").database(request.param) as database:
        yield database.uri
