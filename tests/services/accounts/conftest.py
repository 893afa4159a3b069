"""Accounts in each supported database."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, closing
from datetime import UTC, datetime
from pathlib import Path

import pytest
from emptied_databases import EmptiedDatabases
from factories import CHEAP
from servers import Servers

from newsportal.services.accounts import Accounts, Person, Role, open_accounts
from newsportal.services.accounts.tables import METADATA

NOW = datetime(2026, 5, 20, 10, 0, tzinfo=UTC)
PASSWORD = "correct horse battery staple"


@pytest.fixture
def now() -> datetime:
    return NOW


@pytest.fixture(scope="session")
def emptied_accounts(servers: Servers) -> Iterator[EmptiedDatabases]:
    """One accounts database in each SQL server, emptied for each test."""
    counted = {
        table.name: next((column.name for column in table.c if column.autoincrement is True), None) for table in METADATA.sorted_tables
    }
    with ExitStack() as stack:
        yield EmptiedDatabases(servers, stack, open_accounts, counted)


DATABASES = ["sqlite", *(pytest.param(name, marks=pytest.mark.slow) for name in ("postgresql", "mariadb"))]


@pytest.fixture(params=DATABASES)
def uri(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """A database without rows."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path / 'accounts.db'}"
    found: str = request.getfixturevalue("emptied_accounts").uri(request.param)
    return found


@pytest.fixture(params=DATABASES)
def new_uri(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """A database without tables."""
    if request.param == "sqlite":
        yield f"sqlite:///{tmp_path / 'accounts.db'}"
        return
    with request.getfixturevalue("servers").database(request.param) as database:
        yield database.uri


@pytest.fixture
def accounts(uri: str) -> Iterator[Accounts]:
    with closing(open_accounts(uri, hasher=CHEAP)) as opened:
        yield opened


@pytest.fixture
def admin(accounts: Accounts) -> Person:
    return accounts.people.add("王老板", PASSWORD, Role.ADMIN, now=NOW)
