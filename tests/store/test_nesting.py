"""Nesting of lists and mappings."""

from __future__ import annotations

from typing import Any

import pytest

from newsportal.store.records import BY_NAME, DEEPEST, from_plain, is_shallow


def deep(of: int) -> Any:
    """Return 1 nested in so many lists and mappings, alternately."""
    value: Any = 1
    for level in range(of):
        value = [value] if level % 2 else {"a": value}
    return value


def test_is_shallow() -> None:
    for value in ({"a": [1, ["x", None]], "b": {}, "c": 2.5}, "text", deep(DEEPEST)):
        assert is_shallow(value)
    for of in (DEEPEST + 1, 10_000):
        assert not is_shallow(deep(of))


def test_row_of_a_backup_is_limited_in_depth() -> None:
    row = {"id": "r", "started": 1, "report": deep(DEEPEST)}
    assert from_plain(BY_NAME["runs"], row) == row
    with pytest.raises(ValueError, match=r"invalid row of runs: in report, .* deep"):
        from_plain(BY_NAME["runs"], {**row, "report": deep(DEEPEST + 1)})
