"""Pictures decoded: as our own portal serves them, written anew so that nothing but pixels is left of what a stranger sent, and hashed.

Decoded one at a time, after the head was read, never more pixels than allowed. Upright (Exif orientation applied), without metadata, no
larger than asked for. A JPEG, or a WebP where the picture has transparent parts; of a moving picture the first frame.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache, partial
from io import BytesIO
from threading import Lock
from typing import TYPE_CHECKING, Any, Final

from newsportal.errors import NotApplicable
from newsportal.extractors.images.head import MAX_PIXELS, Head, look

if TYPE_CHECKING:
    from PIL.Image import Image as Decoded

FORMATS: Final = ("JPEG", "PNG", "GIF", "WEBP", "AVIF", "BMP")  # of Pillow's forty formats those of the Web; some others run programs (EPS)
BUSY = Lock()  # 60 megapixels take up to 540 MB while they are decoded: one at a time
WEIGHT: Final[Mapping[str, float]] = {"webp": 2.0, "avif": 1.2}  # memory of a pixel, measured: libwebp holds four copies of a picture
MAX_SCANS: Final = 100  # a progressive JPEG has ten; each goes over all pixels, and a million hold a decoder for hours
SCAN: Final = b"\xff\xda"  # The marker of a scan (T.81, table B.1): within a scan's own bytes it cannot stand
BAND: Final = 4_000_000  # Pixels that are converted and reduced at a time
Sized = Callable[[int, int], tuple[int, int]]  # Width and height of a picture -> those that it is wanted to have, at least
THUMB_SIDE: Final = 480  # Pixels of the longer side: the wall's columns are some 240 wide, twice as fine on the screens of telephones
FULL_SIDE: Final = 2560  # pixels of the longer side in the viewer; long pictures (长图) may be :data:`LONG` times as long as wide
LONG: Final = 4
QUALITY: Final = 85  # Pillow's scale; above, files grow faster than pictures get better
TYPES: Final = {"JPEG": "image/jpeg", "WEBP": "image/webp"}


@contextmanager
def decoded(data: bytes, wanted: Sized, *, max_pixels: int = MAX_PIXELS) -> Iterator[tuple[Head, Decoded]]:
    """The first frame of a picture, upright, and its head; reduced to no less than ``wanted``; in Pillow's mode RGBA where it has
    transparent parts, else RGB.

    Raises ``NotApplicable``: those of :func:`look`, ``too-large`` for what would take too much memory or time,
    and ``broken`` for what cannot be decoded to its end.
    """
    from PIL import Image, ImageOps  # some 40 ms, which only those pay who decode

    head = look(data, max_pixels=max_pixels)
    _check(head.format, data, head.width * head.height, max_pixels)
    with BUSY, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of odd metadata, of large pictures: the limit is ours
        try:
            with Image.open(BytesIO(data), formats=FORMATS) as opened:
                _check(head.format, data, opened.width * opened.height, max_pixels)  # it may have another size where it is decoded
                least = wanted(opened.width, opened.height)
                opened.draft(None, (2 * least[0], 2 * least[1]))  # at least so large: JPEGs alone can
                opened.load()
                small = reduced(opened, "RGBA" if (opened.mode in ("RGBA", "LA", "PA") or "transparency" in opened.info) else "RGB", least)
                ImageOps.exif_transpose(small, in_place=True)
        except NotApplicable:
            raise
        except MemoryError as error:
            raise NotApplicable("too-large", f"{head.width} × {head.height} pixels do not fit into memory") from error
        except Exception as error:  # decoders of six formats raise whatever they like over broken files
            raise NotApplicable("broken", f"{head.format}: {type(error).__name__}: {error}") from error
        yield head, small


def reduced(picture: Decoded, mode: str, least: tuple[int, int]) -> Decoded:
    """The picture in another mode, reduced to no less than ``least``, band by band: whole copies would take more memory."""
    from PIL import Image

    factor = max(1, min(picture.width // least[0], picture.height // least[1]))
    if factor == 1:
        return picture if picture.mode == mode else picture.convert(mode)
    small = Image.new(mode, (-(-picture.width // factor), -(-picture.height // factor)))
    small.info = picture.info  # its orientation
    rows = max(1, BAND // (picture.width * factor)) * factor
    for top in range(0, picture.height, rows):
        band = picture.crop((0, top, picture.width, min(top + rows, picture.height)))
        small.paste(band.convert(mode).reduce(factor), (0, top // factor))
    return small


def _check(format: str, data: bytes, pixels: int, max_pixels: int) -> None:
    """What it would take to decode so many pixels. Raises ``NotApplicable``."""
    most = int(max_pixels / WEIGHT.get(format, 1.0))
    if pixels > most:
        raise NotApplicable("too-large", f"{pixels} pixels; allowed for {format}: {most}")
    scans = data.count(SCAN) if format == "jpeg" else 0
    if scans > MAX_SCANS:
        raise NotApplicable("too-large", f"a JPEG of {scans} scans; allowed: {MAX_SCANS}")


@dataclass(frozen=True, slots=True)
class Written:
    """A picture of ours: its bytes, its media type, its size in pixels."""

    body: bytes
    type: str
    width: int
    height: int


def rewritten(data: bytes, side: int, *, max_pixels: int = MAX_PIXELS) -> Written:
    """The picture anew, its longer side at most ``side`` (of a long one its width a quarter of it). Raises ``NotApplicable``."""
    with decoded(data, partial(_inside, side=side), max_pixels=max_pixels) as (_, picture):
        try:
            from PIL import Image

            picture.thumbnail(_bounds(picture.width, picture.height, side), Image.Resampling.LANCZOS, reducing_gap=2.0)
            bare = Image.new(picture.mode, picture.size)  # a picture of pixels alone: what else the file carried stays behind
            bare.paste(picture)
            out, format = BytesIO(), "WEBP" if picture.mode == "RGBA" else "JPEG"
            bare.save(out, format, quality=QUALITY, **({} if format == "WEBP" else {"optimize": True, "progressive": True}))
            return Written(out.getvalue(), TYPES[format], bare.width, bare.height)
        except (OSError, ValueError, MemoryError) as error:
            raise NotApplicable("broken", f"cannot be written anew: {error}") from error


def _inside(width: int, height: int, side: int) -> tuple[int, int]:
    across, down = _bounds(width, height, side)
    scale = max(width / across, height / down, 1.0)
    return max(1, int(width / scale)), max(1, int(height / scale))


def _bounds(width: int, height: int, side: int) -> tuple[int, int]:
    """Where a picture must fit in. One that is much longer than wide is read by scrolling: it keeps its width."""
    return (side // LONG, side * LONG) if height > LONG * width and side >= FULL_SIDE else (side, side)


# Perceptual hashes of pictures: 64 bits that stay nearly the same when a picture is compressed, scaled or cropped a little.
#
# pHash (Zauner: Implementation and Benchmarking of Perceptual Image Hash Functions, 2010, 3.2.1): the picture in grey, 32 × 32, its
# discrete cosine transform C, and of the 8 × 8 lowest frequencies (without the first row and column) one bit each:
#
#     h_i = 1 if c_i > median(c_1 … c_64), else 0          distance(h, h') = number of bits that differ
#
# docs/algorithms/picture_filter.md has how far it moves under what is done to pictures.

SIDE: Final = 32  # Zauner: the side of the picture that is transformed
DRAFT: Final = 4 * SIDE  # pixels of the shorter side at least to which a picture is reduced before that
LOW: Final = 8  # Zauner: frequencies of either direction that are kept
SAME: Final = 10  # bits of 64 up to which two pictures are taken for one. Measured: docs/algorithms/picture_filter.md.
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
