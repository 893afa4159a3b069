"""The fingerprints of a SQL store: bounded, and the same in every process that follows them."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest
from factories import LONG, NOW, article, invented
from sqlalchemy import func, select

from newsportal.store import open_store, prints, writing
from newsportal.store.dialects import reading
from newsportal.store.results import StoryFilter
from newsportal.store.store import Store
from newsportal.store.tables import PRINTS


def open_file(folder: Path) -> Store:
    store = open_store(f"sqlite:///{folder}/news.db")
    assert isinstance(store, Store)
    return store


def count_prints(store: Store) -> int:
    with reading(store._engine) as connection:
        return connection.scalar(select(func.count()).select_from(PRINTS)) or 0


def test_fingerprints_outside_the_window_are_pruned(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(prints, "PRUNE_EVERY", 4)
    store = open_file(tmp_path)
    follower = open_file(tmp_path)
    for number in range(20):
        store.add(article(str(number), text=invented(number)), now=NOW)
    assert follower.add(article("again", text=invented(3)), now=NOW).outcome == "folded"
    late = NOW + prints.SPAN + timedelta(days=1)
    for number in range(20, 28):
        store.add(article(str(number), text=invented(number), published=None), now=late)
    assert count_prints(store) <= 8
    for each in (store, follower):
        each.add(article(f"{id(each)}", text=invented(id(each) % 1000 + 50), published=None), now=late)
        assert each._prints._index._first > 20
    store.close()
    follower.close()


def test_number_of_fingerprints_is_limited(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(prints, "PRUNE_EVERY", 2)
    monkeypatch.setattr(prints, "MAX_FINGERPRINTS", 10)
    store = open_file(tmp_path)
    for number in range(40):
        store.add(article(str(number), text=invented(number)), now=NOW)
    assert count_prints(store) <= 12
    assert store.add(article("new", text=invented(39)), now=NOW).outcome == "folded"
    assert store.add(article("old", text=invented(1)), now=NOW).outcome == "stored"
    store.close()


def test_fingerprints_are_loaded_in_pages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(prints, "PAGE", 150)
    store = open_file(tmp_path)
    for number in range(320):
        store.add(article(str(number), text=invented(number, 80)), now=NOW)
    store.close()
    again = open_file(tmp_path)
    added = [again.add(article(f"x{number}", text=invented(number, 80), title=f"标题 {number}"), now=NOW) for number in (0, 149, 150, 319)]
    assert [result.outcome for result in added] == ["folded"] * 4
    again.close()


def test_failed_transaction_leaves_nothing_in_the_index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = open_file(tmp_path)
    store.add(article("0", text=invented(0)), now=NOW)

    def fails(*_: object) -> None:
        raise RuntimeError("after the fingerprint was written")

    with monkeypatch.context() as patched:
        patched.setattr("newsportal.store.writing.log_changes", fails)
        with pytest.raises(RuntimeError):
            store.add(article("a", host="a.example", text=LONG), now=NOW)
    assert store.add(article("b", host="b.example", text=LONG), now=NOW).outcome == "stored"
    assert store.add(article("c", host="c.example", text=LONG), now=NOW).outcome == "folded"
    store.close()


def test_manual_fold_in_another_process_is_followed(tmp_path: Path) -> None:
    """Copies folded by an editor count as one story, so their text is no longer taken for boilerplate."""
    store, editor = open_file(tmp_path), open_file(tmp_path)
    added = [
        store.add(article(str(number), host=f"{number}.example", title=f"第{number}号通知", text=LONG), now=NOW) for number in range(3)
    ]
    unfolded = [editor.unfold(result.id, now=NOW) for result in added[1:]]
    store.add(article("x", text=invented(1)), now=NOW)
    number = prints.story_number(unfolded[0])
    assert number in store._prints._index._facts[0]
    for result in added[1:]:
        editor.fold(result.id, added[0].story_id, reason="by-hand", now=NOW)
    store.add(article("y", text=invented(2)), now=NOW)
    assert number not in store._prints._index._facts[0]
    assert len(store.stories(StoryFilter()).stories) == 3
    store.close()
    editor.close()


def test_rolled_back_revision_leaves_nothing_in_the_index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its row number is reused, and the next row with this number must be found."""
    store = open_file(tmp_path)
    store.add(article("one", text="只有一句话"), now=NOW)

    def fails(*_: object) -> None:
        raise RuntimeError("the disk is full")

    with monkeypatch.context() as broken:
        broken.setattr(writing, "log_changes", fails)
        with pytest.raises(RuntimeError):
            store.add(article("one", text=invented(1)), now=NOW)
    assert store.add(article("two", text=invented(2)), now=NOW).outcome == "stored"
    assert store.add(article("repost", host="other.example", text=invented(2)), now=NOW).outcome == "folded"
    store.close()
