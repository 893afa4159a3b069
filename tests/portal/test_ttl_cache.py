"""Answers that are kept, and those that are made beside the pages."""

from __future__ import annotations

import threading

import pytest

from newsportal.portal import ttl_cache
from newsportal.portal.ttl_cache import BackgroundCache, TtlCache


def test_who_does_not_want_to_wait_does_without_and_the_next_one_has_it() -> None:
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


def test_who_waits_hears_what_went_wrong_and_it_is_tried_again() -> None:
    def fail() -> str:
        raise ValueError("away")

    soon: BackgroundCache[str] = BackgroundCache(TtlCache(60, 10), 10.0)
    with pytest.raises(ValueError, match="away"):
        soon.get("a", fail)
    assert soon.get("a", lambda: "there") == "there"
    soon.stop()


def test_no_more_wait_than_may(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ttl_cache, "MAX_WAITING", 2)
    may = threading.Event()
    soon: BackgroundCache[bool] = BackgroundCache(TtlCache(60, 10), 0.0)
    asked = [soon.get(name, lambda: may.wait(600)) for name in "abc"]
    may.set()
    soon.stop()
    assert asked == [None, None, None]
    assert [soon._kept.cached(name) != [] for name in "abc"][2] is False
