"""A local Bloom filter of known URL identities (thesis E 4.3.3), scalable like pybloom-live's, so it grows instead of refusing.

It is a filter before the store: "no" is certain and costs nothing, "maybe" is looked up in the store. A false positive costs one query,
never an article. :mod:`bloom_redis` is the same, shared by many processes.
"""

import math
import warnings
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from hashlib import blake2b
from io import BytesIO
from struct import Struct, error
from threading import Lock
from typing import Any, Final

from newsportal.items import content_id

ERROR_RATE: Final = 1e-4  # thesis E 4.3.3: fewer than one false positive in 10,000
INITIAL_CAPACITY: Final = 100_000  # half a year of the thesis' 2,000 articles a day, with aliases; the filter grows beyond it
TIGHTENING: Final = 0.9  # pybloom-live gives its first filter 0.9 of the error rate, and each further one 0.9 of the previous
SHARE: Final = (1 - TIGHTENING) / TIGHTENING
"""Error rate passed to pybloom-live, as a share of the rate of all filters together: Σ 0.9 · s · 0.9^i = 1."""


@dataclass(frozen=True, slots=True)
class FillLevel:
    """How full a filter is. ``error``: expected rate of false positives for the current number of entries."""

    entered: int
    capacity: int
    filters: int
    bytes: int
    error: float


def expected_error(parts: Iterable[tuple[int, int, int]]) -> float:
    """Return the false positive rate of filters checked in turn, each given as (entries n, bits m, hashes k).

        p = 1 − ∏ (1 − (1 − e^(−kn/m))^k)

    The usual estimate (Bloom 1970; Almeida et al. 2007, section 3).
    """
    return 1 - math.prod((1 - (1 - math.exp(-hashes * entered / bits)) ** hashes for entered, bits, hashes in parts), start=1.0)


class UrlBloom:
    """A set of identities with at most ``error_rate`` false positives and no false negatives. Shared between threads."""

    def __init__(self, identities: Iterable[str] = (), *, capacity: int = INITIAL_CAPACITY, error_rate: float = ERROR_RATE) -> None:
        self.capacity, self.error_rate = capacity, error_rate
        self.scalable = _scalable()(initial_capacity=capacity, error_rate=error_rate * SHARE, mode=_scalable().LARGE_SET_GROWTH)
        self._lock = Lock()
        self.add(identities)

    def add(self, identities: Iterable[str]) -> None:
        for identity in identities:
            with self._lock:  # growing takes several steps
                self.scalable.add(_key(identity))

    def candidates(self, identities: Collection[str]) -> set[str]:
        """Return those that may have been entered; the others were certainly not."""
        return {identity for identity in identities if identity in self}

    def __contains__(self, identity: str) -> bool:
        return _key(identity) in self.scalable

    def __len__(self) -> int:
        return len(self.scalable)

    def fill(self) -> FillLevel:
        filters = self.scalable.filters
        return FillLevel(
            entered=len(self.scalable),
            capacity=sum(part.capacity for part in filters) or self.capacity,
            filters=len(filters),
            bytes=sum(part.num_bits for part in filters) // 8,
            error=expected_error((part.count, part.num_bits, part.num_slices) for part in filters),
        )


def _key(identity: str) -> str:
    """Return the key of an identity. pybloom-live encodes keys strictly; a non-ASCII one (a URL that cannot be parsed) is hashed."""
    return identity if identity.isascii() else content_id(identity)


def _scalable() -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from pybloom_live import ScalableBloomFilter
    return ScalableBloomFilter


MAGIC: Final = b"newsportal known 1\n"
HEAD: Final = Struct("<QdQ8s")
DIGEST: Final = 16
PROBES: Final = tuple(f"example.com/{number}" for number in range(8))


class FilterUnusable(ValueError):
    """Raised by :func:`unpack`: the filter must be filled again. The message gives the reason."""


def pack(bloom: UrlBloom, position: int) -> bytes:
    r"""``bloom`` and the ``position`` up to which it knows the store, as bytes; no pickle, which could run code.

    "newsportal known 1\n"  capacity Q  error rate d  position Q  dialect 8 bytes  filter (pybloom-live's own form)  BLAKE2b 16 bytes
    """
    body = BytesIO()
    bloom.scalable.tofile(body)
    head = HEAD.pack(bloom.capacity, bloom.error_rate, position, _dialect())
    data = MAGIC + head + body.getvalue()
    return data + _digest(data)


def unpack(data: bytes, capacity: int, error_rate: float) -> tuple[UrlBloom, int]:
    """Restore what :func:`pack` wrote. Raises :class:`FilterUnusable` for anything else, and if capacity or error rate differ."""
    if not data.startswith(MAGIC):
        raise FilterUnusable("it has another version")
    if len(data) < len(MAGIC) + HEAD.size + DIGEST or _digest(data[:-DIGEST]) != data[-DIGEST:]:
        raise FilterUnusable("it is damaged")
    was_capacity, was_rate, position, dialect = HEAD.unpack_from(data, len(MAGIC))
    if (was_capacity, was_rate) != (capacity, error_rate):
        raise FilterUnusable("it was made with another capacity or error rate")
    if dialect != _dialect():
        raise FilterUnusable("it was made by another version of the filter")
    bloom = UrlBloom(capacity=capacity, error_rate=error_rate)
    try:
        bloom.scalable = type(bloom.scalable).fromfile(BytesIO(data[len(MAGIC) + HEAD.size : -DIGEST]))
    except (ValueError, error) as reason:
        raise FilterUnusable("it was made by another version of the filter") from reason
    return bloom, position


def _digest(data: bytes) -> bytes:
    return blake2b(data, digest_size=DIGEST).digest()


def _dialect() -> bytes:
    """Return a hash of a small filter with some names: it changes with the hash functions."""
    small, body = UrlBloom(PROBES, capacity=64), BytesIO()
    small.scalable.tofile(body)
    return blake2b(body.getvalue(), digest_size=8).digest()
