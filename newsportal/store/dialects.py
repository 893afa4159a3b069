"""Where databases differ: opening, transactions, upserts, and what their errors mean. All else is plain SQLAlchemy Core.

Each has a module of its own (:data:`DIALECTS`); here is what the parts of the store ask for.
"""

from __future__ import annotations

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
from newsportal.store.dialect import OVERFLOW, POOL, WRITES, Dialect, Waits, place_of
from newsportal.store.dialect_sqlite import explained as explained
from newsportal.store.dialect_sqlite import in_memory

USER: Final = re.compile(r"^([^:]*:/*)([^:@/]*).*@", re.DOTALL)
"""Up to the last ``@``: a password that holds ``/`` or ``@`` as they are hides as a whole."""

NO_PORT: Final = re.compile(r"(?<=://)([^/@:\[?]+):(?!\d+(?:[,/?]|$))[^/?]*")
"""A host and what is no port: somebody forgot the host behind a password."""

ESCAPES: Final = "within a user or password write %2F for a slash, %3A for a colon, %40 for an @"


def mask_uri(uri: str) -> str:
    """``uri`` without password and parameters, of which some drivers take secrets too."""
    return NO_PORT.sub(r"\1:***", USER.sub(r"\1\2@", uri)).partition("?")[0]


def no_uri(uri: str, what: str, example: str) -> StoreError:
    """The error of a URI that cannot be read. It repeats no words of the driver, which repeat the URI."""
    return StoreError(f"not a URI of {what}: {mask_uri(uri)} (for example {example}; {ESCAPES})")


T = TypeVar("T")

CHUNK: Final = 500  # values in one ``IN (...)``: below every database's limit of parameters
PAGE: Final = 1000
"""Rows read at once when everything is streamed. Between two pages no connection is held, so a slow reader blocks nobody."""


def chunks(values: Iterable[T], size: int = CHUNK) -> Iterator[list[T]]:
    rest = iter(values)
    while chunk := list(islice(rest, size)):
        yield chunk


DIALECTS: Final[Mapping[str, str]] = {
    "sqlite": "dialect_sqlite:SQLITE",
    "postgresql": "dialect_postgresql:POSTGRESQL",
    "mysql": "dialect_mysql:MYSQL",
    "mariadb": "dialect_mysql:MYSQL",
}
"""Name of the database in a URI -> module and what it tells of itself, imported with its driver when one is opened."""

DRIVERS: Final = {"sqlite": "pysqlite", "postgresql": "psycopg", "mysql": "pymysql", "mariadb": "pymysql"}

BUSY_SECONDS = 30.0  # how long a writer waits for the others. A write takes some milliseconds, so eight writers never come near it.
CONNECT_SECONDS = 10.0  # how long a server may take to let somebody in
ANSWER_SECONDS = 300.0  # How long a server may take to answer: longer than an index on millions of rows is made, shorter than for ever
IDLE_SECONDS = 120.0  # after so long a server ends a transaction that asks nothing any more: the machine that began it is gone


def open_engine(uri: str, *, create: bool = True) -> sa.Engine:
    """An engine for ``uri`` with everything set that the database needs. A missing one is made if ``create``: a SQLite file with its
    folder, a database on a server if the user may."""
    try:
        url = make_url(uri)
    except (sa.exc.ArgumentError, ValueError) as error:  # a port that is no number
        raise no_uri(uri, "a store", "sqlite:///data/newsportal.db") from error
    waits = Waits(connect=CONNECT_SECONDS, busy=BUSY_SECONDS, answer=ANSWER_SECONDS, idle=IDLE_SECONDS)
    with _errors(url):
        engine = _dialect(url).open(url, create, waits)
    sa.event.listen(engine, "before_cursor_execute", _readable, retval=True)
    logging.getLogger("sqlalchemy.pool").setLevel(logging.CRITICAL)  # a lost connection is raised, with its place and what to do
    return engine


def _readable(connection: sa.Connection, _cursor: Any, statement: str, parameters: Any, _context: Any, _many: bool) -> tuple[str, Any]:
    """Parameters of a query come from anywhere, such as an address. PostgreSQL takes no NUL, no driver a lone surrogate; no row has one."""
    if connection.get_execution_options().get(WRITES):
        return statement, parameters
    if isinstance(parameters, dict):
        return statement, {name: _replaced(value) for name, value in parameters.items()}
    return statement, type(parameters)(map(_replaced, parameters))


def _replaced(value: Any) -> Any:
    return UNSTORABLE.sub("\ufffd", value) if isinstance(value, str) else value


@cache
def dialect(name: str) -> Dialect:
    """What the database called ``name``, one of ``DIALECTS``, tells of itself."""
    module, _, attribute = DIALECTS[name].partition(":")
    found: Dialect = getattr(import_module(f"newsportal.store.{module}"), attribute)
    return found


def _dialect(url: URL) -> Dialect:
    name = url.get_backend_name()
    if name not in DIALECTS:
        raise StoreError(f"no engine for {name!r}; these exist: {', '.join(sorted(DIALECTS))}")
    driver = url.drivername.partition("+")[2]
    if driver and driver != DRIVERS[name]:
        raise StoreError(f"{place_of(url)}: no driver {driver!r} here; write {name}://, which takes {DRIVERS[name]}")
    return dialect(name)


def write_ahead(engine: sa.Engine) -> None:
    """Let readers go on while somebody writes (SQLite's WAL; kept in the file). Others need nothing."""
    if engine.dialect.name != "sqlite" or in_memory(engine.url):
        return
    with _errors(engine.url), engine.connect() as connection:
        raw = connection.connection.cursor()
        if raw.execute("PRAGMA page_count").fetchone()[0] == 0:  # nothing that a power cut could damage: do not wait for the disk
            raw.execute("PRAGMA auto_vacuum = INCREMENTAL")
            raw.execute("PRAGMA synchronous = OFF")
        deadline = monotonic() + BUSY_SECONDS
        while raw.execute("PRAGMA journal_mode").fetchone()[0] != "wal":
            try:
                raw.execute("PRAGMA journal_mode = WAL")
            except sqlite3.OperationalError as error:  # SQLite refuses one of two that switch at once, however long it may wait
                if not error.sqlite_errorname.startswith("SQLITE_BUSY") or monotonic() > deadline:
                    raise
                sleep(0.01)
        raw.execute("PRAGMA synchronous = NORMAL")
        raw.close()


def select_in(
    connection: sa.Connection, statement: sa.Select[Any], column: sa.ColumnElement[Any], values: Iterable[Any]
) -> Iterator[sa.RowMapping]:
    """The rows of ``statement`` in whose ``column`` stands one of ``values``, however many these are."""
    for some in chunks(values):
        yield from connection.execute(statement.where(column.in_(some))).mappings()


@contextmanager
def reading(engine: sa.Engine) -> Iterator[sa.Connection]:
    """A connection that sees one state of the database."""
    with _errors(engine.url), engine.connect() as connection:
        yield connection


class Part:
    """A part of the store; each of its methods is one transaction, long answers are one for each page."""

    def __init__(self, engine: sa.Engine) -> None:
        self._engine = engine

    def _read(self) -> AbstractContextManager[sa.Connection]:
        return reading(self._engine)

    def _write(self) -> AbstractContextManager[sa.Connection]:
        return writing(self._engine)

    def _execute(self, statement: sa.UpdateBase) -> int:
        """One statement in a transaction of its own; answers how many rows it concerned."""
        with self._write() as connection:
            return connection.execute(statement).rowcount

    def _row(self, asked: sa.Executable) -> sa.Row[Any] | None:
        with self._read() as connection:
            return connection.execute(asked).one_or_none()

    def _rows(self, asked: sa.Executable) -> Sequence[Any]:
        with self._read() as connection:
            return connection.execute(asked).all()

    def _mappings(self, asked: sa.Executable) -> Sequence[sa.RowMapping]:
        with self._read() as connection:
            return connection.execute(asked).mappings().all()

    def _scalar(self, asked: sa.Executable) -> Any:
        with self._read() as connection:
            return connection.scalar(asked)

    def _scalars(self, asked: sa.Executable) -> list[Any]:
        with self._read() as connection:
            return list(connection.scalars(asked))

    def _select_in(self, asked: sa.Select[Any], column: sa.ColumnElement[Any], values: Iterable[Any]) -> list[sa.RowMapping]:
        with self._read() as connection:
            return list(select_in(connection, asked, column, values))

    def _upsert(self, table: sa.Table, rows: Sequence[Mapping[str, Any]], *, update: tuple[str, ...] = ()) -> None:
        with self._write() as connection:
            upsert(connection, table, rows, update=update)

    def _delete_old(self, table: sa.Table, *where: sa.ColumnElement[bool], dry_run: bool = False) -> int:
        """Delete these rows, a transaction for each few; with ``dry_run`` only count them. Answers how many."""
        if dry_run:
            return self._scalar(sa.select(sa.func.count()).select_from(table).where(*where)) or 0
        key, done = list(table.primary_key), 0
        one = sa.delete(table).where(*(column == sa.bindparam(f"key_{column.name}") for column in key))
        while True:
            with self._write() as connection:
                rows = connection.execute(sa.select(*key).where(*where).limit(CHUNK)).all()
                if not rows:
                    return done
                connection.execute(one, [dict(zip((f"key_{column.name}" for column in key), row, strict=True)) for row in rows])
                done += len(rows)

    def _pages(self, read: Callable[[sa.Connection, Any], Sequence[T]], last_of: Callable[[T], Any], start: Any) -> Iterator[T]:
        """All that ``read`` answers, which gets what ``last_of`` says of the last one before. Nobody is blocked between two pages."""
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
    """A connection that sees one state of the database until its end, over many statements, and streams what it reads."""
    with reading(engine) as connection:
        ends = dialect(engine.dialect.name).rest(connection)
        try:
            yield connection.execution_options(stream_results=True)
        finally:
            if ends:
                connection.invalidate()  # nobody else is to rest so long


def count_on(connection: sa.Connection, table: sa.Table, column: str) -> None:
    """Let the numbers of ``column`` go on above those that are there. PostgreSQL's do not by themselves when rows bring their own."""
    if connection.dialect.name != "postgresql":
        return
    last = connection.scalar(sa.select(sa.func.max(table.c[column])))
    if last is not None:
        connection.scalar(sa.select(sa.func.setval(sa.func.pg_get_serial_sequence(table.name, column), last)))


@contextmanager
def writing(engine: sa.Engine) -> Iterator[sa.Connection]:
    """One write transaction: committed at the end, rolled back on any error. It is the only one of its database."""
    kind = dialect(engine.dialect.name)
    with _errors(engine.url), engine.connect() as plain:
        connection = plain.execution_options(**{WRITES: True}, **kind.write_options)
        try:
            with connection.begin():
                yield connection
        finally:
            kind.release(connection)


def upsert(connection: sa.Connection, table: sa.Table, rows: Sequence[Mapping[str, Any]], *, update: tuple[str, ...] = ()) -> None:
    """Insert ``rows``; where the primary key is there already, set the ``update`` columns, or leave the row as it is."""
    if rows:
        connection.execute(dialect(connection.dialect.name).insert(table, update), list(rows))


def insert_new(connection: sa.Connection, table: sa.Table, row: Mapping[str, Any]) -> bool:
    """Insert ``row`` unless its primary key is there already; answers whether it was. Within a write transaction."""
    kind = dialect(connection.dialect.name)
    if kind.counts:
        return connection.execute(kind.insert(table, ()), [dict(row)]).rowcount > 0
    there = sa.select(sa.func.count()).where(*(column == row[column.name] for column in table.primary_key))
    if connection.scalar(there):
        return False
    connection.execute(table.insert(), dict(row))
    return True


@contextmanager
def _errors(url: URL) -> Iterator[None]:
    """Turn what the driver raises into ``StoreUnavailable`` with what, where and what to do."""
    where = place_of(url)
    try:
        yield
    except sa.exc.TimeoutError as error:
        raise StoreUnavailable(f"{where}: all {POOL + OVERFLOW} connections are in use; try again, or use fewer threads") from error
    except sa.exc.DBAPIError as error:
        raise _dialect(url).explain(error.orig, where) from error
    except sqlite3.Error as error:
        raise explained(error, where) from error
