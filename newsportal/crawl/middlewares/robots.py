"""robots.txt by RFC 9309. Scrapy's middleware crawls on when robots.txt returns 5xx, times out or is reset; here that forbids crawling.

robots.txt is fetched by the crawl's own downloader, so it is guarded, replayed and archived like every page.
"""

import asyncio
import logging
from collections.abc import Callable
from time import monotonic
from urllib.parse import urljoin, urlsplit

from scrapy import Request
from scrapy.crawler import Crawler
from scrapy.exceptions import CannotResolveHostError, IgnoreRequest
from scrapy.http.request import NO_CALLBACK

from newsportal.crawl.addon import CrawlerComponent
from newsportal.errors import EgressDenied
from newsportal.net.egress.robots import MAX_DELAY, RobotsRules, parse_robots, product_token

logger = logging.getLogger(__name__)

VALID_SECONDS = 24 * 3600.0  # how long rules are used (RFC 9309, 2.4: not more than a day)
RETRY_SECONDS = 600.0  # seconds for which an unreachable robots.txt forbids crawling before it is fetched again
MAX_REDIRECTS = 5  # RFC 9309, 2.3.1.2
MAX_ORIGINS = 20_000  # origins whose rules are cached; beyond that the oldest are fetched again
REDIRECTS = frozenset({301, 302, 303, 307, 308})

PRIORITY = 1000  # as in Scrapy's middleware: pages wait for it


class RobotsDenied(IgnoreRequest):
    """Raised for a request that robots.txt forbids (``reason`` ``robots``), or whose robots.txt could not be fetched
    (``robots-unreachable``, or ``dns`` for an unresolvable host; ``transient``: another run may retry). The spider's errback counts it.
    Robots tags of pages use reasons of their own (``robots_tags``)."""

    def __init__(self, url: str, reason: str, detail: str, *, transient: bool | None = None) -> None:
        super().__init__(f"{detail}: {url}")
        self.reason = reason
        self.transient = reason != "robots" if transient is None else transient


class RobotsBase(CrawlerComponent):
    """Base of the middlewares that obey robots rules, by ``request.meta["obey_robots"]``, else the setting ``ROBOTSTXT_OBEY``."""

    def __init__(self, crawler: Crawler) -> None:
        super().__init__(crawler)
        settings = crawler.settings
        self._obey = settings.getbool("ROBOTSTXT_OBEY")
        self._token = settings.get("ROBOTSTXT_USER_AGENT") or product_token(settings.get("USER_AGENT") or "")

    def _obeys(self, request: Request) -> bool:
        if not request.url.startswith("http"):  # a mailbox has no robots.txt
            return False
        obey = request.meta.get("obey_robots")
        return self._obey if obey is None else bool(obey)

    def _count(self, name: str) -> None:
        if self._crawler.stats:
            self._crawler.stats.inc_value(name)


class RobotsMiddleware(RobotsBase):
    def __init__(self, crawler: Crawler, clock: Callable[[], float] = monotonic) -> None:
        super().__init__(crawler)
        self._clock = clock
        self._hurried = bool(crawler.settings.get("NEWSPORTAL_REPLAY"))  # in a replay there is no server to spare
        self._cached: dict[str, tuple[float, RobotsRules]] = {}
        self._pending: dict[str, asyncio.Task[RobotsRules]] = {}

    async def process_request(self, request: Request) -> None:
        """Raises :class:`RobotsDenied`, or :class:`EgressDenied` if the host's robots.txt is at a forbidden IP address."""
        if not self._obeys(request) or request.meta.get("dont_obey_robotstxt") or not request.url.startswith(("http:", "https:")):
            return
        rules = await self._rules(request)
        if not rules.allows(request.url):
            reason = rules.cause if rules.refusal else "robots"
            self._count(f"robots/denied/{reason}")
            raise RobotsDenied(request.url, reason, rules.refusal or "forbidden by robots.txt")
        if rules.delay and not self._hurried:
            self._slow_down(request, rules)

    async def _rules(self, request: Request) -> RobotsRules:
        """Return the rules of the request's origin, fetched once for all waiting requests."""
        parts = urlsplit(request.url)
        origin = f"{parts.scheme}://{parts.netloc}"
        until, rules = self._cached.get(origin, (0.0, None))
        if rules is not None and self._clock() < until:
            return rules
        if origin not in self._pending:
            self._pending[origin] = asyncio.ensure_future(self._learn(origin, request))
        return await asyncio.shield(self._pending[origin])

    async def _learn(self, origin: str, request: Request) -> RobotsRules:
        try:
            rules = await self._fetch(f"{origin}/robots.txt", request)
            self._cached.pop(origin, None)
            if len(self._cached) >= MAX_ORIGINS:
                del self._cached[next(iter(self._cached))]
            self._cached[origin] = (self._clock() + (RETRY_SECONDS if rules.refusal else VALID_SECONDS), rules)
            return rules
        finally:
            del self._pending[origin]

    async def _fetch(self, url: str, request: Request) -> RobotsRules:
        """Fetch robots.txt. Redirects are followed here: too many mean that there is no robots.txt (RFC 9309, 2.3.1.2)."""
        self._count("robots/requests")
        if (engine := self._crawler.engine) is None:
            raise RuntimeError("requests before the engine has started")
        meta = {"obey_robots": False, "dont_redirect": True, "max_retry_times": 1}
        if "verify_certificate" in request.meta:
            meta["verify_certificate"] = request.meta["verify_certificate"]
        target = b""
        for hop in range(MAX_REDIRECTS + 1):
            try:
                url = urljoin(url, target.decode("utf-8", "replace").strip())
                response = await engine.download_async(Request(url, priority=PRIORITY, callback=NO_CALLBACK, dont_filter=True, meta=meta))
            except EgressDenied as error:
                if hop == 0:
                    raise  # the pages are at the same IP address
                return self._unreachable(f"its robots.txt redirects to a forbidden address ({error.reason})")
            except CannotResolveHostError as error:
                return self._unreachable(str(error), "dns" if hop == 0 else RobotsRules.cause)
            except Exception as error:  # noqa: BLE001 - on any error the rules are unknown, which forbids crawling
                return self._unreachable(f"its robots.txt could not be fetched ({type(error).__name__}: {error})")
            target = response.headers.get("Location") or b""
            if response.status not in REDIRECTS or not target:
                self._count(f"robots/status/{response.status}")
                return parse_robots(response.status, response.body, self._token)
        return RobotsRules(agent=self._token)

    def _unreachable(self, detail: str, cause: str = RobotsRules.cause) -> RobotsRules:
        self._count("robots/unreachable")
        return RobotsRules(agent=self._token, refusal=detail, cause=cause)

    def _slow_down(self, request: Request, rules: RobotsRules) -> None:
        """Set the delay of the host's slot, also for slots that Scrapy creates again after an idle minute."""
        engine = self._crawler.engine
        if engine is None:
            return
        downloader = engine.downloader
        name = downloader.get_slot_key(request)
        settings = downloader.per_slot_settings.setdefault(name, {})
        if settings.get("crawl-delay") == rules.delay:
            return
        if (rules.crawl_delay or 0.0) > MAX_DELAY:
            logger.warning("%s requests a delay of %g s; %g s is used", name, rules.crawl_delay, MAX_DELAY)
            self._count("robots/delay_capped")
        slot = downloader.slots.get(name)
        current = slot.delay if slot else self._crawler.settings.getfloat("DOWNLOAD_DELAY")
        settings |= {"crawl-delay": rules.delay, "delay": max(rules.delay, current), "concurrency": 1, "jitter": 0.0}
        if slot:
            slot.delay, slot.concurrency, slot.jitter = settings["delay"], 1, 0.0
