"""``newsportal crawl``: crawl the sources of sources.yaml into the store, and print the run report."""

from __future__ import annotations

import asyncio
import gc
import logging
import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import scrapy.core.downloader.contextfactory  # noqa: F401  (its deprecated names search all loaded modules: few by now)
import typer
from rich.console import Console
from rich.live import Live
from rich.table import Table

from newsportal import logs
from newsportal.cli import GC_THRESHOLDS, hints
from newsportal.cli.options import LogFile, LogFormat, LogLevel, SourcesFile, load
from newsportal.cli.output import make_table, print_json
from newsportal.errors import FrontierRefused, NewsportalError
from newsportal.items import report
from newsportal.items.report import sum_reports
from newsportal.sources import Sources
from newsportal.sources.timing import SPIDERS as VISITING_SPIDERS
from newsportal.sources.timing import visited_sources

if TYPE_CHECKING:
    from scrapy.crawler import Crawler
    from scrapy.settings import Settings

SPIDERS = ("metasearch", *VISITING_SPIDERS.values())  # run when no spider is named

FAILED_REASONS = frozenset(
    {"store-unavailable", "frontier-failed", "queue-unavailable", "start-failed", "archive-failed", "unknown-source", "unknown-topic"}
)  # reasons that count as failures: exit status 1, after the report


@dataclass(frozen=True, slots=True)
class CrawlOptions:
    spiders: tuple[str, ...]
    topic: str | None = None
    source: str | None = None
    due: bool = False
    sources_file: Path | None = None
    replay: Path | None = None
    archive: Path | None = None
    log_level: str = "WARNING"
    log_file: Path | None = None
    log_format: str = "text"
    run_id: str | None = None

    def settings(self) -> dict[str, Any]:
        files = {"SOURCES": self.sources_file, "REPLAY": self.replay, "ARCHIVE": self.archive}
        values = {f"NEWSPORTAL_{name}": str(path.absolute()) for name, path in files.items() if path is not None}
        values |= {"NEWSPORTAL_RUN_ID": self.run_id} if self.run_id is not None else {}
        return {"LOG_LEVEL": self.log_level, "LOG_INSTALL_ROOT_HANDLER": False} | values

    def begin(self, **further: Any) -> Settings:
        """Return the project's settings with these and ``further`` ones, and set up logging in place of Scrapy's handler, which supports no
        other format and no rotation. Raises ``LogUnavailable``."""
        os.environ.setdefault("SCRAPY_SETTINGS_MODULE", "newsportal.settings")
        from scrapy.utils.log import TopLevelFormatter
        from scrapy.utils.project import get_project_settings

        settings = get_project_settings()
        settings.setdict(self.settings() | further, priority="cmdline")
        handler = logs.install(self.log_format, self.log_file)
        handler.setLevel(self.log_level)
        handler.addFilter(TopLevelFormatter(["scrapy"]))
        logging.getLogger().setLevel(logging.NOTSET)
        return settings

    def arguments(self, spider: str) -> dict[str, str]:
        found = {"source": self.source, "due": "1" if self.due else None, "topic": self.topic if spider == "metasearch" else None}
        return {name: value for name, value in found.items() if value is not None}


@contextmanager
def without_garbage_collection() -> Iterator[None]:
    """Disable garbage collection until :func:`collect_new_objects` enables it: imported objects are permanent. Restore it afterwards."""
    thresholds = gc.get_threshold()
    gc.disable()
    try:
        yield
    finally:
        gc.set_threshold(*thresholds)
        gc.enable()


def collect_new_objects() -> None:
    """Enable garbage collection for objects loaded from now on: with all of them it took a seventh of a crawl's CPU time."""
    gc.freeze()
    gc.enable()
    gc.set_threshold(*GC_THRESHOLDS)


@without_garbage_collection()
def run(options: CrawlOptions, *, progress: bool = False) -> report.Run:
    """Run the spiders in this process until they end; return one report for all. Raises ``NewsportalError``."""
    from scrapy.crawler import AsyncCrawlerProcess

    process = AsyncCrawlerProcess(options.begin())
    crawlers = [process.create_crawler(name) for name in options.spiders]
    failures: list[BaseException] = []

    def note(done: asyncio.Future[None]) -> None:
        if not done.cancelled() and (error := done.exception()) is not None:
            failures.append(error)

    for crawler, name in zip(crawlers, options.spiders, strict=True):
        process.crawl(crawler, **options.arguments(name)).add_done_callback(note)
    live = Live(
        get_renderable=lambda: progress_table(crawlers), console=Console(stderr=True, emoji=False), refresh_per_second=2, transient=True
    )
    with live if progress else nullcontext():
        collect_new_objects()
        process.start()
    for failure in failures:
        if isinstance(failure, NewsportalError):
            raise failure
        raise NewsportalError(f"the crawl failed: {type(failure).__name__}: {failure}") from failure
    for crawler in crawlers:
        if crawler.stats is not None and (reason := crawler.stats.get_value("frontier/refused")):
            raise FrontierRefused(reason)
    from newsportal.crawl.extensions import RunReport

    merged = report.merge_runs([extension.run for crawler in crawlers if (extension := crawler.get_extension(RunReport)) is not None])
    return merged if len(crawlers) > 1 else replace(merged, id=merged.id.rsplit("-", 1)[0])


def failure_reasons(run: report.Run) -> list[str]:
    """Return the reasons why a run failed; empty if it finished or was stopped by the user."""
    return sorted(FAILED_REASONS.intersection((run.reason or "").split(", ")))


def select_spiders(spider: str | None, topic: str | None, source: str | None, sources: Sources) -> tuple[str, ...]:
    """Return the spiders to run. Raises ``typer.BadParameter`` for a name that is not in sources.yaml."""
    if spider is not None and spider not in SPIDERS:
        raise typer.BadParameter(f"no spider {spider!r}; there are: {', '.join(SPIDERS)}")
    if topic is not None and topic not in (names := [item.name for item in sources.topics if item.enabled]):
        raise typer.BadParameter(f"sources.yaml has no enabled topic {topic!r}; it has: {', '.join(names) or 'none'}", param_hint="--topic")
    spider = spider or ("metasearch" if topic is not None else None)
    if source is not None:
        return (spider_of(source, sources, spider),)
    if spider is not None:
        return (spider,)
    used = {visited.spider for visited in visited_sources(sources)}
    return tuple(name for name in SPIDERS if name in used) or ("rss",)


def spider_of(source: str, sources: Sources, spider: str | None = None) -> str:
    """Return the spider that visits this source, or ``spider`` if that one does. Raises ``typer.BadParameter``."""
    possible = [visited for visited in visited_sources(sources) if spider in (None, visited.spider)]
    for visited in possible:
        if source in (visited.key, visited.key.partition(":")[2]):
            return visited.spider
    names = ", ".join(visited.key.partition(":")[2] for visited in possible) or "none"
    text = f"sources.yaml has no enabled source {source!r}{f' of the spider {spider}' if spider else ''}; it has: {names}"
    raise typer.BadParameter(text, param_hint="--source")


def crawl(
    spider: Annotated[str | None, typer.Argument(help=f"One of {', '.join(SPIDERS)}; default: all with work.")] = None,
    topic: Annotated[str | None, typer.Option(help="Only this topic.")] = None,
    source: Annotated[str | None, typer.Option(help="Only this source.")] = None,
    once: Annotated[bool, typer.Option("--once", help="Visit every source, due or not (default).")] = False,
    due: Annotated[bool, typer.Option("--due", help="Visit only sources that are due.")] = False,
    sources: SourcesFile = None,
    replay: Annotated[Path | None, typer.Option(help="Replay this WARC file instead of using the network.")] = None,
    archive: Annotated[Path | None, typer.Option(help="Write all responses to this WARC file.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the run report as one line of JSON.")] = False,
    log_level: LogLevel = "WARNING",
    log_file: LogFile = None,
    log_format: LogFormat = "text",
    run_id: Annotated[str | None, typer.Option(help="Id of the run report; default: random.")] = None,
) -> None:
    """Crawl into the store, and print the run report."""
    if once and due:
        raise typer.BadParameter("--once and --due exclude each other")
    config = load(sources)
    names = select_spiders(spider, topic, source, config)
    options = CrawlOptions(names, topic, source, due, sources, replay, archive, log_level, log_file, log_format, run_id)
    if not as_json and (word := hints.packaged_file_hint(config)):
        typer.echo(word, err=True)
    result = run(options, progress=sys.stderr.isatty() and not as_json)
    if as_json:
        print_json(report.to_dict(result))
    else:
        typer.echo("\n".join((report.table(result), *hints.hints_after_crawl(result, config))))
    if config.publish:
        from newsportal.cli.publish import publish_after_crawl

        publish_after_crawl(config, lambda line: typer.echo(line, err=True))
    if broken := failure_reasons(result):
        raise NewsportalError(f"the crawl failed: {', '.join(broken)}; fix the cause and run it again: nothing is lost")


def progress_table(crawlers: Sequence[Crawler]) -> Table:
    """Return the spiders' current counters, one row each."""
    from newsportal.crawl.extensions import RunReport

    columns = {"list pages": "list_pages", **{name: name for name in ("entries", "new", "fetched", "stored", "folded")}}
    columns |= {"failed": "failures", "to go": "left"}
    rows = []
    for crawler in crawlers:
        try:
            extension = crawler.get_extension(RunReport)
        except RuntimeError:  # called before the crawler has created its extensions
            extension = None
        total = sum_reports("", extension.tracker.report() if extension is not None else ())
        rows.append((crawler.spidercls.name, *(getattr(total, name) for name in columns.values())))
    return make_table(("spider", *columns), rows, right=columns)
