"""A server on loopback that says exactly what a test wants, and Scrapy crawls inside the test's process."""

from __future__ import annotations

import asyncio
import socketserver
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import pytest

Answer = bytes | Iterable[bytes]
"""Raw bytes for the wire; of several pieces each is sent at once."""


@dataclass(frozen=True)
class Seen:
    path: str
    headers: Mapping[str, str]


@dataclass
class Site:
    """``routes`` maps a path to what is answered; ``seen`` is what was asked, in order."""

    routes: dict[str, Answer | Callable[[Seen], Answer]] = field(default_factory=dict)
    seen: list[Seen] = field(default_factory=list)
    port: int = 0
    connections: int = 0

    def url(self, path: str = "/", host: str = "127.0.0.1") -> str:
        return f"http://{host}:{self.port}{path}"

    @property
    def allow(self) -> tuple[str, ...]:
        return (f"127.0.0.1:{self.port}",)

    def paths(self) -> list[str]:
        return [seen.path for seen in self.seen]


def http(body: bytes = b"", status: str = "200 OK", **headers: str) -> bytes:
    """A response; ``content_type="text/html"`` becomes ``content-type: text/html``."""
    named = {"content-length": str(len(body)), "connection": "close"} | {name.replace("_", "-"): value for name, value in headers.items()}
    head = "".join(f"{name}: {value}\r\n" for name, value in named.items())
    return f"HTTP/1.1 {status}\r\n{head}\r\n".encode() + body


class _Handler(socketserver.StreamRequestHandler):
    def handle(self) -> None:
        site: Site = self.server.site  # type: ignore[attr-defined]
        site.connections += 1
        line = self.rfile.readline().decode()
        if not line:
            return
        headers = {}
        while (row := self.rfile.readline().decode("latin-1").strip()) != "":
            name, _, value = row.partition(":")
            headers[name.lower()] = value.strip()
        seen = Seen(line.split()[1], headers)
        site.seen.append(seen)
        answer = site.routes.get(seen.path, http(b"", "404 Not Found"))
        answer = answer(seen) if callable(answer) else answer
        try:
            for piece in [answer] if isinstance(answer, bytes) else answer:
                self.wfile.write(piece)
        except OSError:
            pass  # the client had enough


class _Server(socketserver.ThreadingTCPServer):
    daemon_threads = True
    block_on_close = False
    allow_reuse_address = True


@pytest.fixture
def make_site() -> Iterator[Callable[..., Site]]:
    """Start a :class:`Site`; each call another port (``host`` another loopback address)."""
    servers: list[_Server] = []

    def make(routes: dict[str, Any] | None = None, host: str = "127.0.0.1") -> Site:
        server = _Server((host, 0), _Handler)
        site = Site(dict(routes or {}), port=server.server_address[1])
        server.site = site  # type: ignore[attr-defined]
        threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
        servers.append(server)
        return site

    yield make
    for server in servers:
        server.shutdown()
        server.server_close()


@pytest.fixture
def site(make_site: Callable[..., Site]) -> Site:
    return make_site()


def drip(piece: bytes, seconds: float, times: int) -> Iterator[bytes]:
    """A slow server: ``piece`` every ``seconds``."""
    for _ in range(times):
        yield piece
        time.sleep(seconds)


@pytest.fixture
def response() -> Callable[..., bytes]:
    return http


@pytest.fixture
def slowly() -> Callable[..., Iterator[bytes]]:
    return drip


@pytest.fixture(scope="session")
def reactor_loop() -> Iterator[asyncio.AbstractEventLoop]:
    """Twisted's asyncio reactor, started but not run: the loop runs while a crawl runs."""
    loop = asyncio.new_event_loop()
    asyncio.set_event_loop(loop)
    from twisted.internet import asyncioreactor

    asyncioreactor.install(loop)
    from twisted.internet import reactor

    reactor.startRunning(installSignalHandlers=False)  # type: ignore[attr-defined]
    yield loop
    reactor.stop()  # type: ignore[attr-defined]
    loop.run_until_complete(asyncio.sleep(0.1))
    asyncio.set_event_loop(None)
    loop.close()
