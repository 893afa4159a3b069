"""Packed tables of words: lookups, and caching in files that never changes results."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from newsportal.text import word_table
from newsportal.text.word_table import WordTable, cached_table, pack

NUMBERS = {"": 11.5, "北京": 8.25, "新闻": 0.0, "a\ud800b": -1.0, **{f"词{number}": number / 7 for number in range(1000)}}


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    return tmp_path / "newsportal"


def fail() -> dict[str, float]:
    raise AssertionError("the table is there already")


def test_lookup_of_known_and_unknown_words() -> None:
    table = WordTable(pack(NUMBERS))
    assert {word: table.get(word) for word in NUMBERS} == NUMBERS
    assert table.get("上海") is None
    assert WordTable(pack({})).get("北京") is None


def test_second_process_maps_the_cached_table(cache: Path) -> None:
    cached_table("names", 1, lambda: NUMBERS)
    table = cached_table("names", 1, fail)
    assert (len(table), table.get("北京")) == (len(NUMBERS), 8.25)
    assert len(list(cache.iterdir())) == 1


def test_table_of_other_version_is_rebuilt(cache: Path) -> None:
    cached_table("names", 1, lambda: NUMBERS)
    assert cached_table("names", 2, lambda: {"北京": 1.0}).get("北京") == 1.0


@pytest.mark.parametrize("damage", [b"", b"short", pack({"北京": 1.0})[:-8], pack({"北京": 1.0})[:-8] + bytes(8)])
def test_damaged_file_is_rebuilt(cache: Path, damage: bytes) -> None:
    cached_table("names", 1, lambda: NUMBERS)
    (path,) = cache.iterdir()
    path.write_bytes(damage)
    assert cached_table("names", 1, lambda: NUMBERS).get("北京") == 8.25
    assert cached_table("names", 1, fail).get("北京") == 8.25


def test_unwritable_cache_folder_is_tolerated(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("no folder")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    assert cached_table("names", 1, lambda: NUMBERS).get("北京") == 8.25


def test_missing_home_folder_is_tolerated(monkeypatch: pytest.MonkeyPatch) -> None:
    def no_home() -> Path:
        raise RuntimeError("could not determine home directory")

    monkeypatch.setattr(word_table, "cache_folder", no_home)
    assert cached_table("names", 1, lambda: NUMBERS).get("北京") == 8.25


def test_full_disk_leaves_no_partial_file(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise OSError("no space left on device")

    monkeypatch.setattr(os, "replace", full)
    assert cached_table("names", 1, lambda: NUMBERS).get("北京") == 8.25
    assert list(cache.iterdir()) == []
