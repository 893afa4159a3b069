"""Assemble a photo story from its pages, in any order and with duplicates."""

import re
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, fields, replace
from datetime import datetime
from typing import Any, Final

from newsportal.extractors.article.joining import PAGE_MARK
from newsportal.extractors.gallery.further_pages import declared_total, parse_pattern, urls_left
from newsportal.extractors.gallery.variants import add_image
from newsportal.items import Gallery, GalleryPage, Image, Link
from newsportal.text import clean, letters

COUNTER: Final = re.compile(
    r"\s*[（(\[【]\s*\d{1,3}\s*[/／]\s*\d{1,3}\s*[）)\]】]\s*$|\s*[（(\[【]\s*(?:组图|高清组?图|图集?|图片|\d{1,3}\s*[张幅pP])\s*[）)\]】]\s*$"
)  # removed from a story's title: 「（3/12）」, 「(组图)」, 「【12张】」
MIN_SAME_TEXT_SHARE: Final = 0.6  # share of a story's pages that say the same under their pictures: then it is the story's text
TOKEN: Final = re.compile(r"\W*(?:_|pages?[=_-]?|p(?=\d))*(\d{1,4}|[a-zA-Z])?\W*", re.IGNORECASE | re.ASCII)


@dataclass(frozen=True, slots=True)
class Assembly:
    """A story as far as its pages are known. ``missing``: numbers of known pages that were not fetched; ``complete``: none is missing, and
    none is left to fetch. ``pages``: URLs in order."""

    title: str | None
    images: tuple[Image, ...]
    text: str | None
    published: datetime | None
    author: str | None
    origin: str | None
    language: str | None
    total: int | None
    missing: tuple[int, ...]
    complete: bool
    pages: tuple[str, ...] = ()

    def gallery(self, link: Link, fetched: datetime, **about: Any) -> Gallery:
        """Return the story as an item; ``about``: fields that its pages do not have."""
        values = {field.name: getattr(self, field.name) for field in fields(self)} | {"title": self.title or link.title or link.url}
        return Gallery(url=link.url, link=link, fetched=fetched, **values, **about)


def assemble(
    pages: Sequence[GalleryPage], *, link: Link | None = None, pattern: str | None = None, ended: Collection[str] = ()
) -> Assembly:
    """Assemble at least one page: each field from the first page that has it, each image where it occurs first. ``ended``: requested URLs
    that are not pages of the story (dead, soft 404, a circle)."""
    ordered = sort_pages(pages, pattern)
    complete = next((page for page in ordered if page.whole), None)
    used = [complete] if complete is not None else ordered
    total = 1 if complete is not None else declared_total(ordered)
    missing = () if complete is not None else _missing(ordered, total, pattern)
    times = Counter(key for page in used for key in {letters(image.caption) for image in page.images if image.caption})
    least = max(2, MIN_SAME_TEXT_SHARE * len(used))
    repeated = frozenset(key for key, count in times.items() if count >= least)
    found: dict[str, Image] = {}
    lines: dict[str, str] = {}
    for page in used:
        for line in (page.text or "").split("\n"):
            if line.strip():
                lines.setdefault(letters(line), line)
        for image in page.images:
            if image.caption and letters(image.caption) in repeated:
                lines.setdefault(letters(image.caption), image.caption)
                image = replace(image, caption=None)
            add_image(found, replace(image, page=image.page or page.url))
    captions = {letters(image.caption) for image in found.values() if image.caption}
    text_lines = [line for key, line in lines.items() if key and key not in captions]
    link_titles = [link.title] if link is not None and link.title else []
    return Assembly(
        title=next((title for title in map(bare_title, (*(page.title for page in ordered), *link_titles)) if title), None),
        images=tuple(found.values()),
        text="\n".join(text_lines) or None,
        published=next((page.published for page in ordered if page.published), None) or (link.published if link is not None else None),
        author=next((page.author for page in ordered if page.author), None),
        origin=next((page.origin for page in ordered if page.origin), None),
        language=next((page.language for page in ordered if page.language), None),
        total=total,
        missing=missing,
        complete=not missing and not urls_left(ordered, ended, pattern),
        pages=tuple(dict.fromkeys(page.url for page in ordered)),
    )


def bare_title(title: str | None) -> str | None:
    """Return a title without page number and number of images."""
    before, after = None, clean(title or "")
    while after != before:
        before, after = after, COUNTER.sub("", PAGE_MARK.sub("", after)).strip()
    return after or None


def sort_pages(pages: Sequence[GalleryPage], pattern: str | None = None) -> list[GalleryPage]:
    """Return every page once, in order: by number, else by their links to one another, else by URL."""
    latest = {page.url.partition("#")[0]: page for page in pages}
    numbers = number_pages(list(latest.values()), pattern)
    places_in = {url: at for at, url in enumerate(_chain(list(latest.values())))}
    far = len(places_in)
    return sorted(
        latest.values(),
        key=lambda page: (numbers.get(page.url) or 0, places_in.get(page.url, far)) if numbers else (places_in.get(page.url, far), 0),
    )


def number_pages(pages: Sequence[GalleryPage], pattern: str | None = None) -> dict[str, int]:
    """Return URL → page number if all pages have distinct numbers; else empty."""
    form = parse_pattern(pattern) if pattern else None
    by_pattern = {page.url: form.number(page.url) for page in pages} if form is not None else {}
    sources = (by_pattern, {page.url: page.number for page in pages}, _by_address(pages))
    for found in sources:
        numbers = {url: number for url, number in found.items() if number is not None}
        if len(numbers) == len(pages) and len(set(numbers.values())) == len(numbers):
            return numbers
    return {}


def _by_address(pages: Sequence[GalleryPage]) -> dict[str, int | None]:
    """Return the part that distinguishes each URL, a number or a letter; ``None`` if it is neither."""
    urls = [page.url for page in pages]
    if len(urls) < 2:
        return {}
    start = _shared(urls)
    end = _shared([url[start:][::-1] for url in urls])
    found: dict[str, int | None] = {}
    for url in urls:
        token = TOKEN.fullmatch(url[start : len(url) - end])
        mark = (token[1] or "1") if token else None
        found[url] = None if mark is None else int(mark) if mark.isdecimal() else ord(mark.lower()) - ord("a") + 1
    return found


def _shared(texts: Sequence[str]) -> int:
    """Return the length of the common prefix, without splitting a number."""
    least = min(map(len, texts))
    at = next((at for at in range(least) if len({text[at] for text in texts}) > 1), least)
    while at > 0 and texts[0][at - 1].isdecimal() and any(text[at : at + 1].isdecimal() for text in texts):
        at -= 1
    return at


def _chain(pages: Sequence[GalleryPage]) -> Iterator[str]:
    """Yield URLs in the order of the pages' lists and next links, starting at a page without a predecessor."""
    by_url = {page.url: page for page in pages}
    targets = {page.next for page in pages if page.next}
    longest = max((page.pages for page in pages), key=len, default=())
    starts = [page.url for page in pages if page.url not in targets] or list(by_url)[:1]
    seen: set[str] = set()
    for url in (*longest, *starts, *by_url):
        current: str | None = url
        while current is not None and current not in seen:
            seen.add(current)
            yield current
            current = by_url[current].next if current in by_url else None


def _missing(pages: Sequence[GalleryPage], total: int | None, pattern: str | None) -> tuple[int, ...]:
    numbers = number_pages(pages, pattern)
    present = set(numbers.values())
    if not numbers:
        return tuple(range(len(pages) + 1, total + 1)) if total else ()
    lowest = 0 if 0 in present else 1  # some sites count from 0
    highest = max(max(present), (total or 0) - 1 + lowest)
    return tuple(number for number in range(lowest, highest + 1) if number not in present)
