"""Requests and answers between the browser and the crawl as plain values, and the limits of one page."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Final
from urllib.parse import urldefrag, urljoin

from newsportal.errors import FetchFailed
from newsportal.net.egress.client import MAX_REDIRECTS, REDIRECTS, SECRETS, Answer, origin
from newsportal.text.encoding import LABELS, decode


@dataclass(frozen=True, slots=True)
class Limits:
    """Given in ``sources.yaml`` under ``rendering``."""

    timeout: float = 30.0  # Seconds for a page, from the first line of it in the browser; a page that hangs is closed then
    wait: float = 10.0  # Seconds until a page that does not come to rest is taken as it is
    requests: int = 200  # What a page may ask for; news pages with their advertisements ask for some hundred
    max_bytes: int = 32 * 1024 * 1024  # Of all answers to a page together, and of the page as rendered
    pages: int = 2  # Pages open at once, in one process: each takes about a hundred megabytes and a core while its scripts run
    memory: int = 1024 * 1024 * 1024  # Bytes that all pages together may hold; the largest is closed beyond it

    @property
    def heap_megabytes(self) -> int:
        """For the scripts of one page (V8's own limit): a share of ``memory``, and never more than 512."""
        return max(64, min(512, self.memory // 2 // 1024 // 1024))


METHODS: Final = frozenset({"GET", "HEAD", "POST"})  # What pages ask with when they are read; the others change something on a server
# Headers of the browser's that whoever asks in its place writes himself.
OURS: Final = frozenset("host connection content-length accept-encoding transfer-encoding keep-alive proxy-authorization".split())
# Headers of an answer that no longer hold once its body is unpacked, name another way to the server, or would make a page a download.
UNTRUE: Final = frozenset({"content-encoding", "content-length", "transfer-encoding", "connection", "alt-svc", "content-disposition"})
HTML: Final = re.compile(r"^\s*(text/html|application/xhtml\+xml)\b", re.IGNORECASE)
# Feeds that a server calls HTML: a browser would tear them apart.
LIST: Final = re.compile(rb"<(rss|feed|rdf:RDF|urlset|sitemapindex)[\s>]")
HEAD: Final = 1000  # Bytes in which such a feed begins


@dataclass(frozen=True, slots=True)
class PageRequest:
    """A request of a page. Names of ``headers`` are in lower case."""

    url: str
    method: str = "GET"
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes = b""
    max_bytes: int = 0


# Answers one request, redirects not followed. Raises ``EgressDenied``, or whatever else went wrong: the page gets no answer then.
Ask = Callable[[PageRequest], Awaitable[Answer]]


def renderable(status: int, content_type: str | None) -> bool:
    """Whether an answer says that it is a page: not a picture, an error, a redirect, an XML feed."""
    return 200 <= status < 300 and bool(HTML.match(content_type or "text/html"))


def shows(body: bytes) -> bool:
    """Whether there is something for a browser: markup, and not that of a feed."""
    return b"<" in body[:HEAD] and not LIST.search(body[:HEAD])


def declared(answer: Answer) -> Answer:
    """A page that says in its header what encoding its bytes have, whatever it declares: the browser believes the header."""
    content_type = answer.headers.get("content-type")
    codec = decode(answer.body, content_type)[1]
    label = next((label for label, known in LABELS.items() if known == codec.removesuffix("-sig")), None)
    if label is None:
        return answer
    kind = (content_type or "text/html").partition(";")[0].strip()
    return replace(answer, headers={**answer.headers, "content-type": f"{kind}; charset={label}"})


def sent(headers: Iterable[tuple[str, str]]) -> dict[str, str]:
    """The browser's headers for us to send: none that describe its own connection."""
    return {name.lower(): value for name, value in headers if name.lower() not in OURS and not name.startswith(":")}


def true_headers(headers: Mapping[str, str]) -> dict[str, str]:
    """An answer's headers for the browser."""
    return {name: value for name, value in headers.items() if name not in UNTRUE}


async def followed(ask: Ask, asked: PageRequest) -> Answer:
    """The answer at the end of all redirects: the browser has no network on which to follow one. Raises ``FetchFailed``."""
    for _ in range(MAX_REDIRECTS + 1):
        answer = await ask(asked)
        target = answer.headers.get("location")
        if answer.status not in REDIRECTS or not target:
            return answer
        asked = _next(asked, answer.status, target)
    raise FetchFailed(asked.url, "redirects", f"more than {MAX_REDIRECTS}")


def _next(asked: PageRequest, status: int, target: str) -> PageRequest:
    url = urljoin(asked.url, target.strip())
    if origin(url) != origin(asked.url):
        asked = replace(asked, headers={name: value for name, value in asked.headers.items() if name not in SECRETS})
    if status == 303 or (status in (301, 302) and asked.method == "POST"):
        asked = replace(asked, method="GET", body=b"")
    return replace(asked, url=url)


def same_page(one: str, other: str) -> bool:
    """Whether two addresses differ in nothing but the place within the page."""
    return urldefrag(one)[0] == urldefrag(other)[0]
