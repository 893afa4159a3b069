"""New databases for tests that need an empty one and not how it is made: made once a process, then copied.

To make the tables of a store takes its migrations 80 ms of the processor, to open a copy 3 ms; a password that is kept as production keeps
it takes 250 ms.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import get_ident
from typing import Any, Final

from argon2 import PasswordHasher
from sqlalchemy import event
from sqlalchemy.pool import Pool

from newsportal.accounts import Accounts, open_accounts
from newsportal.search import open_index
from newsportal.search.base import Index
from newsportal.storage import open_store
from newsportal.storage.base import Store

CHEAP: Final = PasswordHasher(time_cost=1, memory_cost=8, parallelism=1)
"""argon2id at the least cost that it has. ``tests/accounts`` asks what production takes."""


IN_MEMORY: Final = "sqlite://"

FORMAT: Final = slice(18, 20)
ROLLBACK: Final = b"\1\1"
"""Where a file of SQLite says how it is written, and what stands there unless it has a write-ahead log, which memory has not
(https://www.sqlite.org/fileformat.html, 1.3.4)."""


def blank_store(file: Path | None = None) -> Store:
    """An empty store in ``file``, which must not be there yet, or in memory."""
    if file is not None:
        return open_store(copied(open_store, file))
    with _remembered(_made(open_store)):
        return open_store(IN_MEMORY)


def blank_index(file: Path | None = None) -> Index:
    """The same of a search index."""
    if file is not None:
        return open_index(copied(open_index, file))
    with _remembered(_made(open_index)):
        return open_index(IN_MEMORY)


def blank_accounts(file: Path) -> Accounts:
    """The same of accounts, whose passwords are kept for nothing."""
    return open_accounts(copied(open_accounts, file), hasher=CHEAP)


def copied(opens: Callable[[str], Any], file: Path) -> str:
    """The URI of a database in ``file`` as ``opens`` makes a new one."""
    file.parent.mkdir(parents=True, exist_ok=True)
    with file.open("xb") as made:
        made.write(_made(opens))
    return f"sqlite:///{file}"


@contextmanager
def _remembered(content: bytes) -> Iterator[None]:
    """The database in memory that this thread opens meanwhile has ``content``."""
    mine, plain = get_ident(), bytearray(content)
    plain[FORMAT] = ROLLBACK

    def fill(connection: Any, _record: object) -> None:
        if get_ident() == mine:
            connection.deserialize(bytes(plain))

    event.listen(Pool, "connect", fill)
    try:
        yield
    finally:
        event.remove(Pool, "connect", fill)


@cache
def _made(opens: Callable[[str], Any]) -> bytes:
    with TemporaryDirectory() as folder:
        file = Path(folder) / "blank.db"
        with closing(opens(f"sqlite:///{file}")):
            pass
        return file.read_bytes()
