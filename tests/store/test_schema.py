"""A new database has the current tables, and migrations bring an older one to them, from an installed package and from a zip file."""

from __future__ import annotations

import zipfile
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from alembic.operations import Operations
from alembic.script import ScriptDirectory
from factories import article
from filled_store import fill
from forked import Started
from servers import Servers
from sqlalchemy import JSON, Connection, Engine, Float, event, inspect, text

from newsportal.errors import StoreTooNew, StoreTooOld
from newsportal.store import open_store, schema
from newsportal.store.columns import METADATA
from newsportal.store.dialects import open_engine, reading, writing
from newsportal.store.link_tables import WORK_TABLES
from newsportal.store.records import FORMS


def types_differ(_context: object, _found: object, _declared: object, found: object, declared: object) -> bool | None:
    """Treat MySQL's ``FLOAT(53)`` and ``DOUBLE`` as equal; leave other comparisons to Alembic."""
    return False if isinstance(found, Float) and isinstance(declared, Float) else None


def test_new_database_has_all_tables(sql_uri: str) -> None:
    engine = open_engine(sql_uri)
    schema.prepare(engine)
    with reading(engine) as connection:
        assert schema.version(connection) == schema.STORE.head
        context = MigrationContext.configure(connection, opts={"compare_type": types_differ, "compare_server_default": True})
        assert (
            {form.name for form in FORMS} | {table.name for table in WORK_TABLES}
            == set(METADATA.tables)
            > {"articles", "threads", "outbox"}
        ), "the tables of all rooms"
        assert compare_metadata(context, METADATA) == []
    engine.dispose()


def test_head_is_the_last_migration() -> None:
    folder = str(schema.STORE.scripts)
    assert ScriptDirectory(folder, version_locations=[folder]).get_heads() == [schema.STORE.head]


def test_migrations_create_current_tables(tmp_path: Path) -> None:
    """Every change of the tables needs a migration."""
    assert schema_of(tmp_path / "first.db", migrate_from_0013) == schema_of(tmp_path / "created.db", schema.create)


DECLARED = "SELECT name, sql FROM sqlite_master WHERE sql IS NOT NULL"


def migrate_from_0013(connection: Connection, line: schema.MigrationChain) -> None:
    for statement in (Path(__file__).parent / "schema-0013.sql").read_text("utf-8").splitlines()[1:]:
        connection.exec_driver_sql(statement)
    schema.migrate(connection, "0013", "here", line)


def schema_of(file: Path, create: Callable[[Connection, schema.MigrationChain], None]) -> dict[str, set[str]]:
    """Return columns, keys and indexes of each table as reported by SQLite, and the revision."""
    engine = open_engine(f"sqlite:///{file}")
    with engine.begin() as connection:
        create(connection, schema.STORE)
        tables = connection.exec_driver_sql("SELECT name FROM sqlite_master WHERE type = 'table'").scalars().all()
        parts = {
            table: {
                str(tuple(row)[first:])
                for pragma, first in (("table_info", 1), ("foreign_key_list", 2), ("index_list", 1))
                for row in connection.exec_driver_sql(f"PRAGMA {pragma}({table})")
            }
            for table in tables
        }
        parts["counted"] = {name for name, sql in connection.exec_driver_sql(DECLARED) if "AUTOINCREMENT" in sql}
        parts["indexes"] = {f"{name} {sql}" for name, sql in connection.exec_driver_sql(DECLARED) if "INDEX" in sql}
        parts["revision"] = {str(schema.version(connection))}
    engine.dispose()
    return parts


def test_too_old_store_error_explains_the_migration(sql_uri: str) -> None:
    open_store(sql_uri).close()
    engine = open_engine(sql_uri)
    with engine.begin() as connection:
        connection.exec_driver_sql("UPDATE alembic_version SET version_num = '0011'")
    engine.dispose()
    with pytest.raises(StoreTooOld, match=r"schema 0011, which this newsportal no longer reads.*`newsportal export .*`newsportal import"):
        open_store(sql_uri)


COLLATIONS = """
    SELECT table_name, column_name, collation_name FROM information_schema.columns
    WHERE table_schema = :place AND table_name <> 'alembic_version' AND data_type IN ('character varying', 'text', 'varchar', 'mediumtext')
"""
JSON_COLUMNS = {column.name for table in METADATA.tables.values() for column in table.columns if isinstance(column.type, JSON)}


@pytest.mark.slow
@pytest.mark.parametrize(("server", "collation"), [("postgresql", "C"), ("mariadb", "utf8mb4_nopad_bin")])
def test_texts_sort_and_compare_by_code_points(servers: Servers, server: str, collation: str) -> None:
    with servers.database(server) as database:
        engine = open_engine(database.uri)
        schema.prepare(engine)
        with reading(engine) as connection:
            rows = connection.execute(text(COLLATIONS), {"place": database.name if server == "mariadb" else "public"})
            texts = {f"{table}.{column}": found for table, column, found in rows if column not in JSON_COLUMNS}
        engine.dispose()
    assert {name: found for name, found in texts.items() if found != collation} == {}
    assert len(texts) > 100


STARTER = """
import sys
from newsportal.store import open_store
open_store(sys.argv[1]).close()
"""


@pytest.mark.slow
def test_processes_starting_together_create_tables_once(sql_uri: str) -> None:
    starters = [Started(sql_uri, script=STARTER) for _ in range(3)]
    assert [(process.communicate(timeout=600)[1], process.returncode) for process in starters] == [("", 0)] * 3
    store = open_store(sql_uri)
    assert store.tally().articles == 0
    store.close()


@pytest.mark.slow
def test_tables_begun_by_a_killed_process_are_completed(server_uri: str) -> None:
    """MariaDB commits after every table: existing tables are kept and do not obstruct."""
    created = 0

    def killed(_connection: object, _cursor: object, statement: str, *_rest: object) -> None:
        nonlocal created
        created += statement.startswith("CREATE INDEX")
        if created == 20:
            raise KeyboardInterrupt

    event.listen(Engine, "before_cursor_execute", killed)
    try:
        with pytest.raises(KeyboardInterrupt):
            open_store(server_uri)
    finally:
        event.remove(Engine, "before_cursor_execute", killed)
    store = open_store(server_uri)
    store.add(article("a"), now=datetime.now(UTC))
    store.close()
    engine = open_engine(server_uri)
    with reading(engine) as connection:
        context = MigrationContext.configure(connection, opts={"compare_type": types_differ, "compare_server_default": True})
        assert compare_metadata(context, METADATA) == []
    engine.dispose()


@pytest.mark.slow
@pytest.mark.parametrize("done", ["", "events"])
def test_migration_on_a_server_continues_a_killed_one(server_uri: str, done: str) -> None:
    """MariaDB keeps the tables that a killed process has created."""
    open_store(server_uri).close()
    engine = open_engine(server_uri)
    with engine.begin() as connection:
        for table in ("event_stories", "event_edits", "event_redirects", "event_position", "assistant_calls", "board_ranks", "events"):
            if table != done:
                METADATA.tables[table].drop(connection)
        for index in METADATA.tables["events"].indexes if done else ():
            index.drop(connection)
        connection.exec_driver_sql("UPDATE alembic_version SET version_num = '0013'")
    open_store(server_uri).close()
    with reading(engine) as connection:
        context = MigrationContext.configure(connection, opts={"compare_type": types_differ, "compare_server_default": True})
        assert compare_metadata(context, METADATA) == []
    engine.dispose()


@pytest.mark.slow
def test_later_version_is_refused_in_every_database(sql_uri: str) -> None:
    open_store(sql_uri).close()
    engine = open_engine(sql_uri)
    with engine.begin() as connection:
        connection.exec_driver_sql("UPDATE alembic_version SET version_num = '9999'")
    engine.dispose()
    with pytest.raises(StoreTooNew, match="pip install -U newsportal"):
        open_store(sql_uri)


STEP = """
import sqlalchemy as sa
from alembic import op

revision, down_revision = "9000", "{head}"


def upgrade() -> None:
    op.add_column("articles", sa.Column("byline_office", sa.Text))
"""


def test_migration_in_an_egg_upgrades_a_database(tmp_path: Path, sql_uri: str) -> None:
    open_store(sql_uri).close()
    egg = tmp_path / "newsportal.egg"
    with zipfile.ZipFile(egg, "w") as archive:
        for file in schema.STORE.scripts.iterdir():
            if file.name.endswith(".py"):
                archive.writestr(f"migrations/{file.name}", file.read_text("utf-8"))
        archive.writestr("migrations/9000_office.py", STEP.format(head=schema.STORE.head))
    packed = zipfile.Path(egg, "migrations/")
    line = replace(schema.STORE, head=schema.newest(packed), scripts=packed)
    engine = open_engine(sql_uri)
    schema.prepare(engine, line)
    with reading(engine) as connection:
        assert schema.version(connection, line) == "9000"
        assert "byline_office" in {column["name"] for column in inspect(connection).get_columns("articles")}
    engine.dispose()
    with pytest.raises(StoreTooNew):
        open_store(sql_uri)


def reverse(renames: schema.Renames) -> schema.Renames:
    former = {new: old for old, new in renames.tables.items()}
    columns = {former.get(table, table): {new: old for old, new in names.items()} for table, names in renames.columns.items()}
    values = {
        table: {
            next((old for old, new in renames.columns[table].items() if new == column), column): {new: old for old, new in pairs.items()}
            for column, pairs in changed.items()
        }
        for table, changed in renames.values.items()
    }
    return schema.Renames(former, columns, values)


def rows_of(uri: str) -> dict[str, list[dict[str, Any]]]:
    with closing(open_store(uri)) as store, store.records.reading() as reader:
        return {form.name: list(reader.rows(form)) for form in FORMS}


@pytest.mark.slow
def test_killed_renaming_is_completed_with_all_rows(sql_uri: str) -> None:
    """In MariaDB each statement is committed: the names that were new when the process was killed are left out."""
    with closing(open_store(sql_uri)) as store:
        fill(store)
    before, engine = rows_of(sql_uri), open_engine(sql_uri)
    with writing(engine) as connection:
        with Operations.context(MigrationContext.configure(connection)):
            schema.rename(reverse(schema.all_renames()[0]))
        connection.exec_driver_sql("UPDATE alembic_version SET version_num = '0014'")
        found = inspect(connection)
        assert {"prints", "fits"} <= set(found.get_table_names())
        assert "ix_outbox_target_state_due" in {index["name"] for index in found.get_indexes("outbox")}
        assert "ix_visits_source_brought_at" in {index["name"] for index in found.get_indexes("visits")}
        assert set(connection.exec_driver_sql("SELECT wanted FROM outbox").scalars()) <= {"there", "gone"}
    renamed = 0

    def killed(_connection: object, _cursor: object, statement: str, *_rest: object) -> None:
        nonlocal renamed
        renamed += statement.startswith("ALTER TABLE")
        if renamed == 30:
            raise KeyboardInterrupt

    event.listen(Engine, "before_cursor_execute", killed)
    try:
        with pytest.raises(KeyboardInterrupt):
            open_store(sql_uri)
    finally:
        event.remove(Engine, "before_cursor_execute", killed)
    assert rows_of(sql_uri) == before
    with reading(engine) as connection:
        context = MigrationContext.configure(connection, opts={"compare_type": types_differ, "compare_server_default": True})
        assert (schema.version(connection), compare_metadata(context, METADATA)) == (schema.STORE.head, [])
    engine.dispose()
