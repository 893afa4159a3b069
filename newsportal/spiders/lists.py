"""Hot lists and charts: ``scrapy crawl lists [-a source=NAME]``."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from typing import Any

from scrapy.http import Request, Response

from newsportal.crawl.link_tracker import utcnow
from newsportal.dedup.canonical import identity
from newsportal.extractors.lists.boards import BoardEntry, read_board
from newsportal.items import Link, content_id
from newsportal.sources import HotList
from newsportal.spiders.base import NewsSpider
from newsportal.spiders.command_line import SAMPLE
from newsportal.spiders.fetcher import page_of
from newsportal.store.boards import Place
from newsportal.store.results import SourceState


class ListsSpider(NewsSpider):
    """Stores the ranks of each list at every visit; with ``articles: true`` the pages of new entries are fetched, too."""

    name = "lists"
    kind = "list"
    places = "lists"

    def sample(self, response: Response) -> HotList:
        return HotList(name=SAMPLE, url=response.url, format="html", items="li", title="a", link="a")

    def read_links(self, response: Response, source: HotList) -> list[Link]:
        return _links(read_board(page_of(response), source.rules), source)

    async def visit(self, source: HotList, state: SourceState) -> AsyncIterator[Request]:
        yield self.list_page(source.url, source, self.parse_board)  # without validators: an entry that stays is recorded, too

    async def parse_board(self, response: Response, source: HotList) -> AsyncIterator[Any]:
        found = await self.tracker.readers.read(read_board, page_of(response), source.rules)
        places = [Place(content_id(identity(entry.url)), entry.title, entry.url, entry.rank, entry.heat) for entry in found]
        await asyncio.to_thread(self.tracker.store.boards.add, source.key, utcnow(), places)
        if not source.articles:
            self.tracker.count(source.key, "not_modified")  # it was read, and nothing is to be fetched
            return
        for output in (await self.filter_new(_links(found, source)))[0]:
            yield output


def _links(found: Sequence[BoardEntry], source: HotList) -> list[Link]:
    """Return links without titles: titles on boards often differ from those of the linked pages."""
    return [Link(url=entry.url, source=source.key, site=source.publisher, category=source.category) for entry in found]
