"""Redirect links of search engines and their targets.

Most engines put the target into the link; these links are resolved here without a request. Baidu, Sogou, so.com and today's Google News do
not: for them :func:`needs_fetch` is true, and the crawler follows the redirect like any other. The rules are those of
:mod:`newsportal.extractors.lists.engines`. They apply by host, so a similar path on another site is not affected.
"""

import base64
import binascii
import re
from collections.abc import Callable, Mapping
from urllib.parse import SplitResult, parse_qs, unquote, urlsplit

from newsportal.extractors.lists import engines
from newsportal.text.dom import join

MAX_HOPS = 4  # a link may pass through several engines; one that is not resolved after this many steps is a crawler trap
RELATIVE = re.compile(r"^/(link|url|l/|ck/a|interstitial)\b[^#]*[?&](url|q|uddg|u|m)=")  # a redirect link in a saved page without URL


def resolve(url: str) -> str:
    """Return the target of ``url``, as far as the link contains it; otherwise ``url`` unchanged. Nothing is fetched."""
    for _ in range(MAX_HOPS):
        target = _target(url)
        if target is None or target == url:
            break
        url = target
    return url


def needs_fetch(url: str) -> bool:
    """Return whether the target of ``url`` needs a request (Baidu's ``/link?url=``, Sogou's, so.com's, today's Google News)."""
    parts = _split(resolve(url))
    if parts is None:
        return False
    host = parts.hostname or ""
    return any(rule.opaque and re.search(rule.host, host) and re.match(rule.opaque, parts.path) for rule in engines.redirects())


def is_redirect(url: str) -> bool:
    """Return whether ``url`` is an engine's redirect link, with a known target or not; also for relative URLs (``/link?url=…``)."""
    return resolve(url) != url or needs_fetch(url) or bool(RELATIVE.match(url))


def is_advert(url: str) -> bool:
    parts = _split(url)
    return parts is not None and bool(engines.advert_patterns().match(f"{parts.hostname or ''}{parts.path}"))


def _split(url: str) -> SplitResult | None:
    try:
        parts = urlsplit(url)
        _ = parts.hostname, parts.port
    except ValueError:
        return None
    return parts


def _target(url: str) -> str | None:
    """Resolve one step; ``None`` if ``url`` is not a redirect or cannot be resolved."""
    parts = _split(f"https:{url}" if url.startswith("//") else url)
    if parts is None:
        return None
    host = (parts.hostname or "").lower()
    for rule in engines.redirects():
        if (rule.target or rule.path) and re.search(rule.host, host):
            if rule.target:
                found = READERS[rule.target](parts)
            else:
                found = _first_address(parts, *rule.parameters) if re.match(rule.path or "", parts.path) else None
            return join("", found) if found else None
    return None


def _first_address(parts: SplitResult, *names: str) -> str | None:
    """Return the first HTTP URL among the values of the parameters ``names``."""
    values = parse_qs(parts.query, max_num_fields=None)
    return next((value for name in names for value in values.get(name, ()) if value.startswith(("http://", "https://"))), None)


def _decode_base64(text: str) -> bytes | None:
    try:
        return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
    except (binascii.Error, ValueError):
        return None


def _bing(parts: SplitResult) -> str | None:
    """``/ck/a?…&u=a1…`` with the URL in base64, or a parameter with the plain URL."""
    if not parts.path.startswith(("/ck/a", "/news/apiclick.aspx", "/fd/ls", "/aclick")):
        return None
    packed = parse_qs(parts.query).get("u", [""])[0]
    if packed.startswith("a1"):
        data = _decode_base64(packed[2:])
        return data.decode("utf-8", "replace") if data else None
    return _first_address(parts, "url", "u", "r")


def _google(parts: SplitResult) -> str | None:
    """``/url?q=…``; article ids of Google News were base64 messages with the URL until 2024, since then they contain a key."""
    if parts.path in ("/url", "/imgres", "/interstitial"):
        return _first_address(parts, "q", "url", "imgrefurl")
    if "/articles/" not in parts.path:
        return None
    match = re.search(rb"https?://[\x21-\x7e]+", _decode_base64(parts.path.rsplit("/", 1)[-1]) or b"")
    return match[0].decode("ascii") if match else None


def _yahoo(parts: SplitResult) -> str | None:
    """``/RU=…/``, or everything after ``**`` (before 2013)."""
    match = re.search(r"/RU=([^/]+)/", parts.path + "/")
    if match:
        return unquote(match[1])
    match = re.search(r"\*\*(https?(?::|%3a).+)$", parts.path + (f"?{parts.query}" if parts.query else ""), re.IGNORECASE)
    return unquote(match[1]) if match else None


READERS: Mapping[str, Callable[[SplitResult], str | None]] = {"bing": _bing, "google": _google, "yahoo": _yahoo}
