"""Perceptual hashes of pictures: 64 bits that stay nearly the same when a picture is compressed, scaled or cropped a little.

pHash (Zauner: Implementation and Benchmarking of Perceptual Image Hash Functions, 2010, 3.2.1): the picture in grey, 32 × 32, its
discrete cosine transform C, and of the 8 × 8 lowest frequencies (without the first row and column) one bit each:

    h_i = 1 if c_i > median(c_1 … c_64), else 0          distance(h, h') = number of bits that differ

docs/algorithms/picture_filter.md has how far it moves under what is done to pictures.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any, Final

from newsportal.extractors.images.head import MAX_PIXELS
from newsportal.extractors.images.thumbnails import decoded

if TYPE_CHECKING:
    from PIL.Image import Image as Decoded

SIDE: Final = 32  # Zauner: the side of the picture that is transformed
DRAFT: Final = 4 * SIDE  # Pixels of the shorter side at least to which a picture is reduced before that
LOW: Final = 8  # Zauner: frequencies of either direction that are kept
SAME: Final = 10  # Bits of 64 up to which two pictures are taken for one. Measured: docs/algorithms/picture_filter.md.
FLAT: Final = 2.0  # standard deviation of the grey levels below which a picture has nothing to tell it by
HEX_DIGITS: Final = 16


def print_of(data: bytes, *, max_pixels: int = MAX_PIXELS) -> str | None:
    """The pHash of a whole picture file as 16 hexadecimal digits; ``None`` for one that is flat. Raises ``NotApplicable``."""
    with decoded(data, lambda width, height: (DRAFT, DRAFT), max_pixels=max_pixels) as (_, picture):
        return phash(picture)


def phash(picture: Decoded) -> str | None:
    import numpy as np
    from PIL import Image

    if picture.mode in ("RGBA", "LA", "PA", "P"):  # what is transparent is shown on white
        coloured = picture.convert("RGBA")
        picture = Image.alpha_composite(Image.new("RGBA", coloured.size, "white"), coloured)
    grey = np.asarray(picture.convert("L").resize((SIDE, SIDE), Image.Resampling.BOX), dtype=np.float64)
    if float(grey.std()) < FLAT:
        return None
    low = (_cosines() @ grey @ _cosines().T)[1 : LOW + 1, 1 : LOW + 1].ravel()
    bits = low > np.median(low)
    return f"{int(''.join('1' if bit else '0' for bit in bits), 2):0{HEX_DIGITS}x}"


def distance(one: str, other: str) -> int:
    return (int(one, 16) ^ int(other, 16)).bit_count()


@cache
def _cosines() -> Any:
    """The matrix of the discrete cosine transform (DCT-II) of :data:`SIDE` points, without its scale."""
    import numpy as np

    at = np.arange(SIDE)
    return np.cos(np.pi * np.outer(at, 2 * at + 1) / (2 * SIDE))
