"""The made-up Web on loopback: one small HTTP server per site, each on a separate port (or IP address)."""

from __future__ import annotations

import socket
import threading
import time
from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from madeup.engines import CAPTCHA_AFTER
from madeup.exchange import Request, Response
from madeup.manifest import manifest
from madeup.router import Router
from madeup.serving import SiteServer
from madeup.sites import CHINA, KEYS
from madeup.sources import sources_yaml
from madeup.traps import Limits
from madeup.world import World

LOOPBACK = "127.0.0.1"
FIRST_HOST = 11  # with ``hosts``: 127.0.0.11 and up


@dataclass(frozen=True, slots=True)
class Visit:
    """A received request. ``time`` is ``time.monotonic()``; ``status`` that of the response."""

    time: float
    site: str
    method: str
    host: str
    path: str
    headers: Mapping[str, str]
    status: int


@dataclass(slots=True)
class Fault:
    """The next ``times`` requests for the path (of the site, if given) get ``status``; 0 closes the connection without a response."""

    path: str
    site: str | None
    times: int
    status: int
    headers: tuple[tuple[str, str], ...] = ()

    def hits(self, site: str, target: str) -> bool:
        return self.times > 0 and self.path in (target, urlsplit(target).path) and self.site in (None, site)


class MadeUpWeb:
    """Context manager that serves all sites and engines and records requests. Thread-safe.

    ``now`` (aware, to the minute) is the reference time of all dates; by default this minute. Equal ``now``, ``seed`` and addresses give
    equal bytes. ``port_base`` 0 uses free ports. ``hosts`` gives every site a separate loopback address, 127.0.0.11 and up, for code that
    distinguishes sites by host without port; a system without them (macOS) uses one address and many ports.
    """

    def __init__(
        self,
        now: datetime | None = None,
        seed: int = 1,
        port_base: int = 0,
        hosts: bool = False,
        limits: Limits | None = None,
        captcha_after: int = CAPTCHA_AFTER,
    ) -> None:
        self.now = (now or datetime.now(CHINA)).replace(second=0, microsecond=0)
        if self.now.tzinfo is None:
            raise ValueError("now has no zone")
        self.hosts = hosts and _has_addresses()
        self._options = (seed, port_base, limits, captcha_after)
        self._servers: dict[str, SiteServer] = {}
        self._threads: list[threading.Thread] = []
        self._lock = threading.Lock()
        self._visits: list[Visit] = []
        self._counts: Counter[tuple[str, str]] = Counter()
        self._faults: list[Fault] = []
        self._held: frozenset[str] = frozenset()
        self._let_go = threading.Event()

    def start(self) -> MadeUpWeb:
        """Bind all ports and serve. Raises ``OSError`` if a port is in use; then no server is left open."""
        seed, port_base, limits, captcha_after = self._options
        try:
            for index, key in enumerate(KEYS):
                host, step = (f"127.0.0.{FIRST_HOST + index}", 0) if self.hosts else (LOOPBACK, index)
                self._servers[key] = SiteServer((host, port_base and port_base + step), partial(self._answer, key), self.now)
        except OSError:
            self.stop()
            raise
        self.addresses = {key: f"http://{server.server_name}:{server.server_port}" for key, server in self._servers.items()}
        self.world = World(self.now, seed, self.addresses)
        self.router = Router(self.world, limits, captcha_after)
        for key, server in self._servers.items():
            thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, name=f"madeup-{key}", daemon=True)
            thread.start()
            self._threads.append(thread)
        return self

    def stop(self) -> None:
        """Stop all servers and connections and wait for their threads."""
        if self._threads:
            with ThreadPoolExecutor(len(self._servers)) as pool:
                list(pool.map(SiteServer.leave, self._servers.values()))
        for thread in self._threads:
            thread.join()
        for server in self._servers.values():
            server.server_close()
        self._servers, self._threads = {}, []

    def __enter__(self) -> MadeUpWeb:
        return self.start()

    def __exit__(self, *error: object) -> None:
        self.stop()

    def url(self, site: str, path: str = "/") -> str:
        """Return the URL of a path on a site or engine (``kunzhou``, ``baixun`` …)."""
        return self.addresses[site] + path

    def manifest(self) -> dict[str, Any]:
        return manifest(self.world)

    def sources(self, path: Path | str, traps: bool = False) -> Path:
        """Write a ``sources.yaml`` for this Web; the store is in ``data/`` beside it. ``traps`` includes the site of traps."""
        written = Path(path)
        written.parent.mkdir(parents=True, exist_ok=True)
        written.write_text(sources_yaml(self.addresses, traps), encoding="utf-8")
        return written

    @property
    def requests(self) -> list[Visit]:
        """All requests so far, in the order of their responses."""
        with self._lock:
            return list(self._visits)

    def fail(self, path: str, times: int = 1, status: int = 503, site: str | None = None, **headers: str) -> None:
        """Respond to the next ``times`` requests for ``path`` (a path or an absolute URL) with ``status``; 0 closes the connection.

        Write headers as ``Retry_After="2"``.
        """
        if "://" in path:
            base = "://".join(urlsplit(path)[:2])
            site, path = next(key for key, address in self.addresses.items() if address == base), path.removeprefix(base)
        with self._lock:
            self._faults.append(Fault(path, site, times, status, tuple((name.replace("_", "-"), value) for name, value in headers.items())))

    @contextmanager
    def holding(self, addresses: Collection[str]) -> Iterator[None]:
        """Delay the responses for these URLs until the ``with`` block ends, so that a crawl cannot end earlier."""
        self._let_go.clear()
        self._held = frozenset(addresses)
        try:
            yield
        finally:
            self._held = frozenset()
            self._let_go.set()

    def reset(self) -> None:
        """Clear requests, counters and faults: the captcha engine and the flaky page start again."""
        with self._lock:
            self._visits.clear()
            self._counts.clear()
            self._faults.clear()

    def _answer(self, site: str, method: str, target: str, headers: Mapping[str, str]) -> Response | None:
        """Return the response; ``None`` closes the connection."""
        if self.addresses[site] + target in self._held:
            self._let_go.wait()
        path = urlsplit(target).path
        with self._lock:
            fault = next((fault for fault in self._faults if fault.hits(site, target)), None)
            if fault:
                fault.times -= 1
            else:
                self._counts[site, path] += 1
            nth = self._counts[site, path]
        if fault:
            response = Response(fault.status, "text/plain", b"injected", fault.headers)
        else:
            response = self.router.answer(Request(site, target, method, headers, nth))
        with self._lock:
            self._visits.append(Visit(time.monotonic(), site, method, headers.get("Host", ""), target, headers, response.status))
        return response if response.status else None


def _has_addresses() -> bool:
    """Return whether all of 127.0.0.0/8 is loopback, as on Linux and Windows."""
    with socket.socket() as probe, suppress(OSError):
        probe.bind((f"127.0.0.{FIRST_HOST}", 0))
        return True
    return False
