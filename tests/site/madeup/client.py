"""How tests look at the made-up Web by themselves: one plain request, and what a reader would see of a page."""

from __future__ import annotations

import http.client
import re
from html import unescape
from urllib.parse import urlsplit

TAG = re.compile(r"<(?:script|style)\b.*?</(?:script|style)>|<[^>]+>", re.DOTALL | re.IGNORECASE)
LINK = re.compile(r'<a\b[^>]*?href="([^"]*)"', re.IGNORECASE)

Answer = tuple[int, dict[str, str], bytes]


def get(url: str, method: str = "GET", **headers: str) -> Answer:
    """One request without redirects: status, headers (names in lower case), body. Headers are written as ``If_None_Match="x"``."""
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
    """``text`` without white space."""
    return re.sub(r"\s+", "", text)


def visible(html: str) -> str:
    """The text of a page without white space."""
    return squeezed(unescape(TAG.sub("", html)))


def links(html: str) -> list[str]:
    """The ``href`` of every ``a``, as written, in order."""
    return [unescape(href) for href in LINK.findall(html)]
