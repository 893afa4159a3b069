"""A local Bloom filter of known URL identities (thesis E 4.3.3; pybloom-live's scalable filter, so it grows instead of refusing).

It is a sieve before the store, not the record: "no" is certain and costs nothing, "perhaps" is asked of the store. A false
positive costs one query and never an article.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from typing import Any

ERROR_RATE = 1e-4
"""Thesis E 4.3.3: fewer than one false positive in 10,000."""

INITIAL_CAPACITY = 100_000


class UrlBloom:
    """Identities entered so far, with false positives at ``error_rate`` and no false negatives."""

    def __init__(self, identities: Iterable[str] = (), *, capacity: int = INITIAL_CAPACITY, error_rate: float = ERROR_RATE) -> None:
        self._filter = _scalable(capacity, error_rate)
        for identity in identities:
            self.add(identity)

    def add(self, identity: str) -> None:
        self._filter.add(identity)

    def __contains__(self, identity: str) -> bool:
        return identity in self._filter

    def __len__(self) -> int:
        return len(self._filter)


def _scalable(capacity: int, error_rate: float) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from pybloom_live import ScalableBloomFilter
    return ScalableBloomFilter(initial_capacity=capacity, error_rate=error_rate, mode=ScalableBloomFilter.LARGE_SET_GROWTH)
