"""``X-Robots-Tag`` and ``<meta name="robots">``: pages not to be stored, links not to be followed. See docs/decisions/robots-tags.md."""

import email.utils
import re
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from html import unescape

from scrapy import Request
from scrapy.http import Response

from newsportal.crawl.middlewares.robots import RobotsBase, RobotsDenied

HEAD_BYTES = 256 * 1024  # bytes searched for ``meta`` elements, as for those with the encoding
ALL_ROBOTS = "robots"  # the name that addresses all robots

DIRECTIVES = frozenset(
    """all follow index indexifembedded max-image-preview max-snippet max-video-preview noai noarchive nocache noimageai noimageindex
    nofollow noindex none noodp nosnippet notranslate noydir unavailable_after""".split()
)
"""Directives: these are no names of robots before a colon."""

META = re.compile(rb"<meta\b[^>]{0,2000}>", re.IGNORECASE)
NAMED = rb"\bname\s{0,9}=\s{0,9}[\"']?\s{0,9}(?:%s)\b"
ATTRIBUTE = re.compile(r"([a-z-]+)\s*=\s*(?:\"([^\"]*)\"|'([^']*)'|([^\s\"'>]+))", re.IGNORECASE)
HIDDEN_MARKUP = re.compile(rb"<!--|<(script|style|noscript|template)\b", re.IGNORECASE)
AGENT = re.compile(r"[a-z_][\w.-]*")
BODY = re.compile(rb"<body\b", re.IGNORECASE)
WEEKDAY = re.compile(r"(mon|tues?|wed(nes)?|thu(rs)?|fri|sat(ur)?|sun)(day)?", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Tags:
    """Directives. False: ``index`` do not store, ``follow`` do not follow links, ``archive`` show no copy. ``until``: do not keep after."""

    index: bool = True
    follow: bool = True
    archive: bool = True
    until: datetime | None = None

    def may_store(self, now: datetime) -> bool:
        """Return whether the page may be stored at ``now``."""
        return self.index and (self.until is None or now < self.until)


def tags_of(headers: Iterable[str], body: bytes, token: str) -> Tags:
    """Return the directives for us. ``headers``: the values of ``X-Robots-Tag``; ``token``: our product token in robots.txt."""
    names = {ALL_ROBOTS, token.lower()}
    directives: dict[str, str] = {}
    for value in (*headers, *_metas(body, names)):
        directives |= _read(value, names)
    none = "none" in directives
    until = _moment(directives["unavailable_after"]) if "unavailable_after" in directives else None
    return Tags(not (none or "noindex" in directives), not (none or "nofollow" in directives), "noarchive" not in directives, until)


def _read(value: str, names: set[str]) -> dict[str, str]:
    """Return the directives addressed to us with their values. ``otherbot: noindex, nofollow`` addresses another robot up to its end."""
    found: dict[str, str] = {}
    ours, last = True, ""
    for part in value.lower().split(","):
        word, colon, rest = part.strip().partition(":")
        word = word.strip()
        if colon and word not in DIRECTIVES and AGENT.fullmatch(word):
            ours, word, rest = word in names, rest.strip().partition(":")[0].strip(), rest.strip().partition(":")[2]
        if ours and word in DIRECTIVES:
            found[word] = rest.strip()
        elif ours and last == "unavailable_after":  # the date contains a comma
            found[last] = f"{found[last]}, {part.strip()}"
            word = last
        last = word
    return found


def _metas(body: bytes, names: set[str]) -> Iterator[str]:
    """Yield the contents of ``meta`` elements in the page's head that address us."""
    head = body[:HEAD_BYTES]
    pattern = re.compile(NAMED % b"|".join(re.escape(name.encode("ascii", "ignore")) for name in names), re.IGNORECASE)
    ends = [match.end() for match in META.finditer(head) if pattern.search(match[0])]
    if not ends:
        return
    head = _visible(head[: ends[-1]])  # no further: it is slow
    start = BODY.search(head)
    for match in META.finditer(head[: start.start()] if start else head):
        attributes = {name.lower(): unescape(a or b or c) for name, a, b, c in ATTRIBUTE.findall(match[0].decode("latin-1"))}
        if attributes.get("name", "").strip().lower() in names:
            yield attributes.get("content", "")


def _visible(head: bytes) -> bytes:
    """Return ``head`` without comments and scripts; an unclosed one removes the rest, as in browsers."""
    parts, place = [], 0
    while match := HIDDEN_MARKUP.search(head, place):
        parts.append(head[place : match.start()])
        end = re.compile(b"-->" if match[1] is None else b"</" + match[1], re.IGNORECASE).search(head, match.end())
        if end is None:
            return b" ".join(parts)
        place = end.start() + 3
    return b" ".join((*parts, head[place:]))


def _moment(text: str) -> datetime | None:
    """Parse a date of RFC 822, RFC 850 or ISO 8601; ``None`` for invalid ones: an unreadable limit is ignored."""
    plain = WEEKDAY.sub("", text).strip(" ,").upper()
    with suppress(ValueError):
        return _aware(datetime.fromisoformat(plain))
    with suppress(ValueError, TypeError, IndexError):
        return _aware(email.utils.parsedate_to_datetime(plain.replace("-", " ")))
    return None


def _aware(moment: datetime) -> datetime:
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


LIST_PAGE = "list_page"
"""Meta key of requests for list pages: these are not stored, so ``noindex`` is ignored; ``nofollow`` is obeyed."""

ENGINE_PREFIX = "engine:"
"""Result pages of engines are made for the user, and exclude other engines' robots; requests without a source are not for pages."""

READABLE = (b"html", b"xml", b"text")  # parts of content types that may contain ``meta`` elements; headers count for all
NOINDEX, NOFOLLOW = "robots-noindex", "robots-nofollow"


class RobotsTagsMiddleware(RobotsBase):
    """Obeys robots tags. Also counts ``robots/noarchive``, which is left to the operator."""

    def process_response(self, request: Request, response: Response) -> Response:
        """Raises :class:`RobotsDenied`, reason ``robots-noindex`` or ``robots-nofollow``."""
        source = str(request.meta.get("source") or ENGINE_PREFIX)
        if source.startswith(ENGINE_PREFIX) or not self._obeys(request) or not 200 <= response.status < 300:
            return response
        headers = [value.decode("latin-1") for value in response.headers.getlist("X-Robots-Tag")]
        kind = (response.headers.get("Content-Type") or b"html").lower()
        tags = tags_of(headers, response.body if any(part in kind for part in READABLE) else b"", self._token)
        if LIST_PAGE in request.meta:
            if not tags.follow:
                raise self._denied(request, NOFOLLOW, "the robots directives of the list page forbid following its links")
        elif not tags.may_store(datetime.now(UTC)):
            raise self._denied(request, NOINDEX, "the robots directives of the page forbid storing it")
        elif not tags.archive:
            self._count("robots/noarchive")
        return response

    def _denied(self, request: Request, reason: str, detail: str) -> RobotsDenied:
        self._count(f"robots/denied/{reason}")
        return RobotsDenied(request.url, reason, detail, transient=False)
