"""AVIF: a file of boxes (ISO/IEC 14496-12, 4.2), one of which tells the size."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from newsportal.errors import NotApplicable

BRANDS: Final = frozenset({b"avif", b"avis"})
MAX_BOXES: Final = 1000
"""Of one level: pictures have some ten properties."""


def is_avif(data: bytes) -> bool:
    """Whether the file type box names AVIF among its brands (HEIC and videos begin alike)."""
    length = int.from_bytes(data[:4], "big")
    brands = data[8 : min(length, 256, len(data))]
    return any(brands[at : at + 4] in BRANDS for at in range(0, len(brands), 4) if at != 4)


def size(data: bytes) -> tuple[int, int, bool]:
    """Width, height, and whether all boxes are there. Raises ``IndexError`` where the data end before the properties do."""
    top = list(inside(data, 0, len(data)))
    meta = next(((start, end) for kind, start, end in top if kind == b"meta"), None)
    if meta is None or meta[1] > len(data):
        raise IndexError(len(data))
    found = _find(data, (b"iprp", b"ipco"), meta[0] + 4, meta[1])
    sizes = [_extent(data, start) for kind, start, end in inside(data, *found) if kind == b"ispe" and end - start >= 12] if found else []
    if not sizes:
        raise NotApplicable("no-size", "an AVIF without ispe")
    width, height = max(sizes, key=lambda pair: pair[0] * pair[1])  # a grid's tiles have sizes of their own, thumbnails smaller ones
    turned = any(kind == b"irot" and data[start] & 1 for kind, start, end in inside(data, *found) if end > start) if found else False
    whole = bool(top) and top[-1][2] == len(data)
    return (height, width, whole) if turned else (width, height, whole)


def _extent(data: bytes, start: int) -> tuple[int, int]:
    return int.from_bytes(data[start + 4 : start + 8], "big"), int.from_bytes(data[start + 8 : start + 12], "big")


def _find(data: bytes, path: tuple[bytes, ...], start: int, end: int) -> tuple[int, int] | None:
    """Where the content of the box at the end of ``path`` begins and ends."""
    for name in path:
        found = next(((begins, ends) for kind, begins, ends in inside(data, start, end) if kind == name), None)
        if found is None:
            return None
        start, end = found
    return start, end


def inside(data: bytes, start: int, end: int) -> Iterator[tuple[bytes, int, int]]:
    """The boxes between two places: kind, where the content begins, where it ends (which may lie behind the data)."""
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
