"""A cache of complete responses, shared for some seconds by readers without an account: simultaneous requests render a page once.

Only pages that depend on nothing but the URL and the reader's preferences and language are shared: lists and stories. A request with any
other cookie (a session, a reader's name, a notice) or a token, and one of a returning reader, to whom new stories are shown, gets its own
page, which is not cached. A response is valid for :data:`SECONDS` and until the store changes; any change sent by a signed-in user clears
the cache. Responses have an ``ETag``, so browsers may get 304.
"""

from __future__ import annotations

import asyncio
import gzip
from collections import OrderedDict
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from hashlib import blake2b
from time import monotonic
from typing import TYPE_CHECKING, Final

from starlette.concurrency import run_in_threadpool
from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from newsportal.errors import StoreError
from newsportal.portal.language import choose
from newsportal.portal.preferences import CHOICES, VISIT_COOKIE, last_visit, preferences, remember_visit
from newsportal.portal.request_body import SAFE, has_etag

if TYPE_CHECKING:
    from newsportal.portal.context import Portal

SECONDS: Final = 5.0  # maximum delay of anything that does not change the store (a crawl that begins, relative times)
MAX_BYTES: Final = 16 * 2**20  # total size of the cache: some 800 compressed pages
MAX_RESPONSE: Final = 2**20
MAX_QUERY: Final = 200  # bytes: search queries are not cached
PAGES: Final = ("/latest", "/photos")
SHARED_PREFIXES: Final = ("/topic/", "/story/", "/latest/", "/photos/")  # prefixes of the shared pages, beside the front page

Raw = list[tuple[bytes, bytes]]
_choose = lru_cache(1000)(choose)


@dataclass(frozen=True, slots=True)
class _CachedResponse:
    """A response without its cookies. ``greets``: it sets the cookie with the time of the visit."""

    headers: Raw
    body: bytes
    etag: str
    greets: bool
    portal: Portal
    seq: int
    now: datetime
    at: float

    def is_valid(self, portal: Portal, seq: int) -> bool:
        elapsed = abs((portal.now() - self.now).total_seconds())
        return self.portal is portal and self.seq >= seq and elapsed < SECONDS and monotonic() - self.at < SECONDS


class SharedResponses:
    """ASGI middleware: outside of compression, inside of :class:`newsportal.portal.guard.RequestGuard`."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app
        self._responses: OrderedDict[tuple[object, ...], _CachedResponse] = OrderedDict()
        self._pending: dict[tuple[object, ...], asyncio.Event] = {}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        request = Request(scope)
        key = _cache_key(request)
        if key is None:
            await self._app(scope, receive, send)
            if scope["method"] not in SAFE and not _is_anonymous(request):
                self._responses.clear()
            return
        await self._share(key, request, receive, send)

    async def _share(self, key: tuple[object, ...], request: Request, receive: Receive, send: Send) -> None:
        portal: Portal = request.app.state.portal
        try:
            seq = await run_in_threadpool(portal.store.last_seq)
        except StoreError:
            await self._app(request.scope, receive, send)  # the page reports the error
            return
        if (done := self._pending.get(key)) is not None:
            await done.wait()
        cached = self._responses.get(key)
        if cached is not None and cached.is_valid(portal, seq):
            self._responses.move_to_end(key)
            await _send(cached, request, send)
            return
        done = self._pending[key] = asyncio.Event()
        try:
            await self._make(key, request, seq, receive, send)
        finally:
            done.set()
            if self._pending.get(key) is done:
                del self._pending[key]

    async def _make(self, key: tuple[object, ...], request: Request, seq: int, receive: Receive, send: Send) -> None:
        """Let the application render the page, and cache it."""
        portal: Portal = request.app.state.portal
        now, at = portal.now(), monotonic()
        started: Message = {}
        body = bytearray()
        complete = False

        async def capture(message: Message) -> None:
            nonlocal started, complete
            if message["type"] == "http.response.start" and _is_shareable(message):
                started = message
            elif started and message["type"] == "http.response.body" and len(body) < MAX_RESPONSE:
                body.extend(message.get("body", b""))
                complete = not message.get("more_body", False)
            else:
                if started:  # too large to cache: sent on part by part
                    start, started = started, {}
                    await send(start)
                    await send({"type": "http.response.body", "body": bytes(body), "more_body": True})
                await send(message)

        await self._app(request.scope, receive, capture)
        if not (started and complete):
            return
        headers = [(name, value) for name, value in started["headers"] if name != b"set-cookie"]
        greets = len(headers) < len(list(started["headers"]))
        plain = gzip.decompress(body) if (b"content-encoding", b"gzip") in headers else body  # gzip's bytes change every second
        etag = f'W/"{blake2b(plain, digest_size=10).hexdigest()}"'
        cached = _CachedResponse(headers, bytes(body), etag, greets, portal, seq, now, at)
        self._responses[key] = cached
        self._responses.move_to_end(key)
        while sum(len(entry.body) for entry in self._responses.values()) > MAX_BYTES:
            self._responses.popitem(last=False)
        await _send(cached, request, send)


def _cache_key(request: Request) -> tuple[object, ...] | None:
    """Return all that the response depends on; None if the page is not shared."""
    scope = request.scope
    path, query = scope["path"], scope.get("query_string", b"")
    portal: Portal = request.app.state.portal
    if scope["method"] != "GET" or not (path == "/" or path in PAGES or path.startswith(SHARED_PREFIXES)) or len(query) > MAX_QUERY:
        return None
    if portal.site.members or not _is_anonymous(request):
        return None
    if path == "/" and last_visit(request, portal.now())[0] is not None:
        return None
    headers, prefs = request.headers, preferences(request.cookies)
    language = _choose(prefs.lang, headers.get("accept-language", "")[:1000], portal.site.language)
    gzipped = "gzip" in headers.get("accept-encoding", "")
    return scope["scheme"], headers.get("host"), path, query, language, prefs, gzipped


def _is_anonymous(request: Request) -> bool:
    """Return whether the request carries nothing but preferences."""
    only_known = request.cookies.keys() <= CHOICES.keys() | {VISIT_COOKIE}
    return only_known and "authorization" not in request.headers and "hx-request" not in request.headers


def _is_shareable(message: Message) -> bool:
    headers = Headers(raw=message["headers"])
    cookies = headers.getlist("set-cookie")
    return (
        message["status"] == 200
        and headers.get("content-type", "").startswith("text/html")
        and "no-store" not in headers.get("cache-control", "")
        and all(cookie.startswith(f"{VISIT_COOKIE}=") for cookie in cookies)
    )


async def _send(cached: _CachedResponse, request: Request, send: Send) -> None:
    headers = [*cached.headers, (b"etag", cached.etag.encode())]
    if cached.greets:
        greeting = Response()
        remember_visit(greeting, last_visit(request, request.app.state.portal.now())[1])
        headers += [(name, value) for name, value in greeting.raw_headers if name == b"set-cookie"]
    if has_etag(request, cached.etag):
        omitted = (b"content-length", b"content-encoding", b"content-type")
        await send({"type": "http.response.start", "status": 304, "headers": [header for header in headers if header[0] not in omitted]})
        await send({"type": "http.response.body", "body": b""})
        return
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    await send({"type": "http.response.body", "body": cached.body})
