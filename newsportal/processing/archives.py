"""Scan archives, read their list pages, and divide the articles in them into tasks, which are the same on every machine."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import Final
from urllib.parse import urljoin

from newsportal.crawl.requests import is_entry
from newsportal.dedup.canonical import identity, site_of
from newsportal.errors import ReplayError
from newsportal.extractors.lists import engines
from newsportal.items import Link
from newsportal.net.archive import IndexPart, Metadata, open_index, url_key
from newsportal.processing.mapping import Mapped
from newsportal.processing.reading import MAX_REDIRECTS, Job, ListSource, ListTask, ReadTask, read_lists
from newsportal.processing.tracker import Shared
from newsportal.services.exchange.form import UNNAMED
from newsportal.sources import Feed, HotList, Sitemap, Sources
from newsportal.store.dialects import chunks

PART_PAGES: Final = 50  # pages per task: a second or two
PART_LISTS: Final = 20  # list pages per task

SITE_PAGES: Final = 400
"""Pages of a site that are read in one task. Only the lines of its last eight pages are remembered, so a split costs little."""


@dataclass(frozen=True, slots=True)
class Archive:
    """The contents of a file. ``error``: why it cannot be read; ``warnings``: truncated records."""

    path: str
    answers: dict[str, Metadata] = field(default_factory=dict)
    index: IndexPart | None = None
    warnings: tuple[str, ...] = ()
    error: str | None = None

    def trail(self, url: str) -> list[str]:
        """Return the URLs from this one through its redirects to the final response; empty if one is missing."""
        found: list[str] = []
        while (answer := self.answers.get(url_key(url))) is not None and len(found) <= MAX_REDIRECTS:
            found.append(url)
            if answer.status // 100 != 3 or not answer.location:
                return found
            try:
                url = urljoin(url, answer.location.strip())
            except ValueError:
                return []
        return []

    def part(self, urls: Sequence[str]) -> IndexPart:
        assert self.index is not None
        return self.index.part(urls)


def scan(shared: Shared, path: str) -> Archive:
    try:
        with open_index(path) as index:
            return Archive(path, dict(index.answers), index.part(index.urls()), index.warnings)
    except ReplayError as error:
        return Archive(path, error=str(error))
    except OSError as error:
        return Archive(path, error=f"{path}: {error.strerror or error}")


@dataclass(frozen=True, slots=True)
class Plan:
    """``pages``: number of pages to read; ``lists``: list pages read; ``missing``: pages linked there that no archive contains."""

    tasks: tuple[ReadTask, ...]
    pages: int
    lists: int
    missing: int


class Planner:
    """Determines the pages to read. ``listed_only``: only those linked from list pages in the archives."""

    def __init__(self, shared: Shared, archives: Sequence[Archive], mapped: Mapped, *, listed_only: bool = False) -> None:
        self._shared, self._mapped, self._listed_only = shared, mapped, listed_only
        self._archives = [archive for archive in archives if archive.index is not None]
        self._lists: set[str] = set()
        self._links: dict[str, Link] = {}  # by the identity of the final response
        self._unpaged: list[Job] = []  # articles with their text in a list
        self._missing = 0

    def plan(self) -> Plan:
        self._read_lists()
        tasks = [
            task for number, archive in enumerate(self._archives) for task in self._tasks(archive, self._unpaged if not number else ())
        ]
        pages = sum(len(jobs) for task in tasks for jobs in task.sites)
        return Plan(tuple(tasks), pages, len(self._lists), self._missing)

    def _read_lists(self) -> None:
        """Read the list pages of the sources, and those linked from them, as far as they are archived."""
        tasks = [task for url, source, topic in entry_pages(self._shared.sources) if (task := self._list(url, source, topic)) is not None]
        linked: dict[str, tuple[Link, Job]] = {}
        while tasks:
            further = []
            parts = list(chunks(tasks, PART_LISTS))
            for task, read in zip(tasks, chain.from_iterable(self._mapped(read_lists, parts)), strict=True):
                for link in read.links:
                    assert read.fetched is not None
                    linked.setdefault(link.identity or identity(link.url), (link, Job(link, None, read.fetched)))
                further += [found for url in read.further if (found := self._list(url, task.source, task.topic)) is not None]
            tasks = further
        for link, job in linked.values():
            trail = [] if is_entry(link) else next((urls for archive in self._archives if (urls := archive.trail(link.url))), [])
            if trail:
                self._links.setdefault(identity(trail[-1]), link)
            elif is_entry(link) or link.content:
                self._unpaged.append(job)
            else:
                self._missing += 1

    def _list(self, url: str, source: ListSource, topic: str | None) -> ListTask | None:
        """Return the task of a list page; ``None`` if it is missing or already planned."""
        for archive in self._archives:
            if trail := archive.trail(url):
                if url_key(trail[-1]) in self._lists:
                    return None
                self._lists.add(url_key(trail[-1]))
                return ListTask(archive.part(trail), url, source, topic)
        return None

    def _tasks(self, archive: Archive, unpaged: Sequence[Job]) -> Iterator[ReadTask]:
        assert archive.index is not None
        names: dict[str | None, list[str]] = {}
        jobs: dict[str | None, list[Job]] = {}
        for answer in archive.answers.values():
            site = site_of(answer.url)
            names.setdefault(site, []).append(answer.url)
            if (job := self._job(answer)) is not None:
                jobs.setdefault(site, []).append(job)
        for job in unpaged:
            jobs.setdefault(site_of(job.link.url), []).append(job)
        sites = [(site, group[start : start + SITE_PAGES]) for site, group in jobs.items() for start in range(0, len(group), SITE_PAGES)]
        most = len(sites) * SITE_PAGES if archive.index.one_stream else PART_PAGES  # one stream is decompressed again for every task
        chunk: list[tuple[str | None, list[Job]]] = []
        for number, entry in enumerate(sites, 1):
            chunk.append(entry)
            if number == len(sites) or sum(len(group) for _, group in chunk) >= most:
                part = archive.part([url for site in dict.fromkeys(site for site, _ in chunk) for url in names.get(site, ())])
                yield ReadTask(part, tuple(tuple(group) for _, group in chunk))
                chunk = []

    def _job(self, answer: Metadata) -> Job | None:
        """Return the job for a response that is not a list page: that of a link, of any type, else of an HTML page."""
        link = self._links.get(identity(answer.url))
        if url_key(answer.url) in self._lists or answer.status // 100 == 3:
            return None
        if link is None:
            if self._listed_only or answer.status // 100 != 2 or "html" not in answer.content_type.lower():
                return None
            link = Link(answer.url, UNNAMED)
        return Job(link, answer.url, answer.when)


def entry_pages(sources: Sources) -> Iterator[tuple[str, ListSource, str | None]]:
    """Yield the entry pages of all sources: URL, source, and the topic for which an engine is queried."""
    single: list[Feed | Sitemap | HotList] = [*sources.feeds, *sources.sitemaps, *(board for board in sources.lists if board.articles)]
    for source in single:
        if source.enabled:
            yield source.url, source, None
    for region in sources.regions:
        for url in (region.seeds or (region.prefix,)) if region.enabled else ():
            yield url, region, None
    for topic in sources.topics:
        for name in topic.engines if topic.enabled else ():
            declared = sources.engine(name)
            if declared is not None and not declared.enabled:
                continue
            engine = declared.built() if declared else engines.load_engine(name)
            pages = max(map(topic.breadth.pages, range(24))) if engine.has_pages else 1
            for query in topic.queries:
                for page in range(pages):
                    yield engine.request(query, page), name, topic.name
