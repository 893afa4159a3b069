"""The migrations make what the tables say, from an installed package and from a zip."""

from __future__ import annotations

import zipfile
from datetime import UTC, datetime, timedelta
from importlib.resources import files
from pathlib import Path

import pytest
from alembic import command
from alembic.autogenerate import compare_metadata
from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from invented_articles import article, invented
from sqlalchemy import create_engine

from newsportal.storage import open_store, prints, schema
from newsportal.storage.dialects import open_engine, reading
from newsportal.storage.gallery_tables import GALLERIES
from newsportal.storage.picture_tables import PICTURES
from newsportal.storage.reader_tables import SWITCHED_OFF
from newsportal.storage.tables import METADATA
from newsportal.storage.thread_tables import THREADS

MIGRATIONS = files("newsportal.storage") / "migrations"


def test_migrations_make_the_tables(tmp_path: Path) -> None:
    engine = open_engine(f"sqlite:///{tmp_path}/news.db")
    schema.prepare(engine)
    with reading(engine) as connection:
        assert schema.version(connection) == schema.HEAD
        context = MigrationContext.configure(connection, opts={"compare_type": True, "compare_server_default": True})
        assert {table.metadata for table in (THREADS, GALLERIES, PICTURES, SWITCHED_OFF)} == {METADATA}, "their tables are among them"
        assert compare_metadata(context, METADATA) == []
    engine.dispose()


def test_head_is_the_last_step() -> None:
    with schema.folder(MIGRATIONS) as folder:
        config = Config()
        config.set_main_option("script_location", str(folder))
        assert ScriptDirectory.from_config(config).get_heads() == [schema.HEAD]


def test_every_step_can_be_taken_back() -> None:
    engine = create_engine("sqlite://")
    with engine.begin() as connection:
        schema.migrate(connection, None, "memory")
        with schema.folder(MIGRATIONS) as folder:
            config = Config(attributes={"connection": connection})
            config.set_main_option("script_location", str(folder))
            command.downgrade(config, "base")
        left = set(connection.exec_driver_sql("SELECT name FROM sqlite_master WHERE type = 'table'").scalars())
    assert left <= {"alembic_version", "sqlite_sequence"}
    engine.dispose()


def test_a_store_from_before_fingerprints_gets_them_and_its_stories_draw_reposts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(prints, "FILLED", 2)  # several reads
    uri, recent = f"sqlite:///{tmp_path}/news.db", datetime.now(UTC)
    store = open_store(uri)
    for number in range(5):
        store.add(article(str(number), text=invented(number), published=None), now=recent)
    store.add(article("old", text=invented(9), published=None), now=recent - prints.SPAN - timedelta(days=1))
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
