"""The two places where the frontier meets Scrapy's middlewares: hosts are asked only while this process holds them, and what callbacks make
is marked with the lease under which they ran."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Self

from scrapy.exceptions import IgnoreRequest

from newsportal.frontier.children import marked
from newsportal.frontier.feeder import Ending, Resting
from newsportal.frontier.requests import LEASE
from newsportal.frontier.scheduler import Scheduler
from newsportal.middlewares.retry import asked_wait

if TYPE_CHECKING:
    from scrapy import Request
    from scrapy.crawler import Crawler
    from scrapy.http import Response


class NotNow(IgnoreRequest):
    """Raised for a request whose host cannot be asked: it wants to be left alone (``host-rests``), or the crawl ends (``shutdown``). The
    spider's errback defers its link."""

    passing = True

    def __init__(self, reason: str, detail: str) -> None:
        super().__init__(detail)
        self.reason = reason


class TurnsMiddleware:
    """The innermost downloader middleware: whatever asks a host holds it, robots.txt, pictures and further pages too. A 429 or 503 that
    says when to come back counts for the host, in all processes."""

    def __init__(self, crawler: Crawler) -> None:
        self._crawler = crawler

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        return cls(crawler)

    @property
    def _scheduler(self) -> Scheduler | None:
        found = self._crawler.engine.scheduler if self._crawler.engine is not None else None
        return found if type(found) is Scheduler else None  # Scrapy takes all that looks like a scheduler for an instance of it

    async def process_request(self, request: Request) -> None:
        """Raises :class:`NotNow`."""
        if (scheduler := self._scheduler) is None:
            return
        try:
            await scheduler.turn(request)
        except Resting as error:
            raise NotNow("host-rests", f"{request.url} is not asked for: {error}") from error
        except Ending as error:
            raise NotNow("shutdown", f"{request.url} is not asked for: the crawl ends") from error

    def process_response(self, request: Request, response: Response) -> Response:
        seconds = asked_wait(response, datetime.now(UTC))
        if seconds and (scheduler := self._scheduler) is not None:
            scheduler.rest(request, seconds)
        return response


class ChildrenMiddleware:
    """A spider middleware: marks what a callback made with the lease of the request whose answer it read."""

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        return cls()

    async def process_spider_output(self, response: Response, result: AsyncIterator[Any]) -> AsyncIterator[Any]:
        lease = response.request.meta.get(LEASE) if response.request is not None else None
        async for one in result:
            yield marked(one, lease) if lease else one
