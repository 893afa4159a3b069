"""A Bloom filter as bytes, so that a restart forgets nothing and need not ask for every name again. No pickle: whoever writes the
file must not be able to run code.

    "newsportal known 1\\n"  capacity Q  error rate d  position Q  dialect 8 bytes  filter (pybloom-live's own form)  digest 16 bytes

``position`` is the last change of the store whose names are all in the filter; ``dialect`` tells whether this machine's filter hashes
alike; the digest (BLAKE2b) is taken over everything before it.
"""

from __future__ import annotations

from hashlib import blake2b
from io import BytesIO
from struct import Struct, error
from typing import Final

from newsportal.dedup.bloom import UrlBloom

MAGIC: Final = b"newsportal known 1\n"
HEAD: Final = Struct("<QdQ8s")
DIGEST: Final = 16
PROBES: Final = tuple(f"example.com/{number}" for number in range(8))


class Unusable(ValueError):
    """Raised by :func:`unpacked`: the filter has to be filled anew. The text says why."""


def packed(bloom: UrlBloom, position: int) -> bytes:
    """``bloom`` and the ``position`` up to which it knows the store, as bytes."""
    body = BytesIO()
    bloom.scalable.tofile(body)
    head = HEAD.pack(bloom.capacity, bloom.error_rate, position, _dialect())
    data = MAGIC + head + body.getvalue()
    return data + _digest(data)


def unpacked(data: bytes, capacity: int, error_rate: float) -> tuple[UrlBloom, int]:
    """What :func:`packed` was given. Raises :class:`Unusable` for anything else, and where capacity or error rate are other ones."""
    if not data.startswith(MAGIC):
        raise Unusable("it is of another version")
    if len(data) < len(MAGIC) + HEAD.size + DIGEST or _digest(data[:-DIGEST]) != data[-DIGEST:]:
        raise Unusable("it is damaged")
    was_capacity, was_rate, position, dialect = HEAD.unpack_from(data, len(MAGIC))
    if (was_capacity, was_rate) != (capacity, error_rate):
        raise Unusable("it was made with another capacity or error rate")
    if dialect != _dialect():
        raise Unusable("it was made by another version of the filter")
    bloom = UrlBloom(capacity=capacity, error_rate=error_rate)
    try:
        bloom.scalable = type(bloom.scalable).fromfile(BytesIO(data[len(MAGIC) + HEAD.size : -DIGEST]))
    except (ValueError, error) as reason:
        raise Unusable("it was made by another version of the filter") from reason
    return bloom, position


def _digest(data: bytes) -> bytes:
    return blake2b(data, digest_size=DIGEST).digest()


def _dialect() -> bytes:
    """A hash of what a small filter makes of some names: other hash functions give another one."""
    small, body = UrlBloom(PROBES, capacity=64), BytesIO()
    small.scalable.tofile(body)
    return blake2b(body.getvalue(), digest_size=8).digest()
