"""Feed dialects, read from decoded and repaired text (:mod:`feed_bytes`): RSS, RDF and Atom through feedparser; JSON Feed 1.0 and 1.1
(jsonfeed.org), even if truncated; RSS written as JSON."""

import io
import json
import re
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from html import escape
from itertools import islice
from typing import Any

import feedparser

from newsportal.errors import NotApplicable

ITEMS = re.compile(r'"items"\s*:\s*\[')
MAX_ENTRIES = 5_000
MAX_ALONE = 300  # entries parsed one by one, each together with the feed's head
MAX_HEAD_CHARS = 20_000
ENTRY = re.compile(r"<(item|entry)\b.*?</\1\s*>", re.DOTALL | re.IGNORECASE)
SKIP_ELEMENT = re.compile(r"<skip(Hours|Days)\b[^<>]*>((?:\s|</?(?:hour|day)\b[^<>]*>|\w)*)</skip", re.IGNORECASE)
SKIP_VALUE = re.compile(r"<(?:hour|day)\b[^<>]*>\s*(\w+)\s*<", re.IGNORECASE)
DAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
PERIODS = {"hourly": 60, "daily": 1_440, "weekly": 10_080, "monthly": 43_200, "yearly": 525_600}  # minutes of ``sy:updatePeriod``


@dataclass(frozen=True, slots=True)
class FeedHead:
    """A feed's metadata. ``format``: feedparser's name (``rss20``, ``rss10``, ``atom10`` …) or ``json1``; ``ttl_minutes``: how long the
    publisher wants it cached; ``hub``: a WebSub hub; ``topic``: the feed's URL at the hub; ``skip_hours`` (0–23, GMT) and ``skip_days``
    (0–6, Monday first): when nothing is published."""

    format: str
    title: str | None = None
    ttl_minutes: int | None = None
    hub: str | None = None
    topic: str | None = None
    skip_hours: tuple[int, ...] = ()
    skip_days: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class RawDate:
    """A date as written, and feedparser's reading of it (naive UTC) as a fallback for formats that our parser does not know."""

    text: str
    guess: datetime | None = None


@dataclass(frozen=True, slots=True)
class RawEntry:
    """An entry as in its dialect: texts with markup, URLs as written, dates as text."""

    id: str | None = None
    urls: tuple[str, ...] = ()
    title: str | None = None
    summary: str | None = None
    content: str | None = None
    published: RawDate | None = None
    updated: RawDate | None = None
    author: str | None = None


@dataclass(frozen=True, slots=True)
class RawFeed(FeedHead):
    home: str | None = None
    language: str | None = None
    entries: tuple[RawEntry, ...] = ()
    warnings: tuple[str, ...] = ()


def read_xml(text: str, url: str) -> RawFeed:
    """Parse an XML feed. Raises ``NotApplicable``: ``not-a-feed`` if there is no feed element, ``broken-feed`` if nothing can be read."""
    found = parse_leniently(text, url)
    head, entries = found["feed"], found["entries"]
    period = PERIODS.get((_text(head, "sy_updateperiod") or "").lower())
    ttl = period // (_number(_text(head, "sy_updatefrequency")) or 1) if period else None
    if not found.get("version") and not entries:
        raise NotApplicable("not-a-feed", "no feed element")
    return RawFeed(
        format=found.get("version") or "unknown",
        title=_text(head, "title"),
        home=_text(head, "link"),
        language=_text(head, "language"),
        ttl_minutes=_number(_text(head, "ttl")) or ttl,
        hub=_rel(head, "hub"),
        topic=_rel(head, "self"),
        **_skips(text),
        entries=tuple(_entry(entry) for entry in entries[:MAX_ENTRIES]),
        warnings=("not-well-formed",) if found.get("bozo") else (),
    )


def parse_leniently(text: str, url: str) -> dict[str, Any]:
    """Return feedparser's result; if parsing fails, entry by entry. Raises ``NotApplicable``: ``broken-feed``."""
    try:
        return _parsed(text, url)
    except Exception as error:
        found = _entry_by_entry(text, url)
        if not found["entries"]:
            raise NotApplicable("broken-feed", f"{type(error).__name__}: {error}") from error
        return found


def _parsed(text: str, url: str) -> dict[str, Any]:
    headers = {"content-type": "application/xml; charset=utf-8", "content-location": url}
    body = f'<?xml version="1.0" encoding="utf-8"?>\n{text}'.encode("utf-8", "replace")
    found: dict[str, Any] = feedparser.parse(io.BytesIO(body), response_headers=headers, sanitize_html=False, resolve_relative_uris=True)
    return found


def _entry_by_entry(text: str, url: str) -> dict[str, Any]:
    """Parse each entry separately after the feed's head, so that an entry that breaks feedparser affects no other."""
    merged: dict[str, Any] = {"feed": {}, "entries": [], "version": "", "bozo": True}
    chunks = list(islice(ENTRY.finditer(text), MAX_ALONE))
    head = text[: chunks[0].start()] if chunks else ""
    if len(head) > MAX_HEAD_CHARS:
        return merged
    for chunk in chunks:
        try:
            found = _parsed(head + chunk.group(), url)
        except Exception:  # noqa: BLE001, S112 (this entry broke the whole feed; "not-well-formed" reports it)
            continue
        merged["entries"] += found["entries"]
        merged["feed"] = merged["feed"] or found["feed"]
        merged["version"] = merged["version"] or found.get("version")
    return merged


def _entry(entry: Mapping[str, Any]) -> RawEntry:
    # the longest content of the entry
    values = [value for item in _list(entry, "content") if (value := _text(item, "value"))]
    content = max(values, key=len, default=None)
    # candidates for the entry's URL, best first
    links = (_text(entry, key) for key in ("feedburner_origlink", "pheedo_origlink", "link"))
    alternate = (_text(link, "href") for link in _list(entry, "links") if _text(link, "rel") in (None, "alternate"))
    guid = _text(entry, "id") if _get(entry, "guidislink") is not False else None
    detail = _get(entry, "author_detail")
    return RawEntry(
        id=_text(entry, "id"),
        urls=tuple(dict.fromkeys(url for url in (*links, *alternate, guid) if url)),
        title=_text(entry, "title"),
        summary=_text(entry, "summary"),
        content=content,
        published=_date(entry, "published") or _date(entry, "created"),
        updated=_date(entry, "updated"),
        author=(_text(detail, "name") if isinstance(detail, dict) else None) or _text(entry, "author"),
    )


def _get(values: Mapping[str, Any], key: str) -> Any:
    """Return a value as stored: feedparser's own ``get`` maps deprecated names, with a warning."""
    return dict.get(values, key) if isinstance(values, dict) else None


def _text(values: Mapping[str, Any], key: str) -> str | None:
    value = _get(values, key)
    return value.strip() or None if isinstance(value, str) else None


def _list(values: Mapping[str, Any], key: str) -> list[Mapping[str, Any]]:
    value = _get(values, key)
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def _date(values: Mapping[str, Any], key: str) -> RawDate | None:
    text = _text(values, key)
    if text is None:
        return None
    parsed = _get(values, f"{key}_parsed")
    try:
        return RawDate(text, datetime(*parsed[:6]) if parsed else None)  # noqa: DTZ001 (naive UTC by the contract of RawDate)
    except (TypeError, ValueError, KeyError):
        return RawDate(text)


def _skips(text: str) -> dict[str, tuple[int, ...]]:
    """Return RSS 2.0's skipHours and skipDays, which feedparser ignores. Hour 24 is midnight (Netscape's RSS counted from 1)."""
    found: dict[str, tuple[int, ...]] = {}
    for kind, content in SKIP_ELEMENT.findall(text[:MAX_HEAD_CHARS]):
        values = [value.lower() for value in SKIP_VALUE.findall(content)]
        if kind.lower() == "hours":
            found["skip_hours"] = tuple(sorted({int(hour) % 24 for hour in values if hour.isascii() and hour.isdigit() and len(hour) < 3}))
        else:
            found["skip_days"] = tuple(sorted(DAYS.index(day) for day in set(values) if day in DAYS))
    return found


def _number(text: str | None) -> int | None:
    return int(text) if text and text.isascii() and text.isdigit() and 0 < len(text) < 7 else None


def _rel(values: Mapping[str, Any], rel: str) -> str | None:
    return next((href for link in _list(values, "links") if _text(link, "rel") == rel and (href := _text(link, "href"))), None)


def read_json(text: str) -> RawFeed:
    """Parse a JSON Feed. Raises ``NotApplicable("not-a-feed")`` for other JSON."""
    data, complete = _loaded(text)
    rss = data.get("rss")
    if isinstance(rss, dict) and isinstance(rss.get("channel"), dict):
        return _rss(rss["channel"])
    items = data.get("items")
    if not isinstance(items, list) or not ("jsonfeed" in str(data.get("version")) or "title" in data):
        raise NotApplicable("not-a-feed", "JSON, but not a JSON Feed")
    return RawFeed(
        format="json11" if str(data.get("version")).endswith("1.1") else "json1",
        title=_text(data, "title"),
        home=_text(data, "home_page_url"),
        language=_text(data, "language"),
        hub=next((url for hub in _list(data, "hubs") if (url := _text(hub, "url"))), None),
        topic=_text(data, "feed_url"),
        entries=tuple(_json_entry(item) for item in items[:MAX_ENTRIES] if isinstance(item, dict)),
        warnings=() if complete else ("not-well-formed",),
    )


def _rss(channel: dict[str, Any]) -> RawFeed:
    """Read RSS 2.0 written as JSON (``{"rss": {"channel": {"item": [...]}}}``)."""
    items = channel.get("item")
    entries = []
    for item in (items if isinstance(items, list) else [items])[:MAX_ENTRIES]:
        if isinstance(item, dict):
            guid = item.get("guid")
            name = _text(guid, "#value") if isinstance(guid, dict) else _text(item, "guid")
            entries.append(
                RawEntry(
                    id=name,
                    urls=tuple(url for url in (_text(item, "link"), name) if url),
                    title=_text(item, "title"),
                    summary=_text(item, "description"),
                    published=_date(item, "pubDate"),
                    author=_text(item, "author"),
                )
            )
    return RawFeed(
        format="rss-json",
        title=_text(channel, "title"),
        home=_text(channel, "link"),
        language=_text(channel, "language"),
        entries=tuple(entries),
    )


def _loaded(text: str) -> tuple[dict[str, Any], bool]:
    try:
        found = json.loads(text, strict=False)
    except (ValueError, RecursionError):
        start = ITEMS.search(text)
        if not start:
            raise NotApplicable("not-a-feed", "broken JSON without items") from None
        head: dict[str, Any] = {}
        for close in ("}", '"x":0}'):
            with suppress(ValueError, RecursionError):
                head = json.loads(text[: start.start()].rstrip().rstrip(",") + close, strict=False)
                break
        decoder, place = json.JSONDecoder(strict=False), start.end()
        items = []
        with suppress(ValueError, RecursionError):
            while place < len(text):
                separator = re.compile(r"[\s,]*").match(text, place)
                item, place = decoder.raw_decode(text, separator.end() if separator else place)
                items.append(item)
        return {**(head if isinstance(head, dict) else {}), "items": items}, False
    if not isinstance(found, dict):
        raise NotApplicable("not-a-feed", "JSON, but not an object")
    return found, True


def _json_entry(item: dict[str, Any]) -> RawEntry:
    html, plain = _text(item, "content_html"), _text(item, "content_text")
    number = item.get("id")
    author = item.get("author")
    people = [*_list(item, "authors"), *([author] if isinstance(author, dict) else [])]
    names = [name for person in people if (name := _text(person, "name"))]
    return RawEntry(
        id=_text(item, "id") or (str(number) if isinstance(number, int) else None),
        urls=tuple(url for url in (_text(item, "url"), _text(item, "external_url"), _text(item, "id")) if url),
        title=_escaped(_text(item, "title")),
        summary=_escaped(_text(item, "summary")),
        content=html or _escaped(plain),
        published=_date(item, "date_published"),
        updated=_date(item, "date_modified"),
        author=", ".join(dict.fromkeys(names)) or None,
    )


def _escaped(text: str | None) -> str | None:
    """Return JSON Feed's plain text as markup, like the texts of every other dialect."""
    return escape(text, quote=False) if text else None
