"""Decompression of bodies within a limit: ten kilobytes may expand to ten gigabytes."""

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

CHUNK_BYTES = 1 << 20  # bytes decompressed at a time: what a bomb can cost beyond the limit
FIRST_CHUNK_BYTES = 1 << 10
"""Bytes given to a stream at first, doubled each time: of a million tiny streams each would copy all that follows."""

MAX_MEMBERS = 10_000  # streams per body. Block compression has one per 64 kB (BGZF).


class TooLarge(ValueError):
    """Raised by :func:`decompress` if the limit is exceeded. The caller gives the page up."""


def decompress(body: bytes, encodings: str, limit: int) -> bytes:
    """Decode the content encodings of ``body`` (the header's value), to at most ``limit`` bytes; a truncated stream gives what it has.
    Raises :class:`TooLarge`, and ``ValueError`` for an unknown encoding or invalid data."""
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
    """Decompress consecutive streams (zlib or zstd). What a stream leaves is copied, so each is given little input at first."""
    out, view, place = bytearray(), memoryview(body), 0
    for _ in range(MAX_MEMBERS):
        stream, size = make(), FIRST_CHUNK_BYTES
        while not stream.eof and place < len(body):
            chunk = view[place : place + size]
            place, size = place + len(chunk), min(2 * size, CHUNK_BYTES)
            _grow(out, stream.decompress(chunk, CHUNK_BYTES), limit)
            while not stream.eof and (rest := _rest(stream)) is not None:
                _grow(out, stream.decompress(rest, CHUNK_BYTES), limit)
        place -= len(stream.unused_data) if stream.eof else 0
        if not view[place : place + 4].tobytes().startswith((b"\x1f\x8b", b"\x28\xb5\x2f\xfd")) and (out or place >= len(body)):
            return bytes(out)  # the end, or padding after the last stream
    raise ValueError(f"more than {MAX_MEMBERS} streams one after another")


def _rest(stream: Any) -> bytes | None:
    """Return input left for the next step; ``None`` if the stream needs more input than there is."""
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
    while chunk := stream.process(body, output_buffer_limit=CHUNK_BYTES):
        _grow(out, chunk, limit)
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
"""Content encodings that we accept."""
