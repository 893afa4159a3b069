"""The extractor the portal runs: CEVC made robust, with what the page says of itself as witness and as fallback."""

from __future__ import annotations

from datetime import datetime

from newsportal import dom
from newsportal.extractors import body, byline, images, published, tails, title
from newsportal.extractors.metadata import Metadata, read_metadata
from newsportal.extractors.refusal import refuse
from newsportal.extractors.sanitise import sanitise
from newsportal.extractors.tidy import tidied
from newsportal.items import Extraction, Link


def extract(document: dom.Document, link: Link | None, fetched: datetime) -> Extraction:
    """Title, text, date, author and pictures. Raises ``NotApplicable`` with the reason for a page that is no article."""
    meta = read_metadata(document)
    heading = title.best_title(document, meta, link)
    block, lines = text_of(document, meta, heading)
    refuse(document, heading, lines)
    language = byline.language(document, meta, lines)
    return Extraction(
        title=heading,
        text="\n".join(lines),
        html=sanitise(dom.html_of(block), document.base) if block is not None else None,
        published=published.best_date(document, meta, link, fetched, language, heading),
        author=byline.author(document, meta, lines),
        origin=byline.origin(document, meta),
        images=images.of_article(block, document, meta),
        language=language,
        canonical=byline.canonical(document, meta),
        algorithm="best",
    )


def text_of(document: dom.Document, meta: Metadata, heading: str | None) -> tuple[dom.Element | None, list[str]]:
    """The body as a cleaned copy, and its lines."""
    top = next(iter(document.root.iter("body")), None)
    if top is None:
        return None, []
    nodes, survey = body.find(top)
    block = tidied(nodes, survey)
    lines = dom.lines_of(block)
    start, end = tails.trimmed(lines, heading)
    return block, lines[start:end]
