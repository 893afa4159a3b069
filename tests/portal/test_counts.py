"""Totals are counted beside the pages where counting takes its time."""

from __future__ import annotations

import threading
from types import ModuleType

import pytest

from newsportal.errors import StoreError
from newsportal.portal.ttl_cache import CostlyValue
from newsportal.store.results import Tally
from newsportal.store.store import Store


class Slow:
    """A store that counts when it is let."""

    def __init__(self, store: Store) -> None:
        self.store, self.may, self.counted = store, threading.Event(), 0
        self.fails = False
        self.may.set()

    def tally(self) -> Tally:
        assert self.may.wait(600)
        if self.fails:
            raise StoreError("away")
        self.counted += 1
        return self.store.tally()


@pytest.fixture
def slow(fresh: Store) -> Slow:
    return Slow(fresh)


def counts_of(store: Slow, slow: float = -1.0) -> CostlyValue[Tally]:
    """Never fresh; counted beside the pages by default."""
    return CostlyValue(store.tally, "counts", 0.0, 0.0, slow)


def test_who_asks_while_it_is_counted_sees_what_was_counted_before(slow: Slow, newsroom: ModuleType) -> None:
    told = counts_of(slow)
    assert told.get().articles == 0
    newsroom.write(slow.store, newsroom.article("新的一篇", "正文" * 40))
    slow.may.clear()
    assert [told.get().articles for _ in range(3)] == [0, 0, 0]
    slow.may.set()
    told.stop()
    assert told.get().articles == 1
    told.stop()


def test_a_store_that_does_not_answer_leaves_what_was_counted(slow: Slow) -> None:
    told = counts_of(slow)
    before = told.get()
    slow.fails = True
    assert told.get() is before
    told.stop()
    slow.fails = False
    told.get()
    told.stop()
    assert slow.counted == 2


def test_nothing_counted_yet_is_an_error_to_who_asks(slow: Slow) -> None:
    slow.fails = True
    told = counts_of(slow)
    with pytest.raises(StoreError):
        told.get()
    slow.fails = False
    assert told.get().articles == 0


def test_what_is_counted_at_once_is_counted_by_who_asks(slow: Slow, newsroom: ModuleType) -> None:
    told = counts_of(slow, 3600.0)
    assert told.get().articles == 0
    newsroom.write(slow.store, newsroom.article("新的一篇", "正文" * 40))
    assert told.get().articles == 1
