"""Result lists that engines serve as a feed (Google News, Bing with ``format=rss``), or as the JSON of a SearXNG instance."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from newsportal.errors import EngineBlocked
from newsportal.extractors.feeds import feed_bytes, feed_dialects
from newsportal.extractors.lists import selector
from newsportal.extractors.lists.engines import Result
from newsportal.extractors.lists.result_fields import published
from newsportal.text.dom import Document

FEED = re.compile(r"\s*(<\?xml[^>]*\?>)?\s*(<!--.*?-->\s*)*<(rss|feed|rdf:RDF)\b", re.DOTALL | re.IGNORECASE)
MAX_ITEMS = 500


def is_feed(document: Document) -> bool:
    return bool(FEED.match(document.html[:2000]))


def parse(document: Document, fetched: datetime) -> list[Result]:
    """The entries of a feed of results; titles lose the ``- Site`` of the entry's source. Raises ``NotApplicable``: ``broken-feed``."""
    text = feed_bytes.mend_xml(feed_bytes.FeedText(document.html.lstrip("\ufeff \t\r\n"), ())).text
    return _results(feed_dialects.parse_leniently(text, document.url)["entries"], fetched)


def parse_json(document: Document, fetched: datetime) -> list[Result] | None:
    """The results of SearXNG's ``format=json``; ``None`` for any other page. Raises ``EngineBlocked`` if all engines it asked refuse."""
    text = document.html.lstrip("\ufeff \r\n\t")
    try:
        told = json.loads(text) if text.startswith("{") else None
    except (ValueError, RecursionError):
        return None
    if not isinstance(told, dict) or not isinstance(found := told.get("results"), list):
        return None
    silent = told.get("unresponsive_engines")
    if not found and silent:
        raise EngineBlocked("captcha" if "captcha" in str(silent).lower() else "quota")
    plain = ({key: value for key, value in row.items() if isinstance(value, str)} for row in found if isinstance(row, dict))
    names = {"url": "link", "content": "summary", "publishedDate": "published", "title": "title"}
    return _results([{names[key]: value for key, value in row.items() if key in names} for row in plain], fetched)


def _results(entries: Sequence[Mapping[str, Any]], fetched: datetime) -> list[Result]:
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
