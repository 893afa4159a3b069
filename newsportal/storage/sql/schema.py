"""Bring a database to this version's schema (Alembic), and refuse one of a later version.

An up-to-date database costs one query and never loads Alembic.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.resources import as_file, files
from importlib.resources.abc import Traversable
from pathlib import Path
from tempfile import TemporaryDirectory

from sqlalchemy import Connection, Engine, inspect, text

from newsportal.errors import StoreTooNew
from newsportal.storage.sql import prints
from newsportal.storage.sql.dialect import half_restored
from newsportal.storage.sql.dialects import place, reading, write_ahead, writing

HEAD = "0012"
"""The newest revision in ``migrations/versions`` (a test compares the two)."""

PRINTS_SINCE = "0003"
"""The revision that brought fingerprints of texts: a database from before gets those of its articles when it is migrated."""

VERSION_TABLE = "alembic_version"

RESTORING = "restoring "
"""Stands before the revision while a backup is written into the database, and the backup's name behind it: 32 characters at most."""


@dataclass(frozen=True, slots=True)
class Line:
    """A line of migrations: ``head`` its newest revision, ``scripts`` the folder, ``table`` where a database keeps its revision.

    ``then`` is called with the connection and the revision that was found when an older database was brought up.
    """

    head: str
    scripts: Traversable
    table: str
    then: Callable[[Connection, str], None] = lambda _connection, _found: None


def _filled(connection: Connection, found: str) -> None:
    if found < PRINTS_SINCE:
        prints.fill(connection, datetime.now(UTC))


STORE = Line(HEAD, files("newsportal.storage.sql") / "migrations", VERSION_TABLE, _filled)


def prepare(engine: Engine, line: Line = STORE, *, unfinished: bool = False) -> None:
    """Make or migrate the tables. Safe when several processes start at once: the first one does it, the others find it done.

    Raises ``StoreTooNew`` for a database that a later newsportal wrote, ``StoreUnfinished`` for one that holds a part of a backup, unless
    ``unfinished`` says that somebody goes on with it.
    """
    with reading(engine) as connection:
        if _is_ready(version(connection, line), line, place(engine), unfinished):
            return
    write_ahead(engine)
    with writing(engine) as connection:
        found = version(connection, line)
        if not _is_ready(found, line, place(engine), unfinished):
            migrate(connection, found, place(engine), line)
            if found is not None:
                line.then(connection, found)


def _is_ready(found: str | None, line: Line, where: str, unfinished: bool) -> bool:
    if found is None or not found.startswith(RESTORING):
        return found == line.head
    if not unfinished:
        raise half_restored(where)
    return True


def restoring(connection: Connection) -> str | None:
    """The backup that is being written into the database. One that another version of newsportal began has another name."""
    found = version(connection) or ""
    return found.removeprefix(RESTORING).removeprefix(f"{HEAD} ") if found.startswith(RESTORING) else None


def mark(connection: Connection, backup: str | None) -> None:
    """Note that ``backup`` (at most 16 characters) is written into the database, or that it is whole. No newsportal opens it meanwhile."""
    told = HEAD if backup is None else f"{RESTORING}{HEAD} {backup}"
    connection.execute(text(f"UPDATE {VERSION_TABLE} SET version_num = :told"), {"told": told})  # noqa: S608  a constant


def version(connection: Connection, line: Line = STORE) -> str | None:
    """The schema revision of the database, None for an empty one."""
    if not inspect(connection).has_table(line.table):
        return None
    found: str | None = connection.scalar(text(f"SELECT version_num FROM {line.table}"))  # noqa: S608  a constant
    return found


def migrate(connection: Connection, found: str | None, where: str, line: Line = STORE) -> None:
    """Run the migrations that are missing, inside the caller's transaction."""
    from alembic import command
    from alembic.config import Config
    from alembic.script import ScriptDirectory
    from alembic.util import CommandError

    with folder(line.scripts) as scripts:
        config = Config(attributes={"connection": connection, "table": line.table})
        config.set_main_option("script_location", str(scripts).replace("%", "%%"))
        try:
            ScriptDirectory.from_config(config).get_revision(found or line.head)
        except CommandError as error:
            raise StoreTooNew(
                f"{where}: the database has schema {found!r}, which this newsportal does not know (its own is {line.head}); "
                "a later version wrote it: upgrade with `pip install -U newsportal`, or name another store in sources.yaml"
            ) from error
        command.upgrade(config, "head")


@contextmanager
def folder(resource: Traversable) -> Iterator[Path]:
    """``resource`` as a real folder. In an egg or zip it is unpacked for the time being (Python 3.11's ``as_file`` takes files alone)."""
    if isinstance(resource, Path):
        yield resource
        return
    with TemporaryDirectory() as place_for_it:
        yield _unpack(resource, Path(place_for_it) / resource.name)


def _unpack(resource: Traversable, target: Path) -> Path:
    if resource.is_dir():
        target.mkdir()
        for child in resource.iterdir():
            _unpack(child, target / child.name)
    else:
        with as_file(resource) as file:
            target.write_bytes(file.read_bytes())
    return target
