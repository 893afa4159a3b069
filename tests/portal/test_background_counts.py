"""Totals are counted in the background where counting is slow."""

from __future__ import annotations

import threading
from types import ModuleType

import pytest

from newsportal.errors import StoreError
from newsportal.portal.ttl_cache import CostlyValue
from newsportal.store.results import Tally
from newsportal.store.store import Store


class SlowStore:
    """Store whose count waits for permission."""

    def __init__(self, store: Store) -> None:
        self.store, self.release, self.counts = store, threading.Event(), 0
        self.fails = False
        self.release.set()

    def tally(self) -> Tally:
        assert self.release.wait(600)
        if self.fails:
            raise StoreError("away")
        self.counts += 1
        return self.store.tally()


@pytest.fixture
def slow(fresh: Store) -> SlowStore:
    return SlowStore(fresh)


def counts_of(store: SlowStore, slow: float = -1.0) -> CostlyValue[Tally]:
    """Return a cache that is never fresh, and counts in the background by default."""
    return CostlyValue(store.tally, "counts", 0.0, 0.0, slow)


def test_previous_count_is_returned_while_counting(slow: SlowStore, newsroom: ModuleType) -> None:
    counts = counts_of(slow)
    assert counts.get().articles == 0
    newsroom.write(slow.store, newsroom.article("新的一篇", "正文" * 40))
    slow.release.clear()
    assert [counts.get().articles for _ in range(3)] == [0, 0, 0]
    slow.release.set()
    counts.stop()
    assert counts.get().articles == 1
    counts.stop()


def test_failed_count_keeps_the_previous_one(slow: SlowStore) -> None:
    counts = counts_of(slow)
    before = counts.get()
    slow.fails = True
    assert counts.get() is before
    counts.stop()
    slow.fails = False
    counts.get()
    counts.stop()
    assert slow.counts == 2


def test_error_is_raised_without_a_previous_count(slow: SlowStore) -> None:
    slow.fails = True
    counts = counts_of(slow)
    with pytest.raises(StoreError):
        counts.get()
    slow.fails = False
    assert counts.get().articles == 0


def test_fast_count_is_done_in_the_foreground(slow: SlowStore, newsroom: ModuleType) -> None:
    counts = counts_of(slow, 3600.0)
    assert counts.get().articles == 0
    newsroom.write(slow.store, newsroom.article("新的一篇", "正文" * 40))
    assert counts.get().articles == 1
