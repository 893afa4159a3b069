"""The pages of an article: which page comes next, which are known, where the whole stands on one page.

Own method; papers B (multi-page articles joined) and C (page turning) name the task. A link is believed for two reasons at once. Its
*words* say that it turns the page (「下一页」, 「2」, ``rel=next``), and its *address* continues this page's address (:mod:`page_marks`).
Either alone is wrong too often: ``rel=next`` leads to the next post on half of all blogs, 「下一页」 stands under comments, and
``news_12.html`` → ``news_13.html`` are two articles. What stands among comments or related stories never counts.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple
from urllib.parse import urlsplit

from newsportal.extractors.article import joining
from newsportal.extractors.lists import page_marks
from newsportal.extractors.lists.hub_urls import Address
from newsportal.extractors.lists.page_turns import SHORT_KEY, PagerLink, is_aside, joined, under_comments
from newsportal.extractors.lists.page_turns import turns as turning_links
from newsportal.items import Extraction
from newsportal.text import dom

MAX_PAGES: Final = 100  # pages that are listed at most; a pager that names more is a list's or a trap's
THREAD: Final = re.compile(
    r"^https?://(?:[\w-]+\.)*(?:bbs|forums?|club|tieba|boards?|community)\d?\.|viewthread|showthread|viewtopic|thread-\d|/threads?/|/(?:forums?|bbs)/",
    re.IGNORECASE,
)  # Addresses of forums, by the words that their engines write into them


@dataclass(frozen=True, slots=True)
class Pager:
    """The pages of an article. ``pages``: this page and those known to follow it, in order, without gaps; this page alone if it is
    the only one or the last. ``whole``: a page that holds all of them. ``first``: the article's address, where this is a later page.
    ``number``: which page this is; ``named``: numbers and addresses of all that it names, in order."""

    pages: tuple[str, ...]
    next: str | None = None
    whole: str | None = None
    first: str | None = None
    number: int | None = None
    named: tuple[tuple[int, str], ...] = ()

    @property
    def several_pages(self) -> tuple[str, ...]:
        """``pages`` where there are several, else none: what an extraction of this page alone says of it."""
        return self.pages if len(self.pages) > 1 else ()


@dataclass(frozen=True, slots=True)
class Row:
    """Links whose addresses continue this one in one way: page numbers (as a reader counts them) and their addresses."""

    this: int
    pages: dict[int, str]


def find_pager(document: dom.Document) -> Pager:
    """The pager of a page. Never raises; a page without one is its own only page."""
    turns = list(turning_links(document))
    known = document.url.startswith(("http://", "https://"))
    own = page_marks.places(document.url) if known else _guessed(turns)
    row = _row(own, turns) or _script_row(document, own)
    elsewhere = row.pages.get(row.this, document.url) if row else document.url
    url = document.url if known else own[0].form if own else elsewhere
    steps = ((turn.url, page_marks.step(own, turn.url)) for turn in turns if turn.kind == "canonical")
    declared = (address for address, found in steps if found and found.there in (None, 1) and (found.here or 0) > 1)
    first = (row.pages.get(1) if row and row.this > 1 else None) or next(declared, None)
    if row is None:
        return Pager((url,), first=first)
    following: list[str] = []
    while row.this + len(following) + 1 in row.pages and len(following) < MAX_PAGES - 1:
        following.append(row.pages[row.this + len(following) + 1])
    pages = (url, *following)
    whole = _whole(own, turns, pages) if following or first else None
    named = tuple(sorted(row.pages.items()))[: 2 * MAX_PAGES]
    return Pager(pages, following[0] if following else None, whole, first, row.this, named)


def is_thread(url: str) -> bool:
    """Whether an address is that of a forum's thread: its further pages are other people's posts, not the rest of an article."""
    return THREAD.search(url) is not None


def _row(own: Sequence[page_marks.Place], turns: Sequence[PagerLink]) -> Row | None:
    groups: dict[int | None, list[tuple[PagerLink, page_marks.Step]]] = defaultdict(list)
    for turn in turns:
        if turn.kind not in ("whole", "canonical"):
            found = page_marks.step(own, turn.url) or (page_marks.sister_step(own, turn.url) if turn.kind == "next" else None)
            if found and not is_aside(turn.node):
                groups[found.here].append((turn, found))
    ranked = sorted(groups.items(), key=lambda group: (-len(group[1]), group[0] is not None))
    return next((row for here, steps in ranked if (row := _read(here, steps)) is not None), None)


def _read(here: int | None, steps: list[tuple[PagerLink, page_marks.Step]]) -> Row | None:
    """The pages that the links of one row name, counted as a reader counts; ``None`` where the row is no pager of this article."""
    numbered = [(turn.number, found) for turn, found in steps if turn.kind == "number"]
    shift = _shift(here, numbered, [found for turn, found in steps if turn.kind != "number"])
    this = 1 if here is None else here + shift
    pages: dict[int, str] = {}
    forms: dict[str, list[int]] = defaultdict(list)
    proven = False
    for turn, found in steps:
        page = 1 if found.there is None else found.there + shift
        if turn.kind == "number":
            if turn.number != page:
                continue
            proven = True
        elif page != this + 1:
            continue
        elif turn.kind == "next" or (here is None and not page_marks.may_be_namesake(found.form)):
            proven = True
        pages.setdefault(page, turn.url)
        forms[found.form].append(page)
    if not proven or this < 1 or ("?" in next(iter(forms)) and under_comments(steps[0][0].node)):
        return None
    for form, known in forms.items():
        for page in range(min(known), min(max(known), MAX_PAGES) + 1):
            if page > 1:
                pages.setdefault(page, form.replace("{}", str(page - shift), 1))
    return Row(this, pages)


def _shift(here: int | None, numbered: list[tuple[int, page_marks.Step]], others: list[page_marks.Step]) -> int:
    """What must be added to the number in an address to get the page's: 0, or 1 where addresses count from 0 (page 2 is ``_1``)."""
    if said := [number - found.there for number, found in numbered if found.there is not None]:
        return 1 if said.count(1) > said.count(0) else 0
    from_zero = here is None and any(found.there == 1 for found in others) and all(found.there in (0, 1) for found in others)
    return 1 if from_zero or here == 0 else 0


def _script_row(document: dom.Document, own: Sequence[page_marks.Place]) -> Row | None:
    for pager in page_marks.script_pagers(document):
        addresses = {index: joined(document, pager.address(index)) for index in range(min(pager.count, MAX_PAGES))}
        stems = {place.stem for place in own}
        pages = {
            index + 1: url
            for index, url in addresses.items()
            if url and (not own or any(place.stem in stems for place in page_marks.places(url)))
        }
        if pager.current + 2 in pages or (pager.current and 1 in pages):
            return Row(pager.current + 1, pages)
    return None


def _whole(own: Sequence[page_marks.Place], turns: Sequence[PagerLink], pages: Sequence[str]) -> str | None:
    for turn in turns:
        if turn.kind == "whole" and turn.url not in pages and not is_aside(turn.node):
            domain = Address(turn.url).domain
            for place in own:
                name = page_marks.last_name(place.stem)
                if Address(f"http://{place.stem}").domain == domain and len(name) >= SHORT_KEY and name in turn.url:
                    return turn.url
    return None


def _guessed(turns: Sequence[PagerLink]) -> tuple[page_marks.Place, ...]:
    """Where a page lies whose address is not known: what it calls itself, else what its own pager continues."""
    for turn in turns:
        if turn.kind == "canonical" and (found := page_marks.places(turn.url)):
            return found
    for turn in turns:
        for place in page_marks.places(turn.url):
            if turn.kind in ("next", "number") and place.number in (1, 2) and page_marks.last_id(place.stem) and not is_aside(turn.node):
                return (page_marks.Place(place.stem, None, page_marks.without_mark(place.form)),)
    return ()


MAX_FETCHED: Final = 30  # pages of one article: written ones have at most 12; longer pagers are photo stories' and traps
EXPECTED: Final = frozenset(("repeats", "elsewhere", "no-text", "comments"))  # ends of a pager that lose nothing of an article


class PageRead(NamedTuple):
    """What one page gave, of one parse: the address that answered, the article on it, where its other pages are, and what the source's own
    rule found on it (``wrapped``; ``found`` has it already)."""

    url: str
    found: Extraction
    pager: Pager
    wrapped: Extraction | None = None


class MultiPage:
    """The pages of one article, decided purely: which address to ask for next, what an answer is worth, when to end.

    Whoever fetches (the crawl, a command) drives it::

        pages = MultiPage(first, same=identity)
        while urls := pages.wanted():
            try:
                pages.take(read(fetch(urls[0])), urls[0])
            except NotApplicable as why:
                pages.refuse(urls[0], why.reason)
        article = pages.result()

    ``same`` gives two addresses of one page the same name; ``ends`` says why it ended, in slugs; empty where the pager just ended.
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
        if asked is not None and len(self._read) >= MAX_FETCHED:
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
