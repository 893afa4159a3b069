"""The migrations make what the tables say, from an installed package and from a zip."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from datetime import UTC, datetime, timedelta
from importlib.resources import files
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from alembic import command, op
from alembic.autogenerate import compare_metadata
from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from invented_articles import article, invented
from servers import Servers
from sqlalchemy import JSON, Float, create_engine, inspect, text

from newsportal.errors import StoreTooNew
from newsportal.storage import open_store, print_index
from newsportal.storage.forms import FORMS
from newsportal.storage.sql import prints, schema, steps
from newsportal.storage.sql.dialects import open_engine, reading
from newsportal.storage.sql.tables import METADATA

MIGRATIONS = files("newsportal.storage.sql") / "migrations"


def differ(_context: object, _found: object, _declared: object, found: object, declared: object) -> bool | None:
    """MySQL calls a ``FLOAT(53)`` a ``DOUBLE``; of all else Alembic says whether it differs."""
    return False if isinstance(found, Float) and isinstance(declared, Float) else None


def test_migrations_make_the_tables(sql_uri: str) -> None:
    engine = open_engine(sql_uri)
    schema.prepare(engine)
    with reading(engine) as connection:
        assert schema.version(connection) == schema.HEAD
        context = MigrationContext.configure(connection, opts={"compare_type": differ, "compare_server_default": True})
        assert {form.name for form in FORMS} == set(METADATA.tables) > {"articles", "threads", "outbox"}, "the tables of all rooms"
        assert compare_metadata(context, METADATA) == []
    engine.dispose()


def test_head_is_the_last_step() -> None:
    with schema.folder(MIGRATIONS) as folder:
        config = Config()
        config.set_main_option("script_location", str(folder))
        assert ScriptDirectory.from_config(config).get_heads() == [schema.HEAD]


def test_every_step_can_be_taken_back(sql_uri: str) -> None:
    engine = open_engine(sql_uri)
    with engine.begin() as connection:
        schema.migrate(connection, None, "memory")
        with schema.folder(MIGRATIONS) as folder:
            config = Config(attributes={"connection": connection})
            config.set_main_option("script_location", str(folder))
            command.downgrade(config, "base")
        assert set(inspect(connection).get_table_names()) <= {"alembic_version", "sqlite_sequence"}
    engine.dispose()


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
            told = connection.execute(text(COLLATIONS), {"place": database.name if server == "mariadb" else "public"})
            texts = {f"{table}.{column}": found for table, column, found in told if column not in JSON_COLUMNS}
        engine.dispose()
    assert {name: found for name, found in texts.items() if found != collation} == {}
    assert len(texts) > 100


STARTER = """
import sys
from newsportal.storage import open_store
open_store(sys.argv[1]).close()
"""


@pytest.mark.slow
def test_processes_that_start_at_once_make_the_tables_once(sql_uri: str) -> None:
    starters = [subprocess.Popen([sys.executable, "-c", STARTER, sql_uri], stderr=subprocess.PIPE, text=True) for _ in range(3)]
    assert [(process.communicate(timeout=120)[1], process.returncode) for process in starters] == [("", 0)] * 3
    store = open_store(sql_uri)
    assert store.tally().articles == 0
    store.close()


@pytest.mark.slow
def test_a_migration_that_was_killed_is_finished_by_the_next(server_uri: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """MariaDB ends its transaction at every table: what was made stays, and is not in the way."""
    if not server_uri.startswith(("postgresql", "mysql", "mariadb")):
        pytest.skip("no tables there")
    made = 0

    def killed(*arguments: Any, **options: Any) -> None:
        nonlocal made
        made += 1
        if made == 20:
            raise KeyboardInterrupt
        op.create_index(*arguments, **options)

    with monkeypatch.context() as patched:
        patched.setattr(
            steps, "op", SimpleNamespace(get_bind=op.get_bind, create_table=op.create_table, add_column=op.add_column, create_index=killed)
        )
        with pytest.raises(KeyboardInterrupt):
            open_store(server_uri)
    store = open_store(server_uri)
    store.add(article("a"), now=datetime.now(UTC))
    store.close()
    engine = open_engine(server_uri)
    with reading(engine) as connection:
        context = MigrationContext.configure(connection, opts={"compare_type": differ, "compare_server_default": True})
        assert compare_metadata(context, METADATA) == []
    engine.dispose()


@pytest.mark.slow
def test_a_later_version_is_refused_in_every_database(sql_uri: str) -> None:
    open_store(sql_uri).close()
    engine = open_engine(sql_uri)
    with engine.begin() as connection:
        connection.exec_driver_sql("UPDATE alembic_version SET version_num = '9999'")
    engine.dispose()
    with pytest.raises(StoreTooNew, match="pip install -U newsportal"):
        open_store(sql_uri)


def test_a_store_from_before_fingerprints_gets_them_and_its_stories_draw_reposts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(prints, "FILLED", 2)  # several reads
    uri, recent = f"sqlite:///{tmp_path}/news.db", datetime.now(UTC)
    store = open_store(uri)
    for number in range(5):
        store.add(article(str(number), text=invented(number), published=None), now=recent)
    store.add(article("old", text=invented(9), published=None), now=recent - print_index.SPAN - timedelta(days=1))
    store.close()
    _take_back(uri, "0002")
    store = open_store(uri)
    for number in range(5):
        assert store.add(article(f"repost {number}", text=invented(number), published=None), now=recent).outcome == "folded"
    assert store.add(article("new", text=invented(9), published=None), now=recent).outcome == "stored", (
        "what is out of the window stays out"
    )
    assert len(store.changes(0)) == 12
    store.close()


def _take_back(uri: str, revision: str) -> None:
    engine = create_engine(uri)
    with engine.begin() as connection, schema.folder(MIGRATIONS) as folder:
        config = Config(attributes={"connection": connection})
        config.set_main_option("script_location", str(folder))
        command.downgrade(config, revision)
    engine.dispose()


def test_migrations_in_an_egg_are_unpacked(tmp_path: Path) -> None:
    egg = tmp_path / "newsportal.egg"
    with schema.folder(MIGRATIONS) as folder, zipfile.ZipFile(egg, "w") as archive:
        for file in folder.rglob("*.py*"):
            archive.write(file, Path("migrations") / file.relative_to(folder))
    with schema.folder(zipfile.Path(egg, "migrations/")) as unpacked:
        assert (unpacked / "env.py").read_text() == (MIGRATIONS / "env.py").read_text()
        assert list((unpacked / "versions").glob("0001*.py"))
    assert not unpacked.exists()
