"""Visits of many sources spread over time, by their names: the same on every machine and at every start, unlike chance."""

from __future__ import annotations

from hashlib import blake2b


def phase(name: str) -> float:
    """Where in an hour, or in any other period, a source's turn is: from 0 to below 1, even over many names."""
    return int.from_bytes(blake2b(name.encode("utf-8", "surrogatepass"), digest_size=4).digest(), "big") / 2**32
