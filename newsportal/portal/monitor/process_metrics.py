"""Resources that the portal uses (memory, disk, files), and the number, duration and status of requests.

Requests are counted by route, not by URL, so that the series stay few.
"""

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

SQLITE_SUFFIXES: Final = ("-wal", "-shm")  # files that SQLite keeps beside a database
MAX_FILES: Final = 20_000  # maximum number of files of a folder that are added up


@dataclass(frozen=True, slots=True)
class Size:
    """Bytes on disk of a part; ``None``: it is on a server."""

    name: str
    bytes: int | None


@dataclass(frozen=True, slots=True)
class Disk:
    """Bytes of the disk with the store. ``low``: less is free than ``alerts.disk_free``."""

    free: int
    total: int
    low: bool

    @property
    def free_share(self) -> float:
        return self.free / self.total if self.total else 1.0


@dataclass(frozen=True, slots=True)
class Machine:
    """In bytes. ``children``: memory of processes started by this one (crawls, trainings). ``load``: average number of runnable processes
    over the last minute, per processor; 1 means that all are busy."""

    memory: int
    children: int
    load: float
    machine_available: int
    disk: Disk
    sizes: tuple[Size, ...]


def measure_machine(sources: Sources) -> Machine:
    """Return the current use of resources. Raises ``OSError`` if the disk does not respond."""
    process, children = psutil.Process(), 0
    for child in process.children(recursive=True):
        with suppress(psutil.Error):  # it has just ended
            children += child.memory_info().rss
    load, available = psutil.getloadavg()[0] / (psutil.cpu_count() or 1), psutil.virtual_memory().available
    sizes = tuple(Size(name, size_of(file) if file is not None else None) for name, file in files(sources))
    return Machine(process.memory_info().rss, children, load, available, measure_disk(sources), sizes)


def measure_disk(sources: Sources) -> Disk:
    """Return the free and total space. Raises ``OSError`` if the disk does not respond."""
    folder = next((file.parent for _, file in files(sources) if file is not None and file.parent.is_dir()), Path.cwd())
    usage = psutil.disk_usage(str(folder))
    return Disk(usage.free, usage.total, usage.total > 0 and 100 * usage.free / usage.total < sources.alerts.disk_free)


def files(sources: Sources) -> list[tuple[str, Path | None]]:
    """Return the parts with their files; ``None`` for a part on a server."""
    return [
        ("store", sqlite_file(sources.store)),
        ("index", sqlite_file(sources.index_uri)),
        ("accounts", sqlite_file(sources.accounts_uri)),
        ("known", sources.seen_file),
        ("archive", sources.archive),
    ]


def size_of(file: Path) -> int:
    """Return the size of a file with SQLite's files beside it, or of all files in a folder; 0 if there is none."""
    if file.is_dir():
        paths = (os.path.join(place, name) for place, _, names in os.walk(file) for name in names)
        return sum(_bytes(path) for path in islice(paths, MAX_FILES))
    return _bytes(file) + sum(_bytes(Path(f"{file}{ending}")) for ending in SQLITE_SUFFIXES)


def _bytes(file: Path | str) -> int:
    try:
        return os.stat(file).st_size
    except OSError:  # deleted meanwhile, or it never existed
        return 0


MINUTES: Final = 60  # minutes for which the monitor shows requests
BUCKETS: Final = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0)  # seconds. A page should take less than 0.1
SHARED: Final = "shared"
"""The route of responses from the cache, which are sent before routing."""

FIRST_ERROR_STATUS: Final = 400  # statuses from this one on are errors
METHODS: Final = frozenset(("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"))


class Meter:
    """Has its own registry, so that two portals in one process do not collide. Written by the event loop only, read by threads."""

    def __init__(self, now: Callable[[], float] = monotonic) -> None:
        self.registry = CollectorRegistry()
        self._seconds = Histogram(
            "newsportal_http_request_duration_seconds", "Time to answer a request, by route.", ("method", "route", "status"),
            buckets=BUCKETS, registry=self.registry,
        )  # fmt: skip
        self._now = now
        self._minutes: deque[tuple[int, Counter[str]]] = deque(maxlen=MINUTES)

    def record(self, method: str, route: str, status: int, seconds: float) -> None:
        kind = f"{status // 100}xx"
        self._seconds.labels(method if method in METHODS else "other", route, kind).observe(seconds)
        minute = int(self._now() // 60)
        if not self._minutes or self._minutes[-1][0] != minute:
            self._minutes.append((minute, Counter()))
        self._minutes[-1][1][kind] += 1

    def minutes(self) -> list[dict[str, int]]:
        """Return the requests of the last minutes by class of status (``2xx`` …), earliest first; empty for minutes without any."""
        current, by_minute = int(self._now() // 60), {minute: dict(counts) for minute, counts in list(self._minutes)}
        return [by_minute.get(minute, {}) for minute in range(current - MINUTES + 1, current + 1)]


class MeteredRequests:
    def __init__(self, app: ASGIApp, meter: Meter) -> None:
        self.app = app
        self.meter = meter

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        began, status = perf_counter(), 500

        async def send_and_note(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        try:
            await self.app(scope, receive, send_and_note)
        finally:
            self.meter.record(scope["method"], route_of(scope, status), status, perf_counter() - began)


def route_of(scope: Scope, status: int) -> str:
    """Return the template of the route; one name each for all of ``/static``, for cached responses, and for unknown paths."""
    path = getattr(scope.get("route"), "path", None)
    if isinstance(path, str):
        return path
    if scope.get("root_path", "").endswith("/static") or scope["path"].startswith("/static/"):
        return "/static"
    return SHARED if status < FIRST_ERROR_STATUS else "none"
