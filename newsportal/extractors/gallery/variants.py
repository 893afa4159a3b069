"""Recognise copies of one image under several URLs: large and small ones that differ only in a size mark."""

import re
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Final
from urllib.parse import urlsplit

from newsportal.items import Image

SMALL_WORDS: Final = frozenset("thumb thumbs thumbnail thumbnails small mini tiny s t xs sq square preview".split())
BIG_WORDS: Final = frozenset("big large orig origin original full max b l xl hd".split())
MIDDLE_WORDS: Final = frozenset("mid middle medium normal".split())
_WORDS: Final = "|".join(sorted(SMALL_WORDS | BIG_WORDS | MIDDLE_WORDS, key=len, reverse=True))
SIZE: Final = r"(?:[wW]?\d{2,4}[xX*]\d{2,4}|[wW]_?\d{2,4}(?:[_-]?[hH]_?\d{2,4})?)"
SIZE_SUFFIX: Final = re.compile(rf"[-_.](?P<word>{_WORDS}|{SIZE})$", re.IGNORECASE)
SIZE_PREFIX: Final = re.compile(rf"^(?P<word>{_WORDS})[-_]", re.IGNORECASE)
SIZE_FOLDER: Final = re.compile(rf"^(?:{_WORDS}|{SIZE})$", re.IGNORECASE)
FILE_ENDING: Final = re.compile(r"\.(?:jpe?g|png|gif|webp|avif|bmp)$", re.IGNORECASE)
STYLE: Final = re.compile(r"[!@~][\w,.=*-]{1,80}$")  # a size for an image server: ``a.jpg!w640``, ``a.jpg@300w``
RESIZING: Final = re.compile(
    r"(?:^|&)(?:x-oss-process|imageview2|imagemogr2|x-image-process|w|h|width|height|size|quality|q|resize|crop|fit|auto|format|dpr|ssl|strip)\b[^&]*",
    re.IGNORECASE,
)  # query parameters for another size of the same image
NUMBERS: Final = re.compile(r"\d{2,4}")


@dataclass(frozen=True, slots=True)
class Variant:
    """``key``: shared by all copies of an image. ``rank``: 0 small, 1 unmarked or medium, 2 large; ``area``: from the mark."""

    key: str
    rank: int
    area: int


@lru_cache(maxsize=8192)
def parse_variant(url: str) -> Variant:
    """Return which copy of which image a URL is."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return Variant(url, 1, 0)
    path = STYLE.sub("", parts.path)
    folders = path.split("/")
    name = folders.pop()
    ending = FILE_ENDING.search(name)
    name = name[: ending.start()] if ending else name
    marks = [folder for folder in folders if SIZE_FOLDER.match(folder)]
    plain_folders = [folder for folder in folders if not SIZE_FOLDER.match(folder)]
    for form in (SIZE_SUFFIX, SIZE_SUFFIX, SIZE_PREFIX):  # a_thumb_320x240.jpg
        match = form.search(name)
        if match is not None and match.end() - match.start() < len(name):
            marks.append(match["word"])
            name = name[: match.start()] + name[match.end() :]
    query = RESIZING.sub("", parts.query).strip("&")
    size_part = parts.path[len(path) :] + (parts.query if query != parts.query else "")
    key = f"{parts.netloc.lower()}{'/'.join(plain_folders)}/{name}{'?' + query if query else ''}"
    words = {mark.lower() for mark in marks}
    rank = 0 if words & SMALL_WORDS else 2 if words & BIG_WORDS else 1
    # pixels, as far as marked; of one side, its square
    sizes = [[int(number) for number in NUMBERS.findall(mark)[:2]] for mark in (*marks, size_part)]
    return Variant(key, rank, max((side[0] * side[-1] for side in sizes if side), default=0))


def key_of(url: str) -> str:
    return parse_variant(url).key


def add_image(found: dict[str, Image], image: Image) -> None:
    """Add an image by its key; the larger of two copies replaces the first. Equal sizes are two images: ``p_s``, ``p_t``."""
    copy = parse_variant(image.url)
    before = found.get(copy.key)
    if before is None:
        found[copy.key] = image
        return
    other = parse_variant(before.url)
    places = {url.partition("://")[2].partition("?")[0] for url in (image.url, before.url)}
    if len(places) > 1 and (copy.rank, copy.area) == (other.rank, other.area):
        found.setdefault(image.url, image)
        return
    large, small = (image, before) if (copy.rank, copy.area) > (other.rank, other.area) else (before, image)
    found[copy.key] = replace(
        large,
        caption=before.caption or image.caption,
        width=large.width or small.width,
        height=large.height or small.height,
        page=before.page or image.page,
    )
