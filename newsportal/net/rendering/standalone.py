"""Rendering without a crawl, for commands: the page and its subresources are fetched through :mod:`newsportal.net.egress`."""

import asyncio
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime

from newsportal.errors import FetchFailed, NewsportalError, RenderFailed
from newsportal.items import Page
from newsportal.net import egress
from newsportal.net.egress.client import SignIn, no_sign_in
from newsportal.net.rendering.chromium import CLOSE_SECONDS, Chromium, Setup, find_chromium, missing_parts
from newsportal.net.rendering.exchange import PageRequest, Send, follow, has_markup, is_renderable
from newsportal.net.rendering.visit import CONTEXT, RenderResult, Visit

MAX_PLACES = 5  # maximum number of pages to which scripts may navigate, like redirects


def fetch(
    url: str,
    policy: egress.Policy,
    setup: Setup,
    *,
    headers: Mapping[str, str] | None = None,
    verify: bool = True,
    sign_in: SignIn = no_sign_in,
) -> Page:
    """Return the page at ``url`` as rendered by a browser; non-HTML content is returned unchanged. Raises ``EgressDenied``, ``FetchFailed``
    (also if rendering fails), ``NewsportalError`` without a browser."""
    if problem := missing_parts(setup.browser):
        raise NewsportalError(problem)
    return asyncio.run(_fetch_rendered(url, policy, setup, headers or {}, verify, sign_in))


def check_browser(setup: Setup) -> str:
    """Start the browser, and describe its version and isolation. Raises ``RenderFailed``."""

    async def start() -> str:
        chromium = Chromium(setup)
        chromium.acquire()
        try:
            browser = await chromium.ensure_started()
            walls = "no network device" if chromium.isolated else "unreachable proxy and no DNS (the kernel does not isolate the network)"
            return f"{find_chromium(setup.browser)}, version {browser.version}, isolated from the network by: {walls}"
        finally:
            await chromium.release()

    return asyncio.run(start())


async def _fetch_rendered(url: str, policy: egress.Policy, setup: Setup, headers: Mapping[str, str], verify: bool, sign_in: SignIn) -> Page:
    chromium = Chromium(setup)
    chromium.acquire()
    try:
        async with egress.open_exchange(policy, verify=verify) as exchange:

            async def ask(request: PageRequest) -> egress.HttpResponse:
                all_headers = {**request.headers, "accept-encoding": "gzip, deflate, br, zstd", **sign_in(request.url)}
                return await exchange(request.method, request.url, all_headers, request.body, request.max_bytes)

            for _ in range(MAX_PLACES):
                page, rendered = await _render(url, ask, chromium, headers)
                if rendered.navigated_to is None:
                    return page
                url = rendered.navigated_to
        raise FetchFailed(url, "redirects", f"more than {MAX_PLACES}")
    except RenderFailed as error:
        raise FetchFailed(error.url, error.reason, error.detail) from error
    finally:
        await chromium.release()


async def _render(url: str, ask: Send, chromium: Chromium, headers: Mapping[str, str]) -> tuple[Page, RenderResult]:
    limits, last = chromium.setup.limits, url

    async def remembering(request: PageRequest) -> egress.HttpResponse:
        nonlocal last
        last = request.url
        return await ask(request)

    first = await follow(remembering, PageRequest(url, headers={"accept": "*/*", **headers}, max_bytes=limits.max_bytes))
    page = Page(url=last, body=first.body, fetched=datetime.now(UTC), status=first.status, content_type=first.headers.get("content-type"))
    if not (is_renderable(first.status, page.content_type) and has_markup(first.body)):
        return page, RenderResult()
    browser = await chromium.ensure_started()
    context = await browser.new_context(**CONTEXT, user_agent=headers.get("user-agent"))
    watching = asyncio.ensure_future(chromium.watch_memory())
    try:
        rendered = await Visit(last, first, ask, limits).read(await context.new_page())
    finally:
        watching.cancel()
        with suppress(Exception):  # the browser is ended anyway
            await asyncio.wait_for(context.close(), CLOSE_SECONDS)
    html_page = replace(page, body=(rendered.html or "").encode("utf-8", "replace"), content_type="text/html; charset=utf-8")
    return html_page, rendered
