"""The article that a page carries in its scripts or for machines, where the visible page is drawn by JavaScript.

Asked are ``articleBody`` of JSON-LD and microdata, and the page's state (:mod:`state`): the longest text in it that reads like an
article's (paragraphs, sentences) and that belongs to this page (its title, or the page's description, agrees).
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final
from urllib.parse import unquote

from newsportal import dom
from newsportal.extractors.date import default_zone, parse_date
from newsportal.extractors.headlines import ENTITY, plain, says_nothing, without_site
from newsportal.extractors.metadata import Metadata
from newsportal.extractors.state import LONG, Held, held_texts
from newsportal.extractors.title import META_TITLES
from newsportal.text import clean, letters

MARKUP: Final = re.compile(r"<(?:p|div|br|span|a|em|section|h[1-6]|figure|img|strong|ul)\b[^<>]{0,500}/?>", re.IGNORECASE)
SENTENCE: Final = re.compile(r"[。！？；]|[.!?][\"'”’)]?(?=\s|$)")
CODE: Final = re.compile(
    r"function\s*\(|=>|[{;]\s*(?:var|let|const|return)\b|\}\s*\.[\w-]+\s*\{|^\s*[.#@][\w-]+[^。]{0,80}\{|base64,|\[\"\$\"", re.MULTILINE
)
MIN_SENTENCES: Final = 2
PROSE: Final = 0.5
"""Share of an article's characters that stand in lines with a sentence mark."""

AGREED: Final = 6  # letters that a title shares with the page's to be the same; a shorter one must be all of it
DESCRIPTION_LETTERS: Final = 24  # letters of the page's description that stand in the text it describes

YEAR: Final = re.compile(r"(?:19|20)\d\d|\d{10}")
LONGER: Final = 2
"""A text is so many times as long as the description that it begins with, or it is the description."""


@dataclass(frozen=True, slots=True)
class Embedded:
    """An article from the page's data: ``text`` has one paragraph a line, ``html`` is there where markup was (not sanitised)."""

    text: str
    html: str | None = None
    title: str | None = None
    published: datetime | None = None


def embedded(document: dom.Document, meta: Metadata, fetched: datetime | None = None) -> Embedded | None:
    """The longest article in the page's data, or ``None``. ``fetched`` is needed for its date."""
    # the letters of what the page calls its article
    site = meta.get("og:site_name")
    page = plain(next((dom.text_of(node) for node in document.root.iter("title")), ""))
    named = (plain(meta.get(key)) for key in META_TITLES)
    titles = (without_site(text, site) for text in (page, *named, plain(meta.article("headline"))) if text and not says_nothing(text))
    witnesses = tuple(dict.fromkeys(filter(None, map(letters, titles))))
    best: Embedded | None = None
    for held in _held(document, meta):
        if best is not None and len(held.text) <= len(best.text):
            continue
        title = _agreeing(held.titles, witnesses)
        if title is None and not _described(held.text, meta) and (witnesses or not held.titles or not MARKUP.search(held.text)):
            continue
        found = _read(held, title or (clean(held.titles[0]) if held.titles else None), fetched)
        if found is not None and (best is None or len(found.text) > len(best.text)):
            best = found
    return best


def _held(document: dom.Document, meta: Metadata) -> Iterator[Held]:
    told = meta.article("articleBody")
    title, date = meta.article("headline"), meta.article("datePublished")
    if told and len(told) >= LONG:
        yield Held(told, (title,) if title else (), (date,) if date else (), "articleBody")
    if "articleBody" in document.html:
        for node in dom.xpath(document.root, ".//*[@itemprop='articleBody']")[:3]:
            if isinstance(node, dom.Element):
                text = node.get("content") or dom.html_of(node)
                yield Held(text, (title,) if title else (), (date,) if date else (), "articleBody")
    yield from held_texts(document)


def _agreeing(titles: Sequence[str], witnesses: Sequence[str]) -> str | None:
    for title in titles:
        said = letters(title)
        for witness in witnesses:
            if said and (said == witness or (min(len(said), len(witness)) >= AGREED and (said in witness or witness in said))):
                return clean(title)
    return None


def _described(text: str, meta: Metadata) -> bool:
    told = meta.get("og:description") or meta.get("description") or ""
    description = letters(told)[:DESCRIPTION_LETTERS]
    if len(text) < LONGER * len(told) or len(description) < DESCRIPTION_LETTERS:
        return False
    return description in letters(dom.text_of(dom.parse_html(_marked_up(text))))


def _marked_up(text: str) -> str:
    """The text as its page would show it: percent codes and doubled entities resolved."""
    if "%3C" in text[:200] or "%E" in text[:200] or "%3c" in text[:200]:
        text = unquote(text)
    return html.unescape(text) if ENTITY.search(text) and not MARKUP.search(text) else text


def _read(held: Held, title: str | None, fetched: datetime | None) -> Embedded | None:
    text = _marked_up(held.text)
    marked = MARKUP.search(text) is not None
    if not marked and CODE.search(text[:5000]):
        return None
    lines = dom.lines_of(dom.parse_html(text)) if marked else [line for line in map(clean, text.splitlines()) if line]
    total = sum(map(len, lines))
    prose = [line for line in lines if SENTENCE.search(line)]
    sentences = sum(len(SENTENCE.findall(line)) for line in prose)
    if total < LONG / 2 or sentences < MIN_SENTENCES or sum(map(len, prose)) < PROSE * total:
        return None
    moments = (parse_date(date, fetched, default_zone(lines[0])) for date in held.dates if YEAR.search(date)) if fetched else ()
    return Embedded("\n".join(lines), text if marked else None, title, next(filter(None, moments), None))
