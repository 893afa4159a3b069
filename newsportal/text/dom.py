"""Parsing of pages into trees: the only module that uses lxml.

A page is decoded and parsed once; every extractor gets the same :class:`Document`. Trees are read-only, unless a function works on a copy.
"""

from __future__ import annotations

import contextlib
import copy
import re
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from itertools import islice
from typing import TYPE_CHECKING, Any, Final, Literal, cast
from urllib.parse import quote, urljoin

import lxml.html
from cssselect import HTMLTranslator
from cssselect.xpath import XPathExpr
from lxml import etree
from lxml.cssselect import CSSSelector
from lxml.html import HtmlElement as Element

from newsportal.errors import NotApplicable
from newsportal.text import CONTROL, clean
from newsportal.text.encoding import decode
from newsportal.text.markup import BREAKING_TAGS, MAX_ALL_ATTRIBUTES, MAX_TAGS, bounded_html, count_attributes
from newsportal.text.steps import SKIPPED_TAGS, Step, read_steps, visible_lines

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from typing import Protocol

    from newsportal.items import Page

    class XmlTarget(Protocol):
        """Receiver of the elements of a stream. Names are ``{namespace}name``; ``close`` is called at the end."""

        def start(self, tag: str, attributes: Mapping[str, str]) -> None: ...
        def end(self, tag: str) -> None: ...
        def data(self, text: str) -> None: ...
        def close(self) -> None: ...


class Translator(HTMLTranslator):
    """Translate ``a ~ b`` as a test of each ``b`` for a preceding ``a``. cssselect collects what follows each ``a``, which takes libxml2
    twenty seconds on a page of 3,000 paragraphs, and rules may contain ``p ~ p`` (threats B)."""

    def xpath_indirect_adjacent_combinator(self, left: XPathExpr, right: XPathExpr) -> XPathExpr:
        if left.path:  # it also has conditions on ancestors
            return super().xpath_indirect_adjacent_combinator(left, right)
        return right.add_condition(f"preceding-sibling::{left}")


TRANSLATOR: Final = Translator()

__all__ = [
    "BREAKING_TAGS", "MAX_TAGS", "SKIPPED_TAGS", "Document", "Element", "copy_of", "css", "decode", "document", "from_text", "html_of",
    "join", "lines_of", "link_of", "parse_html", "path_of", "stream_xml", "text_of", "text_pieces", "walk", "xpath",
]  # fmt: skip

MAX_CHARS = 8_000_000  # longer pages are truncated: ten times the longest article page of the development set


@dataclass(frozen=True)
class Document:
    """A page, decoded and parsed once. ``url`` resolves relative links; ``encoding`` is the one used for decoding."""

    url: str
    html: str = field(repr=False)
    encoding: str = "utf-8"

    @cached_property
    def root(self) -> Element:
        """The ``html`` element. Treat it as read-only; use :func:`copy_of` to change it."""
        return parse_html(self.html)

    @cached_property
    def base(self) -> str:
        """Base of relative links: ``<base href>`` if usable, else the page's URL."""
        for node in self.root.iter("base"):
            if href := (node.get("href") or "").strip():
                return join(self.url, href) or self.url
        return self.url

    @cached_property
    def steps(self) -> list[Step]:
        """The steps of one walk over the page, shared by all readers."""
        return read_steps(walk(self.root))

    @cached_property
    def lines(self) -> tuple[str, ...]:
        """The visible text of the page as cleaned lines, shared by those who search it for dates and names.

        Limited to the first ``MAX_TEXT`` characters and ``MAX_LINES`` lines.

        A tab marks where an inline element begins or ends: 「来源：某网」 and 「作者：某某」 in two ``span`` are two statements.
        """
        return visible_lines(self.steps)

    @cached_property
    def link_texts(self) -> dict[Element, str]:
        return {}

    def css(self, selector: str) -> list[Element]:
        return css(self.root, selector)


def document(page: Page) -> Document:
    """Decode a fetched page, to be parsed on demand. Raises ``NotApplicable`` (``too-many-tags``, ``too-many-attributes``) for one that
    would take gigabytes. There are at most as many text nodes as tags, and depth is limited by the parser."""
    html, encoding = decode(page.body, page.content_type)
    size = len(html)  # a page with fewer characters cannot have so many tags, nor attributes, of which each has two
    if size > MAX_TAGS and (tags := html.count("<", 0, MAX_CHARS)) > MAX_TAGS:
        raise NotApplicable("too-many-tags", f"{tags} tags, more than {MAX_TAGS}")
    if size > 2 * MAX_ALL_ATTRIBUTES and (number := count_attributes(html[:MAX_CHARS])) > MAX_ALL_ATTRIBUTES:
        raise NotApplicable("too-many-attributes", f"{number} attributes, more than {MAX_ALL_ATTRIBUTES}")
    return Document(url=page.url, html=html, encoding=encoding)


def from_text(html: str, url: str = "about:blank") -> Document:
    """Create a document from decoded text (for tests and users of the library)."""
    return Document(url=url, html=html)


def parse_html(html: str) -> Element:
    """Parse any text to a tree; never raises for invalid HTML. An empty page gives an empty ``html`` element.

    Time and memory are linear in the text, which is truncated at ``MAX_CHARS`` and ``MAX_TAGS``; the tree is at most about
    ``markup.MAX_DEPTH`` deep, so that recursive operations (deep copies, XPath) cannot overflow the stack. Raises ``MemoryError``.
    """
    data = bounded_html(html[:MAX_CHARS])
    parser = lxml.html.HTMLParser(encoding="utf-8", huge_tree=True, remove_comments=True, remove_pis=True)
    parser.set_element_class_lookup(_PLAIN)  # lxml.html's own lookup is Python code run for every element
    try:
        root = etree.fromstring(data, parser)
    except (etree.ParserError, etree.XMLSyntaxError, ValueError, AssertionError) as error:
        if getattr(error, "code", None) == etree.ErrorTypes.ERR_NO_MEMORY:
            raise MemoryError from error
        root = None
    return lxml.html.document_fromstring("<html><body></body></html>") if root is None else cast("Element", root)


def stream_xml(chunks: Iterable[str], target: XmlTarget) -> None:
    """Pass the elements of an XML text to ``target`` while reading; no tree is built, so memory does not grow with the text.

    Invalid XML is read as far as possible. The caller removes a document type first (entities would be expanded) and stops an endless
    stream by raising from ``target``. Elements nested deeper than libxml2's limit (256) end the reading.
    """
    # "internal": with False, libxml2 passes attributes in which &amp; is written &#38;
    parser = etree.XMLParser(
        target=cast("Any", target),
        recover=True,
        resolve_entities=cast("Any", "internal"),
        no_network=True,
        load_dtd=False,
        encoding="utf-8",
    )
    with contextlib.suppress(etree.XMLSyntaxError):  # it has no elements
        for chunk in chunks:
            parser.feed(chunk.encode("utf-8", "replace"))
        parser.close()


_PLAIN = etree.ElementDefaultClassLookup(element=Element)


def copy_of(node: Element) -> Element:
    """Return a deep copy that may be changed."""
    return copy.deepcopy(node)


_SELECTORS: dict[str, CSSSelector] = {}

MAX_SELECTORS = 10_000
"""Maximum number of compiled selectors in the cache, some kilobytes each, for thousands of sources."""


def path_of(node: Element) -> str:
    """Return the XPath of an element in its page: ``/html/body/div[2]``."""
    return str(node.getroottree().getpath(node))


def css(node: Element, selector: str) -> list[Element]:
    """Return the elements below ``node`` that match a CSS selector, in document order. Raises ``ValueError`` for an invalid selector."""
    compiled = _SELECTORS.get(selector)
    if compiled is None:
        try:
            compiled = CSSSelector(selector, translator=TRANSLATOR)  # type: ignore[arg-type]  # takes one, too
        except Exception as error:  # cssselect's errors have no common public base
            raise ValueError(f"not a CSS selector: {selector!r} ({error})") from error
        if len(_SELECTORS) >= MAX_SELECTORS:
            _SELECTORS.clear()
        _SELECTORS[selector] = compiled
    try:
        return cast("list[Element]", compiled(node))
    except etree.XPathError as error:  # thousands of alternatives
        raise ValueError(f"a CSS selector that is too long: {selector[:60]!r} … ({error})") from error


def xpath(node: Element, expression: str) -> list[object]:
    """Return the result of an XPath expression, always as a list. Raises ``ValueError`` for an invalid expression."""
    try:
        found = node.xpath(expression)
    except etree.XPathError as error:
        raise ValueError(f"not an XPath expression: {expression!r} ({error})") from error
    return list(found) if isinstance(found, list) else [found]


def text_of(node: Element, max_nodes: int | None = None) -> str:
    """Return the visible text below ``node`` on one line, cleaned; only of the first ``max_nodes`` (where many nested ones are read)."""
    return clean("".join(_text(node, " ", max_nodes)) if len(node) else node.text or "")


def html_of(node: Element) -> str:
    """Serialize ``node`` as HTML, without its tail."""
    return str(lxml.html.tostring(node, encoding="unicode", with_tail=False))


def lines_of(node: Element) -> list[str]:
    """Return the visible text below ``node``, one cleaned paragraph per line, without empty lines."""
    return [line for line in map(clean, "".join(_text(node, "\n")).split("\n")) if line]


def text_pieces(top: Element, skipped: frozenset[str] = SKIPPED_TAGS) -> Iterator[tuple[Literal["text", "break"], str]]:
    """Yield the text nodes below ``top`` in document order, with a ``break`` at each line end of the page; a line feed in the source is
    white space except in ``pre``. Not recursive."""
    return (("text", text) if text else ("break", "") for text in _text(top, "", skipped=skipped))


def _text(top: Element, line_end: str, max_nodes: int | None = None, skipped: frozenset[str] = SKIPPED_TAGS) -> Iterator[str]:
    """Yield the text nodes below ``top``, with ``line_end`` at line ends; only of its first ``max_nodes`` elements."""
    walk = etree.iterwalk(top, events=("start", "end"))
    in_pre = 0
    for event, node in walk if max_nodes is None else islice(walk, 2 * max_nodes):
        tag = node.tag
        if event == "start":
            if tag in skipped and node is not top:
                walk.skip_subtree()  # its end event follows, and with it the tail
                continue
            text = node.text
            in_pre += tag == "pre"
        else:
            text = None if node is top else node.tail
            in_pre -= tag == "pre"
        if tag in BREAKING_TAGS:
            yield line_end
        if text:
            yield text.replace("\n", " ") if not in_pre and "\n" in text else text


def walk(top: Element) -> Any:
    """Return an iterator of ``("start" | "end", element)`` for ``top`` and its descendants, in document order; not recursive. Its
    ``skip_subtree()``, called after a ``start``, skips the content; the ``end`` still follows."""
    return etree.iterwalk(top, events=("start", "end"))


def link_of(node: Element, base: str) -> str | None:
    """Return the absolute http(s) URL of a link, without its fragment; ``None`` for anything else."""
    return join(base, node.get("href") or "")


def clean_href(href: str) -> str:
    """Return ``href`` as browsers read it: without tabs and line breaks, other control characters escaped."""
    if href.isprintable():
        return href
    return CONTROL.sub(lambda found: quote(found[0], errors="replace"), re.sub(r"[\t\r\n]", "", href))


SCHEME = re.compile(r"^[a-zA-Z][a-zA-Z0-9+.-]*:")
ABSOLUTE = re.compile(r"https?://[a-zA-Z0-9.-]+(?::\d+)?(?:/[^\s?#;\\\x00-\x20]*(?:\?[^\s#;\\\x00-\x20]+)?)?")
"""The common case, which needs no joining: three quarters of a page's links and pictures."""
MAX_HREF = 8_000  # maximum length of a link: servers need not accept longer ones (RFC 9110, 4.1), and the crawl never requests them
ORIGIN = re.compile(r"https?://[a-zA-Z0-9.-]+(?::\d+)?(?=/)")
ROOT_PATH = re.compile(r"(?:/[!\"$-.0-:<->@-\[\]-~]+)*/?(?:\?[!\"$-:<-\[\]-~]+)?")
"""A path of plain characters, appended to the origin unchanged unless it has a ``.`` or ``..`` to resolve."""
RELATIVE_PATH = re.compile(r"(?!\.)[!$-.0-9<->@-\[\]-~]+(?:/[!$-.0-9<->@-\[\]-~]+)*/?(?:\?[!\"$-:<-\[\]-~]+)?")  # … relative to the page


@lru_cache(maxsize=64)
def _folder(base: str) -> str:
    """Return the base of paths relative to the page, computed once for all its links, because joining takes time per segment."""
    try:
        folder = urljoin(base, ".")
    except ValueError:
        return ""
    return folder if ORIGIN.match(folder) and folder.endswith("/") else ""


def is_of_other_scheme(href: str) -> bool:
    """Return whether ``href`` has a scheme other than http(s) (``javascript:``, ``mailto:``)."""
    return SCHEME.match(href) is not None and not href.lower().startswith(("http:", "https:"))


def join(base: str, href: str, *, fragment: bool = False, max_length: int = MAX_HREF) -> str | None:
    """Resolve ``href`` against ``base`` to an http(s) URL, without its fragment unless ``fragment``; ``None`` for any other."""
    href = href.strip()
    if href[max_length:]:
        return None
    page, mark, place = href.partition("#")
    if not mark or (place and place.isprintable()):
        place = f"#{place}" if fragment and place else ""
        if ABSOLUTE.fullmatch(page):
            return page + place
        if page[:2] == "//" and ABSOLUTE.fullmatch(absolute := f"{base.partition(':')[0]}:{page}"):
            return absolute + place
        if page[:1] == "/" and "/." not in page and ROOT_PATH.fullmatch(page) and (origin := ORIGIN.match(base)):
            return origin[0] + page + place
        if "/." not in page and RELATIVE_PATH.fullmatch(page) and (folder := _folder(base)):
            return folder + page + place
    if not href or href.startswith("#") or is_of_other_scheme(href):
        return None
    try:
        joined = urljoin(base, clean_href(href))
    except ValueError:
        return None
    if not fragment:
        joined = joined.partition("#")[0]
    return joined if joined.startswith(("http://", "https://")) else None
