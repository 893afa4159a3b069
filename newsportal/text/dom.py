"""Bytes to trees: the only door to lxml.

A page is decoded once and parsed once; every extractor gets the same :class:`Document`. Trees are read, never changed, unless a
function says that it works on a copy.
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
from newsportal.text.markup import BREAKING, MAX_ALL_ATTRIBUTES, MAX_TAGS, count_attributes, guarded
from newsportal.text.steps import SKIPPED, Step, read_steps, visible_lines

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from typing import Protocol

    from newsportal.items import Page

    class XmlTarget(Protocol):
        """Who is told of the elements of a stream. Names are ``{namespace}name``; ``close`` is called at its end."""

        def start(self, tag: str, attributes: Mapping[str, str]) -> None: ...
        def end(self, tag: str) -> None: ...
        def data(self, text: str) -> None: ...
        def close(self) -> None: ...


class Translator(HTMLTranslator):
    """``a ~ b`` asks of each ``b`` whether an ``a`` stands before it. Collecting what follows each ``a``, as cssselect has it, takes
    libxml2 twenty seconds on a page of 3,000 paragraphs, and whoever writes rules may write ``p ~ p`` (threats B)."""

    def xpath_indirect_adjacent_combinator(self, left: XPathExpr, right: XPathExpr) -> XPathExpr:
        if left.path:  # it says of elements further up what they are, too
            return super().xpath_indirect_adjacent_combinator(left, right)
        return right.add_condition(f"preceding-sibling::{left}")


TRANSLATOR: Final = Translator()

__all__ = [
    "BREAKING", "MAX_TAGS", "SKIPPED", "Document", "Element", "copy_of", "css", "decode", "document", "from_text", "html_of", "join",
    "lines_of", "link_of", "parse_html", "path_of", "pieces", "stream_xml", "text_of", "walk", "xpath",
]  # fmt: skip

MAX_CHARS = 8_000_000  # longer pages are cut: ten times the longest article page of the development set


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
            if href := (node.get("href") or "").strip():
                return join(self.url, href) or self.url
        return self.url

    @cached_property
    def steps(self) -> list[Step]:
        """The page walked once, for all who walk it."""
        return read_steps(walk(self.root))

    @cached_property
    def lines(self) -> tuple[str, ...]:
        """The visible text of the page, a cleaned line each; made once for all who look for dates and names in it.

        The first ``MAX_TEXT`` characters are read, of ``MAX_LINES`` lines at most.

        A tab stands where an inline element begins or ends: 「来源：某网」 and 「作者：某某」 in two ``span`` are two statements.
        """
        return visible_lines(self.steps)

    @cached_property
    def link_texts(self) -> dict[Element, str]:
        """The texts of its links, as far as they have been read."""
        return {}

    def css(self, selector: str) -> list[Element]:
        return css(self.root, selector)


def document(page: Page) -> Document:
    """Decode and parse-on-demand a fetched page. Raises ``NotApplicable`` (``too-many-tags``, ``too-many-attributes``) for one that would
    take gigabytes. Text nodes are as many as tags, at most, and depth is bounded where it is parsed."""
    html, encoding = decode(page.body, page.content_type)
    size = len(html)  # a page of fewer characters cannot have so many tags, nor attributes, of which each has two
    if size > MAX_TAGS and (tags := html.count("<", 0, MAX_CHARS)) > MAX_TAGS:
        raise NotApplicable("too-many-tags", f"{tags} tags, more than {MAX_TAGS}")
    if size > 2 * MAX_ALL_ATTRIBUTES and (number := count_attributes(html[:MAX_CHARS])) > MAX_ALL_ATTRIBUTES:
        raise NotApplicable("too-many-attributes", f"{number} attributes, more than {MAX_ALL_ATTRIBUTES}")
    return Document(url=page.url, html=html, encoding=encoding)


def from_text(html: str, url: str = "about:blank") -> Document:
    """A document from text that is decoded already (tests, the library's users)."""
    return Document(url=url, html=html)


def parse_html(html: str) -> Element:
    """A tree from any text; never raises for bad HTML. An empty page gives an empty ``html`` element.

    Time and memory are linear in the text, which is cut at ``MAX_CHARS`` and at ``MAX_TAGS``; the tree is at most about
    ``markup.MAX_DEPTH`` deep, so that nothing that walks it recursively (deep copies, XPath) can overflow. Raises ``MemoryError`` where
    memory is limited.
    """
    data = guarded(html[:MAX_CHARS])
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
    """Tell ``target`` of the elements of an XML text as it comes; no tree is kept, so memory does not grow with the text.

    Broken XML gives what can be had of it. The caller takes a document type out before (entities would be filled in) and stops what goes
    on without end by raising from ``target``. Elements nested deeper than libxml2's limit (256) end the reading.
    """
    # "internal": with False, libxml2 hands on attributes in which &amp; is written &#38;
    parser = etree.XMLParser(
        target=cast("Any", target),
        recover=True,
        resolve_entities=cast("Any", "internal"),
        no_network=True,
        load_dtd=False,
        encoding="utf-8",
    )
    with contextlib.suppress(etree.XMLSyntaxError):  # nothing in it is an element
        for chunk in chunks:
            parser.feed(chunk.encode("utf-8", "replace"))
        parser.close()


_PLAIN = etree.ElementDefaultClassLookup(element=Element)


def copy_of(node: Element) -> Element:
    """A deep copy that may be changed."""
    return copy.deepcopy(node)


_SELECTORS: dict[str, CSSSelector] = {}

MOST_SELECTORS = 10_000
"""Kept compiled, some kilobytes each: those of thousands of sources; who tries rules all day does not fill the memory."""


def path_of(node: Element) -> str:
    """The XPath of an element in its page: ``/html/body/div[2]``."""
    return str(node.getroottree().getpath(node))


def css(node: Element, selector: str) -> list[Element]:
    """The elements below ``node`` that match a CSS selector, in document order. Raises ``ValueError`` for a bad selector."""
    compiled = _SELECTORS.get(selector)
    if compiled is None:
        try:
            compiled = CSSSelector(selector, translator=TRANSLATOR)  # type: ignore[arg-type]  # takes one, too
        except Exception as error:  # cssselect's errors have no common public base
            raise ValueError(f"not a CSS selector: {selector!r} ({error})") from error
        if len(_SELECTORS) >= MOST_SELECTORS:
            _SELECTORS.clear()
        _SELECTORS[selector] = compiled
    try:
        return cast("list[Element]", compiled(node))
    except etree.XPathError as error:  # thousands of alternatives
        raise ValueError(f"a CSS selector that is too long: {selector[:60]!r} … ({error})") from error


def xpath(node: Element, expression: str) -> list[object]:
    """What an XPath expression gives, always as a list. Raises ``ValueError`` for a bad expression."""
    try:
        found = node.xpath(expression)
    except etree.XPathError as error:
        raise ValueError(f"not an XPath expression: {expression!r} ({error})") from error
    return list(found) if isinstance(found, list) else [found]


def text_of(node: Element, most: int | None = None) -> str:
    """The visible text below ``node`` on one line, cleaned; of its first ``most`` elements alone, where many in one another are read."""
    return clean("".join(_text(node, " ", most)) if len(node) else node.text or "")


def html_of(node: Element) -> str:
    """``node`` written as HTML again, without what follows it."""
    return str(lxml.html.tostring(node, encoding="unicode", with_tail=False))


def lines_of(node: Element) -> list[str]:
    """The visible text below ``node``, a cleaned paragraph a line, no empty lines."""
    return [line for line in map(clean, "".join(_text(node, "\n")).split("\n")) if line]


def pieces(top: Element, skipped: frozenset[str] = SKIPPED) -> Iterator[tuple[Literal["text", "break"], str]]:
    """The text nodes below ``top`` in document order, with a ``break`` wherever a line of the page ends; a line feed in the source is white
    space like any other but in ``pre``. Never recursive."""
    return (("text", piece) if piece else ("break", "") for piece in _text(top, "", skipped=skipped))


def _text(top: Element, brk: str, most: int | None = None, skipped: frozenset[str] = SKIPPED) -> Iterator[str]:
    """The text nodes below ``top``, with ``brk`` where a line ends; of its first ``most`` elements alone."""
    walk = etree.iterwalk(top, events=("start", "end"))
    kept = 0
    for event, node in walk if most is None else islice(walk, 2 * most):
        tag = node.tag
        if event == "start":
            if tag in skipped and node is not top:
                walk.skip_subtree()  # its end event follows, and with it the tail
                continue
            text = node.text
            kept += tag == "pre"
        else:
            text = None if node is top else node.tail
            kept -= tag == "pre"
        if tag in BREAKING:
            yield brk
        if text:
            yield text.replace("\n", " ") if not kept and "\n" in text else text


def walk(top: Element) -> Any:
    """``("start" | "end", element)`` for ``top`` and all below it, in document order; never recursive. ``skip_subtree()`` of the result,
    after a ``start``, leaves out what lies inside; the ``end`` still comes."""
    return etree.iterwalk(top, events=("start", "end"))


def link_of(node: Element, base: str) -> str | None:
    """The absolute http(s) URL a link points at, without its fragment; ``None`` for anything else."""
    return join(base, node.get("href") or "")


def printable(href: str) -> str:
    """``href`` as browsers read it: tabs and line breaks dropped, other control characters escaped."""
    if href.isprintable():
        return href
    return CONTROL.sub(lambda found: quote(found[0], errors="replace"), re.sub(r"[\t\r\n]", "", href))


SCHEME = re.compile(r"^[a-zA-Z][a-zA-Z0-9+.-]*:")
ABSOLUTE = re.compile(r"https?://[a-zA-Z0-9.-]+(?::\d+)?(?:/[^\s?#;\\\x00-\x20]*(?:\?[^\s#;\\\x00-\x20]+)?)?")
"""The common case, which needs no joining: three quarters of a page's links and pictures."""
MAX_HREF = 8_000  # characters of a link; a longer one leads nowhere: servers need not take more (RFC 9110, 4.1), and the crawl never asks
ORIGIN = re.compile(r"https?://[a-zA-Z0-9.-]+(?::\d+)?(?=/)")
FROM_ROOT = re.compile(r"(?:/[!\"$-.0-:<->@-\[\]-~]+)*/?(?:\?[!\"$-:<-\[\]-~]+)?")
"""A path in plain characters; it stands behind the origin as it is, unless it has a ``.`` or ``..`` to resolve."""
FROM_HERE = re.compile(r"(?!\.)[!$-.0-9<->@-\[\]-~]+(?:/[!$-.0-9<->@-\[\]-~]+)*/?(?:\?[!\"$-:<-\[\]-~]+)?")  # … beside the page


@lru_cache(maxsize=64)
def _folder(base: str) -> str:
    """Where paths begin that stand beside the page: found once for all its links, since joining takes time for each name in ``base``."""
    try:
        folder = urljoin(base, ".")
    except ValueError:
        return ""
    return folder if ORIGIN.match(folder) and folder.endswith("/") else ""


def is_of_other_scheme(href: str) -> bool:
    """Whether ``href`` names a scheme, and one that is not of the Web (``javascript:``, ``mailto:``)."""
    return SCHEME.match(href) is not None and not href.lower().startswith(("http:", "https:"))


def join(base: str, href: str, *, fragment: bool = False, longest: int = MAX_HREF) -> str | None:
    """``href`` resolved against ``base``: an http(s) URL, without its fragment unless ``fragment``; ``None`` for ``mailto:``, garbage."""
    href = href.strip()
    if href[longest:]:
        return None
    page, mark, place = href.partition("#")
    if not mark or (place and place.isprintable()):
        place = f"#{place}" if fragment and place else ""
        if ABSOLUTE.fullmatch(page):
            return page + place
        if page[:2] == "//" and ABSOLUTE.fullmatch(absolute := f"{base.partition(':')[0]}:{page}"):
            return absolute + place
        if page[:1] == "/" and "/." not in page and FROM_ROOT.fullmatch(page) and (origin := ORIGIN.match(base)):
            return origin[0] + page + place
        if "/." not in page and FROM_HERE.fullmatch(page) and (folder := _folder(base)):
            return folder + page + place
    if not href or href.startswith("#") or is_of_other_scheme(href):
        return None
    try:
        joined = urljoin(base, printable(href))
    except ValueError:
        return None
    if not fragment:
        joined = joined.partition("#")[0]
    return joined if joined.startswith(("http://", "https://")) else None
