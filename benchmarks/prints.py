"""Perceptual hashes of made-up photographs: their distance after edits of pictures and between different ones, and the cost of headers,
prints and thumbnails cost. ``python benchmarks/prints.py 200``"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator, Mapping
from io import BytesIO
from time import perf_counter
from typing import Any

import numpy as np
from PIL import Image, ImageDraw, ImageFilter, ImageFont

from newsportal.extractors.images.head import read_header
from newsportal.extractors.images.thumbnails import (
    FULL_SIDE,
    LOW_FREQUENCIES,
    MIN_DEVIATION,
    THUMB_SIDE,
    distance,
    fingerprint,
    phash,
    reencode,
)

Picture = Image.Image
WIDTH, HEIGHT = 480, 320
BOUNDS = (0, 4, 6, 8, 10, 12, 14)


def photographs(number: int) -> Iterator[Picture]:
    """Light as in nature (its power falls with the frequency) and things in it; every second one has a bright sky over dark ground."""
    chance = np.random.default_rng(5)
    fall = np.fft.fftfreq(HEIGHT)[:, None] ** 2 + np.fft.fftfreq(WIDTH)[None, :] ** 2
    fall[0, 0] = 1
    for place in range(number):
        light = [np.fft.ifft2(np.fft.fft2(chance.normal(size=fall.shape)) / fall ** chance.uniform(0.45, 0.75)).real for _ in range(4)]
        shades = np.stack([light[0] / light[0].std() + 0.5 * layer / layer.std() for layer in light[1:]], -1)
        shades = (shades - shades.min()) / np.ptp(shades) * 255
        if place % 2:
            down = np.arange(HEIGHT)[:, None, None]
            ground = np.where(down < chance.uniform(0.35, 0.65) * HEIGHT, 230 - 60 * down / HEIGHT, 90 - 30 * down / HEIGHT)
            shades = ground + (shades - shades.mean()) * chance.uniform(0.2, 0.5)
        picture = Image.fromarray(np.clip(shades, 0, 255).astype("uint8"))
        draw = ImageDraw.Draw(picture)
        for _ in range(chance.integers(2, 9)):
            x, y, r = chance.integers(0, WIDTH), chance.integers(0, HEIGHT), chance.integers(10, 120)
            draw.ellipse((x - r, y - r * 0.7, x + r, y + r * 0.7), fill=tuple(int(value) for value in chance.integers(0, 255, 3)))
        yield picture.filter(ImageFilter.GaussianBlur(1))


def saved(picture: Picture, format: str, quality: int) -> Picture:
    out = BytesIO()
    picture.save(out, format, quality=quality)
    return Image.open(BytesIO(out.getvalue()))


def cropped(picture: Picture, share: float) -> Picture:
    across, down = int(picture.width * share / 2), int(picture.height * share / 2)
    return picture.crop((across, down, picture.width - across, picture.height - down))


def marked(picture: Picture) -> Picture:
    """Add the name of a site in a corner, half transparent."""
    layer = Image.new("RGBA", picture.size, (0, 0, 0, 0))
    font = ImageFont.load_default(size=picture.width // 30)
    ImageDraw.Draw(layer).text((picture.width * 0.7, picture.height * 0.92), "news.example", fill=(255, 255, 255, 150), font=font)
    return Image.alpha_composite(picture.convert("RGBA"), layer).convert("RGB")


def half(picture: Picture) -> Picture:
    return picture.resize((picture.width // 2, picture.height // 2))


CHANGES: Mapping[str, Callable[[Picture], Picture]] = {
    "JPEG, quality 20": lambda picture: saved(picture, "JPEG", 20),
    "WebP, quality 60": lambda picture: saved(picture, "WEBP", 60),
    "200 pixels wide": lambda picture: picture.resize((200, 133)),
    "a fifth brighter": lambda picture: picture.point(lambda value: min(255, int(value * 1.2))),
    "cropped by 2 %": lambda picture: cropped(picture, 0.02),
    "cropped by 5 %": lambda picture: cropped(picture, 0.05),
    "cropped by 10 %": lambda picture: cropped(picture, 0.1),
    "foot cut off by 5 %": lambda picture: picture.crop((0, 0, picture.width, int(picture.height * 0.95))),
    "watermark": marked,
    "watermark, half the size, JPEG 50": lambda picture: saved(half(marked(picture)), "JPEG", 50),
    "cropped by 2 %, half the size, JPEG 50": lambda picture: saved(half(cropped(picture, 0.02)), "JPEG", 50),
}


def row(name: str, distances: Any) -> str:
    return f"{name:42}" + "".join(f"{np.mean(distances <= bound) * 100:7.2f}" for bound in BOUNDS) + f"{np.mean(distances):7.1f}"


def costs(picture: Picture) -> None:
    out = BytesIO()
    picture.resize((2400, 1600), Image.Resampling.BICUBIC).save(out, "JPEG", quality=85)
    data = out.getvalue()
    jobs: Mapping[str, tuple[Callable[[], object], int]] = {
        "head": (lambda: read_header(data[:65536]), 2000),
        "print": (lambda: fingerprint(data), 20),
        "thumbnail": (lambda: reencode(data, THUMB_SIDE), 20),
        "whole": (lambda: reencode(data, FULL_SIDE), 5),
    }
    print(f"\nms for a JPEG of 2400 × 1600 ({len(data) >> 10} kB):")
    for name, (job, times) in jobs.items():
        began = perf_counter()
        for _ in range(times):
            job()
        print(f"  {name:10} {(perf_counter() - began) / times * 1000:8.3f}")


def dhash(picture: Image.Image) -> str | None:
    """Krawetz's difference hash (Kind of Like That, 2013): grey, 9 × 8, a bit where a pixel is darker than its right neighbour."""
    grey = np.asarray(picture.convert("L").resize((LOW_FREQUENCIES + 1, LOW_FREQUENCIES), Image.Resampling.BOX), dtype=np.float64)
    bits = (grey[:, 1:] > grey[:, :-1]).ravel()
    return None if float(grey.std()) < MIN_DEVIATION else f"{int(''.join('1' if bit else '0' for bit in bits), 2):016x}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("number", type=int, nargs="?", default=200)
    pictures = list(photographs(parser.parse_args().number))
    for method in (phash, dhash):
        prints = [method(picture) or "" for picture in pictures]
        print(f"\n{method.__name__}: % of pictures within so many bits" + " " * 5 + "".join(f"{bound:7}" for bound in BOUNDS) + "   mean")
        for name, change in CHANGES.items():
            moved = [distance(original, method(change(picture)) or "f" * 16) for original, picture in zip(prints, pictures, strict=True)]
            print(row(name, np.array(moved)))
        apart = np.array([distance(value, other) for place, value in enumerate(prints) for other in prints[:place]])
        print(row(f"others ({len(apart)} pairs, nearest {apart.min()})", apart))
    costs(pictures[0])


if __name__ == "__main__":
    main()
