"""New databases for tests, in a file or in memory. Passwords are kept at the least cost: production's takes 250 ms each."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from argon2 import PasswordHasher

from newsportal.search import open_index
from newsportal.search.base import Index
from newsportal.services.accounts import Accounts, open_accounts
from newsportal.store import open_store
from newsportal.store.store import Store

CHEAP: Final = PasswordHasher(time_cost=1, memory_cost=8, parallelism=1)
"""argon2id at the least cost that it has. ``tests/services/accounts`` asks what production takes."""


def uri_of(file: Path | None) -> str:
    return "sqlite://" if file is None else f"sqlite:///{file}"


def blank_store(file: Path | None = None) -> Store:
    """An empty store in ``file``, which must not be there yet, or in memory."""
    assert file is None or not file.exists()
    return open_store(uri_of(file))


def blank_index(file: Path | None = None) -> Index:
    """The same of a search index."""
    assert file is None or not file.exists()
    return open_index(uri_of(file))


def blank_accounts(file: Path) -> Accounts:
    """The same of accounts, whose passwords are kept for nothing."""
    assert not file.exists()
    return open_accounts(uri_of(file), hasher=CHEAP)
