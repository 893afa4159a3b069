"""Newsletters: ``scrapy crawl newsletter [-a source=NAME]``."""

import asyncio
import logging
from collections.abc import AsyncIterator, Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from scrapy.http import Request, Response

from newsportal.crawl.handlers.mailbox import MAIL_URL, MailboxResponse
from newsportal.crawl.link_tracker import utcnow
from newsportal.crawl.reader_pool import Interrupted
from newsportal.crawl.requests import is_entry
from newsportal.errors import NotApplicable
from newsportal.extractors.article.tidy import read_fragment
from newsportal.extractors.feeds.mail import id_of, parse_mail
from newsportal.extractors.pages import fill
from newsportal.items import Article, Link
from newsportal.messages import Message
from newsportal.sources import Newsletter
from newsportal.spiders.base import NewsSpider
from newsportal.spiders.command_line import SAMPLE
from newsportal.store.results import SourceState

logger = logging.getLogger(__name__)


class NewsletterSpider(NewsSpider):
    """Reads each mail once as an article; with ``articles: true`` the pages it links to are fetched instead."""

    name = "newsletter"
    kind = "newsletter"
    places = "newsletters"

    def entry_pages(self, source: Newsletter) -> tuple[str, ...]:
        return source.addresses

    def sample(self, response: Response) -> Newsletter:
        return Newsletter(name=SAMPLE, folder=Path())

    async def visit(self, source: Newsletter, state: SourceState) -> AsyncIterator[Request]:
        saved = (await self.tracker.state(source.key)).validators  # the position also applies to thorough visits: a mail does not change
        yield self.list_page(source.mailbox.address, source, self.parse_mails, state=replace(state, validators=saved))

    async def parse_mails(self, response: MailboxResponse, source: Newsletter) -> AsyncIterator[Any]:
        links: list[Link] = []
        refused: dict[str, str] = {}
        for raw in response.mails:
            try:
                links += source.links(await self.tracker.readers.read(parse_mail, raw.raw, raw.received, raw.is_truncated))
            except Interrupted:
                raise
            except NotApplicable as error:
                logger.warning("%s: a mail could not be read: %s", source.key, error, extra={"source": source.key})
                reason = error.reason
            except Exception as error:  # one broken mail must not block the others
                logger.exception("%s: reading a mail failed", source.key, extra={"source": source.key})
                reason = f"error: {type(error).__name__}"
            else:
                continue
            links.append(link := source.entry(id_of(raw.raw)))
            refused[link.url] = reason
        if not response.mails:
            self.tracker.count(source.key, "not_modified")  # an empty folder is no unreadable list
        if response.left:
            self.tracker.note(source.key, Message("note.mails-waiting", number=response.left))
        for output in (await self.filter_new(links))[0]:
            if isinstance(output, Article) and output.link.content is None:
                await self.tracker.fail(output.link, refused[output.url])
            else:
                yield output

    def article(self, link: Link, callback: Callable[..., Any] | None = None, meta: dict[str, Any] | None = None) -> Request:
        """Return the request that represents a mail in the link table: its text is at hand, so nothing is fetched."""
        if not is_entry(link):
            return super().article(link, callback, meta)
        return self.source_request(MAIL_URL, link.source, self.parse_article, self.article_failed, {}, link=link)

    async def parse(self, response: Response, link: Link | None = None) -> AsyncIterator[Any]:
        """Yield the articles of the mails, or requests for the pages they link to, or the item of such a page.

        @source
        @returns items 1
        """
        if not isinstance(response, MailboxResponse):
            async for found in super().parse(response, link):
                yield found
            return
        source = self.source_for(response)
        for raw in response.mails:
            for item in source.links(await asyncio.to_thread(parse_mail, raw.raw, raw.received, raw.is_truncated)):
                if item.content is None:
                    yield Request(item.url, callback=self.parse, cb_kwargs={"link": item}, dont_filter=True, meta=self.source_meta(source))
                else:
                    yield fill(Article(item.url, item, utcnow()), read_fragment(item.content, item.url))
