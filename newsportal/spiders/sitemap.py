"""Sitemaps: ``scrapy crawl sitemap [-a source=NAME]``."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import Any
from urllib.parse import urlsplit

from scrapy.http import Request, Response

from newsportal.crawl.link_tracker import utcnow
from newsportal.crawl.requests import can_request
from newsportal.errors import NotApplicable
from newsportal.extractors.feeds import sitemap
from newsportal.extractors.feeds.sitemap import Selection, choose_children, choose_entries
from newsportal.extractors.feeds.xml_stream import MAX_BYTES
from newsportal.extractors.lists.hub import HubRules
from newsportal.items import Link, Page
from newsportal.messages import Message
from newsportal.sources import Sitemap
from newsportal.spiders.base import NewsSpider
from newsportal.spiders.fetcher import page_of
from newsportal.store.results import SourceState

MAX_DEPTH = 3  # Below the URL in the file: robots.txt, index, sitemap. sitemaps.org allows no nested indexes; some sites use them.
MAX_CHILDREN = 50  # Sitemaps of one source fetched by a visit: news sites have one for each day or month
BATCH = 500  # Entries looked up in the store at once
ENTRIES_SUFFIX = "#entries"  # suffix of a sitemap's URL in the validators, for the hash of its entries and the latest date of change


@dataclass
class VisitProgress:
    """Progress of the visit of one source: sitemaps requested, articles queued, and counts of skipped entries by reason."""

    requested: set[str] = field(default_factory=set)
    queued: int = 0
    skipped: Counter[str] = field(default_factory=Counter)


class SitemapSpider(NewsSpider):
    """Visits sitemaps with conditional GET, follows indexes, and queues new entries, the newest first."""

    name = "sitemap"
    kind = "sitemap"
    Source = Sitemap
    places = "sitemaps"

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self._progress = self.values_by_visit(VisitProgress)

    def read_links(self, response: Response, source: Sitemap) -> list[Link | str]:
        found = _read(page_of(response))
        return [entry.url if found.kind == "index" else _link(source, entry) for entry in found.entries]

    async def visit(self, source: Sitemap, state: SourceState) -> AsyncIterator[Request]:
        self._progress[source.key] = VisitProgress({source.url})
        yield self._sitemap(source.url, source, state, 0)

    def _sitemap(self, url: str, source: Sitemap, state: SourceState, depth: int) -> Request:
        meta = {"dont_obey_metarefresh": True, "download_maxsize": MAX_BYTES}
        return self.list_page(url, source, self.parse_sitemap, state=state, meta=meta, depth=depth)

    async def parse_sitemap(self, response: Response, source: Sitemap, depth: int = 0) -> AsyncIterator[Any]:
        found = await self.tracker.readers.read(_read, page_of(response), times=2)  # 50,000 entries take nearly the time limit of a page
        for warning in found.warnings:
            self.tracker.note(source.key, Message(f"warning.{warning}"))
        if found.kind == "index":
            async for request in self._follow_index(response, source, found, depth):
                yield request
        else:
            async for output in self._read_entries(response, source, found):
                yield output

    # an index

    async def _follow_index(self, response: Response, source: Sitemap, found: sitemap.Sitemap, depth: int) -> AsyncIterator[Request]:
        """Yield requests for the sitemaps of an index. It is read in full each time: its sitemaps may change while it does not."""
        response.meta["list_page"] = None
        if not found.entries:
            raise NotApplicable("no-entries", "it lists no sitemaps")
        if depth >= MAX_DEPTH:
            self.tracker.note(source.key, Message("note.nested-indexes", depth=MAX_DEPTH))
            return
        progress = self._progress[source.key]
        remaining = MAX_CHILDREN + 1 - len(progress.requested)
        fresh = [entry for entry in found.entries if entry.url not in progress.requested and can_request(entry.url)]
        selection = choose_children(fresh, response.url, timedelta(days=source.max_age), utcnow(), max(0, remaining))
        progress.skipped.update(selection.skipped)
        state = await self.tracker.state(source.key)
        if source.key in self.thorough:
            state = replace(state, validators={})
        for entry in selection.entries:
            if entry.url not in progress.requested:  # an index may contain one twice
                progress.requested.add(entry.url)
                yield self._sitemap(entry.url, source, state, depth + 1)

    # a sitemap

    async def _read_entries(self, response: Response, source: Sitemap, found: sitemap.Sitemap) -> AsyncIterator[Any]:
        if not found.entries:
            if found.broken:
                raise NotApplicable("no-entries", f"{found.broken} entries, none with a usable URL")
            return  # a news sitemap is empty when nothing was published for two days
        # changed dates without added or removed pages since the previous visit are no sign of changed articles
        dates = [entry.changed for entry in found.entries if entry.changed]
        newest = max(dates).isoformat() if dates else None
        current = sitemap.fingerprint(found.entries)
        previous, previous_newest = (await self.tracker.state(source.key)).validators.get(response.url + ENTRIES_SUFFIX, (None, None))
        if previous == current and previous_newest and newest and previous_newest != newest:
            self.tracker.note(source.key, Message("warning.lastmod-moves"))
        self.tracker.validate(source.key, response.url + ENTRIES_SUFFIX, (current, newest))
        rules = HubRules(allow=source.allow, deny=source.deny)
        selection = await asyncio.to_thread(choose_entries, found.entries, response.url, rules, timedelta(days=source.max_age), utcnow())
        self._progress[source.key].skipped.update(selection.skipped)
        async for request in self._request_entries(response, source, selection):
            yield request

    async def _request_entries(self, response: Response, source: Sitemap, selection: Selection) -> AsyncIterator[Request]:
        """Yield requests for the new links, up to the limit of the visit. The next visit finds the rest."""
        progress, start = self._progress[source.key], 0
        while start < len(selection.entries):
            remaining = source.limit - progress.queued
            if remaining <= 0:
                response.meta["list_page"] = None
                progress.skipped["limit"] += len(selection.entries) - start
                return
            batch = selection.entries[start : start + min(BATCH, remaining)]
            start += len(batch)
            requests, _ = await self.filter_new([_link(source, entry) for entry in batch])
            progress.queued += len(requests)
            for request in requests:
                yield request

    def report_skipped(self, key: str) -> None:
        progress = self._progress.pop(key, None)
        for reason, number in sorted(progress.skipped.items()) if progress else ():
            self.tracker.note(key, Message(f"skipped.{reason}", number=number))


def _read(page: Page) -> sitemap.Sitemap:
    """Parse a sitemap or an index; robots.txt is treated as an index. Raises ``NotApplicable``."""
    if urlsplit(page.url).path == "/robots.txt":
        entries = [sitemap.SitemapEntry(url) for url in sitemap.sitemaps_in_robots(page.body, page.url)]
        return sitemap.Sitemap("index", tuple(entries))
    return sitemap.parse_sitemap(page.body, page.url, page.content_type, page.fetched)


def _link(source: Sitemap, entry: sitemap.SitemapEntry) -> Link:
    return Link(
        url=entry.url,
        source=source.key,
        title=entry.title,
        site=source.site or entry.publication or source.name,
        published=entry.published,
        category=source.category,
    )
