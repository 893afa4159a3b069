"""Hub pages (regions): ``scrapy crawl hub [-a source=NAME]``."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable
from typing import Any

from scrapy.http import Request, Response

from newsportal.crawl.link_tracker import utcnow
from newsportal.crawl.requests import LANE, askable
from newsportal.errors import NotApplicable
from newsportal.extractors.lists import hub
from newsportal.items import Link
from newsportal.sources import Region
from newsportal.spiders.base import NewsSpider, in_thread
from newsportal.spiders.fetcher import document_of
from newsportal.store.results import SourceState


class HubSpider(NewsSpider):
    """Visits the seed pages of each region; links are sorted into article, hub and other, and the articles fetched (paper B)."""

    name = "hub"
    kind = "region"

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self._listed = self.of_visits(set[str])  # pagers run in circles, and name the pages before as well

    def sources(self) -> Iterable[Region]:
        return (source for source in self.tracker.sources.regions if source.enabled)

    def manners(self, source: Any) -> dict[str, Any]:
        """One request of a region is in flight at a time (paper B: a queue whose URL was taken is blocked until it is done)."""
        return {**super().manners(source), LANE: source.key}

    async def visit(self, source: Region, state: SourceState) -> AsyncIterator[Request]:
        for url in source.seeds or (source.prefix,):
            self._listed[source.key].add(url)
            yield self.list_page(url, source, self.parse_hub, state=state, page=1)

    async def parse_hub(self, response: Response, source: Region, page: int) -> AsyncIterator[Any]:
        links, more = await in_thread(self.read, response, source)
        requests, found = await self.filter_new(links)
        for request in requests:
            yield request
        listed = self._listed[source.key]
        following = next((url for url in more if url not in listed and askable(url)), None)
        if following and page < source.pages and self.goes_on(source, found):
            listed.add(following)
            yield self.list_page(following, source, self.parse_hub, page=page + 1)
        if not links and page == 1:
            raise NotApplicable("no-articles", "no link looks like an article")

    def read(self, response: Response, source: Region) -> tuple[list[Link], list[str]]:
        document = document_of(response)
        rules = hub.HubRules(prefix=source.prefix, allow=source.allow, deny=source.deny)
        links = [
            Link(
                url=link.url,
                source=source.key,
                title=link.text or None,
                summary=link.summary,
                site=source.site,
                published=link.published,
                category=source.category,
            )
            for link in hub.links(document, rules, utcnow())
            if link.kind == "article"
        ]
        return links, hub.next_pages(document)
