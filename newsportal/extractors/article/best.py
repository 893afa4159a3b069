"""The extractor the portal runs: a small model over blocks, with what page, link and site say as witnesses, and as fallback."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from html import escape
from typing import Final

import numpy as np

from newsportal.extractors.article.body import Body, find_body, trimmed
from newsportal.extractors.article.page_kind import kind_of
from newsportal.extractors.article.refusal import MIN_CHARS, refuse, refuse_kind, refuse_list
from newsportal.extractors.article.sanitise import sanitise
from newsportal.extractors.article.site import SiteKnowledge, read_knowledge, write_knowledge
from newsportal.extractors.article.tidy import tidied
from newsportal.extractors.fields import published, title
from newsportal.extractors.fields.author import author, origin
from newsportal.extractors.fields.embedded import Embedded, embedded
from newsportal.extractors.fields.metadata import Metadata, canonical_of, language_of, read_metadata
from newsportal.extractors.images import article_images as images
from newsportal.items import Extraction, Link
from newsportal.text import clean, dom, letters

MUCH_LONGER: Final = 3.0  # times our characters from which the text for machines is taken: scripts draw the page's own
FEW_CHARS: Final = 600  # a page that shows more is not searched for a longer text in the state of its scripts, unless it declares one
SURE_OF_DATA: Final = 0.9  # how sure we are of a text that the page itself calls its article's
PIECE: Final = 12  # letters that two texts share only if one is a part of the other
TOLD_CHARS: Final = 40  # a description of this length stands in for a body that is not there: the shortest 快讯 is its own description


class Best:
    """Reads articles; the more pages of a site it has seen, the better it knows the site's own lines. May be called from threads."""

    def __init__(self, knowledge: SiteKnowledge | None = None) -> None:
        self.knowledge = SiteKnowledge() if knowledge is None else knowledge

    def learn(self, document: dom.Document, link: Link | None, fetched: datetime, found: Extraction | None = None) -> None:
        """Remember the page's lines; with ``found``, the article on it, they are the better witnesses. Never raises for a bad page."""
        heading, text = (found.title, found.text or "") if found is not None else (None, "")
        self.knowledge.learn(document.url, document.lines, heading, text.split("\n"))

    def __call__(self, document: dom.Document, link: Link | None, fetched: datetime) -> Extraction:
        """Title, text, date, author and pictures. Raises ``NotApplicable`` with the reason for a page that is no article."""
        return extract(document, link, fetched, self.knowledge)

    def saved(self) -> str:
        return write_knowledge(self.knowledge)

    def restore(self, text: str) -> None:
        """Go on from what :meth:`saved` wrote. Raises ``LibraryError``."""
        self.knowledge = read_knowledge(text)


@dataclass(frozen=True, slots=True)
class Reading:
    """A page as far as it has been read: what it declares, its title, and which blocks are its text."""

    meta: Metadata
    heading: str | None
    body: Body | None


def extract(document: dom.Document, link: Link | None, fetched: datetime, knowledge: SiteKnowledge | None = None) -> Extraction:
    """As :class:`Best`, with what is known of sites, or without."""
    read = read_page(document, link, knowledge)
    if read.body is not None and not declares_article(read.meta) and (kind := kind_of(document, read.meta, read.body)):
        refuse_kind(kind)
    return complete(document, link, fetched, read)


def read_page(document: dom.Document, link: Link | None, knowledge: SiteKnowledge | None = None) -> Reading:
    meta = read_metadata(document)
    heading = title.best_title(document, meta, link)
    return Reading(meta, heading, body_of(document, heading, described(meta, link), knowledge, meta.article("articleBody")))


def complete(document: dom.Document, link: Link | None, fetched: datetime, read: Reading, *, any_page: bool = False) -> Extraction:
    """The extraction with all fields. Raises ``NotApplicable`` for what is no article; with ``any_page`` for what has no content alone."""
    meta, heading, body = read.meta, read.heading, read.body
    lines = body.lines if body is not None else []
    carried = _carried(document, meta, fetched, sum(map(len, lines)))
    told = _carried_text(carried, meta, lines)
    block = tidied(body) if body is not None and not told else None
    if block is not None:
        images.settle(block, document.base)
    if body is not None and not told and not any_page and not declares_article(meta):
        refuse_list(body, heading)
    refuse(document, heading, told or lines, None if meta.things or told else block, any_page=any_page)
    language = language_of(meta, told or lines)
    return Extraction(
        title=heading or (carried.title if carried else None),
        text="\n".join(told or lines),
        html=sanitise(_html(block, told, carried), document.base),
        published=published.best_date(document, meta, link, fetched, language, heading) or (carried.published if carried else None),
        author=author(document, meta, told or lines, language, heading),
        origin=origin(document, meta, language),
        site=clean(meta.get("og:site_name") or "") or None,
        images=images.of_article(block, document, meta),
        language=language,
        canonical=canonical_of(document, meta),
        algorithm="best",
        confidence=round(SURE_OF_DATA if told or body is None else body.confidence, 3),
    )


def body_of(
    document: dom.Document, heading: str | None, described: str | None, knowledge: SiteKnowledge | None = None, declared: str | None = None
) -> Body | None:
    """The body's blocks, without the lines at its ends that are none of the text, and without the site's own lines."""
    top = next(iter(document.root.iter("body")), None)
    if top is None:
        return None
    return settle(find_body(top, heading, described, declared, document.steps), document, heading, knowledge)


def settle(body: Body, document: dom.Document, heading: str | None, knowledge: SiteKnowledge | None = None) -> Body:
    """``body`` without the lines at its ends that are none of the text, and without the site's own lines."""
    numbers = np.flatnonzero(body.chosen)
    lines = [body.page.blocks[number].text for number in numbers]
    start, end = trimmed(lines, heading)
    body.chosen[numbers[:start]] = False
    body.chosen[numbers[end:]] = False
    repeated = knowledge.repeated(document.url, lines[start:end], heading) if knowledge is not None else frozenset()
    for number, line in zip(numbers[start:end], lines[start:end], strict=True):
        body.chosen[number] = line not in repeated
    return body


def declares_article(meta: Metadata) -> bool:
    kind = meta.get("og:type")
    return kind == "article" or (bool(meta.things) and kind != "website")


def described(meta: Metadata, link: Link | None) -> str | None:
    """The longest of what the page and the link say the article is about."""
    return max(filter(None, (meta.get("og:description"), meta.get("description"), link.summary if link else None)), key=len, default=None)


def _carried(document: dom.Document, meta: Metadata, fetched: datetime, found: int) -> Embedded | None:
    """The article in the page's data, looked for where the page shows little."""
    declared = meta.article("articleBody") or ""
    if found >= max(FEW_CHARS, len(declared) / MUCH_LONGER):
        return None
    lines = [line for line in map(clean, declared.splitlines()) if line]
    return embedded(document, meta, fetched) or (Embedded("\n".join(lines)) if lines and "<" not in declared else None)


def _carried_text(carried: Embedded | None, meta: Metadata, lines: list[str]) -> list[str]:
    """The text the page tells machines, where the page itself holds less than a third of it, or something else and less."""
    found = sum(map(len, lines))
    told = carried.text if carried is not None else ""
    if len(told) > found and len(told) >= TOLD_CHARS:
        ours, theirs = letters("".join(lines)), letters(told)
        pieces = (theirs[start : start + PIECE] for start in range(0, max(len(theirs) - PIECE, 1), PIECE))
        if len(told) >= MUCH_LONGER * found or not any(piece in ours for piece in pieces):
            return told.split("\n")
    if found >= MIN_CHARS or not declares_article(meta):
        return []
    text = clean(meta.get("og:description") or meta.get("description") or "")
    return [text] if len(text) >= max(TOLD_CHARS, MUCH_LONGER * found) else []


def _html(block: dom.Element | None, told: list[str], carried: Embedded | None) -> str:
    if block is not None:
        return dom.html_of(block)
    if carried is not None and carried.html is not None and told == carried.text.split("\n"):
        return carried.html
    return "".join(f"<p>{escape(line)}</p>" for line in told)
