"""What a source's sign-in adds to a request: put on where it goes out, so that queue, log and archive never have it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

from newsportal.crawl.addon import SourcesAddon
from newsportal.sources.places import Place

if TYPE_CHECKING:
    from scrapy import Request
    from scrapy.crawler import Crawler
    from scrapy.http import Response

REFUSED = frozenset({401, 403})


class SignIns:
    """The sign-ins of the sources of one crawl."""

    def __init__(self, crawler: Crawler) -> None:
        addon = crawler.get_addon(SourcesAddon)
        found = addon.sources.all() if addon is not None else ()
        self._sources = {source.key: source for source in found if isinstance(source, Place) and source.signs_in}

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        return cls(crawler)

    def headers_of(self, request: Request) -> dict[str, str]:
        """The headers that only this request may have; empty for one of another source, or to another host than its source's."""
        source = self._sources.get(str(request.meta.get("source")))
        return source.sign_in(request.url) if source is not None else {}

    def is_refused(self, request: Request, response: Response, reason: str | None) -> bool:
        """Whether the site does not take the sign-in any more: it says so, or shows the page to sign in (``reason`` ``login``)."""
        asked = response.status in REFUSED and bool(self.headers_of(request))
        return asked or (reason == "login" and request.meta.get("source") in self._sources)
