"""Changes of ``sources.yaml`` apply without a restart; an invalid file keeps the last valid settings."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from factories import empty_store

from newsportal.portal.app import create_app
from newsportal.services.accounts import open_accounts
from newsportal.sources import load

FIRST = """\
portal: {title: 晨报}
feeds:
  - {name: 甲报, url: "https://a.example/feed"}
"""
SECOND = """\
portal: {title: 晚报, language: en}
topics: [{name: 港口}]
feeds:
  - {name: 甲报, url: "https://a.example/feed"}
  - {name: 乙报, url: "https://b.example/feed", topics: [港口]}
"""


def wait_until(condition: Callable[[], bool], seconds: float = 600) -> bool:
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if condition():
            return True
        time.sleep(0.05)
    return False


@pytest.fixture
def served(serve: Any, tmp_path: Path) -> Iterator[tuple[httpx.Client, Path, list[int]]]:
    path, pushes = tmp_path / "sources.yaml", list[int]()
    path.write_text(FIRST, "utf-8")
    store = empty_store(tmp_path / "store.db")
    yield serve(store, settings=load(path), role="editor", reread_every=0.05, pushed=lambda: pushes.append(1)), path, pushes
    store.close()


def replace_file(path: Path, text: str) -> None:
    temporary = path.with_suffix(".new")
    temporary.write_text(text, "utf-8")
    os.replace(temporary, path)


def test_pages_follow_the_changed_file(served: tuple[httpx.Client, Path, list[int]]) -> None:
    client, path, pushes = served
    assert "晨报" in client.get("/").text
    replace_file(path, SECOND)
    assert wait_until(lambda: "晚报" in client.get("/").text)
    assert "港口" in client.get("/").text
    assert "乙报" in client.get("/sources").text
    assert "https://b.example/feed" in client.get("/opml").text
    assert wait_until(lambda: bool(pushes)), "the scheduler is notified of the new source"


def test_invalid_file_keeps_settings_and_is_reported_on_the_desk(served: tuple[httpx.Client, Path, list[int]]) -> None:
    client, path, pushes = served
    replace_file(path, "feeds:\n  - {name: 甲报}\n")
    assert wait_until(lambda: "feeds[0].url" in client.get("/sources").text)
    page = client.get("/").text
    assert "晨报" in page
    assert "feeds[0].url" not in page, "not shown to readers"
    assert "甲报" in client.get("/sources").text
    assert "处 sources.yaml 错误" in client.get("/desk").text
    assert not pushes
    replace_file(path, SECOND)
    assert wait_until(lambda: "晚报" in client.get("/").text)
    assert "feeds[0].url" not in client.get("/sources").text


def test_missing_file_keeps_settings(served: tuple[httpx.Client, Path, list[int]]) -> None:
    client, path, _ = served
    path.unlink()
    assert wait_until(lambda: "无法读取" in client.get("/sources").text)
    assert "晨报" in client.get("/").text
    replace_file(path, FIRST.replace("晨报", "午报"))
    assert wait_until(lambda: "午报" in client.get("/").text)


def test_changed_store_requires_a_restart(served: tuple[httpx.Client, Path, list[int]]) -> None:
    client, path, _ = served
    replace_file(path, FIRST + "store: sqlite:///elsewhere.db\n")
    assert wait_until(lambda: "store" in client.get("/sources").text and "重新启动" in client.get("/sources").text)
    assert not (path.parent / "elsewhere.db").exists()


def test_background_tasks_survive_reloading(serve: Any, tmp_path: Path) -> None:
    path = tmp_path / "sources.yaml"
    path.write_text(FIRST, "utf-8")
    store = empty_store(tmp_path / "store.db")
    app = create_app(store, None, load(path), open_accounts("sqlite://"), follow_every=0, reread_every=0)
    before = app.state.portal
    for text in (SECOND, "nonsense", FIRST + "index: sqlite:///elsewhere.index\n"):
        replace_file(path, text)
        assert app.state.reloader.reload()
        assert not app.state.reloader.reload()
        assert app.state.portal is not before
        assert app.state.portal.counts is before.counts
    assert app.state.portal.restart_keys == ("index",)
    app.state.portal.stop()
    store.close()
