"""Photo stories (套图): ``scrapy crawl gallery [-a source=NAME]``. Index pages are watched, stories read page by page (paper C, 2.1, 2.2).

Every page is stored at once, in any order, so a killed crawl loses none; the next one fetches only the missing ones.
"""

import asyncio
from collections.abc import AsyncIterator, Sequence
from functools import cached_property
from typing import Any, Final

from scrapy.http import Request, Response

from newsportal.crawl.link_tracker import utcnow
from newsportal.crawl.list_filters import NO_PICTURES, filter_galleries, refuse_story
from newsportal.crawl.requests import can_request
from newsportal.dedup.canonical import identity
from newsportal.errors import NotApplicable
from newsportal.extractors import gallery
from newsportal.extractors.gallery.page import GalleryEntry, find_entries
from newsportal.extractors.lists import hub
from newsportal.extractors.lists.pagination import is_front_page
from newsportal.extractors.pages import read_gallery
from newsportal.items import Gallery, GalleryPage, Link, Page
from newsportal.logs import warned
from newsportal.sources import Gallery as Source
from newsportal.spiders.base import NewsSpider, logger
from newsportal.spiders.command_line import SAMPLE
from newsportal.spiders.fetcher import PageUnavailable, page_of
from newsportal.spiders.image_fetcher import StoryImages, image_bytes
from newsportal.spiders.multipage import fetch_pages
from newsportal.spiders.photo_story import Guesses, StoryVisit
from newsportal.store.results import SourceState
from newsportal.text import dom

MAX_SECONDS: Final = 600.0  # Time limit for further pages of a story in this visit; the next one continues


class GallerySpider(NewsSpider):
    """Visits index pages by their weight, and each story until it is complete or its missing pages are given up."""

    name = "gallery"
    kind = "gallery"
    places = "galleries"
    settled = False

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self._listed = self.values_by_visit(set[str])  # pagers contain cycles, and link to earlier pages as well
        self._guesses = self.values_by_visit(Guesses)

    @cached_property
    def images(self) -> StoryImages:
        return StoryImages(self.tracker, image_bytes(self.crawler, self.fetch))

    # index pages

    def entry_pages(self, source: Source) -> Sequence[str]:
        return source.seeds

    def sample(self, response: Response) -> Source:
        return Source(name=SAMPLE, seeds=(response.url,))

    def read_links(self, response: Response, source: Source) -> list[Link | str]:
        return [_link(entry, source) for entry in _index(page_of(response), source.seed, source.banned_seed)[0]]

    def read_page(self, page: Page, link: Link) -> Gallery:
        return read_gallery(page, link)

    async def visit(self, source: Source, state: SourceState) -> AsyncIterator[Request]:
        requested = self._listed[source.key]
        for url in source.seeds:
            if identity(url) not in requested:
                requested.add(identity(url))
                yield self.list_page(url, source, self.parse_index, state=state, page=1)

    async def parse_index(self, response: Response, source: Source, page: int) -> AsyncIterator[Any]:
        found, more = await self.tracker.readers.read(_index, page_of(response), source.seed, source.banned_seed)
        requested = self._listed[source.key]
        requested.add(identity(response.url))  # a redirect may have led there
        links = [_link(entry, source) for entry in found if identity(entry.url) not in requested]
        new = await filter_galleries(self.tracker, links, self, lambda link: self.first_request(link.url, link, source, requested=link.url))
        for request in new.requests:
            yield request
        following = next((url for url in more if identity(url) not in requested and can_request(url)), None)
        if following and page < source.pages and (not new.stale or source.key in self.thorough):
            requested.add(identity(following))
            yield self.list_page(following, source, self.parse_index, page=page + 1)
        if not found and page == 1:
            hint = f"no link contains {source.seed!r}" if source.seed else "no link looks like a photo story; seed: is a part of their URLs"
            raise NotApplicable("no-galleries", hint)

    # stories

    async def accept(self, requests: Sequence[Request]) -> list[Request | None]:
        """Stories continue where they were: stored pages are not fetched again."""
        return [request if request is None else await self._resume(request) for request in await super().accept(requests)]

    async def _resume(self, request: Request) -> Request:
        """Return the first request of a visit: the first page, or a missing page of a story in progress."""
        link, source = request.cb_kwargs.get("link"), request.cb_kwargs.get("source")
        if link is None or source is None:
            return request
        urls: list[str] = []
        with warned(logger, "%s is requested from its first page", request.url, url=request.url):
            reading = await self.story_visit(source, link)
            first = [] if any(identity(page.url) == identity(link.url) for page in reading.pages) else [link.url]
            urls = [*first, *reading.next_urls()]
        return self.first_request(urls[0], link, source, requested=urls[0]) if urls else request

    async def story_visit(self, source: Source, link: Link) -> StoryVisit:
        """Return a story at the beginning of its visit, in any process. Raises ``StoreError``."""
        reading = StoryVisit(link, source, guesses=self._guesses[source.key])
        if pages := await asyncio.to_thread(self.tracker.store.galleries.pages, reading.name):
            await asyncio.to_thread(reading.begin, pages)
        return reading

    async def read_item(self, first: Response | PageUnavailable, link: Link, *, source: Source, requested: str) -> Gallery | None:  # type: ignore[override]
        async def fetch(url: str) -> GalleryPage:
            response = first if url == requested else await self.fetch(url, source.key)
            if isinstance(response, PageUnavailable):
                raise response
            self._count(reading)
            page: GalleryPage = await self.tracker.readers.read(_read, page_of(response), None if reading.pages else link, url)
            pages = list(reading.pages)
            reason = gallery.end_reason(page, pages, requested=url)
            if reason is None and reading.guess is not None and pages and not gallery.is_same_story_page(page, pages):
                reason = "another-story"
            if reason is not None:
                raise NotApplicable(reason, response.url)
            return page

        reading = await self.story_visit(source, link)
        if isinstance(first, Response) and not reading.pages and await self._is_stored_elsewhere(first.url, reading):
            return None
        reading.open = [requested, *(url for url in reading.open if url != requested)]
        await fetch_pages(reading, fetch, MAX_SECONDS, lambda: self._store_pages(reading))
        if reading.pages:
            self._count(reading)
            with warned(logger, "%s is assembled without the pages stored by other workers", link.url, url=link.url):
                reading.merge(await asyncio.to_thread(self.tracker.store.galleries.pages, reading.name))
            return await self.images.complete(await asyncio.to_thread(reading.story))
        # not even the first page could be read; an index page among stories is counted and skipped
        outcome = next(iter(reading.failed.values()), None)
        if outcome is not None:
            await self.tracker.fail(reading.link, outcome.reason, later=outcome.transient)
        else:
            await refuse_story(self.tracker, reading.link, next(iter(reading.ended.values()), NO_PICTURES))
        return None

    async def _is_stored_elsewhere(self, url: str, reading: StoryVisit) -> bool:
        """Return whether the first page redirects to a stored story, and settle the link if so. Raises ``StoreError``."""
        other = identity(url)
        if other == reading.name or not await asyncio.to_thread(self.tracker.stored_urls.find_stored, [other]):
            return False
        if reading.name in await asyncio.to_thread(self.tracker.stored_urls.find_stored, [reading.name]):
            return False  # it is the same story, with missing pages
        await asyncio.to_thread(self.tracker.stored_urls.add_aliases, [reading.name], other)
        await self.tracker.settle(reading.link, "same")
        return True

    async def _store_pages(self, reading: StoryVisit) -> None:
        """Store the pages at once, unless the story is complete or has a single page: then it is stored in a moment."""
        if reading.is_complete or (len(reading.pages) == 1 and not reading.open and not reading.pending):
            return
        with warned(logger, "pages of %s could not be stored before it is complete", reading.link.url, url=reading.link.url):
            for page in [page for page in reading.pages if page.url not in reading.stored_urls]:
                reading.stored_urls.add(page.url)
                await asyncio.to_thread(self.tracker.store.galleries.put_page, reading.name, page, now=utcnow())

    def _count(self, reading: StoryVisit) -> None:
        """Count a story as one entry, however many pages it has."""
        if not reading.counted:
            reading.counted = True
            self.tracker.count(reading.source.key, "fetched")


def _index(page: Page, seed: str | None, banned: Sequence[str]) -> tuple[list[GalleryEntry], list[str]]:
    document = dom.document(page)
    return find_entries(document, page.fetched, seed=seed, banned=banned), hub.next_pages(document)


def _link(entry: GalleryEntry, source: Source) -> Link:
    return Link(entry.url, source.key, entry.title, entry.summary, source.publisher, entry.published, category=source.category)


def _read(page: Page, link: Link | None, requested: str) -> GalleryPage:
    """Read a page of a story; ``link``: of the first page received. Raises ``NotApplicable`` for any other page."""
    if is_front_page(page.url) and not is_front_page(requested):
        raise NotApplicable("front-page", f"{requested} leads to {page.url}")
    return gallery.read(dom.document(page), link=link, now=page.fetched)
