"""Choose the pages of a story to fetch next, and reject responses that are not pages of it (paper C, 2.2.1).

Sources of URLs, in order of preference: the story's own data (a slideshow's page is complete), the source's pattern, the links of the
page's pager. A declared number of pages (「3/12」) is the limit of counting; else pages are fetched one by one until the story ends.
"""

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from string import ascii_lowercase
from typing import Final
from urllib.parse import urlsplit

from newsportal.extractors.gallery.variants import key_of
from newsportal.extractors.lists.page_marks import marks_of
from newsportal.extractors.lists.pagination import is_front_page
from newsportal.items import GalleryPage
from newsportal.text import letters

MAX_PICTURES: Final = 2_000  # pictures of a story; no further pages are fetched beyond that; the longest known have hundreds
MIN_NEW_LETTERS: Final = 4  # letters of new text that make a page with known pictures a further page


def more_urls(page: GalleryPage, requested: Collection[str], pattern: str | None, earlier: Sequence[GalleryPage]) -> tuple[str, ...]:
    """Return the URLs to fetch after ``page``, in order; empty if the story ends there or all were requested already.

    ``requested``: the URLs requested in this visit, whatever the result; ``earlier``: the story's pages so far, with or without ``page``.
    Raises ``ValueError`` for an invalid pattern (:func:`parse_pattern`).
    """
    pages = (*earlier, page)
    if any(other.whole for other in pages) or sum(len(other.images) for other in pages) >= MAX_PICTURES:
        return ()
    done = {_name(url) for url in requested} | {_name(other.url) for other in pages}
    numbers = {other.number for other in earlier}
    left = MAX_PAGES - len(done)  # dead links count, or a site could name new ones on every page
    total = declared_total(pages)
    found = (url for number, url in _page_urls(page, pattern, total) if number is None or number not in numbers)
    return tuple(dict.fromkeys(url for url in found if _name(url) not in done))[: max(left, 0)]


def urls_left(pages: Sequence[GalleryPage], requested: Collection[str], pattern: str | None = None) -> tuple[str, ...]:
    """Return the URLs still to be fetched, from all pages met so far, for a later visit. Empty for a complete story."""
    return tuple(dict.fromkeys(url for page in pages for url in more_urls(page, requested, pattern, pages)))


def end_reason(page: GalleryPage, earlier: Sequence[GalleryPage], *, requested: str | None = None) -> str | None:
    """Return why a response is not a further page of the story with the pages ``earlier``; ``None`` if it is one.

    ``front-page``: it is a host's front page. ``elsewhere``: the request for ``requested`` was redirected to another story.
    ``repeats``: its pictures are known and it has no new text (a pager that repeats the last page, a cycle).
    ``another-story``: both its title and its number of pages differ.
    """
    if not earlier:
        return None
    if is_front_page(page.url):
        return "front-page"
    if requested is not None and _name(requested) != _name(page.url):
        stems, others = {place.stem for place in marks_of(page.url)}, (requested, *(other.url for other in earlier))
        if not any(stems & {place.stem for place in marks_of(other)} or _name(page.url) == _name(other) for other in others):
            return "elsewhere"  # the URL does not look like another page of one of them
    if _repeats(page, earlier):
        return "repeats"
    # only if title and total both differ, and the story's own pages agree on the title
    titles = {letters(other.title) for other in earlier if other.title}
    if not page.title or len(titles) != 1 or None in (page.total, earlier[0].total) or page.total == earlier[0].total:
        return None
    mine, theirs = letters(page.title), titles.pop()
    return "another-story" if mine not in theirs and theirs not in mine else None


def declared_total(pages: Sequence[GalleryPage]) -> int | None:
    totals = [page.total for page in pages if page.total]
    return max(sorted(set(totals)), key=totals.count) if totals else None


def _page_urls(page: GalleryPage, pattern: str | None, total: int | None) -> Iterator[tuple[int | None, str]]:
    """Yield number (if known) and URL of the pages named by pattern or pager."""
    form = parse_pattern(pattern) if pattern else None
    if form is not None and (number := form.number(page.url)) is not None:
        upto = min(total or number + 1, MAX_PAGES)
        for count in range(1 if total else number + 1, upto + 1):
            if (url := form.url_of(page.url, count)) is not None:
                yield count, url
        return
    yield from ((None, url) for url in (*page.pages, page.next) if url is not None)


def _name(url: str) -> str:
    """Return the URL without scheme and fragment, the form in which URLs are compared here."""
    return url.partition("#")[0].partition("://")[2]


def _repeats(page: GalleryPage, earlier: Sequence[GalleryPage]) -> bool:
    image_keys = {key_of(image.url) for other in earlier for image in other.images}
    fresh = [image for image in page.images if key_of(image.url) not in image_keys]
    text_keys = {key for other in earlier for key in _text_keys(other)}
    new_keys = [key for key in _text_keys(page) if key not in text_keys and len(key) >= MIN_NEW_LETTERS]
    if not fresh:
        return not new_keys
    older = len(page.images) - len(fresh)
    return older > 0 and not new_keys and bool(_text_keys(page)) and not any(image.caption for image in fresh) and len(fresh) <= older


def _text_keys(page: GalleryPage) -> list[str]:
    captions = [image.caption for image in page.images if image.caption]
    return [letters(line) for line in (*captions, *(page.text or "").split("\n")) if line.strip()]


# Guess a pattern for a story whose page names no other page and no number of pages (paper C, 2.2.1, way 1, without a given pattern). The
# paper counts up in the pattern that its operator wrote down. Without one, the commonest URL scheme is tried: ``123.html`` is followed by
# ``123_2.html``, ``123/`` by ``123/2/``, ``123_1.html`` and ``123-01.html`` by the next number. A dead link ends the story as usual. A
# response counts as a page only if title and day are the same: a neighbouring URL may be another story's.

MAX_GUESSABLE: Final = 2  # pictures of a page that may be one of several; more are a complete story. Chosen: a guess costs a request
NAME: Final = re.compile(r"(?P<id>[^/]*?[^/_\-])(?:(?P<parted>[_-])(?P<mark>0{0,2}1))?(?P<ending>\.(?:s?html?|php|aspx?|jsp))?/?", re.ASCII)
DIGIT: Final = re.compile(r"\d", re.ASCII)  # Last path segments of stories contain digits; ``about.html`` does not


def guess_pattern(page: GalleryPage) -> str | None:
    """Return a guessed URL pattern of the story with the first page ``page``; ``None`` if the page names others, or none can exist."""
    if page.whole or page.total or page.next or page.pages or not page.title or len(page.images) > MAX_GUESSABLE:
        return None
    parts = urlsplit(page.url)
    name = NAME.fullmatch(parts.path.rpartition("/")[2] or f"{parts.path.rstrip('/').rpartition('/')[2]}/")
    if parts.query or name is None or not DIGIT.search(name["id"]):
        return None
    ending = name["ending"] or ""
    mark = "{" + "n" * len(name["mark"] or "1") + "}"
    if name["parted"]:
        return f"{{id}}{name['parted']}{mark}{ending}"
    if ending:
        return f"{{id}}_{mark}{ending}"
    return f"{{id}}/{mark}/" if parts.path.endswith("/") else None


def proven_pattern(pages: Sequence[GalleryPage]) -> str | None:
    """Return the guessed pattern that these pages of a story were found with, if any: one that fits at least two of them."""
    patterns = filter(None, map(guess_pattern, pages))
    return next((pattern for pattern in patterns if sum(parse_pattern(pattern).number(page.url) is not None for page in pages) > 1), None)


def is_same_story_page(page: GalleryPage, earlier: Sequence[GalleryPage]) -> bool:
    """Return whether the response for a guessed URL belongs to the story: the same title, and no other day."""
    days = {other.published.date() for other in earlier if other.published}
    titles = {letters(other.title) for other in earlier if other.title}
    return letters(page.title or "") in titles and (page.published is None or not days or page.published.date() in days)


# URL patterns of the further pages of a story (paper C, 2.2.1, way 1): ``{id}_{n}.html``, counted up to a limit.
#
# A pattern is a complete URL or the end of one, with placeholders:
#
# =================  =================================================================================
# ``{id}``           the part that all pages of a story share: anything but ``/ ? # &``
# ``{n}``, ``{nn}``  the page number; ``{nn}`` has at least two digits
# ``{a}``            the page's letter: a, b, c …
# ``{n-1}``          the number counts from 0: page 2 of ``{id}.html`` is ``{id}_1.html``; likewise ``{a-1}``
# =================  =================================================================================
#
# The first page may lack the number: ``123.html`` belongs to ``{id}_{n}.html``, ``123/`` to ``{n}.html``.

MAX_PAGES: Final = 200  # pages of one story; the paper gives no figure, and the longest stories known have fewer than 200
PLACEHOLDER: Final = re.compile(r"\{(id|n{1,4}|a)(-1)?\}")
# The page number with its separator, which the first page's URL often lacks.
OPTIONAL_PART: Final = re.compile(r"(?:[?&][\w\[\]-]+=|/(?:pages?/|p)?|[_\-,.]{0,2}(?:pages?|p)?[_\-]?)\{(?:n{1,4}|a)(?:-1)?\}")
MAX_URL_CHARS: Final = 2_048


@dataclass(frozen=True, slots=True)
class Pattern:
    """``marked`` matches URLs with a page number or letter, ``bare`` the first page's without. ``shift``: page number minus the URL's."""

    marked: re.Pattern[str]
    bare: re.Pattern[str] | None
    letters: bool
    shift: int
    digits: int
    text: str

    def number(self, url: str) -> int | None:
        """Return the page number of ``url`` in its story, from 1; ``None`` if the URL does not match."""
        if len(url) > MAX_URL_CHARS:
            return None
        if match := self._marked(url):
            mark = match["mark"].lower()
            return (ascii_lowercase.index(mark) + 1 if self.letters else int(mark)) + self.shift or None
        return 1 if self.bare is not None and self.bare.match(url) else None

    def url_of(self, url: str, number: int) -> str | None:
        """Return the URL of page ``number`` of the story to which ``url`` belongs; of page 1 only if ``url`` has a page number itself."""
        if len(url) > MAX_URL_CHARS or number < 1:
            return None
        match = self._marked(url) or (self.bare.match(url) if self.bare is not None and number > 1 else None)
        count = number - self.shift
        if match is None or (self.letters and not 1 <= count <= len(ascii_lowercase)):
            return None
        mark = ascii_lowercase[count - 1] if self.letters else str(count).zfill(self.digits)
        found = match.groupdict()
        parts = (mark if place[1] != "id" else found.get("id") or "" for place in PLACEHOLDER.finditer(self.text))
        fixed = PLACEHOLDER.split(self.text)[::3]
        return found["head"] + "".join(text + part for text, part in zip(fixed, (*parts, ""), strict=True))

    def _marked(self, url: str) -> re.Match[str] | None:
        """Match a URL. Numbers above ``MAX_PAGES`` or with extra zeros are part of a name: ``2024_0305.html``."""
        match = self.marked.match(url)
        if match is None or self.letters:
            return match
        mark = match["mark"]
        return match if int(mark) <= MAX_PAGES and len(mark) == max(self.digits, len(str(int(mark)))) else None


@lru_cache(maxsize=256)
def parse_pattern(text: str) -> Pattern:
    """Parse a pattern. Raises ``ValueError`` with the reason if it is invalid."""
    found = list(PLACEHOLDER.finditer(text))
    marks = [place for place in found if place[1] != "id"]
    if len(marks) != 1:
        raise ValueError(f"{text!r} has {len(marks)} places for the page; it needs exactly one {{n}} or {{a}}")
    if len(found) > len(marks) + 1:
        raise ValueError(f"{text!r} has several {{id}}; one is enough")
    if re.search(r"[{}]", PLACEHOLDER.sub("", text)):
        raise ValueError(f"{text!r} has braces that mean nothing; allowed are {{id}}, {{n}}, {{nn}}, {{a}}, {{n-1}} and {{a-1}}")
    mark = marks[0]
    letters = mark[1] == "a"
    # the first page's URL, without the page number
    left = OPTIONAL_PART.sub("", text, count=1) if mark.start() else ""
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
    for place in PLACEHOLDER.finditer(text):
        expression += re.escape(text[end : place.start()])
        expression += r"(?P<id>[^/?#&]+?)" if place[1] == "id" else mark
        end = place.end()
    return rf"^{head}{expression}{re.escape(text[end:])}" + ("$" if "mark" in expression else "")
