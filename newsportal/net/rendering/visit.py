"""One page in the browser: its first document is already fetched; all other requests are judged, counted and made here.

The browser navigates nowhere by itself. If the page navigates, the visit ends and returns the target like a redirect, so that robots.txt,
delays and the duplicate filter apply to it as to every page.
"""

from __future__ import annotations

import asyncio
import logging
from collections import Counter
from dataclasses import dataclass, field
from time import monotonic
from typing import TYPE_CHECKING, Any, Final

from newsportal.errors import EgressDenied, RenderFailed
from newsportal.net.egress import HttpResponse
from newsportal.net.rendering.exchange import METHODS, Limits, PageRequest, Send, declare, follow, same_page, sent_headers, true_headers
from newsportal.net.rendering.page_idle import WATCHER_SCRIPT, WINDOW, page_html, wait_until_idle

if TYPE_CHECKING:
    from playwright.async_api import Page, Request, Route

logger = logging.getLogger(__name__)
REQUEST_SECONDS: Final = 10.0  # seconds per response: a slower script is missing for readers, too
CONCURRENT_REQUESTS: Final = 6  # concurrent requests of a page: as browsers allow per host
MAX_RELOADS: Final = 2  # a page may set a cookie and reload itself; one that keeps doing so is read as it is
# Resource types that a page's text and URLs may depend on; videos, fonts, streams and beacons are not fetched.
RESOURCE_TYPES: Final = frozenset({"document", "script", "stylesheet", "xhr", "fetch", "other"})
# A transparent pixel in place of every picture: only its URL is needed, and lazy pages wait until pictures are loaded.
TRANSPARENT_PIXEL: Final = bytes.fromhex("47494638396101000100800000000000ffffff21f90401000000002c00000000010001000002024401003b")
# Every page has its own browser context: pages share no state.
CONTEXT: Final[dict[str, Any]] = {"service_workers": "block", "accept_downloads": False, "viewport": WINDOW, "locale": "zh-CN"}


@dataclass(frozen=True, slots=True)
class RenderResult:
    """Result of a page: its HTML, or the URL it navigated to (``navigated_to``). ``became_idle``: whether it became idle by itself."""

    html: str | None = None
    navigated_to: str | None = None
    became_idle: bool = True


@dataclass(slots=True)
class RenderCosts:
    """Costs of a page. ``blocked`` by reason: the resource type, or ``egress-denied``, ``requests``, ``bytes``, ``failed`` …"""

    requests: int = 0
    received: int = 0
    seconds: float = 0.0
    blocked: Counter[str] = field(default_factory=Counter)


def block_reason(kind: str, method: str, *, navigates: bool, main: bool) -> str | None:
    """Return why a request of a page is blocked, or ``None`` if it is allowed."""
    if kind not in RESOURCE_TYPES:
        return kind
    if method not in METHODS:
        return "method"
    if navigates and not main:
        return "frame"  # a page within this one: its text is not part of this page
    return "form" if navigates and method != "GET" else None


class Visit:
    """``first`` is the response to ``url``, fetched before the browser is involved."""

    def __init__(self, url: str, first: HttpResponse, ask: Send, limits: Limits) -> None:
        self.tally = RenderCosts()
        self._url = url
        self._first: HttpResponse | None = declare(first)
        self._ask = ask
        self._limits = limits
        self._document: str | None = None
        self._elsewhere: str | None = None
        self._reloads = 0
        self._crashed = asyncio.Event()
        self._slots = asyncio.Semaphore(CONCURRENT_REQUESTS)
        self._pending: set[asyncio.Task[HttpResponse]] = set()
        self._reading: set[Request] = set()
        self._closed = False

    @property
    def busy(self) -> bool:
        return bool(self._pending or self._reading)

    @property
    def has_navigated(self) -> bool:
        """Whether the page navigates elsewhere: its content no longer matters."""
        return self._elsewhere is not None

    async def read(self, page: Page) -> RenderResult:
        """Open the page, wait until it is idle, and return its HTML. Raises ``RenderFailed``; the caller closes ``page``."""
        began = monotonic()
        crash = asyncio.ensure_future(self._crashed.wait())
        reading = asyncio.ensure_future(self._read(page))
        try:
            async with asyncio.timeout(self._limits.timeout):
                await asyncio.wait((crash, reading), return_when=asyncio.FIRST_COMPLETED)
            if not reading.done():
                raise RenderFailed(self._url, "render-crashed", "the page's process ended")
            return reading.result()
        except TimeoutError as error:
            raise RenderFailed(self._url, "render-timeout", f"more than {self._limits.timeout:g} s") from error
        finally:
            self.tally.seconds = monotonic() - began
            self._closed = True
            tasks: list[asyncio.Future[Any]] = [crash, reading, *self._pending]
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    async def _read(self, page: Page) -> RenderResult:
        from playwright.async_api import Error

        try:
            page.on("crash", lambda _: self._crashed.set())
            page.on("close", lambda _: self._crashed.set())
            page.on("requestfinished", lambda request: self._reading.discard(request))
            page.on("requestfailed", lambda request: self._reading.discard(request))
            page.context.on("page", lambda other: None if other is page else asyncio.ensure_future(_closed(other)))
            page.set_default_timeout(self._limits.timeout * 1000)
            await page.add_init_script(WATCHER_SCRIPT)
            await page.route("**/*", self._routed)
            await page.goto(self._url, wait_until="commit", timeout=self._limits.timeout * 1000)
            became_idle = await wait_until_idle(page, self, self._limits.wait)
            if self._elsewhere is not None:
                return RenderResult(navigated_to=self._elsewhere)
            if not page.url.startswith(("http:", "https:")):  # a browser error page, an empty one, or one made by script only
                raise RenderFailed(self._url, "render-lost", f"the page became {page.url[:40]}", transient=False)
            html = await page_html(page, self._url, self._limits.max_bytes)
            if isinstance(html, int):
                raise RenderFailed(self._url, "render-too-large", f"{html} characters", transient=False)
            return RenderResult(html, became_idle=became_idle)
        except Error as error:
            if self._elsewhere is not None:
                return RenderResult(navigated_to=self._elsewhere)
            raise RenderFailed(self._url, "render-crashed", str(error).splitlines()[0]) from error

    async def _routed(self, route: Route, request: Request) -> None:
        """Handle a request of the page. Each must be answered: Playwright waits without a timeout."""
        from playwright.async_api import Error

        try:
            if self._closed:
                await route.abort("aborted")
            else:
                await self._answer(route, request)
        except Error as error:
            logger.debug("the page has been closed: %s", error)

    async def _answer(self, route: Route, request: Request) -> None:
        navigates = request.is_navigation_request()
        main = navigates and request.frame.parent_frame is None
        reason = block_reason(request.resource_type, request.method, navigates=navigates, main=main)
        if request.resource_type == "image":
            self.tally.blocked["image"] += 1
            await route.fulfill(status=200, content_type="image/gif", body=TRANSPARENT_PIXEL)
            return
        if reason is None and main:
            answer, reason = self._main(request)
            if answer is not None:
                await route.fulfill(status=answer.status, headers=true_headers(answer.headers), body=answer.body)
                return
        if reason is not None:
            await self._block(route, reason)
            return
        await self._pass_on(route, request)

    def _main(self, request: Request) -> tuple[HttpResponse | None, str | None]:
        """Return the first document, or why a further navigation is blocked. Another URL ends the visit."""
        first, self._first = self._first, None
        if first is not None:
            self._document = request.url
            return first, None
        if not same_page(request.url, self._document or self._url):
            self._elsewhere = self._elsewhere or request.url
            return None, "elsewhere"
        self._reloads += 1
        return None, "reload" if self._reloads > MAX_RELOADS else None

    async def _pass_on(self, route: Route, request: Request) -> None:
        remaining = self._limits.max_bytes - self.tally.received
        if self.tally.requests >= self._limits.requests or remaining <= 0:
            await self._block(route, "bytes" if remaining <= 0 else "requests")
            return
        self.tally.requests += 1
        task = asyncio.ensure_future(self._fetch(request, remaining))
        self._pending.add(task)
        try:
            answer = await task
        except asyncio.CancelledError:
            await route.abort("aborted")
            if not self._closed:
                raise
        except EgressDenied as error:
            logger.info("%s requests %s: refused (%s)", self._url, request.url, error.reason)
            await self._block(route, "egress-denied")
        except Exception as error:  # noqa: BLE001 - whatever the error is, the page continues without the response
            logger.debug("%s is rendered without %s: %s", self._url, request.url, error)
            await self._block(route, "failed")
        else:
            if self.tally.received + len(answer.body) > self._limits.max_bytes:  # others arrived meanwhile
                await self._block(route, "bytes")
                return
            self.tally.received += len(answer.body)
            self._reading.add(request)  # until the browser has received it: on a busy machine that takes a while
            await route.fulfill(status=answer.status, headers=true_headers(answer.headers), body=answer.body)
        finally:
            self._pending.discard(task)

    async def _fetch(self, request: Request, remaining: int) -> HttpResponse:
        async with self._slots, asyncio.timeout(REQUEST_SECONDS):
            headers = sent_headers((await request.all_headers()).items())
            return await follow(self._ask, PageRequest(request.url, request.method, headers, request.post_data_buffer or b"", remaining))

    async def _block(self, route: Route, reason: str) -> None:
        self.tally.blocked[reason] += 1
        navigates = route.request.is_navigation_request()
        await route.abort("aborted" if navigates else "blockedbyclient")  # any other value replaces the page by an error page


async def _closed(page: Page) -> None:
    from playwright.async_api import Error

    try:
        await page.close()
    except Error as error:
        logger.debug("a window is closed already: %s", error)
