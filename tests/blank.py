"""New databases for tests that need an empty one and not how it is made: made once a process, then copied.

To make the tables of a store takes its migrations 80 ms of the processor, to open a copy 3 ms; a password that is kept as production keeps
it takes 250 ms.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

from argon2 import PasswordHasher

from newsportal.accounts import Accounts, open_accounts
from newsportal.search import open_index
from newsportal.search.base import Index
from newsportal.storage import open_store
from newsportal.storage.base import Store

CHEAP: Final = PasswordHasher(time_cost=1, memory_cost=8, parallelism=1)
"""argon2id at the least cost that it has. ``tests/accounts`` asks what production takes."""


def blank_store(file: Path) -> Store:
    """An empty store in ``file``, which must not be there yet."""
    return open_store(copied(open_store, file))


def blank_index(file: Path) -> Index:
    """The same of a search index."""
    return open_index(copied(open_index, file))


def blank_accounts(file: Path) -> Accounts:
    """The same of accounts, whose passwords are kept for nothing."""
    return open_accounts(copied(open_accounts, file), hasher=CHEAP)


def copied(opens: Callable[[str], Any], file: Path) -> str:
    """The URI of a database in ``file`` as ``opens`` makes a new one."""
    with file.open("xb") as made:
        made.write(_made(opens))
    return f"sqlite:///{file}"


@cache
def _made(opens: Callable[[str], Any]) -> bytes:
    with TemporaryDirectory() as folder:
        file = Path(folder) / "blank.db"
        with closing(opens(f"sqlite:///{file}")):
            pass
        return file.read_bytes()
