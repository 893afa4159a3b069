"""Lists within lists."""

from __future__ import annotations

from typing import Any

import pytest

from newsportal.store.records import BY_NAME, DEEPEST, from_plain, is_shallow


def deep(of: int) -> Any:
    """1 within so many lists and mappings, by turns."""
    value: Any = 1
    for level in range(of):
        value = [value] if level % 2 else {"a": value}
    return value


def test_what_lies_too_deep_is_noticed() -> None:
    for value in ({"a": [1, ["x", None]], "b": {}, "c": 2.5}, "text", deep(DEEPEST)):
        assert is_shallow(value)
    for of in (DEEPEST + 1, 10_000):
        assert not is_shallow(deep(of))


def test_a_row_of_a_backup_is_not_deeper_than_any_store_keeps() -> None:
    said = {"id": "r", "started": 1, "report": deep(DEEPEST)}
    assert from_plain(BY_NAME["runs"], said) == said
    with pytest.raises(ValueError, match=r"no row of runs: in report, .* deep"):
        from_plain(BY_NAME["runs"], {**said, "report": deep(DEEPEST + 1)})
