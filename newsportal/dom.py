"""Bytes to trees: the only door to lxml.

A page is decoded once and parsed once; every extractor gets the same :class:`Document`. Trees are read, never changed, unless a
function says that it works on a copy.
"""

from __future__ import annotations

import copy
import re
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING
from urllib.parse import urljoin

import lxml.html
from lxml import etree
from lxml.cssselect import CSSSelector
from lxml.html import HtmlElement as Element

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
    "text_of",
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

    def css(self, selector: str) -> list[Element]:
        return css(self.root, selector)


def document(page: Page) -> Document:
    """Decode and parse-on-demand a fetched page."""
    html, encoding = decode(page.body, page.content_type)
    return Document(url=page.url, html=html, encoding=encoding)


def from_text(html: str, url: str = "about:blank") -> Document:
    """A document from text that is decoded already (tests, the library's users)."""
    return Document(url=url, html=html)


def decode(body: bytes, content_type: str | None = None) -> tuple[str, str]:
    """The text of ``body`` and the encoding used. Header, meta and bytes may disagree; the bytes have the last word."""
    try:
        return body.decode("utf-8"), "utf-8"
    except UnicodeDecodeError:
        return body.decode("gb18030", "replace"), "gb18030"


def parse_html(html: str) -> Element:
    """A tree from any text; never raises for bad HTML. An empty page gives an empty ``html`` element."""
    text = html[:MAX_CHARS].replace("\x00", "")
    parser = lxml.html.HTMLParser(encoding="utf-8", huge_tree=False, remove_comments=True, remove_pis=True)
    try:
        root = lxml.html.document_fromstring(text.encode("utf-8", "replace"), parser=parser)
    except (etree.ParserError, etree.XMLSyntaxError, ValueError):
        root = lxml.html.document_fromstring("<html><body></body></html>")
    return root


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
    return list(compiled(node))


def xpath(node: Element, expression: str) -> list[object]:
    """What an XPath expression gives, always as a list. Raises ``ValueError`` for a bad expression."""
    try:
        found = node.xpath(expression)
    except etree.XPathError as error:
        raise ValueError(f"not an XPath expression: {expression!r} ({error})") from error
    return list(found) if isinstance(found, list) else [found]


def text_of(node: Element) -> str:
    """The visible text below ``node`` on one line, cleaned."""
    return clean("".join(_pieces(node, " ")))


def html_of(node: Element) -> str:
    """``node`` written as HTML again, without what follows it."""
    return str(lxml.html.tostring(node, encoding="unicode", with_tail=False))


def lines_of(node: Element) -> list[str]:
    """The visible text below ``node``, a cleaned paragraph a line, no empty lines."""
    lines = (clean(line) for line in "".join(_pieces(node, "\n")).split("\n"))
    return [line for line in lines if line]


def _pieces(top: Element, brk: str) -> Iterator[str]:
    """Text pieces in document order without recursion (pages nest deeper than Python's stack).

    A line feed in the source is white space like any other; only ``pre`` means it.
    """
    walk = etree.iterwalk(top, events=("start", "end"))
    kept = 0
    for event, node in walk:
        if event == "start":
            if node.tag in SKIPPED and node is not top:
                walk.skip_subtree()
                continue
            kept += node.tag == "pre"
            if node.tag in BREAKING:
                yield brk
            if node.text:
                yield node.text if kept else node.text.replace("\n", " ")
        else:
            kept -= node.tag == "pre"
            if node.tag in BREAKING:
                yield brk
            if node is not top and node.tail:
                yield node.tail if kept else node.tail.replace("\n", " ")


def link_of(node: Element, base: str) -> str | None:
    """The absolute http(s) URL a link points at, without its fragment; ``None`` for anything else."""
    return join(base, node.get("href") or "")


SCHEME = re.compile(r"^[a-zA-Z][a-zA-Z0-9+.-]*:")


def join(base: str, href: str) -> str | None:
    """``href`` resolved against ``base``: an http(s) URL without fragment, or ``None`` (``javascript:``, ``mailto:``, garbage)."""
    href = href.strip()
    if not href or href.startswith("#") or (SCHEME.match(href) and not href.lower().startswith(("http:", "https:"))):
        return None
    if any(ord(character) < 32 for character in href):
        href = re.sub(r"[\t\r\n]", "", href)
    try:
        joined = urljoin(base, href).partition("#")[0]
    except ValueError:
        return None
    return joined if joined.startswith(("http://", "https://")) else None
