"""The pictures of an article: those in its body with their captions; the picture that the page names where the body has none."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import replace
from typing import Final

from newsportal import dom
from newsportal.extractors.captions import caption_of
from newsportal.extractors.metadata import Metadata
from newsportal.items import Image

LAZY: Final = ("data-original", "data-src", "data-lazy-src", "data-lazyload", "data-actualsrc", "data-url", "data-echo", "_src")
"""Where the real address stands while ``src`` holds a placeholder."""

SETS: Final = ("srcset", "data-srcset", "data-lazy-srcset")
PICTURE: Final = re.compile(
    r"^(?:https?:)?/?/?[^\s\"'<>]{1,1000}\.(?:jpe?g|png|gif|webp|avif|bmp)(?:[?!@&_-][^\s\"'<>]{0,500})?$", re.IGNORECASE
)
"""What looks like the address of a picture, whatever the attribute is called."""

OTHER_ATTRIBUTES: Final = frozenset(
    ("src", "alt", "title", "class", "id", "style", "srcset", "width", "height", "onclick", "onerror", "onload")
)

SMALL: Final = 60  # pixels: smaller pictures are icons and counters

MAX_IMAGES: Final = 100
MAX_URL_CHARS: Final = 3000
ICON: Final = re.compile(
    r"(?:^|[/_.-])(?:logo|icons?|avatar|blank|spacer|pixel|loading|lazyload|placeholder|transparent|grey|gray|default|qr_?code|ewm|erweima|1x1|btn|button"
    r"|share|emoji|smil(?:ey|ies)|counter|tracker|tracking|beacon|hit|stat)(?:\d{0,3})(?:[/_.?-]|$)",
    re.IGNORECASE,
)
"""Addresses of pictures that are no part of any article: marks, placeholders, counters."""

STYLE_SIZE: Final = re.compile(r"(?:^|;)\s*(width|height)\s*:\s*(\d{1,5})px", re.IGNORECASE)
NAME_SIZE: Final = re.compile(r"[/_.-]w?(\d{2,4})(?:x|_h)(\d{2,4})(?=[/_.!-])")
"""``-640x480.jpg``, ``_w640_h480.jpg``: the size as the address tells it."""


def of_article(block: dom.Element | None, document: dom.Document, meta: Metadata) -> tuple[Image, ...]:
    """Every picture once, in the order of the page; the one named by ``og:image`` or JSON-LD alone where the body has none."""
    found: dict[str, Image] = {}
    for node in block.iter("img") if block is not None else ():
        if len(found) >= MAX_IMAGES:
            break
        image = _image(node, document.base)
        if image:
            found.setdefault(image.url, image)
    if not found:
        lead = dom.join(document.base, meta.get("og:image") or meta.get("twitter:image") or meta.article_image() or "")
        if lead and not ICON.search(lead):
            found[lead] = Image(lead, width=_pixels(meta.get("og:image:width")), height=_pixels(meta.get("og:image:height")))
    # a caption that several pictures share, or that is the page's title, tells nothing of the picture
    images = tuple(found.values())
    if not any(image.caption for image in images):
        return images
    title = next((dom.text_of(node) for node in document.root.iter("title")), "")
    times = Counter(image.caption for image in images)
    return tuple(
        replace(image, caption=None) if image.caption and (times[image.caption] > 1 or image.caption in title) else image
        for image in images
    )


def settle(block: dom.Element, base: str) -> None:
    """Give every ``img`` of ``block`` (a copy) the address that it would show in the end: stored pages run no scripts."""
    for node in block.iter("img"):
        url = source_of(node, base)
        if url:
            node.set("src", url)


def source_of(node: dom.Element, base: str) -> str | None:
    """The address of the picture an ``img`` shows in the end."""
    shown = node.get("src")
    named = (value for name, value in node.items() if name not in OTHER_ATTRIBUTES and PICTURE.match(value))
    largest = _largest(next((value for value in map(node.get, SETS) if value), "") or _from_picture(node))
    placeholder = not shown or shown.startswith("data:") or ICON.search(shown)
    for value in (*map(node.get, LAZY), *(named if placeholder else ()), largest, shown):
        url = dom.join(base, value) if value and len(value) < MAX_URL_CHARS else None
        if url:
            return url
    return None


def _from_picture(node: dom.Element) -> str:
    """The ``srcset`` of the first ``source`` beside an ``img`` in a ``picture``."""
    above = node.getparent()
    while above is not None and above.tag == "source":  # libxml2 takes it for an element with an end
        above = above.getparent()
    if above is None or above.tag != "picture":
        return ""
    return next((value for source in above.iter("source") for value in map(source.get, SETS) if value), "")


def _largest(srcset: str) -> str | None:
    """The candidate with the largest width or density."""
    best, most = None, -1.0
    for candidate in re.split(r",\s+|\s,", srcset[:5000]):
        url, _, size = candidate.strip().rstrip(",").partition(" ")
        number = re.match(r"\d+(?:\.\d+)?", size.strip())
        if url and not url.startswith("data:") and (float(number[0]) if number else 1.0) > most:
            best, most = url, float(number[0]) if number else 1.0
    return best


def _image(node: dom.Element, base: str) -> Image | None:
    url = source_of(node, base)
    if not url or ICON.search(url):
        return None
    width, height = size_of(node, url)
    if (width and width < SMALL) or (height and height < SMALL):
        return None
    return Image(url, caption_of(node), width, height)


def size_of(node: dom.Element, url: str) -> tuple[int | None, int | None]:
    """Width and height as attributes or style declare them, else as the address tells them."""
    styled = {name.lower(): value for name, value in STYLE_SIZE.findall(node.get("style") or "")}
    width, height = (_pixels(node.get(name) or styled.get(name)) for name in ("width", "height"))
    named = NAME_SIZE.search(url) if width is None and height is None else None
    return (_pixels(named[1]), _pixels(named[2])) if named else (width, height)


def _pixels(value: str | None) -> int | None:
    match = re.match(r"\s*(\d{1,5})(?:px)?\s*$", value or "")
    return int(match[1]) or None if match else None
