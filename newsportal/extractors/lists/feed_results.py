"""Result lists that engines serve as a feed (Google News, Bing with ``format=rss``): read by feedparser, told as results."""

from __future__ import annotations

import io
import re
from datetime import datetime

import feedparser

from newsportal.extractors.lists import selector
from newsportal.extractors.lists.engines import Result
from newsportal.extractors.lists.result_fields import published
from newsportal.text.dom import Document

FEED = re.compile(r"\s*(<\?xml[^>]*\?>)?\s*(<!--.*?-->\s*)*<(rss|feed|rdf:RDF)\b", re.DOTALL | re.IGNORECASE)
PROLOGUE = re.compile(r"^\s*<\?xml[^>]*\?>")
MAX_ITEMS = 500


def is_feed(document: Document) -> bool:
    return bool(FEED.match(document.html[:2000]))


def parse(document: Document, fetched: datetime) -> list[Result]:
    """The entries of a feed of results. ``- Site`` at the end of a title goes where the entry names its source."""
    body = PROLOGUE.sub("", document.html).encode("utf-8", "replace")  # it is text already: what the prologue says of bytes is over
    entries = feedparser.parse(io.BytesIO(body), response_headers={"content-type": "application/xml; charset=utf-8"}).entries
    results = []
    for entry in entries[:MAX_ITEMS]:
        title, link = selector.text(entry.get("title") or ""), (entry.get("link") or "").strip()
        if not title or not link.startswith(("http://", "https://")):
            continue
        source = entry.get("source") or {}
        site = selector.text(source.get("title") or entry.get("news_source") or entry.get("author") or "")
        if site:
            title = title.removesuffix(f" - {site}") or title
        date = (entry.get("published") or entry.get("updated") or "").strip() or None
        # the entry's summary, unless it only says title and site once more (Google News)
        summary = selector.text(entry.get("summary") or "")
        rest = (summary or "").replace(title, "").replace(site or title, "").strip(" \xa0-")
        results.append(Result(title, link, site, summary if rest else None, date, published(date, fetched, title)))
    return results
