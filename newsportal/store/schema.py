"""Bring a database to this version's schema (Alembic), and refuse one of a later version.

An up-to-date database costs one query; neither it nor an empty SQLite file loads Alembic.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from importlib.resources import as_file, files
from importlib.resources.abc import Traversable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from sqlalchemy import Column, Connection, Engine, MetaData, PrimaryKeyConstraint, String, Table, inspect, text
from sqlalchemy.dialects import sqlite
from sqlalchemy.schema import CreateIndex, CreateTable, ExecutableDDLElement

from newsportal.errors import StoreError, StoreTooNew, StoreTooOld
from newsportal.store.columns import METADATA
from newsportal.store.dialect import half_restored
from newsportal.store.dialects import place, reading, write_ahead, writing

VERSION_TABLE = "alembic_version"

RESTORING = "restoring "
"""Stands before the revision while a backup is written into the database, and the backup's name behind it: 32 characters at most."""


@dataclass(frozen=True, slots=True)
class Line:
    """A line of migrations: ``head`` its newest revision, ``scripts`` the folder, ``table`` where a database keeps its revision.

    ``tables`` are what the migrations make. ``way_over``: what to do with a database of a revision from before the first migration.
    """

    head: str
    scripts: Traversable
    table: str
    tables: MetaData
    way_over: str


def newest(scripts: Traversable) -> str:
    """The newest revision: files of migrations begin with theirs."""
    return max(script.name[:4] for script in scripts.iterdir() if script.name[:4].isdecimal())


MIGRATIONS: Final = files("newsportal.store") / "migrations"

STORE = Line(
    newest(MIGRATIONS),
    MIGRATIONS,
    VERSION_TABLE,
    METADATA,
    "take it over: with the newsportal that wrote it `newsportal export --out articles.jsonl` (articles) or `newsportal backup FOLDER` "
    "(everything), then name another store in sources.yaml and run `newsportal import articles.jsonl` or `newsportal restore FILE`",
)


def prepare(engine: Engine, line: Line = STORE, *, unfinished: bool = False) -> None:
    """Make or migrate the tables. Safe when several processes start at once: the first one does it, the others find it done.

    Raises ``StoreTooNew`` for a database that a later newsportal wrote, ``StoreTooOld`` for one that no migration leads on from,
    ``StoreUnfinished`` for one that holds a part of a backup, unless ``unfinished`` says that somebody goes on with it.
    """
    with reading(engine) as connection:
        if _is_ready(version(connection, line), line, place(engine), unfinished):
            return
    write_ahead(engine)
    with writing(engine) as connection:
        found = version(connection, line)
        if _is_ready(found, line, place(engine), unfinished):
            return
        if found is None and engine.dialect.name == "sqlite":
            create(connection, line)
        else:
            migrate(connection, found, place(engine), line)


def create(connection: Connection, line: Line) -> None:
    """Make the tables of an empty SQLite database as the migrations make them, without loading Alembic."""
    raw = connection.connection.cursor()
    for statement in _statements(line.tables, line.table):
        raw.execute(statement)
    raw.execute(f"INSERT INTO {line.table} (version_num) VALUES (?)", (line.head,))  # noqa: S608  a constant
    raw.close()


@cache
def _statements(tables: MetaData, version_table: str) -> tuple[str, ...]:
    dialect = sqlite.dialect()
    column = Column("version_num", String(32), nullable=False)
    versions = Table(version_table, MetaData(), column, PrimaryKeyConstraint("version_num", name=f"{version_table}_pkc"))
    made = [versions, *tables.sorted_tables]
    elements: list[ExecutableDDLElement] = [*map(CreateTable, made), *(CreateIndex(index) for table in made for index in table.indexes)]
    return tuple(str(element.compile(dialect=dialect)) for element in elements)


def _is_ready(found: str | None, line: Line, where: str, unfinished: bool) -> bool:
    if found is None or not found.startswith(RESTORING):
        return found == line.head
    if not unfinished:
        raise half_restored(where)
    return True


def restoring(connection: Connection) -> str | None:
    """The backup that is being written into the database. One that another version of newsportal began has another name."""
    found = version(connection) or ""
    return found.removeprefix(RESTORING).removeprefix(f"{STORE.head} ") if found.startswith(RESTORING) else None


def mark(connection: Connection, backup: str | None) -> None:
    """Note that ``backup`` (at most 16 characters) is written into the database, or that it is whole. No newsportal opens it meanwhile."""
    told = STORE.head if backup is None else f"{RESTORING}{STORE.head} {backup}"
    connection.execute(text(f"UPDATE {VERSION_TABLE} SET version_num = :told"), {"told": told})  # noqa: S608  a constant


def version(connection: Connection, line: Line = STORE) -> str | None:
    """The schema revision of the database, None for an empty one."""
    if not inspect(connection).has_table(line.table):
        return None
    found: str | None = connection.scalar(text(f"SELECT version_num FROM {line.table}"))  # noqa: S608  a constant
    return found


def migrate(connection: Connection, found: str | None, where: str, line: Line = STORE) -> None:
    """Run the migrations that are missing, inside the caller's transaction."""
    from alembic.migration import MigrationContext
    from alembic.operations import Operations
    from alembic.script import ScriptDirectory
    from alembic.util import CommandError

    with folder(line.scripts) as scripts:
        script = ScriptDirectory(str(scripts), version_locations=[str(scripts)])
        try:
            script.get_revision(found or line.head)
        except CommandError as error:
            raise _unknown(found or "", where, line) from error
        options = {
            "version_table": line.table,
            "target_metadata": line.tables,
            "fn": lambda revision, _: script._upgrade_revs("head", revision),
        }
        context = MigrationContext.configure(connection, opts=options)
        with Operations.context(context):
            context.run_migrations()


def _unknown(found: str, where: str, line: Line) -> StoreError:
    """The error of a database whose revision is none of the migrations'. Revisions are numbers that only grow."""
    if found.isdecimal() and found < line.head:
        return StoreTooOld(f"{where}: the database has schema {found}, which is too old for this newsportal; {line.way_over}")
    return StoreTooNew(
        f"{where}: the database has schema {found!r}, which this newsportal does not know (its own is {line.head}); "
        "a later version wrote it: upgrade with `pip install -U newsportal`, or name another store in sources.yaml"
    )


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
