"""Decode images: re-encode them for our own portal, so that only the pixels of a third party's file are served, and hash them.

One image is decoded at a time, after its header was checked, and never more pixels than allowed. Output is upright (Exif orientation
applied), without metadata, within the requested size: JPEG, or WebP for images with transparency. Of an animation the first frame is used.
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
from newsportal.extractors.images.head import MAX_PIXELS, ImageHeader, read_header

if TYPE_CHECKING:
    from PIL.Image import Image as Decoded

FORMATS: Final = ("JPEG", "PNG", "GIF", "WEBP", "AVIF", "BMP")  # the Web's among Pillow's forty; others run external programs (EPS)
DECODE_LOCK = Lock()  # 60 megapixels take up to 540 MB to decode: one image at a time
MEMORY_FACTORS: Final[Mapping[str, float]] = {"webp": 2.0, "avif": 1.2}  # memory per pixel, measured: libwebp holds four copies of an image
MAX_SCANS: Final = 100  # a progressive JPEG has ten; each covers all pixels, and a million would keep a decoder busy for hours
SCAN_MARKER: Final = b"\xff\xda"  # The marker of a scan (T.81, table B.1); cannot occur within a scan's data
BAND_PIXELS: Final = 4_000_000  # Pixels converted and reduced at a time
MinimumSize = Callable[[int, int], tuple[int, int]]  # Width and height of an image -> the minimum size wanted
THUMB_SIDE: Final = 480  # Longer side in pixels: the wall's columns are some 240 wide; phone screens have twice the resolution
FULL_SIDE: Final = 2560  # longer side in pixels in the viewer; long images (长图) may be :data:`LONG_RATIO` times as long as wide
LONG_RATIO: Final = 4
QUALITY: Final = 85  # Pillow's scale; above, file size grows faster than quality
TYPES: Final = {"JPEG": "image/jpeg", "WEBP": "image/webp"}


@contextmanager
def decode_image(data: bytes, minimum: MinimumSize, *, max_pixels: int = MAX_PIXELS) -> Iterator[tuple[ImageHeader, Decoded]]:
    """Yield the header and the first frame of an image: upright, reduced to no less than ``minimum``, in Pillow's mode RGBA if it has
    transparent parts, else RGB.

    Raises ``NotApplicable``: those of :func:`read_header`, ``too-large`` if decoding would take too much memory or time, and ``broken`` if
    it cannot be decoded completely.
    """
    from PIL import Image, ImageOps  # takes some 40 ms, so it is loaded on first use

    head = read_header(data, max_pixels=max_pixels)
    _check(head.format, data, head.width * head.height, max_pixels)
    with DECODE_LOCK, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about odd metadata and large images: our own limit applies
        try:
            with Image.open(BytesIO(data), formats=FORMATS) as opened:
                _check(head.format, data, opened.width * opened.height, max_pixels)  # the decoder may find another size
                least = minimum(opened.width, opened.height)
                opened.draft(None, (2 * least[0], 2 * least[1]))  # at least this size; JPEG only
                opened.load()
                small = shrink(opened, "RGBA" if (opened.mode in ("RGBA", "LA", "PA") or "transparency" in opened.info) else "RGB", least)
                ImageOps.exif_transpose(small, in_place=True)
        except NotApplicable:
            raise
        except MemoryError as error:
            raise NotApplicable("too-large", f"{head.width} × {head.height} pixels do not fit into memory") from error
        except Exception as error:  # the decoders raise arbitrary errors for broken files
            raise NotApplicable("broken", f"{head.format}: {type(error).__name__}: {error}") from error
        yield head, small


def shrink(picture: Decoded, mode: str, min_size: tuple[int, int]) -> Decoded:
    """Convert the image to ``mode``, reduced to no less than ``min_size``, band by band: full copies would take more memory."""
    from PIL import Image

    factor = max(1, min(picture.width // min_size[0], picture.height // min_size[1]))
    if factor == 1:
        return picture if picture.mode == mode else picture.convert(mode)
    small = Image.new(mode, (-(-picture.width // factor), -(-picture.height // factor)))
    small.info = picture.info  # keeps the orientation
    rows = max(1, BAND_PIXELS // (picture.width * factor)) * factor
    for top in range(0, picture.height, rows):
        band = picture.crop((0, top, picture.width, min(top + rows, picture.height)))
        small.paste(band.convert(mode).reduce(factor), (0, top // factor))
    return small


def _check(format: str, data: bytes, pixels: int, max_pixels: int) -> None:
    """Check the cost of decoding ``pixels`` pixels. Raises ``NotApplicable`` if it is too high."""
    most = int(max_pixels / MEMORY_FACTORS.get(format, 1.0))
    if pixels > most:
        raise NotApplicable("too-large", f"{pixels} pixels; allowed for {format}: {most}")
    scans = data.count(SCAN_MARKER) if format == "jpeg" else 0
    if scans > MAX_SCANS:
        raise NotApplicable("too-large", f"a JPEG of {scans} scans; allowed: {MAX_SCANS}")


@dataclass(frozen=True, slots=True)
class EncodedImage:
    """A re-encoded image: its bytes, media type, and size in pixels."""

    body: bytes
    type: str
    width: int
    height: int


def reencode(data: bytes, side: int, *, max_pixels: int = MAX_PIXELS) -> EncodedImage:
    """Re-encode the image with a longer side of at most ``side`` (a long image: width of a quarter of it). Raises ``NotApplicable``."""
    with decode_image(data, partial(_inside, side=side), max_pixels=max_pixels) as (_, picture):
        try:
            from PIL import Image

            picture.thumbnail(_bounds(picture.width, picture.height, side), Image.Resampling.LANCZOS, reducing_gap=2.0)
            bare = Image.new(picture.mode, picture.size)  # a new image from the pixels: no other content of the file is kept
            bare.paste(picture)
            out, format = BytesIO(), "WEBP" if picture.mode == "RGBA" else "JPEG"
            bare.save(out, format, quality=QUALITY, **({} if format == "WEBP" else {"optimize": True, "progressive": True}))
            return EncodedImage(out.getvalue(), TYPES[format], bare.width, bare.height)
        except (OSError, ValueError, MemoryError) as error:
            raise NotApplicable("broken", f"cannot be written anew: {error}") from error


def _inside(width: int, height: int, side: int) -> tuple[int, int]:
    across, down = _bounds(width, height, side)
    scale = max(width / across, height / down, 1.0)
    return max(1, int(width / scale)), max(1, int(height / scale))


def _bounds(width: int, height: int, side: int) -> tuple[int, int]:
    """Return the maximum width and height. A long image is read by scrolling, so it keeps its width."""
    return (side // LONG_RATIO, side * LONG_RATIO) if height > LONG_RATIO * width and side >= FULL_SIDE else (side, side)


# Perceptual hashes: 64 bits that change little when an image is compressed, scaled or cropped slightly.  pHash (Zauner: Implementation and
# Benchmarking of Perceptual Image Hash Functions, 2010, 3.2.1): the image in grey, 32 × 32, its discrete cosine transform C, and one bit
# for each of the 8 × 8 lowest frequencies (without the first row and column):  h_i = 1 if c_i > median(c_1 … c_64), else 0; distance(h, h')
# = number of bits that differ.  docs/algorithms/picture_filter.md lists the distances after common edits.

HASH_SIDE: Final = 32  # Zauner: side of the transformed image
MIN_DRAFT_SIDE: Final = 4 * HASH_SIDE  # minimum shorter side in pixels of the reduced image before that
LOW_FREQUENCIES: Final = 8  # Zauner: frequencies used in each direction
MIN_DEVIATION: Final = 2.0  # standard deviation of the grey levels below which an image has no features
HEX_DIGITS: Final = 16


def fingerprint(data: bytes, *, max_pixels: int = MAX_PIXELS) -> str | None:
    """Return the pHash of an image file as 16 hexadecimal digits; ``None`` for a flat image. Raises ``NotApplicable``."""
    with decode_image(data, lambda width, height: (MIN_DRAFT_SIDE, MIN_DRAFT_SIDE), max_pixels=max_pixels) as (_, picture):
        return phash(picture)


def phash(picture: Decoded) -> str | None:
    import numpy as np
    from PIL import Image

    if picture.mode in ("RGBA", "LA", "PA", "P"):  # show transparent parts on white
        coloured = picture.convert("RGBA")
        picture = Image.alpha_composite(Image.new("RGBA", coloured.size, "white"), coloured)
    grey = np.asarray(picture.convert("L").resize((HASH_SIDE, HASH_SIDE), Image.Resampling.BOX), dtype=np.float64)
    if float(grey.std()) < MIN_DEVIATION:
        return None
    low = (_cosines() @ grey @ _cosines().T)[1 : LOW_FREQUENCIES + 1, 1 : LOW_FREQUENCIES + 1].ravel()
    bits = low > np.median(low)
    return f"{int(''.join('1' if bit else '0' for bit in bits), 2):0{HEX_DIGITS}x}"


def distance(first: str, second: str) -> int:
    return (int(first, 16) ^ int(second, 16)).bit_count()


@cache
def _cosines() -> Any:
    """Return the matrix of the discrete cosine transform (DCT-II) of :data:`HASH_SIDE` points, without its scale."""
    import numpy as np

    at = np.arange(HASH_SIDE)
    return np.cos(np.pi * np.outer(at, 2 * at + 1) / (2 * HASH_SIDE))
