"""Accounts in each supported database."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

import pytest
from factories import CHEAP

from newsportal.services.accounts import Accounts, Person, Role, open_accounts

NOW = datetime(2026, 5, 20, 10, 0, tzinfo=UTC)
PASSWORD = "correct horse battery staple"


@pytest.fixture
def now() -> datetime:
    return NOW


@pytest.fixture(params=["sqlite", *(pytest.param(name, marks=pytest.mark.slow) for name in ("postgresql", "mariadb"))])
def uri(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
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
