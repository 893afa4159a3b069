"""Visits that a spider begins: their order, their maximum, and no repetition of another worker's visit."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from scrapy.crawler import Crawler
from scrapy.settings import Settings
from scrapy.statscollectors import MemoryStatsCollector

from newsportal.crawl import scheduler
from newsportal.crawl.addon import SourcesAddon
from newsportal.crawl.link_tracker import utcnow
from newsportal.crawl.queues import open_queue
from newsportal.crawl.queues.base import Queue, Task
from newsportal.items import Link
from newsportal.spiders import visiting
from newsportal.spiders.rss import RssSpider
from newsportal.spiders.visiting import job_of
from newsportal.store.results import SourceState

HOUR = timedelta(hours=1)
FEEDS = "feeds:\n" + "".join(f'  - {{name: {name}, url: "https://{number}.example/rss"}}\n' for number, name in enumerate("甲乙丙丁"))


@pytest.fixture
def worker(tmp_path: Path) -> Iterator[Callable[[], Any]]:
    """Return a factory of spiders that share a store and a queue, each acting as a separate worker."""
    path = tmp_path / "sources.yaml"
    path.write_text(FEEDS, "utf-8")
    workers: list[tuple[Any, Queue]] = []

    def make() -> Any:
        crawler = Crawler(RssSpider, Settings({"NEWSPORTAL_SOURCES": str(path), "ADDONS": {SourcesAddon: 1}}))
        crawler.addons.load_settings(crawler.settings)
        crawler.stats = MemoryStatsCollector(crawler)
        queue = open_queue(crawler.get_addon(SourcesAddon).sources, crawler.settings, "rss")
        scheduler._SCHEDULERS[crawler] = SimpleNamespace(feeder=SimpleNamespace(queue=queue))  # type: ignore[assignment]
        spider = RssSpider(due="1")
        spider._set_crawler(crawler)
        workers.append((spider, queue))
        return spider

    yield make
    for spider, queue in workers:
        queue.close()
        spider.tracker.store.close()


async def begin_visit(spider: Any, source: Any, state: SourceState) -> list[Any]:
    """Return the first requests of a visit, without watching for its end."""
    found = [request async for request in spider.begin(source, state)]
    await spider.active_visits.stop()
    return found


def test_visit_finished_by_another_worker_is_not_repeated(worker: Callable[[], Any]) -> None:
    first, other = worker(), worker()
    source = next(iter(first.sources()))
    state = first.tracker.store.source_state(source.key)
    assert asyncio.run(begin_visit(first, source, state))
    assert asyncio.run(begin_visit(other, source, state)) == [], "the other worker has claimed it"
    asyncio.run(first._close([source.key], finished=True))
    assert asyncio.run(begin_visit(other, source, state)) == [], "the state is outdated"
    assert other._queue().claim(job_of(source.key), 60), "the rejected visit keeps no claim"


def test_new_sources_come_first_then_longest_waiting(worker: Callable[[], Any]) -> None:
    spider = worker()
    store, now = spider.tracker.store, utcnow()
    for name, late in (("甲", 1), ("乙", 3), ("丁", -1)):
        store.save_source_state(SourceState(f"feed:{name}", last_run=now - 9 * HOUR, next_visit=now - late * HOUR))
    spider.began = now
    waiting = visiting._waiting(spider, list(spider.sources()))
    assert [source.name for source, _ in waiting] == ["丙", "乙", "甲"]
    resting = replace(store.source_state("feed:乙"), rest_until=now + HOUR)
    store.save_source_state(resting)
    assert [source.name for source, _ in visiting._waiting(spider, list(spider.sources()))] == ["丙", "甲"]


def test_open_visits_are_limited(worker: Callable[[], Any], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(visiting, "MAX_VISITS", 2)
    monkeypatch.setattr(visiting, "CHECK_SECONDS", 0.01)
    spider = worker()
    queue, sources = spider._queue(), list(spider.sources())

    async def crowd() -> None:
        for source in sources[:2]:
            await spider.active_visits.wait_for_capacity()
            await spider.active_visits.begin(source.key)
            queue.push([Task(source.key, "a.example", "{}", source=source.key)])
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(spider.active_visits.wait_for_capacity(), 0.1)
        task = queue.take(1, delay=0.0, ahead=9.0).leases[0].task
        queue.done([task.id])
        await asyncio.wait_for(spider.active_visits.wait_for_capacity(), 600)
        await spider.active_visits.stop()

    asyncio.run(crowd())


def test_links_of_another_workers_visit_are_forgotten_at_its_end(worker: Callable[[], Any], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(visiting, "CHECK_SECONDS", 0.01)
    spider = worker()
    queue, link = spider._queue(), Link("https://0.example/1", "feed:甲", title="题")

    async def read_for_another() -> None:
        await spider.filter_new([link])
        spider.visited.add(link.source)
        spider.tracker.visit_counts.take_visits(utcnow())
        await visiting._forget(spider)
        await asyncio.sleep(0.2)
        assert spider.tracker.counted == {link.source}, "another worker is still visiting"
        assert spider.active_visits.in_progress == frozenset()
        (lease,) = queue.take(1, delay=0.0, ahead=9.0).leases
        spider.tracker.store.links.postpone(lease.task.id, "http-503", utcnow().timestamp() + 900)
        queue.done([lease.task.id])
        async with asyncio.timeout(600):
            while spider.tracker.counted:  # noqa: ASYNC110 - no event to await
                await asyncio.sleep(0.01)
        await spider.active_visits.stop()
        assert (await spider.tracker.resume(link.source))[0] == [lease.task.id], "the other worker failed: the next visit retries"

    asyncio.run(read_for_another())


def test_failing_end_of_visit_does_not_block_others(
    worker: Callable[[], Any], monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(visiting, "CHECK_SECONDS", 0.01)
    spider, ended = worker(), asyncio.Event()

    async def over(source: str) -> None:
        if source == "feed:甲":
            raise ZeroDivisionError
        ended.set()

    visits = visiting.ActiveVisits(spider.tracker, spider._queue, over)

    async def watched() -> None:
        for source in ("feed:甲", "feed:乙"):
            assert await visits.claim(source)
            await visits.begin(source)
        await asyncio.wait_for(ended.wait(), 600)
        await visits.stop()

    asyncio.run(watched())
    assert "feed:甲" not in visits.in_progress
    assert "feed:甲: its visit cannot be finished" in caplog.text
    assert not worker()._queue().claim(job_of("feed:甲"), 60), "it is not visited again immediately"


def test_stopping_waits_for_a_visit_that_is_being_ended(worker: Callable[[], Any], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(visiting, "CHECK_SECONDS", 0.001)
    spider, ended = worker(), []
    ending, may_end = asyncio.Event(), asyncio.Event()

    async def over(source: str) -> None:
        ending.set()
        await may_end.wait()
        ended.append(source)

    async def run() -> None:
        visits = visiting.ActiveVisits(spider.tracker, spider._queue, over)
        await visits.begin("feed:甲")
        await ending.wait()
        stopping = asyncio.create_task(visits.stop())
        await asyncio.sleep(0)
        may_end.set()
        await stopping

    asyncio.run(run())
    assert ended == ["feed:甲"]


def test_visit_given_up_during_check_does_not_block_others(worker: Callable[[], Any], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(visiting, "CHECK_SECONDS", 0.01)
    spider, ended, given_up = worker(), asyncio.Event(), list[asyncio.Task[None]]()

    async def over(source: str) -> None:
        assert source == "feed:乙"
        ended.set()

    def queue() -> Queue:
        if not given_up:  # the first check has begun
            given_up.append(asyncio.get_running_loop().create_task(visits.release("feed:甲")))
        found: Queue = spider._queue()
        return found

    visits = visiting.ActiveVisits(spider.tracker, queue, over)

    async def watched() -> None:
        for source in ("feed:甲", "feed:乙"):
            await visits.begin(source)
        await asyncio.wait_for(ended.wait(), 600)
        await visits.stop()
        await given_up[0]

    asyncio.run(watched())


def test_visits_do_not_wait_without_a_queue(worker: Callable[[], Any], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(visiting, "MAX_VISITS", 1)
    spider = worker()
    spider.crawler.engine = SimpleNamespace(scheduler=None, running=True)

    async def replayed() -> None:
        await spider.active_visits.begin("feed:甲")
        await asyncio.wait_for(spider.active_visits.wait_for_capacity(), 600)
        await spider.active_visits.stop()

    asyncio.run(replayed())
