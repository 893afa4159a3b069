"""Classify a forum URL (board, thread, member …), with its id and page number, by the URL schemes of forum engines.

From the engines' public documentation and templates, never for a single site. A URL that matches no row of the tables is classified by the
rows of the page that links to it (:mod:`rows`). Session ids, the list page of origin (``extra``, ``fpage``) and other irrelevant parameters
are removed, so that a thread has one key however it was reached.
"""

import re
from dataclasses import dataclass
from typing import Final, Literal
from urllib.parse import parse_qsl, urlencode, urlsplit

# Kind of the page behind a URL. ``post``: a URL that leads to one post within a thread (such as the last).
Kind = Literal["front", "board", "thread", "post", "member", "login", "search", "calendar", "other"]
MAX_CHARS: Final = 2_000
SESSION_NAME: Final = re.compile(r"^(?:sid|s|session|sess|phpsessid|sessionid|jsessionid|token|osCsid|zenid)$", re.IGNORECASE)
SESSION_VALUE: Final = re.compile(r"^[0-9a-z]{16,}$", re.IGNORECASE)  # a session id is long; ``sid=123`` may be a page
PATH_SESSION: Final = re.compile(r";(?:jsessionid|phpsessid|sid)=[^/?#;]*", re.IGNORECASE)
TRACKING: Final = re.compile(r"^(?:utm_\w+|fbclid|gclid|spm|scm|share_\w+|_t)$", re.IGNORECASE)
# URLs that count pages from 0, or by entries: there 1 is not the first page.
OFFSET_URL: Final = re.compile(r"[?&](?:st|pn|start)=|page__st__|(?:topic|board)[=,]\d+\.|/c/")
_FIRST_LIST: Final = re.compile(r"(/thread-\d+-\d+)-\d+\.html$")  # Discuz!: the third number is the list page of origin


@dataclass(frozen=True, slots=True)
class Address:
    """``key`` identifies the board or thread on every page and in every URL form; ``place`` is the page number or offset in the URL, 0 for
    the first page; ``url`` is the URL to fetch."""

    kind: Kind
    url: str
    key: str | None = None
    place: int = 0


IGNORED_PARAMETERS: Final = re.compile(
    r"^(?:extra|fpage|highlight|hilit|from|fromuid|mobile|view|styleid|sid|s|toread|isappinstalled|goto|u_atoken|no_definitions)$", re.I
)  # Parameters that do not distinguish a board's or thread's pages. ``view=next`` and the like link to other threads: handled before.
PATHS: Final[tuple[tuple[Kind, re.Pattern[str]], ...]] = tuple(
    (kind, re.compile(form, re.IGNORECASE))  # type: ignore[misc]
    for kind, form in (
        # Discuz!, MyBB
        ("thread", r"/thread-(?P<id>\d+)(?:-(?P<page>\d+)-\d+)?\.html$"),
        ("thread", r"/(?:archiver/)?tid-(?P<id>\d+)(?:-page-(?P<page>\d+))?\.html$"),
        ("thread", r"/thread-(?P<id>\d+)-page-(?P<page>\d+)\.html$"),
        ("board", r"/forum-(?P<id>\w+)-page-(?P<page>\d+)\.html$"),
        ("board", r"/forum-(?P<id>\w+)(?:-(?P<page>\d+))?\.html$"),
        ("thread", r"/thread-(?P<id>[a-z][\w-]*?)(?:\?page=(?P<page>\d+))?$"),
        ("board", r"/forum-(?P<id>[a-z][\w-]*?)(?:\?page=(?P<page>\d+))?$"),
        # phpwind
        ("thread", r"/read(?:-htm|\.php\?)-?tid-(?P<id>\d+)(?:-(?:fpage|toread)-\w*)*(?:-page-(?P<page>\d+))?(?:-\w+)*\.html$"),
        ("board", r"/thread(?:-htm|\.php\?)-?fid-(?P<id>\d+)(?:-page-(?P<page>\d+))?(?:-\w+)*\.html$"),
        # XenForo, vBulletin 4
        ("thread", r"[/?]threads/(?:[^/?]*\.)?(?P<id>\d+)(?:-[^/?]*)?/?(?:(?:page-?(?P<page>\d+))/?)?$"),
        ("board", r"[/?]forums/(?:[^/?]*\.)?(?P<id>\d+)(?:-[^/?]*)?/?(?:(?:page-?(?P<page>\d+))/?)?$"),
        ("board", r"[/?]forums/(?P<id>[a-z][\w-]*\.\d+)/?(?:(?:page-?(?P<page>\d+))/?)?$"),
        ("thread", r"/showthread\.php[?/](?P<id>\d+)-[^/?]*(?:/page(?P<page>\d+))?$"),
        ("board", r"/forumdisplay\.php[?/](?P<id>\d+)-[^/?]*(?:/page(?P<page>\d+))?$"),
        # Discourse, Flarum, NodeBB, vanilla
        ("thread", r"/t/[^/?]+/(?P<id>\d+)(?:\?page=(?P<page>\d+))?$"),
        ("board", r"/c/(?:[^/?]+/)+(?P<id>\d+)(?:/l/latest)?(?:\?page=(?P<page>\d+))?$"),
        ("thread", r"/d/(?P<id>\d+)(?:-[^/?]*)?(?:\?page=(?P<page>\d+))?$"),
        ("thread", r"/topic/(?P<id>\d+)/[^/?]+/?(?:\?page=(?P<page>\d+))?$"),
        ("board", r"/category/(?P<id>\d+)/[^/?]+/?(?:\?page=(?P<page>\d+))?$"),
        ("thread", r"/discussion/(?P<id>\d+)(?:/[^/?]*)?(?:/p(?P<page>\d+))?$"),
        ("board", r"/categories/(?P<id>[\w%-]+)(?:/p(?P<page>\d+))?$"),
        # Invision, WoltLab, SMF
        ("thread", r"[/?]topic/(?P<id>\d+)-[^/?]*/?(?:(?:page/|\?page=|page__st__)(?P<page>\d+)/?)?$"),
        ("board", r"[/?]forum/(?P<id>\d+)-[^/?]*/?(?:(?:page/|\?page=|page__st__)(?P<page>\d+)/?)?$"),
        ("thread", r"[/?]thread/(?P<id>\d+)(?:-[^/?]*)?/?(?:[?&]pageNo=(?P<page>\d+))?$"),
        ("board", r"[/?]board/(?P<id>\d+)-[^/?]*/?(?:[?&]pageNo=(?P<page>\d+))?$"),
        ("thread", r"/topic,(?P<id>\d+)\.(?P<page>\d+)\.html$"),
        ("board", r"/board,(?P<id>\d+)\.(?P<page>\d+)\.html$"),
        # tieba, nForum, bbPress, V2EX and plain ones
        ("thread", r"/p/(?P<id>\d{6,})(?:\?pn=(?P<page>\d+))?$"),
        ("board", r"/f\?kw=(?P<id>[^&]+)(?:&ie=[\w-]+)?(?:&pn=(?P<page>\d+))?$"),
        ("thread", r"/article/(?P<id>\w+/\d+)(?:\?p=(?P<page>\d+))?$"),
        ("board", r"/forums/forum/(?P<id>[\w%-]+)/?(?:page/(?P<page>\d+)/?)?$"),
        ("thread", r"/forums/topic/(?P<id>[\w%-]+)/?(?:page/(?P<page>\d+)/?)?$"),
        ("thread", r"/(?:threads?|topics?|t|read)/(?P<id>\d+)/?(?:[?](?:page|p)=(?P<page>\d+))?$"),
        ("board", r"/(?:boards?|go|node)/(?P<id>[\w-]+)/?(?:[?](?:page|p)=(?P<page>\d+))?$"),
    )
)  # URLs with path parameters: ``id``, and ``page`` (a number or an offset)


@dataclass(frozen=True, slots=True)
class UrlScheme:
    """URLs with query parameters: the script's name, required parameters, the id's parameter and the page's."""

    kind: Kind
    name: re.Pattern[str]
    id: str
    page: str
    needs: tuple[tuple[str, str], ...] = ()


URL_SCHEMES: Final = tuple(
    UrlScheme(kind, re.compile(name), id, page, needs)  # type: ignore[arg-type]
    for kind, name, id, page, needs in (
        ("thread", r"/forum\.php$", "tid", "page", (("mod", "viewthread"),)),
        ("board", r"/forum\.php$", "fid", "page", (("mod", "forumdisplay"),)),
        ("board", r"/forum\.php$", "gid", "page", ()),
        ("thread", r"/viewthread\.php$", "tid", "page", ()),
        ("board", r"/forumdisplay\.php$", "fid", "page", ()),
        ("board", r"/forumdisplay\.php$", "f", "page", ()),
        ("thread", r"/read\.php$", "tid", "page", ()),
        ("board", r"/thread\.php$", "fid", "page", ()),
        ("thread", r"/index\.php$", "tid", "page", (("c", "read"),)),
        ("board", r"/index\.php$", "fid", "page", (("c", "thread"),)),
        ("thread", r"/viewtopic\.php$", "t", "start", ()),
        ("thread", r"/viewtopic\.php$", "id", "p", ()),
        ("board", r"/viewforum\.php$", "f", "start", ()),
        ("board", r"/viewforum\.php$", "id", "p", ()),
        ("thread", r"/showthread\.php$", "t", "page", ()),
        ("thread", r"/showthread\.php$", "tid", "page", ()),
        ("thread", r"/(?:index\.php)?$", "showtopic", "st", ()),
        ("board", r"/(?:index\.php)?$", "showforum", "st", ()),
        ("thread", r"/(?:index\.php)?$", "topic", "start", ()),
        ("board", r"/(?:index\.php)?$", "board", "start", ()),
    )
)
OTHER_ACTIONS: Final = re.compile(
    r"[?&](?:goto=|action=(?!read)|do=|orderby=|order=|sort|filter=|view=(?:next|prev|newest|print|unread)|mode=|authorid=|ordertype=|typeid=|watch=|bookmark=)"
    r"|/(?:new|unread|latest|reply|edit|quote)/?$|printthread|sendtopic",
    re.IGNORECASE,
)  # Another order, a filter, an action, another thread: not read as board or thread
POST_LINK: Final = re.compile(
    r"[?&](?:p|pid)=\d|[?&]goto=|mod=redirect|/post-?\d|#?post=|\.msg\d|/t/[^/]+/\d+/\d+|getlastpost|getnewpost|page=e\b|/unread|/latest$",
    re.IGNORECASE,
)
# FluxBB uses ``p`` for pages, next to ``id``; so do tieba and nForum.
PAGED_BY_P: Final = re.compile(
    r"view(?:topic|forum)\.php\?(?:.*&)?id=|/article/\w+/\d+\?p=|/(?:threads?|topics?|t|go|node|boards?)/[\w-]+/?\?p="
)
WORDS: Final[tuple[tuple[Kind, re.Pattern[str]], ...]] = (
    ("calendar", re.compile(r"calendar|/events?\b|almanac|paulsign|rili", re.IGNORECASE)),
    ("search", re.compile(r"search", re.IGNORECASE)),
    ("login", re.compile(r"login|logging|signin|sign-in|register|signup|mode=login|/ucp\.php|lostpw", re.IGNORECASE)),
    (
        "member",
        re.compile(
            r"space-u|mod=space|/u\.php|memberlist|member\.php|/members?/|/users?/|/u/|profile|showuser|/space[/.?-]|action=profile",
            re.IGNORECASE,
        ),
    ),
)


def parse_address(url: str) -> Address:
    """Classify ``url``. Never raises; an unknown URL is ``other``, cleaned."""
    plain = clean_url(url)
    if not _is_sound(plain):
        return Address("other", plain)
    path = re.sub(r"^[a-z]+://[^/?]+", "", plain)
    if POST_LINK.search(path) and not PAGED_BY_P.search(path):
        return Address("post", plain)
    if not OTHER_ACTIONS.search(path):
        for kind, form in PATHS:
            if match := form.search(path):
                return _address(kind, plain, path[: match.start()], match["id"], match["page"])
        if (address := _by_script(plain)) is not None:
            return address
    for kind, words in WORDS:
        if words.search(path):
            return Address(kind, plain)
    return Address("other", plain)


def _is_sound(url: str) -> bool:
    try:
        urlsplit(url)
    except ValueError:
        return False
    return True


def clean_url(url: str) -> str:
    """Return ``url`` without fragment, session and origin, as it is fetched."""
    try:
        parts = urlsplit(url[:MAX_CHARS].strip())
        path = PATH_SESSION.sub("", parts.path) or "/"
        query = parts.query
        if "=" in query:
            pairs = parse_qsl(query, keep_blank_values=True, encoding="latin-1")  # byte by byte: it may be GBK
            filtered = [(name, value) for name, value in pairs if not _is_idle(name, value)]
            query = query if filtered == pairs else urlencode(filtered, encoding="latin-1")
        return parts._replace(path=path, query=query, fragment="").geturl()
    except ValueError:
        return url


def _is_idle(name: str, value: str) -> bool:
    if SESSION_NAME.match(name):
        return bool(SESSION_VALUE.match(value)) or not value
    return bool(TRACKING.match(name) or (IGNORED_PARAMETERS.match(name) and name.lower() not in ("view", "goto", "s")))


def _by_script(url: str) -> Address | None:
    parts = urlsplit(url)
    values = dict(parse_qsl(parts.query.replace(";", "&")))
    for script in URL_SCHEMES:
        match = script.name.search(parts.path)
        if match and script.id in values and all(values.get(name) == value for name, value in script.needs):
            id, _, offset = values[script.id].partition(".")  # SMF: topic=12.20
            return _address(script.kind, url, parts.path[: match.start()], id, values.get(script.page) or offset)
    return None


def _address(kind: Kind, url: str, folder: str, id: str, page: str | None) -> Address:
    place = int(page[:9]) if page and page.isdigit() else 0
    host = host_of(url)
    first = _FIRST_LIST.sub(r"\1-1.html", url) if kind == "thread" else url
    folder = re.sub(r"/index\.php/?$|/$", "", folder)
    return Address(kind, first, f"{host}{folder}/#{kind}={id}", place if place > 1 or OFFSET_URL.search(url) else 0)


def host_of(url: str) -> str:
    """Return host and port, without ``www.``; ``""`` if there is none."""
    try:
        return urlsplit(url).netloc.rpartition("@")[2].lower().removeprefix("www.")
    except ValueError:
        return ""


def key_of(url: str) -> str:
    """Return the key of a board or thread with an unknown URL scheme: host, path and parameters."""
    if not _is_sound(url):
        return url
    parts = urlsplit(clean_url(url))
    path = parts.path.rstrip("/") or "/"
    return f"{host_of(url)}{path}?{parts.query}" if parts.query else f"{host_of(url)}{path}"


def form_of(url: str) -> str:
    """Return the URL's form, shared by pages of one kind: without its numbers, or its last part if it has none."""
    if not _is_sound(url):
        return url
    parts = urlsplit(clean_url(url))
    path = re.sub(r"\d+", "#", parts.path)
    if "#" not in path and not parts.query:
        path = re.sub(r"[^/]+/?$", "*", path)
    query = re.sub(r"=[^&]*", "=#", parts.query)
    return f"{path}?{query}" if query else path
