"""Numbers with their nouns, in English sentences."""

from __future__ import annotations


def counted(number: int, what: str) -> str:
    """``1 link``, ``2 links``, ``2 stories``."""
    many = f"{what[:-1]}ies" if what.endswith("y") else f"{what}s"
    return f"{number} {what if number == 1 else many}"
