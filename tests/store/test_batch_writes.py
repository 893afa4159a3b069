"""``Store.add_all``, over every store of ``conftest.STORES_UNDER_TEST``: the same result as adding one by one, in one transaction."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest
from factories import LONG, NOW, OTHER, SAME_TITLE, article, empty_store, invented
from hypothesis import given, settings
from hypothesis import strategies as st
from sqlalchemy import event

from newsportal.errors import StoreError
from newsportal.items import Article, FoldKey
from newsportal.store.prints import PrintIndex
from newsportal.store.results import StoryFilter
from newsportal.store.store import Store

Batch = list[tuple[Article, list[FoldKey]]]


def outcomes(store: Store, batch: Batch) -> list[str]:
    return [added.outcome for added in store.add_all(batch, now=NOW)]


def test_batch_is_stored_in_order(store: Store) -> None:
    added = store.add_all([(article(str(n)), []) for n in range(5)], now=NOW)
    assert [result.outcome for result in added] == ["stored"] * 5
    assert [change.id for change in store.changes()] == [result.id for result in added]
    assert store.tally().articles == 5
    assert store.add_all([], now=NOW) == []


def test_number_of_statements_is_independent_of_batch_size() -> None:
    counts: list[int] = []
    for number in (2, 20):
        store, statements = empty_store(), list[str]()
        event.listen(store._engine, "before_cursor_execute", lambda *event_args, into=statements: into.append(event_args[2]))
        batch: Batch = [(article(str(n), topic="旅游", text=invented(n)), []) for n in range(number)]
        assert outcomes(store, batch) == ["stored"] * number
        counts.append(len(statements))
        store.close()
    assert counts[0] == counts[1]


def test_articles_of_a_batch_are_folded_by_text(store: Store) -> None:
    batch: Batch = [
        (article(host, host=host, title=f"题 {host}", text=text), []) for host, text in zip("abcd", (LONG, OTHER, LONG, OTHER), strict=True)
    ]
    added = store.add_all(batch, now=NOW)
    assert [result.outcome for result in added] == ["stored", "stored", "folded", "folded"]
    assert [result.story_id for result in added[2:]] == [result.story_id for result in added[:2]]


def test_articles_of_a_batch_are_folded_by_key(store: Store) -> None:
    batch: Batch = [(article(host, host=host), [SAME_TITLE]) for host in "abc"]
    assert outcomes(store, batch) == ["stored", "folded", "folded"]
    assert store.tally().stories == 1


def test_repeated_article_in_a_batch(store: Store) -> None:
    batch: Batch = [(article("a"), []), (article("a"), []), (article("a", text="改过的正文"), [])]
    assert outcomes(store, batch) == ["stored", "same", "revised"]
    assert store.tally().articles == 1
    assert len(store.revisions(store.add(article("a", text="改过的正文"), now=NOW).id)) == 1


def test_repeated_batch_changes_nothing(store: Store) -> None:
    batch: Batch = [(article(str(n), text=invented(n)), []) for n in range(4)]
    store.add_all(batch, now=NOW)
    assert outcomes(store, batch) == ["same"] * 4
    assert len(store.changes()) == 4


def test_failed_batch_stores_nothing(store: Store) -> None:
    before = store.add(article("before", text=invented(9)), now=NOW)
    batch: Batch = [(article("a", host="a.example", text=LONG), [SAME_TITLE]), (article("b", text=None), [])]
    with pytest.raises(StoreError, match="without text"):
        store.add_all(batch, now=NOW)
    assert [found.id for found in store.all_articles()] == [before.id]
    assert len(store.changes()) == 1
    # neither its texts nor its keys are kept, and its numbers may be reused
    assert store.add(article("c", host="c.example", text=LONG), [SAME_TITLE], now=NOW).outcome == "stored"
    assert store.add(article("d", host="d.example", text=OTHER), now=NOW).outcome == "stored"
    assert store.add(article("e", host="e.example", title="别的", text=LONG), now=NOW).outcome == "folded"


def test_batch_sees_writes_of_other_processes(store: Store, another: Callable[[], Store]) -> None:
    other = another()
    store.add(article("x", text=invented(1)), now=NOW)
    first = other.add_all([(article("a", host="a.example", text=LONG), [])], now=NOW)
    second = store.add_all([(article("b", host="b.example", title="别的", text=LONG), [])], now=NOW)
    assert second[0].outcome == "folded"
    assert second[0].story_id == first[0].story_id
    other.close()


PLANS = st.lists(st.tuples(st.integers(0, 5), st.integers(0, 3), st.integers(0, 2), st.booleans()), min_size=1, max_size=8)


@pytest.mark.slow
@settings(max_examples=12, deadline=None)
@given(plan=PLANS)
def test_batch_equals_single_additions(plan: list[tuple[int, int, int, bool]]) -> None:
    """Same outcomes, stories and change log for any content (SQLite only: the tests above cover every store)."""
    batch: Batch = [
        (article(str(name), host=f"h{host}.example", title=f"题 {name} {host}", text=invented(text)), [SAME_TITLE] if keyed else [])
        for name, host, text, keyed in plan
    ]
    single, batched = (empty_store() for _ in range(2))
    assert [single.add(*entry, now=NOW) for entry in batch] == batched.add_all(batch, now=NOW)
    for store in (single, batched):
        store.add(article("last", host="last.example", title="末", text=invented(0)), now=NOW)
    assert single.changes() == batched.changes()
    assert single.stories(StoryFilter(limit=100)) == batched.stories(StoryFilter(limit=100))
    assert list(single.all_articles()) == list(batched.all_articles())
    single.close()
    batched.close()


def test_batches_of_a_process_are_serialized() -> None:
    """A failed batch rolls the index back to its start, which must not lie within another batch that may fail as well."""
    index, second = PrintIndex(), threading.Event()

    def another() -> None:
        with index.forget_on_error():
            second.set()

    thread = threading.Thread(target=another)
    with index.forget_on_error():
        thread.start()
        assert not second.wait(0.1)
    thread.join(600)
    assert second.is_set()


def test_empty_batch_does_not_wait_for_the_write_lock(tmp_path: Path) -> None:
    store = empty_store(tmp_path / "news.db")
    with closing(sqlite3.connect(tmp_path / "news.db", isolation_level=None)) as writer:
        writer.execute("BEGIN IMMEDIATE")
        assert store.add_all([], now=NOW) == []
    store.close()
