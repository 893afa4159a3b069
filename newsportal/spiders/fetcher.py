"""Requests made inside a callback, and the reasons of failed requests as the run report names them.

:class:`Fetcher` uses the crawl's own downloader: robots.txt, the egress guard, delays, the archive and replay apply to further pages and
images as to every page. Every failure has a reason, ``error`` only as a last resort.
"""

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
from newsportal.net.rendering import missing_parts

logger = logging.getLogger(__name__)

TRANSIENT_STATUS = frozenset({408, 425, 429, 500, 502, 503, 504, 522, 524})  # The server may respond differently later
IGNORED_REASONS = (("max redirections reached", "redirects"), ("exceeded DOWNLOAD_MAXSIZE", "too-large"))
"""Scrapy's messages for ignored responses, which have no exceptions of their own, and the reasons."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """``transient``: transient, worth a retry in a later run. ``forbidden``: by robots.txt or the egress policy."""

    reason: str
    detail: str
    transient: bool = False
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
"""The first matching class determines the reason; the flag says whether it is transient."""


class PageUnavailable(Exception):
    """Raised by a :class:`Fetcher` for a page that could not be fetched. The caller continues without it."""

    def __init__(self, outcome: Outcome) -> None:
        super().__init__(outcome.reason)
        self.outcome = outcome


class Fetcher:
    """Fetches pages for the callbacks of one crawl. ``meta`` returns the request meta for a source, by its key."""

    def __init__(self, crawler: Crawler, meta: Callable[[str], Mapping[str, Any]]) -> None:
        self._crawler = crawler
        self._meta = meta

    async def __call__(self, url: str, source: str, *, headers: Mapping[str, str] | None = None, **meta: Any) -> Response:
        """Return the response, of status 2xx. Raises :class:`PageUnavailable`, :class:`Interrupted`."""
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
        if "replay-missing" in response.flags:  # it was not requested when the archive was made
            raise PageUnavailable(Outcome("replay-missing", url))
        if not 200 <= response.status < 300:
            raise PageUnavailable(_outcome_of_status(response))
        return response


def header(response: Response, name: str) -> str | None:
    value = response.headers.get(name)
    return value.decode("latin-1").strip() or None if value else None


class ArchivedResponse(Response):
    """A response from an archive, with its original time."""

    fetched: datetime


def page_of(response: Response) -> Page:
    fetched = response.fetched if isinstance(response, ArchivedResponse) else utcnow()
    return Page(response.url, response.body, fetched, response.status, header(response, "Content-Type"))


def outcome_of(failure: Failure | BaseException) -> Outcome:
    """Return the reason of a failed request."""
    error = failure.value if isinstance(failure, Failure) else failure
    detail = str(error) or type(error).__name__
    if isinstance(error, HttpError):
        return _outcome_of_status(error.response)
    if isinstance(error, EgressDenied):
        return Outcome("egress-denied", detail, forbidden=True)
    if isinstance(error, RenderFailed | FetchFailed):
        return Outcome(error.reason, error.detail or detail, transient=getattr(error, "transient", True))
    if isinstance(error, exceptions.IgnoreRequest):
        default = next((reason for words, reason in IGNORED_REASONS if words in detail), "ignored")
        return Outcome(getattr(error, "reason", default), detail, transient=bool(getattr(error, "transient", False)), forbidden=True)
    for kind, reason, transient in REASONS:
        if isinstance(error, kind):
            return Outcome(reason, detail, transient=transient)
    return Outcome(f"error: {type(error).__name__}", detail)


def _outcome_of_status(response: Response) -> Outcome:
    status = response.status
    if 300 <= status < 400:  # Scrapy follows all valid redirects: this one is to file:, data: or has no target
        return Outcome("redirect-denied", f"HTTP {status} to {response.headers.get('Location')!r}", forbidden=True)
    return Outcome(f"http-{status}", f"HTTP {status}", transient=status in TRANSIENT_STATUS)


def retry_after(failure: Failure, now: datetime) -> float | None:
    """Return the Retry-After of the response in seconds; ``None`` if it has none, or there is no response."""
    response = getattr(failure.value, "response", None)
    return None if response is None else read_retry_after(response, now)


def is_browser_missing(tracker: LinkTracker, source: Any) -> bool:
    """Return whether the source's pages need a browser that is missing; if so, report it. Other sources are visited."""
    problem = missing_parts(tracker.sources.rendering.browser) if getattr(source, "render", False) else None
    if problem:
        logger.error("%s is not visited, since its pages need rendering: %s", source.key, problem, extra={"source": source.key})
        tracker.list_failed(source.key, "no-browser", problem)
        tracker.note(source.key, as_text(problem))
    return problem is not None


def note_rendering(tracker: LinkTracker, stats: Mapping[str, Any], sources: Iterable[str]) -> None:
    """Add the rendering statistics of the sources to the report."""
    for source in sources:
        for note in render_notes(stats, source):
            tracker.note(source, note)
