"""Active models while the store is briefly unavailable and when versions change."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest
from factories import empty_store

from newsportal.classify.base import Example, train
from newsportal.crawl.record import RECHECK, Models
from newsportal.errors import StoreUnavailable
from newsportal.store.store import Store

NOW = datetime(2026, 3, 5, 12, 0, tzinfo=UTC)
EXAMPLES = [Example(text, (label,)) for label, text in (("球", "主场球队 进球"), ("钱", "央行股市 上涨")) for _ in range(5)]


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    found = empty_store(tmp_path / "news.db")
    found.corpora.create("类", now=NOW)
    yield found
    found.close()


def keep(store: Store, blob: bytes | None = None) -> int:
    data = train("chi_cosine", EXAMPLES).to_bytes() if blob is None else blob
    facts = {"report": {"macro_f1": 0.9}}
    version = store.corpora.save_model("类", data, algorithm="chi_cosine", facts=facts, now=NOW)
    store.corpora.activate("类", version, now=NOW)
    return version


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


def test_brief_store_outage_keeps_the_loaded_model(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """If reading the new version fails, the previous one stays in use until the next check."""
    clock = Clock()
    models = Models(store, clock)
    keep(store)
    first = models.active("类")
    assert first is not None
    assert first.version == 1
    keep(store)
    with monkeypatch.context() as outage:

        def locked(*_: object) -> bytes:
            raise StoreUnavailable("locked")

        outage.setattr(store.corpora, "blob", locked)
        clock.now += RECHECK
        found = models.active("类")
        assert found is not None
        assert (found.version, models.load_error("类")) == (1, None)
    clock.now += RECHECK
    found = models.active("类")
    assert found is not None
    assert found.version == 2


def test_damaged_version_is_not_replaced_by_the_previous_one(store: Store) -> None:
    """The problem is reported to the operator, and the lexicon is used instead, as the run report says."""
    clock = Clock()
    models = Models(store, clock)
    keep(store)
    assert models.active("类") is not None
    keep(store, b"no model")
    clock.now += RECHECK
    assert models.active("类") is None
    assert "version 2 of the model of 类 cannot be used" in str(models.load_error("类"))
