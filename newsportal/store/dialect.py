"""Interface to a database of the SQL stores. Each database implements it in a module named after it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING, Any, Final

from sqlalchemy import Connection, Engine, Insert, Table
from sqlalchemy.engine import URL

from newsportal.errors import StoreError, StoreUnavailable

if TYPE_CHECKING:
    from sqlalchemy.dialects import postgresql, sqlite

POOL: Final = 8  # connections kept open; further threads wait for one or open one of :data:`OVERFLOW`
OVERFLOW: Final = 32

SERVER_POOL: Final[Mapping[str, Any]] = {
    "pool_size": POOL,
    "max_overflow": OVERFLOW,
    "pool_pre_ping": True,
    "isolation_level": "REPEATABLE READ",  # a reader sees one snapshot; a writer only reads once it holds the write lock
}

WRITES: Final = "newsportal_writes"  # execution option of connections that will write


@dataclass(frozen=True, slots=True)
class Timeouts:
    """Timeouts in seconds: for a ``connect``ion; for the write lock (``busy``); for the ``answer`` to a statement. The server ends a
    transaction that is ``idle`` for longer: its client died without closing the connection."""

    connect: float
    busy: float
    answer: float
    idle: float


REST_SECONDS = 3600  # idle seconds allowed to a reader that copies rows to a slow destination; for others ``Waits.idle`` applies


@dataclass(frozen=True, slots=True)
class Dialect:
    """``open``: create a configured engine for a URL, and a missing database if ``create`` is set. Raises ``StoreError``.

    ``insert``: insert rows; on a conflict of primary keys update the named columns, or keep the row. ``counts``: whether its row count
    reports new rows. ``write_options``: execution options of a write transaction; ``release`` is called with its connection at the end.
    ``allow_idle``: allow a reader to be idle for :data:`REST_SECONDS`; returns whether its session must be closed afterwards.
    ``release_space``: return free space to the disk (``Pruning.release_space``); servers do that themselves.
    ``explain``: convert an error of the driver to a ``StoreError``.
    """

    open: Callable[[URL, bool, Timeouts], Engine]
    insert: Callable[[Table, tuple[str, ...]], Insert]
    explain: Callable[[BaseException | None, str], StoreError]
    counts: bool = True
    write_options: Mapping[str, Any] = field(default_factory=dict)
    release: Callable[[Connection], None] = lambda _: None
    allow_idle: Callable[[Connection], bool] = lambda _: False
    release_space: Callable[[Engine, bool], int] = lambda _engine, _rebuild: 0


@cache
def on_conflict(make: Callable[[Table], sqlite.Insert | postgresql.Insert], table: Table, update: tuple[str, ...]) -> Insert:
    """Implement ``Dialect.insert`` for databases with ``ON CONFLICT``."""
    insert = make(table).execution_options(preserve_rowcount=True)
    if not update:
        return insert.on_conflict_do_nothing()
    return insert.on_conflict_do_update(index_elements=list(table.primary_key), set_={name: insert.excluded[name] for name in update})


def place_of(url: URL) -> str:
    """Return the name of a database for messages: its file, or its URI without user and password."""
    if url.get_backend_name() == "sqlite":
        return url.database or str(url)
    port = f":{url.port}" if url.port else ""
    return f"{url.get_backend_name()}://{url.host or 'localhost'}{port}/{url.database or ''}"


def no_store(place: str) -> StoreUnavailable:
    return StoreUnavailable(f"{place}: there is no store yet; run `newsportal crawl` first, or check the store URI in sources.yaml")


def missing_driver(scheme: str, extra: str) -> StoreError:
    return StoreError(f"{scheme}:// needs a driver that is not installed: pip install newsportal[{extra}]")
