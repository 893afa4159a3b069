"""What a picture is, read from its first bytes: format, width, height, and whether the bytes are all of it.

Nothing is decoded here: six formats tell their size in their first bytes, and reading those takes no library that a hostile file could
burden. What a server or a name says of the format counts for nothing.

- JPEG: ITU T.81, B.2.2: the frame header (SOFn) among the marker segments; turned by the orientation of its Exif (tag 0x0112)
- PNG: W3C PNG 3rd edition, 11.2.1 (IHDR); GIF: GIF89a, 18 (logical screen); BMP: BITMAPCOREHEADER and BITMAPINFOHEADER
- WebP: RFC 9649, 2.5 to 2.7 (VP8, VP8L, VP8X); AVIF: ISO/IEC 23008-12, 6.5.3 (``ispe``) and 6.5.10 (``irot``)
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

from newsportal.errors import NotApplicable
from newsportal.pictures import boxes, jpeg

FIRST_BYTES: Final = 64 * 1024
"""Bytes that are asked for. A JPEG's size stands behind its Exif segment, which is 64 kB at most and seldom over 20."""

MAX_PIXELS: Final = 60_000_000
"""Larger pictures are refused: cameras of the press have up to 61 megapixels. Decoding takes up to 540 MB."""

MAX_SIDE: Final = 30_000
"""Pixels. JPEG can name 65,535; long pictures (长图) on news sites stay below 20,000."""

MARKUP: Final = re.compile(rb"\s*(?:\xef\xbb\xbf)?\s*<(?:!doctype|html|head|body|script|\?xml|!--|svg|div|p|meta|title)", re.IGNORECASE)
SVG: Final = re.compile(rb"<svg[\s>]", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Head:
    """``width`` and ``height`` as a browser shows it, in pixels. ``whole``: the bytes reach to the picture's own end."""

    format: str
    width: int
    height: int
    whole: bool


def look(data: bytes, *, max_pixels: int = MAX_PIXELS) -> Head:
    """The head of a picture that begins with ``data``.

    Raises ``NotApplicable``: ``empty``, ``markup`` (a page under a picture's name), ``svg`` (it may carry scripts), ``not-a-picture``,
    ``cut`` (the size stands behind these bytes: more would help), ``broken``, ``no-size``, ``too-large``.
    """
    if not data:
        raise NotApplicable("empty")
    name = format_of(data)
    if name is None:
        raise NotApplicable(_what_else(data))
    try:
        width, height, whole = READERS[name](data)
    except IndexError as error:
        raise NotApplicable("cut", f"{len(data)} bytes do not reach to the size of this {name}") from error
    if width <= 0 or height <= 0:
        raise NotApplicable("no-size", f"{name} of {width} × {height}")
    if width * height > max_pixels or max(width, height) > MAX_SIDE:
        raise NotApplicable("too-large", f"{name} of {width} × {height} pixels; allowed: {max_pixels}, {MAX_SIDE} a side")
    return Head(name, width, height, whole)


def format_of(data: bytes) -> str | None:
    """The format that the first bytes tell; ``None`` for all that is no picture of these six."""
    if data.startswith(b"RIFF"):
        return "webp" if data[8:12] == b"WEBP" else None
    if data[4:8] == b"ftyp":
        return "avif" if boxes.is_avif(data) else None
    return next((name for start, name in STARTS.items() if data.startswith(start)), None)


STARTS: Final[Mapping[bytes, str]] = {
    b"\xff\xd8\xff": "jpeg",
    b"\x89PNG\r\n\x1a\n": "png",
    b"GIF87a": "gif",
    b"GIF89a": "gif",
    b"BM": "bmp",
}


def _what_else(data: bytes) -> str:
    if SVG.search(data[:4096]):
        return "svg"
    return "markup" if MARKUP.match(data[:256]) else "not-a-picture"


def _number(data: bytes, at: int, length: int, order: str = "little") -> int:
    """A number of ``length`` bytes. Raises ``IndexError`` where the data end before it does."""
    if at + length > len(data):
        raise IndexError(at)
    return int.from_bytes(data[at : at + length], "big" if order == "big" else "little")


def _png(data: bytes) -> tuple[int, int, bool]:
    if len(data) >= 16 and data[12:16] != b"IHDR":
        raise NotApplicable("broken", "a PNG without IHDR")
    return _number(data, 16, 4, "big"), _number(data, 20, 4, "big"), b"IEND\xaeB`\x82" in data[-64:]


def _gif(data: bytes) -> tuple[int, int, bool]:
    return _number(data, 6, 2), _number(data, 8, 2), data.rstrip(b"\0").endswith(b";")


def _bmp(data: bytes) -> tuple[int, int, bool]:
    length, header = _number(data, 2, 4), _number(data, 14, 4)
    if header == BITMAP_CORE:
        return _number(data, 18, 2), _number(data, 20, 2), len(data) >= length
    if header not in BITMAP_INFO:
        raise NotApplicable("not-a-picture", "begins with BM, and goes on as no bitmap")
    width, height = _number(data, 18, 4), _number(data, 22, 4)
    return width, (1 << 32) - height if height >= 1 << 31 else height, len(data) >= length > BITMAP_CORE


BITMAP_CORE: Final = 12
BITMAP_INFO: Final = (40, 52, 56, 64, 108, 124)
"""Lengths of the headers of OS/2 1 and of all later bitmaps; the height of the latter is negative where rows run downwards."""


def _webp(data: bytes) -> tuple[int, int, bool]:
    whole, kind = len(data) >= _number(data, 4, 4) + 8, data[12:16]
    if kind == b"VP8X":
        return _number(data, 24, 3) + 1, _number(data, 27, 3) + 1, whole
    if kind == b"VP8L":
        bits = _number(data, 21, 4)
        return (bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1, whole
    if kind == b"VP8 ":
        if len(data) >= 26 and data[23:26] != b"\x9d\x01\x2a":
            raise NotApplicable("broken", "a WebP whose first frame is no key frame")
        return _number(data, 26, 2) & 0x3FFF, _number(data, 28, 2) & 0x3FFF, whole
    if len(data) < 16:
        raise IndexError(16)
    raise NotApplicable("broken", f"a WebP that begins with {kind!r}")


READERS: Final[Mapping[str, Callable[[bytes], tuple[int, int, bool]]]] = {
    "jpeg": jpeg.size,
    "png": _png,
    "gif": _gif,
    "bmp": _bmp,
    "webp": _webp,
    "avif": boxes.size,
}
"""Format -> (width, height, whole). Raise ``IndexError`` where the data end too early, ``NotApplicable`` where they are broken."""
