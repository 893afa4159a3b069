"""JSON Feed 1.0 and 1.1 (jsonfeed.org), also when the file is cut off, and RSS written as JSON."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from html import escape
from typing import Any

from newsportal.errors import NotApplicable
from newsportal.extractors.feed_model import RawDate, RawEntry, RawFeed

MAX_ENTRIES = 5_000
ITEMS = re.compile(r'"items"\s*:\s*\[')


def read_json(text: str) -> RawFeed:
    """Read a JSON Feed. Raises ``NotApplicable("not-a-feed")`` for other JSON."""
    found, whole = _loaded(text)
    rss = found.get("rss")
    if isinstance(rss, dict) and isinstance(rss.get("channel"), dict):
        return _rss(rss["channel"])
    items = found.get("items")
    if not isinstance(items, list) or not ("jsonfeed" in str(found.get("version")) or "title" in found):
        raise NotApplicable("not-a-feed", "JSON, but no JSON Feed")
    entries = tuple(_entry(item) for item in items[:MAX_ENTRIES] if isinstance(item, dict))
    hubs = [hub for hub in _list(found, "hubs") if isinstance(hub, dict)]
    return RawFeed(
        format="json11" if str(found.get("version")).endswith("1.1") else "json1",
        title=_text(found, "title"),
        home=_text(found, "home_page_url"),
        language=_text(found, "language"),
        hub=next((url for hub in hubs if (url := _text(hub, "url"))), None),
        topic=_text(found, "feed_url"),
        entries=entries,
        warnings=() if whole else ("not-well-formed",),
    )


def _rss(channel: dict[str, Any]) -> RawFeed:
    """RSS 2.0 with JSON's braces (``{"rss": {"channel": {"item": [...]}}}``)."""
    items = channel.get("item")
    return RawFeed(
        format="rss-json",
        title=_text(channel, "title"),
        home=_text(channel, "link"),
        language=_text(channel, "language"),
        entries=tuple(_rss_entry(item) for item in (items if isinstance(items, list) else [items])[:MAX_ENTRIES] if isinstance(item, dict)),
    )


def _rss_entry(item: dict[str, Any]) -> RawEntry:
    guid = item.get("guid")
    name = _text(guid, "#value") if isinstance(guid, dict) else _text(item, "guid")
    published = _text(item, "pubDate")
    return RawEntry(
        id=name,
        urls=tuple(url for url in (_text(item, "link"), name) if url),
        title=_text(item, "title"),
        summary=_text(item, "description"),
        published=RawDate(published) if published else None,
        author=_text(item, "author"),
    )


def _loaded(text: str) -> tuple[dict[str, Any], bool]:
    """The outer object, and whether the text was whole JSON."""
    try:
        found = json.loads(text, strict=False)
    except (ValueError, RecursionError):
        return _salvaged(text), False
    if not isinstance(found, dict):
        raise NotApplicable("not-a-feed", "JSON, but no object")
    return found, True


def _salvaged(text: str) -> dict[str, Any]:
    """Whatever is complete in broken JSON: the fields before the items, and the items before the break."""
    start = ITEMS.search(text)
    if not start:
        raise NotApplicable("not-a-feed", "broken JSON without items")
    head: dict[str, Any] = {}
    for close in ("}", '"x":0}'):
        try:
            head = json.loads(text[: start.start()].rstrip().rstrip(",") + close, strict=False)
            break
        except (ValueError, RecursionError):
            continue
    return {**(head if isinstance(head, dict) else {}), "items": list(_items(text, start.end()))}


def _items(text: str, place: int) -> Iterator[Any]:
    decoder = json.JSONDecoder(strict=False)
    while place < len(text):
        separator = re.compile(r"[\s,]*").match(text, place)
        place = separator.end() if separator else place
        try:
            item, place = decoder.raw_decode(text, place)
        except (ValueError, RecursionError):
            return
        yield item


def _entry(item: dict[str, Any]) -> RawEntry:
    html, plain = _text(item, "content_html"), _text(item, "content_text")
    published, updated = _text(item, "date_published"), _text(item, "date_modified")
    number = item.get("id")
    people = [*_list(item, "authors"), item.get("author")]
    names = [name for person in people if isinstance(person, dict) and (name := _text(person, "name"))]
    return RawEntry(
        id=_text(item, "id") or (str(number) if isinstance(number, int) else None),
        urls=tuple(url for url in (_text(item, "url"), _text(item, "external_url"), _text(item, "id")) if url),
        title=_escaped(_text(item, "title")),
        summary=_escaped(_text(item, "summary")),
        content=html or _escaped(plain),
        published=RawDate(published) if published else None,
        updated=RawDate(updated) if updated else None,
        author=", ".join(dict.fromkeys(names)) or None,
        images=tuple(url for url in (_text(item, "image"), _text(item, "banner_image")) if url),
        categories=tuple(tag for tag in _list(item, "tags") if isinstance(tag, str)),
    )


def _text(values: dict[str, Any], key: str) -> str | None:
    value = values.get(key)
    return value.strip() or None if isinstance(value, str) else None


def _list(values: dict[str, Any], key: str) -> list[Any]:
    value = values.get(key)
    return value if isinstance(value, list) else []


def _escaped(text: str | None) -> str | None:
    """JSON Feed's plain texts as markup, which is what every other dialect delivers."""
    return escape(text, quote=False) if text else None
