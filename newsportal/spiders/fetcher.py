"""Requests made inside a callback, and why a request failed, in the words of the run report.

:class:`Fetcher` asks through the crawl's own downloader: robots.txt, the egress guard, delays, the archive and replay hold for further
pages and pictures as for every page. Every failure has a reason; none is ``error`` if it can be helped.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from scrapy import Request, exceptions
from scrapy.crawler import Crawler
from scrapy.http import Response
from scrapy.http.request import NO_CALLBACK
from scrapy.spidermiddlewares.httperror import HttpError
from twisted.python.failure import Failure

from newsportal.crawl.handlers import render_notes
from newsportal.crawl.link_tracker import LinkTracker, utcnow
from newsportal.crawl.middlewares.retry import read_retry_after
from newsportal.crawl.reader_pool import SHUTDOWN as SHUTDOWN
from newsportal.crawl.reader_pool import Interrupted as Interrupted
from newsportal.errors import ArchiveError, EgressDenied, FetchFailed, RenderFailed
from newsportal.items import Page
from newsportal.messages import as_text
from newsportal.net.rendering import missing

logger = logging.getLogger(__name__)

PASSING_STATUS = frozenset({408, 425, 429, 500, 502, 503, 504, 522, 524})  # The server may answer differently later
IGNORED = (("max redirections reached", "redirects"), ("exceeded DOWNLOAD_MAXSIZE", "too-large"))
"""What Scrapy says when it ignores a response, and the reason: it raises nothing more telling."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """``passing``: worth another try in a later run. ``forbidden``: we may not have it (robots, private address)."""

    reason: str
    detail: str
    passing: bool = False
    forbidden: bool = False


REASONS: tuple[tuple[type[BaseException], str, bool], ...] = (
    (exceptions.CannotResolveHostError, "dns", True),
    (exceptions.DownloadTimeoutError, "timeout", True),
    (exceptions.DownloadConnectionRefusedError, "connection-refused", True),
    (exceptions.DownloadCancelledError, "too-large", False),
    (exceptions.UnsupportedURLSchemeError, "scheme", False),
    (ArchiveError, "archive", True),
    (exceptions.DownloadFailedError, "connection", True),
    (exceptions.ResponseDataLossError, "connection", True),
    (OSError, "connection", True),
)
"""The first class that fits gives the reason; the flag says whether it may pass."""


class PageUnavailable(Exception):
    """Raised by a :class:`Fetcher` for a page that cannot be had. The caller goes on without it."""

    def __init__(self, outcome: Outcome) -> None:
        super().__init__(outcome.reason)
        self.outcome = outcome


class Fetcher:
    """Fetches pages for the callbacks of one crawl. ``meta``: what the middlewares must know of a source, by its key."""

    def __init__(self, crawler: Crawler, meta: Callable[[str], Mapping[str, Any]]) -> None:
        self._crawler = crawler
        self._meta = meta

    async def __call__(self, url: str, source: str, *, headers: Mapping[str, str] | None = None, **meta: Any) -> Response:
        """The answer, of status 2xx. Raises :class:`PageUnavailable`, :class:`Interrupted`."""
        engine = self._crawler.engine
        if engine is None or not engine.running:
            raise Interrupted
        meta = {name: value for name, value in {**self._meta(source), **meta}.items() if value is not None}
        request = Request(url, callback=NO_CALLBACK, headers=dict(headers or {}), dont_filter=True, meta=meta)
        try:
            response = await engine.download_async(request)
        except Exception as error:
            outcome = outcome_of(error)
            if outcome.reason == SHUTDOWN:
                raise Interrupted from error
            raise PageUnavailable(outcome) from error
        if "replay-missing" in response.flags:  # nobody asked for it when the archive was made
            raise PageUnavailable(Outcome("replay-missing", url))
        if not 200 <= response.status < 300:
            raise PageUnavailable(_outcome_of_status(response))
        return response


def header(response: Response, name: str) -> str | None:
    value = response.headers.get(name)
    return value.decode("latin-1").strip() or None if value else None


class ArchivedResponse(Response):
    """An answer out of an archive, and when it was served."""

    fetched: datetime


def page_of(response: Response) -> Page:
    fetched = response.fetched if isinstance(response, ArchivedResponse) else utcnow()
    return Page(response.url, response.body, fetched, response.status, header(response, "Content-Type"))


def outcome_of(failure: Failure | BaseException) -> Outcome:
    """The reason of a failed request."""
    error = failure.value if isinstance(failure, Failure) else failure
    detail = str(error) or type(error).__name__
    if isinstance(error, HttpError):
        return _outcome_of_status(error.response)
    if isinstance(error, EgressDenied):
        return Outcome("egress-denied", detail, forbidden=True)
    if isinstance(error, RenderFailed | FetchFailed):
        return Outcome(error.reason, error.detail or detail, passing=getattr(error, "passing", True))
    if isinstance(error, exceptions.IgnoreRequest):
        said = next((reason for words, reason in IGNORED if words in detail), "ignored")
        return Outcome(getattr(error, "reason", said), detail, passing=bool(getattr(error, "passing", False)), forbidden=True)
    for kind, reason, passing in REASONS:
        if isinstance(error, kind):
            return Outcome(reason, detail, passing=passing)
    return Outcome(f"error: {type(error).__name__}", detail)


def _outcome_of_status(response: Response) -> Outcome:
    status = response.status
    if 300 <= status < 400:  # Scrapy follows all that it may: this one leads to file:, data: or nowhere
        return Outcome("redirect-denied", f"HTTP {status} to {response.headers.get('Location')!r}", forbidden=True)
    return Outcome(f"http-{status}", f"HTTP {status}", passing=status in PASSING_STATUS)


def retry_after(failure: Failure, now: datetime) -> float | None:
    """Seconds that the answer asks to wait; ``None`` if it does not, or if there is none."""
    response = getattr(failure.value, "response", None)
    return None if response is None else read_retry_after(response, now)


def lacks_browser(tracker: LinkTracker, source: Any) -> bool:
    """Whether the source's pages need a browser and there is none: it is told of at once, and the other sources go on."""
    lack = missing(tracker.sources.rendering.browser) if getattr(source, "render", False) else None
    if lack:
        logger.error("%s is not visited, its pages are to be rendered: %s", source.key, lack, extra={"source": source.key})
        tracker.list_failed(source.key, "no-browser", lack)
        tracker.note(source.key, as_text(lack))
    return lack is not None


def note_rendering(tracker: LinkTracker, stats: Mapping[str, Any], sources: Iterable[str]) -> None:
    """At the end: how much was rendered, in the report's notes."""
    for source in sources:
        for said in render_notes(stats, source):
            tracker.note(source, said)
