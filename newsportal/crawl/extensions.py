"""Scrapy extensions: the run report, saved during a run and at its end and logged as a table, the threads of a crawl, a graceful stop."""

import asyncio
import logging
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace
from datetime import timedelta
from time import monotonic
from typing import Self

from scrapy import Spider, signals
from scrapy.crawler import Crawler
from scrapy.utils.defer import deferred_from_coro

from newsportal.crawl.addon import CrawlerComponent
from newsportal.crawl.link_tracker import LinkTracker, tracker_of, utcnow
from newsportal.crawl.reader_pool import usual_processes
from newsportal.items import content_id
from newsportal.items.report import Run, table
from newsportal.logs import CONTEXT, warned

logger = logging.getLogger(__name__)

SAVE_EVERY = 5.0  # seconds between saves of a running report, so that the portal shows the progress of a crawl
DAY = timedelta(days=1)  # period covered by one report of a permanent worker
OPENING_SECONDS = 10.0  # maximum seconds between SIGINT and the end of a process whose spider is opening, e.g. while its store hangs
WORKERS = 2
"""Threads that read pages and query the store. They compete with each other and the downloads for Python's global lock: six of them,
asyncio's default on two cores, use more CPU time for the same work. A second one runs while the first waits for a disk."""


class Workers:
    """Limit the threads of ``asyncio.to_thread`` to a useful number, and start the processes that read pages."""

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        workers, settings = cls(), crawler.settings
        setting = settings.get("NEWSPORTAL_EXTRACTION_PROCESSES")
        if processes := usual_processes() if setting is None else int(setting):
            limits = settings.getint("NEWSPORTAL_EXTRACTION_MEMORY"), settings.getfloat("NEWSPORTAL_EXTRACTION_SECONDS")
            tracker_of(crawler).readers.pool.start(processes, *limits)
        crawler.signals.connect(workers.opened, signal=signals.spider_opened)
        return workers

    async def opened(self) -> None:
        asyncio.get_running_loop().set_default_executor(ThreadPoolExecutor(WORKERS, thread_name_prefix="newsportal"))


class GracefulStop(CrawlerComponent):
    """Close the spider also if the crawl is stopped while it opens: Scrapy stops running engines only, and ends the process at once."""

    def __init__(self, crawler: Crawler) -> None:
        from twisted.internet import reactor

        super().__init__(crawler)
        if crawler.crawling:  # not in `scrapy shell`
            crawler.signals.connect(self.stop_if_requested, signal=signals.engine_started)
            reactor.addSystemEventTrigger("before", "shutdown", lambda: deferred_from_coro(self.wait_until_closed()))  # type: ignore[arg-type]

    async def stop_if_requested(self) -> None:
        if not self._crawler.crawling:
            await self._crawler.engine.stop_async()

    async def wait_until_closed(self) -> None:
        """Wait until the spider is closed, if the engine has not started."""
        with suppress(RuntimeError):  # there is no engine
            engine = self._crawler.engine
            until = monotonic() + OPENING_SECONDS if engine.start_time is None else 0.0
            while engine.spider is not None and monotonic() < until:  # noqa: ASYNC110 - if opening fails, no signal tells
                await asyncio.sleep(0.05)


def new_run(spider: str, job: str | None = None) -> Run:
    """Return a new report that begins now, with a unique id."""
    started = utcnow()
    return Run(id=f"{started:%Y%m%d-%H%M%S}-{job or content_id(started.isoformat())[:8]}-{spider}", started=started, spiders=(spider,))


class RunReport:
    """Save the report of one spider's run under one id, from its start to its end."""

    def __init__(self, tracker: LinkTracker, run: Run, *, daily: bool = False) -> None:
        self.tracker = tracker
        self.run = run
        self._daily = daily
        self._saving: asyncio.Task[None] | None = None
        self._ending = asyncio.Event()

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        job = getattr(crawler.spider, "_job", None)  # scrapyd's job id, so that the report is found under it
        run = new_run(crawler.spidercls.name, crawler.settings.get("NEWSPORTAL_RUN_ID") or job)
        report = cls(tracker_of(crawler), run, daily=crawler.settings.getbool("NEWSPORTAL_STANDING"))
        CONTEXT.set(lambda: {"run": report.run.id})  # for the log records of this crawl's task and its children
        crawler.signals.connect(report.opened, signal=signals.spider_opened)
        crawler.signals.connect(report.closed, signal=signals.spider_closed)
        return report

    async def opened(self, spider: Spider) -> None:
        self._saving = asyncio.create_task(self._save_often())

    async def closed(self, spider: Spider, reason: str) -> None:
        self._ending.set()
        if self._saving is not None:
            await asyncio.wait([self._saving])  # a running thread cannot be cancelled: it would overwrite the final report with "running"
        if (finish := getattr(spider, "finish", None)) is not None:
            await finish(reason)
        self.run = self.so_far(reason)
        await self._save()
        logger.info("%s: %s\n%s", spider.name, reason, table(self.run))

    def so_far(self, reason: str | None = None) -> Run:
        """Return the report so far; with a reason, the final one."""
        return replace(self.run, ended=utcnow() if reason else None, reason=reason, sources=self.tracker.report())

    async def _save_often(self) -> None:
        while not self._ending.is_set():
            self.run = self.so_far()
            await self._save()
            if self._daily and utcnow() - self.run.started > DAY:
                self.run = self.so_far("finished")
                self.tracker.reset_report()  # counts made while this report is saved belong to the next
                await self._save()
                self.run = new_run(self.run.spiders[0])
            with suppress(TimeoutError):
                await asyncio.wait_for(self._ending.wait(), SAVE_EVERY)

    async def _save(self) -> None:
        with warned(logger, "the run report could not be saved"):
            await asyncio.to_thread(self.tracker.store.save_run, self.run)
