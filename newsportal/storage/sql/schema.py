"""Bring a database to this version's schema (Alembic), and refuse one of a later version.

An up-to-date database costs one query and never loads Alembic.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from importlib.resources import as_file, files
from importlib.resources.abc import Traversable
from pathlib import Path
from tempfile import TemporaryDirectory

from sqlalchemy import Connection, Engine, inspect, text

from newsportal.errors import StoreTooNew
from newsportal.storage.sql import prints
from newsportal.storage.sql.dialects import place, reading, write_ahead, writing

HEAD = "0009"
"""The newest revision in ``migrations/versions`` (a test compares the two)."""

PRINTS_SINCE = "0003"
"""The revision that brought fingerprints of texts: a database from before gets those of its articles when it is migrated."""

VERSION_TABLE = "alembic_version"


def prepare(engine: Engine) -> None:
    """Make or migrate the tables. Safe when several processes start at once: the first one does it, the others find it done.

    Raises ``StoreTooNew`` for a database that a later newsportal wrote.
    """
    with reading(engine) as connection:
        if version(connection) == HEAD:
            return
    write_ahead(engine)
    with writing(engine) as connection:
        found = version(connection)
        if found != HEAD:
            migrate(connection, found, place(engine))
            if found is not None and found < PRINTS_SINCE:
                prints.fill(connection, datetime.now(UTC))


def version(connection: Connection) -> str | None:
    """The schema revision of the database, None for an empty one."""
    if not inspect(connection).has_table(VERSION_TABLE):
        return None
    found: str | None = connection.scalar(text(f"SELECT version_num FROM {VERSION_TABLE}"))  # noqa: S608  a constant
    return found


def migrate(connection: Connection, found: str | None, where: str) -> None:
    """Run the migrations that are missing, inside the caller's transaction."""
    from alembic import command
    from alembic.config import Config
    from alembic.script import ScriptDirectory
    from alembic.util import CommandError

    with folder(files("newsportal.storage.sql") / "migrations") as scripts:
        config = Config(attributes={"connection": connection})
        config.set_main_option("script_location", str(scripts).replace("%", "%%"))
        try:
            ScriptDirectory.from_config(config).get_revision(found or HEAD)
        except CommandError as error:
            raise StoreTooNew(
                f"{where}: the database has schema {found!r}, which this newsportal does not know (its own is {HEAD}); "
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
