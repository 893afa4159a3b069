"""What the portal takes of its machine (memory, disk, files), and how many requests come, how long they take and what they are answered.

Requests are counted by route, never by address, so that the figures stay few.
"""

from __future__ import annotations

import os
from collections import Counter, deque
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from time import monotonic, perf_counter
from typing import Final

import psutil
from prometheus_client import CollectorRegistry, Histogram
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from newsportal.sources import Sources
from newsportal.store.dialect_sqlite import sqlite_file

BESIDE: Final = ("-wal", "-shm")  # what SQLite keeps beside a file
MANY: Final = 20_000  # files of a folder that are added up; a cache of more is told as "at least"


@dataclass(frozen=True, slots=True)
class Size:
    """Bytes on disk of a part; ``None``: it lies on a server."""

    name: str
    bytes: int | None


@dataclass(frozen=True, slots=True)
class Disk:
    """Bytes of the disk on which the store lies. ``low``: less is free than ``alerts.disk_free`` says."""

    free: int
    total: int
    low: bool

    @property
    def free_share(self) -> float:
        return self.free / self.total if self.total else 1.0


@dataclass(frozen=True, slots=True)
class Machine:
    """Bytes. ``children``: memory of processes that this one has started (crawls, trainings). ``load``: processes that wanted a processor,
    on average over the last minute, by processor; 1 is all of them busy."""

    memory: int
    children: int
    load: float
    machine_available: int
    disk: Disk
    sizes: tuple[Size, ...]


def machine(sources: Sources) -> Machine:
    """As it is now. Raises ``OSError`` where the disk does not tell."""
    process, children = psutil.Process(), 0
    for child in process.children(recursive=True):
        with suppress(psutil.Error):  # it has just ended
            children += child.memory_info().rss
    load, available = psutil.getloadavg()[0] / (psutil.cpu_count() or 1), psutil.virtual_memory().available
    sizes = tuple(Size(name, size_of(file) if file is not None else None) for name, file in files(sources))
    return Machine(process.memory_info().rss, children, load, available, disk(sources), sizes)


def disk(sources: Sources) -> Disk:
    """How full it is now. Raises ``OSError`` where the disk does not tell."""
    folder = next((file.parent for _, file in files(sources) if file is not None and file.parent.is_dir()), Path.cwd())
    found = psutil.disk_usage(str(folder))
    return Disk(found.free, found.total, found.total > 0 and 100 * found.free / found.total < sources.alerts.disk_free)


def files(sources: Sources) -> list[tuple[str, Path | None]]:
    """The parts that lie on disk, by what they are."""
    return [
        ("store", sqlite_file(sources.store)),
        ("index", sqlite_file(sources.index_uri)),
        ("accounts", sqlite_file(sources.accounts_uri)),
        ("known", sources.seen_file),
        ("archive", sources.archive),
    ]


def size_of(file: Path) -> int:
    """A file with what SQLite keeps beside it, or all files of a folder; what is not there has none."""
    if file.is_dir():
        paths = (os.path.join(place, name) for place, _, names in os.walk(file) for name in names)
        return sum(_bytes(path) for path in islice(paths, MANY))
    return _bytes(file) + sum(_bytes(Path(f"{file}{ending}")) for ending in BESIDE)


def _bytes(file: Path | str) -> int:
    try:
        return os.stat(file).st_size
    except OSError:  # gone meanwhile, or never there
        return 0


MINUTES: Final = 60  # of which the monitor shows the requests, a minute each
BUCKETS: Final = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0)  # seconds. A page is to take less than 0.1
SHARED: Final = "shared"
"""The route of a page that was written for another reader some seconds ago: it is told before a route is looked for."""

BAD: Final = 400  # from this status on nothing was found, or something broke
METHODS: Final = frozenset(("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"))


class Meter:
    """A registry of its own, so that two portals of one process do not meet. Used by the event loop alone, but read by threads."""

    def __init__(self, now: Callable[[], float] = monotonic) -> None:
        self.registry = CollectorRegistry()
        self._seconds = Histogram(
            "newsportal_http_request_duration_seconds", "Time to answer a request, by route.", ("method", "route", "status"),
            buckets=BUCKETS, registry=self.registry,
        )  # fmt: skip
        self._now = now
        self._minutes: deque[tuple[int, Counter[str]]] = deque(maxlen=MINUTES)

    def saw(self, method: str, route: str, status: int, seconds: float) -> None:
        kind = f"{status // 100}xx"
        self._seconds.labels(method if method in METHODS else "other", route, kind).observe(seconds)
        minute = int(self._now() // 60)
        if not self._minutes or self._minutes[-1][0] != minute:
            self._minutes.append((minute, Counter()))
        self._minutes[-1][1][kind] += 1

    def minutes(self) -> list[dict[str, int]]:
        """Requests of each of the last minutes by kind of answer (``2xx`` …), the earliest first; of those without any, nothing."""
        present, found = int(self._now() // 60), {minute: dict(counted) for minute, counted in list(self._minutes)}
        return [found.get(minute, {}) for minute in range(present - MINUTES + 1, present + 1)]


class MeteredRequests:
    """The outermost layer but the guard's."""

    def __init__(self, app: ASGIApp, meter: Meter) -> None:
        self.app = app
        self.meter = meter

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        began, status = perf_counter(), 500

        async def noted(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        try:
            await self.app(scope, receive, noted)
        finally:
            self.meter.saw(scope["method"], route_of(scope, status), status, perf_counter() - began)


def route_of(scope: Scope, status: int) -> str:
    """The template of the route that answered; all of ``/static`` is one, so are pages that readers share, and what is no page."""
    found = getattr(scope.get("route"), "path", None)
    if isinstance(found, str):
        return found
    if scope.get("root_path", "").endswith("/static") or scope["path"].startswith("/static/"):
        return "/static"
    return SHARED if status < BAD else "none"
