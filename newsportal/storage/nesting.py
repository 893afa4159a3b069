"""How deep lists and mappings lie within one another. Databases and JSON readers have bounds there that they tell only when they fail."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

DEEPEST: Final = 40
"""Levels that every database keeps: MongoDB takes 100, and a list within a list is two there. What we store has four."""


def levels(value: Any, most: int = DEEPEST) -> Iterator[Any]:
    """What is in ``value`` and is no list or mapping, however deep. Raises ``ValueError`` below ``most`` levels."""
    if not isinstance(value, list | tuple | Mapping):
        yield value
        return
    if not most:
        raise ValueError(f"lists or mappings lie more than {DEEPEST} deep within one another")
    for inner in value.values() if isinstance(value, Mapping) else value:
        yield from levels(inner, most - 1)
