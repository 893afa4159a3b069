"""Images of an article: those in its body, with captions; if there are none, the page's lead image (``og:image``, JSON-LD)."""

import re
from collections import Counter
from dataclasses import replace
from itertools import islice
from typing import Final

from newsportal.extractors.fields.metadata import Metadata
from newsportal.items import Image
from newsportal.text import clean, dom

# Captions: ``figcaption``, elements with a caption-like class, a line below the image that reads like a caption, else ``alt``.

MAX_CAPTION_CHARS: Final = 300
MAX_LINE_CHARS: Final = 120  # A longer line below an image is a paragraph
CAPTION_NAME: Final = re.compile(
    r"caption|(?<![a-z])(?:img|image|pic|photo|figure)[-_]?(?:desc|info|text|txt|title|note)|tuzhu|tushuo|picsm", re.IGNORECASE
)
CAPTION_START: Final = re.compile(
    r"^[▲△↑◀▼【\[(（]{0,2}\s?(?:[上下左右本]?[图圖](?:为|為|[:：/／|｜]|\d{1,2}[^\d个]|说|說|片[:：说說])|资料[图圖]|資料[图圖]|[图圖]片来源|[▲△↑])|^[▲△↑]"
    r"|^(?:photo|image|picture|foto)\b[\s:/]",
    re.IGNORECASE,
)
CAPTION_END: Final = re.compile(r"(?:摄|攝|摄影|攝影|供图|供圖|资料图|資料圖|资料图片|视觉中国|图片社|制图)\s?[)）】\]。]?$")
NO_CAPTION: Final = re.compile(
    r"^(?:img|image|picture|photo|图片|圖片|\W*|\d+|点击.*|[\w-]+\.(?:jpe?g|png|gif|webp)|[!-~]*\d[!-~]*)$", re.IGNORECASE
)
WRAPPER_TAGS: Final = frozenset("a p div center span strong td picture figure font".split())


def caption_of(node: dom.Element) -> str | None:
    """Return the caption of an ``img``, or ``None``."""
    figures = islice(node.iterancestors("figure"), 1)
    captions = (dom.text_of(caption)[:MAX_CAPTION_CHARS] for figure in figures for caption in figure.iter("figcaption"))
    if found := next(filter(None, captions), None) or _caption_below(node):
        return found
    texts = (clean(node.get(name) or "")[:MAX_CAPTION_CHARS] for name in ("alt", "title", "data-caption"))
    return next((text for text in texts if text and not NO_CAPTION.match(text)), None)


def _caption_below(node: dom.Element) -> str | None:
    """Return the text after the image, on its own line or in the next element, if it reads like a caption."""
    for _ in range(3):
        if tail := clean(node.tail or ""):
            return tail if _is_caption_like(tail) else None
        after = node.getnext()
        while after is not None and after.tag == "br" and not clean(after.tail or ""):
            after = after.getnext()
        if after is not None:
            return _text_after(after)
        above = node.getparent()
        if above is None or above.tag not in WRAPPER_TAGS:
            break
        node = above
    return None


def _text_after(after: dom.Element) -> str | None:
    if after.tag == "br":
        text = clean(after.tail or "")
        return text if _is_caption_like(text) else None
    if next(after.iter("img"), None) is not None:
        return None
    text = dom.text_of(after)
    if not 2 <= len(text) <= MAX_CAPTION_CHARS:
        return None
    match = CAPTION_NAME.search(f"{after.get('class') or ''} {after.get('id') or ''}")
    return text if match or _is_caption_like(text) else None


def _is_caption_like(text: str) -> bool:
    return 2 <= len(text) <= MAX_LINE_CHARS and (CAPTION_START.search(text) or CAPTION_END.search(text)) is not None


# Attributes that hold the real URL while ``src`` is a placeholder.
LAZY_ATTRIBUTES: Final = ("data-original", "data-src", "data-lazy-src", "data-lazyload", "data-actualsrc", "data-url", "data-echo", "_src")
SRCSET_ATTRIBUTES: Final = ("srcset", "data-srcset", "data-lazy-srcset")
IMAGE_URL: Final = re.compile(
    r"^(?:https?:)?/?/?[^\s\"'<>]{1,1000}\.(?:jpe?g|png|gif|webp|avif|bmp)(?:[?!@&_-][^\s\"'<>]{0,500})?$", re.IGNORECASE
)  # matches image URLs, in an attribute of any name
OTHER_ATTRIBUTES: Final = frozenset(
    ("src", "alt", "title", "class", "id", "style", "srcset", "width", "height", "onclick", "onerror", "onload")
)
ICON_SIDE: Final = 60  # pixels: smaller pictures are icons and counters
MAX_IMAGES: Final = 100
MAX_URL_CHARS: Final = 3000
ICON: Final = re.compile(
    r"(?:^|[/_.-])(?:logo|icons?|avatar|blank|spacer|pixel|loading|lazyload|placeholder|transparent|grey|gray|default|qr_?code|ewm|erweima|1x1|btn|button"
    r"|share|emoji|smil(?:ey|ies)|counter|tracker|tracking|beacon|hit|stat)(?:\d{0,3})(?:[/_.?-]|$)",
    re.IGNORECASE,
)  # URLs of images that are not part of an article: logos, placeholders, counters
STYLE_SIZE: Final = re.compile(r"(?:^|;)\s*(width|height)\s*:\s*(\d{1,5})px", re.IGNORECASE)
NAME_SIZE: Final = re.compile(r"[/_.-]w?(\d{2,4})(?:x|_h)(\d{2,4})(?=[/_.!-])")  # ``-640x480.jpg``, ``_w640_h480.jpg``


def collect_images(block: dom.Element | None, document: dom.Document, meta: Metadata) -> tuple[Image, ...]:
    """Return each image once, in page order; the image of ``og:image`` or JSON-LD only if the body has none."""
    from newsportal.net.egress.addresses import points_to_internal  # loaded late: the HTTP client comes with it

    found: dict[str, Image] = {}
    for node in block.iter("img") if block is not None else ():
        if len(found) >= MAX_IMAGES:
            break
        url = source_of(node, document.base)
        if not url or ICON.search(url) or points_to_internal(url, document.base):
            continue
        width, height = size_of(node, url)
        if not (width and width < ICON_SIDE) and not (height and height < ICON_SIDE):
            found.setdefault(url, Image(url, caption_of(node), width, height))
    if not found:
        lead = dom.join(document.base, meta.get("og:image") or meta.get("twitter:image") or meta.article_image() or "")
        if lead and not ICON.search(lead) and not points_to_internal(lead, document.base):
            found[lead] = Image(lead, width=_pixels(meta.get("og:image:width")), height=_pixels(meta.get("og:image:height")))
    # a caption shared by several images, or contained in the page's title, does not describe the image
    images = tuple(found.values())
    if not any(image.caption for image in images):
        return images
    title = next((dom.text_of(node) for node in document.root.iter("title")), "")
    times = Counter(image.caption for image in images)
    return tuple(
        replace(image, caption=None) if image.caption and (times[image.caption] > 1 or image.caption in title) else image
        for image in images
    )


def set_final_sources(block: dom.Element, base: str) -> None:
    """Set ``src`` of every ``img`` in ``block`` (a copy) to its final URL: stored pages run no scripts."""
    for node in block.iter("img"):
        if url := source_of(node, base):
            node.set("src", url)


def source_of(node: dom.Element, base: str) -> str | None:
    """Return the URL of the image that an ``img`` finally shows (lazy loading, ``srcset``)."""
    src = node.get("src")
    others = (value for name, value in node.items() if name not in OTHER_ATTRIBUTES and IMAGE_URL.match(value))
    above = node.getparent()
    while above is not None and above.tag == "source":  # libxml2 parses it as an element with content
        above = above.getparent()
    sources = above.iter("source") if above is not None and above.tag == "picture" else ()
    largest = _largest(next((value for source in (node, *sources) for value in map(source.get, SRCSET_ATTRIBUTES) if value), ""))
    placeholder = not src or src.startswith("data:") or ICON.search(src)
    for value in (*map(node.get, LAZY_ATTRIBUTES), *(others if placeholder else ()), largest, src):
        if value and len(value) < MAX_URL_CHARS and (url := dom.join(base, value)):
            return url
    return None


def _largest(srcset: str) -> str | None:
    best, most = None, -1.0
    for candidate in re.split(r",\s+|\s,", srcset[:5000]):
        url, _, size = candidate.strip().rstrip(",").partition(" ")
        number = re.match(r"\d+(?:\.\d+)?", size.strip())
        if url and not url.startswith("data:") and (float(number[0]) if number else 1.0) > most:
            best, most = url, float(number[0]) if number else 1.0
    return best


def size_of(node: dom.Element, url: str) -> tuple[int | None, int | None]:
    """Return width and height from attributes or style, else from the URL."""
    styled = {name.lower(): value for name, value in STYLE_SIZE.findall(node.get("style") or "")}
    width, height = (_pixels(node.get(name) or styled.get(name)) for name in ("width", "height"))
    match = NAME_SIZE.search(url) if width is None and height is None else None
    return (_pixels(match[1]), _pixels(match[2])) if match else (width, height)


def _pixels(value: str | None) -> int | None:
    match = re.match(r"\s*(\d{1,5})(?:px)?\s*$", value or "")
    return int(match[1]) or None if match else None
