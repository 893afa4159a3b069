"""Page numbers in URLs: ``c123_2.html`` is page 2 of ``c123.html``. Pure string operations.

A URL is split into a *stem* (shared by all pages of an article) and a *number*. Two URLs are pages of one article if they share a stem; the
URL without a number is the first page.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple
from urllib.parse import unquote, urlsplit

from newsportal.extractors.lists.hub_urls import MAX_URL_CHARS, PAGE_ENDING, TRACKING, Address
from newsportal.text import dom

MAX_PAGE: Final = 300  # larger numbers are article numbers: the longest paged article known (a photo story) has fewer than 200 pages
DEVICE_HOSTS: Final = re.compile(r"^(?:www\d?|m|wap|3g|4g|mobile|touch|amp)\.(?=[^.]+\.)")  # hosts with the same pages for other devices
_WORD = r"(?:p|pg|page|pages|pag|pagina|seite|teil|part|s)"
_IN_NAME = re.compile(rf"^(?P<stem>.*[^_\-,.])[_\-,.]{_WORD}?[_\-]?(?P<number>\d{{1,3}})$", re.IGNORECASE)
_WHOLE_NAME = re.compile(rf"^(?:{_WORD}|index|default)?[_\-,]?(?P<number>\d{{1,3}})$", re.IGNORECASE)
_WORD_ALONE = re.compile(rf"^{_WORD}$", re.IGNORECASE)
_QUERY = re.compile(
    r"(?:^|&)(?:[a-z_]{0,12}page(?!_?size|_?count)[a-z_]{0,8}|pn?|pg|paged|[a-z]{0,8}seite|pagina)=(?P<number>\d{1,3})(?=&|$)",
    re.IGNORECASE,
)
_DEFAULT = frozenset("index default".split())
_ID = re.compile(r"(?:\d{5,}|(?=[A-Za-z]*\d)(?=\d*[A-Za-z])[A-Za-z0-9]{8,})$")
_MARK_IN_FORM = re.compile(rf"(?:[_\-,.]{_WORD}?[_\-]?\{{\}}|/(?:{_WORD}/)?{_WORD}?[_\-,]?\{{\}}|[?&]\w+=\{{\}})", re.IGNORECASE)
_SLUG_COPY = re.compile(rf"/(?!{_WORD}-\{{\}})[^/]*[A-Za-z]-\{{\}}/?$")


class PageMark(NamedTuple):
    """An interpretation of a URL. ``number`` is ``None`` if it assumes no page mark; in ``form``, ``{}`` stands for the number."""

    stem: str
    number: int | None
    form: str


class PageStep(NamedTuple):
    """Relation of a URL to another page of the same article: both page numbers (``None``: no mark), and the form of the other URL."""

    current: int | None
    other: int | None
    form: str


def marks_of(url: str) -> tuple[PageMark, ...]:
    """Return the interpretations of an http(s) ``url``, the one without page mark first. Empty for an invalid URL and a front page."""
    if len(url) > MAX_URL_CHARS or not url.startswith(("http://", "https://")):
        return ()
    try:
        parts = urlsplit(url)
    except ValueError:
        return ()
    host = DEVICE_HOSTS.sub("", parts.netloc.rpartition("@")[2].lower())
    bare = _normal_path(parts.path)
    match = _QUERY.search(parts.query)
    # the part of a query that identifies the article: all but the page number and tracking parameters
    rest = parts.query[: match.start()] + parts.query[match.end() :] if match else parts.query
    pairs = [] if not rest or last_id(f"{host}{bare}") else [pair for pair in rest.split("&") if pair]
    relevant = [pair for pair in pairs if not TRACKING.match(pair.partition("=")[0].lower())]
    query = f"?{'&'.join(relevant)}" if relevant else ""
    found = [] if match else [PageMark(f"{host}{bare}{query}", None, url)]
    origin, tail = f"{parts.scheme}://{parts.netloc}", f"?{parts.query}" if parts.query else ""
    found += [PageMark(f"{host}{stem}{query}", number, f"{origin}{form}{tail}") for stem, number, form in _path_marks(parts.path)]
    if match and int(match["number"]) <= MAX_PAGE:
        form = f"{parts.query[: match.start('number')]}{{}}{parts.query[match.end('number') :]}"
        found.append(PageMark(f"{host}{bare}{query}", int(match["number"]), f"{origin}{parts.path}?{form}"))
    return tuple(place for place in found if host and place.stem != host)  # a pager of a front page is one of a list


def _normal_path(path: str) -> str:
    """Remove the extension, default document and last slash, so that ``/a/``, ``/a/index.html`` and ``/a.html`` are equal."""
    above, _, name = (unquote(path) if "%" in path else path).rstrip("/").rpartition("/")
    name = PAGE_ENDING.sub("", name)
    return above if not name or name.lower() in _DEFAULT else f"{above}/{name}"


def _path_marks(path: str) -> list[tuple[str, int, str]]:
    """Return stem, number and form for a page mark in the last segment of a path, if any."""
    above, _, last = path.rstrip("/").rpartition("/")
    ending = PAGE_ENDING.search(last)
    name = last[: ending.start()] if ending else last
    match = _WHOLE_NAME.match(name)
    if match:
        up, _, word = above.rpartition("/")
        stem = _normal_path(up if _WORD_ALONE.match(word) else above)
    else:
        match = _IN_NAME.match(name)
        stem = _normal_path(f"{above}/{match['stem']}") if match else ""
    if match is None or int(match["number"]) > MAX_PAGE:
        return []
    at = len(above) + 1
    return [(stem, int(match["number"]), f"{path[: at + match.start('number')]}{{}}{path[at + match.end('number') :]}")]


def step(current: Sequence[PageMark], other: str) -> PageStep | None:
    """Return how ``other`` continues the article at ``current``; ``None`` if it does not, or is the same page."""
    readings = marks_of(other)
    for mine in current:
        for theirs in readings:
            if mine.stem == theirs.stem and mine.number != theirs.number:
                return PageStep(mine.number, theirs.number, theirs.form)
    return None


def mobile_step(current: Sequence[PageMark], other: str) -> PageStep | None:
    """Like :func:`step` for a mobile host: both URLs contain the article's number, only ``other`` has a page mark."""
    for theirs in marks_of(other):
        name = last_id(theirs.stem)
        for mine in current:
            marked = theirs.number is not None and mine.number is None and name and name == last_id(mine.stem)
            if marked and Address(f"http://{mine.stem}").domain == Address(f"http://{theirs.stem}").domain:
                return PageStep(None, theirs.number, theirs.form)
    return None


def last_name(stem: str) -> str:
    """Return the last segment of a stem's path; empty for a default document at the root (``/index.php?id=3``)."""
    path = stem.partition("?")[0]
    return path.rpartition("/")[2] if "/" in path else ""


def last_id(stem: str) -> str | None:
    """Return the number or code at the end of a stem, which identifies an article on every host; ``None`` if it is too short."""
    match = _ID.search(last_name(stem))
    return match[0] if match else None


def may_be_other_article(form: str) -> bool:
    """Return whether a form may be another article with the same title: blogs name the second one ``open-thread-2/``."""
    return _SLUG_COPY.search(form) is not None


def without_mark(form: str) -> str:
    """Return a guess of the first page's URL: the form without its page mark."""
    return _MARK_IN_FORM.sub("", form, count=1)


# Pagers drawn by a script: its parameters (page count, current page, name) are read from its text, nothing is run.
# Forms of the publishing systems of Chinese newspapers::
#     createPageHTML(5, 0, "t20120117_123", "html")     pages t20120117_123.html, t20120117_123_1.html … _4.html
#     var currentPage = 0; var countPage = 5; … "<a href=\"t20120117_123" + "_" + nextPage + ".htm\">"
#     var _PAGE_COUNT = "5"; var _PAGE_INDEX = "0"; var _PAGE_NAME = "t123"; var _PAGE_FILE_EXT = "html"

PAGER_WORDS: Final = ("createPage", "countPage", "_PAGE_COUNT")  # scripts without these words draw no pager; ``pageCount`` is too common
MAX_SCRIPT: Final = 60_000  # characters; longer scripts are libraries and data, those that draw pagers have fewer than 10,000
CALL: Final = re.compile(r"\bcreatePage(?:HTML)?\s*\(([^()<>{};]{5,300})\)", re.IGNORECASE)
COUNT: Final = re.compile(r"\b(?:countPage|_PAGE_COUNT)\s*=\s*[\"']?(\d{1,3})\b", re.IGNORECASE)
CURRENT: Final = re.compile(r"\b(?:currentPage|_PAGE_INDEX|curr?Page)\s*=\s*[\"']?(\d{1,3})\b", re.IGNORECASE)
NAME: Final = re.compile(r"\b(?:_PAGE_NAME|page_?name|file_?name)\s*=\s*[\"']([\w./-]{1,100})[\"']", re.IGNORECASE)
EXTENSION: Final = re.compile(r"\b(?:_PAGE_FILE_EXT|(?:page|file)_?ext)\s*=\s*[\"']\.?(\w{2,5})[\"']", re.IGNORECASE)
CONCATENATION: Final = re.compile(r"[\"'\s+\\]+")
HREF: Final = re.compile(r"href=([\w./:-]{1,200}?)_\(?[A-Za-z]\w*(?:[-+]1)?\)?\.(\w{2,5})", re.ASCII)


@dataclass(frozen=True, slots=True)
class ScriptPager:
    """A pager with ``count`` pages, in page ``current`` (from 0). Page n is ``NAME_n.EXTENSION``, page 0 ``NAME.EXTENSION``."""

    count: int
    current: int
    name: str
    extension: str

    def url_of(self, index: int) -> str:
        return f"{self.name}_{index}.{self.extension}" if index else f"{self.name}.{self.extension}"


def script_pagers(document: dom.Document) -> Iterator[ScriptPager]:
    for node in document.root.iter("script"):
        text = node.text
        if text and len(text) <= MAX_SCRIPT and any(sign in text for sign in PAGER_WORDS):
            found = [*(_pager_of_call(match[1]) for match in CALL.finditer(text)), *_pagers_of_assignments(text)]
            yield from (pager for pager in found if pager is not None and 1 < pager.count <= MAX_PAGE)


def _pager_of_call(arguments: str) -> ScriptPager | None:
    """Parse a call whose arguments are all literals; in some variants an element's name comes first."""
    values = [argument.strip() for argument in arguments.split(",")]
    numbers = [at for at, argument in enumerate(values) if argument.isdecimal()]
    if len(numbers) < 2 or numbers[1] != numbers[0] + 1 or len(values) < numbers[1] + 3:
        return None
    name, extension = (argument.strip("\"'") for argument in values[numbers[1] + 1 : numbers[1] + 3])
    if not re.fullmatch(r"[\w./-]{1,100}", name) or not extension.isalnum():
        return None
    return ScriptPager(int(values[numbers[0]][:4]), int(values[numbers[1]][:4]), name, extension)


def _pagers_of_assignments(text: str) -> Iterator[ScriptPager]:
    """Yield a pager for each page count assigned; the other variables apply to all of them and are searched once."""
    counts = [int(count[1]) for count in COUNT.finditer(text)]
    if not counts:
        return
    current, name, extension = CURRENT.search(text), NAME.search(text), EXTENSION.search(text)
    index = int(current[1]) if current else 0
    href = None if name and extension else HREF.search(CONCATENATION.sub("", text))
    file = (name[1], extension[1]) if name and extension else (href[1], href[2]) if href else None
    if file is not None:
        yield from (ScriptPager(count, index, *file) for count in dict.fromkeys(counts))
