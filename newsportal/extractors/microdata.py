"""Articles that a page marks up with HTML microdata (``itemscope``, ``itemtype``, ``itemprop``), in the shape of JSON-LD.

WHATWG HTML, "Microdata": an item's properties are the ``itemprop`` elements below it that stand in no other item; a property that is an
item itself is an object; the value is ``content``, an address or a ``datetime`` by the kind of element, else the text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from newsportal import dom
from newsportal.extractors.called import called, short_text

ARTICLE: Final = re.compile(r"schema\.org/(?:\w*Article|BlogPosting|SocialMediaPosting|LiveBlogPosting|\w*Report)$")
WRITTEN: Final = re.compile(r"schema\.org/(?:\w{0,30}Article|\w{0,30}Posting|\w{0,30}Report)[\"'\s>]")
"""What a page with such an item has in its markup."""

MAX_ITEMS: Final = 5
MAX_PROPERTIES: Final = 200
MAX_NESTING: Final = 4
MAX_VALUE_CHARS: Final = 2000

ADDRESSES: Final = {
    "a": "href",
    "link": "href",
    "area": "href",
    "img": "src",
    "audio": "src",
    "video": "src",
    "source": "src",
    "iframe": "src",
}
LONG: Final = frozenset(("articlebody", "text", "reviewbody", "comment"))
"""Properties that hold the text itself or other people's: they are read from the page, not from here."""


def microdata_articles(document: dom.Document) -> Iterator[Mapping[str, Any]]:
    """Each article of the page as a JSON-LD object (``@type``, properties). A page without microdata costs one look at its text."""
    count = 0
    for node in called(document, ("schema.org/",), ("itemtype",)) if WRITTEN.search(document.html) else ():
        if node.get("itemscope") is not None and ARTICLE.search((node.get("itemtype") or "").strip()):
            count += 1
            if count > MAX_ITEMS:
                return
            yield _item(node, 0)


def _item(node: dom.Element, depth: int) -> dict[str, Any]:
    found: dict[str, Any] = {"@type": (node.get("itemtype") or "Thing").strip().rpartition("/")[2]}
    if node.get("itemid"):
        found["@id"] = node.get("itemid")
    for number, (name, element) in enumerate(_properties(node)):
        if number >= MAX_PROPERTIES:
            break
        if name.lower() in LONG:
            continue
        nested = element.get("itemscope") is not None
        value = _item(element, depth + 1) if nested and depth < MAX_NESTING else _value(element)
        if not value:
            continue
        if name not in found:
            found[name] = value
        elif isinstance(found[name], list):
            found[name].append(value)
        else:
            found[name] = [found[name], value]
    return found


def _properties(node: dom.Element) -> Iterator[tuple[str, dom.Element]]:
    """The named elements that belong to this item, in document order; never recursive."""
    waiting = list(reversed(node))
    while waiting:
        element = waiting.pop()
        for name in (element.get("itemprop") or "").split():
            yield name, element
        if element.get("itemscope") is None:
            waiting.extend(reversed(element))


def _value(node: dom.Element) -> str:
    content = node.get("content")
    if content is not None:
        return str(content).strip()[:MAX_VALUE_CHARS]
    address = ADDRESSES.get(node.tag)
    if address and node.get(address):
        return str(node.get(address)).strip()[:MAX_VALUE_CHARS]
    if node.tag in ("time", "data", "meter"):
        told = node.get("datetime") or node.get("value")
        if told:
            return str(told).strip()
    return short_text(node)[:MAX_VALUE_CHARS]
