"""One page of a photo story: its pictures in order with their captions, what it says of the story, and where its other pages are."""

from __future__ import annotations

from datetime import datetime

from newsportal import dom
from newsportal.errors import NotApplicable
from newsportal.extractors import images, published
from newsportal.extractors.author import author
from newsportal.extractors.gallery.story import bare_title
from newsportal.extractors.language import language_of
from newsportal.extractors.metadata import read_metadata
from newsportal.extractors.origin import origin
from newsportal.extractors.pagination import find_pager
from newsportal.extractors.refusal import refuse_bytes
from newsportal.extractors.title import best_title
from newsportal.items import GalleryPage, Link


def read(document: dom.Document, *, link: Link | None = None, now: datetime) -> GalleryPage:
    """What a page tells of its story. ``now`` (aware): when it was fetched; ``link``: what an index page said of the story.

    Raises ``NotApplicable`` for what is none: ``index-page``, ``no-pictures``, ``soft-404``, ``login``, ``captcha``, ``error-page``,
    ``not-html``.
    """
    refuse_bytes(document)
    meta = read_metadata(document)
    heading = best_title(document, meta, link)
    body = next(iter(document.root.iter("body")), None)
    found = images.of_article(body, document, meta)
    if not found:
        raise NotApplicable("no-pictures")
    language = language_of(meta, [heading or ""])
    pager = find_pager(document)
    return GalleryPage(
        url=document.url,
        title=bare_title(heading),
        images=found,
        published=published.best_date(document, meta, link, now, language, heading),
        author=author(document, meta, (), language, heading),
        origin=origin(document, meta, language),
        language=language,
        pages=pager.known,
        next=pager.next,
    )
