"""Pages of a multi-page article: the next page, the known pages, a single-page view.

Own method; papers B (multi-page articles joined) and C (page turning) name the task. A link needs two kinds of evidence: its *text*
turns the page (「下一页」, 「2」, ``rel=next``), and its *URL* continues the URL of this page (:mod:`page_marks`). Either alone is wrong
too often: ``rel=next`` links to the next post on half of all blogs, 「下一页」 is found under comments, and ``news_12.html`` →
``news_13.html`` are two articles. Links among comments or related stories never count.
"""

import re
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple
from urllib.parse import urlsplit

from newsportal.extractors.article import joining
from newsportal.extractors.lists import page_marks
from newsportal.extractors.lists.hub_urls import Address
from newsportal.extractors.lists.page_turns import MIN_KEY_CHARS, PagerLink, absolute_url, is_aside, is_under_comments, pager_links
from newsportal.items import Extraction
from newsportal.text import dom

MAX_PAGES: Final = 100  # maximum number of pages listed; a longer pager is that of a list or a crawler trap
THREAD: Final = re.compile(
    r"^https?://(?:[\w-]+\.)*(?:bbs|forums?|club|tieba|boards?|community)\d?\.|viewthread|showthread|viewtopic|thread-\d|/threads?/|/(?:forums?|bbs)/",
    re.IGNORECASE,
)  # URLs of forum threads, by the words that forum software writes into them


@dataclass(frozen=True, slots=True)
class Pager:
    """The pages of an article. ``pages``: this page and the known pages that follow it, in order, without gaps; this page alone if it is
    the only or last one. ``single_page``: a single-page view. ``first``: the article's URL, if this is a later page. ``number``: the number
    of this page; ``linked_pages``: all page numbers and URLs that it links, in order."""

    pages: tuple[str, ...]
    next: str | None = None
    single_page: str | None = None
    first: str | None = None
    number: int | None = None
    linked_pages: tuple[tuple[int, str], ...] = ()

    @property
    def several_pages(self) -> tuple[str, ...]:
        """``pages`` if there are several, else none: the value for an extraction of this page alone."""
        return self.pages if len(self.pages) > 1 else ()


@dataclass(frozen=True, slots=True)
class PagerRow:
    """Links whose URLs continue this one in the same way: URLs by page number (counted from 1)."""

    number: int
    pages: dict[int, str]


def find_pager(document: dom.Document) -> Pager:
    """Return the pager of a page; without one, the page is its own only page. Never raises."""
    turns = list(pager_links(document))
    has_url = document.url.startswith(("http://", "https://"))
    current = page_marks.marks_of(document.url) if has_url else _guess_interpretations(turns)
    row = _row_of_links(current, turns) or _script_row(document, current)
    elsewhere = row.pages.get(row.number, document.url) if row else document.url
    url = document.url if has_url else current[0].form if current else elsewhere
    steps = ((turn.url, page_marks.step(current, turn.url)) for turn in turns if turn.kind == "canonical")
    declared = (address for address, found in steps if found and found.other in (None, 1) and (found.current or 0) > 1)
    first = (row.pages.get(1) if row and row.number > 1 else None) or next(declared, None)
    if row is None:
        return Pager((url,), first=first)
    following: list[str] = []
    while row.number + len(following) + 1 in row.pages and len(following) < MAX_PAGES - 1:
        following.append(row.pages[row.number + len(following) + 1])
    pages = (url, *following)
    view = _single_page_view(current, turns, pages) if following or first else None
    numbered = tuple(sorted(row.pages.items()))[: 2 * MAX_PAGES]
    return Pager(pages, following[0] if following else None, view, first, row.number, numbered)


def is_thread(url: str) -> bool:
    """Return whether a URL is a forum thread: its other pages are other users' posts, not the rest of an article."""
    return THREAD.search(url) is not None


def _row_of_links(current: Sequence[page_marks.PageMark], turns: Sequence[PagerLink]) -> PagerRow | None:
    groups: dict[int | None, list[tuple[PagerLink, page_marks.PageStep]]] = defaultdict(list)
    for turn in turns:
        if turn.kind not in ("whole", "canonical"):
            found = page_marks.step(current, turn.url) or (page_marks.mobile_step(current, turn.url) if turn.kind == "next" else None)
            if found and not is_aside(turn.node):
                groups[found.current].append((turn, found))
    ranked = sorted(groups.items(), key=lambda group: (-len(group[1]), group[0] is not None))
    return next((row for here, steps in ranked if (row := _read(here, steps)) is not None), None)


def _read(here: int | None, steps: list[tuple[PagerLink, page_marks.PageStep]]) -> PagerRow | None:
    """Return the pages that the links of one row name, counted from 1; ``None`` if the row is no pager of this article."""
    numbered = [(turn.number, found) for turn, found in steps if turn.kind == "number"]
    shift = _number_shift(here, numbered, [found for turn, found in steps if turn.kind != "number"])
    this = 1 if here is None else here + shift
    pages: dict[int, str] = {}
    forms: dict[str, list[int]] = defaultdict(list)
    proven = False
    for turn, found in steps:
        page = 1 if found.other is None else found.other + shift
        if turn.kind == "number":
            if turn.number != page:
                continue
            proven = True
        elif page != this + 1:
            continue
        elif turn.kind == "next" or (here is None and not page_marks.may_be_other_article(found.form)):
            proven = True
        pages.setdefault(page, turn.url)
        forms[found.form].append(page)
    if not proven or this < 1 or ("?" in next(iter(forms)) and is_under_comments(steps[0][0].node)):
        return None
    for form, numbers in forms.items():
        for page in range(min(numbers), min(max(numbers), MAX_PAGES) + 1):
            if page > 1:
                pages.setdefault(page, form.replace("{}", str(page - shift), 1))
    return PagerRow(this, pages)


def _number_shift(here: int | None, numbered: list[tuple[int, page_marks.PageStep]], others: list[page_marks.PageStep]) -> int:
    """Return the difference between page number and number in the URL: 0, or 1 if URLs count from 0 (page 2 is ``_1``)."""
    if shifts := [number - found.other for number, found in numbered if found.other is not None]:
        return 1 if shifts.count(1) > shifts.count(0) else 0
    from_zero = here is None and any(found.other == 1 for found in others) and all(found.other in (0, 1) for found in others)
    return 1 if from_zero or here == 0 else 0


def _script_row(document: dom.Document, current: Sequence[page_marks.PageMark]) -> PagerRow | None:
    for pager in page_marks.script_pagers(document):
        addresses = {index: absolute_url(document, pager.url_of(index)) for index in range(min(pager.count, MAX_PAGES))}
        stems = {place.stem for place in current}
        pages = {
            index + 1: url
            for index, url in addresses.items()
            if url and (not current or any(place.stem in stems for place in page_marks.marks_of(url)))
        }
        if pager.current + 2 in pages or (pager.current and 1 in pages):
            return PagerRow(pager.current + 1, pages)
    return None


def _single_page_view(current: Sequence[page_marks.PageMark], turns: Sequence[PagerLink], pages: Sequence[str]) -> str | None:
    for turn in turns:
        if turn.kind == "whole" and turn.url not in pages and not is_aside(turn.node):
            domain = Address(turn.url).domain
            for place in current:
                name = page_marks.last_name(place.stem)
                if Address(f"http://{place.stem}").domain == domain and len(name) >= MIN_KEY_CHARS and name in turn.url:
                    return turn.url
    return None


def _guess_interpretations(turns: Sequence[PagerLink]) -> tuple[page_marks.PageMark, ...]:
    """Guess the URL of a page that has none: from its canonical link, else from the links of its pager."""
    for turn in turns:
        if turn.kind == "canonical" and (found := page_marks.marks_of(turn.url)):
            return found
    for turn in turns:
        for place in page_marks.marks_of(turn.url):
            if turn.kind in ("next", "number") and place.number in (1, 2) and page_marks.last_id(place.stem) and not is_aside(turn.node):
                return (page_marks.PageMark(place.stem, None, page_marks.without_mark(place.form)),)
    return ()


MAX_FETCHED: Final = 30  # pages of one article: texts have at most 12; longer pagers are photo stories and crawler traps
EXPECTED_ENDS: Final = frozenset(("repeats", "elsewhere", "no-text", "comments"))  # ends without loss of article text


class PageRead(NamedTuple):
    """What one fetched page contained: the final URL, the article, the pager, and what the source's own rule extracted (``wrapped``;
    already merged into ``found``)."""

    url: str
    found: Extraction
    pager: Pager
    wrapped: Extraction | None = None


class MultiPage:
    """Collector of the pages of one article, without I/O: it chooses the next URL, evaluates each response and decides when to stop.

    The caller fetches (the crawl, a command)::

        pages = MultiPage(first, same=identity)
        while urls := pages.wanted():
            try:
                pages.take(read(fetch(urls[0])), urls[0])
            except NotApplicable as error:
                pages.refuse(urls[0], error.reason)
        article = pages.result()

    ``same`` maps the URLs of one page to one identity. ``ends``: slugs of the reasons for stopping; empty at the end of the pager.
    """

    def __init__(self, first: PageRead, same: Callable[[str], str]) -> None:
        self.ends: list[str] = []
        self._same = same
        self._read = [first]
        self._urls = [first.url]
        self._seen = {same(first.url)}
        self._single_page_view = first.pager.single_page if first.pager.next else None
        self._single_page_article: Extraction | None = None
        self._pending: str | None = None
        self._finished = first.pager.next is None

    def next_urls(self) -> tuple[str, ...]:
        """Return the URL to fetch next; empty while it is being fetched and when the article is complete."""
        if self._finished or self._pending is not None:
            return ()
        url = self._single_page_view or self._next_url()
        if url is not None and len(self._read) >= MAX_FETCHED:
            self.stop("too-many")
        if url is None or self._finished:
            return ()
        self._pending = url
        return (url,)

    def is_stray(self, url: str, requested: str) -> bool:
        """Return whether a response redirected to ``url`` is to be ignored: a page already read or a front page."""
        return self._same(url) != self._same(requested) and (self._same(url) in self._seen or is_front_page(url))

    def add_page(self, page: PageRead, requested: str) -> None:
        self._pending = None
        if self._single_page_view is not None:
            first, view, self._single_page_view = self._read[0], self._single_page_view, None
            if view is not None and joining.is_single_page_view(first.found, page.found):
                self._single_page_article = joining.use_single_page_view(first.found, page.found, (*first.pager.pages, view))
                self._finished = True
            return
        reason = "elsewhere" if self.is_stray(page.url, requested) else joining.rejection([other.found for other in self._read], page.found)
        if reason is not None:
            self.stop(reason)
            return
        self._seen |= {self._same(requested), self._same(page.url)}
        self._urls += dict.fromkeys((requested, page.url))
        self._read.append(page)

    def reject(self, requested: str, reason: str) -> None:
        """Handle a page that could not be fetched or used. Without the single-page view, the pages are read one by one."""
        self._pending = None
        if self._single_page_view is not None:
            self._single_page_view = None
        else:
            self.stop(reason)

    def stop(self, reason: str) -> None:
        self.ends.append(reason)
        self._finished = True

    def result(self) -> Extraction:
        """Return the article joined from the pages read; its ``pages`` are their URLs, empty for a single page."""
        if self._single_page_article is not None:
            return self._single_page_article
        if len(self._read) == 1:
            first = self._read[0]
            return joining.drop_page_mark(first.found) if first.pager.next else first.found
        return joining.join([page.found for page in self._read], self._urls)

    def _next_url(self) -> str | None:
        """Return the URL of the page after the last one read, from its own pager; if it has none, from the first page's."""
        last = self._read[-1].pager
        url = last.next
        if url is None and last.first is None:
            url = next(iter(self._read[0].pager.pages[len(self._read) : len(self._read) + 1]), None)
        return url if url is not None and self._same(url) not in self._seen else None


def is_front_page(url: str) -> bool:
    """Return whether ``url`` is a host's front page: dead links redirect there, and feeds without item URLs link to it."""
    parts = urlsplit(url)
    return parts.path in ("", "/") and not parts.query
