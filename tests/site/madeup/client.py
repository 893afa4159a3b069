"""A client for tests of the made-up Web: one plain request, and the visible text of a page."""

from __future__ import annotations

import http.client
import re
from html import unescape
from urllib.parse import urlsplit

TAG = re.compile(r"<(?:script|style)\b.*?</(?:script|style)>|<[^>]+>", re.DOTALL | re.IGNORECASE)
LINK = re.compile(r'<a\b[^>]*?href="([^"]*)"', re.IGNORECASE)

Answer = tuple[int, dict[str, str], bytes]


def get(url: str, method: str = "GET", **headers: str) -> Answer:
    """Send one request, following no redirects; return status, headers (lower-case names) and body. Header syntax:
    ``If_None_Match="x"``."""
    parts = urlsplit(url)
    connection = http.client.HTTPConnection(parts.netloc, timeout=600)
    try:
        target = parts.path + (f"?{parts.query}" if parts.query else "")
        connection.request(method, target, headers={name.replace("_", "-"): value for name, value in headers.items()})
        response = connection.getresponse()
        return response.status, {name.lower(): value for name, value in response.getheaders()}, response.read()
    finally:
        connection.close()


def squeezed(text: str) -> str:
    """Return ``text`` without whitespace."""
    return re.sub(r"\s+", "", text)


def visible(html: str) -> str:
    """Return the text of a page without whitespace."""
    return squeezed(unescape(TAG.sub("", html)))


def links(html: str) -> list[str]:
    """Return the ``href`` of every ``a``, unresolved, in order."""
    return [unescape(href) for href in LINK.findall(html)]
