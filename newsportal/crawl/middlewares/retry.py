"""Retries and Retry-After: requests are sent only while this process holds their host, and not before its Retry-After. Requests made by
callbacks are marked with the lease of their response. Scrapy's redirects, for invalid targets (``http://host:99999/``)."""

from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from time import monotonic
from typing import Any, Final

from scrapy import Request, Spider
from scrapy.crawler import Crawler
from scrapy.downloadermiddlewares import redirect
from scrapy.downloadermiddlewares.retry import RetryMiddleware
from scrapy.exceptions import IgnoreRequest
from scrapy.http import Response

from newsportal.crawl.addon import CrawlerComponent
from newsportal.crawl.host_locks import CrawlEnding, HostPaused
from newsportal.crawl.leases import LEASE, mark_child
from newsportal.crawl.requests import host_of
from newsportal.crawl.scheduler import scheduler_of
from newsportal.schedule.freshness import retry_after

RETRY_AFTER_STATUSES = frozenset({429, 503})  # statuses that may carry Retry-After (RFC 9110 10.2.3, RFC 6585 4)


def read_retry_after(response: Response, now: datetime) -> float | None:
    """Return the Retry-After of a 429 or 503, in seconds; ``None`` if it has none."""
    header = (response.headers.get("Retry-After") or b"").decode("latin-1")
    return retry_after(header, now) if response.status in RETRY_AFTER_STATUSES else None


MIN_BUSY_PAGES: Final = 3  # successive pages with 503: two broken pages may follow each other; a host that is down costs two more requests
MAX_HOSTS: Final = 10_000  # hosts remembered; the one that answered longest ago is forgotten first
MAX_PAUSE: Final = 86_400.0  # seconds: the longest pause of a host (schedule.freshness.MAX_WAIT)


@dataclass(slots=True)
class _HostPauses:
    """``busy``: URL that returned 503 → end of its Retry-After. ``until``: the end of the host's last pause of ``seconds``."""

    busy: dict[str, float] = field(default_factory=dict)
    until: float = 0.0
    seconds: float = 0.0


class RetryAfter:
    """Pauses of hosts by their Retry-After."""

    def __init__(self) -> None:
        self._pauses: dict[str, _HostPauses] = {}

    def clear(self, host: str) -> None:
        self._pauses.pop(host, None)

    def pause_for(self, host: str, url: str, status: int, seconds: float, now: float) -> float | None:
        """Return the seconds to pause the host after ``url`` returned 429 or 503 with Retry-After; ``None`` to pause only the page. A host
        that sends it again after a pause is paused at least twice as long, so that short pauses do not repeat forever."""
        pauses = self._pauses[host] = self._pauses.pop(host, _HostPauses())
        if len(self._pauses) > MAX_HOSTS:
            del self._pauses[next(iter(self._pauses))]
        if status == 503:
            pauses.busy = {page: until for page, until in pauses.busy.items() if until > now} | {url: now + seconds}
            if len(pauses.busy) < MIN_BUSY_PAGES and not pauses.until:
                return None
            seconds = min(pauses.busy.values()) - now  # the shortest remaining wait: the time for which all of these pages ask
            pauses.busy = {}
        if pauses.until and now >= pauses.until:
            seconds = min(max(seconds, 2 * pauses.seconds), MAX_PAUSE)
        if now + seconds > pauses.until:
            pauses.until, pauses.seconds = now + seconds, seconds
        return seconds


class PatientRetryMiddleware(RetryMiddleware):
    """Scrapy's retries; a response with Retry-After is passed to the spider, which pauses the source or defers the link."""

    def process_response(self, request: Request, response: Response, spider: Spider | None = None) -> Request | Response:
        return response if read_retry_after(response, datetime.now(UTC)) else super().process_response(request, response)


class RequestDeferred(IgnoreRequest):
    """Raised for a request whose host is paused (``host-rests``), or as the crawl ends (``shutdown``); its link waits."""

    transient = True

    def __init__(self, reason: str, detail: str) -> None:
        super().__init__(detail)
        self.reason = reason


class HostLockMiddleware(CrawlerComponent):
    """The innermost downloader middleware: every request waits for the lock of its host, including those for robots.txt, images and further
    pages. A host with Retry-After (:class:`RetryAfter`) is paused for all processes."""

    def __init__(self, crawler: Crawler) -> None:
        super().__init__(crawler)
        self._retry_after = RetryAfter()

    async def process_request(self, request: Request) -> None:
        """Raises :class:`RequestDeferred`."""
        if (scheduler := scheduler_of(self._crawler)) is None:
            return
        try:
            await scheduler.acquire_host(request)
        except HostPaused as error:
            raise RequestDeferred("host-rests", f"{request.url} is not requested: {error}") from error
        except CrawlEnding as error:
            raise RequestDeferred("shutdown", f"{request.url} is not requested: the crawl ends") from error

    def process_response(self, request: Request, response: Response) -> Response:
        if (scheduler := scheduler_of(self._crawler)) is None:
            return response
        host = host_of(request)
        if response.status not in RETRY_AFTER_STATUSES:
            self._retry_after.clear(host)
        elif (seconds := read_retry_after(response, datetime.now(UTC))) and (
            pause := self._retry_after.pause_for(host, request.url, response.status, seconds, monotonic())
        ):
            scheduler.pause_host(request, pause)
        return response


class LeaseMiddleware:
    """A spider middleware: marks a callback's output with the lease of the request whose response it parsed."""

    async def process_spider_output(self, response: Response, result: AsyncIterator[Any]) -> AsyncIterator[Any]:
        lease = response.request.meta.get(LEASE) if response.request is not None else None
        async for value in result:
            yield mark_child(value, lease) if lease else value


class BadRedirect(IgnoreRequest):
    """Raised for a redirect to an invalid URL. ``reason`` is counted for the page."""

    reason = "bad-address"


class RedirectMiddleware(redirect.RedirectMiddleware):
    def process_response(self, request: Request, response: Response) -> Request | Response:  # type: ignore[override]  # older Scrapy: spider
        """Raises :class:`BadRedirect`."""
        try:
            return super().process_response(request, response)
        except ValueError as error:
            raise BadRedirect(f"{request.url} leads to {response.headers.get('Location')!r}: {error}") from error


class MetaRefreshMiddleware(redirect.MetaRefreshMiddleware):
    def process_response(self, request: Request, response: Response) -> Request | Response:  # type: ignore[override]  # older Scrapy: spider
        head = response.body[:16_384]  # covers the 4,096 characters that Scrapy searches
        if b"refresh" not in head.lower() and b"\0" not in head:  # UTF-16 has zero bytes
            return response  # Scrapy decodes the whole page first
        try:
            return super().process_response(request, response)
        except ValueError:
            return response  # as browsers do, which show the page
