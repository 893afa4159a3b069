"""Requests and responses between the browser and the crawl as plain values, and the limits of a page."""

import re
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Final
from urllib.parse import urldefrag, urljoin

from newsportal.errors import FetchFailed
from newsportal.net.egress.client import MAX_REDIRECTS, REDIRECTS, SECRET_HEADERS, HttpResponse, origin
from newsportal.text.encoding import LABELS, decode


@dataclass(frozen=True, slots=True)
class Limits:
    """Settings in ``sources.yaml`` under ``rendering``."""

    timeout: float = 30.0  # seconds for a page, from its first line in the browser; then a hanging page is closed
    wait: float = 10.0  # seconds until a page that does not become idle is read as it is
    requests: int = 200  # maximum requests of a page; news pages with advertisements make some hundred
    max_bytes: int = 32 * 1024 * 1024  # of all responses of a page together, and of the rendered page
    pages: int = 2  # pages open at once in one process: each takes about 100 MB, and a core while its scripts run
    memory: int = 1024 * 1024 * 1024  # bytes of memory of all pages together; beyond it the largest is closed

    @property
    def heap_megabytes(self) -> int:
        """Heap of one page's scripts in megabytes (V8's limit): a share of ``memory``, at most 512."""
        return max(64, min(512, self.memory // 2 // 1024 // 1024))


METHODS: Final = frozenset({"GET", "HEAD", "POST"})  # methods used for reading pages; others change something on a server
# Headers of the browser that our client sets itself.
CLIENT_HEADERS: Final = frozenset("host connection content-length accept-encoding transfer-encoding keep-alive proxy-authorization".split())
# Response headers that are wrong after decompression, announce another route to the server, or would cause a download.
DROPPED: Final = frozenset({"content-encoding", "content-length", "transfer-encoding", "connection", "alt-svc", "content-disposition"})
HTML: Final = re.compile(r"^\s*(text/html|application/xhtml\+xml)\b", re.IGNORECASE)
# Feeds served as HTML: a browser would destroy them.
FEED_START: Final = re.compile(rb"<(rss|feed|rdf:RDF|urlset|sitemapindex)[\s>]")
HEAD_BYTES: Final = 1000  # bytes searched for the start of such a feed


@dataclass(frozen=True, slots=True)
class PageRequest:
    """A request of a page. ``headers`` have names in lower case."""

    url: str
    method: str = "GET"
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes = b""
    max_bytes: int = 0


# Answers one request without following redirects. Raises ``EgressDenied`` or any other error: the page then gets no response.
Send = Callable[[PageRequest], Awaitable[HttpResponse]]


def is_renderable(status: int, content_type: str | None) -> bool:
    """Return whether a response is a page: not a picture, an error, a redirect, an XML feed."""
    return 200 <= status < 300 and bool(HTML.match(content_type or "text/html"))


def has_markup(body: bytes) -> bool:
    """Return whether the body can be rendered: markup, but not a feed."""
    return b"<" in body[:HEAD_BYTES] and not FEED_START.search(body[:HEAD_BYTES])


def declare(answer: HttpResponse) -> HttpResponse:
    """Set the detected encoding in the response's header, which the browser trusts more than the page's declaration."""
    content_type = answer.headers.get("content-type")
    codec = decode(answer.body, content_type)[1]
    label = next((label for label, codec_name in LABELS.items() if codec_name == codec.removesuffix("-sig")), None)
    if label is None:
        return answer
    kind = (content_type or "text/html").partition(";")[0].strip()
    return replace(answer, headers={**answer.headers, "content-type": f"{kind}; charset={label}"})


def sent_headers(headers: Iterable[tuple[str, str]]) -> dict[str, str]:
    """Return the browser's headers to send: without those of its own connection."""
    return {name.lower(): value for name, value in headers if name.lower() not in CLIENT_HEADERS and not name.startswith(":")}


def true_headers(headers: Mapping[str, str]) -> dict[str, str]:
    """Return the response headers to pass to the browser."""
    return {name: value for name, value in headers.items() if name not in DROPPED}


async def follow(ask: Send, request: PageRequest) -> HttpResponse:
    """Return the response after all redirects, which the browser cannot follow without network. Raises ``FetchFailed``."""
    for _ in range(MAX_REDIRECTS + 1):
        answer = await ask(request)
        target = answer.headers.get("location")
        if answer.status not in REDIRECTS or not target:
            return answer
        request = _next(request, answer.status, target)
    raise FetchFailed(request.url, "redirects", f"more than {MAX_REDIRECTS}")


def _next(request: PageRequest, status: int, target: str) -> PageRequest:
    url = urljoin(request.url, target.strip())
    if origin(url) != origin(request.url):
        request = replace(request, headers={name: value for name, value in request.headers.items() if name not in SECRET_HEADERS})
    if status == 303 or (status in (301, 302) and request.method == "POST"):
        request = replace(request, method="GET", body=b"")
    return replace(request, url=url)


def same_page(url: str, other: str) -> bool:
    """Return whether two URLs only differ in the fragment."""
    return urldefrag(url)[0] == urldefrag(other)[0]
