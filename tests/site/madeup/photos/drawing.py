"""Distinguishable pictures drawn with Pillow: the same name gives the same bytes, another name another picture."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache, lru_cache
from io import BytesIO
from random import Random

from PIL import Image, ImageDraw

FIELD = (7, 5)  # spots of colour across and down, visible to a perceptual hash
SHAPES = 9
GRAIN = 0.3


@dataclass(frozen=True, slots=True)
class Drawing:
    """A picture as one server has it. ``cut``: the share cropped at each side; ``scale`` is applied after that; ``marked``: with a line of
    letters in the corner (watermark)."""

    motif: str
    width: int = 540
    height: int = 360
    scale: float = 1.0
    cut: float = 0.0
    quality: int = 85
    format: str = "JPEG"
    marked: bool = False

    @property
    def size(self) -> tuple[int, int]:
        wide, high = (round(side * (1 - 2 * self.cut)) for side in (self.width, self.height))
        return max(1, round(wide * self.scale)), max(1, round(high * self.scale))

    @property
    def content_type(self) -> str:
        return f"image/{self.format.lower()}"


@cache
def encoded(drawing: Drawing, grain: bool = False) -> bytes:
    """Return the picture file, drawn once per process. ``grain`` adds camera noise, which makes the file some hundred kilobytes large."""
    picture = _drawn(drawing.motif, drawing.width, drawing.height)
    if grain:
        noise = Image.frombytes("L", picture.size, Random(drawing.motif).randbytes(picture.width * picture.height))
        picture = Image.blend(picture, noise.convert("RGB"), GRAIN)
    if drawing.cut:
        left, top = round(drawing.width * drawing.cut), round(drawing.height * drawing.cut)
        picture = picture.crop((left, top, drawing.width - left, drawing.height - top))
    if picture.size != drawing.size:
        picture = picture.resize(drawing.size, Image.Resampling.LANCZOS)
    if drawing.marked:
        picture = picture.copy()
        wide, high = picture.size
        pen = ImageDraw.Draw(picture)
        for letter in range(8):
            left = round(wide * (0.66 + 0.04 * letter))
            pen.rectangle((left, round(high * 0.91), left + wide // 50, round(high * 0.96)), fill=(250, 250, 250))
    out = BytesIO()
    picture.save(out, drawing.format, quality=drawing.quality)
    return out.getvalue()


@lru_cache(maxsize=48)
def _drawn(motif: str, width: int, height: int) -> Image.Image:
    """Draw a field of soft colours with shapes on it; pictures of one story share the story's colours (the part before ``/``)."""
    colours = Random(motif.partition("/")[0])
    palette = [tuple(colours.randrange(20, 236) for _ in range(3)) for _ in range(6)]
    chance = Random(motif)
    field = Image.new("RGB", FIELD)
    field.putdata([_near(chance, chance.choice(palette)) for _ in range(FIELD[0] * FIELD[1])])
    picture = field.resize((width, height), Image.Resampling.BICUBIC)
    pen = ImageDraw.Draw(picture)
    for _ in range(SHAPES):
        across, down = chance.randrange(width), chance.randrange(height)
        reach = chance.randrange(width // 24, width // 5)
        bounds = (across - reach, down - chance.randrange(reach // 2, reach + 1), across + reach, down + reach)
        colour = _near(chance, chance.choice(palette))
        if chance.random() < 0.5:
            pen.ellipse(bounds, fill=colour)
        else:
            pen.rectangle(bounds, fill=colour, outline=(0, 0, 0))
    return picture


def _near(chance: Random, colour: tuple[int, ...]) -> tuple[int, int, int]:
    red, green, blue = (min(255, max(0, part + chance.randrange(-40, 41))) for part in colour)
    return red, green, blue


@lru_cache(maxsize=64)
def mark(name: str, width: int, height: int) -> bytes:
    """Return a logo, icon or QR code: hard edges, few colours, PNG."""
    chance = Random(name)
    step = max(2, min(width, height) // 12)
    picture = Image.new("RGB", (width, height), (255, 255, 255))
    pen = ImageDraw.Draw(picture)
    ink = tuple(chance.randrange(0, 160) for _ in range(3))
    for down in range(0, height, step):
        for across in range(0, width, step):
            if chance.random() < 0.45:
                pen.rectangle((across, down, across + step - 1, down + step - 1), fill=ink)
    out = BytesIO()
    picture.save(out, "PNG")
    return out.getvalue()
