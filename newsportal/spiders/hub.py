"""Hub pages (regions): ``scrapy crawl hub [-a source=NAME]``."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from dataclasses import replace
from typing import Any
from urllib.parse import urljoin

from scrapy.http import Request, Response

from newsportal.crawl.link_tracker import utcnow
from newsportal.crawl.requests import LANE, can_request
from newsportal.dedup.canonical import identity
from newsportal.errors import NotApplicable
from newsportal.extractors.lists import hub as lists
from newsportal.items import Link, Page
from newsportal.schedule.policies import add_hubs, choose_hubs, record_articles, record_request
from newsportal.sources import Region
from newsportal.spiders.base import NewsSpider
from newsportal.spiders.command_line import SAMPLE
from newsportal.spiders.fetcher import page_of
from newsportal.store.results import SourceState
from newsportal.text import dom


class HubSpider(NewsSpider):
    """Visits the seeds of each region and the hub pages below them; classifies links as article, hub or other, and fetches the articles
    (paper B). The hub pages found are saved in the source's state (:mod:`newsportal.schedule.policies`)."""

    name = "hub"
    kind = "region"
    places = "regions"

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self._listed = self.values_by_visit(set[str])  # pagers contain cycles, and link to earlier pages as well

    def source_meta(self, source: Any) -> dict[str, Any]:
        """One request of a region is in flight at a time (paper B: a queue whose URL was taken is blocked until it is done)."""
        return {**super().source_meta(source), LANE: source.key}

    def entry_pages(self, source: Region) -> Sequence[str]:
        return source.seeds or (source.prefix,)

    def sample(self, response: Response) -> Region:
        return Region(name=SAMPLE, prefix=urljoin(response.url, "/"))

    def read_links(self, response: Response, source: Region) -> list[Link]:
        return self.read_list(response, source)[0]

    def read_list(self, response: Response, source: Region) -> tuple[list[Link], list[str]]:
        """Return the articles of a list page, and further list pages: its own, then hub pages below it."""
        found, more = _read(page_of(response), _rules(source))
        links, hubs = _split_links(response.url, found, more, source)
        return links, [*more, *hubs]

    async def visit(self, source: Region, state: SourceState) -> AsyncIterator[Request]:
        for url in self.entry_pages(source):
            self._listed[source.key].add(url)
            yield self.list_page(url, source, self.parse_hub, state=state, page=1)
        for request in await asyncio.to_thread(self.follow, source):
            yield request

    async def parse_hub(self, response: Response, source: Region, page: int, hub: str | None = None) -> AsyncIterator[Any]:
        """Parse a list page of ``hub``; ``None``: of a seed."""
        found, more = await self.tracker.readers.read(_read, page_of(response), _rules(source))
        links, hubs = _split_links(response.url, found, more, source)
        requests, filtered = await self.filter_new(links)
        for request in requests:
            yield request
        requested = self._listed[source.key]
        following = next((url for url in more if url not in requested and can_request(url)), None)
        if following and page < source.pages and self.should_continue(source, filtered):
            requested.add(following)
            yield self.list_page(following, source, self.parse_hub, page=page + 1, hub=hub)
        for request in await asyncio.to_thread(self.follow, source, hubs, hub, len(requests) if page == 1 else 0):
            yield request
        if not links and page == 1 and hub is None:
            raise NotApplicable("no-articles", "no link looks like an article")

    def follow(self, source: Region, links: Sequence[str] = (), hub: str | None = None, count: int = 0) -> list[Request]:
        """Return requests for the hub pages that are due, after ``hub`` (or a seed) was read, which has ``links`` and ``count`` new
        articles. They are saved at once: other workers of the visit request the rest. Raises ``StoreError``."""
        if not source.depth:
            return []
        store, now = self.tracker.store, utcnow().timestamp()
        state = store.source_state(source.key)
        pages = dict(state.hubs)
        if hub in pages:
            pages[hub] = record_articles(pages[hub], count)
        names = {identity(url): url for url in pages}
        depth = 1 + (pages[hub].depth if hub in pages else 0)
        pages = add_hubs(pages, [names.setdefault(identity(url), url) for url in links] if depth <= source.depth else (), depth, now)
        began, rules = (state.unfinished or self.began).timestamp(), self.timing.rules(source)
        due = choose_hubs(pages, rules, state.rate, now, depth=source.depth, limit=source.hubs, began=began)
        pages |= {url: record_request(pages[url], now) for url in due}
        if pages != state.hubs:
            store.save_source_state(replace(state, hubs=pages))
        return [self.list_page(url, source, self.parse_hub, page=1, hub=url) for url in due]


def _read(page: Page, rules: lists.HubRules) -> tuple[list[lists.HubLink], list[str]]:
    document = dom.document(page)
    return lists.links(document, rules, page.fetched), lists.next_pages(document)


def _split_links(url: str, found: Sequence[lists.HubLink], more: Sequence[str], source: Region) -> tuple[list[Link], list[str]]:
    """Return the articles and the hub pages inside the prefix that a list page links to; ``more`` are its own further pages."""
    links = [
        Link(
            url=link.url,
            source=source.key,
            title=link.text or None,
            summary=link.summary,
            site=source.publisher,
            published=link.published,
            category=source.category,
        )
        for link in found
        if link.kind == "article"
    ]
    list_pages, rules = {identity(address) for address in (url, *source.seeds, *more)}, _rules(source)
    inside = (link.url.partition("#")[0] for link in found if link.kind == "hub" and rules.includes(link.url))
    return links, [address for address in inside if can_request(address) and identity(address) not in list_pages]


def _rules(source: Region) -> lists.HubRules:
    return lists.HubRules(prefix=source.prefix, allow=source.allow, deny=source.deny)
