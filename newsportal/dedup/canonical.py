"""Identities of URLs: two URLs of the same page have the same identity.

An identity is not fetchable: scheme, ``www.``, tracking parameters, session ids and default documents are removed, and parameters are
sorted; mobile, AMP and print variants are joined where that is safe. Rules that might join different pages are left out on purpose: a wrong
join loses an article, a missed one costs a fetch. ``docs/algorithms/canonical.md`` lists the rules.

Collisions: a list page with several articles under one identity, each with its own URL and title, shows that the rules do not fit the site;
its links are identified by their spelling alone. Variants: a site's ``m.`` host may be a different system with other pages under the same
short paths, so it is only joined if the rest of the URL is *specific*: a long number, a day with a number, a long code or a title in words;
lists and front pages never are.
"""

import re
from collections import defaultdict
from collections.abc import Container, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import lru_cache
from typing import Final
from urllib.parse import parse_qsl, quote, unquote, urlencode, urlsplit

from newsportal.items import Link
from newsportal.text import letters

TRACKING = re.compile(
    r"^(?:utm_\w+|hmsr|hmpl|hmcu|hmkw|hmci|spm|scm|_t|fbclid|gclid|dclid|gbraid|wbraid|msclkid|yclid|igshid|mc_[ce]id|_hs\w+|vero_id|"
    r"share_?(?:token|from|source|medium|id|tag)|from_?source|nsukey|isappinstalled|sessionid|phpsessid|jsessionid|aspsessionid\w*|wt_mc|ncid|"
    r"cmpid|ocid|smid|at_(?:medium|campaign|custom\d|link\w*)|amp_js_v|amp_gsa|usqp|aoh|ampshare|ref_src|ref_url|referrer|tdsourcetag|ivk_sa|ito|cid_source)$",
    re.IGNORECASE,
)
"""Parameters that identify the referrer, never the page (the trackers' own documentation)."""

SESSION_NAME = re.compile(r"^(?:sid|s|session|sess|token)$", re.IGNORECASE)
SESSION_VALUE = re.compile(r"^[0-9a-f]{16,}$", re.IGNORECASE)
"""A session id is long and random; a short one (``sid=123``) may be the article's."""

PATH_SESSION = re.compile(r";(?:jsessionid|phpsessid|sid)=[^/?#;]*", re.IGNORECASE)
DEFAULT_DOCUMENT = re.compile(r"(?:/+(?:index|default)\.(?:html?|shtml|php|aspx?|jsp))+/*$", re.IGNORECASE)
DEFAULT_PORTS = {"http": 80, "https": 443}
SAFE = "/-._~!$&'()*+,;=:@%"
ESCAPED = re.compile(r"%[0-9a-fA-F]{2}")


@lru_cache(maxsize=2048)
def identity(url: str) -> str:
    """Return the identity of an http(s) ``url``, as ``host[:port]/path[?query]``. Never raises; an invalid URL is its own identity."""
    url = url.strip()
    found = _split(without_amp_cache(url))
    if found is None:
        return url
    host, port, path, query = found
    path = re.sub(r"/{2,}", "/", DEFAULT_DOCUMENT.sub("/", PATH_SESSION.sub("", path)))
    path, query = path.rstrip("/") or "/", _query(query, path)
    path = strip_path_marks(path, query)
    if not port and (main := main_host(host)) != host and is_specific(path, query):
        host = main
    return f"{host}{port}{path}?{query}" if query else f"{host}{port}{path}"


def bare(url: str) -> str:
    """Return the identity of a URL by spelling alone: parameters, hosts and variant marks are all significant. Never raises."""
    found = _split(url.strip())
    if found is None:
        return url.strip()
    host, port, path, query = found
    return f"{host}{port}{path or '/'}?{_normalize_quoting(query)}" if query else f"{host}{port}{path or '/'}"


def _split(url: str) -> tuple[str, str, str, str] | None:
    """Split a URL into host, port (``:8080`` or empty), normalized path and raw query; ``None`` for an invalid URL."""
    try:
        parts = urlsplit(url)
        host, port = (parts.hostname or "").rstrip("."), parts.port
    except ValueError:
        return None
    if not host:
        return None
    other = f":{port}" if port and port != DEFAULT_PORTS.get(parts.scheme.lower()) else ""
    host = host.removeprefix("www.")
    with suppress(UnicodeError):
        host = host if host.isascii() else host.encode("idna").decode("ascii")
    return host.lower(), other, _normalize_quoting(parts.path), parts.query


def _normalize_quoting(path: str) -> str:
    quoted = quote(path.encode("utf-8", "surrogatepass"), safe=SAFE)
    return ESCAPED.sub(lambda found: _unreserved(found.group()), quoted)


def _unreserved(escape: str) -> str:
    character = chr(int(escape[1:], 16))
    return character if character.isascii() and (character.isalnum() or character in "-._~") else escape.upper()


def _query(query: str, path: str) -> str:
    """Return the significant parameters, sorted, or the query as text if it is not ``name=value`` pairs (``?187``)."""
    if "=" not in query:
        return "" if not strip_query_marks(path, [(query, "")]) else _normalize_quoting(query)
    query = query.encode("utf-8", "replace").decode()  # lone surrogates cannot be sent anyway
    pairs = parse_qsl(query.replace("&amp;", "&").replace(";", "&"), keep_blank_values=True, encoding="utf-8", errors="surrogateescape")
    significant = sorted((name, value) for name, value in pairs if not TRACKING.match(name) and not _is_session(name, value))
    return urlencode(strip_query_marks(path, significant), encoding="utf-8", errors="surrogateescape")


def display_url(url: str) -> str:
    """Return ``url`` for display and storage: without tracking parameters and fragment."""
    parts = urlsplit(url)
    pairs = (pair.partition("=") for pair in parts.query.split("&"))
    significant = (pair for pair in pairs if not (pair[1] and (TRACKING.match(pair[0]) or _is_session(pair[0], pair[2]))))
    return parts._replace(query="&".join(map("".join, significant)), fragment="").geturl()


def _is_session(name: str, value: str) -> bool:
    return bool(SESSION_NAME.match(name) and SESSION_VALUE.match(value))


def site_of(url: str) -> str | None:
    """Return the host for display: without ``www.`` and port, in lower case; ``None`` if there is none."""
    try:
        host = urlsplit(url).hostname
    except ValueError:
        return None
    return host.removeprefix("www.") if host else None


MIN_GROUP: Final = 3  # minimum number of titles and URLs under one identity. Two may be a headline and its 「详细」 with another parameter.
MIN_TITLE: Final = 4  # minimum letters of a title: 「详细」「更多」「图文」 are not titles


def spelling_ids(links: Sequence[Link]) -> list[str]:
    """Return the spelling identities of links whose identity would change."""
    return [name for link in links if link.identity is None and (name := bare(link.url)) != identity(link.url)]


def separate_collisions(links: Sequence[Link], stored: Container[str]) -> list[Link]:
    """Return ``links`` with an ``identity`` where they must be distinguished. ``stored``: spelling identities in the store."""
    groups: dict[str, list[Link]] = defaultdict(list)
    for link in links:
        if link.identity is None:
            groups[identity(link.url)].append(link)
    joined = {name for name, group in groups.items() if len(group) > 1 and _have_different_titles(group)}
    joined |= {name for name, group in groups.items() if any(bare(link.url) != name and bare(link.url) in stored for link in group)}
    return [replace(link, identity=bare(link.url)) if link.identity is None and identity(link.url) in joined else link for link in links]


def is_single_page(links: Sequence[Link]) -> bool:
    """Return whether several entries with their own titles link to the same URL: they are a single page."""
    titles: dict[str, set[str]] = defaultdict(set)
    for link in links:
        titles[link.identity or bare(link.url)].add(letters(link.title or ""))
    return any(sum(len(title) >= MIN_TITLE for title in group) >= MIN_GROUP for group in titles.values())


def _have_different_titles(group: Sequence[Link]) -> bool:
    titled = {(bare(link.url), letters(link.title or "")) for link in group if len(letters(link.title or "")) >= MIN_TITLE}
    return min(len({url for url, _ in titled}), len({title for _, title in titled})) >= MIN_GROUP


Pair = tuple[str, str]

HOSTS: Final = frozenset(("m", "wap", "3g", "mobile", "amp", "www"))  # first labels of hosts that serve the same articles to other devices
SECOND_LEVEL: Final = frozenset("com net org gov edu co ac or ne go mil".split())
PROVINCES: Final = frozenset(
    "bj sh tj cq he sx nm ln jl hl js zj ah fj jx sd ha hb hn gd gx hi sc gz yn xz sn gs qh nx xj tw hk mo".split()
)
"""Second-level domains of ``cn`` under which names are registered (CNNIC)."""

AMP_CACHE: Final = re.compile(
    r"https?://(?:(?:(?:[\w-]+\.)?cdn\.ampproject\.org/[cv]/(?:s/)?|(?:www\.)?(?:google|bing)\.com/amp/s/))+(?=[\w-]+(?:\.[\w-]+)+(?:[:/?]|$))",
    re.IGNORECASE,
)
"""Prefix of the publisher's URL in the AMP caches of Google and Bing (their documentation)."""

VIEW_MARK: Final = re.compile(r"(?:/(?:amp|print)(?=/?$)|^/(?:amp|print)(?=/.)|[._-](?:amp|print)(?=\.s?html?$))", re.IGNORECASE)
"""``/a/1/amp``, ``/amp/a/1``, ``/a/1.amp.html``, ``/a/1_print.html``, and the same for print."""

YES: Final = frozenset(("", "1", "true", "yes", "y"))
VIEWS: Final = frozenset(("amp", "print", "printable", "mobile", "wap"))
SHARED: Final = frozenset(
    "rss feed timeline singlemessage groupmessage weibo wechat weixin qq qzone twitter facebook linkedin telegram whatsapp".split()
)
VIEW_NAMES: Final = frozenset(("amp", "print", "printable", "print_view", "printview"))
VIEW_CHOICES: Final = frozenset(("view", "mode", "output", "outputtype", "format", "display"))
SHARE_NAMES: Final = frozenset(("from", "source", "src", "ref", "via", "channel_from"))

LONG_NUMBER: Final = re.compile(r"(?<!\d)\d{7,}(?!\d)")
DATE: Final = re.compile(
    r"(?<!\d)(?:19[89]|20[0-4])\d(?:[-/_]?(?:0[1-9]|1[0-2])[-/_]?(?:0[1-9]|[12]\d|3[01])|[-/_](?:0?[1-9]|1[0-2])[-/_](?:0?[1-9]|[12]\d|3[01]))(?!\d)"
)
NUMBER: Final = re.compile(r"\d{3,}")
CODE: Final = re.compile(r"(?=[A-Za-z0-9]*?(?:\d[A-Za-z]*){3})(?=[A-Za-z0-9]*?(?:[A-Za-z]\d*){3})[A-Za-z0-9]{10,}")
WORDS: Final = re.compile(r"[^\W\d_]{2,}(?:[-_][^\W_]+){3,}")
TITLE_WORDS_CHARS: Final = 20
MAX_HOST_CHARS: Final = 253  # RFC 1035
MAX_EXAMINED: Final = 512  # characters of path and query examined: bounds the time of every pattern


def without_amp_cache(url: str) -> str:
    """Return the publisher's URL of a page in an AMP cache; any other URL unchanged."""
    found = AMP_CACHE.match(url)
    return f"https://{url[found.end() :]}" if found else url


def is_specific(path: str, query: str = "") -> bool:
    """Return whether a URL identifies one article by itself."""
    text = unquote(f"{path}?{query}"[:MAX_EXAMINED])
    dated = DATE.search(text)
    rest = text[: dated.start()] + " " + text[dated.end() :] if dated else text
    if LONG_NUMBER.search(rest) or CODE.search(rest):
        return True
    slug = WORDS.search(rest)
    return bool(dated and NUMBER.search(rest)) or bool(slug and len(slug.group()) >= TITLE_WORDS_CHARS)


def strip_path_marks(path: str, query: str) -> str:
    """Return ``path`` without AMP and print marks, as long as the rest is specific."""
    while len(path) <= MAX_EXAMINED and (found := VIEW_MARK.search(path)) is not None:
        rest = path[: found.start()] + path[found.end() :]
        if not is_specific(rest, query):
            break
        path = rest
    return path.rstrip("/") or "/"


def strip_query_marks(path: str, pairs: Sequence[Pair]) -> list[Pair]:
    """Return ``pairs`` without those that select a view or track sharing, if the rest is specific."""
    remaining = [pair for pair in pairs if not _is_view(*pair)]
    return remaining if len(remaining) < len(pairs) and is_specific(path, "&".join("=".join(pair) for pair in remaining)) else list(pairs)


def _is_view(name: str, value: str) -> bool:
    name, value = name.lower(), value.lower()
    return (name in VIEW_NAMES and value in YES) or (name in VIEW_CHOICES and value in VIEWS) or (name in SHARE_NAMES and value in SHARED)


def main_host(host: str) -> str:
    """Return ``host`` without mobile and AMP labels, as long as the rest can be a registered name."""
    while len(host) <= MAX_HOST_CHARS:
        label, _, rest = host.partition(".")
        if label not in HOSTS or not is_registrable(rest):
            break
        host = rest
    return host


def is_registrable(host: str) -> bool:
    """Return whether ``host`` can be registered: at least two labels, and not ``com.cn``, ``co.uk`` or ``bj.cn``."""
    labels = host.split(".")
    if len(labels) != 2:
        return len(labels) > 2
    return not (len(labels[1]) == 2 and labels[0] in SECOND_LEVEL) and not (labels[1] == "cn" and labels[0] in PROVINCES)


def domain(host: str) -> str:
    """Return the registered domain of ``host``, accurate enough to distinguish internal from external links."""
    labels = host.split(".")
    while len(labels) > 2 and is_registrable(".".join(labels[1:])):
        labels = labels[1:]
    return ".".join(labels)
