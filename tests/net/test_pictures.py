"""Fetching the start of pictures over real connections: few bytes, the right Referer, and false, slow, truncated or huge responses."""

from __future__ import annotations

import asyncio
import struct
import zlib
from collections.abc import Callable
from datetime import UTC, datetime
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest
from PIL import Image as Pillow

from newsportal.extractors.images.head import FIRST_BYTES
from newsportal.items import Gallery, Image, Link
from newsportal.spiders.fetcher import Fetcher
from newsportal.spiders.image_fetcher import ImageFetcher, image_bytes
from newsportal.store.pictures import Picture

NOW = datetime(2026, 3, 5, 12, tzinfo=UTC)


def jpeg(width: int = 900, height: int = 600, quality: int = 95) -> bytes:
    """Return a photograph of noise, larger than 64 kB."""
    out = BytesIO()
    Pillow.effect_noise((width, height), 80).convert("RGB").save(out, "JPEG", quality=quality)
    return out.getvalue()


def small_png() -> bytes:
    out = BytesIO()
    Pillow.linear_gradient("L").resize((320, 240)).save(out, "PNG")
    return out.getvalue()


def chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


PNG = b"\x89PNG\r\n\x1a\n"
HUGE = PNG + chunk(b"IHDR", struct.pack(">IIBBBBB", 65500, 65500, 8, 2, 0, 0, 0)) + chunk(b"IDAT", zlib.compress(b"\0" * 1000))

Look = Callable[..., list[Picture]]


@pytest.fixture
def inspect_pictures(reactor_loop: asyncio.AbstractEventLoop) -> Look:
    """Function that inspects pictures at URLs with a crawl's downloader; ``page``: the URL of their page."""
    from scrapy import Spider
    from scrapy.crawler import AsyncCrawlerRunner

    def run(*urls: str, allow: tuple[str, ...], page: str = "https://photo.example/s/1.html", prints: bool = False, **changed: Any) -> Any:
        found: list[Picture] = []

        class Watcher(Spider):
            name = "watcher"

            async def start(self) -> Any:
                gallery = Gallery(page, "组图", Link(page, "gallery:甲"), NOW)
                fetch = Fetcher(self.crawler, lambda source: {"source": source, "render": True})
                images = ImageFetcher(image_bytes(self.crawler, fetch))
                found.extend([await images.inspect(Image(url), gallery, whole=prints) for url in urls])
                for _ in ():
                    yield

        async def main() -> None:
            crawler = runner.create_crawler(Watcher)
            await crawler.crawl_async() if hasattr(crawler, "crawl_async") else await runner.crawl(crawler)

        settings = {
            "ADDONS": {},
            "DOWNLOAD_HANDLERS": {"http": "newsportal.crawl.handlers.Handler", "https": "newsportal.crawl.handlers.Handler"},
            "DOWNLOADER_MIDDLEWARES": {"newsportal.crawl.handlers.Guard": 50},
            "NEWSPORTAL_ALLOW_PRIVATE": list(allow),
            "EXTENSIONS": {},
            "ROBOTSTXT_OBEY": False,
            "RETRY_ENABLED": False,
            "TELNETCONSOLE_ENABLED": False,
            "REMOTE_CONTROL_ENABLED": False,
            "DOWNLOAD_MAXSIZE": 8_000_000,
            "DOWNLOAD_TIMEOUT": 5,
            "LOG_ENABLED": False,
            "HTTPERROR_ALLOW_ALL": True,
        }
        runner = AsyncCrawlerRunner(settings | changed)

        reactor_loop.run_until_complete(main())
        return found

    return run


def test_range_request_fetches_the_first_bytes_only(site: Any, response: Any, inspect_pictures: Look) -> None:
    picture = jpeg()
    assert len(picture) > 2 * FIRST_BYTES

    def ranged(request: Any) -> bytes:
        assert request.headers["range"] == f"bytes=0-{FIRST_BYTES - 1}"
        return response(picture[:FIRST_BYTES], "206 Partial Content", content_range=f"bytes 0-{FIRST_BYTES - 1}/{len(picture)}")

    site.routes["/1.jpg"] = ranged
    (found,) = inspect_pictures(site.url("/1.jpg"), allow=site.allow)
    assert (found.format, found.width, found.height, found.perceptual_hash, found.rejected_reason) == ("jpeg", 900, 600, None, None)
    assert len(site.requests) == 1


def test_referer_is_the_page_of_the_picture(site: Any, response: Any, inspect_pictures: Look) -> None:
    """Hotlink protection (防盗链) refuses other pages."""
    picture = small_png()
    site.routes["/1.png"] = lambda request: (
        response(picture) if request.headers.get("referer") == "https://photo.example/s/7.html" else response(b"", "403 Forbidden")
    )
    (found,) = inspect_pictures(site.url("/1.png"), allow=site.allow, page="https://photo.example/s/7.html")
    assert (found.format, found.width, found.height) == ("png", 320, 240)
    assert found.perceptual_hash is not None  # the first bytes were the whole picture
    assert "image" in site.requests[0].headers["accept"]
    (found,) = inspect_pictures(site.url("/1.png"), allow=site.allow)
    assert (found.fetched, found.rejected_reason) == (None, None)


def test_response_ignoring_range_is_aborted(site: Any, inspect_pictures: Look) -> None:
    sent = []

    def endless(request: Any) -> Any:
        yield b"HTTP/1.1 200 OK\r\ncontent-type: image/jpeg\r\nconnection: close\r\n\r\n" + jpeg()
        for _ in range(400):  # 40 MB
            sent.append(1)
            yield b"\xaa" * 100_000

    site.routes["/endless.jpg"] = endless
    (found,) = inspect_pictures(site.url("/endless.jpg"), allow=site.allow)
    assert (found.width, found.height) == (900, 600)
    assert len(sent) < 100  # what the system's buffers hold


def test_size_beyond_the_first_bytes_needs_a_second_request(site: Any, response: Any, inspect_pictures: Look) -> None:
    profile = b"".join(b"\xff\xe2" + struct.pack(">H", 60_002) + b"x" * 60_000 for _ in range(2))
    plain = jpeg(300, 200)
    site.routes["/profile.jpg"] = response(plain[:2] + profile + plain[2:])
    (found,) = inspect_pictures(site.url("/profile.jpg"), allow=site.allow)
    assert (found.width, found.height) == (300, 200)
    assert len(site.requests) == 2


@pytest.mark.parametrize(
    ("body", "mime", "refused"),
    [
        (b"<!DOCTYPE html><html><body>404</body></html>", "image/jpeg", "markup"),
        (b"<svg xmlns='http://www.w3.org/2000/svg'><script>alert(1)</script></svg>", "image/png", "svg"),
        (HUGE, "image/png", "too-large"),
        (b"", "image/png", "empty"),
        (b"%PDF-1.7", "image/jpeg", "not-a-picture"),
        (jpeg()[:30], "image/jpeg", "broken"),
    ],
    ids=["html", "svg", "too large", "empty", "pdf", "truncated"],
)
def test_invalid_picture_has_a_reason(body: bytes, mime: str, refused: str, site: Any, response: Any, inspect_pictures: Look) -> None:
    site.routes["/a.jpg"] = response(body, content_type=mime)
    (found,) = inspect_pictures(site.url("/a.jpg"), allow=site.allow)
    assert (found.rejected_reason, found.width) == (refused, None)
    assert found.fetched is not None


def test_wrong_content_type_is_ignored(site: Any, response: Any, inspect_pictures: Look) -> None:
    site.routes["/a.jpg"] = response(small_png(), content_type="text/html; charset=gbk")
    (found,) = inspect_pictures(site.url("/a.jpg"), allow=site.allow)
    assert found.format == "png"


def test_picture_is_gone_after_two_404(site: Any, response: Any, inspect_pictures: Look) -> None:
    picture = small_png()
    site.routes["/ranges.png"] = lambda request: response(b"", "404 Not Found") if "range" in request.headers else response(picture)
    missing, found, refused = inspect_pictures(
        site.url("/gone.png"), site.url("/ranges.png"), site.url("/ranges.png").replace("127.0.0.1", "127.0.0.2"), allow=site.allow
    )
    assert (missing.rejected_reason, missing.fetched is None) == ("gone", False)
    assert (found.rejected_reason, found.width) == (None, 320)
    assert (refused.rejected_reason, refused.fetched) == (None, None)  # refused by the guard: unknown
    assert site.paths().count("/gone.png") == 2


def test_temporary_failures_are_retried_another_time(site: Any, response: Any, inspect_pictures: Look) -> None:
    site.routes["/busy.png"] = response(b"", "503 Service Unavailable")
    site.routes["/broken.png"] = b"HTTP/1.1 200 OK\r\ncontent-length: 5000\r\nconnection: close\r\n\r\n" + small_png()[:100]
    site.routes["/range.png"] = lambda request: (
        response(b"", "416 Range Not Satisfiable") if "range" in request.headers else response(small_png())
    )
    busy, broken, ranged = inspect_pictures(*map(site.url, ("/busy.png", "/broken.png", "/range.png")), allow=site.allow)
    assert (busy.fetched, broken.fetched) == (None, None)
    assert ranged.width == 320


def test_private_addresses_are_not_requested(site: Any, response: Any, inspect_pictures: Look) -> None:
    site.routes["/redirect.png"] = response(b"", "302 Found", location="http://169.254.169.254/latest/meta-data")
    site.routes["/1.png"] = response(small_png())
    inside, redirected, odd = inspect_pictures(
        site.url("/1.png").replace(str(site.port), "1"), site.url("/redirect.png"), "file:///etc/passwd", allow=site.allow
    )
    assert (inside.fetched, redirected.fetched) == (None, None)
    assert odd.rejected_reason == "bad-address"
    assert site.paths() == ["/redirect.png"]


def test_complete_pictures_are_fetched_for_fingerprints(site: Any, response: Any, inspect_pictures: Look) -> None:
    site.routes["/1.jpg"] = response(jpeg())
    (found,) = inspect_pictures(site.url("/1.jpg"), allow=site.allow, prints=True)
    assert found.perceptual_hash is not None
    assert "range" not in site.requests[0].headers


def test_archived_pictures_are_replayed(site: Any, inspect_pictures: Look, tmp_path: Path) -> None:
    picture = jpeg()
    site.routes["/1.jpg"] = [b"HTTP/1.1 200 OK\r\ncontent-length: %d\r\nconnection: close\r\n\r\n" % len(picture), picture]
    archive = str(tmp_path / "crawl.warc.gz")
    (first,) = inspect_pictures(site.url("/1.jpg"), allow=site.allow, NEWSPORTAL_ARCHIVE=archive)
    requests = len(site.requests)
    again, never = inspect_pictures(site.url("/1.jpg"), site.url("/2.jpg"), allow=site.allow, NEWSPORTAL_REPLAY=archive)
    assert (again.width, again.height, again.format) == (first.width, first.height, first.format) == (900, 600, "jpeg")
    assert (never.rejected_reason, never.fetched) == (None, None)  # not gone: not requested in the archived crawl
    assert len(site.requests) == requests
