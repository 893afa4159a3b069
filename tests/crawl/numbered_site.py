"""A site of numbered pages on loopback: page n links to pages 10 n + 1 to 10 n + 10 if they exist."""

from __future__ import annotations

import math
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from time import monotonic
from typing import Any


class NumberedSite(ThreadingHTTPServer):
    """``requests``: host, path and time of every request; ``answers``: special responses by path (status and headers), each used once."""

    daemon_threads = True
    request_queue_size = 128

    def __init__(self, pages: int = 100) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.pages = pages
        self.requests: list[tuple[str, str, float]] = []
        self.answers: dict[str, tuple[int, dict[str, str]]] = {}
        self._most, self._let_go = math.inf, threading.Event()
        self.thread = threading.Thread(target=self.serve_forever, daemon=True)
        self.thread.start()

    def url(self, path: str = "/0", host: str = "127.0.0.1") -> str:
        return f"http://{host}:{self.server_address[1]}{path}"

    @contextmanager
    def holding(self, most: int) -> Iterator[None]:
        """Answer ``most`` requests, and the rest at the end of the ``with``, so that a crawl cannot end before."""
        self._most = most
        try:
            yield
        finally:
            self._most = math.inf
            self._let_go.set()
            self._let_go = threading.Event()

    def wait(self) -> None:
        """Block a request that is held back."""
        let_go = self._let_go
        if len(self.requests) > self._most:
            let_go.wait()

    def counts(self) -> Counter[str]:
        return Counter(path for _, path, _ in self.requests)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: NumberedSite

    def do_GET(self) -> None:
        host = self.headers["Host"].partition(":")[0]
        self.server.requests.append((host, self.path, monotonic()))
        self.server.wait()
        status, headers = self.server.answers.pop(self.path, (200, {}))
        body = _page(self.path, self.server.pages).encode()
        self.send_response(status)
        for name, value in {"Content-Type": "text/html", "Content-Length": str(len(body)), **headers}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *args: Any) -> None: ...


def _page(path: str, pages: int) -> str:
    number = path.strip("/").partition("?")[0]
    if not number.isdecimal():
        return "<p>a page"
    links = [f'<a href="/{n}">{n}</a>' for n in range(int(number) * 10 + 1, int(number) * 10 + 11) if n < pages]
    return "".join(links) + ('<p class="local">' if number == "1" else "<p>")
