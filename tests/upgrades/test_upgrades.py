"""The files of every released version open in this one: store, accounts, models and ``sources.yaml``.

A folder per version, written by ``write_files.py`` at its release and never changed. A table that changes without a step in ``migrations/``
fails here.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Final

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from factories import CHEAP, NOW, article, uri_of

from newsportal.classify.base import restore
from newsportal.services.accounts import LINE, open_accounts
from newsportal.services.accounts.tables import METADATA as ACCOUNT_TABLES
from newsportal.sources import load
from newsportal.store import open_store, schema
from newsportal.store.copying import find_faults
from newsportal.store.dialects import open_engine, reading
from newsportal.store.results import StoryFilter
from newsportal.store.schema import MigrationChain
from newsportal.store.store import Store

VERSIONS: Final = sorted(folder.name for folder in Path(__file__).parent.glob("[0-9]*"))


@pytest.fixture(params=VERSIONS)
def released(request: pytest.FixtureRequest) -> Path:
    return Path(__file__).parent / str(request.param)


def opened(sql: Path, folder: Path) -> Path:
    file = folder / f"{sql.stem}.db"
    with closing(sqlite3.connect(file)) as connection:
        connection.executescript(sql.read_text("utf-8"))
    return file


@pytest.fixture
def store(released: Path, tmp_path: Path) -> Iterator[Store]:
    with closing(open_store(uri_of(opened(released / "store.sql", tmp_path)), create=False)) as found:
        yield found


def differences(file: Path, chain: MigrationChain) -> list[object]:
    engine = open_engine(uri_of(file))
    with reading(engine) as connection:
        assert schema.version(connection, chain) == chain.head
        options = {"version_table": chain.table, "compare_type": True, "compare_server_default": True}
        found = compare_metadata(MigrationContext.configure(connection, opts=options), chain.tables)
    engine.dispose()
    return list(found)


def rows(sql: Path) -> dict[str, int]:
    """Return the number of rows that the version wrote into each table."""
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.executescript(sql.read_text("utf-8"))
        tables = [name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        return {name: connection.execute(f'SELECT count(*) FROM "{name}"').fetchone()[0] for name in tables}


def test_store_is_migrated_to_current_tables(store: Store, released: Path, tmp_path: Path) -> None:
    assert differences(tmp_path / "store.db", schema.STORE) == []
    assert find_faults(store.records) == []
    then = {name: number for name, number in rows(released / "store.sql").items() if name in schema.STORE.tables.tables}
    with closing(sqlite3.connect(tmp_path / "store.db")) as connection:
        assert {name: connection.execute(f'SELECT count(*) FROM "{name}"').fetchone()[0] for name in then} == then


def test_articles_are_readable_and_new_ones_can_be_added(store: Store) -> None:
    corrected = next(article for article in store.all_articles() if article.corrected)
    assert (corrected.title, corrected.corrected_by) == ("旧粮仓里的图书馆", "林编辑")
    before = store.last_seq()
    new = store.add(article("new"), now=NOW)
    assert new.story_id in {story.id for story in store.stories(StoryFilter()).stories}
    assert [change.id for change in store.changes(before)] == [new.id]


def test_model_still_classifies(store: Store) -> None:
    newest = store.corpora.models("categories")[0]
    found = restore(store.corpora.blob("categories", newest.version))
    assert found.labels == ("体育", "财经")
    assert found.classify("联赛", "客队守门员在联赛终场前扑救不及，主队攻入一球。").label == "体育"


def test_accounts_are_migrated_to_current_tables(released: Path, tmp_path: Path) -> None:
    file = opened(released / "accounts.sql", tmp_path)
    with closing(open_accounts(uri_of(file), hasher=CHEAP)) as accounts:
        person = accounts.people.authenticate("林", "correct horse battery staple")
        assert person is not None
        assert list(accounts.marks.filter_marked(["story", "other"])) == ["story"]
        assert [entry.action for entry in accounts.audit_log.entries()] == ["source.add"]
    assert LINE.tables is ACCOUNT_TABLES
    assert differences(file, LINE) == []


def test_sources_are_loaded(released: Path) -> None:
    found = load(released / "sources.yaml", {})
    assert {"中新网滚动", "某站"} <= {feed.name for feed in found.feeds}
    assert found.topics
    assert found.regions
    assert found.publish
