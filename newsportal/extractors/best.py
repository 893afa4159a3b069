"""The extractor the portal runs: CEVC made robust, with what the page says of itself as witness and as fallback."""

from __future__ import annotations

from datetime import datetime
from html import escape
from typing import Final

from newsportal import dom
from newsportal.extractors import body, images, published, tails, title
from newsportal.extractors.author import author
from newsportal.extractors.language import language_of
from newsportal.extractors.metadata import Metadata, canonical_of, read_metadata
from newsportal.extractors.origin import origin
from newsportal.extractors.refusal import MIN_CHARS, refuse
from newsportal.extractors.sanitise import sanitise
from newsportal.extractors.tidy import tidied
from newsportal.items import Extraction, Link
from newsportal.text import clean

MUCH_LONGER: Final = 2.0
"""JSON-LD's ``articleBody`` is taken where it has so many times our characters: the page draws its text with a script."""

TOLD_CHARS: Final = 40
"""A description of this length stands in for a body that is not there: the shortest 快讯 is its own description."""


def extract(document: dom.Document, link: Link | None, fetched: datetime) -> Extraction:
    """Title, text, date, author and pictures. Raises ``NotApplicable`` with the reason for a page that is no article."""
    meta = read_metadata(document)
    heading = title.best_title(document, meta, link)
    block, lines = text_of(document, heading)
    told = _told(meta, sum(map(len, lines)))
    if told:
        block, lines = None, told
    refuse(document, heading, lines, None if meta.things else block)
    language = language_of(meta, lines)
    return Extraction(
        title=heading,
        text="\n".join(lines),
        html=sanitise(_html(block, lines), document.base),
        published=published.best_date(document, meta, link, fetched, language, heading),
        author=author(document, meta, lines, language, heading),
        origin=origin(document, meta, language),
        images=images.of_article(block, document, meta),
        language=language,
        canonical=canonical_of(document, meta),
        algorithm="best",
    )


def text_of(document: dom.Document, heading: str | None) -> tuple[dom.Element | None, list[str]]:
    """The body as a cleaned copy, and its lines."""
    top = next(iter(document.root.iter("body")), None)
    if top is None:
        return None, []
    nodes, survey = body.find(top, heading)
    block = tidied(nodes, survey)
    images.settle(block, document.base)
    lines = dom.lines_of(block)
    start, end = tails.trimmed(lines, heading)
    tails.cut(block, lines[:start] + lines[end:])
    return block, lines[start:end]


def _told(meta: Metadata, found: int) -> list[str]:
    """The text the page tells machines, where the page itself holds less than half of it."""
    text = meta.article("articleBody") or ""
    if not text and found < MIN_CHARS and (meta.get("og:type") == "article" or meta.things):
        text = meta.get("og:description") or meta.get("description") or ""
    if len(text) < TOLD_CHARS or len(text) < MUCH_LONGER * found:
        return []
    return dom.lines_of(dom.parse_html(text)) if "<" in text else [line for line in map(clean, text.splitlines()) if line]


def _html(block: dom.Element | None, lines: list[str]) -> str:
    if block is not None:
        return dom.html_of(block)
    return "".join(f"<p>{escape(line)}</p>" for line in lines)
