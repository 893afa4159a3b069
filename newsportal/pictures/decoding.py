"""The only place where pictures are decoded: one at a time, after their head was read, never more pixels than allowed."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from io import BytesIO
from threading import Lock
from typing import TYPE_CHECKING, Final

from newsportal.errors import NotApplicable
from newsportal.pictures.head import MAX_PIXELS, Head, look

if TYPE_CHECKING:
    from PIL.Image import Image as Decoded

FORMATS: Final = ("JPEG", "PNG", "GIF", "WEBP", "AVIF", "BMP")
"""Pillow knows some forty more formats; none of them is for the Web, and some run programs (EPS)."""

BUSY = Lock()
"""A picture of 60 megapixels takes 180 MB while it is decoded: two at a time would be twice that."""


@contextmanager
def decoded(data: bytes, *, side: int, max_pixels: int = MAX_PIXELS) -> Iterator[tuple[Head, Decoded]]:
    """The first frame of a picture, upright, and its head. ``side``: how large it is wanted at most, which lets a JPEG be decoded small.

    Raises ``NotApplicable``: those of :func:`newsportal.pictures.head.look`, and ``broken`` for what cannot be decoded to its end.
    """
    from PIL import Image, ImageOps  # some 40 ms, which only those pay who decode

    head = look(data, max_pixels=max_pixels)
    with BUSY, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of odd metadata, of large pictures: the limit is ours
        try:
            with Image.open(BytesIO(data), formats=FORMATS) as opened:
                _check(opened, max_pixels)
                opened.draft(None, (2 * side, 2 * side))  # at least so large: JPEGs alone can
                upright = ImageOps.exif_transpose(opened)
                upright.load()
        except NotApplicable:
            raise
        except MemoryError as error:
            raise NotApplicable("too-large", f"{head.width} × {head.height} pixels do not fit into memory") from error
        except Exception as error:  # decoders of six formats raise whatever they like over broken files
            raise NotApplicable("broken", f"{head.format}: {type(error).__name__}: {error}") from error
        yield head, upright


def _check(opened: Decoded, max_pixels: int) -> None:
    """A file may say one size where it is looked for, and have another where it is decoded."""
    if opened.width * opened.height > max_pixels:
        raise NotApplicable("too-large", f"{opened.width} × {opened.height} pixels; allowed: {max_pixels}")
