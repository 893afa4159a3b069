"""The identity of a URL: two addresses of one page have one identity, by which the page is known.

An identity is not an address to fetch: scheme, ``www.``, tracking parameters, session ids and default documents are gone, and the
parameters are sorted; hosts for telephones, AMP and print go where that is safe (:mod:`twins`). Rules that would join two different
pages are left out on purpose: a wrong join loses an article, a missed one costs a fetch. ``docs/algorithms/canonical.md`` lists them.
"""

from __future__ import annotations

import re
from urllib.parse import parse_qsl, quote, urlencode, urlsplit

from newsportal.dedup import url_variants

TRACKING = re.compile(
    r"^(?:utm_\w+|hmsr|hmpl|hmcu|hmkw|hmci|spm|scm|_t|fbclid|gclid|dclid|gbraid|wbraid|msclkid|yclid|igshid|mc_[ce]id|_hs\w+|vero_id|"
    r"share_?(?:token|from|source|medium|id|tag)|from_?source|nsukey|isappinstalled|sessionid|phpsessid|jsessionid|aspsessionid\w*|wt_mc|ncid|"
    r"cmpid|ocid|smid|at_(?:medium|campaign|custom\d|link\w*)|amp_js_v|amp_gsa|usqp|aoh|ampshare|ref_src|ref_url|referrer|tdsourcetag|ivk_sa|ito|cid_source)$",
    re.IGNORECASE,
)
"""Parameters that say where a reader came from, never which page is meant (the trackers' own documentation)."""

SESSION_NAME = re.compile(r"^(?:sid|s|session|sess|token)$", re.IGNORECASE)
SESSION_VALUE = re.compile(r"^[0-9a-f]{16,}$", re.IGNORECASE)
"""A session's number is long and random; a short one (``sid=123``) may be the article's."""

PATH_SESSION = re.compile(r";(?:jsessionid|phpsessid|sid)=[^/?#;]*", re.IGNORECASE)
DEFAULT_DOCUMENT = re.compile(r"(?:/+(?:index|default)\.(?:html?|shtml|php|aspx?|jsp))+/*$", re.IGNORECASE)
DEFAULT_PORTS = {"http": 80, "https": 443}
SAFE = "/-._~!$&'()*+,;=:@%"
ESCAPED = re.compile(r"%[0-9a-fA-F]{2}")


def identity(url: str) -> str:
    """The identity of an http(s) ``url``, as ``host[:port]/path[?query]``. Never raises; what cannot be parsed is its own identity."""
    url = url.strip()
    found = _taken_apart(url_variants.uncached(url))
    if found is None:
        return url
    host, port, path, query = found
    path = re.sub(r"/{2,}", "/", DEFAULT_DOCUMENT.sub("/", PATH_SESSION.sub("", path)))
    path, query = path.rstrip("/") or "/", _query(query, path)
    path = url_variants.unmarked_path(path, query)
    if not port and url_variants.specific(path, query):
        host = url_variants.main_host(host)
    return f"{host}{port}{path}?{query}" if query else f"{host}{port}{path}"


def bare(url: str) -> str:
    """The identity of a URL by its spelling alone: no parameter, host or mark is taken for a meaningless one. Never raises."""
    found = _taken_apart(url.strip())
    if found is None:
        return url.strip()
    host, port, path, query = found
    return f"{host}{port}{path or '/'}?{_one_spelling(query)}" if query else f"{host}{port}{path or '/'}"


def _taken_apart(url: str) -> tuple[str, str, str, str] | None:
    """Host, port (``:8080``, or nothing), path in one spelling and query as it is; ``None`` for what is no address."""
    try:
        parts = urlsplit(url)
        host, port = (parts.hostname or "").rstrip("."), parts.port
    except ValueError:
        return None
    if not host:
        return None
    other = f":{port}" if port and port != DEFAULT_PORTS.get(parts.scheme.lower()) else ""
    return _ascii(host.removeprefix("www.")), other, _one_spelling(parts.path), parts.query


def _ascii(host: str) -> str:
    try:
        return host.encode("idna").decode("ascii").lower() if not host.isascii() else host.lower()
    except UnicodeError:
        return host.lower()


def _one_spelling(path: str) -> str:
    quoted = quote(path.encode("utf-8", "surrogatepass"), safe=SAFE)
    return ESCAPED.sub(lambda found: _unreserved(found.group()), quoted)


def _unreserved(escape: str) -> str:
    character = chr(int(escape[1:], 16))
    return character if character.isascii() and (character.isalnum() or character in "-._~") else escape.upper()


def _query(query: str, path: str) -> str:
    """The parameters that may tell pages apart, sorted. Kept as text where they are no ``name=value`` pairs (``?187``)."""
    if "=" not in query:
        return "" if not url_variants.unmarked_query(path, [(query, "")]) else _one_spelling(query)
    query = query.encode("utf-8", "replace").decode()  # lone surrogates cannot be sent anyway
    pairs = parse_qsl(query.replace("&amp;", "&").replace(";", "&"), keep_blank_values=True, encoding="utf-8", errors="surrogateescape")
    kept = sorted((name, value) for name, value in pairs if not TRACKING.match(name) and not _is_session(name, value))
    return urlencode(url_variants.unmarked_query(path, kept), encoding="utf-8", errors="surrogateescape")


def readable(url: str) -> str:
    """``url`` as it is shown and kept: without tracking parameters and fragment, otherwise as it was."""
    parts = urlsplit(url)
    kept = [pair for pair in parts.query.split("&") if not _tracks(pair)]
    return parts._replace(query="&".join(kept), fragment="").geturl()


def _tracks(pair: str) -> bool:
    name, equals, value = pair.partition("=")
    return bool(equals) and (TRACKING.match(name) is not None or _is_session(name, value))


def _is_session(name: str, value: str) -> bool:
    return bool(SESSION_NAME.match(name) and SESSION_VALUE.match(value))


def site_of(url: str) -> str | None:
    """The host a reader would name: without ``www.``, port and case; ``None`` if there is none."""
    try:
        host = urlsplit(url).hostname
    except ValueError:
        return None
    return host.removeprefix("www.") if host else None
