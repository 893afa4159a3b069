"""Limits of decoding: images that expand to too much memory or time are refused; large ones are reduced in bands."""

from __future__ import annotations

from io import BytesIO

import pytest
from PIL import Image

from newsportal.errors import NotApplicable
from newsportal.extractors.images import thumbnails
from newsportal.extractors.images.head import read_header
from newsportal.extractors.images.thumbnails import MAX_SCANS, decode_image, shrink


def saved(picture: Image.Image, format: str, **options: object) -> bytes:
    out = BytesIO()
    picture.save(out, format, **options)
    return out.getvalue()


def noise(width: int, height: int, mode: str = "RGB") -> Image.Image:
    return Image.effect_noise((width, height), 80).convert(mode)


def half(width: int, height: int) -> tuple[int, int]:
    return width // 2, height // 2


def test_jpeg_with_too_many_scans_is_refused() -> None:
    data = saved(noise(64, 64), "JPEG", progressive=True)
    at = data.rindex(thumbnails.SCAN_MARKER)
    bomb = data[:at] + data[at:-2] * MAX_SCANS + data[-2:]
    assert read_header(bomb).width == 64  # its header is valid
    with pytest.raises(NotApplicable, match="scans") as caught, decode_image(bomb, half):
        pass
    assert caught.value.reason == "too-large"
    with decode_image(data, half) as (_, picture):
        assert picture.size == (32, 32)


@pytest.mark.parametrize(("format", "most"), [("JPEG", 10_000), ("PNG", 10_000), ("WEBP", 20_000), ("AVIF", 12_000)])
def test_memory_intensive_formats_have_lower_pixel_limits(format: str, most: int) -> None:
    data = saved(noise(100, 100), format)
    with decode_image(data, half, max_pixels=most):
        pass
    with pytest.raises(NotApplicable) as caught, decode_image(data, half, max_pixels=most - 1):
        pass
    assert caught.value.reason == "too-large"


@pytest.mark.parametrize("mode", ["RGB", "RGBA", "LA", "L", "P", "I;16", "1"])
def test_reduction_in_bands_equals_reduction_at_once(mode: str, monkeypatch: pytest.MonkeyPatch) -> None:
    picture = noise(300, 211, "L").convert(mode)
    target = "RGBA" if mode in ("RGBA", "LA") else "RGB"
    expected = shrink(picture, target, (100, 70))
    monkeypatch.setattr(thumbnails, "BAND_PIXELS", 1000)
    assert shrink(picture, target, (100, 70)).tobytes() == expected.tobytes()
    assert (expected.mode, expected.size) == (target, (100, 71))
    assert shrink(picture, target, (300, 211)).size == (300, 211)


def test_transparency_is_kept_and_exif_rotation_applied() -> None:
    palette = noise(400, 300, "L").convert("P")
    with decode_image(saved(palette, "PNG", transparency=0), half) as (_, picture):
        assert (picture.mode, picture.size) == ("RGBA", (200, 150))
    lying = Image.Exif()
    lying[0x0112] = 6
    with decode_image(saved(noise(400, 300), "JPEG", exif=lying.tobytes()), half) as (head, picture):
        assert (head.width, head.height) == (300, 400)
        assert picture.size == (150, 200)
