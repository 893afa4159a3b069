"""``newsportal store`` as a user runs it."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

import pytest
from factories import empty_store, run_command

from newsportal.cli.store import mask_password
from newsportal.errors import StoreError, StoreUnavailable
from newsportal.items import Article, Link
from newsportal.store import open_store

NOW = datetime(2026, 3, 1, 8, 0, tzinfo=UTC)

run = partial(run_command, "store", catch=False)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "sources.yaml").write_text("store: sqlite:///data/news.db\n", encoding="utf-8")
    add(tmp_path, "1")
    return tmp_path


def add(folder: Path, *names: str) -> None:
    file = folder / "data/news.db"
    with closing(open_store(f"sqlite:///{file}") if file.exists() else empty_store(file)) as store:
        for name in names:
            link = Link(f"https://h.example/{name}", "feed:快讯", topic="旅游")
            store.add(Article(link.url, link, NOW, identity=name, title=f"标题{name}", text=f"正文{name}"), now=NOW)


def test_info(folder: Path) -> None:
    assert "1 articles in 1 stories, last change 1" in run("info").stdout
    info = json.loads(run("info", f"sqlite:///{folder}/data/news.db", "--json").stdout)
    assert (info["rows"]["articles"], info["rows"]["article_topics"], info["last_change"]) == (1, 1, 1)


def test_missing_store_is_reported(folder: Path) -> None:
    with pytest.raises(StoreUnavailable, match="no store yet"):
        run("info", f"sqlite:///{folder}/none.db")


@pytest.mark.slow
def test_copy_is_made_once_and_updated(folder: Path) -> None:
    source, target = f"sqlite:///{folder}/data/news.db", f"sqlite:///{folder}/副本/copy.db"
    copied = run("copy", source, target)
    assert copied.exit_code == 0
    assert "equal up to change 1" in copied.stdout
    assert "NOT EQUAL" not in copied.stdout
    with pytest.raises(StoreError, match="--again"):
        run("copy", source, target)
    add(folder, "2", "3")
    result = json.loads(run("copy", source, target, "--again", "--json").stdout)
    assert (result["equal"], result["until"], result["behind"], result["deleted"]) == (True, 3, 0, 0)
    assert {table["table"]: table["rows_there"] for table in result["tables"]}["articles"] == 3
    with pytest.raises(StoreError, match="same store"):
        run("copy", source, source)
    with pytest.raises(StoreUnavailable):
        run("copy", f"sqlite:///{folder}/none.db", target)


def test_check_finds_faults(folder: Path) -> None:
    assert run("check").stdout.endswith(": sound\n")
    with closing(sqlite3.connect(folder / "data" / "news.db")) as raw:
        raw.execute("UPDATE stories SET count = 7")
        raw.commit()
    found = run("check")
    assert found.exit_code == 1
    assert "its count is 7 versions, but it has 1" in found.stdout
    result = json.loads(run("check", "--json").stdout)
    assert (result["sound"], len(result["faults"])) == (False, 1)


@pytest.mark.parametrize(
    ("uri", "expected"),
    [
        ("sqlite:///data/n.db", "sqlite:///data/n.db"),
        ("postgresql://u:geheim@h:5/db", "postgresql://u:***@h:5/db"),
        ("mysql://h/db", "mysql://h/db"),
    ],
)
def test_passwords_are_masked(uri: str, expected: str) -> None:
    assert mask_password(uri) == expected
