"""Pages for a look at a site, fetched as politely as the crawl does: robots.txt obeyed, one after another, and not many."""

from __future__ import annotations

import time
from collections.abc import Callable
from urllib.parse import urlsplit

from newsportal.commands.trial import Fetch, fetcher
from newsportal.discovery.search import MAX_REQUESTS, NotAsked
from newsportal.errors import FetchFailed
from newsportal.items import Page
from newsportal.middlewares.rules import Rules, product_token, rules_from
from newsportal.sources import Sources

MAX_WAIT = 10.0
"""Seconds between two requests that somebody waits for; a site that asks for more (Crawl-delay) is not looked at any further."""


class Visitor:
    """Called with a URL, answers its page. Raises ``EgressDenied`` and ``FetchFailed``, of which ``NotAsked`` is one.

    ``requests`` counts what was asked, robots.txt included; ``tell`` is called with each address before it is asked for.
    """

    def __init__(
        self,
        get: Fetch,
        agent: str = "newsportal",
        *,
        obey: bool = True,
        delay: float = 0.0,
        most: int = MAX_REQUESTS,
        tell: Callable[[str], None] = lambda url: None,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._get, self._agent, self._obey, self._delay, self._most = get, agent, obey, delay, most
        self._tell, self._sleep = tell, sleep
        self._robots: dict[str, tuple[bytes, Rules]] = {}
        self._last: dict[str, float] = {}
        self.requests = 0

    def __call__(self, url: str) -> Page:
        if self._obey:
            _, rules = self._rules(url)
            if not rules.allows(url):
                raise NotAsked(url, "robots", rules.refusal or "robots.txt does not allow it")
            if rules.delay > MAX_WAIT and self._last.get(_origin(url)):
                raise NotAsked(url, "robots", f"robots.txt asks for {rules.delay:g} s between requests")
        return self._asked(url)

    def robots(self, url: str) -> bytes:
        """The robots.txt of a site as it was read; empty if it has none or is not asked for."""
        return self._rules(url)[0] if self._obey else b""

    def _rules(self, url: str) -> tuple[bytes, Rules]:
        origin = _origin(url)
        if origin not in self._robots:
            try:
                page = self._asked(f"{origin}/robots.txt")
                found = page.body if page.status < 300 else b"", rules_from(page.status, page.body, self._agent)
            except FetchFailed as error:
                if error.reason == "enough":
                    raise
                found = b"", Rules(agent=self._agent, refusal=f"robots.txt cannot be had ({error.reason})")
            self._last.pop(origin, None)
            self._robots[origin] = found
        return self._robots[origin]

    def _asked(self, url: str) -> Page:
        if self.requests >= self._most:
            raise NotAsked(url, "enough", f"{self._most} requests were made")
        origin = _origin(url)
        rules = self._robots[origin][1] if origin in self._robots else None
        wait = max(self._delay, rules.delay if rules else 0.0)
        if origin in self._last:
            self._sleep(max(0.0, self._last[origin] + wait - time.monotonic()))
        self.requests += 1
        self._tell(url)
        try:
            return self._get(url)
        finally:
            self._last[origin] = time.monotonic()


def visitor(known: Sources, *, most: int = MAX_REQUESTS, tell: Callable[[str], None] = lambda url: None) -> Visitor:
    """A visitor with the manners of sources.yaml."""
    polite = known.politeness
    agent = product_token(known.user_agent)
    return Visitor(fetcher(known), agent, obey=polite.obey_robots, delay=min(polite.delay, MAX_WAIT), most=most, tell=tell)


def _origin(url: str) -> str:
    try:
        parts = urlsplit(url)
    except ValueError:
        return url
    return f"{parts.scheme}://{parts.netloc}"
