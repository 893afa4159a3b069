"""Fetch pages of a site interactively, as politely as the crawl: obeying robots.txt, sequentially, and not many."""

import time
from collections.abc import Callable
from urllib.parse import urlsplit

from newsportal.errors import EgressDenied, FetchFailed, Redirected
from newsportal.items import Page
from newsportal.net.egress.robots import RobotsRules, parse_robots, product_token
from newsportal.services.discovery.search import MAX_REQUESTS, FetchRefused
from newsportal.services.trying.trial import Fetch, fetcher
from newsportal.sources import Sources

MAX_WAIT = 10.0
"""Maximum seconds between two requests for a waiting user; a site that requires more (Crawl-delay) is not fetched further."""

MAX_REDIRECTS = 5  # as in the crawl, and for robots.txt (RFC 9309, 2.3.1.2)


class PoliteFetcher:
    """Fetches pages by URL. Raises ``EgressDenied`` and ``FetchFailed``, including ``FetchRefused``. Redirects are followed here, so that
    robots.txt is checked for each URL; ``get`` may raise ``Redirected``. ``requests``: number of requests, including robots.txt and
    redirects; ``report`` is called with each URL before its request."""

    def __init__(
        self, get: Fetch, agent: str = "newsportal", *, obey: bool = True, delay: float = 0.0, max_requests: int = MAX_REQUESTS,
        report: Callable[[str], None] = lambda url: None, sleep: Callable[[float], None] = time.sleep,
    ) -> None:  # fmt: skip
        self._get, self._agent, self._obey, self._delay, self._max_requests = get, agent, obey, delay, max_requests
        self._report, self._sleep = report, sleep
        self._robots: dict[str, tuple[bytes, RobotsRules]] = {}
        self._last: dict[str, float] = {}
        self.requests = 0

    def __call__(self, url: str) -> Page:
        if self._obey and self._rules(url)[1].delay > MAX_WAIT and self._last.get(_origin(url)):
            raise FetchRefused(url, "robots", f"robots.txt asks for {self._rules(url)[1].delay:g} s between requests")
        return self._followed(url, obey=self._obey)

    def _followed(self, url: str, *, obey: bool) -> Page:
        """Fetch a URL, following redirects; with ``obey`` robots.txt is checked for each URL."""
        current = url
        for _ in range(MAX_REDIRECTS + 1):
            if obey and not (rules := self._rules(current)[1]).allows(current):
                raise FetchRefused(current, rules.cause if rules.refusal else "robots", rules.refusal or "robots.txt does not allow it")
            try:
                return self._fetch(current)
            except Redirected as moved:
                current = moved.target
        raise FetchFailed(url, "redirects", f"more than {MAX_REDIRECTS}")

    def robots(self, url: str) -> bytes:
        """Return the robots.txt of a site; empty if it has none or it is not obeyed."""
        return self._rules(url)[0] if self._obey else b""

    def _rules(self, url: str) -> tuple[bytes, RobotsRules]:
        origin = _origin(url)
        if origin not in self._robots:
            self._robots[origin] = self._robots_of(f"{origin}/robots.txt")
            self._last.pop(origin, None)
        return self._robots[origin]

    def _robots_of(self, url: str) -> tuple[bytes, RobotsRules]:
        """Fetch robots.txt as in the crawl: too many redirects count as no robots.txt, one to a forbidden address disallows everything."""
        first = self.requests + 1
        try:
            page = self._followed(url, obey=False)
        except EgressDenied as error:
            if self.requests == first:
                raise  # the pages have the same address
            return b"", RobotsRules(agent=self._agent, refusal=f"robots.txt redirects to a forbidden address ({error.reason})")
        except FetchFailed as error:
            if error.reason == "redirects":
                return b"", RobotsRules(agent=self._agent)
            if error.reason == "enough":
                raise
            return b"", RobotsRules(agent=self._agent, refusal="robots.txt could not be fetched", cause=error.reason)
        return page.body if page.status < 300 else b"", parse_robots(page.status, page.body, self._agent)

    def _fetch(self, url: str) -> Page:
        if self.requests >= self._max_requests:
            raise FetchRefused(url, "enough", f"{self._max_requests} requests were made")
        origin = _origin(url)
        rules = self._robots[origin][1] if origin in self._robots else None
        wait = max(self._delay, min(rules.delay, MAX_WAIT) if rules else 0.0)
        if origin in self._last:
            self._sleep(max(0.0, self._last[origin] + wait - time.monotonic()))
        self.requests += 1
        self._report(url)
        try:
            return self._get(url)
        finally:
            self._last[origin] = time.monotonic()


def polite_fetcher(
    sources: Sources, *, max_requests: int = MAX_REQUESTS, report: Callable[[str], None] = lambda url: None
) -> PoliteFetcher:
    get, polite, agent = fetcher(sources, follow=False), sources.politeness, product_token(sources.user_agent)
    return PoliteFetcher(get, agent, obey=polite.obey_robots, delay=min(polite.delay, MAX_WAIT), max_requests=max_requests, report=report)


def _origin(url: str) -> str:
    try:
        parts = urlsplit(url)
    except ValueError:
        return url
    return f"{parts.scheme}://{parts.netloc}"
