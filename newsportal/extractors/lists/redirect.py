"""Links that lead through a search engine, and where they end.

Most engines write the target into the link; those links are resolved here without asking anybody. Baidu, Sogou, so.com and today's
Google News keep it to themselves: :func:`needs_fetch` says so, and the crawler follows the redirect like any other.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Callable
from urllib.parse import SplitResult, parse_qs, unquote, urlsplit

from newsportal.text.dom import join

MAX_HOPS = 4  # an engine may wrap another one's link; a link that is still wrapped after this many is a trap
OPAQUE = (
    (re.compile(r"(^|\.)baidu\.com$"), re.compile(r"^/(link|baidu\.php)$")),
    (re.compile(r"(^|\.)sogou\.com$"), re.compile(r"^/(link|bill_cpc)$")),
    (re.compile(r"(^|\.)so\.com$"), re.compile(r"^/link$")),
    (re.compile(r"^news\.google\.[a-z.]+$"), re.compile(r"^/(rss/|__i/rss/rd/)?(articles|read|stories)/")),
)  # Host and path of redirects whose target only the engine knows
ADVERT_HOST = re.compile(
    r"(^|\.)(doubleclick\.net|googleadservices\.com|googlesyndication\.com|mediav\.com|cpro\.baidu\.com|e\.so\.com|bat\.bing\.com|r\.bat\.bing\.com)$"
)
ADVERT_PATH = re.compile(r"^/(aclk?|aclick|bill_cpc|baidu\.php|cbclk2?|search/eclk|search/srv/.*adv|y\.js|pagead/.*)$")


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
    return parts is not None and any(host.search(parts.hostname or "") and path.match(parts.path) for host, path in OPAQUE)


def is_redirect(url: str) -> bool:
    """Whether ``url`` leads through an engine, known target or not. Relative forms (``/link?url=…``) count as well."""
    return resolve(url) != url or needs_fetch(url) or bool(RELATIVE.match(url))


def is_advert(url: str) -> bool:
    parts = _split(url)
    return parts is not None and bool(ADVERT_HOST.search(parts.hostname or "") or ADVERT_PATH.match(parts.path))


RELATIVE = re.compile(r"^/(link|url|l/|ck/a|interstitial)\b[^#]*[?&](url|q|uddg|u|m)=")  # such a link in a saved page of unknown address


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
    for pattern, read in READERS:
        if pattern.search(host):
            found = read(parts)
            return join("", found) if found else None
    return None


def _parameter(parts: SplitResult, *names: str) -> str | None:
    values = parse_qs(parts.query, max_num_fields=None)
    for name in names:
        for value in values.get(name, ()):
            if value.startswith(("http://", "https://")):
                return value
    return None


def _google(parts: SplitResult) -> str | None:
    if parts.path in ("/url", "/imgres", "/interstitial"):
        return _parameter(parts, "q", "url", "imgrefurl")
    return _google_article(parts) if "/articles/" in parts.path else None


def _google_article(parts: SplitResult) -> str | None:
    """Until 2024 the id was a base64 message that held the address; since then it holds a key."""
    data = _base64(parts.path.rsplit("/", 1)[-1])
    match = re.search(rb"https?://[\x21-\x7e]+", data or b"")
    return match[0].decode("ascii") if match else None


def _bing(parts: SplitResult) -> str | None:
    if not parts.path.startswith(("/ck/a", "/news/apiclick.aspx", "/fd/ls", "/aclick")):
        return None
    packed = parse_qs(parts.query).get("u", [""])[0]
    if packed.startswith("a1"):
        data = _base64(packed[2:])
        return data.decode("utf-8", "replace") if data else None
    return _parameter(parts, "url", "u", "r")


def _yahoo(parts: SplitResult) -> str | None:
    match = re.search(r"/RU=([^/]+)/", parts.path + "/")
    if match:
        return unquote(match[1])
    match = re.search(r"\*\*(https?(?::|%3a).+)$", parts.path + (f"?{parts.query}" if parts.query else ""), re.IGNORECASE)
    return unquote(match[1]) if match else None


def _named(path: str, *names: str) -> Callable[[SplitResult], str | None]:
    """Return a reader of the first of the parameters ``names`` on paths that match ``path``."""
    pattern = re.compile(path)
    return lambda parts: _parameter(parts, *names) if pattern.match(parts.path) else None


def _base64(text: str) -> bytes | None:
    try:
        return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
    except (binascii.Error, ValueError):
        return None


READERS: tuple[tuple[re.Pattern[str], Callable[[SplitResult], str | None]], ...] = (
    (re.compile(r"(^|\.)google\.[a-z]{2,3}(\.[a-z]{2})?$"), _google),
    (re.compile(r"(^|\.)bing\.com$"), _bing),
    (re.compile(r"(^|\.)search\.yahoo\.(com|co\.jp)$"), _yahoo),
    (re.compile(r"(^|\.)duckduckgo\.com$"), _named(r"/(l/|y\.js)", "uddg", "u3")),
    (re.compile(r"(^|\.)(so|haosou)\.com$"), _named("/link$", "url", "u")),
    (re.compile(r"(^|\.)baidu\.com$"), _named("/(link|from|tc|ssid)$", "url", "src")),
    (re.compile(r"(^|\.)sogou\.com$"), _named("/((websearch|sogou)/)?link$", "url")),
)  # Who writes the target into the link, and how. The host decides, so a path that looks alike elsewhere is left alone.
