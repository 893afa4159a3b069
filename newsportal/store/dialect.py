"""What a database of the SQL stores must tell of itself. Each has a module of its own, called after it."""

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

POOL: Final = 8  # connections kept open; threads beyond wait for one of them or open one of :data:`OVERFLOW`
OVERFLOW: Final = 32

SERVER_POOL: Final[Mapping[str, Any]] = {
    "pool_size": POOL,
    "max_overflow": OVERFLOW,
    "pool_pre_ping": True,
    "isolation_level": "REPEATABLE READ",  # a reader sees one state; a writer looks first when the lock is its own
}

WRITES: Final = "newsportal_writes"  # the execution option of connections that are going to write


@dataclass(frozen=True, slots=True)
class Waits:
    """How long what is waited for, in seconds: a ``connect``ion; other writers (``busy``); an ``answer`` to one statement. A transaction
    that is ``idle`` so long on the server is ended by it: its process is gone, but nobody told."""

    connect: float
    busy: float
    answer: float
    idle: float


REST_SECONDS = 3600  # so long a reader may rest who copies what it reads into a slow place: no other transaction may rest so long


@dataclass(frozen=True, slots=True)
class Dialect:
    """``open``: an engine for a URL, with everything set; a missing database is made if ``create`` is given. Raises ``StoreError``.

    ``insert``: insert rows; where the primary key is there already, set the named columns, or leave the row as it is. ``counts``:
    whether its row count says what was new. ``write_options``: execution options of a write transaction; ``release`` is called with its
    connection when it has ended.
    ``rest``: let a reader rest for :data:`REST_SECONDS`; answers whether its session is to be ended afterwards.
    ``give_back``: return free space to the disk (``Pruning.give_back``); servers do that by themselves.
    ``explain``: the error of ours that an error of the driver means.
    """

    open: Callable[[URL, bool, Waits], Engine]
    insert: Callable[[Table, tuple[str, ...]], Insert]
    explain: Callable[[BaseException | None, str], StoreError]
    counts: bool = True
    write_options: Mapping[str, Any] = field(default_factory=dict)
    release: Callable[[Connection], None] = lambda _: None
    rest: Callable[[Connection], bool] = lambda _: False
    give_back: Callable[[Engine, bool], int] = lambda _engine, _whole: 0


@cache
def on_conflict(make: Callable[[Table], sqlite.Insert | postgresql.Insert], table: Table, update: tuple[str, ...]) -> Insert:
    """See ``Dialect.insert``, for databases that know ``ON CONFLICT``."""
    insert = make(table).execution_options(preserve_rowcount=True)
    if not update:
        return insert.on_conflict_do_nothing()
    return insert.on_conflict_do_update(index_elements=list(table.primary_key), set_={name: insert.excluded[name] for name in update})


def place_of(url: URL) -> str:
    """What to call a database in messages: its file, or its address without user and password."""
    if url.get_backend_name() == "sqlite":
        return url.database or str(url)
    port = f":{url.port}" if url.port else ""
    return f"{url.get_backend_name()}://{url.host or 'localhost'}{port}/{url.database or ''}"


def no_store_yet(where: str) -> StoreUnavailable:
    return StoreUnavailable(f"{where}: there is no store yet; run `newsportal crawl` first, or check the store URI in sources.yaml")


def driver_missing(scheme: str, extra: str) -> StoreError:
    return StoreError(f"{scheme}:// needs a driver that is not installed: pip install newsportal[{extra}]")
