"""A local Bloom filter of known URL identities (thesis E 4.3.3; pybloom-live's scalable filter, so it grows instead of refusing).

It is a sieve before the store, not the record: "no" is certain and costs nothing, "perhaps" is asked of the store. A false
positive costs one query and never an article. :mod:`bloom_redis` is the same for many processes, :mod:`bloom_file` keeps this one.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from threading import Lock
from typing import Any, Final

from newsportal.items import content_id

ERROR_RATE: Final = 1e-4
"""Thesis E 4.3.3: fewer than one false positive in 10,000."""

INITIAL_CAPACITY: Final = 100_000
"""Half a year of the thesis' 2,000 articles a day, with their aliases; beyond it the filter grows."""

TIGHTENING: Final = 0.9
"""pybloom-live gives its first filter 0.9 of the error rate it is told, and each further one 0.9 of the one before."""

SHARE: Final = (1 - TIGHTENING) / TIGHTENING
"""What pybloom-live must be told, of the error rate that all its filters together may have: Σ 0.9 · s · 0.9^i = 1."""


@dataclass(frozen=True, slots=True)
class Fill:
    """How full a filter is. ``error``: the false positives to be expected now, from how many were entered."""

    entered: int
    capacity: int
    filters: int
    bytes: int
    error: float


def expected_error(parts: Iterable[tuple[int, int, int]]) -> float:
    """The false positives of filters that are asked in turn, each given as (entered n, bits m, hashes k).

        p = 1 − ∏ (1 − (1 − e^(−kn/m))^k)

    The usual estimate (Bloom 1970; Almeida et al. 2007, section 3).
    """
    right = 1.0
    for entered, bits, hashes in parts:
        right *= 1 - (1 - math.exp(-hashes * entered / bits)) ** hashes
    return 1 - right


class UrlBloom:
    """Identities entered so far, with no more than ``error_rate`` false positives and no false negatives. Shared between threads."""

    def __init__(self, identities: Iterable[str] = (), *, capacity: int = INITIAL_CAPACITY, error_rate: float = ERROR_RATE) -> None:
        self.capacity, self.error_rate = capacity, error_rate
        self.scalable = _scalable()(initial_capacity=capacity, error_rate=error_rate * SHARE, mode=_scalable().LARGE_SET_GROWTH)
        self._lock = Lock()
        self.enter(identities)

    def enter(self, identities: Iterable[str]) -> None:
        for identity in identities:
            with self._lock:  # to grow takes several steps
                self.scalable.add(_key(identity))

    def perhaps(self, identities: Collection[str]) -> set[str]:
        """Those that may have been entered; the others surely were not."""
        return {identity for identity in identities if identity in self}

    def __contains__(self, identity: str) -> bool:
        return _key(identity) in self.scalable

    def __len__(self) -> int:
        return len(self.scalable)

    def fill(self) -> Fill:
        filters = self.scalable.filters
        return Fill(
            entered=len(self.scalable),
            capacity=sum(part.capacity for part in filters) or self.capacity,
            filters=len(filters),
            bytes=sum(part.num_bits for part in filters) // 8,
            error=expected_error((part.count, part.num_bits, part.num_slices) for part in filters),
        )


def _key(identity: str) -> str:
    """pybloom-live encodes its keys strictly; what is no ASCII (a URL that cannot be parsed) is known by a hash."""
    return identity if identity.isascii() else content_id(identity)


def _scalable() -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from pybloom_live import ScalableBloomFilter
    return ScalableBloomFilter
