"""Bytes to trees: the only door to lxml.

A page is decoded once and parsed once; every extractor gets the same :class:`Document`. Trees are read, never changed, unless a
function says that it works on a copy.
"""

from __future__ import annotations

import copy
import re
from dataclasses import dataclass, field
from functools import cached_property
from itertools import islice
from typing import TYPE_CHECKING, Any, Literal, cast
from urllib.parse import urljoin

import lxml.html
import numpy as np
from lxml import etree
from lxml.cssselect import CSSSelector
from lxml.html import HtmlElement as Element
from numpy.typing import NDArray

from newsportal.encoding import decode
from newsportal.text import clean

if TYPE_CHECKING:
    from collections.abc import Iterator

    from newsportal.items import Page

__all__ = [
    "Document",
    "Element",
    "copy_of",
    "css",
    "decode",
    "document",
    "from_text",
    "html_of",
    "join",
    "lines_of",
    "link_of",
    "parse_html",
    "pieces",
    "text_of",
    "walk",
    "xpath",
]

MAX_CHARS = 8_000_000
"""Longer pages are cut: ten times the longest article page of the development set."""

SKIPPED = frozenset({"script", "style", "noscript", "template", "iframe", "object", "svg", "math", "head"})
"""Elements whose text no reader sees."""

BREAKING = frozenset(
    "address article aside blockquote br caption center dd details div dl dt fieldset figcaption figure footer form h1 h2 h3 h4 h5 h6 "
    "header hr li main nav ol p pre section table td th tr ul".split()
)
"""Elements that end a line."""


@dataclass(frozen=True)
class Document:
    """One page, decoded and parsed once. ``url`` resolves relative links; ``encoding`` is the one that was used."""

    url: str
    html: str = field(repr=False)
    encoding: str = "utf-8"

    @cached_property
    def root(self) -> Element:
        """The ``html`` element. Treat it as read-only; take a :func:`copy_of` to change it."""
        return parse_html(self.html)

    @cached_property
    def base(self) -> str:
        """What relative links are relative to: ``<base href>`` where it is usable, else the page's URL."""
        for node in self.root.iter("base"):
            href = (node.get("href") or "").strip()
            if href:
                joined = join(self.url, href)
                return joined or self.url
        return self.url

    @cached_property
    def lines(self) -> tuple[str, ...]:
        """The visible text of the whole page, a cleaned line each; made once for all who look for dates and names in it.

        A tab stands where an inline element begins or ends: 「来源：某网」 and 「作者：某某」 in two ``span`` are two statements.
        """
        stripped = (line.strip() for line in MARK.join(_text(self.root, "\n")).split("\n"))
        lines = [_marked(line) if MARK in line else clean(line) for line in stripped if line]
        return tuple(line for line in lines if line)

    def css(self, selector: str) -> list[Element]:
        return css(self.root, selector)


def document(page: Page) -> Document:
    """Decode and parse-on-demand a fetched page."""
    html, encoding = decode(page.body, page.content_type)
    return Document(url=page.url, html=html, encoding=encoding)


def from_text(html: str, url: str = "about:blank") -> Document:
    """A document from text that is decoded already (tests, the library's users)."""
    return Document(url=url, html=html)


MAX_DEPTH = 1000
"""Deeper markup is flattened before it is parsed: libxml2 stops reading at 2,048 levels, and a real page has below 100."""

LONG_TAG = 4_000
"""Characters after which a tag's attributes are counted."""

MAX_ATTRIBUTES = 500
"""More attributes of one tag are cut: libxml2 needs time quadratic in their number (a million: hours)."""


def parse_html(html: str) -> Element:
    """A tree from any text; never raises for bad HTML. An empty page gives an empty ``html`` element.

    Time and memory are linear in the text, which is cut at ``MAX_CHARS``; the tree is at most about ``MAX_DEPTH`` deep, so that
    nothing that walks it recursively (deep copies, XPath) can overflow.
    """
    data = html[:MAX_CHARS].encode("utf-8", "replace").replace(b"\x00", b"")
    codes = np.frombuffer(data, dtype=np.uint8)
    marks = np.flatnonzero((codes == LESS) | (codes == MORE))
    opens = codes[marks] == LESS
    deep = _may_be_deep(codes, marks[opens])
    hidden = _may_hide_attributes(data, marks)
    data = _with_fewer_attributes(data, marks, opens)
    data = _without_hidden_attributes(data) if hidden else data
    if deep:
        text = data.decode("utf-8", "replace")
        data = _flattened(text).encode("utf-8", "replace") if _depth_bound(text) > MAX_DEPTH else data
    parser = lxml.html.HTMLParser(encoding="utf-8", huge_tree=True, remove_comments=True, remove_pis=True)
    parser.set_element_class_lookup(_PLAIN)  # lxml.html's own lookup is Python code run for every element
    try:
        root = etree.fromstring(data, parser)
    except (etree.ParserError, etree.XMLSyntaxError, ValueError, AssertionError):
        root = None
    return lxml.html.document_fromstring("<html><body></body></html>") if root is None else cast("Element", root)


LESS, MORE, SLASH = b"<>/"
CAPITAL = 0x20  # the bit that capitals lack
Places = NDArray[np.intp]

_PLAIN = etree.ElementDefaultClassLookup(element=Element)
_ATTRIBUTE = re.compile(rb"""[^\s"'=/>]+(?:\s*=\s*(?:"[^"]*(?:"|$)|'[^']*(?:'|$)|[^\s"'>]+))?|["']""")


WORDY = 5_000
"""What may part attributes in a long stretch without marks, from which it is looked whether it is a tag whose quotes hide marks: so many
attributes take a tenth of a second."""

_WHOLE_TAG = re.compile(
    rb"""(?P<raw><(?:script|style)\b.*?</(?:script|style))|<[a-zA-Z](?:[^=>]++|=\s*+(?:"[^"]*+"|'[^']*+')?)*+>?""",
    re.DOTALL | re.IGNORECASE,
)
"""A quote opens a value only behind an equals sign, as in HTML; anywhere else it is a slip."""

BLANKS = (b" ", b"\n", b"\t", b"\r", b"\f", b"/")


def _may_hide_attributes(data: bytes, marks: Places) -> bool:
    """Whether a long stretch of many words stands between two marks: a tag with a mark in quotes (``<a b="<" x0 x1 …>``), or just text."""
    ends = np.append(marks[1:], len(data))
    long = np.flatnonzero(ends[: len(marks)] - marks > LONG_TAG)
    stretches = ((int(marks[number]), int(ends[number])) for number in long)
    return any(sum(data.count(blank, *stretch) for blank in BLANKS) > WORDY for stretch in stretches)


def _without_hidden_attributes(data: bytes) -> bytes:
    """As :func:`_with_fewer_attributes`, and quotes are understood."""
    return _WHOLE_TAG.sub(_fewer, data)


def _fewer(tag: re.Match[bytes]) -> bytes:
    if tag["raw"] is not None or len(tag[0]) <= LONG_TAG:
        return tag[0]
    cuts = list(islice(_ATTRIBUTE.finditer(tag[0]), WORDY))
    return tag[0] if len(cuts) < WORDY else tag[0][: cuts[MAX_ATTRIBUTES].start()] + b">"


def _with_fewer_attributes(data: bytes, marks: Places, opens: NDArray[np.bool_]) -> bytes:
    """``data`` with at most ``MAX_ATTRIBUTES`` attributes in each long tag. ``marks``: the places of all ``<`` and ``>``, ``opens``:
    which of them are ``<``."""
    ends = np.append(marks[1:], len(data))
    kept, start = [], 0
    for number in np.flatnonzero(opens & (ends[: len(marks)] - marks > LONG_TAG)):
        place, end = int(marks[number]), int(ends[number])
        attributes = _ATTRIBUTE.finditer(data, place, end) if data[place + 1 : place + 2].isalpha() else iter(())
        first_cut = next(islice(attributes, MAX_ATTRIBUTES + 1, None), None)
        if first_cut is not None:
            kept.append(data[start : first_cut.start()])
            start = end
    return b"".join((*kept, data[start:])) if kept else data


_VOID = frozenset("area base br col embed hr img input link meta param source track wbr".split())
_RAW = frozenset(("script", "style", "textarea", "title"))
_CLOSED_BY_NEXT = frozenset("p li dt dd tr td th option tbody thead tfoot colgroup".split())
_TAG = re.compile(r"<(/?)([a-zA-Z][a-zA-Z0-9:-]{0,40})[^<>]*>")


def _may_be_deep(codes: NDArray[np.uint8], tags: Places) -> bool:
    """A quick look that is sure of shallow pages: every ``<`` before a letter opens, every ``</`` closes. ``tags``: the places of ``<``."""
    after = codes[np.minimum(tags + 1, len(codes) - 1)]
    letter = after | CAPITAL
    opened = (letter >= ord("a")) & (letter <= ord("z"))
    depth = np.cumsum(opened.astype(np.int64) - (after == SLASH))
    below = np.minimum(np.minimum.accumulate(depth), 0)
    return bool((depth - below > MAX_DEPTH).any())


def _depth_bound(text: str) -> int:
    """How deep the tree can become, from the tags alone: those that end where their like begins are not counted."""
    depth = deepest = 0
    for match in _TAG.finditer(text):
        name = match[2].lower()
        if name in _VOID or name in _RAW or name in _CLOSED_BY_NEXT:
            continue
        depth = max(depth - 1, 0) if match[1] else depth + 1
        deepest = max(deepest, depth)
    return deepest


def _flattened(text: str) -> str:
    """The page without the tags beyond ``MAX_DEPTH``; those that break lines become ``<br>``."""
    depth = 0

    def kept(match: re.Match[str]) -> str:
        nonlocal depth
        name = match[2].lower()
        if name in _VOID or name in _RAW:
            return match[0]
        if match[1]:
            depth = max(depth - 1, 0)
            return match[0] if depth < MAX_DEPTH else ""
        depth += 1
        if depth <= MAX_DEPTH:
            return match[0]
        return "<br>" if name in BREAKING else ""

    return _TAG.sub(kept, text)


def copy_of(node: Element) -> Element:
    """A deep copy that may be changed."""
    return copy.deepcopy(node)


_SELECTORS: dict[str, CSSSelector] = {}


def css(node: Element, selector: str) -> list[Element]:
    """The elements below ``node`` that match a CSS selector, in document order. Raises ``ValueError`` for a bad selector."""
    compiled = _SELECTORS.get(selector)
    if compiled is None:
        try:
            compiled = CSSSelector(selector, translator="html")
        except Exception as error:  # cssselect's errors have no common public base
            raise ValueError(f"not a CSS selector: {selector!r} ({error})") from error
        _SELECTORS[selector] = compiled
    return cast("list[Element]", compiled(node))


def xpath(node: Element, expression: str) -> list[object]:
    """What an XPath expression gives, always as a list. Raises ``ValueError`` for a bad expression."""
    try:
        found = node.xpath(expression)
    except etree.XPathError as error:
        raise ValueError(f"not an XPath expression: {expression!r} ({error})") from error
    return list(found) if isinstance(found, list) else [found]


def text_of(node: Element) -> str:
    """The visible text below ``node`` on one line, cleaned."""
    return clean("".join(_text(node, " ")))


def html_of(node: Element) -> str:
    """``node`` written as HTML again, without what follows it."""
    return str(lxml.html.tostring(node, encoding="unicode", with_tail=False))


def lines_of(node: Element) -> list[str]:
    """The visible text below ``node``, a cleaned paragraph a line, no empty lines."""
    return [line for line in map(clean, "".join(_text(node, "\n")).split("\n")) if line]


MARK = "\u2028"
"""Parts text nodes for a while: white space that no page uses."""


def _marked(line: str) -> str:
    return "\t".join(filter(None, map(clean, line.split(MARK))))


def pieces(top: Element, skipped: frozenset[str] = SKIPPED) -> Iterator[tuple[Literal["text", "break"], str]]:
    """The text nodes below ``top`` in document order, with a ``break`` wherever a line of the page ends. Never recursive.

    A line feed in the source is white space like any other; only ``pre`` means it.
    """
    walk = etree.iterwalk(top, events=("start", "end"))
    kept = 0
    for event, node in walk:
        if event == "start":
            if node.tag in skipped and node is not top:
                walk.skip_subtree()  # its end event follows, and with it the tail
                continue
            kept += node.tag == "pre"
            if node.tag in BREAKING:
                yield "break", ""
            if node.text:
                yield "text", node.text if kept else node.text.replace("\n", " ")
        else:
            kept -= node.tag == "pre"
            if node.tag in BREAKING:
                yield "break", ""
            if node is not top and node.tail:
                yield "text", node.tail if kept else node.tail.replace("\n", " ")


def _text(top: Element, brk: str) -> list[str]:
    """What :func:`pieces` gives with ``brk`` for breaks, without the price of its steps: every page goes through here thrice."""
    found: list[str] = []
    walk = etree.iterwalk(top, events=("start", "end"))
    kept = 0
    for event, node in walk:
        tag = node.tag
        if event == "start":
            if tag in SKIPPED and node is not top:
                walk.skip_subtree()
                continue
            text = node.text
            kept += tag == "pre"
        else:
            text = None if node is top else node.tail
            kept -= tag == "pre"
        if tag in BREAKING:
            found.append(brk)
        if text:
            found.append(text if kept else text.replace("\n", " "))
    return found


def walk(top: Element) -> Any:
    """``("start" | "end", element)`` for ``top`` and everything below it, in document order; never recursive.

    After a ``start``, ``skip_subtree()`` of the result leaves out what lies inside; the ``end`` still comes.
    """
    return etree.iterwalk(top, events=("start", "end"))


def link_of(node: Element, base: str) -> str | None:
    """The absolute http(s) URL a link points at, without its fragment; ``None`` for anything else."""
    return join(base, node.get("href") or "")


SCHEME = re.compile(r"^[a-zA-Z][a-zA-Z0-9+.-]*:")
ABSOLUTE = re.compile(r"https?://[a-zA-Z0-9.-]+(?::\d+)?/[^\s?#;\\\x00-\x20]*(?:\?[^\s#;\\\x00-\x20]+)?")
"""The common case, which needs no joining: three quarters of a page's links and pictures."""


def join(base: str, href: str) -> str | None:
    """``href`` resolved against ``base``: an http(s) URL without fragment, or ``None`` (``javascript:``, ``mailto:``, garbage)."""
    href = href.strip()
    if ABSOLUTE.fullmatch(href):
        return href
    if not href or href.startswith("#") or (SCHEME.match(href) and not href.lower().startswith(("http:", "https:"))):
        return None
    if not href.isprintable():
        href = re.sub(r"[\t\r\n]", "", href)
    try:
        joined = urljoin(base, href).partition("#")[0]
    except ValueError:
        return None
    return joined if joined.startswith(("http://", "https://")) else None
