"""Meaning of each database's errors, how a database is opened, and how long it is waited for."""

from __future__ import annotations

import re
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from typing import Any

import psycopg
import pymysql
import pytest
from factories import NOW, article
from servers import Database, Servers
from sqlalchemy.engine import make_url

from newsportal.errors import StoreError, StoreUnavailable
from newsportal.store import dialect_mysql, dialect_postgresql, dialects, open_store
from newsportal.store.dialect import place_of
from newsportal.store.dialects import DIALECTS, open_engine, reading, writing

SERVERS = [pytest.param(server, marks=pytest.mark.slow) for server in ("postgresql", "mariadb")]


@pytest.fixture(params=SERVERS)
def database(request: pytest.FixtureRequest, servers: Servers) -> Iterator[Database]:
    with servers.database(request.param) as created:
        yield created


@contextmanager
def administrator(database: Database, own: bool = True) -> Iterator[Any]:
    """Yield a cursor for statements on the server, in the ``own`` database or in none."""
    if database.server == "postgresql":
        name = database.name if own else "postgres"
        with closing(psycopg.connect(host="127.0.0.1", port=database.port, user="postgres", dbname=name, autocommit=True)) as connection:
            yield connection
    else:
        with closing(pymysql.connect(host="127.0.0.1", port=database.port, user="root", database=database.name if own else None)) as opened:
            yield opened.cursor()


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        ("DiskFull", "disk is full; free space"),
        ("TooManyConnections", "too many connections; close some"),
        ("ReadOnlySqlTransaction", "cannot be written to; the server is read-only"),
        ("LockNotAvailable", "another process has held the write lock for too long; wait"),
        ("QueryCanceled", "took too long to answer"),
        ("DeadlockDetected", r"\(deadlock\); try again"),
        ("SerializationFailure", "same rows; try again"),
        ("InsufficientPrivilege", "lacks the permission; grant the user"),
        ("InvalidPassword", "rejects this user; check user and password"),
        ("AdminShutdown", "starting or stopping; wait"),
        ("InternalError_", "an internal error; look into its log"),
        ("DataCorrupted", "damaged; see the server's log, and restore a backup"),
        ("OperationalError", "does not answer; start it, or check host"),
    ],
)
def test_postgresql_errors_say_what_to_do(error: str, expected: str) -> None:
    explained = dialect_postgresql.explain_error(getattr(psycopg.errors, error)("so it was"), "postgresql://h/n")
    assert isinstance(explained, StoreUnavailable)
    assert re.search(expected, str(explained)), explained
    assert str(explained).startswith("postgresql://h/n: ")


@pytest.mark.parametrize(
    ("number", "expected"),
    [
        (1114, "disk is full; free space"),
        (1021, "disk is full; free space"),
        (1040, "too many connections; close some"),
        (1290, "cannot be written to; the server is read-only"),
        (1205, "held a lock for too long; wait"),
        (1213, r"\(deadlock\); try again"),
        (1142, "lacks the permission; grant the user"),
        (1045, "rejects this user; check user, password"),
        (1153, "larger than the server accepts; raise max_allowed_packet"),
        (2003, "does not answer; start it"),
        (2013, "connection broke; try again"),
        (1034, "damaged; see the server's log"),
        (9999, "so it was"),
    ],
)
def test_mysql_errors_say_what_to_do(number: int, expected: str) -> None:
    explained = dialect_mysql.explain_error(pymysql.err.OperationalError(number, "so it was"), "mysql://h/n")
    assert isinstance(explained, StoreUnavailable)
    assert re.search(expected, str(explained)), explained


def test_other_errors_keep_the_first_line_of_the_driver() -> None:
    explained = dialect_postgresql.explain_error(psycopg.errors.UniqueViolation("duplicate key\nDETAIL: secret values"), "p")
    assert (type(explained), str(explained)) == (StoreError, "p: duplicate key")
    explained = dialect_mysql.explain_error(pymysql.err.IntegrityError(1062, "duplicate"), "m")
    assert (type(explained), str(explained)) == (StoreError, "m: 1062 duplicate")


def test_place_has_no_password() -> None:
    url = make_url("postgresql://me:geheim@db.example:5433/news?sslmode=require")
    assert place_of(url) == "postgresql://db.example:5433/news"
    assert place_of(make_url("mysql://me:geheim@/news")) == "mysql://localhost/news"


@pytest.mark.parametrize(
    ("module", "scheme", "extra"),
    [
        ("psycopg", "postgresql", "postgresql"),
        ("pymysql", "mariadb", "mysql"),
    ],
)
def test_missing_driver_error_names_its_extra(monkeypatch: pytest.MonkeyPatch, module: str, scheme: str, extra: str) -> None:
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(StoreError, match=rf"{scheme}:// needs a driver .* pip install newsportal\[{extra}\]"):
        open_store(f"{scheme}://127.0.0.1:9/x")


@pytest.mark.slow
def test_drivers_are_imported_on_demand() -> None:
    code = (
        "import sys, newsportal.cli.search, newsportal.search.sqlite_fts\n"
        "print(sorted({'psycopg', 'pymysql', 'pymongo', 'elasticsearch', 'lxml', 'numpy'} & set(sys.modules)))"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"


def test_unsupported_drivers_are_refused() -> None:
    with pytest.raises(StoreError, match=r"no driver 'psycopg2' here; write postgresql://, which takes psycopg"):
        open_store("postgresql+psycopg2://127.0.0.1:9/x")
    with pytest.raises(StoreError, match="has no database name"):
        open_store("mysql://127.0.0.1:9")


@pytest.mark.parametrize(
    ("kind", "version", "right"),
    [
        ("mariadb", "5.5.5-10.11.6-MariaDB-1", True), ("mariadb", "10.3.39-MariaDB", False), ("mysql", "8.0.36", True),
        ("mysql", "8.0.16", False), ("mysql", "5.7.44-log", False), ("mysql", "9.1.0", True),
    ],
)  # fmt: skip
def test_old_server_versions_are_refused(kind: str, version: str, right: bool) -> None:
    if right:
        dialect_mysql.check_version(kind, version, "m")
        return
    with pytest.raises(StoreError, match=r"too old for a store; (MariaDB 10\.6|MySQL 8\.0\.17) or later is required"):
        dialect_mysql.check_version(kind, version, "m")


def test_missing_database_is_created_or_reported(database: Database) -> None:
    uri, quote = f"{database.uri}_more", '"' if database.server == "postgresql" else "`"
    with pytest.raises(StoreUnavailable, match="no store yet; run `newsportal crawl`"):
        open_store(uri, create=False)
    try:
        store = open_store(uri)
        assert store.add(article(), now=NOW).outcome == "stored"
        store.close()
    finally:
        with administrator(database, own=False) as admin:
            admin.execute(f"DROP DATABASE IF EXISTS {quote}{database.name}_more{quote}")


@pytest.mark.slow
def test_user_without_right_to_create_gets_the_statement(servers: Servers) -> None:
    with servers.database("postgresql") as database:
        with administrator(database) as admin:
            admin.execute("DROP ROLE IF EXISTS poor")
            admin.execute("CREATE ROLE poor LOGIN")
        with pytest.raises(StoreUnavailable, match='let an administrator run: CREATE DATABASE "other" ENCODING') as raised:
            open_store(database.uri.replace("postgres@", "poor:geheim@").replace(database.name, "other"))
        assert "geheim" not in str(raised.value)
        with pytest.raises(StoreUnavailable, match=r"lacks the permission; grant the user the right to create and write tables"):
            open_store(database.uri.replace("postgres@", "poor:geheim@"))


@pytest.mark.slow
def test_database_with_narrow_encoding_is_refused(servers: Servers) -> None:
    with servers.database("postgresql") as database:
        with administrator(database, own=False) as admin:
            admin.execute(f"CREATE DATABASE \"{database.name}_latin\" ENCODING 'LATIN1' TEMPLATE template0 LOCALE 'C'")
        try:
            with pytest.raises(StoreError, match="encoded in LATIN1, which cannot store every text"):
                open_store(f"{database.uri}_latin")
        finally:
            with administrator(database, own=False) as admin:
                admin.execute(f'DROP DATABASE "{database.name}_latin" WITH (FORCE)')


def test_writer_waits_for_another_and_times_out(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    open_store(database.uri).close()
    monkeypatch.setattr(dialects, "BUSY_SECONDS", 0.5)
    holder, store = open_engine(database.uri), open_store(database.uri)
    with writing(holder):
        start = time.monotonic()
        with pytest.raises(
            StoreUnavailable, match="another process has held the write lock for too long; wait for that process or stop it"
        ):
            store.add(article(), now=NOW)
        assert time.monotonic() - start >= 0.5
        assert store.find_stored(["news.example/a"]) == set()  # readers are not blocked
    assert store.add(article(), now=NOW).outcome == "stored"
    store.close()
    holder.dispose()


def test_failed_writer_releases_the_lock(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dialects, "BUSY_SECONDS", 0.5)
    first, second = open_engine(database.uri), open_engine(database.uri)
    with pytest.raises(RuntimeError), writing(first):
        raise RuntimeError("in the middle")
    with writing(second), reading(first) as connection:
        assert connection.exec_driver_sql("SELECT 1").scalar() == 1
    first.dispose()
    second.dispose()


def test_query_without_answer_times_out(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    """Independently of the server's own limits: the server itself may hang."""
    monkeypatch.setattr(dialects, "ANSWER_SECONDS", 1.0)
    engine = open_engine(database.uri)
    asleep = "SET statement_timeout = 0; SELECT pg_sleep(20)" if database.server == "postgresql" else "SELECT SLEEP(20)"
    start = time.monotonic()
    with pytest.raises(StoreUnavailable, match="try again"), reading(engine) as connection:
        connection.exec_driver_sql(asleep)
    assert time.monotonic() - start < 15
    with reading(engine) as connection:
        assert connection.exec_driver_sql("SELECT 1").scalar() == 1
    engine.dispose()


def test_broken_connection_is_replaced(database: Database) -> None:
    store = open_store(database.uri)
    store.add(article("a"), now=NOW)
    with administrator(database, own=False) as admin:
        if database.server == "postgresql":
            admin.execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = %s", (database.name,))
        else:
            admin.execute("SELECT id FROM information_schema.processlist WHERE db = %s", (database.name,))
            for (number,) in admin.fetchall():
                admin.execute(f"KILL {number}")
    assert store.add(article("b"), now=NOW).outcome == "stored"
    store.close()


def test_sequence_numbers_are_never_reused(database: Database) -> None:
    """Not even after the last rows were deleted and the process restarted."""
    store = open_store(database.uri)
    store.add(article("a"), now=NOW)
    last = store.last_seq()
    store.close()
    engine = open_engine(database.uri)
    with writing(engine) as connection:
        connection.exec_driver_sql("DELETE FROM changes")
    engine.dispose()
    store = open_store(database.uri)
    store.add(article("b"), now=NOW)
    assert store.last_seq() > last
    store.close()


def test_every_dialect_has_a_driver() -> None:
    assert set(DIALECTS) == {"sqlite", "postgresql", "mysql", "mariadb"} == set(dialects.DRIVERS)


@pytest.mark.slow
def test_missing_database_is_created_with_connect_timeout_in_uri(servers: Servers) -> None:
    with servers.database("postgresql") as database:
        name = f"{database.name}_patient"
        uri = make_url(database.uri).set(database=name).update_query_dict({"connect_timeout": "5"})
        try:
            open_store(uri.render_as_string(hide_password=False)).close()
        finally:
            with administrator(database, own=False) as admin:
                admin.execute(f'DROP DATABASE IF EXISTS "{name}"')
