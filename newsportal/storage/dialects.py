"""Where databases differ: opening, write transactions, upserts, long texts, and what their errors mean. All else is plain SQLAlchemy Core.

A later database adds its lines to the tables of this file.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

from sqlalchemy import BigInteger, Connection, Engine, Insert, Integer, LargeBinary, Table, Text, create_engine, event, exc, func, select
from sqlalchemy.dialects import mysql, sqlite
from sqlalchemy.engine import URL, make_url
from sqlalchemy.pool import QueuePool

from newsportal.errors import StoreError, StoreUnavailable

BUSY_SECONDS = 30.0
"""How long a writer waits for the others. A write takes about a millisecond, so eight writers never come near it."""

POOL = 8
"""Connections kept open; threads beyond wait for one of them or open one of :data:`OVERFLOW`."""

OVERFLOW = 32

LONG_TEXT = Text().with_variant(mysql.MEDIUMTEXT(), "mysql", "mariadb")
"""MySQL's ``TEXT`` ends at 64 kB."""

LONG_BINARY = LargeBinary().with_variant(mysql.LONGBLOB(), "mysql", "mariadb")

SEQUENCE = BigInteger().with_variant(Integer(), "sqlite")
"""SQLite counts up by itself only in a column that is called ``INTEGER``."""

WRITES = "newsportal_writes"
"""The execution option of connections that are going to write."""

SQLITE_REMEDIES: Mapping[str, tuple[str, str]] = {
    "SQLITE_FULL": ("the disk is full", "make room; nothing was half written"),
    "SQLITE_READONLY": (
        "it cannot be written to",
        "check the permissions of the file and of its folder, and that the disk is not mounted read-only",
    ),
    "SQLITE_BUSY": ("another process has held it locked too long", "wait for that process or end it, then try again"),
    "SQLITE_LOCKED": ("another connection has held it locked too long", "try again"),
    "SQLITE_CANTOPEN": ("it cannot be opened", "check that its folder exists and that this user may read and write there"),
    "SQLITE_PERM": ("this user may not open it", "check the permissions of the file and of its folder"),
    "SQLITE_IOERR": ("the disk failed to read or write", "check the disk and its free space"),
    "SQLITE_NOTADB": ("it is not a SQLite database", "name another file in the URI, or move this one away"),
    "SQLITE_CORRUPT": ("the file is damaged", "restore a backup, or save what can be read: sqlite3 FILE .recover"),
}
"""SQLite's primary error names -> what happened, what to do."""


def open_engine(uri: str, *, create: bool = True) -> Engine:
    """An engine for ``uri`` with everything set that the dialect needs. Creates the folder of a SQLite file if ``create``."""
    try:
        url = make_url(uri)
    except exc.ArgumentError as error:
        raise StoreError(f"not a store URI: {uri!r} (for example sqlite:///data/newsportal.db)") from error
    if url.get_backend_name() != "sqlite":
        raise StoreError(f"no engine for {url.get_backend_name()!r} yet")
    return _sqlite(url, create)


def place(engine: Engine) -> str:
    """What to call the database in messages: its file or its URI without the password."""
    return engine.url.database or str(engine.url)


def _sqlite(url: URL, create: bool) -> Engine:
    memory = url.database in (None, "", ":memory:")
    if not memory:
        _check_file(Path(url.database or ""), create)
    engine = create_engine(
        url,
        poolclass=QueuePool,
        # a database in memory lives in its one connection, so threads take turns
        pool_size=1 if memory else POOL,
        max_overflow=0 if memory else OVERFLOW,
        connect_args={"timeout": BUSY_SECONDS, "check_same_thread": False},
    )
    event.listen(engine, "connect", _prepare_sqlite)
    event.listen(engine, "begin", _begin_sqlite)
    return engine


def _check_file(path: Path, create: bool) -> None:
    if path.exists():
        return
    if not create:
        raise StoreUnavailable(f"{path}: there is no store yet; run `newsportal crawl` first, or check the store URI in sources.yaml")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise StoreUnavailable(
            f"{path.parent}: the folder cannot be made ({error.strerror}); name another place in the store URI"
        ) from error


def _prepare_sqlite(connection: Any, _record: object) -> None:
    connection.isolation_level = None  # transactions are begun by _begin_sqlite; the driver's own habits stay out of it
    connection.execute(f"PRAGMA busy_timeout = {int(BUSY_SECONDS * 1000)}")
    connection.execute("PRAGMA foreign_keys = ON")
    connection.execute("PRAGMA synchronous = NORMAL")  # with WAL: a killed process loses nothing, a power cut the last moments at most


def _begin_sqlite(connection: Connection) -> None:
    # IMMEDIATE takes the write lock before anything is read: two writers never decide on the same state
    connection.exec_driver_sql("BEGIN IMMEDIATE" if connection.get_execution_options().get(WRITES) else "BEGIN")


def write_ahead(engine: Engine) -> None:
    """Let readers go on while somebody writes (SQLite's WAL; kept in the file). Others need nothing."""
    if engine.url.database in (None, "", ":memory:"):
        return
    with errors_of(engine), engine.connect() as connection:
        raw = connection.connection.cursor()
        if raw.execute("PRAGMA journal_mode").fetchone()[0] != "wal":
            raw.execute("PRAGMA journal_mode = WAL")
        raw.close()


@contextmanager
def reading(engine: Engine) -> Iterator[Connection]:
    """A connection that sees one state of the database."""
    with errors_of(engine), engine.connect() as connection:
        yield connection


@contextmanager
def snapshot(engine: Engine) -> Iterator[Connection]:
    """A connection that sees one state of the database until its end, over many statements, and streams what it reads."""
    options: dict[str, Any] = {"stream_results": True}
    if engine.dialect.name != "sqlite":  # whose read transactions are so by themselves
        options["isolation_level"] = "REPEATABLE READ"
    with errors_of(engine), engine.connect() as connection:
        yield connection.execution_options(**options)


def count_on(connection: Connection, table: Table, column: str) -> None:
    """Let the numbers of ``column`` go on above those that are there. PostgreSQL's do not by themselves when rows bring their own."""
    if connection.dialect.name != "postgresql":
        return
    last = connection.scalar(select(func.max(table.c[column])))
    if last is not None:
        connection.scalar(select(func.setval(func.pg_get_serial_sequence(table.name, column), last)))


@contextmanager
def writing(engine: Engine) -> Iterator[Connection]:
    """One write transaction: committed at the end, rolled back on any error."""
    with errors_of(engine), engine.connect() as plain:
        connection = plain.execution_options(**{WRITES: True})
        with connection.begin():
            yield connection


def upsert(connection: Connection, table: Table, rows: Sequence[Mapping[str, Any]], *, update: tuple[str, ...] = ()) -> int:
    """Insert ``rows``; where the primary key is there already, set the ``update`` columns, or leave the row as it is.

    Answers how many rows were inserted or set.
    """
    return connection.execute(_upsert(table, update), list(rows)).rowcount if rows else 0


@cache
def _upsert(table: Table, update: tuple[str, ...]) -> Insert:
    insert = sqlite.insert(table).execution_options(preserve_rowcount=True)
    if not update:
        return insert.on_conflict_do_nothing()
    return insert.on_conflict_do_update(index_elements=list(table.primary_key), set_={name: insert.excluded[name] for name in update})


@contextmanager
def errors_of(engine: Engine) -> Iterator[None]:
    """Turn what the driver raises into ``StoreUnavailable`` with what, where and what to do."""
    try:
        yield
    except exc.TimeoutError as error:
        raise StoreUnavailable(f"{place(engine)}: all {POOL + OVERFLOW} connections are in use; try again, or use fewer threads") from error
    except exc.DBAPIError as error:
        raise explained(error.orig, place(engine)) from error
    except sqlite3.Error as error:
        raise explained(error, place(engine)) from error


def explained(error: BaseException | None, where: str) -> StoreError:
    """The error of ours that says what ``error`` of the driver means. Unknown ones keep the driver's words."""
    name = getattr(error, "sqlite_errorname", None) or ""
    for prefix, (what, remedy) in SQLITE_REMEDIES.items():
        if name.startswith(prefix):
            return StoreUnavailable(f"{where}: {what}; {remedy}")
    if isinstance(error, sqlite3.OperationalError):
        return StoreUnavailable(f"{where}: {error}")
    return StoreError(f"{where}: {error}")
