"""Extraction rules of wrappers and articles: parsel's selectors (CSS, XPath) or a regular expression, applied to a part of a page.

    h3 a                    CSS; the first element's text (for a link field: its URL)
    a.title@data-url        CSS and an attribute;  @mu alone is an attribute of the block itself
    h3::text                parsel's CSS: the text only; a::attr(href) an attribute
    .//h3/a[@href]          XPath, if it starts with /, ./, ( or xpath:; re:test(…) and has-class(…) as in parsel
    re:<h3><a href="(.*?)"  regular expression on the HTML (paper A's form); the first group, or the entire match

A rule may be a tuple of rules: the first that finds something is used, so that a wrapper can cover old and new layouts of an engine.
"""

import re
from itertools import islice
from typing import Literal, TypeAlias

from newsportal.text import clean, dom
from newsportal.text.dom import Element
from newsportal.text.expressions import compile_expression, find_all

Rule: TypeAlias = str | tuple[str, ...]
Piece: TypeAlias = Element | str  # input and output of a rule: an element, or a string of HTML or text
MAX_INPUT = 2_000_000  # characters; regular expressions get no more input than this. The largest saved result page has 470,000.
MAX_MATCHES = 500
ATTRIBUTE = re.compile(r"^(?P<rule>[^@]*)@(?P<name>[\w:-]+)$")
EMPTY = dom.parse_html("<html><body></body></html>")


def alternatives_of(rule: Rule) -> tuple[str, ...]:
    alternatives = (rule,) if isinstance(rule, str) else rule
    return tuple(item for item in alternatives if item)


def check_rule(rule: Rule) -> None:
    """Check all alternatives of a rule. Raises ``ValueError`` with the reason if one is not CSS, XPath or a regular expression."""
    for item in alternatives_of(rule):
        if _is_pattern(item):
            compile_expression(item.removeprefix("re:").strip(), for_html=True)
        else:
            _elements(EMPTY, item)


def select(piece: Piece, rule: Rule) -> list[Piece]:
    """Return the matches of the first alternative of ``rule`` with any, in page order. Raises ``ValueError`` for an invalid rule."""
    for item in alternatives_of(rule):
        found = _matches(piece, item) if _is_pattern(item) else _elements(dom.parse_html(piece) if isinstance(piece, str) else piece, item)
        if found:
            return found
    return []


def text_of(piece: Piece | None) -> str | None:
    if piece is None:
        return None
    if isinstance(piece, str):
        plain = dom.text_of(dom.parse_html(f"<div>{piece}</div>")) if "<" in piece or "&" in piece else clean(piece)
        return plain or None
    return dom.text_of(piece) or None


def url_of(piece: Piece | None) -> str | None:
    """Return the URL of a link that is the piece, inside it or around it, as written."""
    if piece is None:
        return None
    if isinstance(piece, str):
        return text_of(piece)
    for node in (piece, *piece.iter("a"), *piece.iterancestors("a")):
        if href := (node.get("href") or "").strip():
            return str(href)
    return None


def _is_pattern(rule: str) -> bool:
    return rule.startswith("re:")


def _elements(node: Element, rule: str) -> list[Piece]:
    if rule.startswith(("/", "./", "(", "xpath:")):
        path = rule.removeprefix("xpath:").strip()
        return _by_parsel(node, "xpath", f".{path}" if path.startswith("//") else path)  # relative to the piece, as a rule always is
    if "::" in rule:
        return _by_parsel(node, "css", rule)
    if match := ATTRIBUTE.match(rule):
        nodes = dom.css(node, match["rule"]) if match["rule"].strip() else [node]
        return [value for value in (node.get(match["name"]) for node in nodes) if value]
    return list(dom.css(node, rule))


def _by_parsel(node: Element, language: Literal["css", "xpath"], query: str) -> list[Piece]:
    from cssselect import SelectorError
    from parsel import Selector  # imported here since few rules need it

    try:
        found = getattr(Selector(root=node), language)(query)
    except (ValueError, SelectorError) as error:
        raise ValueError(f"not {'a CSS selector' if language == 'css' else 'an XPath expression'}: {query!r} ({error})") from error
    return [match.root if isinstance(match.root, Element) else str(match.root) for match in found]


def select_in(document: dom.Document, rule: Rule) -> list[Piece]:
    """Like :func:`select` for an entire page: a regular expression is applied to the HTML as received."""
    return select(document.html if any(map(_is_pattern, alternatives_of(rule))) else document.root, rule)


def _matches(piece: Piece, rule: str) -> list[Piece]:
    source = (piece if isinstance(piece, str) else dom.html_of(piece))[:MAX_INPUT]
    return list(islice(find_all(compile_expression(rule.removeprefix("re:").strip(), for_html=True), source), MAX_MATCHES))
