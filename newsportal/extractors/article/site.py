"""Recognise a site's boilerplate: lines that occur on several of its pages belong to the site, not to the article.

A line of an extracted body is **repeated** if enough of the site's other pages (witnesses) contain it: at least one, and at least
``MIN_WITNESS_SHARE`` of them. To protect the article's own text, these pages are not witnesses:

- the page itself, learned before under the same URL;
- another page of the same article (the URLs differ only in a page number): it may repeat the first page's lead;
- the same article, or one that extends it (print version, repost, update, live blog): it contains more than ``MAX_SHARED`` of the body's
  characters, or the body contains more than ``MAX_CONTAINED`` of its article's;
- another part of the same column: it has the same title.

A witness may list the article as a teaser: its lines after that title are ignored. A single witness is not enough for a paragraph
(``MAX_LONE_WIDTH``), nor for more than ``MAX_LONE_LINES`` lines: two stories about one event share their background, or a box of facts.

Lines are compared by ``blake2b`` without white space, so that saved hashes are valid in every process.
"""

from __future__ import annotations

import json
import re
import sys
from array import array
from base64 import b64decode, b64encode
from collections import Counter, OrderedDict
from collections.abc import Iterable, Mapping, Sequence
from hashlib import blake2b
from struct import unpack
from threading import Lock
from typing import Any, Final, NamedTuple, TypeVar
from urllib.parse import urlsplit

from newsportal.errors import LibraryError
from newsportal.text import CJK

MAX_SITES: Final = 1000
MAX_PAGES: Final = 8
MAX_LINES: Final = 2000  # of a page, 8 bytes each: 64 MB for a thousand sites of eight pages
MIN_WIDTH: Final = 5  # shorter lines (a Chinese character counts two) are never repeated: 「广告」, 「1」 may be the article's
MIN_WITNESS_SHARE: Final = 1 / 2  # of the witnesses. A third of them and one of them measure alike; datelines of one reporter stay below it
MAX_SHARED: Final = 3 / 8  # of two pages' bodies: different articles share at most 0.20, the same at least 0.55 (1,738 pairs)
MAX_CONTAINED: Final = 1 / 2  # of the witness's article. A 快讯 of two lines may be a small part of the report that extends it
TEASER_LINES: Final = 5  # lines after a title that a list may show with it: date, source, lead, "more"
MAX_LONE_LINES: Final = 3  # lines; where a single witness matched more, all 26 were the article's own (340 pages)
MAX_LONE_WIDTH: Final = 200  # width of a line that needs two witnesses. The longest notice in those pages has 168

Key = TypeVar("Key")
Value = TypeVar("Value")
_PAGE_QUERY = re.compile(r"(?<=[?&])(?:page|p|pn|pg|curpage|pageno)=\d{1,3}(?:&|$)", re.IGNORECASE)
_PAGE_PATH = re.compile(r"(?:[_-]|/(?:page/)?)\d{1,2}(?=/?$|\.[a-z]{3,5}$)", re.IGNORECASE)


class PageLines(NamedTuple):
    """A remembered page: hashes of its lines and of its title, width of its article's text (0 if not extracted)."""

    lines: array[int]
    title: int = 0
    text: int = 0


def site_of(url: str) -> str | None:
    """Return the host without ``www.``; ``None`` if the URL is not http(s)."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return None
    if parts.scheme not in ("http", "https") or not parts.hostname:
        return None
    return parts.hostname.removeprefix("www.").rstrip(".") or None


def stem(url: str) -> str:
    """Return the URL without a possible page number: the pages of one article have the same stem (as may 99 short articles)."""
    address, _, query = url.partition("#")[0].partition("?")
    rest = _PAGE_QUERY.sub("", f"?{query}").strip("?&")
    return f"{_PAGE_PATH.sub('', address).rstrip('/')}?{rest}"


def put_newest(entries: OrderedDict[Key, Value], key: Key, value: Value, capacity: int) -> None:
    """Put an entry at the end of a table of at most ``capacity`` entries, and drop the oldest if it is full."""
    entries[key] = value
    entries.move_to_end(key)
    if len(entries) > capacity:
        entries.popitem(last=False)


class SiteKnowledge:
    """Lines of the most recently seen pages of the most recently seen sites. Thread-safe."""

    def __init__(self, sites: int = MAX_SITES, pages: int = MAX_PAGES) -> None:
        self._most_sites, self._most_pages = sites, pages
        self._sites: OrderedDict[str, OrderedDict[str, PageLines]] = OrderedDict()
        self._lock = Lock()

    def learn(self, url: str, lines: Sequence[str], title: str | None = None, text: Iterable[str] = ()) -> None:
        """Learn or replace a page. ``lines``: all its visible lines (``Document.lines``); ``text``: those of its article."""
        hashes = array("Q", dict.fromkeys(_hashes(lines[:MAX_LINES])))
        self.remember(url, PageLines(hashes, _hashes([title])[0] if title else 0, sum(map(width, text))))

    def remember(self, url: str, page: PageLines) -> None:
        """Like :meth:`learn`, for lines that are already hashed."""
        site = site_of(url)
        if site is None:
            return
        with self._lock:
            pages = self._sites.get(site, OrderedDict())
            put_newest(pages, url, page, self._most_pages)
            put_newest(self._sites, site, pages, self._most_sites)

    def repeated(self, url: str, lines: Sequence[str], title: str | None = None) -> frozenset[str]:
        """Return those of the body's ``lines`` that the site repeats; empty if no other page of the site is known."""
        own_stem = stem(url)
        with self._lock:
            if pages := self._sites.get(site := site_of(url) or "", OrderedDict()):
                self._sites.move_to_end(site)
            others = [page for other, page in pages.items() if stem(other) != own_stem]
        if not others or not lines:
            return frozenset()
        numbers = _hashes(lines)
        sizes = {number: width(line) for number, line in zip(numbers, lines, strict=True)}
        heading = _hashes([title])[0] if title else None
        matches = [shared for page in others if (shared := _witnessed(page, sizes, heading)) is not None]
        counts = Counter(number for shared in matches for number in shared if sizes[number] >= MIN_WIDTH)
        single = {number for number, count in counts.items() if count == 1}
        doubted = single if len(single) > MAX_LONE_LINES else {number for number in single if sizes[number] > MAX_LONE_WIDTH}
        needed = MIN_WITNESS_SHARE * len(matches)
        repeated = {number for number, count in counts.items() if count >= needed} - doubted
        return frozenset(line for number, line in zip(numbers, lines, strict=True) if number in repeated)

    def pages_of(self, url: str) -> dict[str, PageLines]:
        """Return the remembered pages of the site of ``url``."""
        with self._lock:
            return dict(self._sites.get(site_of(url) or "", ()))

    def knows(self, site: str) -> bool:
        with self._lock:
            return site in self._sites

    def pages(self) -> list[tuple[str, PageLines]]:
        with self._lock:
            return [page for site in self._sites.values() for page in site.items()]


def _witnessed(page: PageLines, sizes: Mapping[int, int], heading: int | None) -> set[int] | None:
    """Return the lines of a body that ``page`` contains; ``None`` if it is not a witness."""
    shared = sizes.keys() & page.lines
    found = sum(sizes[number] for number in shared)
    if heading == page.title or found > MAX_SHARED * sum(sizes.values()) or (page.text and found > MAX_CONTAINED * page.text):
        return None
    if heading is not None and heading in page.lines:
        place = page.lines.index(heading) + 1
        shared.difference_update(page.lines[place : place + TEASER_LINES])
    return shared


def width(line: str) -> int:
    """Count the characters except white space; Chinese ones count twice."""
    squeezed = "".join(line.split())
    return len(squeezed) + len(CJK.findall(squeezed))


def _hashes(lines: Sequence[str]) -> list[int]:
    """Return a 64-bit hash of each line without white space. Lines are cleaned, so they contain no NUL."""
    if not lines:
        return []
    texts = "".join("\0".join(lines).split()).encode("utf-8", "surrogatepass").split(b"\0")
    digests = b"".join([blake2b(text, digest_size=8).digest() for text in texts])
    return list(unpack(f">{len(texts)}Q", digests))


# Site knowledge as JSON: versioned, validated on reading (the file is untrusted). A page is a row of eight-byte numbers, least significant
# byte first, in base64: the hash of its title, the width of its text and the hashes of its lines. A site takes about twenty kilobytes.

VERSION: Final = 1
FORMAT: Final = "newsportal-site-lines"


def write_knowledge(knowledge: SiteKnowledge) -> str:
    """Return all remembered pages as JSON, those of the most recently used site last."""
    pages = [{"url": url, "lines": b64encode(pack_page(page)).decode("ascii")} for url, page in knowledge.pages()]
    return json.dumps({"format": FORMAT, "version": VERSION, "pages": pages}, ensure_ascii=False, separators=(",", ":"))


def read_saved(text: str, form: str, version: int, subject: str) -> dict[str, Any]:
    """Load saved JSON of this format and version. Raises ``LibraryError`` with the reason; ``subject`` names the expected content."""
    try:
        data = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise LibraryError(f"no {subject}: {error}") from error
    if not isinstance(data, dict) or data.get("format") != form:
        raise LibraryError(f"no {subject}: unknown JSON")
    if data.get("version") != version:
        raise LibraryError(f"{subject} of version {data.get('version')!r}; this newsportal reads version {version}")
    return data


def read_knowledge(text: str) -> SiteKnowledge:
    """Load the knowledge from ``text``. Raises ``LibraryError`` with the reason."""
    pages = read_saved(text, FORMAT, VERSION, "knowledge of sites").get("pages")
    if not isinstance(pages, list) or len(pages) > MAX_SITES * MAX_PAGES:
        raise LibraryError("the site knowledge is damaged: 'pages' is no list, or too long")
    knowledge = SiteKnowledge()
    for place, page in enumerate(pages):
        try:
            knowledge.remember(*_page(page))
        except (KeyError, TypeError, ValueError) as error:
            raise LibraryError(f"the site knowledge is damaged: page {place + 1}: {error}") from error
    return knowledge


def _page(page: Any) -> tuple[str, PageLines]:
    url, lines = page["url"], page["lines"]
    if not isinstance(url, str) or site_of(url) is None:
        raise ValueError("no address")
    return url, unpack_page(b64decode(lines, validate=True))


def pack_page(page: PageLines) -> bytes:
    """Return the page as bytes, the same on every machine."""
    return _swapped(array("Q", (page.title, page.text, *page.lines))).tobytes()


def unpack_page(data: bytes) -> PageLines:
    """Load the output of :func:`pack_page`. Raises ``ValueError`` for anything else."""
    if len(data) % 8 or not 16 <= len(data) <= 8 * (MAX_LINES + 2):
        raise ValueError("title, text and lines must have eight bytes each")
    numbers = array("Q")
    numbers.frombytes(data)
    title, text, *_ = numbers = _swapped(numbers)
    return PageLines(numbers[2:], title, text)


def _swapped(lines: array[int]) -> array[int]:
    """Convert between the machine's byte order and little endian, the file's."""
    if sys.byteorder == "little":
        return lines
    other = array("Q", lines)
    other.byteswap()
    return other
