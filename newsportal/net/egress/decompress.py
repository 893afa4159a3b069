"""Bodies unpacked within a limit: ten kilobytes may stand for ten gigabytes."""

from __future__ import annotations

import sys
import zlib
from collections.abc import Callable, Mapping
from functools import partial
from types import MappingProxyType
from typing import Any

import brotli  # type: ignore[import-untyped]

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

STEP = 1 << 20  # bytes unpacked at a time: what a bomb can cost beyond the limit
FIRST = 1 << 10
"""Bytes that a stream is given at first, and twice as many each time: of a million tiny streams each would copy all that follow."""

MAX_MEMBERS = 10_000  # streams of one body. Whoever packs in blocks has one for each 64 kB (BGZF).


class TooLarge(ValueError):
    """Raised by :func:`decompress` when the limit is passed. The caller gives the page up."""


def decompress(body: bytes, encodings: str, limit: int) -> bytes:
    """``body`` without its content encodings (the header's value), at most ``limit`` bytes; of a stream that was cut what is there.
    Raises :class:`TooLarge`, and ``ValueError`` for an unknown encoding or broken data."""
    for name in reversed([part.strip().lower() for part in encodings.split(",") if part.strip()]):
        unpack = DECODERS.get(name)
        if unpack is None:
            raise ValueError(f"unknown content encoding {name!r}")
        try:
            body = unpack(body, limit)
        except (zlib.error, brotli.error, zstd.ZstdError) as error:
            raise ValueError(f"broken {name} data: {error}") from error
    return body


def _grow(out: bytearray, more: bytes, limit: int) -> None:
    out += more
    if len(out) > limit:
        raise TooLarge(f"more than {limit} bytes after unpacking")


def _members(make: Callable[[], Any], body: bytes, limit: int) -> bytes:
    """Streams of zlib's or zstd's kind, one after another. What one leaves is copied, so each is given little at first."""
    out, view, place = bytearray(), memoryview(body), 0
    for _ in range(MAX_MEMBERS):
        stream, size = make(), FIRST
        while not stream.eof and place < len(body):
            piece = view[place : place + size]
            place, size = place + len(piece), min(2 * size, STEP)
            _grow(out, stream.decompress(piece, STEP), limit)
            while not stream.eof and (rest := _rest(stream)) is not None:
                _grow(out, stream.decompress(rest, STEP), limit)
        place -= len(stream.unused_data) if stream.eof else 0
        if not view[place : place + 4].tobytes().startswith((b"\x1f\x8b", b"\x28\xb5\x2f\xfd")) and (out or place >= len(body)):
            return bytes(out)  # the end, or padding after the last stream
    raise ValueError(f"more than {MAX_MEMBERS} streams one after another")


def _rest(stream: Any) -> bytes | None:
    """Input that waits for the next step; ``None`` when the stream needs input that does not come."""
    if hasattr(stream, "needs_input"):
        return None if stream.needs_input else b""
    return stream.unconsumed_tail or None


def _inflate(body: bytes, limit: int) -> bytes:
    try:
        return _members(lambda: zlib.decompressobj(15), body, limit)
    except zlib.error:  # some servers send the data without zlib's header
        return _members(lambda: zlib.decompressobj(-15), body, limit)


def _unbrotli(body: bytes, limit: int) -> bytes:
    out, stream = bytearray(), brotli.Decompressor()
    while piece := stream.process(body, output_buffer_limit=STEP):
        _grow(out, piece, limit)
        if stream.is_finished():
            break
        body = b""
    return bytes(out)


DECODERS: Mapping[str, Callable[[bytes, int], bytes]] = MappingProxyType(
    {
        **dict.fromkeys(("gzip", "x-gzip"), partial(_members, lambda: zlib.decompressobj(31))),
        "deflate": _inflate,
        "br": _unbrotli,
        "zstd": partial(_members, zstd.ZstdDecompressor),
        "identity": lambda body, limit: body,
    }
)
"""Content encodings we ask for."""
