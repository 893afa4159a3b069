"""Helpers that let workers crawl the made-up Web, and compare what they store with what one crawl stores."""

from __future__ import annotations

import signal
from collections.abc import Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass
from pathlib import Path
from time import monotonic, sleep
from typing import Any

from sqlalchemy import select

from newsportal.errors import StoreError
from newsportal.store import open_store
from newsportal.store.link_tables import DEFERRED, HELD, LEASED, LINKS, OUTSTANDING
from newsportal.store.store import Store
from tests import forked

LAST_LIMIT = 1800.0
"""Seconds after which workers count as hanging. Tests wait for a state, not a time."""

POLL, QUIET_POLLS = 0.5, 4
"""Seconds between two checks of the store, and how many consecutive checks must find nothing to do. One check may miss a link that a worker
just returned."""

KILL_EVERY = 20
"""Stored articles between two kills."""


@dataclass(frozen=True)
class Crawled:
    """``articles``: titles by identity. ``sources``: keys of the visited sources."""

    articles: Mapping[str, str]
    sources: frozenset[str]


def wait_for_answers(sources: Path) -> None:
    """Set a timeout so long that no request fails because a busy machine responds late."""
    text = sources.read_text("utf-8")
    assert "\npoliteness:\n" in text
    sources.write_text(text.replace("\npoliteness:\n", "\npoliteness:\n  timeout: 600\n", 1), "utf-8")


def crawled(store: Store) -> Crawled:
    visited = frozenset(state.source for state in store.source_states() if state.last_run is not None)
    return Crawled({article.identity or "": article.title for article in store.all_articles()}, visited)


def one_crawl(web: Any, sources: Path) -> Crawled:
    """Return what one crawl of ``sources`` stores in a new store beside the file."""
    web.reset()
    wait_for_answers(sources)
    done = forked.run("crawl", "--sources", str(sources), timeout=LAST_LIMIT)
    assert done.returncode == 0, done.stderr[-3000:]
    with closing(open_store(f"sqlite:///{sources.parent}/data/newsportal.db", create=False)) as store:
        return crawled(store)


class Workers:
    """``number`` workers that log errors to files."""

    def __init__(self, sources: Path, number: int) -> None:
        self._sources = sources
        self._running: list[forked.Started] = []
        self._logs: list[Path] = []
        for _ in range(number):
            self.start()

    def start(self) -> None:
        self._logs.append(self._sources.with_name(f"worker-{len(self._logs)}.log"))
        self._running.append(forked.Started("worker", "--sources", str(self._sources), log=self._logs[-1]))

    def kill(self, number: int) -> None:
        for victim in self._running[:number]:
            victim.kill()
            victim.wait()
        del self._running[:number]

    def stop(self) -> None:
        for worker in self._running:
            worker.send_signal(signal.SIGTERM)
        for worker in self._running:
            worker.wait(LAST_LIMIT)

    @property
    def running(self) -> bool:
        return any(worker.poll() is None for worker in self._running)

    @property
    def log(self) -> str:
        return "\n".join(log.read_text("utf-8", "replace") for log in self._logs)


def opened(uri: str, workers: Workers, until: float) -> Store:
    """Return the store as soon as a worker has created it."""
    while workers.running and monotonic() < until:
        with suppress(StoreError):
            return open_store(uri, create=False)
        sleep(POLL)
    raise AssertionError(f"no worker created the store: {workers.log[-3000:]}")


def unfinished(store: Store) -> Sequence[Any]:
    """Return the waiting and leased rows of the link table."""
    query = select(LINKS.c.id, LINKS.c.source, LINKS.c.state, LINKS.c.reason, LINKS.c.not_before)
    query = query.where(LINKS.c.state.in_((*OUTSTANDING, DEFERRED, HELD)))
    return store.links.read(lambda tx: tx.connection.execute(query).all())


def await_end(store: Store, workers: Workers, sources: frozenset[str], kills: int, until: float) -> None:
    """Wait until each source was visited or rests, no link is leased, and none waits except for a time. A worker killed right after a
    captcha leaves its source resting for an hour, with its visit open."""
    quiet = killed = 0
    while quiet < QUIET_POLLS:
        sleep(POLL)
        with suppress(StoreError):
            links, states = unfinished(store), store.source_states()
            waiting, leased = [row for row in links if row.state != LEASED], sum(row.state == LEASED for row in links)
            missing = sources - {state.source for state in states if state.last_run or state.rest_until}
            busy = [row for row in waiting if row.not_before is None]
            quiet = 0 if missing or busy or leased or killed < kills else quiet + 1
            state = f"leased: {leased}, not visited: {missing}, waiting: {waiting}"
            assert workers.running, f"all workers have ended; {state}\n{workers.log[-3000:]}"
            assert monotonic() < until, f"{state}\n{workers.log[-3000:]}"
            if killed < kills and store.tally().articles >= (killed + 1) * KILL_EVERY:
                workers.kill(1)
                workers.start()
                killed += 1


def compare(web: Any, sources: Path, uri: str, number: int, single: Crawled, kills: int = 0) -> Crawled:
    """Let ``number`` workers crawl and kill some: they store what one crawl stores, and nothing waits without a reason and a time.
    Return what they store."""
    web.reset()
    wait_for_answers(sources)
    until = monotonic() + LAST_LIMIT
    workers = Workers(sources, number)
    try:
        store = opened(uri, workers, until)
        with closing(store):
            await_end(store, workers, single.sources, kills, until)
            workers.stop()
            found = crawled(store)
            assert (single.articles.keys() - found.articles, found.articles.keys() - single.articles) == (set(), set())
            waiting = [row for row in unfinished(store) if row.state != LEASED]
            assert [row for row in waiting if not row.reason or row.not_before is None] == []
    finally:
        workers.kill(number)
    assert "Traceback" not in workers.log, workers.log[-3000:]
    return found
