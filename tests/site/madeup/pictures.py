"""Small computed pictures: sky, sun, two ranges of hills and a water line, as PNG. The motif determines colours and shapes."""

from __future__ import annotations

import struct
import zlib
from functools import lru_cache
from math import sin

Colour = tuple[int, int, int]

SKIES: tuple[tuple[Colour, Colour], ...] = (
    ((38, 70, 120), (236, 190, 150)),
    ((120, 170, 210), (240, 236, 222)),
    ((60, 40, 80), (232, 120, 96)),
    ((20, 28, 52), (70, 96, 140)),
    ((150, 190, 170), (248, 240, 210)),
)
RIDGES = (0.55, 0.7)
"""Where the two ranges of hills begin, as shares of the height from the top."""

LANDS: tuple[Colour, ...] = ((52, 84, 70), (86, 72, 60), (40, 60, 92), (112, 120, 96), (70, 54, 84))


@lru_cache(maxsize=256)
def png(motif: str, width: int = 480, height: int = 300) -> bytes:
    """Return an 8-bit RGB picture of ``width`` × ``height`` pixels, the same for the same motif."""
    seed = zlib.crc32(motif.encode())
    ridges = [[height * (share + _wave(seed, depth, x)) for x in range(width)] for depth, share in enumerate(RIDGES)]
    rows = b"".join(b"\0" + _row(seed, y, width, height, ridges) for y in range(height))
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + _chunk(b"IHDR", header) + _chunk(b"IDAT", zlib.compress(rows, 6)) + _chunk(b"IEND", b"")


def _chunk(name: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))


def _wave(seed: int, depth: int, x: int) -> float:
    return 0.09 * sin((x + seed % 500) / (38 + 25 * depth)) + 0.03 * sin(x / 11 + seed)


def _row(seed: int, y: int, width: int, height: int, ridges: list[list[float]]) -> bytes:
    """Return a line of pixels: the sky, over it the sun, over it the hills from far to near."""
    row = bytearray(bytes(_mix(*SKIES[seed % len(SKIES)], y / height)) * width)
    radius = height // 10 + seed % 7
    reach = radius**2 - (y - height // 4) ** 2
    if reach > 0:
        centre, half = width // 5 + seed % (width // 2), int(reach**0.5)
        row[(centre - half) * 3 : (centre + half) * 3] = bytes((252, 236, 200)) * (2 * half)
    for depth, ridge in enumerate(ridges):
        colour = bytes(_mix((225, 225, 225), LANDS[seed // 7 % len(LANDS)], 0.55 + 0.45 * depth))
        if y > max(ridge):
            row[:] = colour * width
        elif y > min(ridge):
            for x in (x for x, top in enumerate(ridge) if y > top):
                row[x * 3 : x * 3 + 3] = colour
    return bytes(row)


def _mix(first: Colour, other: Colour, share: float) -> Colour:
    red, green, blue = (round(a + (b - a) * share) for a, b in zip(first, other, strict=True))
    return red, green, blue
