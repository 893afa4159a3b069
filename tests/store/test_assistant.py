"""What every store guarantees about the assistant's calls: answers by key, and limits checked and charged in one transaction."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from factories import HOUR, NOW

from newsportal.store.store import Store

ASKED: dict[str, Any] = {"purpose": "summary", "model": "模型", "since": NOW, "calls": 3, "tokens": 500, "lasts": timedelta(minutes=1)}


def test_latest_answer_is_found_by_its_key(store: Store) -> None:
    for number, text in enumerate(("旧\x00的", "新的")):
        call = store.assistant.begin("k1", now=NOW + number * HOUR, **ASKED)
        assert isinstance(call, int)
        store.assistant.finish(call, text, 100)
    found = store.assistant.answers(["k1", "k2"])
    assert {key: (answer.text, answer.model, answer.at) for key, answer in found.items()} == {"k1": ("新的", "模型", NOW + HOUR)}
    assert store.assistant.used(NOW) == (2, 200)
    assert store.assistant.used(NOW + HOUR) == (1, 100)


def test_concurrent_calls_with_the_same_key(store: Store) -> None:
    call = store.assistant.begin("k1", now=NOW, **ASKED)
    assert store.assistant.begin("k1", now=NOW, **ASKED) == "under-way"
    assert isinstance(store.assistant.begin("k1", now=NOW + HOUR, **ASKED), int), "the first caller is presumed dead"
    assert isinstance(call, int)
    store.assistant.cancel(call)
    assert store.assistant.used(NOW) == (1, 0)
    spent = store.assistant.begin("k2", now=NOW, **ASKED)
    assert isinstance(spent, int)
    store.assistant.cancel(spent, counts=True)
    assert store.assistant.used(NOW) == (2, 0)
    assert isinstance(store.assistant.begin("k2", now=NOW, **ASKED), int), "it is no longer under way"


def test_calls_and_tokens_are_limited_and_old_calls_pruned(store: Store) -> None:
    call = store.assistant.begin("k1", now=NOW, **ASKED)
    assert isinstance(call, int)
    store.assistant.finish(call, "好", 500)
    assert store.assistant.begin("k2", now=NOW, **ASKED) == "tokens"
    for key in ("k2", "k3"):
        assert isinstance(store.assistant.begin(key, now=NOW, **{**ASKED, "tokens": None}), int)
    assert store.assistant.begin("k4", now=NOW, **{**ASKED, "tokens": None}) == "calls"
    assert store.assistant.prune(NOW + HOUR, dry_run=True) == 3
    assert store.assistant.prune(NOW + HOUR) == 3
    assert store.assistant.used(NOW) == (0, 0)
