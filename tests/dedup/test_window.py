from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from newsportal.dedup.document import Window

NOON = datetime(2024, 3, 1, 12, tzinfo=UTC)
HOUR = 3600.0


def test_entries_older_than_span_are_forgotten_in_order() -> None:
    window: Window[str] = Window(timedelta(hours=2), 10)
    assert [window.add(name, number * HOUR) for number, name in enumerate("abcde")] == [[], [], [], [], ["a"]]
    assert window.add("f", 20 * HOUR) == ["b"]  # the clock waits for a second document
    assert window.add("g", 20 * HOUR) == ["c", "d", "e"]


@given(st.lists(st.floats(0, 30 * HOUR), min_size=1, max_size=60).map(sorted))
def test_nothing_within_the_span_is_forgotten(times: list[float]) -> None:
    window: Window[float] = Window(timedelta(hours=5), 100)
    for time in times:
        assert all(time - old > 5 * HOUR for old in window.add(time, time))


@given(st.lists(st.floats(-1e12, 1e12), max_size=60))
def test_capacity_is_never_exceeded(times: list[float]) -> None:
    window: Window[int] = Window(None, 7)
    for number, time in enumerate(times):
        window.add(number, time)
        assert len(window) <= 7


@pytest.mark.parametrize("strange", [datetime(2099, 1, 1, tzinfo=UTC), datetime(1, 1, 1, tzinfo=UTC)])
def test_impossible_date_forgets_nothing(strange: datetime) -> None:
    window: Window[str] = Window(timedelta(hours=24), 100)
    start = window.time_of(NOON)
    assert window.add("a", start) == []
    assert window.add("b", start + HOUR) == []
    assert window.add("strange", window.time_of(strange)) == []
    assert window.add("c", start + 2 * HOUR) == []
    window.add("d", start + 60 * HOUR)
    assert window.add("e", start + 60 * HOUR) == ["a", "b", "strange", "c"]


def test_document_without_time_uses_the_previous_time() -> None:
    window: Window[str] = Window(timedelta(hours=1), 10)
    assert window.is_near(window.time_of(None), window.time_of(None))
    window.add("a", window.time_of(NOON))
    assert window.time_of(None) == NOON.timestamp()
    assert window.time_of(NOON.replace(tzinfo=None)) == NOON.timestamp()


def test_ends_of_span_are_included() -> None:
    window: Window[str] = Window(timedelta(hours=1), 10)
    assert window.is_near(0.0, HOUR)
    assert not window.is_near(0.0, HOUR + 1)


def test_zero_capacity_is_refused() -> None:
    with pytest.raises(ValueError, match="capacity"):
        Window(None, 0)
