"""Caches of results, including those computed in the background."""

from __future__ import annotations

import threading

import pytest

from newsportal.portal import ttl_cache
from newsportal.portal.ttl_cache import BackgroundCache, TtlCache


def test_result_is_computed_in_background_without_waiting() -> None:
    may, made = threading.Event(), list[str]()

    def make() -> str:
        assert may.wait(600)
        made.append("made")
        return "there"

    shelf: TtlCache[str] = TtlCache(60, 10)
    soon = BackgroundCache(shelf, 0.0)
    assert soon.get("a", make) is None
    assert soon.get("a", make) is None
    may.set()
    soon.stop()
    assert (soon.get("a", make), made) == ("there", ["made"])


def test_error_is_raised_to_waiting_caller_and_retried() -> None:
    def fail() -> str:
        raise ValueError("away")

    soon: BackgroundCache[str] = BackgroundCache(TtlCache(60, 10), 10.0)
    with pytest.raises(ValueError, match="away"):
        soon.get("a", fail)
    assert soon.get("a", lambda: "there") == "there"
    soon.stop()


def test_number_of_waiting_computations_is_limited(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ttl_cache, "MAX_WAITING", 2)
    may = threading.Event()
    soon: BackgroundCache[bool] = BackgroundCache(TtlCache(60, 10), 0.0)
    results = [soon.get(name, lambda: may.wait(600)) for name in "abc"]
    may.set()
    soon.stop()
    assert results == [None, None, None]
    assert [soon._cache.cached(name) != [] for name in "abc"][2] is False
