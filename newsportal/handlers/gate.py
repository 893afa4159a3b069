"""One pace a host for all spiders of a process.

Scrapy keeps a delay per spider; feeds, hub pages and search results of one crawl often lie on the same hosts, and the delay that
``sources.yaml`` names is the host's, not the spider's.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

if TYPE_CHECKING:
    from scrapy import Request
    from scrapy.crawler import Crawler

OF_PAGE = "of_page"
"""In the meta of requests that a page in the browser makes: its host's delay was waited for with the page itself."""

MAX_HOSTS = 10_000
"""Hosts remembered; the one that was asked longest ago is forgotten first."""


class Gate:
    """Lets a request through when its host's delay has passed since the one before, whichever spider sent that."""

    def __init__(self) -> None:
        self._next: OrderedDict[str, float] = OrderedDict()
        self._passed: dict[str, float] = {}

    async def passing(self, host: str, delay: float) -> None:
        """Wait for ``host``'s turn. ``delay`` in seconds; 0 never waits. What passed late, because the process stood still for a moment,
        makes the next one late, too."""
        if delay <= 0:
            return
        clock = asyncio.get_running_loop().time
        now = clock()
        turn = max(now, self._next.get(host, 0.0))
        self._next[host] = turn + delay
        self._next.move_to_end(host)
        while len(self._next) > MAX_HOSTS:
            self._passed.pop(self._next.popitem(last=False)[0], None)
        await asyncio.sleep(turn - now)
        while (wait := self._passed.get(host, 0.0) + delay - clock()) > 0:  # noqa: ASYNC110 - a moment is waited for, no event
            await asyncio.sleep(wait)
        self._passed[host] = clock()


GATE = Gate()
"""The process's own."""


def delay_of(crawler: Crawler, request: Request) -> float:
    """The delay in force for a request: its host's slot (robots.txt may ask for more), else the setting."""
    slots = crawler.engine.downloader.slots if crawler.engine is not None else {}
    slot = slots.get(request.meta.get("download_slot", ""))
    return slot.delay if slot is not None else crawler.settings.getfloat("DOWNLOAD_DELAY")


def host_of(request: Request) -> str:
    return urlsplit(request.url).hostname or ""
