"""SQLite: a file in WAL mode, or an in-memory database."""

import os
import sqlite3
import sys
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any, Final

from sqlalchemy import Connection, Engine, create_engine, event
from sqlalchemy.dialects import sqlite
from sqlalchemy.engine import URL, make_url
from sqlalchemy.pool import QueuePool

from newsportal.errors import StoreError, StoreUnavailable
from newsportal.store.dialect import OVERFLOW, POOL, WRITES, Dialect, Timeouts, no_store, on_conflict

REMEDIES: Final[Mapping[str, tuple[str, str]]] = {
    "SQLITE_FULL": ("the disk is full", "free space; nothing was partly written"),
    "SQLITE_READONLY": (
        "it cannot be written to",
        "check the permissions of the file and of its folder, and that the disk is not mounted read-only",
    ),
    "SQLITE_BUSY": ("another process has locked it for too long", "wait for that process or stop it, then try again"),
    "SQLITE_LOCKED": ("another connection has locked it for too long", "try again"),
    "SQLITE_CANTOPEN": (
        "it cannot be opened",
        "check that its folder exists and this user may write there; from a read-only disk copy it with its -wal file",
    ),
    "SQLITE_PERM": ("this user may not open it", "check the permissions of the file and of its folder"),
    "SQLITE_IOERR": ("the disk failed to read or write", "check the disk and its free space"),
    "SQLITE_NOTADB": ("it is not an SQLite database", "name another file in the URI, or move this one away"),
    "SQLITE_CORRUPT": ("the file is damaged", "restore a backup, or recover the readable data: sqlite3 FILE .recover"),
}
"""Prefix of an SQLite error name -> cause, remedy."""


def in_memory(url: URL) -> bool:
    """Return whether the database is in memory, and so exists only in its one connection."""
    return url.database in (None, "", ":memory:")


def sqlite_file(uri: str) -> Path | None:
    """Return the file of a store URI, or ``None`` for a database in memory or on a server."""
    url = make_url(uri) if uri.startswith("sqlite:///") else None
    return None if url is None or in_memory(url) else Path(url.database or "")


def sqlite_uri(file: Path) -> str:
    return URL.create("sqlite", database=str(file)).render_as_string(hide_password=False)


def open_sqlite(url: URL, create: bool, waits: Timeouts) -> Engine:
    """Implement ``Dialect.open``. Creates the folder of the file."""
    memory = in_memory(url)
    if not memory:
        _check_file(Path(url.database or ""), create)
    engine = create_engine(
        url,
        poolclass=QueuePool,
        pool_size=1 if memory else POOL,  # threads share one connection
        max_overflow=0 if memory else OVERFLOW,
        connect_args={"timeout": waits.busy, "check_same_thread": False},
    )
    event.listen(engine, "do_connect", open_read_only)
    event.listen(engine, "connect", partial(_prepare, waits))
    event.listen(engine, "begin", _begin)
    return engine


def _check_file(path: Path, create: bool) -> None:
    try:
        if path.exists():
            return
    except OSError as error:  # a name that is too long, or a folder without permission
        raise StoreUnavailable(f"{path}: {error.strerror}; use another path in the store URI, or give this user access") from error
    if not create:
        raise no_store(str(path))
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise StoreUnavailable(
            f"{path.parent}: the folder cannot be created ({error.strerror}); use another path in the store URI"
        ) from error


def open_read_only(_dialect: object, _record: object, arguments: list[Any], options: dict[str, Any]) -> None:
    """Open a file on a read-only disk as such: SQLite cannot create the files of the write-ahead log there, which even readers need."""
    file = Path(arguments[0])
    if sys.platform != "win32" and file.exists() and os.statvfs(file).f_flag & os.ST_RDONLY:
        log = file.with_name(f"{file.name}-wal")  # of another process that has the file open, or was killed
        mode = "mode=ro" if log.exists() and log.stat().st_size else "immutable=1"
        arguments[0], options["uri"] = f"{file.absolute().as_uri()}?{mode}", True


def _prepare(waits: Timeouts, connection: Any, _record: object) -> None:
    connection.isolation_level = None  # _begin begins transactions; disable the driver's implicit ones
    connection.execute(f"PRAGMA busy_timeout = {int(waits.busy * 1000)}")
    connection.execute("PRAGMA foreign_keys = ON")
    connection.execute("PRAGMA synchronous = NORMAL")  # with WAL: a killed process loses nothing, a power failure at most the last commits


def _begin(connection: Connection) -> None:
    # IMMEDIATE takes the write lock before reading: two writers never decide on the same state
    begin = "BEGIN IMMEDIATE" if connection.get_execution_options().get(WRITES) else "BEGIN"
    connection.connection.driver_connection.execute(begin)  # type: ignore[union-attr]


def explain_error(error: BaseException | None, place: str) -> StoreError:
    """Return the ``StoreError`` for an ``error`` of the driver. Unknown errors keep the driver's message."""
    name = getattr(error, "sqlite_errorname", None) or ""
    for prefix, (cause, remedy) in REMEDIES.items():
        if name.startswith(prefix):
            return StoreUnavailable(f"{place}: {cause}; {remedy}")
    if isinstance(error, sqlite3.OperationalError):
        return StoreUnavailable(f"{place}: {error}")
    return StoreError(f"{place}: {error}")


VACUUMED: Final = 1000  # pages freed in one transaction: 4 MB, some milliseconds


def release_space(engine: Engine, rebuild: bool) -> int:
    """Implement ``Dialect.release_space``. Files without ``auto_vacuum`` reuse their free pages until they are rebuilt (``rebuild``)."""
    if in_memory(engine.url):
        return 0
    with engine.connect() as connection:
        raw = connection.connection.cursor()  # outside a transaction, which VACUUM refuses

        def number(pragma: str) -> int:
            return int(raw.execute(f"PRAGMA {pragma}").fetchone()[0])

        before = number("page_count")
        if rebuild and number("auto_vacuum") != INCREMENTAL:
            raw.execute(f"PRAGMA auto_vacuum = {INCREMENTAL}")
            raw.execute("VACUUM")
        while number("auto_vacuum") == INCREMENTAL and (free := number("freelist_count")):
            raw.execute(f"PRAGMA incremental_vacuum({VACUUMED})").fetchall()
            if number("freelist_count") >= free:  # another process writes
                break
        freed = max(0, before - number("page_count")) * number("page_size")
        raw.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchall()
        raw.close()
    return freed


INCREMENTAL: Final = 2

SQLITE: Final = Dialect(open=open_sqlite, insert=partial(on_conflict, sqlite.insert), explain=explain_error, release_space=release_space)
