"""The made-up picture Web on loopback, one small HTTP server per host. ``visit`` selects the state: some pages fail at the first."""

from __future__ import annotations

import json
import re
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict
from datetime import datetime
from functools import partial
from pathlib import Path
from urllib.parse import urlsplit

from madeup.exchange import Request, Response, redirect
from madeup.photos import lists, markup, multi_page, single_page, strips
from madeup.photos.drawing import encoded, mark
from madeup.photos.gold import GoldStory, gold
from madeup.photos.sites import ADS, BANNED, CDN, KEYS, SITES, STATIC
from madeup.photos.world import Edition, World
from madeup.server import LOOPBACK, Visit, _has_addresses
from madeup.serving import SiteServer
from madeup.sites import CHINA

Layout = Callable[[World, Edition, int], Response]
LAYOUTS: dict[str, Layout] = {
    "numbers": multi_page.numbers, "letters": multi_page.letters, "pager": multi_page.pager, "query": multi_page.query,
    "slides": single_page.slides, "states": single_page.states, "single": single_page.single, "scripted": single_page.scripted,
    "strip": strips.strip, "figures": strips.figures, "data": strips.data,
}  # fmt: skip
FIRST_HOST = 61  # 127.0.0.61 and up, after those of the forums
ROBOTS = "User-agent: *\nDisallow: /search\n"
RANGE = re.compile(r"bytes=0-(\d+)$")

HEAD = """\
version: 1
store: sqlite:///data/newsportal.db
politeness:
  delay: 0
  per_domain: 4
  allow_private: [127.0.0.0/8]
galleries:
"""


class MadeUpPhotos:
    """Context manager. ``visit`` (0, 1, …) may be set between visits; ``fail(site, path, times, status)`` injects faults.

    ``grain``: pictures have camera noise, so that their files are larger than the first partial request.
    """

    def __init__(self, now: datetime | None = None, seed: int = 1, hosts: bool = True, grain: bool = False) -> None:
        self.now = (now or datetime.now(CHINA)).replace(second=0, microsecond=0)
        self.visit = 0
        self.requests: list[Visit] = []
        self._seed, self._grain = seed, grain
        self._hosts = hosts and _has_addresses()
        self._faults: dict[tuple[str, str], list[int]] = {}
        self._servers: dict[str, SiteServer] = {}
        self._threads: list[threading.Thread] = []
        self._lock = threading.Lock()

    def __enter__(self) -> MadeUpPhotos:
        for index, key in enumerate(KEYS):
            host = f"127.0.0.{FIRST_HOST + index}" if self._hosts else LOOPBACK
            self._servers[key] = SiteServer((host, 0), partial(self._answer, key), self.now)
        self.addresses = {key: f"http://{server.server_name}:{server.server_port}" for key, server in self._servers.items()}
        self.world = World(self.now, self._seed, self.addresses)
        for key, server in self._servers.items():
            thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, name=f"photos-{key}", daemon=True)
            thread.start()
            self._threads.append(thread)
        return self

    def __exit__(self, *error: object) -> None:
        for server in self._servers.values():
            server.leave()
        for thread in self._threads:
            thread.join()
        for server in self._servers.values():
            server.server_close()

    def url(self, key: str, path: str = "/") -> str:
        return self.addresses[key] + path

    def fail(self, site: str, path: str, times: int = 1, status: int = 503) -> None:
        """Respond to the next ``times`` requests for this path (with its query) with ``status``."""
        self._faults[site, path] = [status] * times

    def reset(self) -> None:
        self.visit, self.requests, self._faults = 0, [], {}

    def gold(self, *keys: str) -> list[GoldStory]:
        """Return every story of these hosts (by default all that need no browser) as a perfect crawl would store it."""
        return gold(self.world, keys or STATIC)

    def sources(self, path: Path, *keys: str, more: str = "", head: str = HEAD) -> Path:
        """Write a ``sources.yaml`` for these hosts (by default all that need no browser); ``more`` is added to each entry."""
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(head + self.entries(*keys, more=more), "utf-8")
        return path

    def entries(self, *keys: str, more: str = "") -> str:
        return "".join(self._entry(key) + more for key in keys or STATIC)

    def _entry(self, key: str) -> str:
        site = SITES[key]
        lines = [
            f"name: {key}", f"seeds: ['{self.url(key, lists.index_path(key))}']", f'seed: "{site.seed}"',
            f"banned_seed: {json.dumps(BANNED)}",
            f"weight: {site.weight}", f"site: {site.name}",
        ]  # fmt: skip
        lines += [f'pattern: "{site.pattern}"'] if site.pattern else []
        lines += ["render: true"] if site.render else []
        lines += [f"category: {site.category}"] if site.category else []
        return "  - " + "\n    ".join(lines) + "\n"

    def _answer(self, key: str, method: str, target: str, headers: Mapping[str, str]) -> Response:
        with self._lock:
            statuses = self._faults.get((key, target))
            status = statuses.pop() if statuses else None
        if status is not None:
            response = Response(status, "text/plain", b"injected")
        else:
            response = self._picture(key, target, headers) or self._page(key, Request(key, target, method, headers))
        with self._lock:
            self.requests.append(Visit(time.monotonic(), key, method, headers.get("Host", ""), target, headers, response.status))
        return response

    def _page(self, key: str, request: Request) -> Response:
        if request.target == "/robots.txt":
            return Response(200, "text/plain", ROBOTS.encode())
        if key == ADS and request.path == "/click":
            return Response(body=markup.document("新房开盘", "<h1>新房开盘</h1><p>现房实景，欢迎来电。</p>").encode())
        if key in (CDN, ADS):
            return Response(404, body=b"<h1>404</h1>")
        return self._story(key, request.target) or self._list(key, request) or self._beyond(key, request)

    def _story(self, key: str, target: str) -> Response | None:
        edition, page = self.world.by_path.get((key, target), (None, 1))
        if edition is None:
            return None
        if page == edition.lost:
            return Response(503, "text/html", b"<h1>503</h1>")
        if page == edition.late and self.visit == 0:
            return Response(503, "text/html", b"<h1>503 Service Unavailable</h1>")
        return LAYOUTS[SITES[key].layout](self.world, edition, page)

    def _list(self, key: str, request: Request) -> Response | None:
        if request.path == "/":
            return lists.front(self.world, key)
        for page in range(1, lists.pages(self.world, key) + 1):
            if request.target == lists.index_path(key, page):
                return lists.index(self.world, key, page)
        return lists.trap(self.world, key, request.target) or self._api(key, request)

    def _api(self, key: str, request: Request) -> Response | None:
        """Return the data that the script of a page requests."""
        number, _, at = (request.parameter("of") or request.parameter("key")).partition("-")
        edition = next((story for story in self.world.of(key) if str(story.number) == number), None)
        if not request.path.startswith("/api/") or edition is None:
            return None
        data = single_page.part(edition.shots[int(at)]) if at else single_page.parts(edition)
        return Response(200, "application/json", json.dumps(data, ensure_ascii=False).encode())

    def _beyond(self, key: str, request: Request) -> Response:
        """Respond to a page beyond a story's last: 404, a redirect to the front page, 「页面不存在」 with 200, or the last page again."""
        layout, path = SITES[key].layout, request.path
        if layout == "letters":
            return markup.page(key, lists.GONE)
        if layout == "query" and (edition := self._numbered(key, request.parameter("id"))):
            return LAYOUTS[layout](self.world, edition, len(edition.parts))
        if layout == "numbers" and (found := re.search(r"/(\d+)_\d+\.html$", path)) and int(found[1]) % 2:
            return redirect(self.url(key))
        return markup.page(key, "<html><head><title>404</title></head><body><h1>404 Not Found</h1></body></html>", 404)

    def _numbered(self, key: str, number: str) -> Edition | None:
        return next((edition for edition in self.world.of(key) if str(edition.number) == number), None)

    def _picture(self, key: str, target: str, headers: Mapping[str, str]) -> Response | None:
        path = urlsplit(target).path
        if found := re.fullmatch(r"/static/(\w+)\.png", path):
            size = markup.MARKS.get(found[1])
            name = f"{key}/{found[1]}" if found[1] in ("logo", "qrcode") else found[1]
            return Response(200, "image/png", mark(name, *size)) if size else None
        drawing = self.world.pictures.get((key, path))
        if drawing is None:
            return None
        refused = self._refused(key, path, headers)
        if refused is not None:
            return refused
        with self._lock:
            body = encoded(drawing, self._grain)
        return _ranged(body, drawing.content_type, headers)

    def _refused(self, key: str, path: str, headers: Mapping[str, str]) -> Response | None:
        """Refuse hotlinking (防盗链): respond with 403 or another picture."""
        way = "403" if key == CDN else SITES[key].guarded if key in SITES else ""
        addresses = self.addresses.values() if key == CDN else (self.addresses[key],)
        referer = headers.get("Referer", "")
        if not way or "/pics/" not in path or any(referer.startswith(address + "/") for address in addresses):
            return None
        return (
            Response(403, "text/html", b"<h1>403 Forbidden</h1>") if way == "403" else Response(200, "image/png", mark("stolen", 400, 300))
        )


def _ranged(body: bytes, content_type: str, headers: Mapping[str, str]) -> Response:
    match = RANGE.match(headers.get("Range", ""))
    if match is None:
        return Response(200, content_type, body)
    part = body[: int(match[1]) + 1]
    return Response(206, content_type, part, (("Content-Range", f"bytes 0-{len(part) - 1}/{len(body)}"),))


def as_json(stories: list[GoldStory]) -> str:
    return json.dumps([asdict(story) for story in stories], ensure_ascii=False, indent=1)
