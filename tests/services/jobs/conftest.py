"""A real scrapyd on a free loopback port, and a portal on the made-up Web for it to crawl."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import yaml
from local_servers.running import free_port

from newsportal.errors import RunnerUnavailable
from newsportal.services.jobs.scrapyd import Server, Target

if TYPE_CHECKING:
    from madeup import MadeUpWeb

PATIENCE = 600.0
"""Seconds after which a test stops waiting for a process."""

USER, PASSWORD = "crawler", "a long-enough secret"


def until(reached: Callable[[], Any], event: str = "it", every: float = 0.1) -> Any:
    """Return the first true result of ``reached``."""
    deadline = time.monotonic() + PATIENCE
    while not (found := reached()):
        assert time.monotonic() < deadline, f"{event} never came about"
        time.sleep(every)
    return found


class Scrapyd:
    """A scrapyd in its own folder, with a password; ``stop`` and ``start`` may be called repeatedly."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir(parents=True, exist_ok=True)
        self.port = free_port()  # no connection uses it while the server is stopped
        self.url = f"http://127.0.0.1:{self.port}"
        self.target = Target(self.url, "newsportal", USER, PASSWORD)
        self.server = Server(self.target)
        self._process: subprocess.Popen[bytes] | None = None
        options = {"http_port": self.port, "poll_interval": 0.2, "max_proc": 2, "username": USER, "password": PASSWORD}
        lines = ["[scrapyd]", *(f"{name} = {value}" for name, value in options.items())]
        (folder / "scrapyd.conf").write_text("\n".join(lines), "utf-8")

    def start(self, **environment: str) -> None:
        log = (self.folder / "scrapyd.log").open("ab")
        environ = {**os.environ, "HOME": str(self.folder), **environment}
        script = "import sys; from scrapyd.__main__ import main; sys.argv = ['scrapyd']; main()"
        command = [sys.executable, "-W", "ignore", "-c", script]
        self._process = subprocess.Popen(command, cwd=self.folder, env=environ, stdout=log, stderr=log)
        log.close()
        until(self._answers, "scrapyd's answer")

    def stop(self) -> None:
        if self._process is not None:
            self._process.terminate()
            self._process.wait(PATIENCE)
            self._process = None

    def _answers(self) -> bool:
        assert self._process is not None
        assert self._process.poll() is None, (self.folder / "scrapyd.log").read_text("utf-8")[-2000:]
        try:
            return bool(self.server.get("daemonstatus"))
        except RunnerUnavailable:
            return False

    def job(self, id: str) -> str | None:
        state = self.server.get("status", job=id)["currstate"]
        return str(state) if state else None

    def finished(self, id: str) -> None:
        until(lambda: self.job(id) == "finished", f"the end of job {id}", every=0.5)


@pytest.fixture(scope="session")
def new_scrapyd() -> type[Scrapyd]:
    return Scrapyd


@pytest.fixture
def scrapyd(tmp_path: Path) -> Iterator[Scrapyd]:
    server = Scrapyd(tmp_path / "scrapyd")
    yield server
    server.stop()


@pytest.fixture(name="until")
def _until() -> Callable[..., Any]:
    return until


@pytest.fixture(name="rows")
def _rows() -> Callable[[Path, str], list[tuple[Any, ...]]]:
    return rows


SITES = ("海棠都市网", "溪峰在线")
"""Neither sets a delay."""


@pytest.fixture
def sources(web: MadeUpWeb, tmp_path: Path) -> Path:
    """A sources file of two feeds, two regions and one topic, in a folder with a non-ASCII name; the store is empty."""
    web.reset()
    file = web.sources(tmp_path / "我的 门户" / "sources.yaml")
    values = yaml.safe_load(file.read_text("utf-8"))
    selected = {key: [entry for entry in values[key] if entry["name"].startswith(SITES)] for key in ("feeds", "regions")}
    selected |= {key: [] for key in ("forums", "galleries", "sitemaps") if key in values}
    selected["topics"] = [{**topic, "breadth": 1} for topic in values["topics"] if topic["name"] == "旅游"]
    file.write_text(yaml.safe_dump({**values, **selected}, allow_unicode=True), "utf-8")
    return file


def rows(database: Path, query: str) -> list[tuple[Any, ...]]:
    """Query a store; return no rows if it does not exist yet."""
    if not database.exists():
        return []
    with closing(sqlite3.connect(f"file:{database}?mode=ro", uri=True, timeout=600)) as connection:
        try:
            return connection.execute(query).fetchall()
        except sqlite3.OperationalError as error:
            if "no such table" in str(error):
                return []
            raise
