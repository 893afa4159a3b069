"""A portal that runs for a month while its environment fails: ``newsportal up`` on a Web whose days are seconds, and what must not be lost.

Each day every live source has new articles, and one thing goes wrong (:data:`TROUBLES`). A day ends when everything published until then is
stored, except what the day's trouble holds back, which belongs to the next day. As a script it takes 30 days, with the queue in Redis and
the data on a separate small disk (which only root may mount), and also limits the growth of memory: ``python tests/soak/month.py [--days
30]`` (part of ``make test-faults``).
"""

from __future__ import annotations

import argparse
import os
import re
import signal
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, closing, contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Final

import httpx

if __name__ == "__main__":
    sys.path += map(str, Path(__file__).resolve().parents[1:3])  # to import tests and servers
from servers import Server, own_server

from tests.test_lying_servers import article

SOURCES, DAILY = 4, 3
STARTED: Final = "crawling due sources"  # logged by the portal
NO_QUEUE: Final = "the queue of requests is unavailable"  # in the log of a crawl
ROOM: Final = "64m"  # size of the disk for the portal's data, if one can be mounted
BLOCK: Final = 1 << 16
PATIENCE: Final = 900.0  # seconds until a day counts as hanging: no verdict depends on time
GROWTH: Final = 1.2  # ratio of peak memory, last third of the days to first


@dataclass
class World:
    """The sources and their articles. ``day`` is today's number, ``dead`` the sources that respond with 503; while ``away`` the server
    closes every connection without a response and counts them in ``refused``."""

    port: int = 0
    day: int = 0
    away: bool = False
    refused: int = 0
    dead: set[int] = field(default_factory=set)
    first: dict[int, int] = field(default_factory=lambda: dict.fromkeys(range(SOURCES), 1))

    def published(self, source: int) -> list[str]:
        return [f"/a/{source}-{day}-{n}.html" for day in range(self.first[source], self.day + 1) for n in range(DAILY)]

    def due(self) -> set[str]:
        """Return the URLs of all articles that a portal can know."""
        return {
            f"http://127.0.0.1:{self.port}{path}" for source in self.first if source not in self.dead for path in self.published(source)
        }

    def answer(self, path: str) -> bytes | None:
        if path.startswith("/a/"):
            return article(path)
        source = int(path.rpartition("/")[2]) if path.startswith("/feed/") else -1
        if source not in self.first or source in self.dead:
            return None
        entries = (
            f"<item><title>{path[3:-5]}号消息</title><link>http://127.0.0.1:{self.port}{path}</link></item>"
            for path in self.published(source)
        )
        return f'<rss version="2.0"><channel><title>x</title>{"".join(entries)}</channel></rss>'.encode()


@contextmanager
def world() -> Iterator[World]:
    state = World()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            if state.away:
                state.refused += 1
                return
            body = state.answer(self.path)
            self.send_response(200 if body else 404 if self.path == "/robots.txt" else 503)
            self.send_header("Content-Length", str(len(body or b"")))
            self.send_header("Content-Type", "application/rss+xml" if self.path.startswith("/feed/") else "text/html; charset=utf-8")
            self.end_headers()
            self.wfile.write(body or b"")

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    state.port = server.server_address[1]
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield state
    finally:
        server.shutdown()
        server.server_close()


@dataclass
class Portal:
    """The portal: ``queue`` is its Redis, if any; ``memory`` the megabytes of ``newsportal up`` at the end of each day."""

    world: World
    folder: Path
    queue: Server | None = None
    process: subprocess.Popen[str] | None = None
    address: str = ""
    memory: list[float] = field(default_factory=list)

    @property
    def sources(self) -> Path:
        return self.folder / "sources.yaml"

    @property
    def database(self) -> Path:
        return self.folder / "data" / "newsportal.db"

    @property
    def log(self) -> str:
        return (self.folder / "up.log").read_text("utf-8", "replace")

    def write_sources(self) -> None:
        queue = f"frontier: {{redis: {self.queue.url()}}}\n" if self.queue else ""
        feeds = "".join(f'  - {{name: 来源{n}, url: "http://127.0.0.1:{self.world.port}/feed/{n}"}}\n' for n in self.world.first)
        self.sources.write_text(
            'politeness: {delay: 0, per_domain: 8, allow_private: ["127.0.0.0/8"]}\nrecommendation: {enabled: false}\n'
            f"{queue}schedule: {{usual: 0.01, shortest: 0.01, longest: 0.02}}\nfeeds:\n{feeds}",
            "utf-8",
        )

    def start(self) -> None:
        command = [sys.executable, "-m", "newsportal", "up", "--sources", str(self.sources), "--port", "0", "--every", "0.1"]
        with (self.folder / "up.log").open("a", encoding="utf-8") as log:
            start = len(self.log)
            self.process = subprocess.Popen(
                command, env={**os.environ, "PYTHONUNBUFFERED": "1"}, stdout=log, stderr=subprocess.STDOUT, text=True
            )
        self.wait_until(lambda: bool(re.search(r"http://127\.0\.0\.1:\d+", self.log[start:])), "the portal opens")
        self.address = re.findall(r"http://127\.0\.0\.1:\d+", self.log[start:])[0]

    def stop(self) -> int:
        assert self.process is not None
        self.process.terminate()
        return self.process.wait(PATIENCE)

    def stored(self) -> list[str]:
        if not self.database.exists():
            return []
        with closing(sqlite3.connect(f"file:{self.database}?mode=ro", uri=True, timeout=60)) as connection:
            try:
                return [url for (url,) in connection.execute("SELECT url FROM articles")]
            except sqlite3.OperationalError:  # not created yet
                return []

    def wait_until(self, reached: Callable[[], bool], name: str) -> None:
        deadline = time.monotonic() + PATIENCE
        while not reached():
            assert time.monotonic() < deadline, f"{name}: never, on day {self.world.day}\n{self.log[-3000:]}"
            assert self.process is None or self.process.poll() is None, self.log[-3000:]
            time.sleep(0.1)

    def logs(self) -> list[Path]:
        """Return the portal's log and those of its jobs."""
        return [self.folder / "up.log", *sorted(self.database.with_name("jobs").glob("*.log"))]

    def logged(self, words: str) -> int:
        return sum(log.read_text("utf-8", "replace").count(words) for log in self.logs())

    def crawl_twice(self) -> None:
        """Wait until two more crawls have started: the first of them has run entirely in the present state of the world."""
        before = self.log.count(STARTED)
        self.wait_until(lambda: self.log.count(STARTED) >= before + 2, "two more crawls begin")

    def live(self, days: int, troubles: Sequence[Trouble], tell: Callable[[str], None] = lambda line: None) -> None:
        """Live ``days`` days with one trouble each in turn, the last day without any."""
        self.world.day = 1
        self.write_sources()
        self.start()
        for day in range(1, days + 1):
            self.world.day = day
            trouble = troubles[(day - 1) % len(troubles)] if day < days else quiet
            self.world.dead.clear()
            with trouble(self):
                self.wait_until(lambda: self.world.due() <= set(self.stored()), f"all is stored ({trouble.__name__})")
            assert httpx.get(self.address, timeout=600).status_code == 200
            self.memory.append(_megabytes(self.process.pid if self.process else 0))
            tell(f"day {day}, {trouble.__name__}: {len(self.stored())} articles, {self.memory[-1]:.0f} MB")


Trouble = Callable[[Portal], AbstractContextManager[None]]
"""Begins a day, which ends when everything published until its end is stored."""


def _megabytes(pid: int) -> float:
    status = Path(f"/proc/{pid}/status").read_text("ascii", "replace")
    return int(re.findall(r"VmRSS:\s+(\d+)", status)[0]) / 1024


@contextmanager
def quiet(portal: Portal) -> Iterator[None]:
    yield


@contextmanager
def source_dies(portal: Portal) -> Iterator[None]:
    """A source responds with 503 until the next day, and goes on publishing."""
    portal.world.dead.add(portal.world.day % SOURCES)
    yield


@contextmanager
def file_edited(portal: Portal) -> Iterator[None]:
    """A new source is added to the file; its articles begin today."""
    portal.world.first[len(portal.world.first)] = portal.world.day
    portal.write_sources()
    yield


@contextmanager
def store_locked(portal: Portal) -> Iterator[None]:
    """Another process writes while a crawl starts."""
    with closing(sqlite3.connect(portal.database, timeout=60, isolation_level=None)) as connection:
        connection.execute("BEGIN IMMEDIATE")
        time.sleep(2)
        connection.execute("ROLLBACK")
    yield


@contextmanager
def restarted(portal: Portal) -> Iterator[None]:
    """The machine crashes and restarts."""
    assert portal.process is not None
    portal.process.send_signal(signal.SIGKILL)
    portal.process.wait(PATIENCE)
    portal.process = None
    portal.start()
    yield


@contextmanager
def server_away(portal: Portal) -> Iterator[None]:
    """The sites' server is down for one crawl."""
    portal.world.away, portal.world.refused = True, 0
    portal.crawl_twice()
    portal.world.away = False
    assert portal.world.refused
    yield


@contextmanager
def queue_restarted(portal: Portal) -> Iterator[None]:
    """Redis crashes and restarts empty once a crawl has noticed."""
    assert portal.queue is not None
    before = portal.logged(NO_QUEUE)
    portal.queue.kill()
    portal.wait_until(lambda: portal.logged(NO_QUEUE) > before, "a crawl misses its queue")
    portal.queue.start()
    yield


@contextmanager
def disk_full(portal: Portal) -> Iterator[None]:
    """Another program fills the disk of the portal's data for one crawl."""
    ballast = portal.database.with_name("ballast")
    with ballast.open("wb", buffering=0) as file, suppress(OSError):
        while file.write(bytes(BLOCK)):
            pass
    portal.crawl_twice()
    ballast.unlink()
    yield


TROUBLES: Final[tuple[Trouble, ...]] = (source_dies, file_edited, store_locked, restarted, server_away, queue_restarted, disk_full)


@contextmanager
def own_disk(folder: Path) -> Iterator[None]:
    """Mount a separate small disk at ``folder``."""
    folder.mkdir(parents=True)
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={ROOM}", "tmpfs", str(folder)], check=True, capture_output=True)
    try:
        yield
    finally:
        subprocess.run(["umount", "-l", str(folder)], check=True, capture_output=True)


def faults(portal: Portal) -> list[str]:
    """Return log lines that must not occur."""
    return [
        f"{log.name}: {line}" for log in portal.logs() for line in log.read_text("utf-8", "replace").splitlines() if "Traceback" in line
    ]


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n\n")[0])
    parser.add_argument("--days", type=int, default=30)
    days = parser.parse_args().days
    with tempfile.TemporaryDirectory() as folder, own_disk(Path(folder, "data")), own_server("redis") as queue, world() as web:
        portal = Portal(web, Path(folder), queue)
        try:
            portal.live(days, TROUBLES, lambda line: print(line, flush=True))
            status = portal.stop()
        finally:
            if portal.process is not None:
                portal.process.kill()
        stored, wrong = portal.stored(), faults(portal)
    lost, twice = web.due() - set(stored), len(stored) - len(set(stored))
    third = max(1, days // 3)
    growth = max(portal.memory[-third:]) / max(portal.memory[:third])
    print(
        f"{len(stored)} articles, {len(lost)} lost, {twice} stored twice; memory × {growth:.2f}; ended with {status}; {len(wrong)} errors"
    )
    print("\n".join(wrong))
    return int(bool(lost or twice or wrong or status or (days >= 9 and growth > GROWTH)))


if __name__ == "__main__":
    sys.exit(main())
