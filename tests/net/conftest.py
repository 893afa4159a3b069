"""A server on loopback that sends exactly what a test wants, and Scrapy crawls inside the test's process."""

from __future__ import annotations

import asyncio
import socket
import socketserver
import ssl
import subprocess
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from twisted.internet import asyncioreactor

Answer = bytes | Iterable[bytes]
"""Raw bytes for the wire; the items of an iterable are sent one at a time."""


@dataclass(frozen=True)
class ReceivedRequest:
    path: str
    headers: Mapping[str, str]


@dataclass
class Site:
    """``routes``: responses by path; ``requests``: the requests in order."""

    routes: dict[str, Answer | Callable[[ReceivedRequest], Answer]] = field(default_factory=dict)
    requests: list[ReceivedRequest] = field(default_factory=list)
    port: int = 0
    connections: int = 0

    def url(self, path: str = "/", host: str = "127.0.0.1") -> str:
        return f"http://{host}:{self.port}{path}"

    @property
    def allow(self) -> tuple[str, ...]:
        return (f"127.0.0.1:{self.port}",)

    def paths(self) -> list[str]:
        return [request.path for request in self.requests]


def http(body: bytes = b"", status: str = "200 OK", **headers: str) -> bytes:
    """A response; ``content_type="text/html"`` becomes ``content-type: text/html``."""
    fields = {"content-length": str(len(body)), "connection": "close"} | {name.replace("_", "-"): value for name, value in headers.items()}
    head = "".join(f"{name}: {value}\r\n" for name, value in fields.items())
    return f"HTTP/1.1 {status}\r\n{head}\r\n".encode() + body


class _Handler(socketserver.StreamRequestHandler):
    def handle(self) -> None:
        site: Site = self.server.site  # type: ignore[attr-defined]
        site.connections += 1
        while (request := self._read()) is not None:
            site.requests.append(request)
            answer = site.routes.get(request.path, http(b"", "404 Not Found"))
            answer = answer(request) if callable(answer) else answer
            try:
                for chunk in [answer] if isinstance(answer, bytes) else answer:
                    self.wfile.write(chunk)
            except OSError:
                return  # the client closed the connection
            if not isinstance(answer, bytes) or b"keep-alive" not in answer:
                return

    def _read(self) -> ReceivedRequest | None:
        line = self.rfile.readline().decode()
        headers = {}
        while (row := self.rfile.readline().decode("latin-1").strip()) != "":
            name, _, value = row.partition(":")
            headers[name.lower()] = value.strip()
        return ReceivedRequest(line.split()[1], headers) if line else None


class _Server(socketserver.ThreadingTCPServer):
    daemon_threads = True
    block_on_close = False
    allow_reuse_address = True


class _Server6(_Server):
    address_family = socket.AF_INET6


@pytest.fixture
def make_site() -> Iterator[Callable[..., Site]]:
    """Start a :class:`Site`, each on another port; ``host``: another loopback address."""
    servers: list[_Server] = []

    def make(routes: dict[str, Any] | None = None, host: str = "127.0.0.1") -> Site:
        server = (_Server6 if ":" in host else _Server)((host, 0), _Handler)
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


@pytest.fixture
def ipv6_site(make_site: Callable[..., Site]) -> Site:
    try:
        return make_site(host="::1")
    except OSError:
        pytest.skip("this machine has no IPv6 loopback")


def drip(chunk: bytes, seconds: float, times: int) -> Iterator[bytes]:
    """Simulate a slow server: yield ``chunk`` every ``seconds``."""
    for _ in range(times):
        yield chunk
        time.sleep(seconds)


@pytest.fixture
def response() -> Callable[..., bytes]:
    return http


@pytest.fixture
def slowly() -> Callable[..., Iterator[bytes]]:
    return drip


@dataclass
class TlsSite:
    """``requests``: the raw heads of requests."""

    port: int = 0
    requests: list[bytes] = field(default_factory=list)


@pytest.fixture
def tls_port(tls_site: TlsSite) -> int:
    return tls_site.port


@pytest.fixture
def server_context(tmp_path: Path) -> ssl.SSLContext:
    """TLS context of a server, with a self-signed certificate for 127.0.0.1."""
    key, certificate = tmp_path / "key.pem", tmp_path / "cert.pem"
    command = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-subj", "/CN=127.0.0.1"]
    process = subprocess.run([*command, "-keyout", key, "-out", certificate, "-days", "2"], capture_output=True, check=False)
    if process.returncode:
        pytest.skip("needs the openssl command")
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    return context


@pytest.fixture
def tls_site(server_context: ssl.SSLContext) -> Iterator[TlsSite]:
    """An HTTPS server. /moved redirects to its other name, /members requires a sign-in."""
    site = TlsSite()
    loop = asyncio.new_event_loop()

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = await reader.readuntil(b"\r\n\r\n")
        site.requests.append(head)
        moved = f"302 Found\r\nlocation: https://localhost:{site.port}/landed"
        status = {b"/moved": moved, b"/members": "401 Unauthorized"}.get(head.split()[1], "200 OK")
        writer.write(f"HTTP/1.1 {status}\r\nset-cookie: s=renewed\r\ncontent-length: 6\r\nconnection: close\r\n\r\nsecret".encode())
        await writer.drain()
        writer.close()

    server = loop.run_until_complete(asyncio.start_server(answer, "127.0.0.1", 0, ssl=server_context))
    thread = threading.Thread(target=loop.run_forever, daemon=True)
    thread.start()
    site.port = server.sockets[0].getsockname()[1]
    yield site
    loop.call_soon_threadsafe(server.close)
    loop.call_soon_threadsafe(loop.call_later, 0.05, loop.stop)
    thread.join()
    loop.close()


REACTOR_LOOP = asyncio.new_event_loop()
asyncioreactor.install(REACTOR_LOOP)  # at collection: a process has one reactor, and the first test to import it would choose it


def pytest_unconfigure() -> None:
    if not REACTOR_LOOP.is_closed():  # no test used it
        REACTOR_LOOP.close()


@pytest.fixture(scope="session")
def reactor_loop() -> Iterator[asyncio.AbstractEventLoop]:
    """Twisted's asyncio reactor, started but not run: the loop runs while a crawl runs."""
    from twisted.internet import reactor

    loop = REACTOR_LOOP
    asyncio.set_event_loop(loop)

    reactor.startRunning(installSignalHandlers=False)  # type: ignore[attr-defined]
    yield loop
    loop.call_soon(reactor.stop)  # type: ignore[attr-defined]
    loop.run_forever()
    asyncio.set_event_loop(None)
    loop.close()


@dataclass
class Crawled:
    """Result of a crawl: responses and failures by requested URL, and Scrapy's stats."""

    pages: dict[str, Any] = field(default_factory=dict)
    errors: dict[str, Exception] = field(default_factory=dict)
    stats: dict[str, Any] = field(default_factory=dict)


@pytest.fixture
def crawl(reactor_loop: asyncio.AbstractEventLoop) -> Callable[..., Crawled]:
    """Function that crawls URLs (or keyword arguments of requests) with our handlers and middlewares and a test's settings."""
    from scrapy import Request, Spider
    from scrapy.crawler import AsyncCrawlerRunner

    settings = {
        "ADDONS": {},
        "DOWNLOAD_HANDLERS": {
            "http": "newsportal.crawl.handlers.Handler",
            "https": "newsportal.crawl.handlers.Handler",
            **dict.fromkeys(("file", "ftp", "s3", "data")),
        },
        "DOWNLOADER_MIDDLEWARES": {
            "newsportal.crawl.handlers.Guard": 50,
            "newsportal.crawl.middlewares.RobotsMiddleware": 100,
            "scrapy.downloadermiddlewares.robotstxt.RobotsTxtMiddleware": None,
        },
        "USER_AGENT": "newsportal/0.1 (+https://portal.example)",
        "ROBOTSTXT_OBEY": False,
        "RETRY_ENABLED": False,
        "HTTPPROXY_ENABLED": False,
        "TELNETCONSOLE_ENABLED": False,
        "REMOTE_CONTROL_ENABLED": False,
        "DOWNLOAD_VERIFY_CERTIFICATES": True,
        "DOWNLOAD_MAXSIZE": 1_000_000,
        "DOWNLOAD_TIMEOUT": 5,
        "REDIRECT_MAX_TIMES": 5,
        "DUPEFILTER_CLASS": "scrapy.dupefilters.BaseDupeFilter",
        "LOG_ENABLED": False,
        "HTTPERROR_ALLOW_ALL": True,
    }

    def run(*requests: str | dict[str, Any], **changed: Any) -> Crawled:
        found = Crawled()

        class Fetcher(Spider):
            name = "fetcher"

            async def start(self) -> Any:
                for target in requests:
                    arguments = {"url": target} if isinstance(target, str) else dict(target)
                    url = arguments["url"]
                    yield Request(**arguments, callback=self.save_page, errback=self.failed, cb_kwargs={"key": url}, dont_filter=True)

            def save_page(self, response: Any, key: str) -> None:
                found.pages[key] = response

            def failed(self, failure: Any) -> None:
                found.errors[failure.request.cb_kwargs["key"]] = failure.value

        async def main() -> None:
            crawler = runner.create_crawler(Fetcher)
            await crawler.crawl_async() if hasattr(crawler, "crawl_async") else await runner.crawl(crawler)
            found.stats = crawler.stats.get_stats()

        runner = AsyncCrawlerRunner(settings | changed)
        reactor_loop.run_until_complete(main())
        return found

    return run
