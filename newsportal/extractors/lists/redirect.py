"""Links that lead through a search engine, and where they end.

Most engines write the target into the link; those links are resolved here without a request. Baidu, Sogou, so.com and today's
Google News do not: :func:`needs_fetch` says so, and the crawler follows the redirect like any other. The rules are those of
:mod:`newsportal.extractors.lists.engines`. The host decides, so a path that looks alike elsewhere is left alone.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Callable, Mapping
from urllib.parse import SplitResult, parse_qs, unquote, urlsplit

from newsportal.extractors.lists import engines
from newsportal.text.dom import join

MAX_HOPS = 4  # an engine may wrap another one's link; a link that is still wrapped after this many is a trap
RELATIVE = re.compile(r"^/(link|url|l/|ck/a|interstitial)\b[^#]*[?&](url|q|uddg|u|m)=")  # such a link in a saved page of unknown address


def resolve(url: str) -> str:
    """Where ``url`` ends, as far as the link itself says it; otherwise ``url`` as it is. Pure: nothing is fetched."""
    for _ in range(MAX_HOPS):
        target = _target(url)
        if target is None or target == url:
            break
        url = target
    return url


def needs_fetch(url: str) -> bool:
    """Whether only a request can tell where ``url`` ends (Baidu's ``/link?url=``, Sogou's, so.com's, today's Google News)."""
    parts = _split(resolve(url))
    if parts is None:
        return False
    host = parts.hostname or ""
    return any(rule.opaque and re.search(rule.host, host) and re.match(rule.opaque, parts.path) for rule in engines.redirects())


def is_redirect(url: str) -> bool:
    """Whether ``url`` leads through an engine, known target or not. Relative forms (``/link?url=…``) count as well."""
    return resolve(url) != url or needs_fetch(url) or bool(RELATIVE.match(url))


def is_advert(url: str) -> bool:
    parts = _split(url)
    return parts is not None and bool(engines.adverts().match(f"{parts.hostname or ''}{parts.path}"))


def _split(url: str) -> SplitResult | None:
    try:
        parts = urlsplit(url)
        _ = parts.hostname, parts.port
    except ValueError:
        return None
    return parts


def _target(url: str) -> str | None:
    """One hop; ``None`` when ``url`` is no redirect we can read."""
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
    """Return the first HTTP address among the values of the parameters ``names``."""
    values = parse_qs(parts.query, max_num_fields=None)
    return next((value for name in names for value in values.get(name, ()) if value.startswith(("http://", "https://"))), None)


def _unpack(text: str) -> bytes | None:
    try:
        return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
    except (binascii.Error, ValueError):
        return None


def _bing(parts: SplitResult) -> str | None:
    """``/ck/a?…&u=a1…`` with the address in base64, or a parameter with it in clear."""
    if not parts.path.startswith(("/ck/a", "/news/apiclick.aspx", "/fd/ls", "/aclick")):
        return None
    packed = parse_qs(parts.query).get("u", [""])[0]
    if packed.startswith("a1"):
        data = _unpack(packed[2:])
        return data.decode("utf-8", "replace") if data else None
    return _first_address(parts, "url", "u", "r")


def _google(parts: SplitResult) -> str | None:
    """``/url?q=…``; an article's id of Google News was a base64 message with the address until 2024, since then it holds a key."""
    if parts.path in ("/url", "/imgres", "/interstitial"):
        return _first_address(parts, "q", "url", "imgrefurl")
    if "/articles/" not in parts.path:
        return None
    match = re.search(rb"https?://[\x21-\x7e]+", _unpack(parts.path.rsplit("/", 1)[-1]) or b"")
    return match[0].decode("ascii") if match else None


def _yahoo(parts: SplitResult) -> str | None:
    """``/RU=…/``, or everything after ``**`` (before 2013)."""
    match = re.search(r"/RU=([^/]+)/", parts.path + "/")
    if match:
        return unquote(match[1])
    match = re.search(r"\*\*(https?(?::|%3a).+)$", parts.path + (f"?{parts.query}" if parts.query else ""), re.IGNORECASE)
    return unquote(match[1]) if match else None


READERS: Mapping[str, Callable[[SplitResult], str | None]] = {"bing": _bing, "google": _google, "yahoo": _yahoo}
