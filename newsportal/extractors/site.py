"""What is known of a site: lines that stand on several of its pages are the site's, not the article's.

A line of the body found is **repeated** when enough of the site's other pages (its witnesses) hold it too: at least one, and at least
``SHARE`` of them. No witness is

- the page itself, learnt before under the same address;
- another page of the same article (the addresses differ in a page's number alone): it may repeat the first page's lead;
- the same article under another address (print version, repost): it holds more than ``SAME`` of the body's characters.

Lines are compared by ``blake2b`` without white space, so that what is known means the same in every process.
"""

from __future__ import annotations

import re
from array import array
from collections import Counter, OrderedDict
from collections.abc import Iterable, Sequence
from hashlib import blake2b
from math import ceil
from threading import Lock
from typing import Final
from urllib.parse import urlsplit

from newsportal.text import CJK

MAX_SITES: Final = 1000
MAX_PAGES: Final = 8
MAX_LINES: Final = 2000
"""Memory: at most 8 bytes a line, 64 MB if a thousand sites had eight pages of a thousand lines. Eight witnesses are enough: with
``SHARE`` a third, three of them make a line the site's."""

MIN_WIDTH: Final = 5
"""Shorter lines (a Chinese character counts two) are never repeated: 「or」, 「广告」, 「1」 stood in the gold text as often as not."""

SHARE: Final = 1 / 3
"""Of the witnesses. Half of them and one of them measure alike (within 0.1 points of F1); datelines of one reporter stay below it."""

SAME: Final = 0.5
"""Measured on 1,738 pairs of pages: different articles share at most 0.20 of the body found, the same article at least 0.55."""


def site_of(url: str) -> str | None:
    """The host without ``www.``; ``None`` for what is no http(s) address."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return None
    if parts.scheme not in ("http", "https") or not parts.hostname:
        return None
    return parts.hostname.removeprefix("www.").rstrip(".") or None


_PAGE_QUERY = re.compile(r"(?<=[?&])(?:page|p|pn|pg|curpage|pageno)=\d{1,3}(?:&|$)", re.IGNORECASE)
_PAGE_PATH = re.compile(r"(?:[_-]|/(?:page/)?)\d{1,2}(?=/?$|\.[a-z]{3,5}$)", re.IGNORECASE)


def stem(url: str) -> str:
    """The address without what may be a page's number: pages of one article have one stem (and so may 99 short articles)."""
    address, _, query = url.partition("#")[0].partition("?")
    rest = _PAGE_QUERY.sub("", f"?{query}").strip("?&")
    return f"{_PAGE_PATH.sub('', address).rstrip('/')}?{rest}"


class SiteKnowledge:
    """Remembers the lines of the pages seen last, of the sites seen last. Its methods may be called from several threads."""

    def __init__(self, sites: int = MAX_SITES, pages: int = MAX_PAGES) -> None:
        self._most_sites, self._most_pages = sites, pages
        self._sites: OrderedDict[str, OrderedDict[str, array[int]]] = OrderedDict()
        self._lock = Lock()

    def learn(self, url: str, lines: Sequence[str]) -> None:
        """``lines`` are all visible lines of the page (``Document.lines``). A page learnt again replaces itself."""
        self.remember(url, array("Q", dict.fromkeys(_hashes(lines[:MAX_LINES]))))

    def remember(self, url: str, known: array[int]) -> None:
        """:meth:`learn` for lines that are hashed already (see :mod:`newsportal.extractors.site_file`)."""
        site = site_of(url)
        if site is None:
            return
        with self._lock:
            pages = self._sites.setdefault(site, OrderedDict())
            self._sites.move_to_end(site)
            pages[url] = known
            pages.move_to_end(url)
            if len(pages) > self._most_pages:
                pages.popitem(last=False)
            if len(self._sites) > self._most_sites:
                self._sites.popitem(last=False)

    def repeated(self, url: str, lines: Sequence[str]) -> frozenset[str]:
        """Which of the body's ``lines`` are the site's. Empty where no other page of the site is known."""
        others = self._others(url)
        if not others or not lines:
            return frozenset()
        numbers = _hashes(lines)
        sizes = {number: width(line) for number, line in zip(numbers, lines, strict=True)}
        total = sum(sizes.values())
        shared = [sizes.keys() & page for page in others]
        shared = [some for some in shared if sum(sizes[number] for number in some) <= SAME * total]
        counts = Counter(number for some in shared for number in some)
        needed = max(1, ceil(SHARE * len(shared)))
        repeated = {number for number, count in counts.items() if count >= needed and sizes[number] >= MIN_WIDTH}
        return frozenset(line for number, line in zip(numbers, lines, strict=True) if number in repeated)

    def pages(self) -> list[tuple[str, array[int]]]:
        """Every page that is remembered with the hashes of its lines, those of the site used last at the end."""
        with self._lock:
            return [page for site in self._sites.values() for page in site.items()]

    def _others(self, url: str) -> list[array[int]]:
        site, own = site_of(url), stem(url)
        if site is None:
            return []
        with self._lock:
            pages = self._sites.get(site)
            if pages is None:
                return []
            self._sites.move_to_end(site)
            return [lines for other, lines in pages.items() if stem(other) != own]


def width(line: str) -> int:
    """Characters that are not white space, Chinese ones twice."""
    squeezed = "".join(line.split())
    return len(squeezed) + len(CJK.findall(squeezed))


def _hashes(lines: Iterable[str]) -> list[int]:
    return [_hash("".join(line.split())) for line in lines]


def _hash(text: str) -> int:
    return int.from_bytes(blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "big")
