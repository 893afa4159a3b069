"""Read an image's format and size from its first bytes, and whether the file is complete.

Nothing is decoded: all six formats state the size near the start, so no decoding library is exposed to a hostile file. The server's media
type and the file name are ignored.

- JPEG: ITU T.81, B.2.2: the frame header (SOFn) among the marker segments; rotated by the orientation in its Exif (tag 0x0112)
- PNG: W3C PNG 3rd edition, 11.2.1 (IHDR); GIF: GIF89a, 18 (logical screen); BMP: BITMAPCOREHEADER and BITMAPINFOHEADER
- WebP: RFC 9649, 2.5 to 2.7 (VP8, VP8L, VP8X); AVIF: boxes (ISO/IEC 14496-12, 4.2); ISO/IEC 23008-12, 6.5.3 (``ispe``), 6.5.10 (``irot``)
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from newsportal.errors import NotApplicable

BRANDS: Final = frozenset({b"avif", b"avis"})
MAX_BOXES: Final = 1000  # Of one level: images have some ten properties
BITMAP_CORE: Final = 12
# Header lengths: OS/2 1 above; below, all later bitmaps, whose height is negative where rows run from top to bottom.
BITMAP_INFO: Final = (40, 52, 56, 64, 108, 124)


def is_avif(data: bytes) -> bool:
    """Return whether the file type box lists an AVIF brand (HEIC images and videos have the same box)."""
    length = int.from_bytes(data[:4], "big")
    brands = data[8 : min(length, 256, len(data))]
    return any(brands[at : at + 4] in BRANDS for at in range(0, len(brands), 4) if at != 4)


def avif_size(data: bytes) -> tuple[int, int, bool]:
    """Return width, height, and whether all boxes are present. Raises ``IndexError`` if the data end before the properties."""
    top = list(iter_boxes(data, 0, len(data)))
    meta = next(((start, end) for kind, start, end in top if kind == b"meta"), None)
    if meta is None or meta[1] > len(data):
        raise IndexError(len(data))
    found: tuple[int, int] | None = (meta[0] + 4, meta[1])  # start and end of the content of the current container box
    for name in (b"iprp", b"ipco"):
        found = next(((start, end) for kind, start, end in iter_boxes(data, *found) if kind == name), None) if found else None
    places = [start for kind, start, end in iter_boxes(data, *found) if kind == b"ispe" and end - start >= 12] if found else []
    sizes = [(int.from_bytes(data[at + 4 : at + 8], "big"), int.from_bytes(data[at + 8 : at + 12], "big")) for at in places]
    if not sizes:
        raise NotApplicable("no-size", "an AVIF without ispe")
    width, height = max(sizes, key=lambda pair: pair[0] * pair[1])  # the tiles of a grid and thumbnails have smaller sizes
    rotated = any(kind == b"irot" and data[start] & 1 for kind, start, end in iter_boxes(data, *found) if end > start) if found else False
    complete = bool(top) and top[-1][2] == len(data)
    return (height, width, complete) if rotated else (width, height, complete)


def iter_boxes(data: bytes, start: int, end: int) -> Iterator[tuple[bytes, int, int]]:
    """Yield the boxes in ``data[start:end]``: kind, start and end of the content (the end may lie beyond the data)."""
    for _ in range(MAX_BOXES):
        if start + 8 > min(end, len(data)):
            return
        length, header = int.from_bytes(data[start : start + 4], "big"), 8
        if length == 1 and start + 16 <= len(data):
            length, header = int.from_bytes(data[start + 8 : start + 16], "big"), 16
        if length == 0:
            length = end - start
        if length < header:
            raise NotApplicable("broken", f"a box of {length} bytes")
        yield data[start + 4 : start + 8], start + header, start + length
        start += length


# SOFn: C4 are Huffman tables, C8 is reserved, CC arithmetic conditioning (T.81, table B.1).
FRAME_MARKERS: Final = frozenset(range(0xC0, 0xD0)) - {0xC4, 0xC8, 0xCC}
STANDALONE_MARKERS: Final = frozenset({0x01, *range(0xD0, 0xD8)})  # Markers without a segment: TEM and restarts
SCAN, END, EXIF_SEGMENT = 0xDA, 0xD9, 0xE1
ORIENTATION: Final = 0x0112
TRANSPOSED_ORIENTATIONS: Final = frozenset(range(5, 9))  # Orientations that swap width and height (Exif 2.32, 4.6.4)
# Markers and fill bytes before the frame header: a colour profile may take 255, but megabytes of them would stall the crawl.
MAX_MARKERS: Final = 10_000
MAX_ENTRIES: Final = 512  # Of an Exif directory: cameras write some 20


def jpeg_size(data: bytes) -> tuple[int, int, bool]:
    """Return width, height, and whether the data include the end of the image. ``IndexError`` if they end before the frame header."""
    at, transposed = 2, False
    for _ in range(MAX_MARKERS):
        if data[at] == 0xFF and data[at + 1] == 0xFF:  # a fill byte
            at += 1
            continue
        if data[at] != 0xFF:
            raise NotApplicable("broken", f"a JPEG without a marker at byte {at}")
        marker = data[at + 1]
        if marker in STANDALONE_MARKERS:
            at += 2
            continue
        if marker in (SCAN, END):
            raise NotApplicable("broken", "a JPEG without a frame header")
        length = data[at + 2] << 8 | data[at + 3]
        if length < 2:
            raise NotApplicable("broken", f"a JPEG segment of {length} bytes")
        if marker in FRAME_MARKERS:
            height, width = data[at + 5] << 8 | data[at + 6], data[at + 7] << 8 | data[at + 8]
            complete = b"\xff\xd9" in data[-64:]  # some writers add bytes behind the end marker
            return (height, width, complete) if transposed else (width, height, complete)
        if marker == EXIF_SEGMENT and data[at + 4 : at + 10] == b"Exif\0\0":
            transposed = transposed or orientation(data[at + 10 : at + 2 + length]) in TRANSPOSED_ORIENTATIONS
        at += 2 + length
    raise NotApplicable("broken", f"a JPEG without a frame header among {MAX_MARKERS} markers")


def orientation(exif: bytes) -> int:
    """Return the orientation from an Exif block (a TIFF header and its directory), 1 by default."""
    order = {b"II*\0": "little", b"MM\0*": "big"}.get(exif[:4])
    if order is None:
        return 1

    def number(at: int, length: int) -> int:
        return int.from_bytes(exif[at : at + length], "little" if order == "little" else "big")

    first = number(4, 4)
    for entry in range(min(number(first, 2), MAX_ENTRIES)):
        at = first + 2 + 12 * entry
        if number(at, 2) == ORIENTATION:
            return number(at + 8, 2) or 1
    return 1


# Bytes to request. A JPEG's size comes after its Exif segment, which is 64 kB at most and rarely over 20.
FIRST_BYTES: Final = 64 * 1024
MAX_PIXELS: Final = 60_000_000  # Larger images are rejected: press cameras have up to 61 megapixels. Decoding takes up to 540 MB.
MAX_SIDE: Final = 30_000  # Pixels. JPEG allows 65,535; long images (长图) on news sites stay below 20,000.
MARKUP: Final = re.compile(rb"\s*(?:\xef\xbb\xbf)?\s*<(?:!doctype|html|head|body|script|\?xml|!--|svg|div|p|meta|title)", re.IGNORECASE)
SVG: Final = re.compile(rb"<svg[\s>]", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class ImageHeader:
    """``width`` and ``height`` in pixels as displayed by a browser. ``complete``: the file is complete."""

    format: str
    width: int
    height: int
    complete: bool


def read_header(data: bytes, *, max_pixels: int = MAX_PIXELS) -> ImageHeader:
    """Return the header of the image that starts with ``data``.

    Raises ``NotApplicable``: ``empty``, ``markup`` (an HTML page under an image's URL), ``svg`` (may contain scripts), ``not-a-picture``,
    ``cut`` (the size comes after these bytes: fetch more), ``broken``, ``no-size``, ``too-large``.
    """
    if not data:
        raise NotApplicable("empty")
    name = format_of(data)
    if name is None:
        markup = "markup" if MARKUP.match(data[:256]) else "not-a-picture"
        raise NotApplicable("svg" if SVG.search(data[:4096]) else markup)
    try:
        width, height, complete = READERS[name](data)
    except IndexError as error:
        raise NotApplicable("cut", f"{len(data)} bytes do not reach to the size of this {name}") from error
    if width <= 0 or height <= 0:
        raise NotApplicable("no-size", f"{name} of {width} × {height}")
    if width * height > max_pixels or max(width, height) > MAX_SIDE:
        raise NotApplicable("too-large", f"{name} of {width} × {height} pixels; allowed: {max_pixels}, {MAX_SIDE} a side")
    return ImageHeader(name, width, height, complete)


def format_of(data: bytes) -> str | None:
    """Return the format by the first bytes; ``None`` if it is not one of these six."""
    if data.startswith(b"RIFF"):
        return "webp" if data[8:12] == b"WEBP" else None
    if data[4:8] == b"ftyp":
        return "avif" if is_avif(data) else None
    return next((name for start, name in SIGNATURES.items() if data.startswith(start)), None)


SIGNATURES: Final[Mapping[bytes, str]] = {
    b"\xff\xd8\xff": "jpeg",
    b"\x89PNG\r\n\x1a\n": "png",
    b"GIF87a": "gif",
    b"GIF89a": "gif",
    b"BM": "bmp",
}


def _number(data: bytes, at: int, length: int, order: str = "little") -> int:
    """Read an integer of ``length`` bytes. Raises ``IndexError`` if the data end before it does."""
    if at + length > len(data):
        raise IndexError(at)
    return int.from_bytes(data[at : at + length], "big" if order == "big" else "little")


def _png(data: bytes) -> tuple[int, int, bool]:
    if len(data) >= 16 and data[12:16] != b"IHDR":
        raise NotApplicable("broken", "a PNG without IHDR")
    return _number(data, 16, 4, "big"), _number(data, 20, 4, "big"), b"IEND\xaeB`\x82" in data[-64:]


def _bmp(data: bytes) -> tuple[int, int, bool]:
    length, header = _number(data, 2, 4), _number(data, 14, 4)
    if header == BITMAP_CORE:
        return _number(data, 18, 2), _number(data, 20, 2), len(data) >= length
    if header not in BITMAP_INFO:
        raise NotApplicable("not-a-picture", "begins with BM, and goes on as no bitmap")
    width, height = _number(data, 18, 4), _number(data, 22, 4)
    return width, (1 << 32) - height if height >= 1 << 31 else height, len(data) >= length > BITMAP_CORE


def _webp(data: bytes) -> tuple[int, int, bool]:
    complete, kind = len(data) >= _number(data, 4, 4) + 8, data[12:16]
    if kind == b"VP8X":
        return _number(data, 24, 3) + 1, _number(data, 27, 3) + 1, complete
    if kind == b"VP8L":
        bits = _number(data, 21, 4)
        return (bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1, complete
    if kind == b"VP8 ":
        if len(data) >= 26 and data[23:26] != b"\x9d\x01\x2a":
            raise NotApplicable("broken", "a WebP whose first frame is no key frame")
        return _number(data, 26, 2) & 0x3FFF, _number(data, 28, 2) & 0x3FFF, complete
    if len(data) < 16:
        raise IndexError(16)
    raise NotApplicable("broken", f"a WebP that begins with {kind!r}")


READERS: Final[Mapping[str, Callable[[bytes], tuple[int, int, bool]]]] = {
    "jpeg": jpeg_size,
    "png": _png,
    "gif": lambda data: (_number(data, 6, 2), _number(data, 8, 2), data.rstrip(b"\0").endswith(b";")),
    "bmp": _bmp,
    "webp": _webp,
    "avif": avif_size,
}  # Format -> (width, height, complete). Raise ``IndexError`` if the data end too early, ``NotApplicable`` if they are broken.
