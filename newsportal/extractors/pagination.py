"""The pages of an article: which page comes next, which are known, where the whole stands on one page.

Own method; papers B (multi-page articles joined) and C (page turning) name the task. A link is believed for two reasons at once. Its
*words* say that it turns the page (「下一页」, 「2」, ``rel=next``), and its *address* continues this page's address (:mod:`page_marks`).
Either alone is wrong too often: ``rel=next`` leads to the next post on half of all blogs, 「下一页」 stands under comments, and
``news_12.html`` → ``news_13.html`` are two articles. What stands among comments or related stories never counts.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from newsportal import dom
from newsportal.extractors.hub_urls import Address
from newsportal.extractors.page_marks import (
    Place,
    Step,
    drawn,
    last_id,
    last_name,
    may_be_namesake,
    places,
    sister_step,
    step,
    without_mark,
)
from newsportal.extractors.page_turns import SHORT_KEY, Turn, beside, joined, under_comments
from newsportal.extractors.page_turns import turns as turning_links

MAX_PAGES: Final = 100  # pages that are listed at most; a pager that names more is a list's or a trap's

THREAD: Final = re.compile(
    r"^https?://(?:[\w-]+\.)*(?:bbs|forums?|club|tieba|boards?|community)\d?\.|viewthread|showthread|viewtopic|thread-\d|/threads?/|/(?:forums?|bbs)/",
    re.IGNORECASE,
)
"""Addresses of forums, by the words that their engines write into them."""


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
    def known(self) -> tuple[str, ...]:
        """``pages`` where there are several, else none: what an extraction of this page alone says of it."""
        return self.pages if len(self.pages) > 1 else ()


@dataclass(frozen=True, slots=True)
class Row:
    """Links whose addresses continue this one in one way: page numbers (as a reader counts them) and their addresses."""

    this: int
    pages: dict[int, str]
    first: str | None = None


def find_pager(document: dom.Document) -> Pager:
    """The pager of a page. Never raises; a page without one is its own only page."""
    turns = list(turning_links(document))
    known = document.url.startswith(("http://", "https://"))
    own = places(document.url) if known else _guessed(turns)
    row = _row(own, turns) or _script_row(document, own)
    url = document.url if known else _own_address(document.url, own, row)
    first = (row.first if row else None) or _canonical(own, turns)
    if row is None:
        return Pager((url,), first=first)
    following: list[str] = []
    while row.this + len(following) + 1 in row.pages and len(following) < MAX_PAGES - 1:
        following.append(row.pages[row.this + len(following) + 1])
    pages = (url, *following)
    whole = _whole(own, turns, pages) if following or first else None
    named = tuple(sorted(row.pages.items()))[: 2 * MAX_PAGES]
    return Pager(pages, following[0] if following else None, whole, first, row.this, named)


def _own_address(url: str, own: Sequence[Place], row: Row | None) -> str:
    """The best that can be said of the address of a page that came without one."""
    if own:
        return own[0].form
    return row.pages.get(row.this, url) if row else url


def _canonical(own: Sequence[Place], turns: Sequence[Turn]) -> str | None:
    """The article's address, where a later page calls it its own."""
    for turn in turns:
        found = step(own, turn.url) if turn.kind == "canonical" else None
        if found and found.there in (None, 1) and (found.here or 0) > 1:
            return turn.url
    return None


def is_thread(url: str) -> bool:
    """Whether an address is that of a forum's thread: its further pages are other people's posts, not the rest of an article."""
    return THREAD.search(url) is not None


# rows


def _row(own: Sequence[Place], turns: Sequence[Turn]) -> Row | None:
    groups: dict[int | None, list[tuple[Turn, Step]]] = defaultdict(list)
    for turn in turns:
        if turn.kind not in ("whole", "canonical"):
            found = step(own, turn.url) or (sister_step(own, turn.url) if turn.kind == "next" else None)
            if found and not beside(turn.node):
                groups[found.here].append((turn, found))
    ranked = sorted(groups.items(), key=lambda group: (-len(group[1]), group[0] is not None))
    rows = (_read(here, steps) for here, steps in ranked)
    return next((row for row in rows if row is not None), None)


def _read(here: int | None, steps: list[tuple[Turn, Step]]) -> Row | None:
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
        elif turn.kind == "next" or (here is None and not may_be_namesake(found.form)):
            proven = True
        pages.setdefault(page, turn.url)
        forms[found.form].append(page)
    if not proven or this < 1 or ("?" in next(iter(forms)) and under_comments(steps[0][0].node)):
        return None
    for form, known in forms.items():
        for page in range(min(known), min(max(known), MAX_PAGES) + 1):
            if page > 1:
                pages.setdefault(page, form.replace("{}", str(page - shift), 1))
    return Row(this, pages, pages.get(1) if this > 1 else None)


def _shift(here: int | None, numbered: list[tuple[int, Step]], others: list[Step]) -> int:
    """What must be added to the number in an address to get the page's: 0, or 1 where addresses count from 0 (page 2 is ``_1``)."""
    said = [number - found.there for number, found in numbered if found.there is not None]
    if said:
        return 1 if said.count(1) > said.count(0) else 0
    from_zero = here is None and any(found.there == 1 for found in others) and all(found.there in (0, 1) for found in others)
    return 1 if from_zero or here == 0 else 0


def _script_row(document: dom.Document, own: Sequence[Place]) -> Row | None:
    for pager in drawn(document):
        addresses = {index: joined(document, pager.address(index)) for index in range(min(pager.count, MAX_PAGES))}
        pages = {index + 1: url for index, url in addresses.items() if url and (not own or _same(own, url))}
        if pager.current + 2 in pages:
            return Row(pager.current + 1, pages, pages.get(1) if pager.current else None)
        if pager.current and 1 in pages:
            return Row(pager.current + 1, pages, pages[1])
    return None


def _same(own: Sequence[Place], url: str) -> bool:
    stems = {place.stem for place in own}
    return any(place.stem in stems for place in places(url))


# the rest


def _whole(own: Sequence[Place], turns: Sequence[Turn], pages: Sequence[str]) -> str | None:
    """A link to all on one page: its address holds the article's own name, on the same site."""
    for turn in turns:
        if turn.kind == "whole" and turn.url not in pages and not beside(turn.node):
            domain = Address(turn.url).domain
            for place in own:
                name = last_name(place.stem)
                if Address(f"http://{place.stem}").domain == domain and len(name) >= SHORT_KEY and name in turn.url:
                    return turn.url
    return None


def _guessed(turns: Sequence[Turn]) -> tuple[Place, ...]:
    """Where a page lies whose address is not known: what it calls itself, else what its own pager continues."""
    for turn in turns:
        if turn.kind == "canonical" and (found := places(turn.url)):
            return found
    for turn in turns:
        for place in places(turn.url):
            if turn.kind in ("next", "number") and place.number in (1, 2) and last_id(place.stem) and not beside(turn.node):
                return (Place(place.stem, None, without_mark(place.form)),)
    return ()
