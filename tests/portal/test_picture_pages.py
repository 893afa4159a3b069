"""The image proxy and its cache: only images of the store, re-encoded, fetched once with the right Referer, within limits."""

from __future__ import annotations

import asyncio
import os
import socketserver
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler
from io import BytesIO
from pathlib import Path
from typing import Any

import httpx
import pytest
from factories import article
from PIL import Image as Pillow

from newsportal.extractors.images.thumbnails import EncodedImage
from newsportal.items import Article, Gallery, Image, Link, content_id
from newsportal.net.egress import Policy
from newsportal.portal.reading import picture_cache, picture_proxy
from newsportal.portal.reading.picture_cache import PictureCache
from newsportal.portal.reading.picture_proxy import PictureProxy, url_version
from newsportal.sources import Sources
from newsportal.store.store import Store

NOW = datetime(2026, 3, 5, 12, tzinfo=UTC)


def jpeg(width: int = 900, height: int = 600) -> bytes:
    out = BytesIO()
    Pillow.effect_noise((width, height), 80).convert("RGB").save(out, "JPEG")
    return out.getvalue()


@dataclass
class Publisher:
    """Image server; ``seen``: path and Referer of each request."""

    port: int = 0
    bodies: dict[str, bytes] = field(default_factory=dict)
    seen: list[tuple[str, str | None]] = field(default_factory=list)
    type: str = "image/jpeg"
    wait: float = 0.0

    def url(self, path: str) -> str:
        return f"http://127.0.0.1:{self.port}{path}"


@pytest.fixture
def publisher() -> Iterator[Publisher]:
    publisher = Publisher()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            publisher.seen.append((self.path, self.headers.get("referer")))
            time.sleep(publisher.wait)
            body = publisher.bodies.get(self.path)
            self.send_response(200 if body is not None else 404)
            self.send_header("content-type", publisher.type)
            self.send_header("content-length", str(len(body or b"")))
            self.end_headers()
            with suppress(OSError):
                self.wfile.write(body or b"")

        def log_message(self, *_: Any) -> None:
            pass

    class Server(socketserver.ThreadingTCPServer):
        daemon_threads = True
        request_queue_size = 64

    with Server(("127.0.0.1", 0), Handler) as server:
        publisher.port = server.server_address[1]
        threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
        yield publisher
        server.shutdown()


def story(store: Store, *images: Image, source: str = "gallery:甲") -> str:
    page = "https://photo.example/s/1.html"
    link = Link(page, source, identity=page)
    saved = store.galleries.save(Gallery(page, "组图", link, NOW, images, complete=True, identity=page), now=NOW)
    return saved.id


def settings(folder: Path | None, publisher: Publisher, **options: Any) -> Sources:
    pictures = {"cache": str(folder), **options} if folder else {}
    politeness = {"allow_private": [f"127.0.0.1:{publisher.port}"]}
    return Sources.model_validate({"pictures": pictures, "politeness": politeness, "store": "sqlite://", "alerts": {"enabled": False}})


Client = Callable[..., httpx.Client]


@pytest.fixture
def client(serve: Any, fresh: Store, publisher: Publisher, tmp_path: Path) -> httpx.Client:
    return serve(fresh, settings=settings(tmp_path / "缓存", publisher))  # type: ignore[no-any-return]


def size_of(answer: httpx.Response) -> tuple[int, int]:
    with Pillow.open(BytesIO(answer.content)) as image:
        return image.size


def test_image_and_thumbnail_take_one_request(client: httpx.Client, fresh: Store, publisher: Publisher) -> None:
    publisher.bodies["/1.jpg"] = jpeg()
    id = story(fresh, Image(publisher.url("/1.jpg"), page="https://photo.example/s/1_2.html"))
    thumb = client.get(f"/picture/{id}/1/thumb")
    assert (thumb.status_code, thumb.headers["content-type"], size_of(thumb)) == (200, "image/jpeg", (480, 320))
    full = client.get(f"/picture/{id}/1")
    assert size_of(full) == (900, 600)
    assert client.get(f"/picture/{id}/1").content == full.content
    assert publisher.seen == [("/1.jpg", "https://photo.example/s/1_2.html")]  # hotlink protection (防盗链) expects the page of the image
    assert full.headers["x-content-type-options"] == "nosniff"
    assert "sandbox" in full.headers["content-security-policy"]


def test_story_page_uses_immutable_proxy_urls(client: httpx.Client, fresh: Store, publisher: Publisher) -> None:
    publisher.bodies["/1.jpg"] = jpeg()
    url = publisher.url("/1.jpg")
    id = story(fresh, Image(url))
    page = client.get(f"/story/{id}").text
    address = f"/picture/{id}/1?v={url_version(url)}"
    assert address in page
    assert url not in page.replace(f'href="{url}"', "")
    answer = client.get(address)
    assert "immutable" in answer.headers["cache-control"]
    assert "immutable" not in client.get(f"/picture/{id}/1?v=00000000").headers["cache-control"]
    repeated = client.get(address, headers={"if-none-match": answer.headers["etag"]})
    assert (repeated.status_code, repeated.content) == (304, b"")
    assert client.head(address).status_code == 200


@pytest.mark.parametrize("path", ["/", "/latest", "/photos"])
def test_lists_use_proxied_thumbnails(path: str, client: httpx.Client, fresh: Store, publisher: Publisher) -> None:
    """Publishers refuse images to our pages (防盗链); only the cache sends the Referer they expect."""
    url = publisher.url("/1.jpg")
    id = story(fresh, Image("data:image/png;base64,x"), Image(url))
    page = client.get(path).text
    assert f"/picture/{id}/2/thumb?v={url_version(url)}" in page
    assert url not in page


def test_without_cache_images_link_to_publisher(serve: Any, fresh: Store, publisher: Publisher) -> None:
    url = publisher.url("/1.jpg")
    id = story(fresh, Image(url))
    client = serve(fresh, settings=settings(None, publisher))
    assert url in client.get(f"/story/{id}").text
    assert client.get(f"/picture/{id}/1").status_code == 404
    assert publisher.seen == []


BAD_PATHS = ("2", "0", "-1", "①", "9999999999", "x/thumb", "http:%2f%2f127.0.0.1%2f", "1/../2")


@pytest.mark.parametrize("path", ["/picture/nobody/1", "/picture/..%2f..%2fetc/1", *(f"/picture/{{id}}/{place}" for place in BAD_PATHS)])
def test_other_urls_are_not_proxied(path: str, client: httpx.Client, fresh: Store, publisher: Publisher) -> None:
    id = story(fresh, Image(publisher.url("/1.jpg")))
    assert client.get(path.format(id=id), params={"url": publisher.url("/2.jpg")}).status_code == 404
    assert publisher.seen == []


def test_private_addresses_of_images_are_not_fetched(client: httpx.Client, fresh: Store, publisher: Publisher) -> None:
    images = [Image(url) for url in (f"http://127.0.0.1:{publisher.port + 1}/x.jpg", "http://169.254.169.254/latest", "file:///etc/passwd")]
    id = story(fresh, *images)
    assert [client.get(f"/picture/{id}/{place}").status_code for place in (1, 2, 3)] == [502, 502, 404]


@pytest.mark.parametrize("page", ["https://a.example/\r\nx-evil: 1", "javascript:alert(1)", "https://u:p@a.example/"])
def test_unsafe_page_url_is_not_sent_as_referer(page: str, client: httpx.Client, fresh: Store, publisher: Publisher, newsroom: Any) -> None:
    publisher.bodies["/1.jpg"] = jpeg()
    (id,) = newsroom.write(fresh, newsroom.article("一条", "正文" * 50, url=page, images=(Image(publisher.url("/1.jpg"), page=page),)))
    assert client.get(f"/picture/{id}/1").status_code == 200
    assert publisher.seen == [("/1.jpg", None)]


@pytest.mark.parametrize(
    "body",
    [
        b"<html><script>alert(1)</script></html>",
        b"<svg xmlns='http://www.w3.org/2000/svg' onload='alert(1)'/>",
        b"",
        jpeg()[:3000],
        b"GIF89a\xff\xff\xff\xff" + b"\0" * 100,
        b"\x1f\x8b\x08\0" + b"\0" * 50,
    ],
    ids=["html", "svg", "empty", "truncated", "bomb", "gzip"],
)
@pytest.mark.parametrize("content_type", ["image/jpeg", "text/html", "image/svg+xml"])
def test_non_images_are_not_passed_on(body: bytes, content_type: str, client: httpx.Client, fresh: Store, publisher: Publisher) -> None:
    publisher.bodies["/1.jpg"], publisher.type = body, content_type
    id = story(fresh, Image(publisher.url("/1.jpg")))
    for address in (f"/picture/{id}/1", f"/picture/{id}/1/thumb", f"/picture/{id}/1"):
        answer = client.get(address)
        assert (answer.status_code, answer.content) == (502, b"")
        assert answer.headers["content-type"].startswith("text/plain")
    assert len(publisher.seen) == 1  # requested once, then not retried for a while


def test_script_appended_to_image_is_removed(client: httpx.Client, fresh: Store, publisher: Publisher) -> None:
    publisher.bodies["/1.jpg"], publisher.type = jpeg() + b"<script>alert(1)</script>", "text/html"
    answer = client.get(f"/picture/{story(fresh, Image(publisher.url('/1.jpg')))}/1")
    assert (answer.status_code, answer.headers["content-type"]) == (200, "image/jpeg")
    assert b"script" not in answer.content


def test_concurrent_readers_share_one_request(client: httpx.Client, fresh: Store, publisher: Publisher) -> None:
    publisher.bodies["/1.jpg"], publisher.wait = jpeg(), 0.3
    id = story(fresh, Image(publisher.url("/1.jpg")))
    with ThreadPoolExecutor(8) as readers:
        answers = list(readers.map(lambda _: client.get(f"/picture/{id}/1/thumb"), range(8)))
    assert {answer.status_code for answer in answers} == {200}
    assert len(publisher.seen) == 1


def test_images_of_articles_are_proxied(client: httpx.Client, fresh: Store, publisher: Publisher) -> None:
    publisher.bodies["/a.jpg"] = jpeg()
    page = "https://news.example/a.html"
    article = Article(
        page, Link(page, "feed:甲"), NOW, page, title="古镇", text="古镇的路铺好了。", images=(Image(publisher.url("/a.jpg")),)
    )
    added = fresh.add(article, now=NOW)
    assert client.get(f"/picture/{added.id}/1").status_code == 200
    assert publisher.seen == [("/a.jpg", page)]


def test_unwritable_folder_disables_only_caching(serve: Any, fresh: Store, publisher: Publisher, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    publisher.bodies["/1.jpg"] = jpeg()
    portal = serve(fresh, settings=settings(tmp_path / "file" / "cache", publisher))
    id = story(fresh, Image(publisher.url("/1.jpg")))
    assert [portal.get(f"/picture/{id}/1").status_code for _ in range(2)] == [200, 200]
    assert len(publisher.seen) == 2


# the cache folder


def fill_cache(cache: PictureCache, number: int, size: int = 10_000, begin: int = 0) -> None:
    for index in range(begin, begin + number):
        assert cache.put(f"{index:04d}.full.jpg", bytes([index % 251 + 1]) * size)


def total_size(cache: PictureCache) -> int:
    return sum(file.size for file in cache.files())


def test_least_recently_used_files_are_removed_first(tmp_path: Path) -> None:
    cache = PictureCache(tmp_path, 1_000_000)
    fill_cache(cache, 60)
    for place, file in enumerate(sorted(cache.files(), key=lambda file: file.path.name)):
        os.utime(file.path, (1_000_000 + place, 1_000_000 + place))
    assert cache.get("0000.full.jpg") is not None  # now the most recently used
    fill_cache(cache, 60, begin=100)
    assert total_size(cache) <= 1_000_000
    assert cache.get("0000.full.jpg") is not None
    assert cache.get("0001.full.jpg") is None
    assert cache.get("0159.full.jpg") == bytes([160]) * 10_000


def test_two_processes_respect_the_size_limit(tmp_path: Path) -> None:
    first, second = PictureCache(tmp_path, 1_000_000), PictureCache(tmp_path, 1_000_000)
    largest = 0
    for number in range(0, 300, 3):
        fill_cache(first, 3, begin=number)
        fill_cache(second, 3, begin=1000 + number)
        largest = max(largest, total_size(first))
    assert 700_000 < largest <= 1_000_000


def test_full_disk_leaves_no_partial_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cache = PictureCache(tmp_path, 1_000_000)

    def full(*_: Any) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(picture_cache.os, "replace", full)
        assert not cache.put("ab.full.jpg", b"x" * 100)
    assert cache.get("ab.full.jpg") is None
    assert list(cache.files()) == []
    assert cache.put("ab.full.jpg", b"x" * 100)
    assert not cache.put("large.jpg", b"x" * 200_000)  # more than a tenth of the limit


def test_empty_file_is_ignored(tmp_path: Path) -> None:
    cache = PictureCache(tmp_path, 1_000_000)
    (tmp_path / "ab").mkdir()
    (tmp_path / "ab" / "ab.full.jpg").touch()
    assert cache.get("ab.full.jpg") is None


ENDLESS_WRITER = """
import sys
from pathlib import Path
from newsportal.portal.reading.picture_cache import PictureCache
cache = PictureCache(Path(sys.argv[1]), 2_000_000_000)
print("writing", flush=True)
number = 0
while True:
    cache.put(f"{number % 40:04d}.full.jpg", bytes([number % 40 + 1]) * 3_000_000)
    number += 1
"""


def test_killed_writer_leaves_no_partial_file(tmp_path: Path) -> None:
    cache = PictureCache(tmp_path, 2_000_000_000)
    for _ in range(3):
        process = subprocess.Popen([sys.executable, "-c", ENDLESS_WRITER, str(tmp_path)], stdout=subprocess.PIPE)
        assert process.stdout is not None
        process.stdout.readline()
        time.sleep(0.15)
        process.kill()
        process.wait()
        process.stdout.close()
    for file in cache.files():
        if not file.path.name.endswith(picture_cache.PART):
            assert file.path.read_bytes() == bytes([int(file.path.name[:4]) + 1]) * 3_000_000
    for part in tmp_path.glob("??/*.part"):
        os.utime(part, (1, 1))  # old
    list(cache.files())
    assert list(tmp_path.glob("??/.*.part")) == []


def test_cache_is_cleared(tmp_path: Path) -> None:
    cache = PictureCache(tmp_path, 1_000_000)
    fill_cache(cache, 5, size=100)
    assert cache.clear() == (5, 500)
    assert cache.clear() == (0, 0)


def test_foreign_files_in_the_folder_are_kept(tmp_path: Path) -> None:
    album = tmp_path / "US"
    album.mkdir()
    (album / "beach.jpg").write_bytes(b"x" * 900_000)
    os.utime(album / "beach.jpg", (1, 1))
    cache = PictureCache(tmp_path, 1_000_000)
    fill_cache(cache, 120)
    assert cache.clear()[0] > 50
    assert (album / "beach.jpg").stat().st_size == 900_000


@pytest.mark.slow
def test_waiting_for_the_decoder_occupies_no_threads(publisher: Publisher, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    working, most = 0, 0

    def slow(body: bytes, side: int, *, max_pixels: int) -> EncodedImage:
        nonlocal working, most
        working += 1
        most = max(most, working)
        time.sleep(0.02)
        working -= 1
        return EncodedImage(b"picture", "image/jpeg", 1, 1)

    monkeypatch.setattr(picture_proxy, "reencode", slow)
    desk = PictureProxy(PictureCache(tmp_path, 1_000_000), Policy((f"127.0.0.1:{publisher.port}",)), "newsportal/1")

    async def all_at_once() -> list[Any]:
        requests = (desk.picture(publisher.url(f"/{number % 10}.jpg"), "", thumb=number >= 10) for number in range(20))
        return await asyncio.gather(*requests)

    publisher.bodies |= {f"/{number}.jpg": b"x" for number in range(10)}
    assert {ready.body for ready in asyncio.run(all_at_once())} == {b"picture"}
    assert most == 1
    assert len(publisher.seen) == 10


LOCAL = ("http://127.0.0.1:8239/a.png", "http://192.168.0.1/b.png", "http://localhost/c.png", "http://0x7f.1/d.png", "http://router/e.png")


def written_article(store: Store, *urls: str) -> str:
    html = "<p>桥</p>" + "".join(f'<figure><img src="{url}" alt="桥"></figure>' for url in urls)
    return store.add(article("1", text="桥", html=html, images=tuple(map(Image, urls))), now=NOW).id


def test_private_addresses_in_body_are_not_sent_to_browsers(serve: Any, fresh: Store) -> None:
    id = written_article(fresh, *LOCAL, "https://img.example/good.png")
    client = serve(fresh)
    pages = [client.get(address).text for address in (f"/story/{id}", "/feed.json")]
    pages.append(client.get(f"/api/v1/articles/{id}").json()["html"])  # its list of images is unchanged
    assert [url for url in LOCAL for page in pages if url in page] == []
    assert ["https://img.example/good.png" in page for page in pages] == [True, True, True]


def test_images_in_body_are_proxied(client: httpx.Client, fresh: Store, publisher: Publisher) -> None:
    publisher.bodies["/in.jpg"] = jpeg()
    url = publisher.url("/in.jpg")
    id = written_article(fresh, url)
    page = client.get(f"/story/{id}").text
    address = f"/picture/{id}/{content_id(url)}?v={url_version(url)}"
    assert f'src="{address}"' in page
    assert url not in page
    assert address in client.get("/feed.json").text
    assert size_of(client.get(address)) == (900, 600)
    assert publisher.seen == [("/in.jpg", "https://news.example/1.html")]
    assert client.get(f"/picture/{id}/{content_id(publisher.url('/other.jpg'))}").status_code == 404
