"""Pictures as our own portal hands them on: decoded and written anew, so that nothing but pixels is left of what a stranger sent.

Upright (Exif orientation applied), without metadata, no larger than asked for. A JPEG, or a WebP where the picture has transparent parts;
of a moving picture the first frame.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from io import BytesIO
from typing import TYPE_CHECKING, Final

from newsportal.errors import NotApplicable
from newsportal.pictures.decoding import decoded
from newsportal.pictures.head import MAX_PIXELS

if TYPE_CHECKING:
    from PIL.Image import Image as Decoded

THUMB_SIDE: Final = 480
"""Pixels of the longer side: the wall's columns are some 240 wide, twice as fine on the screens of telephones."""

FULL_SIDE: Final = 2560
"""Pixels of the longer side in the viewer: a wide screen's. Long pictures (长图) may be :data:`LONG` times as long as wide."""

LONG: Final = 4

QUALITY: Final = 85
"""Pillow's scale; above, files grow faster than pictures get better."""

TYPES: Final = {"JPEG": "image/jpeg", "WEBP": "image/webp"}


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
            return _written(picture, side)
        except (OSError, ValueError, MemoryError) as error:
            raise NotApplicable("broken", f"cannot be written anew: {error}") from error


def _written(picture: Decoded, side: int) -> Written:
    from PIL import Image

    picture.thumbnail(_bounds(picture.width, picture.height, side), Image.Resampling.LANCZOS, reducing_gap=2.0)
    bare = Image.new(picture.mode, picture.size)  # a picture of pixels alone: what else the file carried stays behind
    bare.paste(picture)
    out, format = BytesIO(), "WEBP" if picture.mode == "RGBA" else "JPEG"
    bare.save(out, format, quality=QUALITY, **({} if format == "WEBP" else {"optimize": True, "progressive": True}))
    return Written(out.getvalue(), TYPES[format], bare.width, bare.height)


def _inside(width: int, height: int, side: int) -> tuple[int, int]:
    """The size of a picture that fits into its bounds."""
    across, down = _bounds(width, height, side)
    scale = max(width / across, height / down, 1.0)
    return max(1, int(width / scale)), max(1, int(height / scale))


def _bounds(width: int, height: int, side: int) -> tuple[int, int]:
    """Where a picture must fit in. One that is much longer than wide is read by scrolling: it keeps its width."""
    if height > LONG * width and side >= FULL_SIDE:
        return side // LONG, side * LONG
    return side, side
