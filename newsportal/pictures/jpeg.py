"""The size of a JPEG as it is shown: the frame header, turned as its Exif says."""

from __future__ import annotations

from typing import Final

from newsportal.errors import NotApplicable

FRAMES: Final = frozenset(range(0xC0, 0xD0)) - {0xC4, 0xC8, 0xCC}
"""SOFn: C4 are Huffman tables, C8 is reserved, CC arithmetic conditioning (T.81, table B.1)."""

ALONE: Final = frozenset({0x01, *range(0xD0, 0xD8)})
"""Markers without a segment: TEM and restarts."""

SCAN, END, EXIF_SEGMENT = 0xDA, 0xD9, 0xE1
ORIENTATION: Final = 0x0112
LYING: Final = frozenset(range(5, 9))
"""Orientations that swap width and height (Exif 2.32, 4.6.4)."""

MAX_MARKERS: Final = 10_000
"""Markers and fill bytes before the frame header: a colour profile may take 255, and megabytes of them would hold up the crawl."""

MAX_ENTRIES: Final = 512
"""Of an Exif directory: cameras write some 20."""


def size(data: bytes) -> tuple[int, int, bool]:
    """Width, height, and whether the data reach to the end of the picture. Raises ``IndexError`` where they end before the frame header."""
    at, lying = 2, False
    for _ in range(MAX_MARKERS):
        if data[at] == 0xFF and data[at + 1] == 0xFF:  # a fill byte
            at += 1
            continue
        if data[at] != 0xFF:
            raise NotApplicable("broken", f"a JPEG without a marker at byte {at}")
        marker = data[at + 1]
        if marker in ALONE:
            at += 2
            continue
        if marker in (SCAN, END):
            raise NotApplicable("broken", "a JPEG without a frame header")
        length = data[at + 2] << 8 | data[at + 3]
        if length < 2:
            raise NotApplicable("broken", f"a JPEG segment of {length} bytes")
        if marker in FRAMES:
            height, width = data[at + 5] << 8 | data[at + 6], data[at + 7] << 8 | data[at + 8]
            return (height, width, _ends(data)) if lying else (width, height, _ends(data))
        if marker == EXIF_SEGMENT and data[at + 4 : at + 10] == b"Exif\0\0":
            lying = lying or orientation(data[at + 10 : at + 2 + length]) in LYING
        at += 2 + length
    raise NotApplicable("broken", f"a JPEG without a frame header among {MAX_MARKERS} markers")


def _ends(data: bytes) -> bool:
    """Whether the end marker is there; some writers add bytes behind it."""
    return b"\xff\xd9" in data[-64:]


def orientation(exif: bytes) -> int:
    """The orientation that an Exif block (a TIFF header and what follows) tells; 1 where it tells none."""
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
