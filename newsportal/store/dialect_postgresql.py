"""PostgreSQL through psycopg 3. A write transaction holds an advisory lock of its database from its first statement to its end."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache, partial
from typing import TYPE_CHECKING, Any, Final

from sqlalchemy import Connection, Engine, create_engine, event
from sqlalchemy.dialects import postgresql
from sqlalchemy.engine import URL

from newsportal.errors import ServerUnavailable, StoreError, StoreUnavailable
from newsportal.store.dialect import REST_SECONDS, SERVER_POOL, WRITES, Dialect, Timeouts, missing_driver, no_store, on_conflict, place_of

if TYPE_CHECKING:
    import psycopg

WRITE_LOCK: Final = 0x6E657773  # the advisory lock of writers ("news"); advisory locks are local to a database
MAINTENANCE: Final = "postgres"  # the database that exists on every server, used to create others
MAINTENANCE_SECONDS: Final = 10  # connection timeout for it, unless the URI sets one
KEPT_ALIVE: Final = {"keepalives_idle": 30, "keepalives_interval": 10, "keepalives_count": 3}
"""TCP keepalives: a dead peer is noticed within a minute."""

AGAIN: Final = "try again; nothing was partly written"
REMEDIES: Final[Mapping[str, tuple[str, str]]] = {
    "53100": ("the server's disk is full", "free space there; nothing was partly written"),
    "53200": ("the server is out of memory", "give it more, or stop something there, then try again"),
    "53300": ("the server has too many connections", "close some, or raise max_connections there, then try again"),
    "25006": (
        "it cannot be written to",
        "the server is read-only (a standby, or default_transaction_read_only): name the primary in the store URI",
    ),
    "55P03": ("another process has held the write lock for too long", "wait for that process or stop it, then try again"),
    "57014": ("the server took too long to answer, or an administrator cancelled the statement", AGAIN),
    "25P03": ("the transaction was idle too long and was aborted", AGAIN),
    "40001": ("another transaction changed the same rows", AGAIN),
    "40P01": ("another transaction waited for this one (deadlock)", AGAIN),
    "42501": ("this user lacks the permission", "grant the user the right to create and write tables: GRANT ALL ON SCHEMA public TO …"),
    "3D000": ("there is no such database", "create it, or check its name in the store URI"),
    "28": ("the server rejects this user", "check user and password in the store URI, and pg_hba.conf on the server"),
    "57P": ("the server is starting or stopping", "wait for it, then try again"),
    "58": ("the server's disk failed to read or write", "check the disk there"),
    "XX000": ("the server had an internal error", "look into its log"),
    "XX": ("the database is damaged", "see the server's log, and restore a backup"),
    "08": ("the connection broke", AGAIN),
}
"""Prefix of an SQLSTATE -> cause, remedy."""


def open_postgresql(url: URL, create: bool, waits: Timeouts) -> Engine:
    try:
        import psycopg
    except ModuleNotFoundError as error:
        raise missing_driver("postgresql", "postgresql") from error
    defaults = {"connect_timeout": int(waits.connect), "application_name": "newsportal", **KEPT_ALIVE}
    engine = create_engine(
        url.set(drivername="postgresql+psycopg"),
        **SERVER_POOL,
        use_native_hstore=False,
        connect_args={name: value for name, value in defaults.items() if name not in url.query},
    )
    event.listen(engine, "do_connect", lambda _dialect, _record, arguments, options: _patient(waits.answer)(*arguments, **options))
    event.listen(engine, "connect", partial(_prepare, waits, place_of(url)))
    event.listen(engine, "begin", _begin)
    try:
        engine.connect().close()
    except Exception as error:
        engine.dispose()
        driver = getattr(error, "orig", error)
        if not isinstance(driver, psycopg.OperationalError) or not _is_missing(engine, driver):
            raise
        if not create:
            raise no_store(place_of(url)) from error
        _create_database(engine)
    return engine


@cache
def _patient(seconds: float) -> Any:
    """Return a ``connect`` function whose connections give up after ``seconds`` without an answer: ``statement_timeout`` is enforced by the
    server, which may itself hang."""
    import psycopg

    class Patient(psycopg.Connection[Any]):
        def wait(self, generator: Any, interval: float = 0.1, timeout: float | None = None) -> Any:
            try:
                return super().wait(generator, interval, timeout or seconds)
            except psycopg.OperationalError as error:
                if timeout is None and error.sqlstate is None and not self.pgconn.error_message:
                    self.pgconn.finish()  # the state of the connection is unknown
                raise

    return Patient.connect


def _prepare(waits: Timeouts, place: str, connection: psycopg.Connection[Any], _record: object) -> None:
    encoding = connection.info.parameter_status("server_encoding")
    if encoding != "UTF8":
        raise StoreError(f"{place}: the database is encoded in {encoding}, which cannot store every text; create one with ENCODING 'UTF8'")
    limits = {"lock_timeout": waits.busy, "statement_timeout": waits.answer, "idle_in_transaction_session_timeout": waits.idle}
    for name, seconds in limits.items():
        connection.execute(f"SET {name} = {int(seconds * 1000)}")
    connection.commit()


def _begin(connection: Connection) -> None:
    # take the lock before reading: two writers never decide on the same state
    if connection.get_execution_options().get(WRITES):
        connection.exec_driver_sql(f"SELECT pg_advisory_xact_lock({WRITE_LOCK})")


def allow_idle(connection: Connection) -> bool:
    """Let this transaction be idle between two queries."""
    connection.exec_driver_sql(f"SET LOCAL idle_in_transaction_session_timeout = {REST_SECONDS * 1000}")
    return False


def _is_missing(engine: Engine, error: psycopg.OperationalError) -> bool:
    """Return whether the server is reachable and lacks the database. Query it instead of parsing the message, which is localized."""
    import psycopg

    if error.sqlstate == "3D000":
        return True
    try:
        with _connect_to_maintenance(engine) as connection:
            found = connection.execute("SELECT 1 FROM pg_database WHERE datname = %s", (_database(engine),)).fetchone()
    except psycopg.Error:
        return False  # the first error explains the problem
    return found is None


def _create_database(engine: Engine) -> None:
    import psycopg
    from psycopg import sql

    place, name = place_of(engine.url), _database(engine)
    statement = sql.SQL("CREATE DATABASE {} ENCODING 'UTF8' TEMPLATE template0").format(sql.Identifier(name))
    try:
        with _connect_to_maintenance(engine) as connection:
            connection.execute(statement)
    except (psycopg.errors.DuplicateDatabase, psycopg.errors.UniqueViolation):
        return  # another process created it concurrently
    except psycopg.Error as error:
        raise StoreUnavailable(
            f"{place}: there is no such database and this user may not create it ({_first_line(error)}); "
            f"let an administrator run: {statement.as_string()} OWNER …"
        ) from error


def _connect_to_maintenance(engine: Engine) -> psycopg.Connection[Any]:
    import psycopg

    _, options = engine.dialect.create_connect_args(engine.url.set(database=MAINTENANCE))
    options.pop("context", None)
    return psycopg.connect(**{"connect_timeout": MAINTENANCE_SECONDS, **options, "autocommit": True})


def _database(engine: Engine) -> str:
    return engine.url.database or engine.url.username or MAINTENANCE


def explain_error(error: BaseException | None, place: str) -> StoreError:
    """Return the ``StoreError`` for an ``error`` of the driver. Unknown errors keep the driver's message."""
    import psycopg

    state = getattr(error, "sqlstate", None) or ""
    for prefix, (cause, remedy) in REMEDIES.items():
        if state.startswith(prefix):
            return StoreUnavailable(f"{place}: {cause}; {remedy} ({_first_line(error)})")
    if isinstance(error, psycopg.OperationalError | psycopg.InterfaceError):
        cause, remedy = "the server does not answer", "start it, or check host, port, user and password in the store URI, then try again"
        return ServerUnavailable(f"{place}: {cause}; {remedy} ({_first_line(error)})")
    return StoreError(f"{place}: {_first_line(error)}")


def _first_line(error: BaseException | None) -> str:
    """Return the first line of the driver's message: the others repeat the statement with its values."""
    return str(error).strip().partition("\n")[0]


POSTGRESQL: Final = Dialect(
    open=open_postgresql,
    insert=partial(on_conflict, postgresql.insert),
    explain=explain_error,
    write_options={"isolation_level": "READ COMMITTED"},  # see what others committed before the lock was acquired
    allow_idle=allow_idle,
)
