"""Size of an image from its first bytes; misleading, oversized and truncated files are refused. Images are made here."""

from __future__ import annotations

import struct
import zlib
from io import BytesIO
from typing import Any

import pytest
from PIL import Image

from newsportal.errors import NotApplicable
from newsportal.extractors.images.head import FIRST_BYTES, MAX_PIXELS, ImageHeader, read_header

FORMATS = ("JPEG", "PNG", "GIF", "WEBP", "AVIF", "BMP")
ORIENTATION = 0x0112


def encoded_image(format: str, width: int = 301, height: int = 207, **options: Any) -> bytes:
    out = BytesIO()
    Image.effect_noise((width, height), 60).convert("RGB").save(out, format, **options)
    return out.getvalue()


def turned(orientation: int) -> Image.Exif:
    exif = Image.Exif()
    exif[ORIENTATION] = orientation
    return exif


def refusal_reason(data: bytes, **options: Any) -> str:
    with pytest.raises(NotApplicable) as error:
        read_header(data, **options)
    return error.value.reason


def size_or_reason(data: bytes) -> tuple[int, int] | str:
    try:
        head = read_header(data)
    except NotApplicable as why:
        return why.reason
    return head.width, head.height


@pytest.mark.parametrize("format", FORMATS)
def test_format_and_size_of_complete_image(format: str) -> None:
    assert read_header(encoded_image(format)) == ImageHeader(format.lower(), 301, 207, complete=True)


@pytest.mark.parametrize("format", FORMATS)
def test_truncated_image_reports_size(format: str) -> None:
    data = encoded_image(format)
    assert read_header(data[: len(data) // 2]) == ImageHeader(format.lower(), 301, 207, complete=False)


@pytest.mark.parametrize("format", FORMATS)
def test_any_truncation_is_read_or_refused(format: str) -> None:
    data = encoded_image(format)
    answers = {size_or_reason(data[:length]) for length in range(1, 1200, 3)}
    assert answers <= {(301, 207), "cut", "not-a-picture", "no-size"}
    assert (301, 207) in answers


@pytest.mark.parametrize("options", [{"lossless": True}, {"exif": turned(1)}, {"quality": 5}], ids=["VP8L", "VP8X", "VP8"])
def test_webp_variants(options: dict[str, Any]) -> None:
    assert read_header(encoded_image("WEBP", 1023, 7, **options)) == ImageHeader("webp", 1023, 7, complete=True)


def test_exif_rotation_swaps_width_and_height() -> None:
    for orientation, size in ((1, (301, 207)), (3, (301, 207)), (6, (207, 301)), (8, (207, 301))):
        head = read_header(encoded_image("JPEG", exif=turned(orientation)))
        assert (head.width, head.height) == size
    assert read_header(encoded_image("AVIF", exif=turned(6))).width == 207


def test_progressive_and_grey_jpeg_and_top_down_bmp() -> None:
    assert read_header(encoded_image("JPEG", progressive=True)).width == 301
    grey = BytesIO()
    Image.new("L", (40, 30)).save(grey, "JPEG")
    assert read_header(grey.getvalue()).height == 30
    downwards = bytearray(encoded_image("BMP"))
    downwards[22:26] = struct.pack("<i", -207)
    assert read_header(bytes(downwards)) == ImageHeader("bmp", 301, 207, complete=True)


def test_size_beyond_first_bytes_is_reported_as_cut() -> None:
    profile = b"".join(b"\xff\xe2" + struct.pack(">H", 60_002) + b"x" * 60_000 for _ in range(2))
    data = encoded_image("JPEG")
    long = data[:2] + profile + data[2:]
    assert refusal_reason(long[:FIRST_BYTES]) == "cut"
    assert read_header(long).width == 301


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b"", "empty"),
        (b"<!DOCTYPE html><html><title>404</title></html>", "markup"),
        (b"\xef\xbb\xbf\n <html>", "markup"),
        (b"<?xml version='1.0'?><svg onload='alert(1)'/>", "svg"),
        (b"<svg xmlns='http://www.w3.org/2000/svg'/>", "svg"),
        (b"%PDF-1.7 ...", "not-a-picture"),
        (b"RIFF\x10\0\0\0WAVEfmt ", "not-a-picture"),
        (b"BMP is not always a bitmap", "not-a-picture"),
        (b"\0\0\0\x18ftypheic\0\0\0\0mif1heic" + b"\0" * 40, "not-a-picture"),
        (b"\0\0\0\x18ftypisom\0\0\0\0mp42isom", "not-a-picture"),
        (b"\x89PNG\r\n\x1a\n" + b"\0\0\0\x0dtEXt" + b"\0" * 40, "broken"),
        (b"\xff\xd8\xff\xe0\x00\x00" + b"\0" * 40, "broken"),
        (b"\xff\xd8\xff\xd9" + b"\0" * 40, "broken"),
        (b"\xff\xd8\xff\xe0\x00\x04ab" + b"no marker", "broken"),
        (b"GIF89a\0\0\0\0" + b"\0" * 40, "no-size"),
    ],
    ids=range(15),
)
def test_invalid_image_is_refused(data: bytes, expected: str) -> None:
    assert refusal_reason(data) == expected


def png_of(width: int, height: int) -> bytes:
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n\0\0\0\x0dIHDR" + header + struct.pack(">I", zlib.crc32(b"IHDR" + header))


def test_declared_size_limits() -> None:
    assert refusal_reason(png_of(65_500, 65_500)) == "too-large"
    assert refusal_reason(png_of(4_000_000_000, 1)) == "too-large"
    assert refusal_reason(png_of(40_000, 100)) == "too-large"  # one side is too long
    assert refusal_reason(png_of(1000, 1000), max_pixels=999_999) == "too-large"
    assert read_header(png_of(6000, MAX_PIXELS // 6000)).width == 6000
    assert refusal_reason(b"GIF89a\xff\xff\xff\xff" + b"\0" * 20) == "too-large"
    assert refusal_reason(b"RIFF\x20\0\0\0WEBPVP8X\x0a\0\0\0\0\0\0\0\xff\xff\xff\xff\xff\xff" + b"\0" * 20) == "too-large"


def test_malformed_avif_boxes_are_refused() -> None:
    start = b"\0\0\0\x14ftypavif\0\0\0\0avif"
    assert refusal_reason(start + b"\0\0\0\x00" * 2) == "cut"
    assert refusal_reason(start + b"\0\0\0\x04meta" + b"\0" * 64) == "broken"
    assert refusal_reason(start + b"\0\0\0\x40meta" + b"\0" * 8 + b"\0\0\0\x08free" * 7) == "no-size"
    assert refusal_reason(start + b"\0\0\0\x08free" * 50_000) == "cut"


def test_invalid_exif_length_is_tolerated() -> None:
    data = encoded_image("JPEG", exif=turned(6))
    at = data.index(b"Exif\0\0") + 6
    for broken in (b"\xff\xff\xff\xff", b"\0\0\0\0"):
        odd = data[: at + 4] + broken + data[at + 8 :]
        assert read_header(odd).width in (301, 207)


@pytest.mark.parametrize("filling", [b"\xff", b"\xff\x01", b"\xff\xe5\0\2"], ids=["fill bytes", "lone markers", "empty segments"])
def test_jpeg_of_only_markers_is_refused(filling: bytes) -> None:
    with pytest.raises(NotApplicable) as caught:
        read_header(b"\xff\xd8\xff\xe0\0\2" + filling * 20_000)
    assert caught.value.reason == "broken"
