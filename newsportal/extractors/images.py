"""The pictures of an article: those in its body with their captions, the lead picture first where the page names one."""

from __future__ import annotations

import re
from typing import Final

from newsportal import dom
from newsportal.extractors.metadata import Metadata
from newsportal.items import Image
from newsportal.text import clean

LAZY: Final = ("data-original", "data-src", "data-lazy-src", "data-lazyload", "data-actualsrc", "data-url", "data-echo", "_src", "src")
"""Where the real address stands while ``src`` holds a placeholder."""

SMALL: Final = 60
"""Pixels: smaller pictures are icons and counters."""

MAX_IMAGES: Final = 100
ICON: Final = re.compile(
    r"(?:^|[/_.-])(?:logo|icon|avatar|blank|spacer|pixel|loading|placeholder|qrcode|ewm|erweima|1x1|btn|button|grey|share)(?:[/_.-]|$)",
    re.IGNORECASE,
)


def of_article(block: dom.Element | None, document: dom.Document, meta: Metadata) -> tuple[Image, ...]:
    """Every picture once, in the order of the page; ``og:image`` alone where the body has none."""
    found: dict[str, Image] = {}
    for node in block.iter("img") if block is not None else ():
        image = _image(node, document.base)
        if image and len(found) < MAX_IMAGES:
            found.setdefault(image.url, image)
    if not found:
        lead = dom.join(document.base, meta.get("og:image") or meta.get("twitter:image") or "")
        if lead and not ICON.search(lead):
            found[lead] = Image(lead)
    return tuple(found.values())


def settle(block: dom.Element, base: str) -> None:
    """Give every ``img`` of ``block`` (a copy) the address that it would show in the end: stored pages run no scripts."""
    for node in block.iter("img"):
        url = source_of(node, base)
        if url:
            node.set("src", url)


def source_of(node: dom.Element, base: str) -> str | None:
    """The address of the picture an ``img`` shows in the end."""
    largest = _largest(node.get("srcset") or node.get("data-srcset") or "")
    for value in (*(node.get(name) for name in LAZY[:-1]), largest, node.get("src")):
        url = dom.join(base, value) if value and len(value) < 3000 else None
        if url:
            return url
    return None


def _largest(srcset: str) -> str | None:
    """The candidate with the largest width or density."""
    best, most = None, -1.0
    for candidate in srcset[:5000].split(", "):
        url, _, size = candidate.strip().rstrip(",").partition(" ")
        number = re.match(r"\d+(?:\.\d+)?", size.strip())
        if url and (float(number[0]) if number else 1.0) > most:
            best, most = url, float(number[0]) if number else 1.0
    return best


def _image(node: dom.Element, base: str) -> Image | None:
    url = source_of(node, base)
    width, height = _pixels(node.get("width")), _pixels(node.get("height"))
    if not url or ICON.search(url) or (width and width < SMALL) or (height and height < SMALL):
        return None
    return Image(url, _caption(node), width, height)


def _pixels(value: str | None) -> int | None:
    match = re.match(r"\s*(\d{1,5})(?:px)?\s*$", value or "")
    return int(match[1]) or None if match else None


def _caption(node: dom.Element) -> str | None:
    for above in node.iterancestors("figure"):
        for caption in above.iter("figcaption"):
            return dom.text_of(caption)[:300] or None
    return clean(node.get("alt") or "")[:300] or None
