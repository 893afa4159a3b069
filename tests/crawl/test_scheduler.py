"""The scheduler with plain Scrapy spiders: real crawls in real processes, on disk and with a real Redis."""

from __future__ import annotations

import json
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import redis
from forked import Started

sys.path.insert(0, str(Path(__file__).resolve().parent))  # import numbered_site

from numbered_site import NumberedSite

pytestmark = pytest.mark.slow

PROGRAM = Path(__file__).with_name("plain_spider.py")
PATIENCE = 600.0
QUICK = {"DOWNLOAD_DELAY": 0, "CONCURRENT_REQUESTS_PER_DOMAIN": 16}
PAGES = 200


@pytest.fixture
def site() -> Iterator[NumberedSite]:
    with NumberedSite(PAGES) as site:
        yield site
        site.shutdown()


@pytest.fixture
def start_crawl(tmp_path: Path) -> Iterator[Callable[..., Started]]:
    """Start a crawl in the test's folder; those still running at the end are killed."""
    started: list[Started] = []

    def start_crawl(url: str, *kind: str, **settings: Any) -> Started:
        started.append(Started(url, json.dumps({**QUICK, **settings}), *kind, script=PROGRAM, cwd=tmp_path))
        return started[-1]

    yield start_crawl
    for process in started:
        if process.poll() is None:
            process.kill()
            process.wait()


def finish_crawl(process: Started) -> tuple[Counter[str], str]:
    """Wait for a crawl that must succeed; return the lines it printed, and its log."""
    printed, log = process.communicate(timeout=PATIENCE)
    assert process.returncode == 0, log[-3000:]
    assert "Traceback" not in log, log[-3000:]
    return Counter(printed.splitlines()), log


def until(reached: Callable[[], bool]) -> None:
    deadline = time.monotonic() + PATIENCE
    while not reached():
        assert time.monotonic() < deadline, "timeout"
        time.sleep(0.02)


def test_every_page_is_read_once_including_local_requests(site: NumberedSite, start_crawl: Any) -> None:
    printed, _ = finish_crawl(start_crawl(site.url()))
    assert printed == Counter({f"read {site.url(f'/{n}')}": 1 for n in range(PAGES)} | {f"read {site.url('/local')} True": 1})
    again, _ = finish_crawl(start_crawl(site.url()))
    assert set(again) == {f"read {site.url('/0')}"}, "start URLs are never filtered, their links were seen"


def test_repeatedly_killed_crawl_loses_no_page(site: NumberedSite, start_crawl: Any) -> None:
    read = 0
    for goal in (20, 70, 120):
        with site.holding(len(site.requests) + goal):
            crawl = start_crawl(site.url(), DOWNLOAD_DELAY=0.005, DOWNLOAD_TIMEOUT=600)
            until(lambda goal=goal: len(site.counts()) >= goal)  # type: ignore[misc]
            crawl.kill()
            read += len(crawl.communicate()[0].splitlines())
    finish_crawl(start_crawl(site.url()))
    assert read < PAGES
    counts = site.counts()
    assert set(counts) == {f"/{n}" for n in range(PAGES)} | {"/local"}
    assert sum(counts.values()) - len(counts) <= 3 * 32 + 4, "only requests in flight are repeated"


def test_errback_requests_and_retries_keep_the_lease(site: NumberedSite, start_crawl: Any) -> None:
    site.answers |= {"/7": (404, {}), "/8": (503, {})}
    printed, _ = finish_crawl(start_crawl(site.url()))
    assert printed[f"failed {site.url('/7')}"] == 1
    assert printed[f"read {site.url('/7?again')}"] == printed[f"read {site.url('/8')}"] == printed[f"read {site.url('/75')}"] == 1
    assert site.counts()["/8"] == 2


def test_host_with_retry_after_is_left_alone(site: NumberedSite, start_crawl: Any) -> None:
    """All its requests wait; a crawl waits for some seconds, but not for a day."""
    site.answers["/0"] = (429, {"Retry-After": "3"})
    finish_crawl(start_crawl(site.url(), RETRY_ENABLED=True))
    moments = [moment for _, _, moment in site.requests]
    assert moments[1] - moments[0] >= 2.9
    site.requests.clear()
    site.answers["/0"] = (429, {"Retry-After": "86000"})
    finish_crawl(start_crawl(site.url(), RETRY_ENABLED=True))
    assert [path for _, path, _ in site.requests] == ["/0"]


def test_processes_share_the_pace_of_a_host(site: NumberedSite, start_crawl: Any) -> None:
    """Without sharing they would take half as long. Load can only make it longer."""
    start = time.monotonic()
    crawls = [start_crawl(site.url(), DOWNLOAD_DELAY=0.1) for _ in range(2)]
    until(lambda: len(site.requests) >= 100)
    for crawl in crawls:
        crawl.terminate()
    for crawl in crawls:
        finish_crawl(crawl)
    moments = sorted(moment for _, _, moment in site.requests)
    assert all(moment - start >= number * 0.1 for number, moment in enumerate(moments)), moments


@pytest.mark.parametrize("kind", ["list", "set", "zset"])
def test_start_urls_pushed_to_redis_are_crawled(site: NumberedSite, start_crawl: Any, redis_server: Any, kind: str) -> None:
    settings = {} if kind == "list" else {f"REDIS_START_URLS_AS_{kind.upper()}": True}
    crawl = start_crawl("-", "fed", REDIS_URL=redis_server.url, NEWSPORTAL_STANDING=True, **settings)
    values = [site.url("/150"), json.dumps({"url": site.url("/151"), "meta": {"job": 1}})]
    with redis.Redis(port=redis_server.port) as client:
        until(lambda: bool(client.exists("newsportal:queues")))
        push = {"list": client.lpush, "set": client.sadd, "zset": lambda key, *names: client.zadd(key, dict.fromkeys(names, 1))}[kind]
        push("fed:start_urls", "no address", *values)
        until(lambda: len(site.requests) == 2 and not client.exists("fed:start_urls"))
    crawl.terminate()
    printed, log = finish_crawl(crawl)
    assert set(printed) == {f"read {site.url('/150')}", f"read {site.url('/151')}"}
    assert "'no address' was pushed as a start URL but is not valid" in log.replace('b"', "'").replace("b'", "'")


@pytest.mark.parametrize("options", [(), ("--appendonly", "yes")], ids=["data lost", "data kept"])
def test_crawl_survives_a_redis_restart(site: NumberedSite, start_crawl: Any, redis_server: Any, options: tuple[str, ...]) -> None:
    redis_server.kill()
    redis_server.start(*options)
    with site.holding(30):
        crawl = start_crawl(site.url(), REDIS_URL=redis_server.url, DOWNLOAD_DELAY=0.02, DOWNLOAD_TIMEOUT=600)
        until(lambda: len(site.requests) > 30)
        redis_server.kill()
        until(lambda: "is unavailable" in crawl.errors)
    redis_server.start(*options)
    _, log = finish_crawl(crawl)
    assert set(site.counts()) == {f"/{n}" for n in range(PAGES)} | {"/local"}
    assert "is available again" in log
