"""Requests for list pages and articles, with the settings of their source; failures are counted, and retried later."""

import logging
from collections.abc import AsyncIterator, Awaitable, Callable
from datetime import timedelta
from functools import cached_property
from typing import Any, Final, Protocol, TypeVar

from scrapy.crawler import Crawler
from scrapy.http import Request, Response
from twisted.python.failure import Failure

from newsportal.crawl.link_tracker import STORE_FAILS, Filtered, LinkTracker, utcnow
from newsportal.crawl.requests import is_entry
from newsportal.crawl.source_visits import note_moved
from newsportal.errors import NotApplicable, StoreError
from newsportal.items import Article, Link, Page
from newsportal.messages import Message
from newsportal.spiders.fetcher import SHUTDOWN, Fetcher, Interrupted, PageUnavailable, header, outcome_of, page_of, retry_after
from newsportal.spiders.multipage import ArticleFetcher
from newsportal.store.results import SourceState

logger = logging.getLogger(__name__)

Item = TypeVar("Item")

DEFAULT_PRIORITY: Final = 5
PRIORITY_STEP: Final = 1000  # Difference of priority between sources of successive priorities. List pages precede articles by 10.


class Source(Protocol):
    """Attributes common to all sources in sources.yaml."""

    @property
    def key(self) -> str: ...
    @property
    def name(self) -> str: ...
    @property
    def enabled(self) -> bool: ...


class PageRequests:
    """Base of spiders that request pages; implemented by ``base.NewsSpider``."""

    crawler: Crawler
    thorough: set[str]
    visited: set[str]

    @property
    def tracker(self) -> LinkTracker:
        raise NotImplementedError

    def by_key(self, key: str) -> Any:
        """Return the source of a link; ``None`` if it was removed from the file."""
        raise NotImplementedError

    def source_meta(self, source: Any) -> dict[str, Any]:
        """Return the meta that the middlewares need for a source."""
        obeys = getattr(source, "obey_robots", None)
        return {
            "obey_robots": self.tracker.sources.politeness.obey_robots if obeys is None else obeys,
            "verify_certificate": getattr(source, "verify_certificate", True),
            **({"render": True} if getattr(source, "render", False) else {}),
        }

    def priority_offset(self, key: str) -> int:
        """Return what a source's priority adds to that of its requests: more than the priorities of kinds of requests differ by."""
        return (getattr(self.by_key(key), "priority", DEFAULT_PRIORITY) - DEFAULT_PRIORITY) * PRIORITY_STEP

    def request_meta(self, key: str) -> dict[str, Any]:
        """Return the meta of a request for a source, by its key."""
        source = self.by_key(key)
        return {"source": key, **(self.source_meta(source) if source else {})}

    @cached_property
    def fetch(self) -> Fetcher:
        """Fetches further pages and images inside a callback."""
        return Fetcher(self.crawler, self.request_meta)

    def source_request(
        self, url: str, key: str, callback: Callable[..., Any], errback: Callable[..., Any], meta: dict[str, Any], **kwargs: Any
    ) -> Request:
        """Return a request for a source, by its key, which is never filtered; ``kwargs`` is passed to its callback."""
        meta = {**self.request_meta(key), **meta}
        return Request(url, callback, errback=errback, dont_filter=True, priority=self.priority_offset(key), meta=meta, cb_kwargs=kwargs)

    def first_request(self, url: str, link: Link, source: Source, **kwargs: Any) -> Request:
        """Return the first request of a visit of a thread or photo story, which any process may resume."""
        return self.source_request(url, source.key, self.parse_first, self.first_failed, {}, source=source, link=link, **kwargs)

    async def parse_first(self, response: Response, link: Link, **kwargs: Any) -> AsyncIterator[Any]:
        """Parse the first page of a thread or photo story."""
        async for item in self.yield_item(link, self.read_item(response, link, **kwargs)):
            yield item

    async def first_failed(self, failure: Failure) -> AsyncIterator[Any]:
        kwargs = failure.request.cb_kwargs  # type: ignore[attr-defined]
        async for item in self.yield_item(kwargs["link"], self.read_item(PageUnavailable(outcome_of(failure)), **kwargs)):
            yield item

    async def read_item(self, first: Response | PageUnavailable, link: Link, **kwargs: Any) -> Any:
        """Return the item with all available pages, of which ``first`` is the requested one; ``None`` once its outcome is counted."""
        raise NotImplementedError

    async def yield_item(self, link: Link, item: Awaitable[Item | None]) -> AsyncIterator[Item]:
        """Yield the item if there is one; otherwise count the reason."""
        try:
            found = await item
        except Interrupted:
            logger.info("%s waits for the next run: the crawl ends before its further pages are fetched", link.url, extra={"url": link.url})
        except PageUnavailable as error:
            await self.tracker.fail(link, error.outcome.reason, later=error.outcome.transient)
        except NotApplicable as error:
            await self.tracker.fail(link, error.reason)
        except StoreError as error:
            logger.error("%s waits for the next run: %s", link.url, error, extra={"url": link.url})
            await self.tracker.fail(link, STORE_FAILS, later=True)
        except Exception as error:  # a page that breaks its reader must not be lost silently
            logger.exception("reading failed on %s", link.url, extra={"url": link.url})
            await self.tracker.fail(link, f"error: {type(error).__name__}")
        else:
            if found is not None:
                yield found


LIST_PRIORITY = 10  # List pages precede articles: they contain the news
CONDITIONAL = frozenset({b"If-None-Match", b"If-Modified-Since"})
"""Request headers to which 304 is a valid response (RFC 9110, 15.4.5)."""


class ListPages(PageRequests):
    """Mixin that requests and parses list pages."""

    def list_page(
        self,
        url: str,
        source: Source,
        callback: Callable[..., Any],
        *,
        state: SourceState | None = None,
        meta: dict[str, Any] | None = None,
        **kwargs: Any,
    ) -> Request:
        """Return a request for a list page parsed by ``callback``: never filtered, conditional if ``state`` has validators."""
        headers = {}
        if state is not None:
            etag, modified = state.validators.get(url, (None, None))
            headers = {name: value for name, value in (("If-None-Match", etag), ("If-Modified-Since", modified)) if value}
        return Request(
            url,
            callback=self.parse_list,
            errback=self.list_page_failed,
            headers=headers,
            dont_filter=True,
            priority=LIST_PRIORITY + self.priority_offset(source.key),
            meta={
                "source": source.key,
                "handle_httpstatus_list": [304],
                "list_page": url if state else None,
                **({"thorough": True} if source.key in self.thorough else {}),
                **self.source_meta(source),
                **(meta or {}),
            },
            cb_kwargs={"source": source, "read": callback, **kwargs},
        )

    async def parse_list(self, response: Response, source: Source, read: Callable[..., Any], **kwargs: Any) -> AsyncIterator[Any]:
        """Yield the output of ``read`` for a list page. If that fails, the page is counted, and read in full the next time."""
        key = source.key
        self.visited.add(key)
        if response.meta.get("thorough"):
            self.thorough.add(key)  # another process began the visit
        self.tracker.count(key, "list_pages", topic=getattr(kwargs.get("topic"), "name", None))
        note_moved(self.tracker, key, response)
        if response.status == 304:
            if CONDITIONAL.isdisjoint(response.request.headers.keys() if response.request else ()):
                self.tracker.list_failed(key, "http-304", f"{response.url}: the server answers «not modified» to any request")
            else:
                self.tracker.count(key, "not_modified")
            return
        try:
            async for found in read(response, source, **kwargs):
                yield found
        except Interrupted:
            self.tracker.list_failed(key, SHUTDOWN, f"{response.url}: the crawl ends")
        except NotApplicable as error:
            self.tracker.list_failed(key, error.reason, f"{response.url}: {error.detail}")
        except StoreError as error:
            logger.error("%s: nothing extracted from %s: %s", key, response.url, error, extra={"source": key, "url": response.url})
            self.tracker.list_failed(key, STORE_FAILS, f"{response.url}: {error}")
        except Exception as error:  # a page that breaks its reader must not be lost silently
            logger.exception("reading failed on %s", response.url, extra={"url": response.url})
            self.tracker.list_failed(key, f"error: {type(error).__name__}", f"{response.url}: {error}")
        else:
            # only after storing the links may the page answer 304; further pages are never requested conditionally
            etag, modified = header(response, "ETag"), header(response, "Last-Modified")
            if (list_url := response.meta["list_page"]) and (etag or modified):
                self.tracker.validate(key, list_url, (etag, modified))

    def list_page_failed(self, failure: Failure) -> None:
        request: Request = failure.request  # type: ignore[attr-defined]
        outcome = outcome_of(failure)
        source = request.meta["source"]
        self.visited.add(source)
        if request.cb_kwargs.get("hub"):  # one of many pages of a region, whose health is that of its seeds
            self.tracker.count_skipped_list(source, outcome.reason)
        else:
            self.tracker.list_failed(source, outcome.reason, f"{request.url}: {outcome.detail}")
        if seconds := retry_after(failure, utcnow()):
            self.tracker.pause(source, utcnow() + timedelta(seconds=seconds))

    def should_continue(self, source: Source, found: Filtered) -> bool:
        """Return whether to fetch a further list page: this one had new entries, or an earlier visit was interrupted."""
        return not found.stale or source.key in self.thorough


TEXTUAL = frozenset({"html", "xhtml", "text", "xml", "octet-stream"})
"""Parts of the content types that may contain an article; the bytes decide afterwards."""

BINARY = (b"\x89PNG", b"\xff\xd8\xff", b"GIF8", b"RIFF", b"%PDF-", b"PK\x03\x04", b"\x1f\x8b")
"""Magic numbers of images, PDFs and archives, whatever their content type."""


def textual_page(response: Response) -> Page:
    """Return the page of a response that may contain an article. Raises ``NotApplicable``."""
    content_type = (header(response, "Content-Type") or "").lower()
    parts = content_type.replace(";", " ").replace("/", " ").replace("+", " ").split()
    if response.body.startswith(BINARY) or (parts and not TEXTUAL.intersection(parts)):
        raise NotApplicable("not-html")
    return page_of(response)


class ArticlePages(PageRequests):
    """Mixin that requests and parses articles."""

    @cached_property
    def articles(self) -> ArticleFetcher:
        return ArticleFetcher(self.tracker, self.fetch)

    def output_for(self, link: Link) -> Request | Article:
        """Return the request for a link's page; if all entries share one page, the article of the entry itself."""
        if not is_entry(link):
            return self.article(link)
        self.tracker.count(link.source, "fetched", topic=link.topic)
        return Article(url=link.url, link=link, fetched=utcnow())

    def article(self, link: Link, callback: Callable[..., Any] | None = None, meta: dict[str, Any] | None = None) -> Request:
        return self.source_request(link.url, link.source, callback or self.parse_article, self.article_failed, meta or {}, link=link)

    async def parse_article(self, response: Response, link: Link) -> AsyncIterator[Article]:
        """Yield the article of a fetched page with its further pages. Pages without an article are counted."""
        self.tracker.count(link.source, "fetched", topic=link.topic)
        async for article in self.yield_item(link, self._read_article(response, link)):
            yield article

    async def _read_article(self, response: Response, link: Link) -> Article:
        page = textual_page(response)
        return await self.articles.complete(Article(url=response.url, link=link, fetched=page.fetched, page=page))

    async def article_failed(self, failure: Failure) -> AsyncIterator[Article]:
        """Handle a failed request; if the feed contains the text, yield the article made of it."""
        request: Request = failure.request  # type: ignore[attr-defined]
        link: Link = request.cb_kwargs["link"]
        outcome = outcome_of(failure)
        if link.content and not outcome.forbidden:
            self.tracker.count(link.source, "fetched", topic=link.topic)
            self.tracker.note(link.source, Message("note.text-from-feed", reason=outcome.reason))
            yield Article(url=link.url, link=link, fetched=utcnow())
            return
        await self.tracker.fail(link, outcome.reason, later=outcome.transient)
