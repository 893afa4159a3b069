"""MariaDB and MySQL through PyMySQL. A write transaction holds a named lock of its database (``GET_LOCK``), taken before it begins."""

from collections.abc import Mapping
from functools import cache, partial
from typing import Any, Final

from sqlalchemy import Connection, Engine, Insert, Table, create_engine, event
from sqlalchemy.dialects import mysql
from sqlalchemy.engine import URL

from newsportal.errors import ServerUnavailable, StoreError, StoreUnavailable
from newsportal.items import content_id
from newsportal.store.dialect import REST_SECONDS, SERVER_POOL, WRITES, Dialect, Timeouts, missing_driver, no_store, place_of

COLLATIONS: Final = {"mysql": "utf8mb4_0900_bin", "mariadb": "utf8mb4_nopad_bin"}
"""Exact comparison, including trailing blanks, and sorting by code point, as in SQLite."""

OLDEST: Final = {"mysql": (8, 0, 17), "mariadb": (10, 6)}  # Older versions lack such a collation, or reuse numbers after a restart
MODE: Final = "STRICT_ALL_TABLES,ERROR_FOR_DIVISION_BY_ZERO,ONLY_FULL_GROUP_BY,NO_ENGINE_SUBSTITUTION"
"""SQL modes under which values are never truncated or converted silently."""

AGAIN: Final = "try again; nothing was partly written"
FULL: Final = ("the server's disk is full", "free space there; nothing was partly written")
DENIED: Final = ("the server rejects this user", "check user, password and database in the store URI, and the user's host on the server")
FORBIDDEN: Final = ("this user lacks the permission", "grant the user the right to create and write tables: GRANT ALL ON database.* TO …")
READ_ONLY: Final = ("it cannot be written to", "the server is read-only: name the primary in the store URI, or switch read_only off there")
BROKE: Final = ("the connection broke", AGAIN)
AWAY: Final = ("the server does not answer", "start it, or check host and port in the store URI, then try again")
SLOW: Final = ("the server took too long to answer, or an administrator ended the statement", AGAIN)
REMEDIES: Final[Mapping[int, tuple[str, str]]] = {
    **dict.fromkeys((2002, 2003, 2005), AWAY),
    **dict.fromkeys((0, 1053, 1077, 1079, 1152, 1158, 1159, 1160, 1161, 1927, 2006, 2013, 2014, 2055), BROKE),
    **dict.fromkeys((1044, 1045, 1130, 1251, 1698, 4151), DENIED),
    **dict.fromkeys((1142, 1143, 1227, 1370), FORBIDDEN),
    **dict.fromkeys((1290, 1792, 1836, 3100), READ_ONLY),
    **dict.fromkeys((3, 28, 1021, 1114), FULL),
    **dict.fromkeys((1317, 1969, 3024, 4031), SLOW),
    **dict.fromkeys((126, 127, 144, 145, 1034, 1035, 1194, 1195), ("a table is damaged", "see the server's log, and restore a backup")),
    1040: ("the server has too many connections", "close some, or raise max_connections there, then try again"),
    1203: ("this user has too many connections", "close some, or raise max_user_connections there, then try again"),
    1226: ("this user has reached a limit of the server", "wait, or raise the user's limits there"),
    1049: ("there is no such database", "create it, or check its name in the store URI"),
    1129: ("the server blocks this host after many broken connections", "run FLUSH HOSTS there"),
    1153: ("the data is larger than the server accepts", "raise max_allowed_packet there (at least 64M for models)"),
    1205: ("another process has held a lock for too long", "wait for that process or stop it, then try again"),
    1213: ("another transaction waited for this one (deadlock)", AGAIN),
    1020: ("another transaction changed the same rows", AGAIN),
}
"""Error number -> cause, remedy."""


def open_mysql(url: URL, create: bool, waits: Timeouts) -> Engine:
    """Implement ``Dialect.open``. The server reports whether it is MariaDB or MySQL."""
    try:
        import pymysql  # noqa: F401  report a missing driver early
    except ModuleNotFoundError as error:
        raise missing_driver(url.get_backend_name(), "mysql") from error
    if not url.database:
        raise StoreError(f"{place_of(url)}: the store URI has no database name (for example mysql://user:password@localhost/newsportal)")
    defaults = {
        "charset": "utf8mb4", "connect_timeout": int(waits.connect), "read_timeout": int(waits.answer), "write_timeout": int(waits.answer),
    }  # fmt: skip
    kind = _detect_kind(url, create, defaults | {"read_timeout": int(waits.connect)})
    engine = create_engine(
        url.set(drivername=f"{kind}+pymysql"),
        **SERVER_POOL,
        connect_args={name: value for name, value in defaults.items() if name not in url.query},
    )
    event.listen(engine, "connect", partial(_prepare, waits))
    event.listen(engine, "begin", partial(_begin, waits))
    return engine


def _detect_kind(url: URL, create: bool, defaults: Mapping[str, Any]) -> str:
    """Return ``mariadb`` or ``mysql``, after creating a missing database. Raises ``StoreError``."""
    import pymysql

    _, options = mysql.pymysql.dialect().create_connect_args(url)
    options = {**defaults, **options}
    try:
        try:
            greeting = _greeting(pymysql.connect(**options))
        except pymysql.err.OperationalError as error:
            if error.args[0] != 1049:
                raise
            if not create:
                raise no_store(place_of(url)) from error
            _create_database(url, options)
            greeting = _greeting(pymysql.connect(**options))
    except pymysql.err.MySQLError as error:
        raise explain_error(error, place_of(url)) from error
    except (TypeError, ValueError, AttributeError, OSError) as error:  # raised by PyMySQL for unknown parameters
        raise StoreError(
            f"{place_of(url)}: PyMySQL cannot parse the store URI ({type(error).__name__}); "
            "check the parameters after the ? and their files; user and password must be in Latin-1"
        ) from error
    kind = "mariadb" if "mariadb" in greeting.lower() else "mysql"
    check_version(kind, greeting, place_of(url))
    return kind


def check_version(kind: str, greeting: str, place: str) -> None:
    """Raise ``StoreError`` if the server is too old, according to its greeting."""
    numbers = greeting.removeprefix("5.5.5-").partition("-")[0].split(".")  # prefix that MariaDB sends for replicas of MySQL
    if tuple(int(number) for number in numbers if number.isdigit()) < OLDEST[kind]:
        oldest = ".".join(map(str, OLDEST[kind]))
        raise StoreError(
            f"{place}: {greeting} is too old for a store; {'MariaDB' if kind == 'mariadb' else 'MySQL'} {oldest} or later is required"
        )


def _greeting(connection: Any) -> str:
    """Return the server's version string, such as ``5.5.5-10.11.6-MariaDB``."""
    greeting = str(connection.get_server_info())
    connection.close()
    return greeting


def _create_database(url: URL, options: Mapping[str, Any]) -> None:
    import pymysql

    name = (url.database or "").replace("`", "``")
    statement = f"CREATE DATABASE IF NOT EXISTS `{name}` CHARACTER SET utf8mb4"
    server = {key: value for key, value in options.items() if key not in ("database", "db")}
    try:
        with pymysql.connect(**server) as connection, connection.cursor() as cursor:
            cursor.execute(statement)
    except pymysql.err.MySQLError as error:
        raise StoreUnavailable(
            f"{place_of(url)}: there is no such database and this user may not create it ({_message(error)}); "
            f"let an administrator run: {statement}"
        ) from error


def _prepare(waits: Timeouts, connection: Any, _record: object) -> None:
    busy = max(1, int(waits.busy))
    settings = [f"sql_mode = '{MODE}'", f"innodb_lock_wait_timeout = {busy}", f"lock_wait_timeout = {busy}"]
    if "mariadb" in connection.get_server_info().lower():
        settings.append(f"idle_transaction_timeout = {int(waits.idle)}")
    with connection.cursor() as cursor:
        cursor.execute(f"SET SESSION {', SESSION '.join(settings)}")


def _begin(waits: Timeouts, connection: Connection) -> None:
    # take the lock before reading: two writers never decide on the same state
    if not connection.get_execution_options().get(WRITES):
        return
    if connection.exec_driver_sql("SELECT GET_LOCK(%s, %s)", (_lock_name(connection), waits.busy)).scalar() != 1:
        raise StoreUnavailable(
            f"{place_of(connection.engine.url)}: another process has held the write lock for too long; "
            "wait for that process or stop it, then try again"
        )


def allow_idle(connection: Connection) -> bool:
    """Let this session be idle between two queries, and while a result is read slowly."""
    connection.exec_driver_sql(f"SET SESSION net_write_timeout = {REST_SECONDS}")
    if getattr(connection.dialect, "is_mariadb", False):
        connection.exec_driver_sql(f"SET SESSION idle_transaction_timeout = {REST_SECONDS}")
    return True


def release(connection: Connection) -> None:
    """Release the write lock, which belongs to the session and would outlive the transaction. A broken session has none."""
    import pymysql

    if connection.invalidated:
        return
    try:
        cursor = connection.connection.cursor()
        cursor.execute("DO RELEASE_LOCK(%s)", (_lock_name(connection),))
        cursor.close()
    except pymysql.err.MySQLError:
        connection.invalidate()  # the transaction is committed; the lock ends with the session


def _lock_name(connection: Connection) -> str:
    """Return the name of the lock: names are global to the server and limited to 64 characters."""
    return f"newsportal {content_id(connection.engine.url.database or '')}"


@cache
def _insert(table: Table, update: tuple[str, ...]) -> Insert:
    insert = mysql.insert(table)
    if not update:  # IGNORE would hide other errors, too
        key = next(iter(table.primary_key))
        return insert.on_duplicate_key_update({key.name: key})
    return insert.on_duplicate_key_update({name: insert.inserted[name] for name in update})


def explain_error(error: BaseException | None, place: str) -> StoreError:
    """Return the ``StoreError`` for an ``error`` of the driver. Unknown errors keep the driver's message."""
    import pymysql

    number = error.args[0] if isinstance(error, pymysql.err.MySQLError) and error.args else None
    if isinstance(number, int) and number in REMEDIES:
        cause, remedy = REMEDIES[number]
        unavailable = ServerUnavailable if REMEDIES[number] is AWAY else StoreUnavailable
        return unavailable(f"{place}: {cause}; {remedy} ({_message(error)})")
    if isinstance(error, pymysql.err.OperationalError | pymysql.err.InterfaceError):
        return StoreUnavailable(f"{place}: {_message(error)}")
    return StoreError(f"{place}: {_message(error)}")


def _message(error: BaseException | None) -> str:
    arguments = error.args if error is not None else ()
    return " ".join(str(argument) for argument in arguments if argument != "").partition("\n")[0] or type(error).__name__


MYSQL: Final = Dialect(open=open_mysql, insert=_insert, explain=explain_error, counts=False, release=release, allow_idle=allow_idle)
