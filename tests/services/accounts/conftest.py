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


@pytest.fixture(params=["sqlite", *(pytest.param(name, marks=pytest.mark.slow) for name in ("postgresql", "mariadb"))])
def uri(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    if request.param == "sqlite":
        yield f"sqlite:///{tmp_path / 'accounts.db'}"
        return
    yield request.getfixturevalue("emptied_accounts").uri(request.param)


@pytest.fixture
def accounts(uri: str) -> Iterator[Accounts]:
    with closing(open_accounts(uri, hasher=CHEAP)) as opened:
        yield opened


@pytest.fixture
def admin(accounts: Accounts) -> Person:
    return accounts.people.add("王老板", PASSWORD, Role.ADMIN, now=NOW)
