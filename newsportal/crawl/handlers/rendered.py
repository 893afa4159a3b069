"""Pages of sources with ``render: true``: fetched like every page, then loaded in a browser, whose requests are all sent by the handler.

scrapy-playwright manages browser, contexts and pages; its way of opening a page is replaced by a :class:`newsportal.net.rendering.Visit`.
It is not imported, and no browser is started, before the first such page.
"""

from __future__ import annotations

import asyncio
import logging
from dataclasses import replace
from itertools import count
from typing import TYPE_CHECKING, Any, Final
from weakref import WeakKeyDictionary

from scrapy import Request
from scrapy.http import HtmlResponse, Response
from scrapy_playwright.handler import ScrapyPlaywrightDownloadHandler

from newsportal.crawl.handlers.guarded import OF_PAGE_KEY
from newsportal.errors import RenderFailed
from newsportal.net.egress import HttpResponse, TooLarge, decompress
from newsportal.net.egress.client import join_headers
from newsportal.net.rendering.chromium import CLOSE_SECONDS, Chromium, Setup
from newsportal.net.rendering.exchange import Limits, PageRequest, has_markup
from newsportal.net.rendering.visit import CONTEXT, RenderResult, Visit

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from playwright.async_api import Page
    from scrapy.crawler import Crawler

    Fetch = Callable[[Request], Awaitable[Response]]

logging.getLogger("scrapy-playwright").setLevel(logging.ERROR)  # logs each failed page with a traceback; the run report counts them

VISIT: Final = "newsportal_visit"

_BROWSERS: WeakKeyDictionary[asyncio.AbstractEventLoop, dict[Setup, Chromium]] = WeakKeyDictionary()
_NUMBERS: Final = count(1)


class Renderer(ScrapyPlaywrightDownloadHandler):  # type: ignore[misc]  # it has no types
    """Renders pages. ``fetch`` sends the requests of pages: the handler, without rendering."""

    def __init__(self, crawler: Crawler, setup: Setup, fetch: Fetch) -> None:
        super().__init__(crawler)
        self.config.target_closed_max_retries = 0  # the visit of a lost page cannot be reused
        self.config.navigation_timeout_ms = setup.limits.timeout * 1000
        self._setup = setup
        self._fetch = fetch
        shared = replace(setup, limits=Limits(pages=setup.limits.pages, memory=setup.limits.memory))  # the others limit one page
        self._chromium: Chromium | None = _BROWSERS.setdefault(asyncio.get_running_loop(), {}).setdefault(shared, Chromium(shared))
        self._chromium.acquire()

    async def _launch(self) -> None:
        """No-op: the browser is started for the first page, not with the engine."""

    async def _maybe_launch_browser(self) -> None:
        """Use our current browser. Raises ``RenderFailed``."""
        assert self._chromium is not None
        browser = await self._chromium.ensure_started()
        if getattr(self, "browser", None) is not browser:
            self.browser = browser
            self.stats.inc_value("playwright/browser_count")

    async def download_request(self, request: Request) -> Response:
        raise NotImplementedError("pages are fetched by render(), everything else by the guarded handler")

    async def render(self, request: Request, response: Response) -> Response:
        """Return ``response`` as rendered, or a redirect to where the page navigated. Raises ``RenderFailed``."""
        assert self._chromium is not None
        try:
            first = answer_of(response, self._setup.limits.max_bytes)
        except ValueError as error:
            raise RenderFailed(response.url, "render-too-large", str(error), transient=False) from error
        if not has_markup(first.body):
            return response
        async with self._chromium.slots:
            base_meta: dict[str, Any] = {name: request.meta[name] for name in ("source", "verify_certificate") if name in request.meta}

            async def ask(subrequest: PageRequest) -> HttpResponse:
                headers = {**subrequest.headers, "accept-encoding": "gzip, deflate, br, zstd"}
                meta = {**base_meta, OF_PAGE_KEY: True, "download_maxsize": subrequest.max_bytes}
                scrapy_request = Request(subrequest.url, method=subrequest.method, headers=headers, body=subrequest.body, meta=meta)
                return answer_of(await self._fetch(scrapy_request), subrequest.max_bytes)

            visit = Visit(response.url, first, ask, self._setup.limits)
            try:
                rendered = await self._visited(response.url, visit, self._chromium)
            finally:
                tally = visit.tally
                source = request.meta.get("source")
                self.stats.inc_value(f"render/seconds/{source}", round(tally.seconds, 3))
                self.stats.inc_value(f"render/requests/{source}", tally.requests)
                self.stats.inc_value("render/bytes", tally.received)
                for reason, number in tally.blocked.items():
                    self.stats.inc_value(f"render/blocked/{reason}", number)
                if denied := tally.blocked["egress-denied"]:
                    self.stats.inc_value(f"render/denied/{source}", denied)
                    self.stats.inc_value("egress/denied", denied)
        self.stats.inc_value(f"render/pages/{request.meta.get('source')}")
        if not rendered.became_idle:
            self.stats.inc_value(f"render/restless/{request.meta.get('source')}")
        return _response(response, rendered)

    async def _visited(self, url: str, visit: Visit, chromium: Chromium) -> RenderResult:
        name = f"page {next(_NUMBERS)}"
        agent = self._crawler.settings.get("USER_AGENT")
        meta = {"playwright": True, "playwright_context": name, "playwright_context_kwargs": {**CONTEXT, "user_agent": agent}, VISIT: visit}
        closed = chromium.watch.closed
        watching = asyncio.ensure_future(chromium.watch_memory())
        try:
            async with asyncio.timeout(self._setup.limits.timeout + 2 * CLOSE_SECONDS):  # the page's limit, plus opening and closing
                rendered: RenderResult = await self._download_request(Request(url, meta=meta))
        except TimeoutError as error:
            await chromium.close()
            raise RenderFailed(url, "render-timeout", "the browser did not respond and was stopped") from error
        except RenderFailed as error:
            if error.reason == "render-crashed" and chromium.watch.closed > closed:
                raise RenderFailed(url, "render-memory", f"pages have more than {self._setup.limits.memory >> 20} MiB") from error
            raise RenderFailed(url, error.reason, error.detail, transient=error.transient) from error
        except Exception as error:
            raise RenderFailed(url, "render-crashed", str(error).partition("\n")[0]) from error
        finally:
            watching.cancel()
            await self._closed_context(name, chromium)
        return rendered

    async def _download_request_with_page(self, request: Request, page: Page, spider: Any) -> RenderResult:
        visit: Visit = request.meta[VISIT]
        return await visit.read(page)

    async def _closed_context(self, name: str, chromium: Chromium) -> None:
        """Close a page's context; if that fails, close the browser."""
        wrapper = self.context_wrappers.get(name)
        if wrapper is None:
            return
        try:
            async with asyncio.timeout(CLOSE_SECONDS):
                await wrapper.context.close()
        except Exception as error:  # noqa: BLE001 - on any error: the page must not stay open
            self.context_wrappers.pop(name, None)
            if chromium.connected:
                self.stats.inc_value("render/browser_ended")
                logging.getLogger(__name__).warning("the browser is stopped: one of its pages could not be closed: %s", error)
                await chromium.close()

    async def _close(self) -> None:
        for name in list(self.context_wrappers):
            await self._closed_context(name, self._chromium) if self._chromium else None
        if self._chromium is not None:
            self.stats.max_value("render/memory_peak", self._chromium.watch.peak)
            chromium, self._chromium = self._chromium, None
            await chromium.release()


def answer_of(response: Response, max_bytes: int) -> HttpResponse:
    """Return a response of the handler, decompressed. Raises ``ValueError`` for a body that is too long or broken."""
    encodings = ", ".join(value.decode("latin-1") for value in response.headers.getlist("Content-Encoding"))
    body = decompress(response.body, encodings, max_bytes) if encodings and response.body else response.body
    if len(body) > max_bytes:
        raise TooLarge(f"more than {max_bytes} bytes")
    pairs = (  # URLs of redirects are often in UTF-8, other headers in Latin-1 by the standard
        (name.decode("latin-1"), value.decode("utf-8" if name.lower() == b"location" else "latin-1", "replace"))
        for name, values in response.headers.items()
        for value in values
    )
    return HttpResponse(response.status, join_headers(pairs), body)


def _response(response: Response, rendered: RenderResult) -> Response:
    """Return the spider's response: the rendered page in UTF-8, under the URL it was fetched from."""
    flags = [*response.flags, "rendered"]
    headers = response.headers.copy()
    headers.pop("Content-Encoding", None)
    headers.pop("Content-Length", None)
    if rendered.navigated_to is not None:
        headers["Location"] = rendered.navigated_to
        return Response(response.url, status=302, headers=headers, flags=flags, ip_address=response.ip_address)
    headers["Content-Type"] = "text/html; charset=utf-8"
    body = (rendered.html or "").encode("utf-8", "replace")
    return HtmlResponse(
        response.url, response.status, headers, body, flags, encoding="utf-8", ip_address=response.ip_address, protocol=response.protocol
    )
