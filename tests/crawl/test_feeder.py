"""The feeder between a crawl and its queue: a real queue on disk, a real event loop, and a crawl controlled by the test."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from scrapy import Request

from newsportal.crawl import feeder as module
from newsportal.crawl import host_locks
from newsportal.crawl.feeder import Feeder
from newsportal.crawl.host_locks import CrawlEnding, Host, HostLocks, HostPaused
from newsportal.crawl.queues import open_table
from newsportal.crawl.queues.base import Answer, Task, Terms
from newsportal.crawl.queues.table import TableQueue
from newsportal.crawl.requests import UnreadableTask
from newsportal.errors import FrontierUnavailable, StoreUnavailable
from newsportal.store.link_tables import Moments


class Crawl:
    """Sends requests and keeps them in progress until the test removes them."""

    def __init__(self, queue: Callable[[], Any]) -> None:
        self.in_progress: set[Request] = set()
        self.ending = False
        self.refused: set[str] = set()
        self.meanwhile: list[Task] = []
        self.busy_hosts: set[str] = set()
        self.counts: dict[str, int] = {}
        self.hand = HostLocks(self)
        self.feeder = Feeder(queue, self.hand, self, 16, 0.0)

    def free_places(self, host: Host) -> int:
        return 9

    def delay_of(self, host: str) -> float:
        return 0.0

    def wait_after(self, host: str) -> float:
        return 250.0

    def busy(self, host: str) -> bool:
        return host in self.busy_hosts

    def request_of(self, task: Task) -> Request:
        if task.body == "broken":
            raise UnreadableTask("broken")
        return Request(f"http://{task.host}/{task.id}")

    async def accepted(self, requests: Sequence[Request]) -> Sequence[Request | None]:
        for task in self.meanwhile:
            self.feeder.push(task)
        return [None if request.url in self.refused else request for request in requests]

    async def started(self, values: Sequence[bytes]) -> None: ...

    def wake_engine(self) -> None: ...

    def count(self, kind: str, number: int = 1) -> None:
        self.counts[kind] = self.counts.get(kind, 0) + number

    def next(self) -> Request | None:
        entry = self.hand.take(time.monotonic())
        if entry is None:
            return None
        self.feeder.leases.mark_sent(entry.lease, entry.request)
        self.in_progress.add(entry.request)
        return entry.request

    async def taken(self, number: int) -> list[str]:
        """Return the URLs of the next ``number`` requests."""
        found: list[str] = []
        while len(found) < number:
            request = self.next()
            found += [request.url] if request else []
            await asyncio.sleep(0 if request else 0.005)
        return found


@pytest.fixture(autouse=True)
def short_intervals(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(host_locks, "IDLE_LOCK", 0.02)
    for name, value in {"TICK": 0.02, "MIN_POLL": 0.005, "GATHER_SECONDS": 0.001, "RETRY_PAUSES": (0.01,), "CLOSE_SECONDS": 0.1}.items():
        monkeypatch.setattr(module, name, value)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "links.db"


def run(crawl: Crawl, task: Callable[[], Awaitable[None]]) -> None:
    """Await ``task`` while the feeder runs, then close the feeder."""

    async def finish() -> None:
        broken: list[BaseException] = []
        crawl.feeder.start(broken.append)
        await asyncio.wait_for(task(), 600)
        await crawl.feeder.close()
        assert broken == []

    asyncio.run(finish())


async def until(reached: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 600
    while not reached():
        assert time.monotonic() < deadline
        await asyncio.sleep(0.005)


def task(id: str, host: str = "a.example", body: str = "{}", **options: Any) -> Task:
    return Task(id, host, body, **options)


def queue_of(file: Path) -> TableQueue:
    return open_table(file, "test", terms=Terms())


def test_pushed_task_is_taken_and_acknowledged_when_finished(file: Path) -> None:
    crawl = Crawl(lambda: queue_of(file))

    async def crawled() -> None:
        crawl.feeder.push(task("1"))
        crawl.feeder.push(task("2", "b.example"))
        assert not crawl.feeder.quiet
        assert sorted(await crawl.taken(2)) == ["http://a.example/1", "http://b.example/2"]
        await asyncio.sleep(0.05)
        assert crawl.feeder.queue is not None
        assert crawl.feeder.queue.state().leased == 2
        assert not crawl.feeder.quiet
        crawl.in_progress.clear()
        await until(lambda: crawl.feeder.quiet)

    run(crawl, crawled)
    assert (queue_of(file).state().waiting, queue_of(file).state().leased) == (0, 0)


def test_unfinished_and_unpushed_tasks_are_in_the_queue_at_the_end(file: Path) -> None:
    crawl = Crawl(lambda: queue_of(file))

    async def cut_short() -> None:
        crawl.feeder.push(task("1"))
        await crawl.taken(1)
        crawl.feeder.push(task("2"))

    run(crawl, cut_short)
    state = queue_of(file).state()
    assert (state.waiting, state.leased, state.workers) == (2, 0, ())


def test_tasks_of_others_are_checked_and_unreadable_ones_dropped(file: Path) -> None:
    other = queue_of(file)
    other.push([task("wanted"), task("unwanted"), task("broken", body="broken")])
    crawl = Crawl(lambda: queue_of(file))
    crawl.refused.add("http://a.example/unwanted")

    async def crawled() -> None:
        assert await crawl.taken(1) == ["http://a.example/wanted"]
        crawl.in_progress.clear()
        await until(lambda: crawl.feeder.quiet)

    run(crawl, crawled)
    assert crawl.counts["frontier/unreadable"] == 1
    assert (other.state().waiting, other.state().leased, other.state().aside) == (0, 0, 0)


def test_task_pushed_during_the_check_is_requested_once(file: Path) -> None:
    """As a list page left by an earlier run, with which this run starts as well."""
    other = queue_of(file)
    other.push([task(id) for id in ("1", "2", "3")])
    crawl = Crawl(lambda: queue_of(file))
    crawl.meanwhile = [task("1")]

    async def crawled() -> None:
        assert sorted(await crawl.taken(3)) == ["http://a.example/1", "http://a.example/2", "http://a.example/3"]
        crawl.in_progress.clear()
        await until(lambda: crawl.feeder.quiet)

    run(crawl, crawled)


@pytest.mark.parametrize(("lease", "heartbeat"), [(1.0, 0.25), (60.0, 5.0), (3600.0, 5.0)])
def test_heartbeat_is_a_quarter_of_the_lease_at_most_five_seconds(lease: float, heartbeat: float) -> None:
    crawl = Crawl(lambda: None)
    crawl.feeder.lease = lease
    assert crawl.feeder.heartbeat_seconds == heartbeat


def test_short_lease_lasts_while_its_worker_lives(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    terms, now = Terms(lease=0.2), [time.monotonic()]
    monkeypatch.setattr(module, "time", SimpleNamespace(monotonic=lambda: now[0], time=time.time))

    def opened() -> TableQueue:
        queue = open_table(file, "test", terms=terms)
        queue.links._clock = lambda _: Moments(now[0], time.time())
        return queue

    crawl, other = Crawl(opened), opened()
    crawl.feeder.lease = terms.lease

    async def crawled() -> None:
        crawl.feeder.push(task("1"))
        await crawl.taken(1)
        for _ in range(10):
            now[0] += 0.06
            await until(lambda: crawl.feeder._last_heartbeat == now[0])
            assert other.take(1, delay=0.0, ahead=1.0).leases == ()
        crawl.in_progress.clear()
        await until(lambda: crawl.feeder.quiet)

    run(crawl, crawled)
    assert "frontier/lost" not in crawl.counts


def test_lost_lease_is_counted_once(file: Path) -> None:
    crawl = Crawl(lambda: queue_of(file))

    async def crawled() -> None:
        for id in ("1", "2"):
            crawl.feeder.push(task(id))
        await crawl.taken(2)
        for _ in range(2):
            await crawl.feeder._apply(Answer(lost={"1", "unknown"}), 0, taken=False)
        assert {id: lease.lost for id, lease in crawl.feeder.leases.items()} == {"1": True, "2": False}

    run(crawl, crawled)
    assert crawl.counts == {"frontier/lost": 1}


def test_host_is_held_before_requests_and_released_with_its_wait(file: Path) -> None:
    crawl, other = Crawl(lambda: queue_of(file)), queue_of(file)

    async def hold_host() -> None:
        crawl.busy_hosts.add("a.example")
        await crawl.feeder.host_locks.acquire("a.example")
        assert other.hold("a.example") is None
        crawl.busy_hosts.clear()
        ends: list[float | None] = [None]

        def is_free() -> bool:
            ends[0] = other.hold("a.example")
            return ends[0] is not None

        await until(is_free)
        assert ends[0] is not None
        assert 0.0 < ends[0] <= 250.0

    run(crawl, hold_host)


def test_host_held_by_another_is_awaited_until_the_crawl_ends(file: Path) -> None:
    crawl, other = Crawl(lambda: queue_of(file)), queue_of(file)

    async def wait_for_host() -> None:
        assert other.hold("a.example") == 0.0
        waiting = asyncio.ensure_future(crawl.feeder.host_locks.acquire("a.example"))
        await asyncio.sleep(0.1)
        assert not waiting.done()
        other.free({"a.example": 0.0})
        await waiting
        assert other.hold("b.example") == 0.0
        last = asyncio.ensure_future(crawl.feeder.host_locks.acquire("b.example"))
        await asyncio.sleep(0.05)
        crawl.ending = True
        with pytest.raises(CrawlEnding):
            await last

    run(crawl, wait_for_host)


def test_tasks_of_a_paused_host_are_given_back_for_later(file: Path) -> None:
    crawl, other = Crawl(lambda: queue_of(file)), queue_of(file)

    async def pause_host() -> None:
        for id in ("1", "2", "3"):
            crawl.feeder.push(task(id))
        await crawl.taken(1)
        await until(lambda: crawl.hand.waiting == 2)
        crawl.hand.pause("a.example", time.monotonic() + 3600.0)
        crawl.feeder.changed()
        with pytest.raises(HostPaused):
            await crawl.feeder.host_locks.acquire("a.example")
        await until(lambda: other.state().later == 2)
        crawl.in_progress.clear()
        await until(lambda: crawl.feeder.quiet)
        with pytest.raises(HostPaused):
            await crawl.feeder.host_locks.acquire("a.example")
        assert other.hold("a.example") is None or (other.hold("a.example") or 0.0) > 3000

    run(crawl, pause_host)


def test_queue_outage_loses_nothing(file: Path, caplog: pytest.LogCaptureFixture) -> None:
    outage = [True]

    def opened() -> TableQueue:
        if outage[0]:
            raise FrontierUnavailable("full")
        return queue_of(file)

    crawl = Crawl(opened)

    async def crawled() -> None:
        crawl.feeder.push(task("1"))
        await until(lambda: crawl.feeder.away_since is not None)
        crawl.feeder.push(task("2"))
        await asyncio.sleep(0.05)
        assert not crawl.feeder.quiet
        outage[0] = False
        assert sorted(await crawl.taken(2)) == ["http://a.example/1", "http://a.example/2"]
        crawl.in_progress.clear()
        await until(lambda: crawl.feeder.quiet)

    run(crawl, crawled)
    assert [record.message for record in caplog.records if "queue of requests is" in record.message] == [
        "the queue of requests is unavailable (full): requests in progress continue, the others wait until it is back",
        "the queue of requests is available again",
    ]


@pytest.mark.parametrize("cause", [StoreUnavailable("the disk is full"), OSError("Redis is away")], ids=["store", "redis"])
def test_failing_store_is_given_up_sooner_than_redis(file: Path, cause: Exception) -> None:
    tries: list[bool] = []

    def opened() -> TableQueue:
        tries.append(crawl.feeder.store_failed)
        if len(tries) <= module.STORE_TRIES + 2:
            raise FrontierUnavailable("queue of requests") from cause
        return queue_of(file)

    crawl = Crawl(opened)

    async def crawled() -> None:
        crawl.feeder.push(task("1"))
        assert await crawl.taken(1) == ["http://a.example/1"]
        assert not crawl.feeder.store_failed, "the queue works again"
        crawl.in_progress.clear()

    run(crawl, crawled)
    reached = isinstance(cause, StoreUnavailable)
    assert tries[: module.STORE_TRIES + 3] == [False] * module.STORE_TRIES + [reached] * 3
