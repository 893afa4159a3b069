"""Failures of SQL stores: many processes, a killed writer; for SQLite a full, locked, read-only or foreign file.

Nothing is lost or partly written, and every message says what happened, where, and what to do.
"""

from __future__ import annotations

import os
import shutil
import sqlite3
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier

import pytest
from factories import NOW, SAME_TITLE, article, invented
from forked import Started
from invariants import assert_consistent
from sqlalchemy import event

from newsportal.errors import StoreError, StoreTooNew, StoreUnavailable
from newsportal.store import dialects, open_store
from newsportal.store.store import Store

WRITER = """
import sys
from factories import NOW, article
from newsportal.items import FoldKey
from newsportal.store import open_store

uri, host, count = sys.argv[1], sys.argv[2], int(sys.argv[3])
store = open_store(uri)
for n in range(count):
    added = store.add(article(str(n), host=host, topic="旅游"), [FoldKey(f"story {n % 20}", "same-title")], now=NOW)
    print(added.id, flush=True)
"""
WRITERS = 8
EACH = 8


def writer(uri: str, host: str, count: int, script: str = WRITER) -> Started:
    return Started(uri, host, str(count), script=script, piped=True)


@pytest.mark.slow
def test_eight_processes_lose_nothing(sql_uri: str) -> None:
    """All start with a database without tables and add the same stories."""
    writers = [writer(sql_uri, f"h{n}.example", EACH) for n in range(WRITERS)]
    ids = [line for process in writers for line in process.communicate(timeout=600)[0].split()]
    assert [process.returncode for process in writers] == [0] * WRITERS
    store = open_store(sql_uri)
    assert len(set(ids)) == store.tally().articles == WRITERS * EACH
    assert store.tally().stories == EACH
    assert [change.seq for change in store.changes()] == list(range(1, WRITERS * EACH + 1))
    assert_consistent(store)


@pytest.mark.slow
@pytest.mark.parametrize("after", [1, 30])
def test_killed_writer_leaves_store_consistent(sql_uri: str, after: int) -> None:
    process = writer(sql_uri, "h.example", 100_000)
    ids = [process.stdout.readline().strip() for _ in range(after)]
    process.kill()
    ids += [line for line in process.stdout.read().split() if len(line) == len(ids[0])]
    process.stdout.close()
    process.wait()
    store = open_store(sql_uri)
    stored = {found.id for found in store.all_articles()}
    assert set(ids) <= stored
    assert len(stored) <= len(ids) + 1
    assert len(store.changes(limit=10**6)) == len(stored)
    assert_consistent(store)
    assert store.add(article("0", host="h.example"), now=NOW).outcome == "same"
    store.close()


def test_locked_file_is_waited_for_and_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dialects, "BUSY_SECONDS", 0.2)
    store = open_store(f"sqlite:///{tmp_path}/news.db")
    holder = sqlite3.connect(tmp_path / "news.db", isolation_level=None)
    holder.execute("BEGIN IMMEDIATE")
    started = time.monotonic()
    with pytest.raises(StoreUnavailable, match=r"news\.db: another process has locked it for too long"):
        store.add(article(), now=NOW)
    assert time.monotonic() - started >= 0.2
    assert store.find_stored(["news.example/a"]) == set()  # readers are not blocked
    holder.execute("ROLLBACK")
    holder.close()
    assert store.add(article(), now=NOW).outcome == "stored"
    store.close()


def test_concurrent_creation_of_a_file(tmp_path: Path) -> None:
    """SQLite refuses one of two connections that switch a file to its write-ahead log at once, whatever its timeout."""

    def opened(number: int) -> None:
        barrier.wait()
        open_store(f"sqlite:///{tmp_path}/{number}.db").close()

    barrier = Barrier(4)
    with ThreadPoolExecutor(4) as threads:
        for number in range(30):
            for future in [threads.submit(opened, number) for _ in range(4)]:
                future.result()


def test_full_disk_is_reported_and_store_consistent(tmp_path: Path) -> None:
    """Simulated by SQLite's limit of pages, which gives the same error."""
    store = open_store(f"sqlite:///{tmp_path}/news.db")
    assert isinstance(store, Store)
    with store._engine.connect() as connection:
        pages = connection.exec_driver_sql("PRAGMA page_count").scalar_one() + 60  # beyond the empty tables
    event.listen(store._engine, "begin", lambda connection: connection.exec_driver_sql(f"PRAGMA max_page_count = {pages}"))
    ids: list[str] = []

    def write_until_full() -> None:
        texts = (article(str(n), text="字" * 2000) for n in range(1000))
        ids.extend(store.add(text, [SAME_TITLE], now=NOW).id for text in texts)

    with pytest.raises(StoreUnavailable, match="disk is full; free space"):
        write_until_full()
    stored = len(ids)
    assert 0 < stored == store.tally().articles == len(store.changes())
    pages = 10_000
    assert store.add(article("later"), now=NOW).outcome == "stored"
    store.close()


@pytest.mark.skipif(os.geteuid() == 0, reason="root writes to everything")
def test_read_only_file_is_readable_and_reported(tmp_path: Path) -> None:
    open_store(f"sqlite:///{tmp_path}/news.db").close()
    (tmp_path / "news.db").chmod(0o444)
    store = open_store(f"sqlite:///{tmp_path}/news.db")
    assert store.tally().articles == 0
    with pytest.raises(StoreUnavailable, match="cannot be written to; check the permissions"):
        store.add(article(), now=NOW)
    store.close()


def test_query_only_database_is_reported(tmp_path: Path) -> None:
    store = open_store(f"sqlite:///{tmp_path}/news.db")
    assert isinstance(store, Store)
    with store._engine.connect() as connection:
        raw = connection.connection.cursor()
        raw.execute("PRAGMA query_only = ON")  # as on a read-only mount
        raw.close()
    with pytest.raises(StoreUnavailable, match="cannot be written to; check the permissions"):
        store.add(article(), now=NOW)
    store.close()


def test_file_that_is_not_a_database_is_reported(tmp_path: Path) -> None:
    (tmp_path / "news.db").write_text("这不是数据库" * 200, encoding="utf-8")
    with pytest.raises(StoreUnavailable, match="not an SQLite database; name another file"):
        open_store(f"sqlite:///{tmp_path}/news.db")


def test_folder_that_cannot_be_created_is_reported(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreUnavailable, match="the folder cannot be created"):
        open_store(f"sqlite:///{tmp_path}/file/news.db")
    (tmp_path / "folder").mkdir()
    with pytest.raises(StoreUnavailable, match="cannot be opened; check that"):
        open_store(f"sqlite:///{tmp_path}/folder")


def test_missing_store_is_reported(tmp_path: Path) -> None:
    with pytest.raises(StoreUnavailable, match="no store yet; run `newsportal crawl`"):
        open_store(f"sqlite:///{tmp_path}/news.db", create=False)
    assert not (tmp_path / "news.db").exists()


@pytest.mark.parametrize("uri", ["oracle://localhost/x", "postgres://x/y", "data/news.db", "", "sqlite"])
def test_invalid_store_uri_is_refused(uri: str) -> None:
    with pytest.raises(StoreError, match=r"sqlite:///data/newsportal\.db"):
        open_store(uri)


def test_relative_path_in_uri(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    open_store("sqlite:///数据 库/a%20b.db").close()
    assert (tmp_path / "数据 库" / "a b.db").exists()  # a URI: %20 is a blank


def test_store_of_later_version_is_refused(tmp_path: Path) -> None:
    uri = f"sqlite:///{tmp_path}/news.db"
    open_store(uri).close()
    with sqlite3.connect(tmp_path / "news.db") as connection:
        connection.execute("UPDATE alembic_version SET version_num = '9999'")
    connection.close()
    with pytest.raises(StoreTooNew, match="pip install -U newsportal"):
        open_store(uri)


def test_database_deleted_while_open_is_reported(tmp_path: Path) -> None:
    store = open_store(f"sqlite:///{tmp_path}/data/news.db")
    store.close()  # connections are reopened
    shutil.rmtree(tmp_path / "data")
    with pytest.raises(StoreUnavailable, match=r"news\.db: it cannot be opened"):
        store.tally()


REPOSTER = """
import sys
from factories import NOW, article, invented
from newsportal.store import open_store

uri, host, count = sys.argv[1], sys.argv[2], int(sys.argv[3])
store = open_store(uri)
for n in range(count):
    added = store.add(article(str(n), host=host, title=f"题 {host} {n}", text=invented(n), topic="旅游"), now=NOW)
    print(added.id, flush=True)
"""
"""Adds stories that others add too, recognisable by their texts alone."""


@pytest.mark.slow
def test_concurrent_reposts_make_one_story_each(sql_uri: str) -> None:
    writers = [writer(sql_uri, f"h{n}.example", 15, REPOSTER) for n in range(3)]
    ids = [line for process in writers for line in process.communicate(timeout=600)[0].split()]
    assert [process.returncode for process in writers] == [0] * 3
    store = open_store(sql_uri)
    assert (len(set(ids)), store.tally().articles, store.tally().stories) == (45, 45, 15)
    assert_consistent(store)


@pytest.mark.slow
@pytest.mark.parametrize("after", [5, 60])
def test_reposts_are_found_after_a_kill(tmp_path: Path, after: int) -> None:
    uri = f"sqlite:///{tmp_path}/news.db"
    process = writer(uri, "h.example", 100_000, REPOSTER)
    for _ in range(after):
        process.stdout.readline()
    process.kill()
    process.stdout.close()
    process.wait()
    store = open_store(uri)
    stored = store.tally().articles
    assert stored >= after
    added = [store.add(article(str(n), host="other.example", title=f"又 {n}", text=invented(n)), now=NOW) for n in range(stored)]
    assert {result.outcome for result in added} == {"folded"}
    assert store.tally().stories == stored
    with sqlite3.connect(tmp_path / "news.db") as connection:
        assert connection.execute("SELECT count(*) FROM fingerprints").fetchone() == (2 * stored,)
    connection.close()
    store.close()
