"""The portal's extractor: a small model over text blocks, with hints, and fallbacks, from page metadata, link and site."""

from dataclasses import dataclass
from datetime import datetime
from html import escape
from typing import Final

import numpy as np

from newsportal.extractors.article.body import Body, find_body, trim_lines
from newsportal.extractors.article.page_kind import kind_of
from newsportal.extractors.article.refusal import MIN_CHARS, reject_kind, reject_list, reject_page
from newsportal.extractors.article.sanitise import sanitise
from newsportal.extractors.article.site import SiteKnowledge, read_knowledge, write_knowledge
from newsportal.extractors.article.tidy import tidy_body
from newsportal.extractors.fields import published, title
from newsportal.extractors.fields.author import find_author, find_origin
from newsportal.extractors.fields.embedded import EmbeddedArticle, find_embedded
from newsportal.extractors.fields.metadata import Metadata, canonical_of, language_of, read_metadata
from newsportal.extractors.images import article_images as images
from newsportal.items import Extraction, Link
from newsportal.text import clean, dom, letters

EMBEDDED_LENGTH_FACTOR: Final = 3.0  # times our text's length from which the embedded text is used: scripts render the page's own
MAX_CHARS_TO_SEARCH_SCRIPTS: Final = 600  # a page with more text is not searched for a longer one in script data, unless it declares one
DECLARED_CONFIDENCE: Final = 0.9  # confidence in a text that the page itself declares as its article
OVERLAP: Final = 12  # letters that two texts share only if one contains the other
MIN_DESCRIPTION_CHARS: Final = 40  # a description of this length replaces a missing body: the shortest 快讯 is its own description


class Best:
    """Article extractor that learns a site's boilerplate lines from the pages it sees. Thread-safe."""

    def __init__(self, knowledge: SiteKnowledge | None = None) -> None:
        self.knowledge = SiteKnowledge() if knowledge is None else knowledge

    def learn(self, document: dom.Document, link: Link | None, fetched: datetime, found: Extraction | None = None) -> None:
        """Learn the page's lines; ``found``, the article on it, makes them more reliable. Never raises for a bad page."""
        heading, text = (found.title, found.text or "") if found is not None else (None, "")
        self.knowledge.learn(document.url, document.lines, heading, text.split("\n"))

    def __call__(self, document: dom.Document, link: Link | None, fetched: datetime) -> Extraction:
        """Return title, text, date, author and images. Raises ``NotApplicable`` with the reason if the page is not an article."""
        return extract(document, link, fetched, self.knowledge)

    def dump(self) -> str:
        return write_knowledge(self.knowledge)

    def restore(self, text: str) -> None:
        """Load a state written by :meth:`dump`. Raises ``LibraryError``."""
        self.knowledge = read_knowledge(text)


@dataclass(frozen=True, slots=True)
class PageParts:
    """Intermediate result: the page's metadata, its title, and the blocks of its text."""

    meta: Metadata
    heading: str | None
    body: Body | None


def extract(document: dom.Document, link: Link | None, fetched: datetime, knowledge: SiteKnowledge | None = None) -> Extraction:
    """Extract an article like :class:`Best`; ``knowledge`` of sites is optional."""
    reading = read_page(document, link, knowledge)
    if reading.body is not None and not declares_article(reading.meta) and (kind := kind_of(document, reading.meta, reading.body)):
        reject_kind(kind)
    return fill_fields(document, link, fetched, reading)


def read_page(document: dom.Document, link: Link | None, knowledge: SiteKnowledge | None = None) -> PageParts:
    meta = read_metadata(document)
    heading = title.best_title(document, meta, link)
    return PageParts(meta, heading, body_of(document, heading, longest_description(meta, link), knowledge, meta.article("articleBody")))


def fill_fields(document: dom.Document, link: Link | None, fetched: datetime, reading: PageParts, *, any_page: bool = False) -> Extraction:
    """Return the extraction with all fields. Raises ``NotApplicable`` if the page is no article; with ``any_page``: has no content."""
    meta, heading, body = reading.meta, reading.heading, reading.body
    lines = body.lines if body is not None else []
    data = _embedded_article(document, meta, fetched, sum(map(len, lines)))
    data_lines = _embedded_text(data, meta, lines)
    block = tidy_body(body) if body is not None and not data_lines else None
    if block is not None:
        images.set_final_sources(block, document.base)
    if body is not None and not data_lines and not any_page and not declares_article(meta):
        reject_list(body, heading)
    reject_page(document, heading, data_lines or lines, None if meta.objects or data_lines else block, any_page=any_page)
    language = language_of(meta, data_lines or lines)
    return Extraction(
        title=heading or (data.title if data else None),
        text="\n".join(data_lines or lines),
        html=sanitise(_html(block, data_lines, data), document.base),
        published=published.best_date(document, meta, link, fetched, language, heading) or (data.published if data else None),
        author=find_author(document, meta, data_lines or lines, language, heading),
        origin=find_origin(document, meta, language),
        site=clean(meta.get("og:site_name") or "") or None,
        images=images.collect_images(block, document, meta),
        language=language,
        canonical=canonical_of(document, meta),
        algorithm="best",
        confidence=round(DECLARED_CONFIDENCE if data_lines or body is None else body.confidence, 3),
    )


def body_of(
    document: dom.Document, heading: str | None, summary: str | None, knowledge: SiteKnowledge | None = None, declared: str | None = None
) -> Body | None:
    """Return the body's blocks, without boilerplate at both ends and without lines that the site repeats."""
    top = next(iter(document.root.iter("body")), None)
    if top is None:
        return None
    return drop_boilerplate(find_body(top, heading, summary, declared, document.steps), document, heading, knowledge)


def drop_boilerplate(body: Body, document: dom.Document, heading: str | None, knowledge: SiteKnowledge | None = None) -> Body:
    """Return ``body`` without boilerplate at both ends and without lines that the site repeats."""
    numbers = np.flatnonzero(body.chosen)
    lines = [body.page.blocks[number].text for number in numbers]
    start, end = trim_lines(lines, heading)
    body.chosen[numbers[:start]] = False
    body.chosen[numbers[end:]] = False
    repeated = knowledge.repeated(document.url, lines[start:end], heading) if knowledge is not None else frozenset()
    for number, line in zip(numbers[start:end], lines[start:end], strict=True):
        body.chosen[number] = line not in repeated
    return body


def declares_article(meta: Metadata) -> bool:
    kind = meta.get("og:type")
    return kind == "article" or (bool(meta.objects) and kind != "website")


def longest_description(meta: Metadata, link: Link | None) -> str | None:
    """Return the longest description of the article in page metadata and link."""
    return max(filter(None, (meta.get("og:description"), meta.get("description"), link.summary if link else None)), key=len, default=None)


def _embedded_article(document: dom.Document, meta: Metadata, fetched: datetime, length: int) -> EmbeddedArticle | None:
    """Return the article in the page's embedded data; searched only if the page displays little text."""
    declared = meta.article("articleBody") or ""
    if length >= max(MAX_CHARS_TO_SEARCH_SCRIPTS, len(declared) / EMBEDDED_LENGTH_FACTOR):
        return None
    lines = [line for line in map(clean, declared.splitlines()) if line]
    return find_embedded(document, meta, fetched) or (EmbeddedArticle("\n".join(lines)) if lines and "<" not in declared else None)


def _embedded_text(data: EmbeddedArticle | None, meta: Metadata, lines: list[str]) -> list[str]:
    """Return the embedded text if the page displays less than a third of it, or another, shorter text."""
    length = sum(map(len, lines))
    data_text = data.text if data is not None else ""
    if len(data_text) > length and len(data_text) >= MIN_DESCRIPTION_CHARS:
        ours, theirs = letters("".join(lines)), letters(data_text)
        pieces = (theirs[start : start + OVERLAP] for start in range(0, max(len(theirs) - OVERLAP, 1), OVERLAP))
        if len(data_text) >= EMBEDDED_LENGTH_FACTOR * length or not any(piece in ours for piece in pieces):
            return data_text.split("\n")
    if length >= MIN_CHARS or not declares_article(meta):
        return []
    text = clean(meta.get("og:description") or meta.get("description") or "")
    return [text] if len(text) >= max(MIN_DESCRIPTION_CHARS, EMBEDDED_LENGTH_FACTOR * length) else []


def _html(block: dom.Element | None, lines: list[str], data: EmbeddedArticle | None) -> str:
    if block is not None:
        return dom.html_of(block)
    if data is not None and data.html is not None and lines == data.text.split("\n"):
        return data.html
    return "".join(f"<p>{escape(line)}</p>" for line in lines)
