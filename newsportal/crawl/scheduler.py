"""Scrapy's scheduler over a queue without losses (setting ``SCHEDULER``): requests are leased, and acknowledged when they are done.

Works for every spider. A request is serialized as JSON and pushed; one that cannot be serialized (a thread's later pages, a lambda as
callback) stays in this process, under the lease of the request whose callback made it, as do retries and redirects.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Container, Sequence
from dataclasses import replace
from typing import Any, Final
from weakref import WeakKeyDictionary

from scrapy import Request, Spider, signals
from scrapy.core.downloader import Slot
from scrapy.core.scheduler import BaseScheduler
from scrapy.crawler import Crawler
from scrapy.exceptions import DontCloseSpider
from scrapy.utils.defer import deferred_from_coro
from twisted.internet.defer import Deferred

from newsportal.crawl.addon import CrawlerComponent, SourcesAddon
from newsportal.crawl.feeder import Feeder
from newsportal.crawl.host_locks import Host, HostLocks, WaitingRequest
from newsportal.crawl.leases import LEASE, PARENT, Errback
from newsportal.crawl.link_tracker import STORE_FAILS
from newsportal.crawl.queues.base import Queue, Task, Terms
from newsportal.crawl.queues.table import TableQueue
from newsportal.crawl.record import Record, record_of
from newsportal.crawl.redis_connection import open_start_urls
from newsportal.crawl.requests import ROW, DupeFilter, UnserializableRequest, host_of, request_of, task_of
from newsportal.errors import NewsportalError

logger = logging.getLogger(__name__)

STANDING: Final = "NEWSPORTAL_STANDING"  # setting: the spider stays open when idle (newsportal worker)
REPLAY: Final = "NEWSPORTAL_REPLAY"  # setting: requests are answered from a file, without a queue
FLUSH: Final = "SCHEDULER_FLUSH_ON_START"  # scrapy-redis' setting: forget at the start what waits; nothing is wiped at the end
MIN_PREFETCH: Final = 16  # minimum of prefetched requests; twice CONCURRENT_REQUESTS where that is more
BROKEN: Final = "frontier-failed"  # reason of a crawl's end when the scheduler itself failed; the log has the error
AWAY: Final = "queue-unavailable"  # reason of a crawl's end when its queue was unavailable for AWAY_SECONDS; a permanent worker waits
AWAY_SECONDS: Final = 300.0  # a Redis that restarts from its log is back within this time
REFUSED: Final = "frontier/refused"  # statistic: why the queue was refused, with the remedy

_SCHEDULERS: WeakKeyDictionary[Crawler, Scheduler] = WeakKeyDictionary()


def scheduler_of(crawler: Crawler) -> Scheduler | None:
    """Return the scheduler of a crawler; ``None`` if another one is configured."""
    return _SCHEDULERS.get(crawler)


class Scheduler(CrawlerComponent, BaseScheduler):
    """The scheduler. Without a queue (in a replay) requests wait in memory, by priority."""

    def __init__(self, crawler: Crawler) -> None:
        super().__init__(crawler)
        settings = crawler.settings
        _SCHEDULERS[crawler] = self
        self._standing = settings.getbool(STANDING)
        self._places = settings.getint("CONCURRENT_REQUESTS_PER_DOMAIN")
        self._delay = settings.getfloat("DOWNLOAD_DELAY")
        self._seen = DupeFilter.from_crawler(crawler)
        self._flush = settings.getbool(FLUSH)
        self._slots: dict[str, str] = {}
        self._timer: asyncio.TimerHandle | None = None
        self._closing: asyncio.Future[None] | None = None
        self._spider: Spider | None = None
        self._record: Record | None = None
        self.host_locks = HostLocks(self)
        addon = crawler.get_addon(SourcesAddon)
        lease = Terms().lease if addon is None else addon.sources.frontier.lease
        prefetch = max(2 * settings.getint("CONCURRENT_REQUESTS"), MIN_PREFETCH)
        self.feeder = None if settings.get(REPLAY) else Feeder(self._opened, self.host_locks, self, prefetch, self._delay, lease)

    # Scrapy's side

    def open(self, spider: Spider) -> None:
        self._spider = spider
        if self._standing:
            self._crawler.signals.connect(_keep_open, signal=signals.spider_idle)
        if self.feeder is not None:
            self.feeder.activity["spider"] = spider.name
            self.feeder.starts = open_start_urls(self._crawler.settings, spider)
            if self.feeder.starts is not None and hasattr(spider, "fetch_data"):
                spider.fetch_data = lambda key, number: []  # scrapy-redis' spiders pop start URLs, and lose them when they are killed
            self.feeder.start(self._on_failure)

    def close(self, reason: str) -> Deferred[None] | None:
        if self._timer is not None:
            self._timer.cancel()
        return None if self.feeder is None else deferred_from_coro(self.feeder.close())

    def has_pending_requests(self) -> bool:
        if self.feeder is None:
            return bool(self.host_locks.waiting)
        if not self.feeder.quiet:
            self.feeder.request_work()
            return True
        return False

    def enqueue_request(self, request: Request) -> bool:
        self.count("scheduler/enqueued")
        parent = request.meta.pop(PARENT, None)
        if self.feeder is None:
            return self._keep_local(request, None)
        if parent is None and LEASE in request.meta:  # a retry or a redirect of a leased request
            return self._keep_local(request, request.meta[LEASE])
        request.meta.pop(LEASE, None)
        if request.meta.pop(ROW, False) and isinstance(self.feeder.queue, TableQueue):
            self.feeder.changed()  # its row in the link table is already part of the queue
            return True
        try:
            task = task_of(request, self.spider, self._seen.seen_name(request))
        except UnserializableRequest:
            self.count("frontier/local")
            return self._keep_local(request, parent)
        if task.link and task.id in self.feeder.leases:  # the same link by another URL, under the same lease
            return self._keep_local(request, task.id)
        if request.dont_filter and task.id in self.feeder.leases:  # a callback requests its own page again: its task is not done yet
            task = replace(task, id=f"{task.id}+")
        self.feeder.push(task)
        return True

    def next_request(self) -> Request | None:
        now = time.monotonic()
        entry = self.host_locks.take(now)
        if entry is None:
            self._wait(now)
            return None
        request = entry.request
        if entry.lease is not None and self.feeder is not None:
            request.meta[LEASE] = entry.lease
            self.feeder.leases.mark_sent(entry.lease, request)
            if request.errback is not None and not isinstance(request.errback, Errback):
                request.errback = Errback(request.errback, entry.lease)
        self.count("scheduler/dequeued")
        if self.feeder is not None and self.host_locks.waiting < MIN_PREFETCH:
            self.feeder.request_work()
        return request

    # requests

    def _keep_local(self, request: Request, lease: str | None) -> bool:
        host = host_of(request)
        if self.feeder is None:
            self.host_locks.hold(host, 0.0)
        else:
            self.feeder.leases.add_waiting(lease)
            self.feeder.changed()
        self.host_locks.add(host, WaitingRequest(request, lease))
        return True

    # what the feeder asks

    @property
    def spider(self) -> Spider:
        if self._spider is None:
            raise RuntimeError("requests before the spider has opened")
        return self._spider

    @property
    def in_progress(self) -> Container[Request]:
        engine = self._crawler.engine
        return engine._slot.inprogress if engine is not None and engine._slot is not None else ()

    @property
    def ending(self) -> bool:
        engine = self._crawler.engine
        return engine is not None and (engine._slot is None or engine._slot.closing is not None)

    def wait_after(self, host: str) -> float:
        """Return the seconds until another process may send requests to a host."""
        slot = self._slot(host)
        return 0.0 if slot is None or not slot.lastseen else slot.lastseen + slot.delay - time.monotonic()

    def busy(self, host: str) -> bool:
        slot = self._slot(host)
        return slot is not None and bool(slot.active)

    def request_of(self, task: Task) -> Request:
        """Deserialize a task. Raises ``UnreadableTask``."""
        return request_of(task, self.spider)

    async def accepted(self, requests: Sequence[Request]) -> Sequence[Request | None]:
        """Let the spider's ``accept`` replace or refuse leased requests."""
        self.count("frontier/taken", len(requests))
        accept = getattr(self.spider, "accept", None)
        return requests if accept is None else list(await accept(requests))

    async def started(self, values: Sequence[bytes]) -> None:
        """Make requests from start URLs pushed to Redis; invalid ones are logged and dropped."""
        spider: Any = self.spider
        if hasattr(spider, "spider_idle_start_time"):
            spider.spider_idle_start_time = int(time.time())  # reset scrapy-redis' timer for MAX_IDLE_TIME_BEFORE_CLOSE
        for value in values:
            try:
                output = await spider.pushed(value) if hasattr(spider, "pushed") else spider.make_request_from_data(value)
                requests = [output] if isinstance(output, Request) else list(output or ())
            except (ValueError, TypeError, LookupError, AttributeError) as error:
                logger.error("%s: %r was pushed as a start URL but is not valid: %s", spider.name, value[:200], error)
                self.count("frontier/bad-starts")
                continue
            for request in requests:
                if self._crawler.engine is not None:
                    self._crawler.engine.crawl(request)

    def wake_engine(self) -> None:
        """Make the engine call :meth:`next_request` now."""
        engine = self._crawler.engine
        if engine is not None and engine._slot is not None and engine._slot.closing is None:
            engine._slot.nextcall.schedule()

    def count(self, key: str, number: int = 1) -> None:
        if self._crawler.stats is not None and number:
            self._crawler.stats.inc_value(key, number)

    # hosts

    async def acquire_host(self, request: Request) -> None:
        """Wait until this process may send a request to its host. Raises ``CrawlEnding`` or ``HostPaused``."""
        if self.feeder is None:
            return
        host = host_of(request)
        if self._crawler.engine is not None:
            self._slots[host] = self._crawler.engine.downloader.get_slot_key(request)
        await self.host_locks.acquire(host)

    def pause_host(self, request: Request, seconds: float) -> None:
        """Pause the host of ``request`` for all processes."""
        if self.feeder is not None:
            self.host_locks.pause(host_of(request), time.monotonic() + seconds)
            self.feeder.changed()

    def delay_of(self, host: str) -> float:
        """Return the seconds between two requests to a host: its slot's delay (which robots.txt may increase), else the setting."""
        if (slot := self._slot(host)) is not None:
            return slot.delay
        engine = self._crawler.engine
        settings = {} if engine is None else engine.downloader.per_slot_settings.get(self._slots.get(host, host), {})
        return float(settings.get("delay", self._delay))

    def _slot(self, host: str) -> Slot | None:
        engine = self._crawler.engine
        return None if engine is None else engine.downloader.slots.get(self._slots.get(host, host))

    def free_places(self, host: Host) -> int:
        """Return how many more requests a host may have in progress. Without a delay, as many again are queued in its slot."""
        engine, slot = self._crawler.engine, self._slot(host.name)
        places = slot.concurrency if slot is not None else self._places
        limit = places if (slot.delay if slot is not None else self._delay) else 2 * places
        if len(host.sent) >= limit and engine is not None:
            host.sent.intersection_update(engine.downloader.active)
        return limit - max(len(host.sent), len(slot.active) if slot is not None else 0)

    # within

    def _opened(self) -> Queue:
        """Open the queue, in its thread. Raises ``FrontierUnavailable``."""
        from newsportal.crawl.queues import open_plain, open_queue

        settings = self._crawler.settings
        addon = self._crawler.get_addon(SourcesAddon)
        if addon is not None:
            self._record = record_of(addon.sources, settings)
            queue = open_queue(addon.sources, settings, self.spider.name, self._record.store.links)
        else:
            queue = open_plain(settings, self.spider.name)
        if self._flush:
            queue.clear()
        return queue

    def _wait(self, now: float) -> None:
        """Schedule the next attempt when a host becomes ready: Scrapy by itself polls every five seconds."""
        soonest = self.host_locks.next_time()
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if soonest is not None:
            self._timer = asyncio.get_running_loop().call_later(max(soonest - now, 0.0), self.wake_engine)
        if self.feeder is not None:
            self.feeder.request_work()
            if self.feeder.away_since is None or self._standing:
                return
            if self.feeder.store_failed:
                logger.error("the crawl ends: the store accepts no writes")
                self._end(STORE_FAILS)
            elif now - self.feeder.away_since > AWAY_SECONDS:
                logger.error("the crawl ends: its queue of requests has been unavailable for %.0f minutes", AWAY_SECONDS / 60)
                self._end(AWAY)

    def _on_failure(self, error: BaseException) -> None:
        if isinstance(error, NewsportalError):  # e.g. a queue of a newer version: the message is sufficient
            logger.error("%s", error)
            if self._crawler.stats is not None:
                self._crawler.stats.set_value(REFUSED, str(error))
        else:
            logger.error("the scheduler failed: %s", error, exc_info=error)
        self._end(BROKEN)

    def _end(self, reason: str) -> None:
        if self._closing is None and self._crawler.engine is not None and self._crawler.engine.spider is not None:
            self._closing = asyncio.ensure_future(self._crawler.engine.close_spider_async(reason=reason))


def _keep_open() -> None:
    raise DontCloseSpider
