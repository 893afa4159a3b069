"""A full, locked, read-only or newer store: nothing is lost, and the message suggests a remedy."""

from __future__ import annotations

import json
import os
import sqlite3
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pytest
from factories import NOW, article, empty_index, empty_store, uri_of

from newsportal.errors import StoreUnavailable
from newsportal.search import open_index
from newsportal.search.base import Query
from newsportal.store import open_store

pytestmark = pytest.mark.slow

SMALL_FILE = 900 * 1024
"""Bytes: enough for the tables (about 620 kB, as file and as write-ahead log), not for the links of all list pages."""

SMALL_DISK = 3500 * 1024
"""Bytes: enough for the tables, the links and some articles, not for all."""


def mounted(folder: Path, *options: str) -> bool:
    command = ["mount", "-t", "tmpfs", "-o", ",".join(options), "tmpfs", str(folder)]
    return os.geteuid() == 0 and subprocess.run(command, capture_output=True, check=False).returncode == 0


@contextmanager
def own_disk(folder: Path, room: int) -> Iterator[None]:
    """Mount a disk of ``room`` bytes at ``folder``."""
    folder.mkdir(parents=True)
    if not mounted(folder, f"size={room}"):
        pytest.skip("only root may mount a small disk")
    try:
        yield
    finally:
        subprocess.run(["umount", "-l", str(folder)], capture_output=True, check=False)


def ended_early(done: subprocess.CompletedProcess[str]) -> dict[str, Any]:
    """Return the report of a crawl ended by its store."""
    assert done.returncode == 1
    assert "the crawl failed: store-unavailable; fix the cause and run it again: nothing is lost" in done.stderr
    report = json.loads(done.stdout)
    for row in report["sources"]:
        assert row["new"] == row["parsed"] + sum(row["failed"].values()) + row["left"], row
        assert row["parsed"] == row["stored"] + row["folded"] + row["same"], row
    return report


def test_full_disk_ends_crawl_without_loss(portal: Any, undisturbed: Any) -> None:
    with own_disk(portal.database.parent, SMALL_DISK):
        done = portal.run_crawl("hub")
        total = ended_early(done)["total"]
        assert total["left"] + total["failed"].get("store-unavailable", 0) > 0  # whether pages were being processed is chance
        assert "the disk is full; free space" in done.stderr
        assert set(portal.identities()) < set(undisturbed["hub"])
        subprocess.run(["mount", "-o", "remount,size=50m", str(portal.database.parent)], check=True, capture_output=True)
        portal.crawl_report("hub")
        assert portal.identities() == undisturbed["hub"]
        assert portal.waiting() == 0


LIMITED = f"import resource as it, newsportal.cli as cli; it.setrlimit(it.RLIMIT_FSIZE, ({SMALL_FILE}, {SMALL_FILE})); cli.main()"
"""The command line with a limit of the size of files."""


def test_file_size_limit_ends_crawl_without_loss(portal: Any, undisturbed: Any) -> None:
    ended_early(portal.run_crawl("hub", script=LIMITED))
    assert set(portal.identities()) < set(undisturbed["hub"])
    portal.crawl_report("hub")
    assert portal.identities() == undisturbed["hub"]


def test_locked_store_is_waited_for(portal: Any, undisturbed: Any) -> None:
    crawl = portal.start("hub")
    portal.wait_until(lambda: len(portal.identities()) >= 10)
    holder = threading.Thread(target=hold, args=(portal.database, 3.0))
    holder.start()
    output, errors = crawl.communicate(timeout=900)
    holder.join()
    assert (crawl.returncode, errors) == (0, "")
    assert json.loads(output)["total"]["failed"] == {}
    assert portal.identities() == undisturbed["hub"]


def hold(database: Path, seconds: float) -> None:
    """Lock the database for long, as another process would (to SQLite another connection is the same)."""
    with closing(sqlite3.connect(database, timeout=600, isolation_level=None)) as connection:
        connection.execute("BEGIN IMMEDIATE")
        time.sleep(seconds)
        connection.execute("ROLLBACK")


def test_concurrent_crawls_store_nothing_twice(portal: Any, undisturbed: Any) -> None:
    crawls = [portal.start("hub") for _ in range(2)]
    for crawl in crawls:
        output, errors = crawl.communicate(timeout=900)
        assert (crawl.returncode, "Traceback" in errors) == (0, False), errors[-3000:]
        total = json.loads(output)["total"]
        assert total["parsed"] == total["stored"] + total["folded"] + total["same"]
    assert portal.identities() == undisturbed["hub"]
    assert portal.waiting() == 0


def test_newer_store_is_refused(portal: Any) -> None:
    portal.crawl_report("rss", "--source", "溪峰在线")
    with closing(sqlite3.connect(portal.database)) as connection:
        connection.execute("UPDATE alembic_version SET version_num = '9999'")
        connection.commit()
    done = portal.run_crawl("rss")
    assert (done.returncode, done.stdout) == (1, "")
    assert "schema '9999'" in done.stderr
    assert "pip install -U newsportal" in done.stderr


def test_read_only_store_is_reported(portal: Any) -> None:
    with read_only(portal):
        done = portal.run_crawl("rss")
    assert (done.returncode, done.stdout) == (1, "")
    assert str(portal.database) in done.stderr
    assert "it cannot be" in done.stderr  # "opened" or "written to", depending on SQLite
    assert "; check " in done.stderr


@contextmanager
def read_only(portal: Any) -> Iterator[None]:
    """Make the store read-only; for root that needs a disk mounted read-only."""
    folder = portal.database.parent
    if os.geteuid() != 0:
        portal.crawl_report("rss", "--source", "溪峰在线")
        folder.chmod(0o555)
        portal.database.chmod(0o444)
        yield
        folder.chmod(0o755)
        return
    with own_disk(folder, 20 << 20):
        portal.crawl_report("rss", "--source", "溪峰在线")
        with closing(sqlite3.connect(portal.database)) as connection:
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")  # the last connection to be closed then removes SQLite's log
        assert not portal.database.with_name(f"{portal.database.name}-wal").exists()
        read_only = ["mount", "-o", "remount,ro", str(folder)]  # readers that the crawl forked end after it, and have its files open
        portal.wait_until(lambda: subprocess.run(read_only, check=False, capture_output=True).returncode == 0)
        yield


def test_store_on_a_read_only_disk_is_read_and_searched(tmp_path: Path) -> None:
    disk = tmp_path / "盘 #%"
    with own_disk(disk, 20 << 20):
        with closing(empty_store(disk / "news.db")) as store, closing(empty_index(disk / "index.db")) as index:
            store.add(article("a", title="黄山"), now=NOW)
            index.follow(store)
        subprocess.run(["mount", "-o", "remount,ro", str(disk)], check=True, capture_output=True)
        with closing(open_store(uri_of(disk / "news.db"))) as store, closing(open_index(uri_of(disk / "index.db"))) as index:
            assert [found.title for found in store.all_articles()] == ["黄山"]
            index.follow(store)
            assert index.search(Query("黄山")).total == 1
            with pytest.raises(StoreUnavailable, match=r"cannot be written to.*read-only"):
                store.add(article("b"), now=NOW)


def test_invalid_database_is_reported(portal: Any) -> None:
    portal.database.parent.mkdir(parents=True)
    portal.database.write_bytes("这不是数据库。".encode() * 500)
    done = portal.run_crawl("rss")
    assert (done.returncode, done.stdout) == (1, "")
    assert "it is not an SQLite database" in done.stderr
