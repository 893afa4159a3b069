"""Pages that ask robots not to be kept, or their links not to be followed, are left alone where robots.txt is obeyed."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Self

from newsportal.egress.robots import product_token
from newsportal.middlewares.robots import RobotsDenied
from newsportal.middlewares.tags import tags_of

if TYPE_CHECKING:
    from scrapy import Request
    from scrapy.crawler import Crawler
    from scrapy.http import Response

LIST_PAGE = "list_page"
"""In the meta of requests for list pages: nothing of them is kept, so ``noindex`` says nothing there; ``nofollow`` does."""

ENGINE = "engine:"
"""Result pages are made for the one who asked, and ask other engines not to read them; requests without a source are no pages."""

READABLE = (b"html", b"xml", b"text")
"""Parts of content types that may hold ``meta`` elements; a header counts for all."""

NOINDEX, NOFOLLOW = "robots-noindex", "robots-nofollow"


class RobotsTagsMiddleware:
    """Counts ``robots/noarchive`` besides, which only operators can decide about."""

    def __init__(self, crawler: Crawler) -> None:
        settings = crawler.settings
        self._stats = crawler.stats
        self._obey = settings.getbool("ROBOTSTXT_OBEY")
        self._token = settings.get("ROBOTSTXT_USER_AGENT") or product_token(settings.get("USER_AGENT") or "")

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        return cls(crawler)

    def process_response(self, request: Request, response: Response) -> Response:
        """Raises :class:`RobotsDenied`, reason ``robots-noindex`` or ``robots-nofollow``."""
        source = str(request.meta.get("source") or ENGINE)
        if source.startswith(ENGINE) or not self._applies(request) or not 200 <= response.status < 300:
            return response
        headers = [value.decode("latin-1") for value in response.headers.getlist("X-Robots-Tag")]
        kind = (response.headers.get("Content-Type") or b"html").lower()
        tags = tags_of(headers, response.body if any(part in kind for part in READABLE) else b"", self._token)
        if LIST_PAGE in request.meta:
            if not tags.follow:
                raise self._denied(request, NOFOLLOW, "the list page asks robots not to follow its links")
        elif not tags.keeps(datetime.now(UTC)):
            raise self._denied(request, NOINDEX, "the page asks robots not to keep it")
        elif not tags.archive:
            self._count("robots/noarchive")
        return response

    def _applies(self, request: Request) -> bool:
        asked = request.meta.get("obey_robots")
        return self._obey if asked is None else bool(asked)

    def _denied(self, request: Request, reason: str, detail: str) -> RobotsDenied:
        self._count(f"robots/denied/{reason}")
        return RobotsDenied(request.url, reason, detail, passing=False)

    def _count(self, name: str) -> None:
        if self._stats:
            self._stats.inc_value(name)
