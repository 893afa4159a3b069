"""Further pages of an article, fetched through the crawl's own downloader: robots.txt, the egress guard, delays, the archive and
replay hold for them as for every page.

What comes next and what is worth joining is decided in :mod:`newsportal.extractors.turning`. Whatever ends the turning, the article is
kept with the pages that came.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from dataclasses import replace
from time import monotonic
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from scrapy import Request
from scrapy.exceptions import (
    CannotResolveHostError,
    DownloadCancelledError,
    DownloadFailedError,
    DownloadTimeoutError,
    IgnoreRequest,
    ResponseDataLossError,
)
from scrapy.http.request import NO_CALLBACK

from newsportal.dedup.canonical import identity
from newsportal.errors import EgressDenied, NotApplicable
from newsportal.extractors.pagination import Pager
from newsportal.extractors.turning import EXPECTED, Read, Turning
from newsportal.frontier.ledger import utcnow
from newsportal.frontier.links import askable
from newsportal.items import Article, Extraction, Link, Page
from newsportal.messages import Message

if TYPE_CHECKING:
    from scrapy.crawler import Crawler

    from newsportal.frontier.ledger import Ledger

logger = logging.getLogger(__name__)

MAX_SECONDS = 300.0
"""After so long no further page is asked for: a host with a long Crawl-delay would hold an article, and the end of a crawl, for hours."""


class Missing(Exception):
    """Raised by a :class:`Fetch` for a page that cannot be had; ``reason`` is a slug for the report. The turning ends there."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class Interrupted(Exception):
    """Raised by a :class:`Fetch` when the crawl is ending. The article is left to the next run, which may have all its pages."""


class Fetch(Protocol):
    """Asks for a further page of ``article``. Raises :class:`Missing` or :class:`Interrupted`."""

    async def __call__(self, url: str, article: Article) -> Page: ...


async def offline(url: str, article: Article) -> Page:
    """A :class:`Fetch` without a crawl: every further page is missing."""
    raise Missing("no-crawl")


Reader = Callable[[Article, Page], Read]
"""Reads a page of an article. Raises ``NotApplicable``."""

REASONS: tuple[tuple[type[BaseException], str], ...] = (
    (EgressDenied, "egress-denied"),
    (CannotResolveHostError, "dns"),
    (DownloadTimeoutError, "timeout"),
    (DownloadCancelledError, "too-large"),
    (IgnoreRequest, "ignored"),
    (OSError, "connection"),
    (DownloadFailedError, "connection"),
    (ResponseDataLossError, "connection"),
)
"""The first class that fits gives the reason, unless the error brings its own (robots.txt and challenges do)."""


class Downloads:
    """:class:`Fetch` by Scrapy's engine, with the manners of the article's source."""

    def __init__(self, crawler: Crawler) -> None:
        self._crawler = crawler

    async def __call__(self, url: str, article: Article) -> Page:
        engine, spider = self._crawler.engine, self._crawler.spider
        if engine is None or not engine.running or not isinstance(spider, Asks):
            raise Interrupted
        asked = spider.article(replace(article.link, url=url)).replace(callback=NO_CALLBACK, errback=None, cb_kwargs={})
        try:
            response = await engine.download_async(asked)
        except Exception as error:
            raise Missing(reason_of(error)) from error
        if response.status != 200:
            raise Missing(f"http-{response.status}")
        content_type = (response.headers.get("Content-Type") or b"").decode("latin-1") or None
        return Page(response.url, response.body, utcnow(), response.status, content_type)


@runtime_checkable
class Asks(Protocol):
    """What the spiders of this house can do: make the request for a link, with the manners of its source."""

    def article(self, link: Link) -> Request: ...


def reason_of(error: Exception) -> str:
    if isinstance(error, IgnoreRequest) and hasattr(error, "reason"):
        return str(error.reason)
    return next((reason for kind, reason in REASONS if isinstance(error, kind)), f"error: {type(error).__name__}")


def _lost(url: str, error: Exception) -> str:
    """Why a further page is lost, as a slug; what nobody expected is logged as well. The pages that came are kept in any case."""
    if isinstance(error, Missing | NotApplicable):
        return error.reason
    logger.error("a further page broke its reader: %s", url, exc_info=error)
    return f"error: {type(error).__name__}"


class Turner:
    """Follows an article's pager to its end, a limit, a circle or a dead link, and joins what it found."""

    def __init__(self, ledger: Ledger, fetch: Fetch, read: Reader) -> None:
        self._ledger = ledger
        self._fetch = fetch
        self._read = read

    async def begin(self, article: Article, met: Read) -> tuple[Article, Read]:
        """The article from its first page on, where a list page led to a later one. If that cannot be had, it begins where we are."""
        url = met.pager.first
        if url is None or not askable(url) or identity(url) == identity(article.url):
            return article, met
        if await asyncio.to_thread(self._ledger.known.known, [identity(url)]):
            return replace(article, url=url), Read(url, met.found, Pager((url,)))  # the next stage finds it known
        try:
            page = await self._fetch(url, article)
            first = replace(_unread(article), url=page.url, page=page, fetched=page.fetched)
            found = await asyncio.to_thread(self._read, first, page)
        except Interrupted:
            raise
        except Exception as error:  # noqa: BLE001  see _lost
            self._note(article, _lost(url, error))
            return article, met
        return (first, found) if found.pager.next is not None else (article, met)

    async def joined(self, article: Article, first: Read, met: Read) -> Extraction:
        """The article over all pages that can be had; ``met`` is the page that a list named, which need not be asked for again.

        Never raises for a page that cannot be had; raises :class:`Interrupted`.
        """
        turning, claims = Turning(first, identity), set[str]()
        try:
            await self._turn(turning, article, met, claims)
        except Interrupted:
            self._ledger.release(article.link.source, claims)
            raise
        for reason in turning.ends:
            self._note(article, reason)
        found = turning.result()
        self._ledger.release(article.link.source, claims.difference(map(identity, found.pages)))  # nobody stores these with the article
        return found

    async def _turn(self, turning: Turning, article: Article, met: Read, claims: set[str]) -> None:
        """Ask for page after page; ``claims`` gets the names that were taken for them. Raises :class:`Interrupted`."""
        began = monotonic()
        while (url := turning.wanted()) is not None:
            if monotonic() - began > MAX_SECONDS:
                turning.end("too-slow")
                break
            if self._ledger.claim(article.link.source, identity(url)):  # a list page may name it as well
                claims.add(identity(url))
            try:
                turning.take(met if identity(url) == identity(met.url) else await self._turned(article, url, turning))
            except Interrupted:
                raise
            except Exception as error:  # noqa: BLE001  see _lost
                turning.lose(_lost(url, error))

    async def _turned(self, article: Article, url: str, turning: Turning) -> Read:
        """The page at ``url``. Raises :class:`Missing`, and ``NotApplicable`` for a page without text, or a redirect to somewhere else."""
        if not askable(url):
            raise Missing("bad-address")
        page = await self._fetch(url, article)
        if turning.strays(page.url):
            raise NotApplicable("elsewhere", f"{url} leads to {page.url}")
        return await asyncio.to_thread(self._read, article, page)

    def _note(self, article: Article, reason: str) -> None:
        """Why no further page was joined: the ends that every pager has are counted, what failed is said in the report."""
        self._ledger.count(article.source, f"pages-{reason}")
        if reason not in EXPECTED:
            self._ledger.note(article.source, Message("note.further-pages", reason=reason))


def _unread(article: Article) -> Article:
    """Without what the wrapper read on another page."""
    return replace(article, title=None, text=None, html=None, published=None, author=None, algorithm=None)
