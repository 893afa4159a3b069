"""Read one record of a slideshow's data: its image, its caption, and whether it links to another page."""

import re
from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any, Final

from newsportal.extractors.gallery.variants import key_of, parse_variant
from newsportal.extractors.images.article_images import ICON, ICON_SIDE, IMAGE_URL
from newsportal.items import Image
from newsportal.text import clean, dom, letters

MAX_CAPTION_CHARS: Final = 1_500
BIG_KEY: Final = re.compile(r"big|large|orig|full|raw|hd|max|high|super|desktop", re.IGNORECASE)
SMALL_KEY: Final = re.compile(
    r"thumb|small|mini|tiny|icon|square|avatar|cover|poster|(?:^|_)(?:s|t|ns|sm|th)_?(?:img|pic|url|src)|mobile|head|logo|preview|placeholder|blur",
    re.IGNORECASE,
)
IMAGE_NAME_KEY: Final = re.compile(r"img|image|pic|photo|src", re.IGNORECASE)
PICTURE_KEY: Final = re.compile(r"img|image|pic|photo|src|url|uri|href|file|path|address", re.IGNORECASE)
CAPTION_KEYS: Final = (
    *("note", "caption", "captions", "desc", "description", "intro", "introduction", "summary", "text", "txt", "content", "word", "words"),
    *("abstract", "subhtml", "remark", "memo", "info", "comment", "body", "sub"),
    *("legend", "alt", "alttext", "alt_text", "synopsis", "title", "subtitle", "headline", "label", "name"),
)  # keys of captions, likeliest first; matched without prefixes (``picDesc``, ``photo_intro``)
PLAIN_KEY: Final = re.compile(r"(?<=\w{3})(?:html|markup|plain|zh|cn)$")
LINK_KEY: Final = re.compile(
    r"^(?:url|link|href|docurl|pageurl|page_url|weburl|arturl|article_?url|target|permalink|sourceurl|seturl)$", re.IGNORECASE
)
IMAGE_ADDRESS: Final = re.compile(r"^(?:https?:)?//[^\s\"'<>]{4,2000}$|^/[^\s\"'<>]{2,2000}$")


def picture_of(record: Mapping[str, Any], base: str) -> Image | None:
    """Return the image of a record: the largest copy in it or in a nested object."""
    best: tuple[tuple[int, int], str, Mapping[str, Any]] | None = None
    for key, value, owner in _texts(record):
        if "@" in key or (not PICTURE_KEY.search(key) and not (value.lower().startswith(("http", "//", "/")) and IMAGE_URL.match(value))):
            continue
        if not (IMAGE_URL.match(value) or (IMAGE_NAME_KEY.search(key) and IMAGE_ADDRESS.match(value))):
            continue
        rank = (2 if BIG_KEY.search(key) else 0 if SMALL_KEY.search(key) else 1, _pixels(owner.get("width")) or 0)
        if best is None or rank > best[0]:
            best = (rank, value, owner)
    url = image_url(best[1], base) if best is not None else None
    if best is None or url is None or ICON.search(url):
        return None
    owner = best[2]
    width, height = (_pixels(owner.get(long) or owner.get(short)) for long, short in (("width", "w"), ("height", "h")))
    return None if (width and width < ICON_SIDE) or (height and height < ICON_SIDE) else Image(url, _caption(record), width, height)


def _texts(record: Mapping[str, Any]) -> Iterator[tuple[str, str, Mapping[str, Any]]]:
    """Yield the texts of a record and of nested objects, with their key and the object that contains them."""
    waiting: list[tuple[str, Any, Mapping[str, Any], int]] = [("", record, record, 0)]
    count = 0
    while waiting and count < 200:
        key, value, owner, depth = waiting.pop(0)
        count += 1
        if isinstance(value, str):
            yield key, value.strip()[:3000], owner
        elif isinstance(value, dict) and depth < 4:
            waiting.extend((f"{key} {name}".strip() if depth else str(name), inner, value, depth + 1) for name, inner in value.items())
        elif isinstance(value, list) and depth < 4:
            waiting.extend((key, inner, owner, depth + 1) for inner in value[:10])


def _caption(record: Mapping[str, Any]) -> str | None:
    by_key = {PLAIN_KEY.sub("", re.sub(r"[_-]", "", str(key)).lower()): value for key, value in reversed(list(record.items()))}
    for name in CAPTION_KEYS:
        for key, value in by_key.items():
            if key == name.replace("_", "") or (len(name) > 3 and key.endswith(name) and not key.startswith(("site", "user", "author"))):
                text = words_of(value)
                if text and not IMAGE_URL.match(text):
                    return text
    inner = (value for value in record.values() if isinstance(value, dict))
    texts = (words_of(value.get(key)) for value in inner for key in CAPTION_KEYS)
    return next((text for text in texts if text and not IMAGE_URL.match(text)), None)


def words_of(value: Any) -> str | None:
    if isinstance(value, dict):
        value = value.get("text") or value.get("plain") or value.get("html")
    if not isinstance(value, str) or not value.strip():
        return None
    text = dom.text_of(dom.parse_html(value)) if "<" in value or "&" in value else clean(value)
    return text[:MAX_CAPTION_CHARS] or None


def links_elsewhere(record: Mapping[str, Any], picture: str, base: str) -> bool:
    """Return whether the record links to a page other than the current one."""
    for key, value in record.items():
        if isinstance(value, str) and LINK_KEY.match(str(key)) and value.strip() and not value.startswith(("#", "javascript:")):
            url = image_url(value, base)
            if url is not None and url != picture and not IMAGE_URL.match(value) and url.rstrip("/") != base.partition("#")[0].rstrip("/"):
                return key_of(url) != key_of(picture)
    return False


def image_url(value: str, base: str) -> str | None:
    return dom.join(base, value.strip().replace("&amp;", "&"))


def _pixels(value: Any) -> int | None:
    if isinstance(value, str) and value.strip().isdecimal() and len(value) < 6:
        value = int(value)
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 < value < 100_000 else None


# Slideshows whose data are written out as elements, mostly hidden: a record an element, the picture's address as text beside its words.
# <dl><dt>老桥</dt><dd>https://i.example/1.jpg</dd><dd>桃花盛开。</dd></dl>   <dl>…

MAX_ADDRESSES: Final = 2_000
MAX_PARTS: Final = 20  # Elements of a record
MIN_CAPTION_LETTERS: Final = 4  # letters of a caption


def records_in_attributes(document: dom.Document) -> Iterator[tuple[str, list[dict[str, Any]]]]:
    """Yield lists of records like :func:`newsportal.extractors.gallery.script_values.find_values`, each with its element's id and class."""
    lists: dict[int, tuple[dom.Element, dict[int, dom.Element]]] = {}  # what is held keeps its id
    leaves = (node for node in document.root.iter() if isinstance(node.tag, str) and len(node) == 0 and _address(node))
    for leaf in islice(leaves, MAX_ADDRESSES):
        record = leaf.getparent()
        around = record.getparent() if record is not None else None
        if record is not None and around is not None and record.tag not in ("body", "html"):
            lists.setdefault(id(around), (around, {}))[1].setdefault(id(record), record)
    for around, records in lists.values():
        yield f"slides {around.get('id') or ''} {around.get('class') or ''}".strip(), [_record(record) for record in records.values()]


def _address(node: dom.Element) -> str | None:
    text = (node.text or "")[:2_100].strip()
    return text if text.startswith(("http://", "https://", "//")) and IMAGE_URL.match(text) else None


def _record(node: dom.Element) -> dict[str, Any]:
    """Return the largest copy (the first of several) and the longest text beside the URLs."""
    urls, texts = [], []
    for part in islice(node, MAX_PARTS):
        if len(part) == 0 and (url := _address(part)):
            urls.append(url)
        else:  # records may hold one another, so a whole text is never read
            pieces = (piece[:MAX_CAPTION_CHARS] for piece in islice(part.itertext(), MAX_PARTS))
            texts.append(clean("".join(pieces))[:MAX_CAPTION_CHARS])
    words = max((text for text in texts if _says(text) >= MIN_CAPTION_LETTERS), key=_says, default="")
    return {"img": max(urls, key=lambda url: parse_variant(url).rank, default=""), "note": words}


def _says(text: str) -> int:
    return sum(not letter.isdecimal() for letter in letters(text))
