"""Read lists and articles from archives as a crawl does. Arguments and results can be pickled, for other processes."""

import asyncio
import logging
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Final
from urllib.parse import urljoin

from newsportal.dedup.canonical import identity
from newsportal.errors import EngineBlocked, NotApplicable, ReplayError
from newsportal.extractors.lists import engines
from newsportal.items import Article, Link
from newsportal.net.archive import IndexPart
from newsportal.net.egress.decompress import TooLarge, decompress
from newsportal.pipelines.classify import ClassifyPipeline
from newsportal.pipelines.content import ContentPipeline, WrapperPipeline
from newsportal.processing.tracker import ArchiveTracker, Shared
from newsportal.services.exchange.form import UNNAMED
from newsportal.sources import Feed, HotList, Region, Sitemap, use_custom_words
from newsportal.spiders.fetcher import ArchivedResponse, Outcome, PageUnavailable
from newsportal.spiders.hub import HubSpider
from newsportal.spiders.lists import ListsSpider
from newsportal.spiders.metasearch import MetasearchSpider, Search
from newsportal.spiders.multipage import ArticleFetcher
from newsportal.spiders.pages import textual_page
from newsportal.spiders.rss import RssSpider
from newsportal.spiders.sitemap import SitemapSpider

logger = logging.getLogger(__name__)

MAX_REDIRECTS: Final = 20  # as many as a crawl follows
MISSING: Final = "replay-missing"  # the reason for pages missing from the archive
SPIDERS: Final[Any] = {Feed: RssSpider, Sitemap: SitemapSpider, HotList: ListsSpider}

ListSource = Feed | Sitemap | Region | HotList | str  # a source with list pages, or the name of an engine


class Answers:
    """Responses of an archive by URL, after redirects, as in a crawl."""

    def __init__(self, part: IndexPart, max_bytes: int) -> None:
        self.file = part.path
        self._index = part.open()
        self._max_bytes = max_bytes

    def close(self) -> None:
        self._index.close()

    async def __call__(self, url: str, source: str = "") -> ArchivedResponse:
        """Implement a crawl's ``Fetcher``. Raises ``PageUnavailable``."""
        return self.get(url)

    def get(self, url: str) -> ArchivedResponse:
        """Raises ``PageUnavailable``."""
        for _ in range(MAX_REDIRECTS + 1):
            try:
                found = self._index.get(url, self._max_bytes)
            except ReplayError as error:
                raise PageUnavailable(Outcome("archive", str(error))) from error
            if found is None:
                raise PageUnavailable(Outcome(MISSING, url))
            headers = {name.lower(): value for name, value in found.headers}
            if found.status // 100 == 3 and "location" in headers:
                url = urljoin(url, headers["location"].strip())
                continue
            if found.status // 100 != 2:
                raise PageUnavailable(Outcome(f"http-{found.status}", url))
            if found.truncated:
                raise PageUnavailable(Outcome("too-large", url))
            try:
                body = decompress(found.body, headers.get("content-encoding", ""), self._max_bytes)
            except TooLarge as error:
                raise PageUnavailable(Outcome("too-large", url)) from error
            except ValueError:  # not compressed: some crawlers keep the header
                body = found.body
            response = ArchivedResponse(url, found.status, {"Content-Type": headers.get("content-type", "")}, body)
            response.fetched = found.when
            return response
        raise PageUnavailable(Outcome("redirects", url))


@contextmanager
def answers(shared: Shared, part: IndexPart) -> Iterator[Answers]:
    opened = Answers(part, shared.sources.politeness.max_size)
    try:
        yield opened
    finally:
        opened.close()


@dataclass(frozen=True, slots=True)
class ListTask:
    """A list page of a source, or of a search engine (by its name) that was queried for ``topic``."""

    part: IndexPart
    url: str
    source: ListSource
    topic: str | None = None


@dataclass(frozen=True, slots=True)
class ListRead:
    """Contents of a list page: ``links`` to articles, ``further`` list pages, time of fetching."""

    links: tuple[Link, ...] = ()
    further: tuple[str, ...] = ()
    fetched: datetime | None = None


def read_lists(shared: Shared, tasks: Sequence[ListTask]) -> list[ListRead]:
    return [_read_list(shared, task) for task in tasks]


def _read_list(shared: Shared, task: ListTask) -> ListRead:
    """Read a list page; empty for any other page."""
    with answers(shared, task.part) as found:
        try:
            response = found.get(task.url)
            links, further = _links_of(shared, task, response)
        except (PageUnavailable, NotApplicable, EngineBlocked):
            return ListRead()
        except Exception:
            logger.exception("reading failed on %s", task.url, extra={"url": task.url})
            return ListRead()
    return ListRead(tuple(links), tuple(further), response.fetched)


def _links_of(shared: Shared, task: ListTask, response: ArchivedResponse) -> tuple[list[Link], list[str]]:
    source = task.source
    if isinstance(source, str):
        declared = shared.sources.engine(source)
        search = Search(declared.built() if declared else engines.load_engine(source), ())
        return [replace(link, topic=task.topic) for link in MetasearchSpider().read_links(response, search) if isinstance(link, Link)], []
    if isinstance(source, Region):
        return HubSpider().read_list(response, source)
    entries = list(SPIDERS[type(source)]().read_links(response, source))
    return [item for item in entries if isinstance(item, Link)], [item for item in entries if isinstance(item, str)]


@dataclass(frozen=True, slots=True)
class Job:
    """An article to read. ``url`` ``None``: its page is missing; the list contains its text."""

    link: Link
    url: str | None
    fetched: datetime


@dataclass(frozen=True, slots=True)
class ReadTask:
    """Articles of an archive: a tuple per site, in the order of fetching."""

    part: IndexPart
    sites: tuple[tuple[Job, ...], ...]


@dataclass(frozen=True, slots=True)
class ReadPage:
    """The result for a page of ``file``: an article, or the reason why there is none."""

    file: str
    url: str
    article: Article | None = None
    reason: str | None = None


def read_articles(shared: Shared, task: ReadTask) -> list[ReadPage]:
    """Read and classify articles, by the source's own rule or without templates."""
    with answers(shared, task.part) as found:
        return asyncio.run(_read_sites(shared, task, found))


async def _read_sites(shared: Shared, task: ReadTask, found: Answers) -> list[ReadPage]:
    """Read site by site: what is learned of a site comes from its own earlier pages, independent of the other sites."""
    return [page for jobs in task.sites for page in await SiteReader(shared, found).read(jobs)]


_CLASSIFIERS: list[tuple[Shared, ClassifyPipeline]] = []


def _classifier(shared: Shared) -> ClassifyPipeline:
    """Return this process's classifier with the words of sources.yaml; its tables are loaded once."""
    if not _CLASSIFIERS or _CLASSIFIERS[0][0] is not shared:
        use_custom_words(shared.sources)
        _CLASSIFIERS[:] = [(shared, ClassifyPipeline(ArchiveTracker(shared).as_of_crawl()))]
    return _CLASSIFIERS[0][1]


class SiteReader:
    def __init__(self, shared: Shared, found: Answers) -> None:
        tracker = ArchiveTracker(shared).as_of_crawl()
        self._found, self._fetcher = found, ArticleFetcher(tracker, found)
        self._stages = (WrapperPipeline(tracker), ContentPipeline(tracker))
        self._classifier = _classifier(shared)
        self._joined: set[str] = set()  # further pages of articles that were read already

    async def read(self, jobs: tuple[Job, ...]) -> list[ReadPage]:
        read = []
        for job in jobs:
            url = job.url or job.link.url
            if job.link.source == UNNAMED and identity(url) in self._joined:
                continue
            try:
                read.append(ReadPage(self._found.file, url, await self._article(job)))
            except PageUnavailable as error:
                read.append(ReadPage(self._found.file, url, reason=error.outcome.reason))
            except NotApplicable as error:
                read.append(ReadPage(self._found.file, url, reason=error.reason))
            except Exception as error:  # log the page that fails and continue
                logger.exception("reading failed on %s", url, extra={"url": url})
                read.append(ReadPage(self._found.file, url, reason=f"error: {type(error).__name__}"))
        return read

    async def _article(self, job: Job) -> Article:
        article = await self._fetched(job)
        for stage in self._stages:
            article = await stage.process(article)
        self._joined.update(map(identity, article.pages))
        return self._classifier.classified(replace(article, page=None))

    async def _fetched(self, job: Job) -> Article:
        """Return the article with its pages; the text of its feed entry if there is no page."""
        try:
            if job.url is not None:
                page = textual_page(self._found.get(job.url))
                return await self._fetcher.complete(Article(page.url, job.link, page.fetched, page=page))
        except PageUnavailable:
            if not job.link.content:
                raise
        return Article(job.link.url, job.link, job.fetched)
