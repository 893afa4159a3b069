"""A Scrapy add-on that turns ``sources.yaml`` into settings, so that ``scrapy crawl``, scrapyd and ``newsportal crawl`` agree.

The file overrides ``newsportal.settings`` and is overridden by the command line (``-s``). Also registers the items with ``itemadapter``,
for feed exports and third-party pipelines.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Self
from zoneinfo import ZoneInfo

from itemadapter import ItemAdapter
from itemadapter.adapter import AdapterInterface
from scrapy.utils.spider import DefaultSpider

from newsportal.items import Article, Gallery, Thread
from newsportal.messages import show_in
from newsportal.sources import Sources, load, use_custom_words
from newsportal.sources.loading import VARIABLE, packaged
from newsportal.sources.places import Place
from newsportal.sources.uris import mask

if TYPE_CHECKING:
    from scrapy import Request, Spider
    from scrapy.crawler import Crawler
    from scrapy.http import Response
    from scrapy.settings import BaseSettings

logger = logging.getLogger(__name__)

ABOVE_PROJECT = 25  # Scrapy's priorities: project 20, spider 30, command line 40
NO_DELAYS = {"DOWNLOAD_DELAY": 0, "CONCURRENT_REQUESTS_PER_DOMAIN": 16, "RETRY_ENABLED": False}  # a replay contacts no server

OPTIONAL_PARTS: Final = {
    "COOKIES_ENABLED": ("DOWNLOADER_MIDDLEWARES_BASE", "scrapy.downloadermiddlewares.cookies.CookiesMiddleware"),  # imports tldextract
    "REMOTE_CONTROL_ENABLED": ("EXTENSIONS_BASE", "scrapy.extensions.remote_control.RemoteControl"),  # imports aiohttp
}  # Switch -> what it is for: 200 modules, a tenth of a crawl's start. Scrapy imports what is named, even where the place is None

COMMANDS: Final = "scrapy.commands."
REJECTED: Final = frozenset({401, 403})  # statuses of a site that rejects the credentials

BENCH_SETTINGS: Final = {"NEWSPORTAL_ALLOW_PRIVATE": ["localhost"], **NO_DELAYS}  # Scrapy's own server on this machine

INTERNAL_FIELDS: Final = frozenset(
    "link page identity keys decision wrapped extraction topic_marks canonical later listed last_page inspected weight failure".split()
)
"""Fields of items for internal use by the stages."""


class SourcesAddon:
    """Loads the file of ``NEWSPORTAL_SOURCES`` (setting, environment), else a deployed egg's, else the nearest ``sources.yaml``."""

    sources: Sources
    spider: type[Spider] | None = None

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        addon = cls()
        addon.spider = crawler.spidercls
        return addon

    def update_settings(self, settings: BaseSettings) -> None:
        """Raises ``SourcesError`` with every error in the file."""
        path = settings.get("NEWSPORTAL_SOURCES")
        deployed = not path and settings.getbool("NEWSPORTAL_PACKAGED_SOURCES") and not os.environ.get(VARIABLE)
        self.sources = packaged() if deployed else load(Path(path) if path else None)
        file = "the sources file in the egg" if deployed else self.sources.path
        logger.info("%s; the store is %s", file, mask(self.sources.store))
        use_custom_words(self.sources)
        show_in(ZoneInfo(self.sources.portal.timezone))
        settings.update(scrapy_settings(self.sources), ABOVE_PROJECT)
        for switch, (kind, component) in OPTIONAL_PARTS.items():
            if not settings.getbool(switch):
                settings.set(kind, {name: at for name, at in settings.getdict(kind).items() if name != component}, ABOVE_PROJECT)
        if settings.get("NEWSPORTAL_REPLAY"):
            settings.update(NO_DELAYS, ABOVE_PROJECT)
        register()
        if self.spider is not None and is_single_page(self.spider):
            read_single_pages(settings)
            if self.spider.__module__.startswith(COMMANDS):
                settings.update(BENCH_SETTINGS, ABOVE_PROJECT)
        elif settings.get("JOBDIR"):
            logger.warning("JOBDIR is not used for requests: they are in the store, and each crawl resumes where the last one stopped")


def is_single_page(spider: type[Spider]) -> bool:
    """Return whether a Scrapy command for single pages (``parse``, ``check``, ``fetch``, ``shell``) replaced the spider's ``start``."""
    return issubclass(spider, DefaultSpider) or str(getattr(spider.start, "__module__", "")).startswith(COMMANDS)


def read_single_pages(settings: BaseSettings) -> None:
    """Leave the crawl's queue untouched, and report no run."""
    settings.set("SCHEDULER", "scrapy.core.scheduler.Scheduler", priority=ABOVE_PROJECT)
    settings.set("NEWSPORTAL_EXTRACTION_PROCESSES", 0, priority=ABOVE_PROJECT)
    extensions = {**settings.getdict("EXTENSIONS"), "newsportal.crawl.extensions.RunReport": None}
    settings.set("EXTENSIONS", extensions, priority=ABOVE_PROJECT)


def scrapy_settings(sources: Sources) -> dict[str, Any]:
    """Return the Scrapy settings that ``sources.yaml`` determines."""
    polite = sources.politeness
    settings: dict[str, Any] = {
        "DOWNLOAD_DELAY": polite.delay,
        "CONCURRENT_REQUESTS": polite.concurrency,
        "CONCURRENT_REQUESTS_PER_DOMAIN": polite.per_domain,
        "DOWNLOAD_TIMEOUT": polite.timeout,
        "USER_AGENT": sources.user_agent,
        "DOWNLOAD_MAXSIZE": polite.max_size,
        "NEWSPORTAL_ALLOW_PRIVATE": list(polite.allow_private),
        "ROBOTSTXT_OBEY": polite.obey_robots,
        "NEWSPORTAL_RENDERING": sources.rendering.model_dump(),
    }
    if sources.extraction.processes is not None:
        settings["NEWSPORTAL_EXTRACTION_PROCESSES"] = sources.extraction.processes
    if redis := sources.frontier.redis or sources.url_filter.redis:
        settings["REDIS_URL"] = redis
    if sources.replay:
        settings["NEWSPORTAL_REPLAY"] = str(sources.replay)
    if sources.archive:
        settings["NEWSPORTAL_ARCHIVE"] = str(sources.archive)
    return settings


class CrawlerComponent:
    """A component constructed from its crawler alone."""

    def __init__(self, crawler: Crawler) -> None:
        self._crawler = crawler

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        return cls(crawler)


class SignIns:
    """Credentials of the sources of one crawl, added just before a request is sent, so that queue, log and archive never contain them."""

    def __init__(self, crawler: Crawler) -> None:
        addon = crawler.get_addon(SourcesAddon)
        sources = addon.sources.all() if addon is not None else ()
        self._sources = {source.key: source for source in sources if isinstance(source, Place) and source.signs_in}

    def headers_of(self, request: Request) -> dict[str, str]:
        """Return the credential headers of this request; empty for other sources and other hosts than its source's."""
        source = self._sources.get(str(request.meta.get("source")))
        return source.sign_in(request.url) if source is not None else {}

    def is_refused(self, request: Request, response: Response, reason: str | None) -> bool:
        """Return whether the site rejects the credentials, by its status or by a login page (``reason`` ``login``)."""
        refused = response.status in REJECTED and bool(self.headers_of(request))
        return refused or (reason == "login" and request.meta.get("source") in self._sources)


class NewsItemAdapter(AdapterInterface):
    """Adapter of articles, threads and photo stories. Our stages replace these frozen items; here a field is set in place. ``source`` is
    the key of the source; ``image_urls`` is what Scrapy's ``ImagesPipeline`` downloads."""

    @classmethod
    def is_item_class(cls, item_class: type) -> bool:
        return issubclass(item_class, (Article, Thread, Gallery))

    @classmethod
    def get_field_names_from_class(cls, item_class: type) -> list[str]:
        return [*fields_of(item_class), "source", "image_urls"]

    def __getitem__(self, name: str) -> Any:
        if name == "source":
            return self.item.link.source
        if name == "image_urls":
            return [image.url for image in getattr(self.item, "images", ()) if image.dropped is None]
        if name not in fields_of(type(self.item)):
            raise KeyError(name)
        return getattr(self.item, name)

    def __setitem__(self, name: str, value: Any) -> None:
        if name not in fields_of(type(self.item)):
            raise KeyError(f"{type(self.item).__name__} has no field {name!r} that can be set")
        object.__setattr__(self.item, name, value)

    def __delitem__(self, name: str) -> None:
        raise KeyError(f"fields of {type(self.item).__name__} cannot be deleted: {name!r}")

    def __iter__(self) -> Iterator[str]:
        return iter(self.get_field_names_from_class(type(self.item)))

    def __len__(self) -> int:
        return len(self.get_field_names_from_class(type(self.item)))


def fields_of(item_class: type) -> list[str]:
    """Return the public fields of an item class."""
    return [field.name for field in fields(item_class) if field.name not in INTERNAL_FIELDS]


def register() -> None:
    """Register the items with ``itemadapter``; idempotent."""
    if NewsItemAdapter not in ItemAdapter.ADAPTER_CLASSES:
        ItemAdapter.ADAPTER_CLASSES = (NewsItemAdapter, *ItemAdapter.ADAPTER_CLASSES)
