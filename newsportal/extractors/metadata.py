"""What a page says about itself to machines: ``meta`` elements, JSON-LD, ``link rel``, ``html lang``."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from newsportal import dom
from newsportal.text import clean

ARTICLE_TYPES: Final = re.compile(r"Article|BlogPosting|Report|LiveBlogPosting|WebPage$")
MAX_JSON: Final = 1_000_000
MAX_OBJECTS: Final = 500
"""JSON-LD beyond this size or number of objects describes a catalogue, not an article."""


@dataclass(frozen=True, slots=True)
class Metadata:
    """``names``: the first content of every ``meta`` by its lower-case name, property or itemprop; ``things``: JSON-LD of articles."""

    names: Mapping[str, str] = field(default_factory=dict)
    things: tuple[Mapping[str, Any], ...] = ()
    canonical: str | None = None
    language: str | None = None

    def get(self, name: str) -> str | None:
        return self.names.get(name)

    def article(self, key: str) -> str | None:
        """A text of the JSON-LD article, e.g. ``headline``, ``datePublished``, ``articleBody``."""
        for thing in self.things:
            value = thing.get(key)
            if isinstance(value, str) and value.strip():
                return value.strip()
        return None

    def names_of(self, key: str) -> tuple[str, ...]:
        """The names of persons or organisations under ``key`` of the JSON-LD article."""
        for thing in self.things:
            found = tuple(_names(thing.get(key)))
            if found:
                return found
        return ()


def read_metadata(document: dom.Document) -> Metadata:
    """Everything in one pass over the page. Never raises: broken JSON is left out."""
    root = document.root
    names: dict[str, str] = {}
    things: list[Mapping[str, Any]] = []
    canonical = None
    for node in root.iter("meta", "script", "link"):
        if node.tag == "meta":
            key = node.get("property") or node.get("name") or node.get("itemprop") or ""
            content = clean(node.get("content") or "")
            if key and content:
                names.setdefault(key.strip().lower(), content)
        elif node.tag == "link":
            if canonical is None and "canonical" in (node.get("rel") or "").lower().split():
                canonical = dom.link_of(node, document.base)
        elif "ld+json" in (node.get("type") or "").lower():
            things.extend(_articles(node.text or ""))
    things.sort(key=lambda thing: _type(thing).endswith("WebPage"))
    return Metadata(names, tuple(things), canonical, root.get("lang") or root.get("xml:lang") or names.get("content-language"))


def _type(thing: Mapping[str, Any]) -> str:
    kind = thing.get("@type")
    return str(kind[0]) if isinstance(kind, list) and kind else str(kind)


def _articles(text: str) -> Iterator[Mapping[str, Any]]:
    if len(text) > MAX_JSON:
        return
    try:
        found = json.loads(re.sub(r"^\s*(?:<!--|/\*.*?\*/|//<!\[CDATA\[)|(?:-->|//\]\]>)\s*$", "", text.strip().rstrip(";")), strict=False)
    except (ValueError, RecursionError):
        return
    waiting, seen = [found], 0
    while waiting and seen < MAX_OBJECTS:
        thing, seen = waiting.pop(0), seen + 1
        if isinstance(thing, list):
            waiting.extend(thing)
        elif isinstance(thing, dict):
            if ARTICLE_TYPES.search(_type(thing)):
                yield thing
            waiting.extend(value for key, value in thing.items() if key in ("@graph", "mainEntity", "mainEntityOfPage", "itemListElement"))


def _names(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield clean(value)
    elif isinstance(value, dict):
        yield from _names(value.get("name"))
    elif isinstance(value, list):
        for item in value[:20]:
            yield from _names(item)
