"""Find the body by its summary (Bai, Wang, Zhao 2009, section 3.2, figure 4): a search result's summary is an anchor in the page's source.

    p        the first n characters of the cleaned summary, 30 < n < 60
    pos      the last position of p in the source
    fpos(l)  for each label l of {div, table, span}: the nearest opening tag before pos that is not closed before pos; walking back, each
             closing tag raises the count, each opening tag lowers it, and the one that meets zero is it
    rpos(l)  where that tag is closed
    body     the longest of source[fpos(l) : rpos(l)]

The method works on the source, not on a tree. Our choices where the paper is silent: scripts, styles and comments are skipped (the state in
a page's scripts repeats the summary); white space and character references are normalised, and brackets removed, which engines change after
「讯」 and 「报道」 (rule 3); the anchor may span tags.

Section 4: "the structure that was read with success is cached, and used for some time on other pages of the site". The structure is the
opening tag with its names, without digits. A cached structure must match one tag on the page, whose block contains the summary; if the page
has no summary, or it is not found, one match is enough. Published: 88.2 % of the parsed pages found. O(n) in the source.
"""

import json
import re
from bisect import bisect_left, bisect_right
from collections import OrderedDict
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from html import unescape
from threading import Lock
from typing import Final

from newsportal.errors import LibraryError, NotApplicable
from newsportal.extractors.article.site import put_newest, site_of
from newsportal.extractors.papers.common import make_extraction_from_link
from newsportal.items import Extraction, Link
from newsportal.text import clean, dom

LABELS: Final = ("div", "table", "span")
MIN_ANCHOR: Final = 31  # 30 < n < 60. A longer anchor is more reliable and found on fewer pages; see docs/algorithms/summary_anchor.md.
ANCHOR_CHARS: Final = 45  # the middle of the paper's range
LIFETIME: Final = timedelta(hours=24)  # the paper says "for some time"; its other cache, that of URLs, lasts 24 hours
MAX_SITES: Final = 1000
MAX_LAYOUTS: Final = 4
_TAG = re.compile(r"<!--|<(/?)([a-zA-Z][a-zA-Z0-9:-]{0,40})(?=[\s/>])([^<>]*)>")
_NAMES = re.compile(r"""(?:^|\s)(class|id)\s*=\s*("[^"]*"|'[^']*'|[^\s"'>]+)""", re.IGNORECASE)
_BRACKETS = dict.fromkeys(map(ord, "()（）[]［］【】〔〕"))
QUOTES: Final = "\"'"
_RAW = frozenset(("script", "style", "noscript", "textarea", "template"))
_DIGITS = re.compile(r"\d+")
_ENDING = re.compile(r"(?:\.{2,}|…+|。{2,})\s*$")


@dataclass(frozen=True, slots=True)
class Tag:
    name: str
    closing: bool
    start: int
    end: int
    attributes: str


@dataclass(frozen=True, slots=True)
class Source:
    """A parsed source: its text, normalised for comparison, the offset of each text run, and the tags of the labels."""

    html: str
    text: str
    offsets: tuple[int, ...]  # start of each run in ``text``
    places: tuple[int, ...]  # and in ``html``
    tags: tuple[Tag, ...]


@dataclass(frozen=True, slots=True)
class Block:
    tag: Tag
    end: int


def normalise(text: str) -> str:
    """Normalise a text for comparison: no white space, no brackets, character references resolved."""
    return "".join((unescape(text) if "&" in text else text).translate(_BRACKETS).split())


def anchor_of(summary: str | None, length: int = ANCHOR_CHARS) -> str | None:
    """Return the anchor p of a summary, which may be HTML; ``None`` if it is too short to be reliable."""
    text = summary or ""
    if "<" in text:
        text = dom.text_of(dom.parse_html(text))
    found = normalise(_ENDING.sub("", clean(unescape(text))))[:length]
    return found if len(found) >= MIN_ANCHOR else None


def read_source(html: str) -> Source:
    """Read the source in one pass. An unclosed script or comment extends to the end, as in a browser."""
    html = html[: dom.MAX_CHARS]
    lower: str | None = None
    texts, offsets, places, tags = list[str](), list[int](), list[int](), list[Tag]()
    place = size = 0
    while True:
        match = _TAG.search(html, place)
        if text := normalise(html[place : match.start() if match else len(html)]):
            texts.append(text)
            offsets.append(size)
            places.append(place)
            size += len(text)
        if match is None:
            break
        name = (match[2] or "").lower()
        place = match.end()
        if name in LABELS:
            tags.append(Tag(name, bool(match[1]), match.start(), place, match[3]))
        elif not name or (name in _RAW and not match[1]):
            lower = html.lower() if lower is None and name else lower
            close = html.find("-->", match.start() + 2) if not name else (lower or "").find(f"</{name}", place)
            if close < 0:
                break
            place = close + 3 if not name else close
    return Source(html, "".join(texts), tuple(offsets), tuple(places), tuple(tags))


def find_block(source: Source, anchor: str) -> Block | None:
    """Return the longest of the blocks around the anchor's last position (figure 4); ``None`` if it is not found."""
    at = source.text.rfind(anchor)
    if at < 0:
        return None
    place = source.places[bisect_right(source.offsets, at) - 1]
    found = (enclosing_blocks(source, label, place) for label in LABELS)
    return max((block for block in found if block), key=lambda block: block.end - block.tag.start, default=None)


def enclosing_blocks(source: Source, label: str, place: int) -> Block | None:
    closed = 0
    for tag in reversed(source.tags):
        if tag.name != label or tag.start >= place:
            continue
        if tag.closing:
            closed += 1
        elif closed:
            closed -= 1
        else:
            return Block(tag, end_of(source, tag))
    return None


def end_of(source: Source, opening: Tag) -> int:
    depth = 0
    for tag in source.tags:
        if tag.name != opening.name or tag.start < opening.start:
            continue
        depth += -1 if tag.closing else 1
        if not depth:
            return tag.end
    return len(source.html)


def layout_of(tag: Tag) -> str | None:
    """Return the opening tag's names without digits (``div class=text id=p#``); ``None`` without class and id."""
    names = sorted({f"{name.lower()}={_DIGITS.sub('#', clean(value.strip(QUOTES)))}" for name, value in _NAMES.findall(tag.attributes)})
    return " ".join([tag.name, *names]) if names else None


class SummaryAnchor:
    """The extractor, with a cache of successful blocks: a few layouts per site, for ``LIFETIME``."""

    def __init__(self, sites: int = MAX_SITES, lifetime: timedelta = LIFETIME, length: int = ANCHOR_CHARS) -> None:
        self._most, self._lifetime, self._length = sites, lifetime, length
        self._layouts: OrderedDict[str, OrderedDict[str, datetime]] = OrderedDict()
        self._lock = Lock()

    def __call__(self, document: dom.Document, link: Link | None, fetched: datetime) -> Extraction:
        """Extract the article. Raises ``NotApplicable``: ``no-summary`` (nor cached block), ``summary-not-found``, ``no-body``."""
        anchor = anchor_of(link.summary if link else None, self._length)
        site = site_of(document.url)
        with self._lock:
            layouts = self._layouts.get(site or "", OrderedDict())
            cached = [layout for layout, since in reversed(layouts.items()) if timedelta(0) <= fetched - since <= self._lifetime]
        if anchor is None and not cached:
            raise NotApplicable("no-summary", f"a summary has at least {MIN_ANCHOR} characters")
        source = read_source(document.html)
        block = _cached(source, cached, anchor) or self._found(source, anchor, site, fetched)
        return make_extraction_from_link(document, link, "summary_anchor", [dom.parse_html(source.html[block.tag.start : block.end])])

    def learn(self, document: dom.Document, link: Link | None, fetched: datetime, found: Extraction | None = None) -> None:
        anchor, site = anchor_of(link.summary if link else None, self._length), site_of(document.url)
        if anchor and site:
            with suppress(NotApplicable):  # nothing to learn; :meth:`__call__` reports the reason
                self._found(read_source(document.html), anchor, site, fetched)

    def dump(self) -> str:
        with self._lock:
            sites = {site: {layout: since.isoformat() for layout, since in layouts.items()} for site, layouts in self._layouts.items()}
        return json.dumps({"summary_anchor": sites}, ensure_ascii=False)

    def restore(self, text: str) -> None:
        """Add a state written by :meth:`dump`, as older than the current one. Raises ``LibraryError`` for any other text."""
        try:
            sites = json.loads(text)["summary_anchor"]
            entries = [(datetime.fromisoformat(at), site, layout) for site, layouts in sites.items() for layout, at in layouts.items()]
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise LibraryError("no blocks of summaries") from error
        with self._lock:
            entries += [(at, site, layout) for site, layouts in self._layouts.items() for layout, at in layouts.items()]
            self._layouts.clear()
        for at, site, layout in sorted(entries):
            self._remember(site, layout, at)

    def _found(self, source: Source, anchor: str | None, site: str | None, fetched: datetime) -> Block:
        block = find_block(source, anchor) if anchor else None
        if block is None:
            if not anchor:
                raise NotApplicable("no-summary", "and no cached block is on the page")
            inside = anchor in source.text
            raise NotApplicable("no-body" if inside else "summary-not-found", "it is in no block" if inside else None)
        layout = layout_of(block.tag)
        if site and layout:
            self._remember(site, layout, fetched)
        return block

    def _remember(self, site: str, layout: str, now: datetime) -> None:
        with self._lock:
            layouts = self._layouts.get(site, OrderedDict())
            put_newest(layouts, layout, now, MAX_LAYOUTS)
            put_newest(self._layouts, site, layouts, self._most)


def _cached(source: Source, layouts: Iterable[str], anchor: str | None) -> Block | None:
    """Return the block of a cached layout that occurs once on the page and contains the anchor, if the page does."""
    if anchor is not None and anchor not in source.text:
        anchor = None
    for layout in layouts:
        tags = [tag for tag in source.tags if not tag.closing and layout_of(tag) == layout]
        if len(tags) == 1:
            block = Block(tags[0], end_of(source, tags[0]))
            ends = (*source.offsets, len(source.text))
            first, last = (ends[bisect_left(source.places, place)] for place in (block.tag.end, block.end))
            if anchor is None or anchor in source.text[first:last]:
                return block
    return None
