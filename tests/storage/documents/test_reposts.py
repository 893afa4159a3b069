"""The fingerprints of a store over documents: bounded, the same to every process that follows them, and read again only if others wrote."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import timedelta

import pytest
from invented_articles import LONG, NOW, article, invented

from newsportal.storage import print_index
from newsportal.storage.documents import writing
from newsportal.storage.documents.prints import Prints
from newsportal.storage.documents.store import DocumentStore
from newsportal.storage.documents.tables import PRINTS

pytestmark = pytest.mark.slow

Stores = Callable[[], DocumentStore]


@pytest.fixture
def stores(uri: str) -> Iterator[Stores]:
    """Opens one place each time, as another process does."""
    opened: list[DocumentStore] = []

    def opening() -> DocumentStore:
        opened.append(DocumentStore(uri))
        return opened[-1]

    yield opening
    for store in opened:
        store.close()


def test_what_is_out_of_the_window_is_pruned_little_by_little(stores: Stores, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(print_index, "PRUNE_EVERY", 4)
    store, follower = stores(), stores()
    store.add_all([(article(str(number), text=invented(number)), ()) for number in range(20)], now=NOW)
    assert follower.add(article("again", text=invented(3)), now=NOW).outcome == "folded"
    late = NOW + print_index.SPAN + timedelta(days=1)
    store.add_all([(article(str(number), text=invented(number), published=None), ()) for number in range(20, 28)], now=late)
    assert store._documents.count(PRINTS) <= 8
    for number, one in enumerate((store, follower)):
        one.add(article(f"late {number}", text=invented(50 + number), published=None), now=late)
        assert one._prints._holders._first > 20


def test_no_more_than_the_most_are_kept(stores: Stores, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(print_index, "PRUNE_EVERY", 2)
    monkeypatch.setattr(print_index, "MOST", 10)
    store = stores()
    store.add_all([(article(str(number), text=invented(number)), ()) for number in range(40)], now=NOW)
    assert store._documents.count(PRINTS) <= 12
    assert store.add(article("new", text=invented(39)), now=NOW).outcome == "folded"
    assert store.add(article("old", text=invented(1)), now=NOW).outcome == "stored"


def test_many_rows_are_read_in_pages(stores: Stores, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(print_index, "PAGE", 50)
    stores().add_all([(article(str(number), text=invented(number, 80)), ()) for number in range(120)], now=NOW)
    again = stores()
    repeated = [(article(f"x{number}", text=invented(number, 80), title=f"标题 {number}"), ()) for number in (0, 49, 50, 119)]
    assert [answer.outcome for answer in again.add_all(repeated, now=NOW)] == ["folded"] * 4


def test_a_transaction_that_fails_leaves_nothing_in_the_index(stores: Stores, monkeypatch: pytest.MonkeyPatch) -> None:
    store = stores()
    store.add(article("0", text=invented(0)), now=NOW)

    def fails(*_: object) -> None:
        raise RuntimeError("after the fingerprint was written")

    with monkeypatch.context() as patched:
        patched.setattr(writing, "log", fails)
        with pytest.raises(RuntimeError):
            store.add(article("a", host="a.example", text=LONG), now=NOW)
    assert store.add(article("b", host="b.example", text=LONG), now=NOW).outcome == "stored"
    assert store.add(article("c", host="c.example", text=LONG), now=NOW).outcome == "folded"


def test_a_fold_by_hand_in_another_process_is_learnt(stores: Stores) -> None:
    """Copies that an editor put together count as one story: their text is nobody's no longer."""
    store, editor = stores(), stores()
    added = [store.add(article(str(n), host=f"{n}.example", title=f"第{n}号通知", text=LONG), now=NOW) for n in range(3)]
    alone = [editor.unfold(one.id, now=NOW) for one in added[1:]]
    store.add(article("x", text=invented(1)), now=NOW)
    number = print_index.story_number(alone[0])
    assert number in store._prints._holders._facts[0]
    for one in added[1:]:
        editor.fold(one.id, added[0].story_id, reason="by-hand", now=NOW)
    store.add(article("y", text=invented(2)), now=NOW)
    assert number not in store._prints._holders._facts[0]


def test_a_fold_by_hand_of_what_was_just_written_is_learnt(stores: Stores) -> None:
    """What a process remembers having written is not what it has become in another one's hands."""
    store, editor = stores(), stores()
    first = store.add(article("a", host="a.example", text=LONG), now=NOW)
    other = store.add(article("b", host="b.example", text=invented(1)), now=NOW)
    editor.fold(other.id, first.story_id, reason="by-hand", now=NOW)
    store.add(article("x", text=invented(2)), now=NOW)
    assert print_index.story_number(other.story_id) not in store._prints._holders._facts[0]
    assert store.add(article("c", host="c.example", text=invented(1)), now=NOW).story_id == first.story_id


def test_a_process_does_not_read_again_what_it_wrote_itself(stores: Stores, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []
    plain = Prints.after

    def after(self: Prints, number: int, limit: int) -> list[object]:
        found = plain(self, number, limit)
        asked.append(len(found))
        return list(found)

    monkeypatch.setattr(Prints, "after", after)
    store = stores()
    store.add(article("0", text=invented(0)), now=NOW)
    own = store._written.rows
    assert [row.number for row in own] == [1]
    store.add(article("1", text=invented(1)), now=NOW)
    assert asked[-1] == 1
    stores().add(article("2", text=invented(2)), now=NOW)
    assert asked[-1] == 0, "it caught up with both before its transaction"
    store.add(article("3", text=invented(3)), now=NOW)
    assert asked[-1] == 2, "its own, and the other's"
