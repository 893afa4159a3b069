"""Differences between databases: opening, transactions, upserts and errors. Everything else is plain SQLAlchemy Core.

Each database has a module (:data:`DIALECTS`); this one holds the helpers shared by the parts of the store.
"""

import logging
import re
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from functools import cache
from importlib import import_module
from itertools import islice
from time import monotonic, sleep
from typing import Any, Final, TypeVar

import sqlalchemy as sa
from sqlalchemy.engine import URL, make_url

from newsportal.errors import StoreError, StoreUnavailable
from newsportal.store.columns import UNSTORABLE
from newsportal.store.dialect import OVERFLOW, POOL, WRITES, Dialect, Timeouts, place_of
from newsportal.store.dialect_sqlite import explain_error as explain_error
from newsportal.store.dialect_sqlite import in_memory

USER: Final = re.compile(r"^([^:]*:/*)([^:@/]*).*@", re.DOTALL)
"""Matches up to the last ``@``, so a password with an unescaped ``/`` or ``@`` is masked completely."""

NO_PORT: Final = re.compile(r"(?<=://)([^/@:\[?]+):(?!\d+(?:[,/?]|$))[^/?]*")
"""A host followed by an invalid port: the host behind a password was omitted."""

ESCAPES: Final = "within a user or password write %2F for a slash, %3A for a colon, %40 for an @"


def mask_uri(uri: str) -> str:
    """Return ``uri`` without its password and its parameters, which may hold secrets for some drivers."""
    return NO_PORT.sub(r"\1:***", USER.sub(r"\1\2@", uri)).partition("?")[0]


def invalid_uri(uri: str, kind: str, example: str) -> StoreError:
    """Return the error for an invalid URI. The driver's message is left out because it repeats the URI."""
    return StoreError(f"not a URI of {kind}: {mask_uri(uri)} (for example {example}; {ESCAPES})")


T = TypeVar("T")

CHUNK: Final = 500  # values in one ``IN (...)``: below the parameter limit of every database
PAGE: Final = 1000
"""Rows per page of a streamed query. No connection is held between pages, so a slow reader blocks no other."""


def chunks(values: Iterable[T], size: int = CHUNK) -> Iterator[list[T]]:
    iterator = iter(values)
    while chunk := list(islice(iterator, size)):
        yield chunk


DIALECTS: Final[Mapping[str, str]] = {
    "sqlite": "dialect_sqlite:SQLITE",
    "postgresql": "dialect_postgresql:POSTGRESQL",
    "mysql": "dialect_mysql:MYSQL",
    "mariadb": "dialect_mysql:MYSQL",
}
"""Database name in a URI -> module and ``Dialect``, imported with its driver on first use."""

DRIVERS: Final = {"sqlite": "pysqlite", "postgresql": "psycopg", "mysql": "pymysql", "mariadb": "pymysql"}

BUSY_SECONDS = 30.0  # how long a writer waits for others. A write takes milliseconds, so eight writers never come near it.
CONNECT_SECONDS = 10.0  # how long a server may take to accept a connection
ANSWER_SECONDS = 300.0  # how long a server may take to answer: longer than creating an index on millions of rows
IDLE_SECONDS = 120.0  # how long a transaction may be idle before the server ends it: its client has died

for _name in ("sqlalchemy.pool", "psycopg"):  # a lost connection is raised with its database and a remedy
    logging.getLogger(_name).setLevel(logging.CRITICAL)


def open_engine(uri: str, *, create: bool = True) -> sa.Engine:
    """Return a configured engine for ``uri``. If ``create``, a missing database is created: a SQLite file with its folder, or a database on
    a server if the user has the permission."""
    try:
        url = make_url(uri)
    except (sa.exc.ArgumentError, ValueError) as error:  # an invalid port
        raise invalid_uri(uri, "a store", "sqlite:///data/newsportal.db") from error
    with _errors(url):
        engine = _dialect(url).open(url, create, Timeouts(CONNECT_SECONDS, BUSY_SECONDS, ANSWER_SECONDS, IDLE_SECONDS))
    sa.event.listen(engine, "before_cursor_execute", _readable, retval=True)
    return engine


def _readable(connection: sa.Connection, _cursor: Any, statement: str, parameters: Any, _context: Any, _many: bool) -> tuple[str, Any]:
    """Clean parameters of queries, which may come from a URL. PostgreSQL accepts no NUL, no driver a lone surrogate; no row has one."""
    if connection.get_execution_options().get(WRITES):
        return statement, parameters
    if isinstance(parameters, dict):
        return statement, {name: _replaced(value) for name, value in parameters.items()}
    return statement, type(parameters)(map(_replaced, parameters))


def _replaced(value: Any) -> Any:
    return UNSTORABLE.sub("\ufffd", value) if isinstance(value, str) else value


@cache
def dialect(name: str) -> Dialect:
    """Return the ``Dialect`` of a database, by its name in ``DIALECTS``."""
    module, _, attribute = DIALECTS[name].partition(":")
    found: Dialect = getattr(import_module(f"newsportal.store.{module}"), attribute)
    return found


def _dialect(url: URL) -> Dialect:
    name = url.get_backend_name()
    if name not in DIALECTS:
        raise StoreError(f"no engine for {name!r}; supported: {', '.join(sorted(DIALECTS))}")
    driver = url.drivername.partition("+")[2]
    if driver and driver != DRIVERS[name]:
        raise StoreError(f"{place_of(url)}: no driver {driver!r} here; write {name}://, which takes {DRIVERS[name]}")
    return dialect(name)


def write_ahead(engine: sa.Engine) -> None:
    """Switch SQLite to WAL (kept in the file), so that readers are not blocked by a writer. Other databases need nothing."""
    if engine.dialect.name != "sqlite" or in_memory(engine.url):
        return
    with _errors(engine.url), engine.connect() as connection:
        raw = connection.connection.cursor()
        if raw.execute("PRAGMA page_count").fetchone()[0] == 0:  # an empty database cannot be damaged: do not wait for the disk
            raw.execute("PRAGMA auto_vacuum = INCREMENTAL")
            raw.execute("PRAGMA synchronous = OFF")
        deadline = monotonic() + BUSY_SECONDS
        while True:
            try:
                raw.execute("PRAGMA journal_mode = WAL")  # no effect, and no error, on a read-only disk
                break
            except sqlite3.OperationalError as error:  # SQLite refuses one of two concurrent switches, whatever its busy timeout
                if not error.sqlite_errorname.startswith("SQLITE_BUSY") or monotonic() > deadline:
                    raise
                sleep(0.01)
        raw.execute("PRAGMA synchronous = NORMAL")
        raw.close()


def select_in(
    connection: sa.Connection, query: sa.Select[Any], column: sa.ColumnElement[Any], values: Iterable[Any]
) -> Iterator[sa.RowMapping]:
    """Yield the rows of ``query`` whose ``column`` is one of ``values``, of any number."""
    for chunk in chunks(values):
        yield from connection.execute(query.where(column.in_(chunk))).mappings()


@contextmanager
def reading(engine: sa.Engine) -> Iterator[sa.Connection]:
    """Open a connection that sees one snapshot of the database."""
    with _errors(engine.url), engine.connect() as connection:
        yield connection


class Part:
    """A part of the store. Each method is one transaction; long results use one per page."""

    def __init__(self, engine: sa.Engine) -> None:
        self._engine = engine

    def _read(self) -> AbstractContextManager[sa.Connection]:
        return reading(self._engine)

    def _write(self) -> AbstractContextManager[sa.Connection]:
        return writing(self._engine)

    def _execute(self, statement: sa.UpdateBase) -> int:
        """Run one statement in its own transaction, and return the number of matched rows."""
        with self._write() as connection:
            return connection.execute(statement).rowcount

    def _row(self, query: sa.Executable) -> sa.Row[Any] | None:
        with self._read() as connection:
            return connection.execute(query).one_or_none()

    def _rows(self, query: sa.Executable) -> Sequence[Any]:
        with self._read() as connection:
            return connection.execute(query).all()

    def _mappings(self, query: sa.Executable) -> Sequence[sa.RowMapping]:
        with self._read() as connection:
            return connection.execute(query).mappings().all()

    def _scalar(self, query: sa.Executable) -> Any:
        with self._read() as connection:
            return connection.scalar(query)

    def _scalars(self, query: sa.Executable) -> list[Any]:
        with self._read() as connection:
            return list(connection.scalars(query))

    def _select_in(self, query: sa.Select[Any], column: sa.ColumnElement[Any], values: Iterable[Any]) -> list[sa.RowMapping]:
        with self._read() as connection:
            return list(select_in(connection, query, column, values))

    def _upsert(self, table: sa.Table, rows: Sequence[Mapping[str, Any]], *, update: tuple[str, ...] = ()) -> None:
        with self._write() as connection:
            upsert(connection, table, rows, update=update)

    def _delete_old(self, table: sa.Table, *conditions: sa.ColumnElement[bool], dry_run: bool = False) -> int:
        """Delete the rows in small transactions, or only count them with ``dry_run``. Return their number."""
        if dry_run:
            return self._scalar(sa.select(sa.func.count()).select_from(table).where(*conditions)) or 0
        key, done = list(table.primary_key), 0
        statement = sa.delete(table).where(*(column == sa.bindparam(f"key_{column.name}") for column in key))
        while True:
            with self._write() as connection:
                rows = connection.execute(sa.select(*key).where(*conditions).limit(CHUNK)).all()
                if not rows:
                    return done
                connection.execute(statement, [dict(zip((f"key_{column.name}" for column in key), row, strict=True)) for row in rows])
                done += len(rows)

    def _pages(self, read: Callable[[sa.Connection, Any], Sequence[T]], last_of: Callable[[T], Any], start: Any) -> Iterator[T]:
        """Yield all items of the pages that ``read`` returns, given ``last_of`` the previous item. No connection is held between pages."""
        last = start
        while True:
            with self._read() as connection:
                page = read(connection, last)
            if not page:
                return
            yield from page
            last = last_of(page[-1])


@contextmanager
def snapshot(engine: sa.Engine) -> Iterator[sa.Connection]:
    """Open a connection that sees one snapshot of the database over many statements, and streams results."""
    with reading(engine) as connection:
        must_close = dialect(engine.dialect.name).allow_idle(connection)
        try:
            yield connection.execution_options(stream_results=True)
        finally:
            if must_close:
                connection.invalidate()  # the session has a longer idle timeout, which other users must not inherit


def count_on(connection: sa.Connection, table: sa.Table, column: str) -> None:
    """Continue the sequence of ``column`` after its largest value. PostgreSQL does not do so when rows are inserted with numbers."""
    if connection.dialect.name != "postgresql":
        return
    last = connection.scalar(sa.select(sa.func.max(table.c[column])))
    if last is not None:
        connection.scalar(sa.select(sa.func.setval(sa.func.pg_get_serial_sequence(table.name, column), last)))


@contextmanager
def writing(engine: sa.Engine) -> Iterator[sa.Connection]:
    """Run a write transaction: committed at the end, rolled back on any error. Only one runs at a time per database."""
    kind = dialect(engine.dialect.name)
    with _errors(engine.url), engine.connect() as plain:
        connection = plain.execution_options(**{WRITES: True}, **kind.write_options)
        try:
            with connection.begin():
                yield connection
        finally:
            kind.release(connection)


def upsert(connection: sa.Connection, table: sa.Table, rows: Sequence[Mapping[str, Any]], *, update: tuple[str, ...] = ()) -> None:
    """Insert ``rows``; on a conflict of primary keys set the ``update`` columns, or keep the existing row."""
    if rows:
        connection.execute(dialect(connection.dialect.name).insert(table, update), list(rows))


def insert_new(connection: sa.Connection, table: sa.Table, row: Mapping[str, Any]) -> bool:
    """Insert ``row`` unless its primary key exists, and return whether it was inserted. Call within a write transaction."""
    kind = dialect(connection.dialect.name)
    if kind.counts:
        return connection.execute(kind.insert(table, ()), [dict(row)]).rowcount > 0
    query = sa.select(sa.func.count()).where(*(column == row[column.name] for column in table.primary_key))
    if connection.scalar(query):
        return False
    connection.execute(table.insert(), dict(row))
    return True


@contextmanager
def _errors(url: URL) -> Iterator[None]:
    """Convert errors of the driver to ``StoreUnavailable`` with database, cause and remedy."""
    place = place_of(url)
    try:
        yield
    except sa.exc.TimeoutError as error:
        raise StoreUnavailable(f"{place}: all {POOL + OVERFLOW} connections are in use; try again, or use fewer threads") from error
    except sa.exc.DBAPIError as error:
        raise _dialect(url).explain(error.orig, place) from error
    except sqlite3.Error as error:
        raise explain_error(error, place) from error
