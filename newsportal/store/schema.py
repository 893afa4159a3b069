"""Bring a database to this version's schema (Alembic), and refuse one of a later version.

An up-to-date database costs one query; neither that nor creating the tables of an empty one loads Alembic.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import Any, Final

from sqlalchemy import Column, Connection, Engine, MetaData, PrimaryKeyConstraint, String, Table, Text, inspect, text
from sqlalchemy.dialects import mysql, sqlite
from sqlalchemy.schema import CreateIndex, CreateTable, ExecutableDDLElement
from sqlalchemy.types import TypeEngine

from newsportal.errors import StoreTooNew, StoreTooOld, StoreUnfinished
from newsportal.store.columns import METADATA
from newsportal.store.dialect import place_of
from newsportal.store.dialect_mysql import COLLATIONS
from newsportal.store.dialects import reading, write_ahead, writing

VERSION_TABLE = "alembic_version"

MYSQL_TABLES: Final = {"engine": "InnoDB", "charset": "utf8mb4"}

RESTORING, COPY = "restoring ", "copy"
"""Prefix of the revision while a backup or a store is copied into the database, followed by the backup's name or ``copy``: at most 32."""


@dataclass(frozen=True, slots=True, eq=False)
class MigrationChain:
    """A chain of migrations: ``head`` is the newest revision, ``scripts`` the folder, ``table`` where a database keeps its revision.

    ``tables``: tables of the newest revision. ``upgrade_path``: instructions for a database older than the first migration.
    """

    head: str
    scripts: Traversable
    table: str
    tables: MetaData
    upgrade_path: str


def newest(scripts: Traversable) -> str:
    """Return the newest revision: file names of migrations begin with theirs."""
    return max(script.name[:4] for script in _scripts(scripts))


def _scripts(folder: Traversable) -> list[Traversable]:
    return [script for script in folder.iterdir() if script.name[:4].isdecimal()]


MIGRATIONS: Final = files("newsportal.store") / "migrations"

STORE = MigrationChain(
    newest(MIGRATIONS),
    MIGRATIONS,
    VERSION_TABLE,
    METADATA,
    "to migrate it, run with the version that wrote it `newsportal export --out articles.jsonl` (articles) or `newsportal backup FOLDER` "
    "(everything), then name another store in sources.yaml and run `newsportal import articles.jsonl` or `newsportal restore FILE`",
)


def prepare(engine: Engine, chain: MigrationChain = STORE, *, unfinished: bool = False) -> None:
    """Create or migrate the tables. Safe when several processes start at once: the first one does it, the others wait.

    Raises ``StoreTooNew`` for a database written by a later version, ``StoreTooOld`` if no migration leads from it, ``StoreUnfinished`` for
    a partly restored backup, unless ``unfinished`` allows that to resume the restore.
    """
    with reading(engine) as connection:
        if _is_ready(version(connection, chain), chain, place_of(engine.url), unfinished):
            return
    write_ahead(engine)
    with writing(engine) as connection:
        found = version(connection, chain)
        if _is_ready(found, chain, place_of(engine.url), unfinished):
            return
        if found is None:
            create(connection, chain)
        else:
            migrate(connection, found, place_of(engine.url), chain)


def create(connection: Connection, chain: MigrationChain = STORE) -> None:
    """Create the tables of the newest revision in an empty database."""
    database = connection.dialect.name
    if database == "sqlite":
        raw = connection.connection.cursor()
        for statement in _statements(chain):
            raw.execute(statement)
        raw.close()
    elif database in COLLATIONS:
        complete(connection, tables_of(chain, database))
    else:
        for table in tables_of(chain, database):
            table.create(connection, checkfirst=False)
    connection.execute(text(f"INSERT INTO {chain.table} (version_num) VALUES (:head)"), {"head": chain.head})  # noqa: S608  a constant


def complete(connection: Connection, tables: Iterable[Table]) -> None:
    """Create the tables and indexes that are missing: MySQL commits after each, so a killed process leaves a part of them."""
    for table in tables:
        table.create(connection, checkfirst=True)
        for index in table.indexes:
            index.create(connection, checkfirst=True)


@cache
def _statements(chain: MigrationChain) -> tuple[str, ...]:
    tables = tables_of(chain, "sqlite")
    elements: list[ExecutableDDLElement] = [*map(CreateTable, tables), *(CreateIndex(index) for table in tables for index in table.indexes)]
    return tuple(str(element.compile(dialect=sqlite.dialect())) for element in elements)


def tables_of(chain: MigrationChain, database: str) -> list[Table]:
    """Return the tables, that of the revision first. Names compare and sort by code point: by default in SQLite, elsewhere by collation."""
    metadata = MetaData(naming_convention=chain.tables.naming_convention)
    column = Column("version_num", String(32), nullable=False)
    versions = Table(chain.table, metadata, column, PrimaryKeyConstraint("version_num", name=f"{chain.table}_pkc"))
    tables = [table.to_metadata(metadata) for table in chain.tables.sorted_tables]
    for table in tables:
        for column in table.columns:
            column.type = exact(column.type, database)
        if database in COLLATIONS:
            table.kwargs.update({f"{database}_{key}": value for key, value in MYSQL_TABLES.items()})
            table.kwargs[f"{database}_collate"] = COLLATIONS[database]
    return [versions, *tables]


def exact(type_: TypeEngine[Any], database: str) -> TypeEngine[Any]:
    """Return a text type with the code point collation of ``database``, in MySQL long ones as ``MEDIUMTEXT``; other types are unchanged."""
    collation = {**COLLATIONS, "postgresql": "C"}.get(database)
    if collation is None or not isinstance(type_, String):
        return type_
    if not isinstance(type_, Text):
        return String(type_.length, collation=collation)
    return Text(collation=collation) if database == "postgresql" else mysql.MEDIUMTEXT(collation=collation)


def _is_ready(found: str | None, chain: MigrationChain, place: str, unfinished: bool) -> bool:
    if found is None or not found.startswith(RESTORING):
        return found == chain.head
    if not unfinished:
        copied = found.endswith(f" {COPY}")
        what, command = ("copy", "store copy` with the same stores again") if copied else ("restore", "restore` with the same file again")
        raise StoreUnfinished(
            f"{place}: a {what} into this store was interrupted or is in progress: it has only a part of the data; to continue, run "
            f"`newsportal {command}, or name another store in sources.yaml"
        )
    return True


def restoring(connection: Connection) -> str | None:
    """Return the backup being restored into the database. The name differs if another version of newsportal began it."""
    found = version(connection) or ""
    return found.removeprefix(RESTORING).removeprefix(f"{STORE.head} ") if found.startswith(RESTORING) else None


def mark_restoring(connection: Connection, backup: str | None) -> None:
    """Note that ``backup`` (at most 16 characters) is being restored, or that it is complete. Meanwhile the database cannot be opened."""
    noted = STORE.head if backup is None else f"{RESTORING}{STORE.head} {backup}"
    connection.execute(text(f"UPDATE {VERSION_TABLE} SET version_num = :noted"), {"noted": noted})  # noqa: S608  a constant


def version(connection: Connection, chain: MigrationChain = STORE) -> str | None:
    """Return the schema revision of the database, ``None`` for an empty one."""
    query = text(f"SELECT version_num FROM {chain.table}")  # noqa: S608  a constant
    found: str | None = connection.scalar(query) if inspect(connection).has_table(chain.table) else None
    return found


def migrate(connection: Connection, found: str, place: str, chain: MigrationChain = STORE) -> None:
    """Run the missing migrations in order, inside the caller's transaction. They are read, not imported: eggs are zip files."""
    from alembic.migration import MigrationContext
    from alembic.operations import Operations

    steps = {script.name[:4]: script for script in _scripts(chain.scripts)}
    if not found.isdecimal() or found > chain.head:  # revisions are increasing numbers
        raise StoreTooNew(
            f"{place}: the database has schema {found!r}, which this version of newsportal does not know (its own is {chain.head}); "
            "a later version wrote it: upgrade with `pip install -U newsportal`, or name another store in sources.yaml"
        )
    if int(found) + 1 < int(min(steps)):
        raise StoreTooOld(f"{place}: the database has schema {found}, which this newsportal no longer reads; {chain.upgrade_path}")
    context = MigrationContext.configure(connection, opts={"version_table": chain.table, "target_metadata": chain.tables})
    with Operations.context(context):
        for revision in sorted(revision for revision in steps if revision > found):
            _loaded(steps[revision])["upgrade"]()
            connection.execute(text(f"UPDATE {chain.table} SET version_num = :revision"), {"revision": revision})  # noqa: S608  a constant


def _loaded(step: Traversable) -> dict[str, Any]:
    values: dict[str, Any] = {}
    exec(step.read_text("utf-8"), values)  # noqa: S102  a file of this package
    return values


@dataclass(frozen=True, slots=True)
class Renames:
    """``tables``: former → new name. ``columns`` and ``values``, by the table's new name: former → new name; column (new name) → former →
    new value. A former name must not be used again: it is renamed in every backup."""

    tables: Mapping[str, str] = field(default_factory=dict)
    columns: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    values: Mapping[str, Mapping[str, Mapping[str, str]]] = field(default_factory=dict)


@cache
def all_renames() -> tuple[Renames, ...]:
    """Return the renames made by the migrations of the store, in order."""
    steps = (_loaded(script) for script in sorted(_scripts(MIGRATIONS), key=lambda script: script.name))
    return tuple(step["RENAMES"] for step in steps if "RENAMES" in step)


def rename(renames: Renames) -> None:
    """Rename in the database of the running migration, with the indexes named ``ix_TABLE_COLUMNS``; names of constraints stay.

    What has its new name already is left out, so that a migration interrupted in MySQL, which commits after every statement, is completed.
    """
    from alembic import op

    connection = op.get_bind()
    quote, server = connection.dialect.identifier_preparer.quote, connection.dialect.name
    former_tables = {new: old for old, new in renames.tables.items()}

    def run(statement: str, *names: str) -> None:
        connection.exec_driver_sql(statement.format(*map(quote, names)))

    for new, old in former_tables.items():
        if inspect(connection).has_table(old):
            run("ALTER TABLE {} RENAME TO {}", old, new)
    for table in sorted({*former_tables, *renames.columns}):
        columns, found = renames.columns.get(table, {}), {column["name"] for column in inspect(connection).get_columns(table)}
        for old in [old for old in columns if old in found]:
            run("ALTER TABLE {} RENAME COLUMN {} TO {}", table, old, columns[old])
        for column, values in renames.values.get(table, {}).items():
            for value, new in values.items():
                run(f"UPDATE {{}} SET {{}} = '{new}' WHERE {{}} = '{value}'", table, column, column)  # noqa: S608  constants
        former = {new: old for old, new in columns.items()}
        for index in inspect(connection).get_indexes(table):
            keys = [str(column) for column in index["column_names"]]
            name = "_".join(("ix", former_tables.get(table, table), *(former.get(column, column) for column in keys)))
            new = "_".join(("ix", table, *keys))
            if index["name"] != name or name == new:
                continue
            if server == "sqlite":
                op.drop_index(name, table)
                op.create_index(new, table, keys)
            elif server == "postgresql":
                run("ALTER INDEX {} RENAME TO {}", name, new)
            else:
                run("ALTER TABLE {} RENAME INDEX {} TO {}", table, name, new)
