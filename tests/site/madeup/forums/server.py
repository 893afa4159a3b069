"""The made-up forums on loopback, one small HTTP server each; ``day`` is the visit whose state they show."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Any

from madeup.exchange import Request, Response
from madeup.forums import discourse, discuz, homemade, phpbb, phpwind
from madeup.forums.world import Forum, forums, gold
from madeup.server import LOOPBACK, Visit, _has_addresses
from madeup.serving import SiteServer
from madeup.sites import CHINA

Answer = Callable[[Forum, int, Request], Response]
ENGINES: dict[str, Answer] = {
    "discuz": discuz.answer, "phpwind": phpwind.answer, "phpbb": phpbb.answer, "discourse": discourse.answer, "homemade": homemade.answer,
}  # fmt: skip
FIRST_HOST = 41  # 127.0.0.41 and up, after those of the news sites

ROBOTS = "User-agent: *\nDisallow: /search.php\n"


HEAD = """\
version: 1
store: sqlite:///data/newsportal.db
politeness:
  delay: 0
  per_domain: 4
  allow_private: [127.0.0.0/8]
forums:
"""


class MadeUpForums:
    """Context manager. ``day`` may be set between visits; ``fail(path, times, status)`` injects faults, ``lead(path, to)`` redirects."""

    def __init__(self, now: datetime | None = None, seed: int = 1, hosts: bool = True) -> None:
        self.now = (now or datetime.now(CHINA)).replace(second=0, microsecond=0)
        self.forums = forums(self.now, seed)
        self.day = 0
        self.requests: list[Visit] = []
        self._hosts = hosts and _has_addresses()
        self._faults: dict[str, list[int]] = {}
        self._led: dict[str, str] = {}
        self._servers: dict[str, SiteServer] = {}
        self._threads: list[threading.Thread] = []
        self._lock = threading.Lock()

    def __enter__(self) -> MadeUpForums:
        for index, key in enumerate(self.forums):
            host = f"127.0.0.{FIRST_HOST + index}" if self._hosts else LOOPBACK
            server = self._servers[key] = SiteServer((host, 0), partial(self._answer, key), self.now)
            thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, name=f"forum-{key}", daemon=True)
            thread.start()
            self._threads.append(thread)
        self.addresses = {key: f"http://{server.server_name}:{server.server_port}" for key, server in self._servers.items()}
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

    def fail(self, path: str, times: int = 1, status: int = 503) -> None:
        """Respond to the next ``times`` requests for this path (with its query) with ``status``."""
        self._faults[path] = [status] * times

    def lead(self, path: str, to: str) -> None:
        """Redirect requests for this path, as for a deleted or members-only thread."""
        self._led[path] = to

    def reset(self) -> None:
        self.day, self.requests, self._faults, self._led = 0, [], {}, {}

    def gold(self, key: str) -> list[dict[str, Any]]:
        """Return every thread and post that is visible at some visit."""
        return gold(self.forums[key])

    def sources(self, path: Path, *keys: str, more: str = "") -> Path:
        """Write a ``sources.yaml`` for these forums (all by default); ``more`` is added to each entry."""
        entries = "".join(f"  - name: {key}\n    url: {self.url(key)}\n{more}" for key in keys or self.forums)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(HEAD + entries, "utf-8")
        return path

    def _answer(self, key: str, method: str, target: str, headers: Mapping[str, str]) -> Response:
        with self._lock:
            statuses = self._faults.get(target)
            status = statuses.pop() if statuses else None
        if status is not None:
            response = Response(status, "text/plain", b"injected")
        elif target in self._led:
            response = Response(302, headers=(("Location", self._led[target]),))
        elif target == "/robots.txt":
            response = Response(200, "text/plain", ROBOTS.encode())
        else:
            response = ENGINES[key](self.forums[key], self.day, Request(key, target, method, headers))
        with self._lock:
            self.requests.append(Visit(time.monotonic(), key, method, headers.get("Host", ""), target, headers, response.status))
        return response
