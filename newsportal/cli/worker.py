"""``newsportal worker``: a permanent crawl. Any number of workers on any machines share the work of one sources file."""

from __future__ import annotations

import asyncio
import os
import platform
import signal
import sys
import threading
import time
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer
from rich.console import Console

from newsportal.cli import crawl, hints
from newsportal.cli.options import LogFile, LogFormat, LogLevel, SourcesFile, load
from newsportal.cli.publish import Publisher
from newsportal.errors import NewsportalError, StoreUnavailable
from newsportal.services.jobs.supervisor import SourcesReloader
from newsportal.sources import Sources
from newsportal.store import open_store

if TYPE_CHECKING:
    from scrapy.crawler import AsyncCrawlerProcess

PATIENCE: Final = 20.0
"""Seconds for requests in progress when the worker is stopped; unfinished ones then return to the queue."""

AGAIN: Final = 2.0  # seconds between two attempts to open an unavailable store
LOOK: Final = 5.0  # seconds between two checks whether the sources file has changed


@dataclass(slots=True)
class WorkerExit:
    """Why the process ends: ``reported`` already (a signal), an error (``broken``), or a restart with a new sources file (``changed``)."""

    reported: bool = False
    changed: bool = False
    broken: str | None = None


def worker(
    spiders: Annotated[list[str] | None, typer.Option("--spider", help=f"Only this one; repeatable: {', '.join(crawl.SPIDERS)}.")] = None,
    sources: SourcesFile = None,
    log_level: LogLevel = "WARNING",
    log_file: LogFile = None,
    log_format: LogFormat = "text",
) -> None:
    """Crawl due sources, together with other workers, until SIGTERM or Ctrl-C."""
    if unknown := set(spiders or ()) - set(crawl.SPIDERS):
        raise typer.BadParameter(f"no spider {min(unknown)!r}; there are: {', '.join(crawl.SPIDERS)}", param_hint="--spider")
    console = Console(emoji=False, highlight=False, markup=False, soft_wrap=True)
    config = load(sources)
    selected = tuple(name for name in crawl.SPIDERS if name in spiders) if spiders else crawl.select_spiders(None, None, None, config)
    if word := hints.packaged_file_hint(config):
        console.print(word)
    number = hints.counted(sum(source.enabled for source in config.all()), "source")
    queue = "in Redis, shared with other machines" if config.frontier.redis else "on this machine's disk"
    name = f"{platform.node() or 'localhost'}:{os.getpid()}"
    console.print(f"worker {name}: {', '.join(selected)}; {number}, the queue is {queue}; Ctrl-C to stop")
    if not await_store(config, console):
        return
    options = crawl.CrawlOptions(selected, due=True, sources_file=sources, log_level=log_level, log_file=log_file, log_format=log_format)
    ending = run(options, config, console)
    if ending.changed:
        console.print("sources.yaml has changed: the worker restarts")
        sys.stdout.flush()
        os.execv(sys.executable, [sys.executable, "-m", "newsportal", *sys.argv[1:]])  # noqa: S606 - our own command
    if ending.broken:
        raise NewsportalError(f"{ending.broken}; start the worker again, nothing is lost")
    console.print("the worker has stopped; its requests in progress went back to the queue")


def await_store(sources: Sources, console: Console) -> bool:
    """Wait until the store can be opened. Return False if stopped meanwhile. Raises ``StoreError`` for permanent errors."""
    stopped, waiting = threading.Event(), False
    before = {sign: signal.signal(sign, lambda *_: stopped.set()) for sign in (signal.SIGTERM, signal.SIGINT)}
    try:
        while not stopped.is_set():
            try:
                open_store(sources.store).close()
            except StoreUnavailable as error:
                if not waiting:
                    console.print(f"the worker waits for its store: {error}")
                waiting = True
                stopped.wait(AGAIN)
            else:
                break
        return not stopped.is_set()  # also if it was stopped while the store was being opened
    finally:
        for sign, handler in before.items():
            signal.signal(sign, handler)


@crawl.without_garbage_collection()
def run(options: crawl.CrawlOptions, sources: Sources, console: Console) -> WorkerExit:
    """Run the spiders until they are stopped. Raises ``NewsportalError``."""
    from scrapy.crawler import AsyncCrawlerProcess

    class Process(AsyncCrawlerProcess):  # Scrapy's waits without limit for requests in progress
        def _signal_shutdown(self, signum: int, frame: Any) -> None:
            from twisted.internet import reactor

            ending.reported = True
            super()._signal_shutdown(signum, frame)
            reactor.callFromThread(reactor.callLater, PATIENCE, self._stop_reactor)

    ending = WorkerExit()
    process = Process(options.begin(NEWSPORTAL_STANDING=True))
    for name in options.spiders:
        process.crawl(process.create_crawler(name), **options.arguments(name)).add_done_callback(partial(on_spider_end, ending, name))
    if sources.path is not None and sources.path.exists():
        file = SourcesReloader(options.sources_file, sources, console.print, copies=False)
        threading.Thread(target=watch, args=(file, ending), daemon=True, name="sources").start()
    publisher = Publisher(sources, console.print)
    publisher.start()
    crawl.collect_new_objects()
    process.start()
    publisher.stop()
    return_leases(process)
    return ending


def on_spider_end(ending: WorkerExit, spider: str, done: asyncio.Future[None]) -> None:
    """Handle the end of a spider. Unless it was stopped, that is a failure: the worker exits, for a supervisor to restart it."""
    if ending.reported:
        return
    error = None if done.cancelled() else done.exception()
    detail = f": {type(error).__name__}: {error}" if error is not None else ", see the log"
    ending.reported, ending.broken = True, f"spider {spider} broke off{detail}"
    os.kill(os.getpid(), signal.SIGTERM)


def watch(file: SourcesReloader, ending: WorkerExit) -> None:
    """Watch the sources file; restart the worker with a valid new one."""
    while not ending.reported:
        time.sleep(LOOK)
        if file.reload() and not ending.reported:
            ending.reported = ending.changed = True
            os.kill(os.getpid(), signal.SIGTERM)


def return_leases(process: AsyncCrawlerProcess) -> None:
    """Return unfinished leases to the queue, and end the process at once, without waiting for threads that hang."""
    from newsportal.crawl.scheduler import scheduler_of

    running = [crawler for crawler in process.crawlers if crawler.crawling and crawler.engine is not None]
    if not running:
        return
    for crawler in running:
        if (scheduler := scheduler_of(crawler)) is not None and scheduler.feeder is not None and scheduler.feeder.queue is not None:
            scheduler.feeder.queue.leave()
    sys.stdout.flush()
    os._exit(0)
