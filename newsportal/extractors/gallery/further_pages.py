"""Which pages of a story to ask for next, and which answers are none of its pages (paper C, 2.2.1).

The ways, the first that has an answer: the story's own data (a slideshow's page is whole), the source's pattern, the addresses that the
page's pager names. A number of pages that the page tells (「3/12」) bounds the counting; without one it goes on one by one until it ends.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from string import ascii_lowercase
from typing import Final
from urllib.parse import urlsplit

from newsportal.extractors.gallery.variants import key_of
from newsportal.extractors.lists.page_marks import places
from newsportal.extractors.lists.pagination import is_front_page
from newsportal.items import GalleryPage
from newsportal.text import letters

MAX_PICTURES: Final = 2_000  # pictures of a story from which on no further page is asked for; the longest known have hundreds
NEW_LETTERS: Final = 4  # a page with known pictures brings something if it says so much that no other page said


def further(page: GalleryPage, asked: Collection[str], pattern: str | None, met: Sequence[GalleryPage]) -> tuple[str, ...]:
    """The addresses to ask for after ``page``, in order; empty where the story ends with it, or all are asked for already.

    ``asked`` are the addresses that were asked for in this visit, whatever came; ``met`` the story's pages so far, ``page`` among them or
    not. Raises ``ValueError`` for a pattern that is none (:func:`parse`).
    """
    known = (*met, page)
    if any(one.whole for one in known) or sum(len(one.images) for one in known) >= MAX_PICTURES:
        return ()
    done = {_name(url) for url in asked} | {_name(one.url) for one in known}
    numbers = {one.number for one in met}
    left = MAX_PAGES - len(done)  # dead ones count: else a site could name new ones on every page
    total = declared_total(known)
    found = (url for number, url in _named(page, pattern, total) if number is None or number not in numbers)
    return tuple(dict.fromkeys(url for url in found if _name(url) not in done))[: max(left, 0)]


def open_pages(met: Sequence[GalleryPage], asked: Collection[str], pattern: str | None = None) -> tuple[str, ...]:
    """What is still to be asked for, of all pages met so far: where a later visit goes on. Empty for a story that has all it can have."""
    return tuple(dict.fromkeys(url for page in met for url in further(page, asked, pattern, met)))


def is_end(page: GalleryPage, met: Sequence[GalleryPage], *, asked: str | None = None) -> str | None:
    """Why an answer is no further page of the story whose pages so far are ``met``; ``None`` if it is one.

    ``front-page``: it came from a host's front page. ``elsewhere``: the request for ``asked`` was sent on to another story.
    ``repeats``: its pictures are known, and it says nothing new (a pager that repeats the last page, a circle).
    ``another-story``: its title and its number of pages are another story's.
    """
    if not met:
        return None
    if is_front_page(page.url):
        return "front-page"
    if asked is not None and _name(asked) != _name(page.url):
        stems, others = {place.stem for place in places(page.url)}, (asked, *(one.url for one in met))
        if not any(stems & {place.stem for place in places(other)} or _name(page.url) == _name(other) for other in others):
            return "elsewhere"  # it does not read like another page of one of them
    if _repeats(page, met):
        return "repeats"
    # title and total both say so, of a story whose own pages agree on theirs
    titles = {letters(one.title) for one in met if one.title}
    if not page.title or len(titles) != 1 or None in (page.total, met[0].total) or page.total == met[0].total:
        return None
    mine, theirs = letters(page.title), titles.pop()
    return "another-story" if mine not in theirs and theirs not in mine else None


def declared_total(pages: Sequence[GalleryPage]) -> int | None:
    told = [page.total for page in pages if page.total]
    return max(sorted(set(told)), key=told.count) if told else None


def _named(page: GalleryPage, pattern: str | None, total: int | None) -> Iterator[tuple[int | None, str]]:
    """Numbers and addresses of the pages that pattern or pager name."""
    form = parse(pattern) if pattern else None
    if form is not None and (number := form.number(page.url)) is not None:
        upto = min(total or number + 1, MAX_PAGES)
        for count in range(1 if total else number + 1, upto + 1):
            if (url := form.address(page.url, count)) is not None:
                yield count, url
        return
    yield from ((None, url) for url in (*page.pages, page.next) if url is not None)


def _name(url: str) -> str:
    """By what an address is known here: without scheme and fragment."""
    return url.partition("#")[0].partition("://")[2]


def _repeats(page: GalleryPage, met: Sequence[GalleryPage]) -> bool:
    known = {key_of(image.url) for one in met for image in one.images}
    fresh = [image for image in page.images if key_of(image.url) not in known]
    said = {key for one in met for key in _sayings(one)}
    news = [key for key in _sayings(page) if key not in said and len(key) >= NEW_LETTERS]
    if not fresh:
        return not news
    older = len(page.images) - len(fresh)
    return older > 0 and not news and bool(_sayings(page)) and not any(image.caption for image in fresh) and len(fresh) <= older


def _sayings(page: GalleryPage) -> list[str]:
    captions = [image.caption for image in page.images if image.caption]
    return [letters(line) for line in (*captions, *(page.text or "").split("\n")) if line.strip()]


# How a story may go on whose page names no other page and no number of pages (paper C, 2.2.1, way 1, without being told the pattern).
# The paper counts up in the pattern that its operator wrote down. Where nobody did, the commonest way to name further pages is tried:
# ``123.html`` is followed by ``123_2.html``, ``123/`` by ``123/2/``, ``123_1.html`` and ``123-01.html`` by the next number. A dead link
# ends it as ever. What answers counts as a page only under the same title and of the same day: an address beside a story's may be
# another's.

FEW: Final = 2  # pictures of a page that may be one of several; a page of more is a story of one page. Chosen: a guess costs a request
NAME: Final = re.compile(r"(?P<id>[^/]*?[^/_\-])(?:(?P<parted>[_-])(?P<mark>0{0,2}1))?(?P<ending>\.(?:s?html?|php|aspx?|jsp))?/?", re.ASCII)
NUMBERED: Final = re.compile(r"\d", re.ASCII)  # Names of stories have numbers; ``about.html`` has none


def guess(page: GalleryPage) -> str | None:
    """The pattern by which the story of ``page``, its first, may go on; ``None`` where the page says itself how, or cannot go on."""
    if page.whole or page.total or page.next or page.pages or not page.title or len(page.images) > FEW:
        return None
    parts = urlsplit(page.url)
    name = NAME.fullmatch(parts.path.rpartition("/")[2] or f"{parts.path.rstrip('/').rpartition('/')[2]}/")
    if parts.query or name is None or not NUMBERED.search(name["id"]):
        return None
    ending = name["ending"] or ""
    mark = "{" + "n" * len(name["mark"] or "1") + "}"
    if name["parted"]:
        return f"{{id}}{name['parted']}{mark}{ending}"
    if ending:
        return f"{{id}}_{mark}{ending}"
    return f"{{id}}/{mark}/" if parts.path.endswith("/") else None


def guessed(pages: Sequence[GalleryPage]) -> str | None:
    """The pattern that led to these pages of a story, if it was guessed: that of one of them, which names another."""
    patterns = filter(None, map(guess, pages))
    return next((one for one in patterns if sum(parse(one).number(page.url) is not None for page in pages) > 1), None)


def bears_out(page: GalleryPage, met: Sequence[GalleryPage]) -> bool:
    """Whether what answered at a guessed address is of the story: the same title, and no other day."""
    days = {one.published.date() for one in met if one.published}
    titles = {letters(one.title) for one in met if one.title}
    return letters(page.title or "") in titles and (page.published is None or not days or page.published.date() in days)


# How a site names the further pages of a story (paper C, 2.2.1, way 1): ``{id}_{n}.html``, counted up to a limit.
#
# A pattern is the end of an address, or a whole one, with places in braces:
#
# =================  =================================================================================
# ``{id}``           what all pages of a story share: anything but ``/ ? # &``
# ``{n}``, ``{nn}``  the page's number; ``{nn}`` has two digits at least
# ``{a}``            the page's letter: a, b, c …
# ``{n-1}``          the number counts from 0: page 2 of ``{id}.html`` is ``{id}_1.html``; so ``{a-1}``
# =================  =================================================================================
#
# The first page may lack the mark: ``123.html`` goes with ``{id}_{n}.html``, ``123/`` with ``{n}.html``.

MAX_PAGES: Final = 200  # of one story; the paper gives no figure, and the longest stories known have below 200
PLACE: Final = re.compile(r"\{(id|n{1,4}|a)(-1)?\}")
# The mark with what parts it from the name: the first page often has neither.
LEFT_OUT: Final = re.compile(r"(?:[?&][\w\[\]-]+=|/(?:pages?/|p)?|[_\-,.]{0,2}(?:pages?|p)?[_\-]?)\{(?:n{1,4}|a)(?:-1)?\}")
MAX_URL_CHARS: Final = 2_048


@dataclass(frozen=True, slots=True)
class Pattern:
    """``marked`` reads an address with a mark, ``bare`` the first page's without one. ``shift``: what the mark lacks to the number."""

    marked: re.Pattern[str]
    bare: re.Pattern[str] | None
    letters: bool
    shift: int
    digits: int
    text: str

    def number(self, url: str) -> int | None:
        """Which page of its story ``url`` is, from 1; ``None`` for an address that is named otherwise."""
        if len(url) > MAX_URL_CHARS:
            return None
        if match := self._marked(url):
            mark = match["mark"].lower()
            return (ascii_lowercase.index(mark) + 1 if self.letters else int(mark)) + self.shift or None
        return 1 if self.bare is not None and self.bare.match(url) else None

    def address(self, url: str, number: int) -> str | None:
        """The address of page ``number`` of the story that ``url`` is a page of; for page 1 only where ``url`` has a mark as well."""
        if len(url) > MAX_URL_CHARS or number < 1:
            return None
        match = self._marked(url) or (self.bare.match(url) if self.bare is not None and number > 1 else None)
        count = number - self.shift
        if match is None or (self.letters and not 1 <= count <= len(ascii_lowercase)):
            return None
        mark = ascii_lowercase[count - 1] if self.letters else str(count).zfill(self.digits)
        found = match.groupdict()
        parts = (mark if place[1] != "id" else found.get("id") or "" for place in PLACE.finditer(self.text))
        fixed = PLACE.split(self.text)[::3]
        return found["head"] + "".join(text + part for text, part in zip(fixed, (*parts, ""), strict=True))

    def _marked(self, url: str) -> re.Match[str] | None:
        """Larger numbers than stories have pages, and those with zeros in front, are part of a name: ``2024_0305.html``."""
        match = self.marked.match(url)
        if match is None or self.letters:
            return match
        mark = match["mark"]
        return match if int(mark) <= MAX_PAGES and len(mark) == max(self.digits, len(str(int(mark)))) else None


@lru_cache(maxsize=256)
def parse(text: str) -> Pattern:
    """Raises ``ValueError``, with the reason in words, for a text that is no pattern."""
    found = list(PLACE.finditer(text))
    marks = [place for place in found if place[1] != "id"]
    if len(marks) != 1:
        raise ValueError(f"{text!r} has {len(marks)} places for the page; it needs exactly one {{n}} or {{a}}")
    if len(found) > len(marks) + 1:
        raise ValueError(f"{text!r} has several {{id}}; one is enough")
    if re.search(r"[{}]", PLACE.sub("", text)):
        raise ValueError(f"{text!r} has braces that mean nothing; allowed are {{id}}, {{n}}, {{nn}}, {{a}}, {{n-1}} and {{a-1}}")
    mark = marks[0]
    letters = mark[1] == "a"
    # how the first page is named without its mark
    left = LEFT_OUT.sub("", text, count=1) if mark.start() else ""
    if "?" in text and "?" not in left and "&" in left:
        left = left.replace("&", "?", 1)
    bare = _expression(left, letters=False) + ("$" if mark.start() else r"(?:(?:index|default)\.\w+)?$")
    return Pattern(
        marked=re.compile(_expression(text, letters)),
        bare=re.compile(bare),
        letters=letters,
        shift=1 if mark[2] else 0,
        digits=len(mark[1]),
        text=text,
    )


def _expression(text: str, letters: bool) -> str:
    mark = r"(?P<mark>(?<![a-zA-Z])[a-zA-Z])(?![a-zA-Z])" if letters else r"(?P<mark>(?<!\d)\d{1,4})(?!\d)"
    head = (
        "(?P<head>)"
        if text.startswith(("http://", "https://"))
        else r"(?P<head>https?://[^?#]*?%s)" % ("" if text[:1] in "/?" and text else "/")
    )
    expression, end = "", 0
    for place in PLACE.finditer(text):
        expression += re.escape(text[end : place.start()])
        expression += r"(?P<id>[^/?#&]+?)" if place[1] == "id" else mark
        end = place.end()
    return rf"^{head}{expression}{re.escape(text[end:])}" + ("$" if "mark" in expression else "")
