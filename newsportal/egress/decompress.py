"""Bodies unpacked within a limit: ten kilobytes may stand for ten gigabytes."""

from __future__ import annotations

import sys
import zlib
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

import brotli  # type: ignore[import-untyped]

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

STEP = 1 << 20
"""Bytes unpacked at a time: what a bomb can cost beyond the limit."""


class TooLarge(ValueError):
    """Raised by :func:`decompress` when the limit is passed. The caller gives the page up."""


def decompress(body: bytes, encodings: str, limit: int) -> bytes:
    """``body`` without its content encodings (the header's value, as ``"gzip"`` or ``"deflate, br"``), at most ``limit`` bytes.

    A stream that was cut gives what is there. Raises :class:`TooLarge`, and ``ValueError`` for an unknown encoding or broken data.
    """
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
    """Streams of zlib's or zstd's kind, one after another."""
    out = bytearray()
    while body:
        stream = make()
        _grow(out, stream.decompress(body, STEP), limit)
        while not stream.eof and (rest := _rest(stream)) is not None:
            _grow(out, stream.decompress(rest, STEP), limit)
        body = stream.unused_data if stream.eof else b""
        if out and not body.startswith((b"\x1f\x8b", b"\x28\xb5\x2f\xfd")):
            break  # padding after the last stream
    return bytes(out)


def _rest(stream: Any) -> bytes | None:
    """Input that waits for the next step; ``None`` when the stream needs input that does not come."""
    if hasattr(stream, "needs_input"):
        return None if stream.needs_input else b""
    return stream.unconsumed_tail or None


def _gunzip(body: bytes, limit: int) -> bytes:
    return _members(lambda: zlib.decompressobj(31), body, limit)


def _inflate(body: bytes, limit: int) -> bytes:
    try:
        return _members(lambda: zlib.decompressobj(15), body, limit)
    except zlib.error:  # some servers send the data without zlib's header
        return _members(lambda: zlib.decompressobj(-15), body, limit)


def _unzstd(body: bytes, limit: int) -> bytes:
    return _members(zstd.ZstdDecompressor, body, limit)


def _unbrotli(body: bytes, limit: int) -> bytes:
    out, stream = bytearray(), brotli.Decompressor()
    piece = stream.process(body, output_buffer_limit=STEP)
    while piece:
        _grow(out, piece, limit)
        if stream.is_finished():
            break
        piece = stream.process(b"", output_buffer_limit=STEP)
    return bytes(out)


def _identity(body: bytes, limit: int) -> bytes:
    return body


DECODERS: Mapping[str, Callable[[bytes, int], bytes]] = MappingProxyType(
    {"gzip": _gunzip, "x-gzip": _gunzip, "deflate": _inflate, "br": _unbrotli, "zstd": _unzstd, "identity": _identity, "": _identity}
)
"""Content encodings we ask for."""
