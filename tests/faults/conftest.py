"""A portal in its own folder, crawled by real processes that can be killed, starved and locked out."""

from __future__ import annotations

import json
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import yaml

from tests import forked

if TYPE_CHECKING:
    from madeup import MadeUpWeb

sys.path.insert(0, str(Path(__file__).parent))  # to import workers

PATIENCE = 900.0
"""Seconds until a test considers a crawl hanging: no verdict depends on time, and a busy machine may be twenty times slower."""

PENDING = "SELECT count(*) FROM links WHERE link = 1 AND state NOT IN ('stored', 'failed', 'given-up')"
"""Links without an outcome."""


@dataclass(frozen=True)
class Portal:
    """Path of ``sources.yaml``; the store is in ``data/`` beside it."""

    sources: Path

    @property
    def database(self) -> Path:
        return self.sources.parent / "data" / "newsportal.db"

    def command(self, *options: str) -> tuple[str, ...]:
        return ("crawl", *options, "--json", "--sources", str(self.sources))

    def start(self, *options: str) -> forked.Started:
        return forked.Started(*self.command(*options))

    def run_crawl(self, *options: str, script: str | None = None) -> subprocess.CompletedProcess[str]:
        done = forked.run(*self.command(*options), timeout=PATIENCE, script=script)
        assert "Traceback" not in done.stderr, done.stderr[-3000:]
        return done

    def crawl_report(self, *options: str) -> dict[str, Any]:
        """Return the checked report of a crawl that succeeds."""
        done = self.run_crawl(*options)
        assert done.returncode == 0, done.stderr[-3000:]
        return checked_report(json.loads(done.stdout))

    def query(self, query: str) -> list[tuple[Any, ...]]:
        """Return rows of the store; none if there is no store yet."""
        if not self.database.exists():
            return []
        with closing(sqlite3.connect(f"file:{self.database}?mode=ro", uri=True, timeout=600)) as connection:
            try:
                return connection.execute(query).fetchall()
            except sqlite3.OperationalError as error:
                if "no such table" in str(error):
                    return []
                raise

    def identities(self) -> list[str]:
        """Return the sorted identities of all stored articles, with duplicates."""
        return [name for (name,) in self.query("SELECT identity FROM articles ORDER BY identity")]

    def waiting(self) -> int:
        """Return the number of links without an outcome."""
        return sum(number for (number,) in self.query(PENDING))

    def wait_until(self, reached: Callable[[], bool]) -> None:
        deadline = time.monotonic() + PATIENCE
        while not reached():
            assert time.monotonic() < deadline, "the crawl did not reach the state"
            time.sleep(0.05)  # each check opens the store: more often, they would take a tenth of a core


def checked_report(report: dict[str, Any]) -> dict[str, Any]:
    """Return ``report`` after checking that every entry has exactly one outcome."""
    for row in report["sources"]:
        assert row["entries"] == row["known"] + row["repeated"] + row["new"], row
        assert row["new"] == row["parsed"] + sum(row["failed"].values()) + row["left"], row
        assert row["parsed"] == row["stored"] + row["folded"] + row["same"], row
        assert row["left"] >= 0, row
    return report


@pytest.fixture
def portal(web: MadeUpWeb, tmp_path: Path) -> Portal:
    """A portal for the made-up Web, with an empty store, in a folder with a non-ASCII name."""
    web.reset()
    return Portal(few_sources(web, tmp_path / "我的 门户" / "sources.yaml"))


@pytest.fixture(scope="session")
def undisturbed(web: MadeUpWeb, tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, list[str]]:
    """Return what each spider stores without faults."""
    web.reset()
    portals = {spider: Portal(few_sources(web, tmp_path_factory.mktemp(spider) / "sources.yaml")) for spider in ("rss", "hub")}
    for spider, portal in portals.items():
        portal.crawl_report(spider)
    return {spider: portal.identities() for spider, portal in portals.items()}


SITES = ("海棠都市网", "溪峰在线", "北辰财经", "潮音周刊")
"""Sites with lists of several pages, three encodings and a feed whose entries share a link; none requests a delay."""


def few_sources(web: MadeUpWeb, path: Path) -> Path:
    """Write a ``sources.yaml`` with the feeds and regions of :data:`SITES`: a crawl of it takes seconds."""
    written = web.sources(path)
    values = yaml.safe_load(written.read_text("utf-8"))
    sources = {key: [source for source in values[key] if source["name"].startswith(SITES)] for key in ("feeds", "regions")}
    values["politeness"]["timeout"] = 600  # no request fails because a busy machine responds late
    written.write_text(yaml.safe_dump({**values, **sources, "topics": [], "engines": []}, allow_unicode=True), "utf-8")
    return written
