"""An article of several pages, decided purely: which address to ask for next, what an answer is worth, when to end.

Whoever fetches (the crawl, a command) drives it::

    pages = MultiPage(first, same=identity)
    while urls := pages.wanted():
        try:
            pages.take(read(fetch(urls[0])), urls[0])
        except NotApplicable as why:
            pages.refuse(urls[0], why.reason)
    article = pages.result()
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, NamedTuple
from urllib.parse import urlsplit

from newsportal.extractors import joining
from newsportal.extractors.pagination import Pager
from newsportal.items import Extraction

MAX_PAGES: Final = 30
"""Pages of one article that are asked for. Written articles known have at most 12; longer pagers are those of photo stories and traps."""

EXPECTED: Final = frozenset(("repeats", "elsewhere", "no-text", "comments"))  # ends of a pager that lose nothing of an article


class PageRead(NamedTuple):
    """What one page gave, of one parse: the address that answered, the article on it, where its other pages are, and what the source's own
    rule found on it (``wrapped``; ``found`` has it already)."""

    url: str
    found: Extraction
    pager: Pager
    wrapped: Extraction | None = None


class MultiPage:
    """The pages of one article. ``same`` gives two addresses of one page the same name.

    ``ends`` says why it ended, in slugs; empty where the pager just ended.
    """

    def __init__(self, first: PageRead, same: Callable[[str], str]) -> None:
        self.ends: list[str] = []
        self._same = same
        self._read = [first]
        self._urls = [first.url]
        self._seen = {same(first.url)}
        self._whole = first.pager.whole if first.pager.next else None
        self._at_once: Extraction | None = None
        self._asked: str | None = None
        self._over = first.pager.next is None

    def wanted(self) -> tuple[str, ...]:
        """The one address to ask for; none while it is under way, and when the article has all it can have."""
        if self._over or self._asked is not None:
            return ()
        asked = self._whole or self._following()
        if asked is not None and len(self._read) >= MAX_PAGES:
            self.end("too-many")
        if asked is None or self._over:
            return ()
        self._asked = asked
        return (asked,)

    def strays(self, url: str, asked: str) -> bool:
        """Whether an answer that came from ``url``, after redirects, is not worth reading."""
        return self._same(url) != self._same(asked) and (self._same(url) in self._seen or is_front_page(url))

    def take(self, page: PageRead, asked: str) -> None:
        self._asked = None
        if self._whole is not None:
            first, whole, self._whole = self._read[0], self._whole, None
            if whole is not None and joining.is_whole(first.found, page.found):
                self._at_once = joining.as_whole(first.found, page.found, (*first.pager.pages, whole))
                self._over = True
            return
        reason = "elsewhere" if self.strays(page.url, asked) else joining.why_not([one.found for one in self._read], page.found)
        if reason is not None:
            self.end(reason)
            return
        self._seen |= {self._same(asked), self._same(page.url)}
        self._urls += dict.fromkeys((asked, page.url))
        self._read.append(page)

    def refuse(self, asked: str, reason: str) -> None:
        """The page that was wanted cannot be had, or is none. Without the page that holds all, the pages are read one by one."""
        self._asked = None
        if self._whole is not None:
            self._whole = None
        else:
            self.end(reason)

    def end(self, reason: str) -> None:
        self.ends.append(reason)
        self._over = True

    def result(self) -> Extraction:
        """The article of the pages that came; its ``pages`` are their addresses, none if it is one page alone."""
        if self._at_once is not None:
            return self._at_once
        if len(self._read) == 1:
            first = self._read[0]
            return joining.unmarked(first.found) if first.pager.next else first.found
        return joining.join([one.found for one in self._read], self._urls)

    def _following(self) -> str | None:
        """The page after the last one read: what it says itself; where it has no pager, what the first page knew."""
        last = self._read[-1].pager
        url = last.next
        if url is None and last.first is None:
            url = next(iter(self._read[0].pager.pages[len(self._read) : len(self._read) + 1]), None)
        return url if url is not None and self._same(url) not in self._seen else None


def is_front_page(url: str) -> bool:
    """Whether ``url`` is a host's front page: dead links are sent there, and feeds without addresses of their own point at it."""
    parts = urlsplit(url)
    return parts.path in ("", "/") and not parts.query
