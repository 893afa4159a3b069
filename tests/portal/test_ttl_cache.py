"""Caches of results, including those computed in the background."""

from __future__ import annotations

import threading

import pytest

from newsportal.portal import ttl_cache
from newsportal.portal.ttl_cache import BackgroundCache, TtlCache


def test_result_is_computed_in_background_without_waiting() -> None:
    release, calls = threading.Event(), list[str]()

    def make() -> str:
        assert release.wait(600)
        calls.append("made")
        return "there"

    cache: TtlCache[str] = TtlCache(60, 10)
    background = BackgroundCache(cache, 0.0)
    assert background.get("a", make) is None
    assert background.get("a", make) is None
    release.set()
    background.stop()
    assert (background.get("a", make), calls) == ("there", ["made"])


def test_error_is_raised_to_waiting_caller_and_retried() -> None:
    def fail() -> str:
        raise ValueError("away")

    background: BackgroundCache[str] = BackgroundCache(TtlCache(60, 10), 10.0)
    with pytest.raises(ValueError, match="away"):
        background.get("a", fail)
    assert background.get("a", lambda: "there") == "there"
    background.stop()


def test_number_of_waiting_computations_is_limited(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ttl_cache, "MAX_WAITING", 2)
    release = threading.Event()
    background: BackgroundCache[bool] = BackgroundCache(TtlCache(60, 10), 0.0)
    results = [background.get(name, lambda: release.wait(600)) for name in "abc"]
    release.set()
    background.stop()
    assert results == [None, None, None]
    assert [background._cache.cached(name) != [] for name in "abc"][2] is False
