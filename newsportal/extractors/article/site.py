"""What is known of a site: lines that stand on several of its pages are the site's, not the article's.

A line of the body found is **repeated** when enough of the site's other pages (its witnesses) hold it too: at least one, and at least
``SHARE`` of them. What may be the article's own text stays, so no witness is

- the page itself, learnt before under the same address;
- another page of the same article (the addresses differ in a page's number alone): it may repeat the first page's lead;
- the same article, or one that goes on from it (print version, repost, update, live blog): it holds more than ``SAME`` of the body's
  characters, or the body holds more than ``WHOLE`` of its article's;
- another part of the same column: it has the same title.

A list of a witness's may introduce the article: the lines behind its title say nothing. One witness alone is not believed of a paragraph
(``LONG``), nor of more than ``FEW`` lines: two stories of one event share their background, or a box of facts.

Lines are compared by ``blake2b`` without white space, so that what is known means the same in every process.
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
SHARE: Final = 1 / 2  # of the witnesses. A third of them and one of them measure alike; datelines of one reporter stay below it
SAME: Final = 3 / 8  # of two pages' bodies: different articles share at most 0.20, the same at least 0.55 (1,738 pairs)
WHOLE: Final = 1 / 2  # of the witness's article. A 快讯 of two lines may be a small part of the report that it became
TEASER: Final = 5  # lines behind a title that a list may show with it: date, source, lead, "more"
FEW: Final = 3  # witnesses; where one alone named more lines, all 26 were the article's own (340 pages)
LONG: Final = 200  # width of a line that needs two witnesses. The longest notice in those pages has 168

Key = TypeVar("Key")
Value = TypeVar("Value")
_PAGE_QUERY = re.compile(r"(?<=[?&])(?:page|p|pn|pg|curpage|pageno)=\d{1,3}(?:&|$)", re.IGNORECASE)
_PAGE_PATH = re.compile(r"(?:[_-]|/(?:page/)?)\d{1,2}(?=/?$|\.[a-z]{3,5}$)", re.IGNORECASE)


class PageLines(NamedTuple):
    """A remembered page: hashes of its lines and of its title, width of its article's text (0 where nobody has read it)."""

    lines: array[int]
    title: int = 0
    text: int = 0


def site_of(url: str) -> str | None:
    """The host without ``www.``; ``None`` for what is no http(s) address."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return None
    if parts.scheme not in ("http", "https") or not parts.hostname:
        return None
    return parts.hostname.removeprefix("www.").rstrip(".") or None


def stem(url: str) -> str:
    """The address without what may be a page's number: pages of one article have one stem (and so may 99 short articles)."""
    address, _, query = url.partition("#")[0].partition("?")
    rest = _PAGE_QUERY.sub("", f"?{query}").strip("?&")
    return f"{_PAGE_PATH.sub('', address).rstrip('/')}?{rest}"


def put_last(entries: OrderedDict[Key, Value], key: Key, value: Value, most: int) -> None:
    """Put an entry at the end of a table of at most ``most``: the one that was put longest ago goes."""
    entries[key] = value
    entries.move_to_end(key)
    if len(entries) > most:
        entries.popitem(last=False)


class SiteKnowledge:
    """Remembers the lines of the pages seen last, of the sites seen last. Its methods may be called from several threads."""

    def __init__(self, sites: int = MAX_SITES, pages: int = MAX_PAGES) -> None:
        self._most_sites, self._most_pages = sites, pages
        self._sites: OrderedDict[str, OrderedDict[str, PageLines]] = OrderedDict()
        self._lock = Lock()

    def learn(self, url: str, lines: Sequence[str], title: str | None = None, text: Iterable[str] = ()) -> None:
        """``lines`` are all visible lines of the page (``Document.lines``), ``text`` its article's. It replaces what was known of it."""
        hashes = array("Q", dict.fromkeys(_hashes(lines[:MAX_LINES])))
        self.remember(url, PageLines(hashes, _hashes([title])[0] if title else 0, sum(map(width, text))))

    def remember(self, url: str, known: PageLines) -> None:
        """:meth:`learn` for lines that are hashed already (see :mod:`newsportal.extractors.article.site`)."""
        site = site_of(url)
        if site is None:
            return
        with self._lock:
            pages = self._sites.get(site, OrderedDict())
            put_last(pages, url, known, self._most_pages)
            put_last(self._sites, site, pages, self._most_sites)

    def repeated(self, url: str, lines: Sequence[str], title: str | None = None) -> frozenset[str]:
        """Which of the body's ``lines`` are the site's. Empty where no other page of the site is known."""
        own = stem(url)
        with self._lock:
            if pages := self._sites.get(site := site_of(url) or "", OrderedDict()):
                self._sites.move_to_end(site)
            others = [page for other, page in pages.items() if stem(other) != own]
        if not others or not lines:
            return frozenset()
        numbers = _hashes(lines)
        sizes = {number: width(line) for number, line in zip(numbers, lines, strict=True)}
        heading = _hashes([title])[0] if title else None
        said = [shared for page in others if (shared := _witnessed(page, sizes, heading)) is not None]
        counts = Counter(number for shared in said for number in shared if sizes[number] >= MIN_WIDTH)
        hearsay = {number for number, count in counts.items() if count == 1}
        doubted = hearsay if len(hearsay) > FEW else {number for number in hearsay if sizes[number] > LONG}
        needed = SHARE * len(said)
        repeated = {number for number, count in counts.items() if count >= needed} - doubted
        return frozenset(line for number, line in zip(numbers, lines, strict=True) if number in repeated)

    def of_site(self, url: str) -> dict[str, PageLines]:
        """The pages that are remembered of the site of ``url``."""
        with self._lock:
            return dict(self._sites.get(site_of(url) or "", ()))

    def holds(self, site: str) -> bool:
        with self._lock:
            return site in self._sites

    def pages(self) -> list[tuple[str, PageLines]]:
        with self._lock:
            return [page for site in self._sites.values() for page in site.items()]


def _witnessed(page: PageLines, sizes: Mapping[int, int], heading: int | None) -> set[int] | None:
    """The lines of a body that ``page`` holds; ``None`` if it is no witness."""
    shared = sizes.keys() & page.lines
    found = sum(sizes[number] for number in shared)
    if heading == page.title or found > SAME * sum(sizes.values()) or (page.text and found > WHOLE * page.text):
        return None
    if heading is not None and heading in page.lines:
        place = page.lines.index(heading) + 1
        shared.difference_update(page.lines[place : place + TEASER])
    return shared


def width(line: str) -> int:
    """Characters that are not white space, Chinese ones twice."""
    squeezed = "".join(line.split())
    return len(squeezed) + len(CJK.findall(squeezed))


def _hashes(lines: Sequence[str]) -> list[int]:
    """A hash of 64 bits of each line without its white space. A line is cleaned: it holds no NUL."""
    if not lines:
        return []
    texts = "".join("\0".join(lines).split()).encode("utf-8", "surrogatepass").split(b"\0")
    digests = b"".join([blake2b(text, digest_size=8).digest() for text in texts])
    return list(unpack(f">{len(texts)}Q", digests))


# What is known of sites as JSON: written with a version, checked when it is read (anybody may have written the file).
# A page is a row of numbers of eight bytes each, the least significant first, in base64: the hash of its title, the width of its text and
# the hashes of its lines. A site takes about twenty kilobytes.

VERSION: Final = 1
FORMAT: Final = "newsportal-site-lines"


def write_knowledge(knowledge: SiteKnowledge) -> str:
    """All pages that are remembered, those of the site used last at the end."""
    pages = [{"url": url, "lines": b64encode(packed(known)).decode("ascii")} for url, known in knowledge.pages()]
    return json.dumps({"format": FORMAT, "version": VERSION, "pages": pages}, ensure_ascii=False, separators=(",", ":"))


def read_knowledge(text: str) -> SiteKnowledge:
    """The knowledge behind ``text``. Raises ``LibraryError`` that says what is wrong."""
    try:
        found = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise LibraryError(f"not what is known of sites: {error}") from error
    if not isinstance(found, dict) or found.get("format") != FORMAT:
        raise LibraryError("not what is known of sites: it is some other JSON")
    if found.get("version") != VERSION:
        raise LibraryError(f"what is known of sites in version {found.get('version')!r}; this newsportal reads version {VERSION}")
    pages = found.get("pages")
    if not isinstance(pages, list) or len(pages) > MAX_SITES * MAX_PAGES:
        raise LibraryError("what is known of sites is broken: 'pages' is no list, or too long")
    knowledge = SiteKnowledge()
    for place, page in enumerate(pages):
        try:
            knowledge.remember(*_page(page))
        except (KeyError, TypeError, ValueError) as error:
            raise LibraryError(f"what is known of sites is broken: page {place + 1}: {error}") from error
    return knowledge


def _page(page: Any) -> tuple[str, PageLines]:
    url, written = page["url"], page["lines"]
    if not isinstance(url, str) or site_of(url) is None:
        raise ValueError("no address")
    return url, unpacked(b64decode(written, validate=True))


def packed(known: PageLines) -> bytes:
    """What is known of a page as bytes, the same on every machine."""
    return _swapped(array("Q", (known.title, known.text, *known.lines))).tobytes()


def unpacked(data: bytes) -> PageLines:
    """What :func:`packed` packed. Raises ``ValueError`` for anything else."""
    if len(data) % 8 or not 16 <= len(data) <= 8 * (MAX_LINES + 2):
        raise ValueError("title, text and lines are eight bytes each")
    numbers = array("Q")
    numbers.frombytes(data)
    title, text, *_ = numbers = _swapped(numbers)
    return PageLines(numbers[2:], title, text)


def _swapped(lines: array[int]) -> array[int]:
    """The same on every machine: from the machine's order of bytes to the file's, and back."""
    if sys.byteorder == "little":
        return lines
    other = array("Q", lines)
    other.byteswap()
    return other
