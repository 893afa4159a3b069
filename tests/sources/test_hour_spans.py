"""Spans of hours in ``sources.yaml``."""

from __future__ import annotations

from typing import Any

import pytest

from newsportal.sources.values import DAY, hours_of


@pytest.mark.parametrize(
    ("written", "hours"),
    [
        ("6-24", range(6, 24)),
        ("6-23", range(6, 24)),
        ("0-24", DAY),
        ("22-5", [0, 1, 2, 3, 4, 5, 22, 23]),
        ("8", [8]),
        (8, [8]),
        ([8, 12, "18-20"], [8, 12, 18, 19, 20]),
        ("6-9, 18-19", [6, 7, 8, 9, 18, 19]),
        ("6–7", [6, 7]),
        (" 23 - 1 ", [0, 1, 23]),
        ("5-5", [5]),
    ],
)
def test_valid_spans(written: Any, hours: Any) -> None:
    assert hours_of(written) == tuple(hours)


@pytest.mark.parametrize("written", ["", "24", "25", "6-25", "-1", "a", "6-", [], None, 1.5, True, {"a": 1}, [[1]], "6:30-7", 99])
def test_invalid_spans(written: Any) -> None:
    with pytest.raises(ValueError, match="allowed: hours from 0 to 23"):
        hours_of(written)
