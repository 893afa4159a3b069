"""Worker processes that are started, killed and counted, and the farm that they crawl."""

from __future__ import annotations

import json
import random
import signal
import sqlite3
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import quote

import httpx
import yaml

from tests import forked

HERE = Path(__file__).parent
PATIENCE = 900.0
"""Seconds until a test gives up: a worker starts in three on an idle machine and in thirty under ten times the load."""


LEASE = 15.0
"""Seconds. With Redis a dead worker is detected only by its silence, and a machine that keeps starting workers is slow to respond."""

PENDING = "SELECT count(*) FROM links WHERE link = 1 AND state NOT IN ('stored', 'failed', 'given-up')"
"""Links without an outcome."""


@dataclass
class Crawled:
    """The farm and the portal that crawls it. The path of ``sources`` has a space and non-ASCII characters."""

    port: int
    hosts: int
    pages: int
    sources: Path
    running: list[forked.Started] = field(default_factory=list)
    killed: int = 0
    logs: dict[int, Path] = field(default_factory=dict)

    @property
    def articles(self) -> set[str]:
        """URLs of all articles."""
        return {f"http://127.0.0.{host + 2}:{self.port}/a/{page}.html" for host in range(self.hosts) for page in range(self.pages)}

    def control(self, path: str) -> Counter[str]:
        return Counter(httpx.get(f"http://127.0.0.1:{self.port}{path}", timeout=600).json())

    def counts(self) -> Counter[str]:
        """Return the number of requests per URL."""
        return self.control("/counts")

    def poison(self, url: str) -> None:
        self.control(f"/poison?{quote(url)}")

    def stored(self) -> list[str]:
        """Return the URLs of all stored articles, with duplicates."""
        return [url for (url,) in self.query("SELECT url FROM articles")]

    def waiting(self) -> int:
        """Return the number of links without an outcome."""
        return sum(number for (number,) in self.query(PENDING))

    def query(self, query: str) -> list[tuple[str, ...]]:
        database = self.sources.parent / "data" / "newsportal.db"
        if not database.exists():
            return []
        with closing(sqlite3.connect(f"file:{quote(str(database))}?mode=ro", uri=True, timeout=600)) as connection:
            try:
                return connection.execute(query).fetchall()
            except sqlite3.OperationalError as error:
                if "no such table" in str(error):
                    return []
                raise

    # workers

    def start(self, script: str | None = None) -> forked.Started:
        path = self.sources.parent / f"{len(self.logs)}.log"
        worker = forked.Started("worker", "--log-level", "INFO", "--sources", str(self.sources), log=path, script=script)
        self.logs[worker.pid] = path
        self.running.append(worker)
        return worker

    def log(self) -> str:
        return "".join(path.read_text("utf-8", "replace") for path in self.logs.values())

    def at_work(self, worker: forked.Started) -> bool:
        """Return whether the worker has started or ended: before that a signal kills it, because its handlers are not installed."""
        return worker.poll() is not None or "Spider opened" in self.logs[worker.pid].read_text("utf-8", "replace")

    def kill(self, worker: forked.Started) -> None:
        worker.kill()
        worker.wait()
        self.running.remove(worker)
        self.killed += 1

    def stop(self) -> list[int]:
        """Send SIGTERM to all workers once they have started; return their exit statuses."""
        self.wait_until(lambda: all(map(self.at_work, self.running)))
        stopping, self.running = self.running, []
        for worker in stopping:
            worker.send_signal(signal.SIGTERM)
        return [worker.wait(PATIENCE) for worker in stopping]

    def freeze(self, worker: forked.Started) -> None:
        """Send SIGSTOP, but not during a write: SQLite would block every other writer, to the store or the queue, until it resumes."""

        def frozen() -> bool:
            worker.send_signal(signal.SIGSTOP)
            self.wait_until(lambda: stands_still(worker.pid), every=0.02)
            data = self.sources.parent / "data"
            if writable(data / "newsportal.db"):
                return True
            worker.send_signal(signal.SIGCONT)
            return False

        self.wait_until(frozen)

    def keep_running(self, number: int) -> None:
        """Replace workers that ended by themselves, as a supervisor does."""
        for worker in [worker for worker in self.running if worker.poll() is not None]:
            self.running.remove(worker)
        while len(self.running) < number:
            self.start()

    def wait_until(self, reached: Callable[[], bool], patience: float = PATIENCE, every: float = 0.2) -> None:
        deadline = time.monotonic() + patience
        while not reached():
            assert time.monotonic() < deadline, f"the crawl did not reach the state: {len(self.stored())} stored\n{self.log()[-3000:]}"
            time.sleep(every)

    def wait_until_stored(self, urls: set[str], number: int, patience: float = PATIENCE) -> None:
        """Wait until every URL of ``urls`` is stored, with ``number`` workers running."""

        def done() -> bool:
            self.keep_running(number)
            return urls <= set(self.stored()) and not self.waiting()

        self.wait_until(done, patience, every=1.0)


def stands_still(process: int) -> bool:
    """Return whether all threads are stopped: each runs until the kernel gets to it."""
    states = [file.read_text().rpartition(")")[2].split()[0] for file in Path(f"/proc/{process}/task").glob("*/stat")]
    return set(states) == {"T"}


def writable(database: Path) -> bool:
    """Return whether no other connection holds the write lock."""
    with closing(sqlite3.connect(database, timeout=1.0, isolation_level=None)) as connection:
        try:
            connection.execute("BEGIN IMMEDIATE")
        except sqlite3.OperationalError:
            return False
        connection.execute("ROLLBACK")
        return True


def storm(
    crawled: Crawled,
    *,
    kills: int,
    workers: int,
    seed: int,
    between: Callable[[float], None] = lambda share: None,
    tell: Callable[[str], None] = lambda line: None,
) -> None:
    """Kill random workers, ``kills`` times over the crawl at random moments, and replace each. ``between`` is called with the share of
    kills done. Then let the crawl finish undisturbed."""
    chance = random.Random(seed)
    urls = crawled.articles
    crawled.keep_running(workers)
    while crawled.killed < kills:
        due = 0.9 * len(urls) * crawled.killed / kills
        deadline = time.monotonic() + 60.0  # kills continue in any case
        while len(crawled.stored()) < due and time.monotonic() < deadline:
            time.sleep(0.1)
        time.sleep(chance.uniform(0.0, 1.0))
        crawled.kill(chance.choice(crawled.running))
        crawled.keep_running(workers)
        between(crawled.killed / kills)
        tell(f"{crawled.killed} of {kills} killed, {len(crawled.stored())} of {len(urls)} pages stored")
    crawled.wait_until_stored(urls, workers, PATIENCE + len(urls) * 0.5)


@contextmanager
def farm(
    folder: Path,
    hosts: int,
    pages: int,
    *,
    redis: str | None = None,
    lease: float | None = None,
    tries: int = 6,
    interval: int | None = None,
) -> Iterator[Crawled]:
    """Run a farm and yield a portal that has not crawled it yet. Half the hosts are feeds, half channels. ``interval``: minutes between two
    visits, by default chosen by the schedule."""
    serving = subprocess.Popen([sys.executable, str(HERE / "host_farm.py"), str(hosts), str(pages)], stdout=subprocess.PIPE, text=True)
    assert serving.stdout is not None
    port = int(serving.stdout.readline())
    sources = folder / "我的 门户" / "sources.yaml"
    sources.parent.mkdir(parents=True)
    values = sources_values(port, hosts, interval)
    values["frontier"] = {"lease": lease or (LEASE if redis else 60.0), "tries": tries, **({"redis": redis} if redis else {})}
    sources.write_text(yaml.safe_dump(values, allow_unicode=True), "utf-8")
    crawled = Crawled(port, hosts, pages, sources)
    try:
        yield crawled
    finally:
        for worker in crawled.running:
            worker.kill()
            worker.wait()
        serving.kill()
        serving.wait()
        serving.stdout.close()


def sources_values(port: int, hosts: int, interval: int | None) -> dict[str, object]:
    """Return the contents of ``sources.yaml``. Names have spaces and are not ASCII."""
    bases = [f"http://127.0.0.{host + 2}:{port}" for host in range(hosts)]
    interval_setting = {} if interval is None else {"interval": interval}
    feeds = [{"name": f"城 {host} 新闻", "url": f"{base}/feed.xml", **interval_setting} for host, base in enumerate(bases) if host % 2 == 0]
    regions = [
        {"name": f"城 {host} 频道", "prefix": f"{base}/", "pages": 5, "allow": ["/a/"], **interval_setting}
        for host, base in enumerate(bases)
        if host % 2
    ]
    return {
        "politeness": {"delay": 0, "timeout": 600, "allow_private": ["127.0.0.0/8"]},
        "feeds": feeds,
        "regions": regions,
    }


def damage(crawled: Crawled) -> dict[str, int]:
    """Return the pages lost, stored twice and requested again."""
    counts, articles = crawled.counts(), crawled.articles
    stored = crawled.stored()
    return {
        "pages": len(articles),
        "killed": crawled.killed,
        "lost": len(articles - set(stored)),
        "stored twice": len(stored) - len(set(stored)),
        "requested again": sum(counts[url] - 1 for url in articles if counts[url]),
    }


def frontier(crawled: Crawled, command: str) -> list[dict[str, object]]:
    done = forked.run("frontier", command, "--json", "--sources", str(crawled.sources))
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]
