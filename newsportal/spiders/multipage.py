"""Further pages of articles, threads and photo stories, fetched before the item is yielded. :class:`Collector` decides which pages to fetch
and how to treat each response; however it ends, the item is kept with the fetched pages."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from time import monotonic
from typing import Final, Protocol, TypeVar

from scrapy.http import Response

from newsportal.crawl.article_reader import ArticleReader
from newsportal.crawl.link_tracker import LinkTracker
from newsportal.crawl.requests import can_request
from newsportal.dedup.canonical import identity
from newsportal.errors import NotApplicable
from newsportal.extractors.lists.pagination import EXPECTED_ENDS, MultiPage, Pager, PageRead
from newsportal.items import Article
from newsportal.messages import Message
from newsportal.spiders.fetcher import Interrupted, Outcome, PageUnavailable, page_of

logger = logging.getLogger(__name__)

MAX_SECONDS: Final = 300.0
"""Time limit for further pages, in seconds: a host with a long Crawl-delay would delay an article, and the end of a crawl, for hours."""

Found = TypeVar("Found")
FoundIn = TypeVar("FoundIn", contravariant=True)


class Collector(Protocol[FoundIn]):
    """The pages of one item in progress."""

    def next_urls(self) -> Sequence[str]:
        """Return the URLs to fetch now, concurrently; each is returned once."""

    def add_page(self, page: FoundIn, url: str) -> None: ...

    def reject(self, url: str, reason: str) -> None:
        """Handle a response that is no page of the item, or unreadable."""

    def fail(self, url: str, outcome: Outcome) -> None:
        """Handle a failed request."""

    def stop(self, reason: str) -> None:
        """Stop fetching further pages."""


async def fetch_pages(
    pages: Collector[Found], fetch: Callable[[str], Awaitable[Found]], seconds: float, on_page: Callable[[], Awaitable[None]] | None = None
) -> None:
    """Fetch the pages that ``pages`` wants, for ``seconds`` at most; call ``on_page`` after each. Raises only :class:`Interrupted`."""
    until, interrupted = monotonic() + seconds, False
    pending: set[asyncio.Future[bool]] = set()
    while True:
        urls = () if interrupted else pages.next_urls()
        if urls and monotonic() >= until:
            pages.stop("too-slow")
            urls = ()
        pending |= {asyncio.ensure_future(_fetch_page(pages, fetch, url, on_page)) for url in urls}
        if not pending:
            break
        done, pending = await asyncio.wait(pending, return_when=asyncio.FIRST_COMPLETED)
        interrupted |= not all(task.result() for task in done)
    if interrupted:
        raise Interrupted


async def _fetch_page(
    pages: Collector[Found], fetch: Callable[[str], Awaitable[Found]], url: str, on_page: Callable[[], Awaitable[None]] | None
) -> bool:
    """Fetch a page. Return False if the crawl ends."""
    try:
        pages.add_page(await fetch(url), url)
        if on_page is not None:
            await on_page()
    except Interrupted:
        return False
    except PageUnavailable as error:
        pages.fail(url, error.outcome)
    except NotApplicable as error:
        pages.reject(url, error.reason)
    except Exception as error:  # fetched pages are kept in any case
        logger.exception("reading a further page failed: %s", url, extra={"url": url})
        pages.reject(url, f"error: {type(error).__name__}")
    return True


class _ArticlePages(MultiPage):
    """:class:`Collector` of an article."""

    def fail(self, url: str, outcome: Outcome) -> None:
        self.reject(url, outcome.reason)


class ArticleFetcher:
    """Reads an article's page, and fetches the others that its pager links to: to its end, a limit, a cycle or a dead link."""

    def __init__(self, tracker: LinkTracker, fetch: Callable[[str, str], Awaitable[Response]]) -> None:
        self._tracker = tracker
        self._fetch = fetch
        self._reader = ArticleReader(tracker.sources, tracker.sites, tracker.readers.call)

    async def complete(self, article: Article) -> Article:
        """Return the article with all available pages. Raises ``NotApplicable``, ``StoreError``, :class:`Interrupted`."""
        current: PageRead = await self._tracker.readers.run(self._reader.read_first, article)
        found = current.found
        if (current.pager.next or current.pager.first) and not await self._is_stored(article.link.identity or identity(article.url)):
            article, first = await self._begin(article, current)
            source, pages = article.source, _ArticlePages(first, identity)

            async def fetch(url: str) -> PageRead:
                if not can_request(url):
                    raise NotApplicable("bad-address")
                if identity(url) == identity(current.url):
                    return current
                page = page_of(await self._fetch(url, source))
                if pages.is_stray(page.url, url):
                    raise NotApplicable("elsewhere", f"{url} leads to {page.url}")
                further: PageRead = await self._tracker.readers.run(self._reader.read_further, article.link, page)
                return further

            await fetch_pages(pages, fetch, MAX_SECONDS)
            for reason in pages.ends:
                self._note(article, reason)
            found, current = pages.result(), first
        return replace(article, wrapped=current.wrapped, extraction=found)

    async def _is_stored(self, name: str) -> bool:
        return bool(await asyncio.to_thread(self._tracker.stored_urls.find_stored, [name]))

    async def _begin(self, article: Article, current: PageRead) -> tuple[Article, PageRead]:
        """Return the article from its first page if the list linked to a later one; if that is unavailable, from the current page."""
        url = current.pager.first
        if url is None or not can_request(url) or identity(url) == identity(article.url):
            return article, current
        if await self._is_stored(identity(url)):
            return replace(article, url=url), current._replace(url=url, pager=Pager((url,)))  # the URL filter finds it known
        try:
            page = page_of(await self._fetch(url, article.source))
            first = replace(article, url=page.url, page=page, fetched=page.fetched)
            read: PageRead = await self._tracker.readers.run(self._reader.read_further, article.link, page)
        except Interrupted:
            raise
        except Exception as error:  # noqa: BLE001  the page that was linked is an article
            self._note(article, _reason_of(url, error))
            return article, current
        return (first, read) if read.pager.next is not None else (article, current)

    def _note(self, article: Article, reason: str) -> None:
        """Count why no further page was added; failures are also noted in the report."""
        self._tracker.count(article.source, f"pages-{reason}")
        if reason not in EXPECTED_ENDS:
            self._tracker.note(article.source, Message("note.further-pages-failed", reason=reason))


def _reason_of(url: str, error: Exception) -> str:
    if isinstance(error, PageUnavailable):
        return error.outcome.reason
    if isinstance(error, NotApplicable):
        return error.reason
    logger.error("reading a further page failed: %s", url, exc_info=error, extra={"url": url})
    return f"error: {type(error).__name__}"
