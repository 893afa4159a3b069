"""Pages of articles: asked for, and made into items where they are pages of text."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from functools import cached_property
from typing import Any

from scrapy.http import Request, Response
from twisted.python.failure import Failure

from newsportal.errors import NotApplicable
from newsportal.frontier.ledger import utcnow
from newsportal.frontier.links import is_entry
from newsportal.items import Article, Link
from newsportal.messages import Message
from newsportal.spiders.asking import Asking
from newsportal.spiders.fetcher import header, outcome_of, page_of
from newsportal.spiders.multipage import ArticleFetcher

TEXTUAL = frozenset({"html", "xhtml", "text", "xml", "octet-stream"})
"""Parts of the content types that may hold an article; the bytes decide afterwards."""


BINARY = (b"\x89PNG", b"\xff\xd8\xff", b"GIF8", b"RIFF", b"%PDF-", b"PK\x03\x04", b"\x1f\x8b")
"""How pictures, PDFs and archives begin, whatever their label says."""


class ArticlePages(Asking):
    """How a spider comes by articles."""

    @cached_property
    def articles(self) -> ArticleFetcher:
        return ArticleFetcher(self.ledger, self.fetch)

    def wanted(self, link: Link) -> Request | Article:
        """How to come by the article of a link: ask for its page; where that is the same for all entries, the entry is the article."""
        if not is_entry(link):
            return self.article(link)
        self.ledger.count(link.source, "fetched")
        return Article(url=link.url, link=link, fetched=utcnow())

    def article(self, link: Link, callback: Callable[..., Any] | None = None, meta: dict[str, Any] | None = None) -> Request:
        return Request(
            link.url,
            callback=callback or self.parse_article,
            errback=self.article_failed,
            dont_filter=True,
            priority=self.urgency(link.source),
            meta={**self.request_meta(link.source), **(meta or {})},
            cb_kwargs={"link": link},
        )

    async def parse_article(self, response: Response, link: Link) -> AsyncIterator[Article]:
        """A fetched page becomes an item, with what is read of it and of its further pages. What is no article is counted and left."""
        self.ledger.count(link.source, "fetched")
        async for article in self.finished(link, self._read_article(response, link)):
            yield article

    async def _read_article(self, response: Response, link: Link) -> Article:
        content_type = (header(response, "Content-Type") or "").lower()
        parts = content_type.replace(";", " ").replace("/", " ").replace("+", " ").split()
        if response.body.startswith(BINARY) or (parts and not TEXTUAL.intersection(parts)):
            raise NotApplicable("not-html")
        page = page_of(response)
        return await self.articles.complete(Article(url=response.url, link=link, fetched=page.fetched, page=page))

    async def article_failed(self, failure: Failure) -> AsyncIterator[Article]:
        """The page cannot be had; where the feed carried the text, the article is made of it."""
        request: Request = failure.request  # type: ignore[attr-defined]
        link: Link = request.cb_kwargs["link"]
        outcome = outcome_of(failure)
        if link.content and not outcome.forbidden:
            self.ledger.count(link.source, "fetched")
            self.ledger.note(link.source, Message("note.text-from-feed", reason=outcome.reason))
            yield Article(url=link.url, link=link, fetched=utcnow())
            return
        await self.ledger.fail(link, outcome.reason, later=outcome.passing)
