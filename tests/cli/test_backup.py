"""``newsportal backup`` and ``newsportal restore`` as a user runs them."""

from __future__ import annotations

import json
import sqlite3
from contextlib import ExitStack, closing
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

import forked
import pytest
from factories import run_command

from newsportal.cli.store import _open_new_store
from newsportal.errors import BackupError, StoreError, StoreUnfinished
from newsportal.items import Article, Link
from newsportal.store import open_store

NOW = datetime(2026, 3, 1, 8, 0, tzinfo=UTC)
YAML = "store: sqlite:///data/news.db  # 注释\n"

run = partial(run_command, catch=False)


def add(uri: str, name: str) -> None:
    with closing(open_store(uri)) as store:
        link = Link(f"https://h.example/{name}", "feed:快讯")
        store.add(Article(link.url, link, NOW, identity=name, title=f"标题{name}", text=f"正文{name}"), now=NOW)


def titles(uri: str) -> set[str]:
    with closing(open_store(uri, create=False)) as store:
        return {article.title for article in store.all_articles()}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of a portal, as the working directory."""
    portal = tmp_path / "门户"
    portal.mkdir()
    monkeypatch.chdir(portal)
    (portal / "sources.yaml").write_text(YAML, encoding="utf-8")
    add(f"sqlite:///{portal}/data/news.db", "1")
    return tmp_path


def test_portal_moves_to_another_folder(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With its sources.yaml, and a store in a new file."""
    result = run("backup", str(folder / "b.tar.zst"))
    assert f"{folder}/b.tar.zst: " in result.stdout
    (folder / "另一处").mkdir()
    monkeypatch.chdir(folder / "另一处")
    assert "restored to sqlite:///" in run("restore", str(folder / "b.tar.zst")).stdout
    assert (folder / "另一处" / "sources.yaml").read_text("utf-8") == YAML
    assert titles(f"sqlite:///{folder}/另一处/data/news.db") == {"标题1"}
    assert sorted(path.name for path in (folder / "另一处" / "data").iterdir()) == ["news.db"]


def test_existing_store_is_left_alone(folder: Path) -> None:
    run("backup", "b.zip")
    with pytest.raises(BackupError, match="not empty"):
        run("restore", "b.zip")
    result = json.loads(run("restore", "b.zip", "--to", f"sqlite:///{folder}/second.db", "--json").stdout)
    assert (result["store"], result["left_out"]) == (f"sqlite:///{folder}/second.db", 0)
    assert titles(f"sqlite:///{folder}/second.db") == {"标题1"}


def test_backup_is_checked_without_a_store(folder: Path) -> None:
    result = json.loads(run("backup", "b.zip", "--json").stdout)
    assert result["last_change"] == 1
    assert "sound" in run("restore", "b.zip", "--check").stdout
    Path("b.zip").write_bytes(Path("b.zip").read_bytes()[:-50])
    with pytest.raises(BackupError, match="nothing was restored"):
        run("restore", "b.zip", "--to", f"sqlite:///{folder}/second.db")
    assert not (folder / "second.db").exists()


def test_failed_restore_leaves_no_store(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from newsportal.store.records import Records

    run("backup", "b.zip")

    def full(*_: object) -> int:
        raise StoreError("the disk is full")

    monkeypatch.setattr(Records, "write", full)
    with pytest.raises(BackupError, match="the disk is full"):
        run("restore", "b.zip", "--to", f"sqlite:///{folder}/second.db")
    assert [path.name for path in folder.iterdir()] == ["门户"]


@pytest.mark.parametrize("words", [("serve", "--port", "0"), ("search", "标题"), ("store", "info"), ("backup", "c.zip")])
def test_unfinished_store_cannot_be_opened(folder: Path, words: tuple[str, ...]) -> None:
    with closing(open_store("sqlite:///data/news.db")) as store:
        store.records.mark("0123456789abcdef")
    with pytest.raises(StoreUnfinished, match="run `newsportal restore` with the same file again"):
        run(*words)


@pytest.mark.slow
def test_unfinished_store_cannot_be_crawled_into(folder: Path) -> None:
    with closing(open_store("sqlite:///data/news.db")) as store:
        store.records.mark("0123456789abcdef")
    ran = forked.run("crawl", "--once")  # a separate process: a crawl installs a reactor
    assert ran.returncode != 0
    assert "run `newsportal restore` with the same file again" in " ".join(ran.stderr.split())


def test_backups_in_a_folder_are_dated_and_pruned(folder: Path) -> None:
    backups = folder / "copies"
    backups.mkdir()
    for name in ("newsportal-20200101-000000.tar.zst", "newsportal-20200102-000000.tar.zst", "notes.txt"):
        (backups / name).write_text("")
    result = json.loads(run("backup", str(backups), "--keep", "2", "--json").stdout)
    assert result["let_go"] == ["newsportal-20200101-000000.tar.zst"]
    assert sorted(path.name for path in backups.iterdir()) == sorted(
        ["newsportal-20200102-000000.tar.zst", "notes.txt", Path(result["file"]).name]
    )
    assert "sound" in run("restore", result["file"], "--check").stdout


def test_marker_of_the_last_backup_is_touched(folder: Path) -> None:
    mark = folder / "门户" / "data" / ".last-backup"
    run("backup", str(folder / "b.zip"), "--store", f"sqlite:///{folder}/门户/data/news.db")  # with an explicit store
    with pytest.raises(BackupError):
        run("backup", str(folder / "b.txt"))
    assert not mark.exists()
    run("backup", str(folder / "b.zip"))
    assert mark.exists()
    mark.unlink()
    mark.symlink_to(folder / "nowhere" / "x")
    result = run("backup", str(folder / "b.zip"))
    assert (result.exit_code, "do not include this backup" in result.stderr) == (0, True)


def test_new_backup_is_kept_if_the_clock_was_set_back(folder: Path) -> None:
    backups = folder / "copies"
    backups.mkdir()
    for year in (2098, 2099):
        (backups / f"newsportal-{year}0101-000000.tar.zst").write_text("")
    result = json.loads(run("backup", str(backups), "--keep", "1", "--json").stdout)
    assert [str(path) for path in backups.iterdir()] == [result["file"]]
    assert result["let_go"] == ["newsportal-20980101-000000.tar.zst", "newsportal-20990101-000000.tar.zst"]


def test_unfinished_sqlite_file_is_not_restored(folder: Path) -> None:
    """As on a full disk: rows remain in the write-ahead log, without which the file is incomplete."""
    uri = f"sqlite:///{folder}/second.db"
    with ExitStack() as stack:
        stack.enter_context(pytest.raises(BackupError, match="not restored: could not write everything"))
        stack.enter_context(_open_new_store(uri))
        add(f"sqlite:///{folder}/.second.db.restoring/second.db", "1")
        holds = sqlite3.connect(folder / ".second.db.restoring/second.db")
        holds.execute("SELECT count(*) FROM articles").fetchone()
    holds.close()
    assert [path.name for path in folder.iterdir()] == ["门户"]


@pytest.mark.parametrize("log", ["second.db-wal", "second.db-journal"])
def test_log_of_a_former_database_is_refused(folder: Path, log: str) -> None:
    """SQLite would apply it to the restored file."""
    run("backup", "b.zip")
    (folder / log).write_bytes(b"rows")
    with pytest.raises(BackupError, match=f"{log} belongs to another database"):
        run("restore", "b.zip", "--to", f"sqlite:///{folder}/second.db")
    assert sorted(path.name for path in folder.iterdir()) == [log, "门户"]


def test_concurrent_restores_and_new_stores_are_left_alone(folder: Path) -> None:
    run("backup", "b.zip")
    uri = f"sqlite:///{folder}/new/second.db"
    with ExitStack() as stack:
        stack.enter_context(pytest.raises(BackupError, match="another process has created it"))
        stack.enter_context(_open_new_store(uri))
        with pytest.raises(BackupError, match="another restore is running"):
            run("restore", "b.zip", "--to", uri)
        add(uri, "of a crawl")
    assert titles(uri) == {"标题of a crawl"}


def test_missing_folder_is_named(folder: Path) -> None:
    for place, options in (("b.zip", ("--keep", "2")), ("not-there", ("--keep", "2")), ("not-there", ())):
        result = run("backup", place, *options)
        assert result.exit_code == 2
        assert "Invalid value for FILE" in result.stderr
        assert place in result.stderr


def test_restore_without_a_configured_store_names_the_option(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run("backup", str(folder / "b.zip"), "--store", f"sqlite:///{folder}/门户/data/news.db")
    Path("sources.yaml").unlink()
    run("backup", str(folder / "bare.zip"), "--store", f"sqlite:///{folder}/门户/data/news.db")
    monkeypatch.chdir(folder)
    with pytest.raises(BackupError, match="--to URI"):
        run("restore", "bare.zip")
