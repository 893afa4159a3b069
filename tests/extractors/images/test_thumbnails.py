"""Rewritten images hold only pixels, are upright and of limited size."""

from __future__ import annotations

import struct
import zlib
from io import BytesIO
from typing import Any

import pytest
from PIL import Image, PngImagePlugin

from newsportal.errors import NotApplicable
from newsportal.extractors.images.head import read_header
from newsportal.extractors.images.thumbnails import FULL_SIDE, THUMB_SIDE, reencode


def saved(picture: Image.Image, format: str, **options: Any) -> bytes:
    out = BytesIO()
    picture.save(out, format, **options)
    return out.getvalue()


def noise(width: int, height: int, mode: str = "RGB") -> Image.Image:
    return Image.effect_noise((width, height), 50).convert(mode)


@pytest.mark.parametrize("format", ["JPEG", "PNG", "GIF", "WEBP", "AVIF", "BMP"])
def test_every_format_becomes_a_jpeg_thumbnail(format: str) -> None:
    thumbnail = reencode(saved(noise(1200, 800), format, **({"speed": 10} if format == "AVIF" else {})), THUMB_SIDE)
    head = read_header(thumbnail.body)
    assert (thumbnail.type, head.format, head.width, head.height) == ("image/jpeg", "jpeg", 480, 320)
    assert (thumbnail.width, thumbnail.height) == (480, 320)


def test_small_image_is_not_enlarged() -> None:
    assert reencode(saved(noise(200, 100), "PNG"), THUMB_SIDE).width == 200


def test_rotation_is_applied_and_metadata_removed() -> None:
    exif = Image.Exif()
    exif[0x0112] = 6
    exif[0x010E] = "geheim"
    data = saved(noise(600, 300), "JPEG", exif=exif, comment=b"geheim", icc_profile=b"geheim" * 50)
    thumbnail = reencode(data, THUMB_SIDE)
    assert (thumbnail.width, thumbnail.height) == (240, 480)
    assert b"geheim" not in thumbnail.body
    with Image.open(BytesIO(thumbnail.body)) as image:
        assert not image.getexif()
        assert set(image.info) <= {"jfif", "jfif_version", "jfif_unit", "jfif_density", "progressive", "progression"}


def test_data_appended_to_image_is_removed() -> None:
    script = b"<script>alert(1)</script>"
    text = PngImagePlugin.PngInfo()
    text.add_text("comment", script.decode())
    for data in (saved(noise(300, 200), "JPEG") + script, saved(noise(300, 200), "PNG", pnginfo=text) + script):
        assert b"script" in data
        assert b"script" not in reencode(data, FULL_SIDE).body


def test_transparency_is_kept() -> None:
    picture = noise(300, 200, "RGBA")
    picture.putalpha(Image.linear_gradient("L").resize((300, 200)))
    thumbnail = reencode(saved(picture, "PNG"), THUMB_SIDE)
    assert thumbnail.type == "image/webp"
    with Image.open(BytesIO(thumbnail.body)) as image:
        assert image.mode == "RGBA"
        assert image.getpixel((150, 5))[3] < 40  # type: ignore[index]
    palette = saved(Image.new("P", (300, 200), 3), "GIF", transparency=3)
    assert reencode(palette, THUMB_SIDE).type == "image/webp"


def test_tall_image_keeps_its_width() -> None:
    data = saved(noise(640, 6400), "JPEG")
    assert (reencode(data, FULL_SIDE).width, reencode(data, FULL_SIDE).height) == (640, 6400)
    assert reencode(data, THUMB_SIDE).height == 480


def chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def png(width: int, height: int, *more: bytes, rows: bytes = b"") -> bytes:
    header = chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0))
    return b"\x89PNG\r\n\x1a\n" + header + b"".join(more) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")


def test_bombs_are_refused_before_decoding() -> None:
    text = chunk(b"zTXt", b"a\0\0" + zlib.compress(b"\0" * 50_000_000))
    for data, reason in (
        (png(65_500, 65_500), "too-large"),
        (png(300, 200, text), "broken"),  # CVE-2014-9601
        (png(300, 200, *[text] * 20), "broken"),
        (png(9000, 6000, rows=b"\0" * 100), "broken"),  # large declared size, little data
        (saved(noise(300, 200), "JPEG")[:5000], "broken"),
        (b"<svg onload=alert(1)>", "svg"),
        (b"%!PS-Adobe-3.0 EPSF-3.0\n(id) system", "not-a-picture"),
    ):
        with pytest.raises(NotApplicable) as error:
            reencode(data, THUMB_SIDE)
        assert error.value.reason == reason


def test_decoded_size_is_checked_when_header_differs() -> None:
    small, large = saved(noise(64, 64), "WEBP"), saved(noise(1500, 1000), "WEBP", quality=1)
    canvas = b"VP8X" + struct.pack("<I", 10) + b"\0\0\0\0" + (63).to_bytes(3, "little") * 2  # says 64 × 64
    lying = b"WEBP" + canvas + large[12:]
    data = b"RIFF" + struct.pack("<I", len(lying)) + lying
    assert read_header(data).width == 64
    with pytest.raises(NotApplicable):
        reencode(data, THUMB_SIDE, max_pixels=1_000_000)
    assert reencode(small, THUMB_SIDE, max_pixels=1_000_000).width == 64


def test_first_frame_of_animation_is_used() -> None:
    frames = [Image.new("RGB", (300, 200), colour) for colour in ("red", "blue", "green")]
    data = saved(frames[0], "GIF", save_all=True, append_images=frames[1:])
    with Image.open(BytesIO(reencode(data, THUMB_SIDE).body)) as image:
        red, _, blue = image.convert("RGB").getpixel((100, 100))  # type: ignore[misc]
    assert red > 200 > 60 > blue
