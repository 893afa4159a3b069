"""A copy is equal to its source, resumes after an interruption, follows a store in use, and never touches another store's articles."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Any

import pytest
from factories import LONG, NOW, SAME_TEXT, article
from filled_store import LATER, fill
from servers import Servers
from test_records import sums

from newsportal.errors import StoreError, StoreUnavailable, StoreUnfinished
from newsportal.store import open_store
from newsportal.store.copying import PASSES, copy, is_empty
from newsportal.store.records import Form, Record
from newsportal.store.results import SourceState
from newsportal.store.store import Store


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("filled") / "filled.db"
    store = open_store(f"sqlite:///{path}")
    fill(store)
    store.close()
    return path


@pytest.fixture
def target(tmp_path: Path) -> Iterator[Store]:
    """An empty store, for behaviour that does not depend on the database."""
    store = open_store(f"sqlite:///{tmp_path}/target.db")
    yield store
    store.close()


@pytest.fixture
def source(filled: Path, tmp_path: Path) -> Iterator[Store]:
    shutil.copy(filled, tmp_path / "source.db")
    store = open_store(f"sqlite:///{tmp_path}/source.db")
    yield store
    store.close()


def test_existing_copy_is_not_overwritten_without_again(source: Store, target: Store) -> None:
    copy(source, target)
    with pytest.raises(StoreError, match="--again"):
        copy(source, target)
    assert copy(source, target, again=True).written == 0


def test_articles_of_another_store_are_left_alone(source: Store, target: Store) -> None:
    added = target.add(article("mine"), now=NOW)
    for again in (False, True):
        with pytest.raises(StoreError, match="articles that the source store does not have"):
            copy(source, target, again=again)
    assert [stored.id for stored in target.all_articles()] == [added.id]


def test_store_without_articles_is_left_alone(source: Store, target: Store) -> None:
    """A store without articles has no change log that would identify it."""
    target.save_source_state(SourceState("rss:自己的"))
    for again in (False, True):
        with pytest.raises(StoreError, match=r"source_states that the source store does not have.*nothing was written"):
            copy(source, target, again=again)
    assert [state.source for state in target.source_states()] == ["rss:自己的"]


def test_copy_made_before_the_first_article_is_updated(source: Store, target: Store, tmp_path: Path) -> None:
    with closing(open_store(f"sqlite:///{tmp_path}/young.db")) as young:
        young.save_source_state(SourceState("rss:一"))
        copy(young, target)
        young.add(article("first"), now=NOW)
        assert copy(young, target, again=True).equal


@pytest.mark.slow
def test_copy_is_equal_and_can_be_updated(source: Store, store: Store) -> None:
    assert is_empty(store.records)
    done = copy(source, store)
    assert done.equal
    assert (done.deleted, done.behind, done.until) == (0, 0, source.last_seq())
    assert done.written == sum(table.rows for table in done.tables)
    source.add(article("later", host="late.example", text=LONG), [SAME_TEXT], now=LATER)
    source.add(article("a", text="另一篇正文", topic="旅游"), now=LATER)
    source.links.finish(["https://later.example/1"[-9:]])
    source.readers.forget("林")
    source.corpora.delete("categories")
    done = copy(source, store, again=True)
    assert done.equal
    assert done.deleted
    assert done.written < sum(table.rows for table in done.tables)
    assert sums(store) == sums(source)


class FailingRecords:
    """Records of a store that becomes unavailable after ``writes`` writes."""

    def __init__(self, store: Store, writes: int) -> None:
        self._records, self._left = store.records, writes

    def __getattr__(self, name: str) -> Any:
        return getattr(self._records, name)

    def write(self, form: Form, rows: Sequence[Record]) -> int:
        if not self._left:
            raise StoreUnavailable("away")
        self._left -= 1
        return self._records.write(form, rows)


@pytest.mark.slow
@pytest.mark.parametrize("writes", [0, 1, 7, 15, 30])
def test_interrupted_copy_resumes(source: Store, target: Store, writes: int, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    with monkeypatch.context() as patched:
        patched.setattr(target, "records", FailingRecords(target, writes))
        with pytest.raises(StoreUnavailable):
            copy(source, target)
    with pytest.raises(StoreUnfinished, match="run `newsportal store copy` with the same stores again"):
        open_store(f"sqlite:///{tmp_path}/target.db")
    assert copy(source, target).equal
    assert sums(target) == sums(source)


@pytest.mark.slow
def test_changes_during_the_copy_are_included(source: Store, target: Store) -> None:
    """The source is written to during the first two passes."""
    due = {"copying articles": 2}

    def write(phase: str, done: int, total: int) -> None:
        if due.get(phase, 0):
            due[phase] -= 1
            source.add(article(f"meanwhile-{due[phase]}", text=LONG + phase, topic="新"), now=LATER)

    done = copy(source, target, progress=write)
    assert done.equal
    assert done.behind == 0
    assert sums(target) == sums(source)


@pytest.mark.slow
def test_constantly_changing_source_is_reported(source: Store, target: Store) -> None:
    number = iter(range(1000))

    def write(phase: str, done: int, total: int) -> None:
        if phase == "copying changes":
            source.add(article(f"n-{next(number)}"), now=LATER)

    done = copy(source, target, progress=write)
    assert done.equal  # with the state that was read
    assert done.behind == 1
    assert next(number) == PASSES


def test_difference_is_detected(source: Store, target: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    plain = target.records

    class Careless(FailingRecords):
        def write(self, form: Form, rows: Sequence[Record]) -> int:
            remaining = [row for row in rows if row.get("topic") != "旅游"]
            return plain.write(form, remaining) if remaining else 0

    with monkeypatch.context() as patched:
        patched.setattr(target, "records", Careless(target, 0))
        done = copy(source, target)
    assert [table.table for table in done.tables if not table.equal] == ["article_topics"]


@pytest.mark.slow
def test_copy_through_every_database_is_equal(source: Store, target: Store, servers: Servers) -> None:
    current = source
    with ExitStack() as stack:
        for server in ("postgresql", "mariadb"):
            copied = stack.enter_context(closing(open_store(stack.enter_context(servers.database(server)).uri)))
            assert copy(current, copied).equal
            current = copied
        assert copy(current, target).equal
    assert sums(target) == sums(source)
