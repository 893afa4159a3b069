"""The elements of a page that show a picture, in document order, each with what stands around it: images, backgrounds, large copies."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Final

from newsportal import dom
from newsportal.extractors.gallery.names import ASIDE, ASIDE_TAGS, BACKGROUND, BACKGROUND_NAMES, LARGE_NAME, SKIPPED, VIEWED
from newsportal.extractors.images import LAZY, PICTURE, source_of

HEADINGS: Final = 3  # headings of a page that are taken for its story's


@dataclass(slots=True)
class Met:
    """An element that shows a picture, as the walk finds it."""

    node: dom.Element
    url: str | None
    link: str | None
    large: str | None
    aside: bool
    told: str | None


def walk_pictures(body: dom.Element, base: str) -> Iterator[Met]:
    """Pictures in document order; what stands around one is known without climbing."""
    walk = dom.walk(body)
    # what stands around the page's headings
    titled = {body, *(above for heading in islice(body.iter("h1"), HEADINGS) for above in heading.iterancestors())}
    asides: list[dom.Element] = []
    links: list[dom.Element] = []
    holders: list[tuple[dom.Element, str, str | None]] = []
    for event, node in walk:
        if event == "end":
            if asides and asides[-1] is node:
                asides.pop()
            if links and links[-1] is node:
                links.pop()
            if holders and holders[-1][0] is node:
                _, held, told = holders.pop()
                if held and node.tag != "a":
                    yield Met(node, held, None, None, bool(asides), told)
            continue
        tag = node.tag
        if tag in SKIPPED:
            walk.skip_subtree()
            continue
        if not node.attrib:
            if tag in ASIDE_TAGS:
                asides.append(node)
            continue
        if tag in ASIDE_TAGS or (says(ASIDE, node) and node not in titled):
            asides.append(node)
        if tag == "a":
            links.append(node)
        link = links[-1].get("href") if links else None
        if tag == "img":
            taken, told = _taken(holders)
            yield Met(node, source_of(node, base), link, taken or _large_of(node, base), bool(asides), told)
            continue
        holds = _held(node, base)
        if holds:
            holders.append((node, holds, _told(node)))
            continue
        background = _background(node, base)
        if background:
            yield Met(node, background, link, None, bool(asides), None)


def _taken(holders: list[tuple[dom.Element, str, str | None]]) -> tuple[str | None, str | None]:
    """The large copy that the innermost element around a picture holds: it goes with the first picture inside."""
    if not holders or not holders[-1][1]:
        return None, None
    node, large, told = holders[-1]
    holders[-1] = (node, "", told)
    return large, told


def _held(node: dom.Element, base: str) -> str | None:
    """The large picture that an element holds for the small one inside: ``<a href=big.jpg>``, ``<li data-src=big.jpg>``."""
    if node.tag == "a":
        href = node.get("href") or ""
        viewed = VIEWED.search(href)
        return dom.join(base, viewed[1]) if viewed else dom.join(base, href) if PICTURE.match(href) else None
    if node.tag in ("source", "video", "audio", "input", "link", "meta"):
        return None
    named = (
        value
        for name, value in node.items()
        if (name in LAZY or LARGE_NAME.search(name)) and name.startswith("data") and PICTURE.match(value)
    )
    return next((url for value in named if (url := dom.join(base, value))), None)


def _large_of(node: dom.Element, base: str) -> str | None:
    named = (value for name, value in node.items() if LARGE_NAME.search(name) and PICTURE.match(value))
    return next((url for value in named if (url := dom.join(base, value))), None)


def _told(node: dom.Element) -> str | None:
    names = ("data-caption", "data-sub-html", "data-desc", "data-description", "data-title", "data-intro", "title")
    return next((value for value in map(node.get, names) if value and value.strip()), None)


def _background(node: dom.Element, base: str) -> str | None:
    style = node.get("style")
    match = BACKGROUND.search(style[:5000]) if style and "url(" in style else None
    value = match[1] if match else next((value for value in map(node.get, BACKGROUND_NAMES) if value and PICTURE.match(value)), None)
    return dom.join(base, value.strip()) if value and not value.startswith("data:") else None


def says(pattern: re.Pattern[str], node: dom.Element) -> bool:
    name = f"{node.get('class') or ''} {node.get('id') or ''}"[:200]
    return name != " " and pattern.search(name) is not None
