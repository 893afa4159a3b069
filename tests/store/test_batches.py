"""``Store.add_all``, over every store of ``conftest.STORES_UNDER_TEST``: what adding one after the other does, in one transaction."""

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


def test_articles_of_a_batch_are_stored_in_order(store: Store) -> None:
    added = store.add_all([(article(str(n)), []) for n in range(5)], now=NOW)
    assert [one.outcome for one in added] == ["stored"] * 5
    assert [change.id for change in store.changes()] == [one.id for one in added]
    assert store.tally().articles == 5
    assert store.add_all([], now=NOW) == []


def test_articles_that_share_nothing_are_written_together() -> None:
    counts: list[int] = []
    for number in (2, 20):
        store, statements = empty_store(), list[str]()
        event.listen(store._engine, "before_cursor_execute", lambda *told, into=statements: into.append(told[2]))
        batch: Batch = [(article(str(n), topic="旅游", text=invented(n)), []) for n in range(number)]
        assert outcomes(store, batch) == ["stored"] * number
        counts.append(len(statements))
        store.close()
    assert counts[0] == counts[1]


def test_articles_of_a_batch_fold_into_one_another_by_their_texts(store: Store) -> None:
    batch: Batch = [
        (article(host, host=host, title=f"题 {host}", text=text), []) for host, text in zip("abcd", (LONG, OTHER, LONG, OTHER), strict=True)
    ]
    added = store.add_all(batch, now=NOW)
    assert [one.outcome for one in added] == ["stored", "stored", "folded", "folded"]
    assert [one.story_id for one in added[2:]] == [one.story_id for one in added[:2]]


def test_articles_of_a_batch_fold_into_one_another_by_their_keys(store: Store) -> None:
    batch: Batch = [(article(host, host=host), [SAME_TITLE]) for host in "abc"]
    assert outcomes(store, batch) == ["stored", "folded", "folded"]
    assert store.tally().stories == 1


def test_one_article_twice_in_a_batch(store: Store) -> None:
    batch: Batch = [(article("a"), []), (article("a"), []), (article("a", text="改过的正文"), [])]
    assert outcomes(store, batch) == ["stored", "same", "revised"]
    assert store.tally().articles == 1
    assert len(store.revisions(store.add(article("a", text="改过的正文"), now=NOW).id)) == 1


def test_a_batch_again_is_the_same(store: Store) -> None:
    batch: Batch = [(article(str(n), text=invented(n)), []) for n in range(4)]
    store.add_all(batch, now=NOW)
    assert outcomes(store, batch) == ["same"] * 4
    assert len(store.changes()) == 4


def test_a_batch_with_one_that_cannot_be_stored_stores_nothing(store: Store) -> None:
    before = store.add(article("before", text=invented(9)), now=NOW)
    batch: Batch = [(article("a", host="a.example", text=LONG), [SAME_TITLE]), (article("b", text=None), [])]
    with pytest.raises(StoreError, match="without text"):
        store.add_all(batch, now=NOW)
    assert [found.id for found in store.all_articles()] == [before.id]
    assert len(store.changes()) == 1
    # neither its texts nor its keys are remembered, and its numbers may be given again
    assert store.add(article("c", host="c.example", text=LONG), [SAME_TITLE], now=NOW).outcome == "stored"
    assert store.add(article("d", host="d.example", text=OTHER), now=NOW).outcome == "stored"
    assert store.add(article("e", host="e.example", title="别的", text=LONG), now=NOW).outcome == "folded"


def test_what_others_wrote_before_a_batch_is_known_to_it(store: Store, another: Callable[[], Store]) -> None:
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
def test_a_batch_is_as_one_after_the_other(plan: list[tuple[int, int, int, bool]]) -> None:
    """Whatever is in it: the same outcomes, stories and change log (of SQL: what it does alike on every store is asked above)."""
    batch: Batch = [
        (article(str(name), host=f"h{host}.example", title=f"题 {name} {host}", text=invented(text)), [SAME_TITLE] if keyed else [])
        for name, host, text, keyed in plan
    ]
    single, together = (empty_store() for _ in range(2))
    assert [single.add(*one, now=NOW) for one in batch] == together.add_all(batch, now=NOW)
    for store in (single, together):
        store.add(article("last", host="last.example", title="末", text=invented(0)), now=NOW)
    assert single.changes() == together.changes()
    assert single.stories(StoryFilter(limit=100)) == together.stories(StoryFilter(limit=100))
    assert list(single.all_articles()) == list(together.all_articles())
    single.close()
    together.close()


def test_two_batches_of_a_process_come_one_after_the_other() -> None:
    """One that fails goes back to where it began: that must not be amid the rows of another, which may fail as well."""
    index, second = PrintIndex(), threading.Event()

    def another() -> None:
        with index.unless_it_fails():
            second.set()

    thread = threading.Thread(target=another)
    with index.unless_it_fails():
        thread.start()
        assert not second.wait(0.1)
    thread.join(600)
    assert second.is_set()


def test_no_articles_wait_for_nobody(tmp_path: Path) -> None:
    store = empty_store(tmp_path / "news.db")
    with closing(sqlite3.connect(tmp_path / "news.db", isolation_level=None)) as writer:
        writer.execute("BEGIN IMMEDIATE")
        assert store.add_all([], now=NOW) == []
    store.close()
