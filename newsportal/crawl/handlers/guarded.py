"""Scrapy's HTTP handler with checked connections: only to IP addresses that the policy allows.

Scrapy resolves names inside Twisted's endpoints. Here the connection pool creates its own endpoints, so that the checked IP address is the
one connected to, for first requests, redirects, robots.txt and retries alike.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from time import monotonic
from typing import Any
from urllib.parse import urlsplit

from scrapy import Request
from scrapy.core.downloader.contextfactory import _ScrapyClientContextFactory
from scrapy.core.downloader.handlers.http11 import HTTP11DownloadHandler, _LenientHTTP11ClientProtocol
from scrapy.crawler import Crawler
from scrapy.exceptions import CannotResolveHostError, DownloadCancelledError, DownloadFailedError
from scrapy.http import Response
from twisted.internet.defer import Deferred
from twisted.internet.defer import TimeoutError as DeferredTimeoutError
from twisted.internet.endpoints import TCP4ClientEndpoint, TCP6ClientEndpoint, wrapClientTLS
from twisted.internet.error import ConnectError
from twisted.internet.interfaces import IStreamClientEndpoint
from twisted.internet.protocol import Factory
from twisted.internet.threads import deferToThread
from twisted.python.failure import Failure
from twisted.web._newclient import HEADER, STATUS
from twisted.web.client import HTTPConnectionPool
from zope.interface import implementer  # type: ignore[import-untyped]

from newsportal.errors import EgressDenied
from newsportal.net.egress import Policy, check_url, resolve

OF_PAGE_KEY = "of_page"  # Meta key of requests made by a page in the browser: its host's delay was observed for the page itself
MAX_HOSTS = 10_000  # hosts remembered; the least recently requested is forgotten first


class HostPacer:
    """Delays requests to a host by its minimum interval, across all spiders of the process."""

    def __init__(self) -> None:
        self._next: OrderedDict[str, float] = OrderedDict()
        self._passed: dict[str, float] = {}

    async def wait(self, host: str, delay: float) -> None:
        """Wait until ``host`` may be requested. ``delay``: seconds, 0 never waits. A late request delays the next one, too."""
        if delay <= 0:
            return
        clock = asyncio.get_running_loop().time
        now = clock()
        start = max(now, self._next.get(host, 0.0))
        self._next[host] = start + delay
        self._next.move_to_end(host)
        while len(self._next) > MAX_HOSTS:
            self._passed.pop(self._next.popitem(last=False)[0], None)
        await asyncio.sleep(start - now)
        while (wait := self._passed.get(host, 0.0) + delay - clock()) > 0:  # noqa: ASYNC110 - waits for a time, not for an event
            await asyncio.sleep(wait)
        self._passed[host] = clock()


PACER = HostPacer()  # shared by the process


def delay_of(crawler: Crawler, request: Request) -> float:
    """Return the delay for a request: that of its host's slot (which robots.txt may increase), else the setting."""
    slots = crawler.engine.downloader.slots if crawler.engine is not None else {}
    slot = slots.get(request.meta.get("download_slot", ""))
    return slot.delay if slot is not None else crawler.settings.getfloat("DOWNLOAD_DELAY")


MAX_HEAD = 256 * 1024  # bytes of status line and headers: the limit of browsers; a page needs about one kilobyte
NAME_SECONDS = 60.0  # seconds for which a checked IP address is reused: as commonly cached by resolvers
MAX_NAMES = 10_000  # hosts whose IP addresses are cached, as in Scrapy's own cache
CONNECT_SECONDS = 10.0  # for one IP address of several: the next may answer
POOL_KEY_PARTS = 4  # scheme, host, port, bind address; the keys of proxied connections have other lengths


class NameCache:
    """Checked IP addresses by host and port, cached briefly."""

    def __init__(self, reactor: Any, policy: Policy, timeout: float) -> None:
        self._reactor = reactor
        self._policy = policy
        self._timeout = timeout
        self._cached: dict[tuple[str, int], tuple[float, tuple[str, ...]]] = {}

    async def addresses(self, host: str, port: int) -> tuple[str, ...]:
        """Resolve a host. Raises :class:`EgressDenied` and Scrapy's ``CannotResolveHostError``."""
        until, addresses = self._cached.get((host, port), (0.0, ()))
        if monotonic() < until:
            return addresses
        lookup: Deferred[tuple[str, ...]] = deferToThread(resolve, host, self._policy, port)
        try:
            addresses = await lookup.addTimeout(self._timeout, self._reactor)
        except (OSError, DeferredTimeoutError) as error:
            raise CannotResolveHostError(f"no address for {host!r}: {error}") from error
        if len(self._cached) >= MAX_NAMES:
            self._cached.clear()
        self._cached[host, port] = (monotonic() + NAME_SECONDS, addresses)
        return addresses


@implementer(IStreamClientEndpoint)
class CheckedEndpoint:
    """Connects to the first checked IP address that answers."""

    def __init__(self, reactor: Any, names: NameCache, host: str, port: int, bind: Any) -> None:
        self._reactor = reactor
        self._names = names
        self._host = host
        self._port = port
        self._bind = bind

    def connect(self, factory: Any) -> Deferred[Any]:
        return Deferred.fromCoroutine(self._connect(factory))

    async def _connect(self, factory: Any) -> Any:
        failure: Exception | None = None
        for address in await self._names.addresses(self._host, self._port):
            kind = TCP6ClientEndpoint if ":" in address else TCP4ClientEndpoint
            endpoint = kind(self._reactor, address, self._port, timeout=CONNECT_SECONDS, bindAddress=self._bind)
            try:
                return await endpoint.connect(factory)
            except ConnectError as error:
                failure = error
        raise failure or CannotResolveHostError(f"no address for {self._host!r}")


class CheckedPool(HTTPConnectionPool):
    """Scrapy's pool with checked endpoints for new connections."""

    def __init__(self, handler: GuardedHandler, reactor: Any, per_host: int) -> None:
        super().__init__(reactor, persistent=True)  # type: ignore[no-untyped-call]
        self.maxPersistentPerHost = per_host
        self._factory: Any = _BoundedFactory
        self._handler = handler

    def getConnection(self, key: Any, endpoint: Any) -> Any:  # noqa: N802 - Twisted's name
        return super().getConnection(key, self._handler.endpoint(key) or endpoint)


class GuardedHandler(HTTP11DownloadHandler):
    """For http and https. ``verify`` False accepts any certificate (a setting of the source)."""

    def __init__(self, crawler: Crawler, policy: Policy, *, verify: bool = True) -> None:
        super().__init__(crawler)
        from twisted.internet import reactor

        self._policy = policy
        self._reactor = reactor
        self._proxies = crawler.settings.getbool("HTTPPROXY_ENABLED")
        self._names = NameCache(reactor, policy, crawler.settings.getfloat("DNS_TIMEOUT"))
        self._pool = CheckedPool(self, reactor, self._pool.maxPersistentPerHost)
        if not verify:
            self._contextFactory: Any = _ScrapyClientContextFactory(verify_certificates=False)

    async def download_request(self, request: Request) -> Response:
        """Raises :class:`EgressDenied` in addition to the errors of Scrapy's handler."""
        check_url(request.url, self._policy)
        parts = urlsplit(request.url)
        if parts.netloc.startswith("["):  # Twisted strips the brackets; a copy, since a redirect would inherit the header
            request = request.replace(headers={**request.headers, "Host": parts.netloc})
        if request.meta.get("proxy") and not self._proxies:
            raise EgressDenied(request.url, "proxy")  # a proxy resolves names itself: the IP address cannot be checked
        try:
            return await super().download_request(request)
        except DownloadFailedError as error:
            if any(reason.check(HeadTooLarge) for reason in getattr(error.__cause__, "reasons", ())):
                raise DownloadCancelledError(f"more than {MAX_HEAD} bytes of headers: {request.url}") from error
            raise

    def endpoint(self, key: tuple[Any, ...]) -> Any:
        """Return the endpoint for a pool key of Scrapy's agents; ``None`` for a connection to a proxy."""
        if len(key) != POOL_KEY_PARTS or key[0] not in (b"http", b"https"):
            return None
        scheme, host, port, bind = key
        endpoint: Any = CheckedEndpoint(self._reactor, self._names, host.decode("ascii"), port, bind)
        return endpoint if scheme == b"http" else wrapClientTLS(self._contextFactory.creatorForNetloc(host, port), endpoint)


class HeadTooLarge(Exception):
    """Raised for a status line and headers longer than :data:`MAX_HEAD`."""


class _BoundedProtocol(_LenientHTTP11ClientProtocol):
    """Limits the size of all headers; Twisted limits only the length of one line."""

    _head = 0
    _of: object = None

    def dataReceived(self, data: bytes) -> None:  # noqa: N802 - Twisted's name
        parser = self._parser
        if parser is not self._of:  # next response on the connection; a short one in one piece is never seen past its head
            self._of, self._head = parser, 0
        if parser is not None and parser.state in (STATUS, HEADER):
            self._head += len(data)
            if self._head > MAX_HEAD:
                self._giveUp(Failure(HeadTooLarge()))  # type: ignore[no-untyped-call]
                return
        else:
            self._head = 0
        super().dataReceived(data)  # type: ignore[no-untyped-call]


class _BoundedFactory(Factory):
    """Creates :class:`_BoundedProtocol`; called by the pool with its callback and a description of the endpoint."""

    noisy = False

    def __init__(self, quiescent: Any, metadata: str) -> None:
        self._quiescent = quiescent

    def buildProtocol(self, addr: Any) -> _BoundedProtocol:  # noqa: N802 - Twisted's name
        return _BoundedProtocol(self._quiescent)  # type: ignore[no-untyped-call]
