"""Perceptual hashes: nearly equal for one image however it was saved, far apart for others. All images are generated."""

from __future__ import annotations

import random
from collections.abc import Callable
from functools import cache
from io import BytesIO

import pytest
from PIL import Image, ImageChops, ImageDraw, ImageFilter

from newsportal.errors import NotApplicable
from newsportal.extractors.images.thumbnails import distance, fingerprint, phash

Picture = Image.Image

MAX_COPY_DISTANCE = 10  # maximum distance of two copies, in bits. Measured: docs/algorithms/picture_filter.md.


def photo(seed: int, width: int = 480, height: int = 320) -> Picture:
    """Return noise of several scales with ellipses drawn on it."""
    chance = random.Random(seed)
    image = Image.new("L", (width, height), 128)
    for cells in (3, 6, 12, 40):
        grain = Image.new("L", (cells, cells))
        grain.putdata([chance.randrange(256) for _ in range(cells * cells)])
        image = ImageChops.blend(image, grain.resize((width, height), Image.Resampling.BICUBIC), 0.4)
    image = image.convert("RGB")
    draw = ImageDraw.Draw(image)
    for _ in range(chance.randint(2, 7)):
        x, y, r = chance.randrange(width), chance.randrange(height), chance.randrange(15, 120)
        draw.ellipse((x - r, y - r, x + r, y + r), fill=tuple(chance.randrange(256) for _ in range(3)))
    return image.filter(ImageFilter.GaussianBlur(1))


@cache
def photos() -> list[Picture]:
    return [photo(seed) for seed in range(60)]


def saved(picture: Picture, format: str = "JPEG", **options: int) -> bytes:
    out = BytesIO()
    picture.save(out, format, **options)
    return out.getvalue()


def opened(data: bytes) -> Picture:
    return Image.open(BytesIO(data))


def cropped(picture: Picture, share: float) -> Picture:
    across, down = int(picture.width * share / 2), int(picture.height * share / 2)
    return picture.crop((across, down, picture.width - across, picture.height - down))


@cache
def hashes() -> list[str]:
    return [phash(image) or "" for image in photos()]


def share_within(change: Callable[[Picture], Picture], bits: int = MAX_COPY_DISTANCE) -> float:
    """Return the share of images whose hash changes by at most ``bits``."""
    close = [distance(before, phash(change(image)) or "") <= bits for before, image in zip(hashes(), photos(), strict=True)]
    return sum(close) / len(close)


def test_compression_and_scaling_hardly_change_hash() -> None:
    assert share_within(lambda image: opened(saved(image, quality=20)), 6) >= 0.98
    assert share_within(lambda image: opened(saved(image, "WEBP", quality=50)), 6) >= 0.98
    assert share_within(lambda image: image.resize((160, 107)), 6) >= 0.98
    assert share_within(lambda image: image.resize((image.width, image.height * 9 // 10))) >= 0.98


def test_small_crops_hardly_change_hash() -> None:
    assert share_within(lambda image: cropped(image, 0.02)) >= 0.98
    assert share_within(lambda image: cropped(image, 0.05)) >= 0.9


def test_different_images_have_distant_hashes() -> None:
    distances = [distance(first, other) for place, first in enumerate(hashes()) for other in hashes()[:place]]
    assert min(distances) > MAX_COPY_DISTANCE
    assert 28 < sum(distances) / len(distances) < 36
    assert share_within(lambda image: image.transpose(Image.Transpose.FLIP_LEFT_RIGHT)) == 0


def test_hash_has_sixteen_digits_and_is_deterministic() -> None:
    data = saved(photos()[0], quality=80)
    assert fingerprint(data) == fingerprint(data)
    assert len(fingerprint(data) or "") == 16
    assert distance("0" * 16, "f" * 16) == 64


def test_uniform_image_has_no_hash() -> None:
    assert fingerprint(saved(Image.new("RGB", (300, 200), "white"))) is None
    clear = Image.new("RGBA", (300, 200), (0, 0, 0, 0))
    assert fingerprint(saved(clear, "PNG")) is None  # transparent pixels count as white, whatever their colour


def test_exif_rotation_is_applied_before_hashing() -> None:
    exif = Image.Exif()
    exif[0x0112] = 6
    lying = saved(photos()[1].transpose(Image.Transpose.ROTATE_90), exif=exif)  # type: ignore[arg-type]
    assert distance(fingerprint(lying) or "", fingerprint(saved(photos()[1])) or "") <= 6


@pytest.mark.parametrize("format", ["JPEG", "PNG", "GIF", "WEBP", "AVIF", "BMP"])
def test_every_format_is_hashed(format: str) -> None:
    assert distance(fingerprint(saved(photos()[2], format)) or "", phash(photos()[2]) or "") <= MAX_COPY_DISTANCE


def test_undecodable_image_is_refused() -> None:
    data = saved(photos()[3])
    with pytest.raises(NotApplicable, match="broken"):
        fingerprint(data[: len(data) // 2])
    with pytest.raises(NotApplicable, match="too-large"):
        fingerprint(data, max_pixels=1000)
    with pytest.raises(NotApplicable, match="markup"):
        fingerprint(b"<html>")
