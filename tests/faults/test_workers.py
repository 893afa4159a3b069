"""Workers that die, hang or start together: nothing is lost or stored twice, and harmful pages are set aside."""

from __future__ import annotations

import resource
import shutil
import signal
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import httpx
import pytest
from forked import Started
from workers import PATIENCE, damage, farm, frontier, storm

from newsportal.spiders.visiting import DUE_CHECK_SECONDS
from newsportal.store import open_store
from newsportal.store.results import SourceState

if TYPE_CHECKING:
    from conftest import RedisServer  # type: ignore[import-not-found]

pytestmark = [pytest.mark.slow, pytest.mark.skipif(not Path("/proc/net/tcp").exists(), reason="needs 127.0.0.2 and /proc")]

needs_redis = pytest.mark.skipif(shutil.which("redis-server") is None, reason="needs redis-server (make tools)")


def restarted(server: RedisServer, at: float) -> Callable[[float], None]:
    """Return a function that kills and restarts Redis once, when the share ``at`` of the workers has been killed."""
    done: list[bool] = []

    def between(share: float) -> None:
        if share >= at and not done:
            done.append(True)
            server.kill()
            time.sleep(1.0)
            server.start("--appendonly", "yes")

    return between


@pytest.mark.parametrize("backend", ["disk", pytest.param("redis", marks=needs_redis)])
def test_randomly_killed_workers_lose_and_duplicate_nothing(backend: str, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    server: Any = None
    if backend == "redis":
        server = request.getfixturevalue("redis_server")
        server.kill()
        server.start("--appendonly", "yes")
    seed = 20260301
    with farm(tmp_path, 4, 60, redis=server and server.url) as crawled:
        storm(crawled, kills=6, workers=2, seed=seed, between=restarted(server, 0.5) if server else lambda share: None)
        found = damage(crawled)
        assert crawled.stop() == [0, 0]
        assert "Traceback" not in crawled.log(), f"seed {seed}: {crawled.log()[-3000:]}"
    assert (found["lost"], found["stored twice"]) == (0, 0), f"seed {seed}: {found}"
    assert found["requested again"] < found["pages"] / 2, f"seed {seed}: {found}"


def test_page_that_kills_workers_is_set_aside(tmp_path: Path) -> None:
    with farm(tmp_path, 1, 8, tries=3) as crawled:
        poison = min(crawled.articles)
        crawled.poison(poison)

        def others_stored() -> bool:
            crawled.keep_running(1)
            return crawled.counts()[poison] >= 3 and crawled.articles - {poison} <= set(crawled.stored())

        crawled.wait_until(others_stored, every=0.5)
        crawled.wait_until(lambda: [row["url"] for row in frontier(crawled, "aside")] == [poison], every=1.0)
        assert crawled.running[0].poll() is None, "the fourth worker is alive"
        assert crawled.counts()[poison] == 3
        assert crawled.stop() == [0]


@needs_redis
def test_redis_that_restarts_empty_causes_no_second_request(redis_server: RedisServer, tmp_path: Path) -> None:
    with farm(tmp_path, 1, 24, redis=redis_server.url) as crawled:
        crawled.control(f"/slow?{PATIENCE}")
        with Started("crawl", "--json", "--sources", str(crawled.sources)) as crawl:
            crawled.wait_until(lambda: bool(crawled.articles & crawled.counts().keys()))
            redis_server.kill()
            crawled.wait_until(lambda: "the queue of requests is unavailable" in crawl.errors)
            redis_server.start()
            crawled.wait_until(lambda: "the queue of requests is available again" in crawl.errors)
            crawled.control("/slow?0")
            assert crawl.wait(PATIENCE) == 0, crawl.errors
        found = damage(crawled)
        assert (found["lost"], found["stored twice"], found["requested again"]) == (0, 0, 0), found


def test_frozen_worker_loses_leases_and_does_no_harm_later(tmp_path: Path) -> None:
    with farm(tmp_path, 4, 40, lease=10.0) as crawled:
        crawled.control("/slow?0.1")
        hanging = crawled.start()
        crawled.wait_until(lambda: len(crawled.stored()) > 10)
        crawled.freeze(hanging)
        crawled.running.remove(hanging)
        crawled.start()
        try:
            crawled.wait_until_stored(crawled.articles, 1)
        finally:
            reported = crawled.log().count("Crawled ")
            hanging.send_signal(signal.SIGCONT)
            crawled.running.append(hanging)
        # it logs the lost leases, unless all of them are stored by now: then both workers go on logging progress every minute
        crawled.wait_until(lambda: "leases were lost" in crawled.log() or crawled.log().count("Crawled ") > reported + 2)
        found = damage(crawled)
        assert (found["lost"], found["stored twice"]) == (0, 0), found
        assert crawled.stop() == [0, 0]
        assert "Traceback" not in crawled.log()


@pytest.mark.parametrize("asleep", [0.0, 6 * 3600.0])
def test_each_visit_is_made_once_by_one_of_several_workers(tmp_path: Path, asleep: float) -> None:
    with farm(tmp_path, 4, 5) as crawled:
        if asleep:
            remember(crawled, asleep)
        for _ in range(3):
            crawled.start()
        crawled.wait_until_stored(crawled.articles, 3)
        time.sleep(1.5 * DUE_CHECK_SECONDS)  # one more check for due sources
        counts = crawled.counts()
        assert crawled.stop() == [0, 0, 0]
    lists = {url: number for url, number in counts.items() if "/a/" not in url and "robots.txt" not in url}
    assert set(lists.values()) == {1}, lists
    assert {counts[url] for url in crawled.articles} == {1}


def remember(crawled: Any, seconds: float) -> None:
    """Record the last visit of all sources as ``seconds`` ago, so that several visits were missed."""
    from datetime import UTC, datetime, timedelta

    from newsportal.sources import load

    sources = load(crawled.sources)
    store = open_store(sources.store)
    before = datetime.now(UTC) - timedelta(seconds=seconds)
    for source in sources.all():
        store.save_source_state(SourceState(source.key, last_run=before, last_success=before))
    store.close()


@needs_redis
def test_worker_waits_until_redis_is_available(tmp_path: Path, redis_server: RedisServer) -> None:
    redis_server.kill()
    with farm(tmp_path, 2, 5, redis=redis_server.url) as crawled:
        worker = crawled.start()
        crawled.wait_until(lambda: "is unavailable" in crawled.log())
        assert worker.poll() is None
        redis_server.start()
        crawled.wait_until_stored(crawled.articles, 1)
        assert crawled.stop() == [0]
        assert "Traceback" not in crawled.log()


def test_unavailable_store_is_waited_for(tmp_path: Path) -> None:
    """As on a full disk: the database files cannot be written beyond their first 256 KiB, less than the empty tables, so a checkpoint fails
    too. Articles are being processed then, and the log is shorter than that."""
    with farm(tmp_path, 4, 40, interval=1) as crawled:
        crawled.control("/slow?1")
        worker = crawled.start()
        crawled.wait_until(lambda: len(crawled.stored()) > 5)
        resource.prlimit(worker.pid, resource.RLIMIT_FSIZE, (256 * 1024, resource.RLIM_INFINITY))
        crawled.wait_until(lambda: "the crawl waits: its store accepts no writes at present" in crawled.log())
        resource.prlimit(worker.pid, resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
        crawled.control("/slow?0")
        crawled.wait_until_stored(crawled.articles, 1)
        assert worker.poll() is None, "it is the same process"
        found = damage(crawled)
        assert (found["lost"], found["stored twice"]) == (0, 0), found
        assert "the store is available again, the crawl continues" in crawled.log()
        assert crawled.stop() == [0]


PATIENT = "import newsportal.crawl.reader_pool as it, newsportal.cli as cli; it.FINISH_SECONDS = it.GRACE = 600.0; cli.main()"
"""The command line with unlimited time to read fetched pages on shutdown: a busy machine needs more than six seconds."""


@pytest.mark.parametrize("sign", [signal.SIGTERM, signal.SIGINT])
def test_signalled_worker_ends_soon_and_another_completes(tmp_path: Path, sign: signal.Signals) -> None:
    with farm(tmp_path, 4, 40) as crawled:
        crawled.control("/slow?600,20")
        worker = crawled.start(PATIENT)
        crawled.wait_until(lambda: len(crawled.stored()) > 5)
        worker.send_signal(sign)
        crawled.wait_until(lambda: f"Received {sign.name}" in crawled.log())
        crawled.control("/slow?0")
        assert worker.wait(PATIENCE) == 0
        crawled.running.clear()
        assert len(crawled.stored()) < len(crawled.articles), "it finishes current pages, not all"
        crawled.wait_until_stored(crawled.articles, 1)
        assert {crawled.counts()[url] for url in crawled.articles} == {1}, "current requests were finished or not started"
        assert crawled.stop() == [0]


def test_second_signal_ends_worker_immediately(tmp_path: Path) -> None:
    with farm(tmp_path, 2, 10) as crawled:
        crawled.control("/slow?600")
        worker = crawled.start()
        crawled.wait_until(lambda: any("/a/" in url for url in crawled.counts()))
        worker.send_signal(signal.SIGTERM)
        crawled.wait_until(lambda: "Received SIGTERM" in crawled.log())
        time.sleep(1)
        assert worker.poll() is None, "it waits for current requests"
        worker.send_signal(signal.SIGTERM)
        assert worker.wait(PATIENCE) == 0
        crawled.running.clear()


def test_changed_sources_file_is_reloaded(tmp_path: Path) -> None:
    with farm(tmp_path, 2, 5) as crawled:
        content = crawled.sources.read_text("utf-8")
        crawled.sources.write_text(content[: content.index("regions:")], "utf-8")
        worker = crawled.start()
        crawled.wait_until(lambda: len(crawled.stored()) == 5)
        crawled.sources.write_text("feeds: 7\n", "utf-8")
        crawled.wait_until(lambda: "continues with the last valid sources" in crawled.log())
        crawled.sources.write_text(content, "utf-8")
        crawled.wait_until_stored(crawled.articles, 1)
        assert worker.poll() is None, "it is the same process"
        assert crawled.stop() == [0]


def responds(url: str) -> bool:
    try:
        return httpx.get(url, timeout=600).status_code == httpx.codes.OK
    except httpx.TransportError:
        return False


def test_serve_ends_cleanly_on_sigterm(tmp_path: Path) -> None:
    with farm(tmp_path, 2, 2) as crawled:
        words = ("serve", "--port", "0", "--sources", str(crawled.sources))
        with Started(*words, piped=True, merged=True, PYTHONUNBUFFERED="1") as serving:
            address = serving.stdout.readline().split("http://")[1].split()[0].rstrip("/")
            crawled.wait_until(lambda: responds(f"http://{address}/"))
            serving.send_signal(signal.SIGTERM)
            output, _ = serving.communicate(timeout=PATIENCE)
            assert (serving.returncode, "Traceback" in output) == (0, False), output
