"""Feeds of every kind, over bytes that may be broken: RSS 0.9x to 2.0, RDF, Atom, JSON Feed.

Warnings are stable slugs: ``wrong-encoding`` (declared one, written in another), ``illegal-characters``, ``entities-declared``
(dropped: that is how XML bombs are built), ``too-large`` and ``too-many-tags`` (cut), ``not-well-formed``, ``shared-link``
(entries with one URL), ``entry-without-link``.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from newsportal import dom
from newsportal.errors import NotApplicable
from newsportal.extractors.feed_bytes import FeedText, mend_xml, read
from newsportal.extractors.feed_finish import finish
from newsportal.extractors.feed_json import read_json
from newsportal.extractors.feed_model import Feed, FeedEntry
from newsportal.extractors.feed_xml import read_xml

if TYPE_CHECKING:
    from datetime import datetime

__all__ = ["Feed", "FeedEntry", "discover", "parse"]

MAX_FOUND = 20
FEED_TYPE = re.compile(r"^\s*(?:application|text)/(?:(?:rss|atom|rdf)\+xml|feed\+json|json|xml)\b", re.IGNORECASE)
FEED_HREF = re.compile(
    r"(?:\.rss|\.atom|\.rdf|rss\.xml|atom\.xml|feed\.xml|feed\.json|index\.xml|/(?:rss|feed|atom)/?)(?:\?.*)?$", re.IGNORECASE
)
SKIPPED = re.compile(r"^(?:\s|<\?.*?\?>|<!--.*?-->|<!DOCTYPE[^>\[]*(?:\[.*?\])?\s*>)+", re.DOTALL | re.IGNORECASE)
PAGE = re.compile(r"<(?:html|head|body|meta|title|div|p|script|table|h\d|center|a)\b", re.IGNORECASE)


def parse(body: bytes, url: str, content_type: str | None, fetched: datetime) -> Feed:
    """Read a fetched feed. ``content_type`` is the header as served; ``fetched`` is aware.

    Raises ``NotApplicable`` and nothing else: ``not-a-feed`` (a page, other JSON; ``detail`` lists the feeds that a page declares),
    ``broken-feed`` (a feed in which nothing can be read), ``empty``. Takes seconds at most, whatever the bytes.
    """
    source = read(body, content_type)
    if not source.text:
        raise NotApplicable("empty", "no text")
    if source.text.startswith(("{", "[")):
        return finish(read_json(source.text), url, fetched, source.warnings)
    if _is_page(source.text):
        raise NotApplicable("not-a-feed", _page_detail(source, url))
    mended = mend_xml(source)
    return finish(read_xml(mended.text, url), url, fetched, mended.warnings)


def discover(document: dom.Document) -> list[str]:
    """The feeds a page leads to, as absolute URLs: declared ones (``<link rel="alternate">``) first, then links that look like one."""
    declared = [
        dom.link_of(node, document.base)
        for node in document.root.iter("link")
        if "alternate" in (node.get("rel") or "").lower().split() and FEED_TYPE.match(node.get("type") or "")
    ]
    linked = [url for node in document.root.iter("a") if (url := dom.link_of(node, document.base)) and FEED_HREF.search(url[:2_000])]
    return [url for url in dict.fromkeys([*declared, *linked]) if url][:MAX_FOUND]


def _is_page(text: str) -> bool:
    start = SKIPPED.match(text)
    return PAGE.match(text, start.end() if start else 0) is not None


def _page_detail(source: FeedText, url: str) -> str:
    found = discover(dom.from_text(source.text, url))
    return f"an HTML page; it declares {', '.join(found)}" if found else "an HTML page"
