"""Any number of workers end with exactly the articles of one crawl, and leave nothing that waits without a reason and a time."""

from __future__ import annotations

import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from time import monotonic, sleep
from typing import Any

import pytest
from servers import OVER_SERVERS, Servers

from newsportal.errors import StoreError
from newsportal.store import open_store
from newsportal.store.store import Store

pytestmark = pytest.mark.slow

PATIENCE = 900.0
"""Seconds until a test gives up. What it waits for is a state, not a time."""


def command(what: str, sources: Path) -> list[str]:
    return [sys.executable, "-m", "newsportal", what, "--sources", str(sources)]


@contextmanager
def opened(uri: str) -> Iterator[Store]:
    store = open_store(uri, create=False)
    yield store
    store.close()


def articles(uri: str) -> set[str]:
    with opened(uri) as store:
        return {article.identity for article in store.all_articles()}


def visited(uri: str) -> set[str]:
    """The sources whose first visit is over."""
    with opened(uri) as store:
        return {state.source for state in store.source_states() if state.last_run is not None}


def work(sources: Path, uri: str, number: int, wanted: set[str], kills: int = 0) -> list[int]:
    """Let so many workers crawl until every source was visited, or asked to be left alone, and no link waits for them; so many of them are
    killed on their way. One that is killed right after a captcha leaves its source resting for an hour, with its visit open."""
    workers = [subprocess.Popen(command("worker", sources), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE) for _ in range(number)]
    due = [(share + 1) * 20 for share in range(kills)]  # articles stored until the next is killed
    until, idle = monotonic() + PATIENCE, 0
    try:
        while idle < 3:
            assert monotonic() < until, [one.kill() or (one.stderr and one.stderr.read()[-2000:]) for one in workers]
            sleep(1)
            with suppress(StoreError), opened(uri) as store:
                busy = any(row.next is None for row in store.links.waiting(failed=False)) or store.links.leased()
                done = wanted <= {state.source for state in store.source_states() if state.last_run or state.rest_until}
                idle = idle + 1 if done and not busy else 0
                if due and store.tally().articles >= due[0]:
                    due.pop(0)
                    victim = workers.pop(0)
                    victim.kill()
                    victim.communicate()
                    workers.append(subprocess.Popen(command("worker", sources), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE))
    finally:
        for worker in workers:
            worker.send_signal(signal.SIGTERM)
        errors = [worker.communicate(timeout=120)[1].decode() for worker in workers]
    assert not [text for text in errors if "Traceback" in text], errors
    assert not due, "the workers were done before all kills were"
    return [worker.returncode for worker in workers]


@pytest.fixture(scope="module")
def alone(web: Any, tmp_path_factory: pytest.TempPathFactory) -> tuple[set[str], set[str]]:
    """The articles and the sources of one crawl."""
    web.reset()
    sources = web.sources(tmp_path_factory.mktemp("alone") / "sources.yaml")
    done = subprocess.run(command("crawl", sources), capture_output=True, timeout=PATIENCE, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    uri = f"sqlite:///{sources.parent}/data/newsportal.db"
    return articles(uri), visited(uri)


def compare(web: Any, sources: Path, uri: str, number: int, alone: tuple[set[str], set[str]], kills: int = 0) -> None:
    web.reset()
    work(sources, uri, number, alone[1], kills)
    found = articles(uri)
    assert (alone[0] - found, found - alone[0]) == (set(), set())
    with opened(uri) as store:
        waiting = store.links.waiting(failed=False)
        assert [row for row in waiting if not row.reason or row.next is None] == []


@pytest.mark.parametrize(("number", "kills"), [(1, 0), (2, 0), (3, 0), (2, 3)])
def test_workers_store_what_one_crawl_stores(web: Any, tmp_path: Path, alone: tuple[set[str], set[str]], number: int, kills: int) -> None:
    sources = web.sources(tmp_path / "sources.yaml")
    compare(web, sources, f"sqlite:///{tmp_path}/data/newsportal.db", number, alone, kills)


@pytest.mark.parametrize("server", OVER_SERVERS)
def test_workers_of_a_store_on_a_server(web: Any, tmp_path: Path, alone: tuple[set[str], set[str]], server: str, servers: Servers) -> None:
    with servers.database(server) as database:
        sources = web.sources(tmp_path / "sources.yaml")
        sources.write_text(re.sub(r"(?m)^store: .*$", f"store: {database.uri}", sources.read_text("utf-8")), "utf-8")
        compare(web, sources, database.uri, 2, alone)


def test_workers_with_redis(web: Any, tmp_path: Path, alone: tuple[set[str], set[str]], redis_server: Any) -> None:
    sources = web.sources(tmp_path / "sources.yaml")
    sources.write_text(f"{sources.read_text('utf-8')}\nfrontier: {{redis: '{redis_server.url}'}}\n", "utf-8")
    compare(web, sources, f"sqlite:///{tmp_path}/data/newsportal.db", 2, alone)
