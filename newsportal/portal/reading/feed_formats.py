"""Feeds as RSS 2.0, Atom (RFC 4287) and JSON Feed 1.1, from the same value. Pure.

The standard library serialises the XML, so the output is well-formed; characters not allowed in XML 1.0 are removed first (threats E).
Everything depends on the stories only, not on the clock, so that an unchanged list has an unchanged ETag.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import format_datetime
from xml.etree.ElementTree import Element, SubElement, indent, register_namespace, tostring  # only to write

from newsportal.text import CONTROL

ATOM = "http://www.w3.org/2005/Atom"
CONTENT = "http://purl.org/rss/1.0/modules/content/"
DC = "http://purl.org/dc/elements/1.1/"
MEDIA = "http://search.yahoo.com/mrss/"
EPOCH = datetime(2000, 1, 1, tzinfo=UTC)  # the update time of an empty feed: RFC 4287 requires one

for prefix, namespace in (("atom", ATOM), ("content", CONTENT), ("dc", DC), ("media", MEDIA)):
    register_namespace(prefix, namespace)


@dataclass(frozen=True, slots=True)
class Picture:
    """A picture of a story. ``type``: its media type, as far as known."""

    url: str
    type: str
    caption: str | None = None


@dataclass(frozen=True, slots=True)
class FeedItem:
    """A story. ``html`` is sanitised; ``id`` never changes; ``read`` is its page in this portal, ``url`` the original, if safe."""

    id: str
    title: str
    read: str
    url: str | None
    published: datetime
    updated: datetime
    summary: str
    html: str
    site: str
    author: str | None = None
    topics: tuple[str, ...] = ()
    language: str | None = None
    pictures: tuple[Picture, ...] = ()


@dataclass(frozen=True, slots=True)
class Feed:
    """A list of stories as a feed. ``home`` is its page, ``address`` the feed's own URL in the requested format."""

    title: str
    home: str
    address: str
    language: str
    entries: Sequence[FeedItem] = ()

    @property
    def updated(self) -> datetime:
        return max((entry.updated for entry in self.entries), default=EPOCH)


def rss(feed: Feed) -> bytes:
    """Return RSS 2.0 with the full text in ``content:encoded``. Items without a safe original link to their page in the portal."""
    root = Element("rss", version="2.0")
    channel = SubElement(root, "channel")
    updated = format_datetime(feed.updated.astimezone(UTC), usegmt=True)
    _add_texts(channel, title=feed.title, link=feed.home, description=feed.title, language=feed.language, lastBuildDate=updated)
    _add(channel, f"{{{ATOM}}}link", href=feed.address, rel="self", type=TYPES["rss"])
    for entry in feed.entries:
        item = SubElement(channel, "item")
        _add_texts(item, title=entry.title, link=entry.url or entry.read)
        _add(item, "guid", entry.id, isPermaLink="false")
        _add(item, "pubDate", format_datetime(entry.published.astimezone(UTC), usegmt=True))
        _add(item, f"{{{DC}}}creator", entry.author or entry.site)
        for topic in entry.topics:
            _add(item, "category", topic)
        _add(item, "description", entry.summary)
        _add(item, f"{{{CONTENT}}}encoded", entry.html)
        for picture in entry.pictures[:1]:  # most apps use the first only; RSS requires a length, which is unknown
            _add(item, "enclosure", url=picture.url, type=picture.type, length="0")
        for picture in entry.pictures:
            media = _add(item, f"{{{MEDIA}}}content", url=picture.url, type=picture.type, medium="image")
            if picture.caption:
                _add(media, f"{{{MEDIA}}}description", picture.caption)
    return _written(root)


def atom(feed: Feed) -> bytes:
    """Return Atom with the full text in ``content``; the id of the feed is its page, so that it survives a change of format."""
    root = Element("feed", {"xmlns": ATOM, "xml:lang": feed.language})
    _add_texts(root, title=feed.title, id=feed.home, updated=_stamp(feed.updated))
    _add(root, "link", href=feed.home, rel="alternate", type="text/html")
    _add(root, "link", href=feed.address, rel="self", type=TYPES["atom"])
    for entry in feed.entries:
        item = _add(root, "entry")
        _add_texts(item, title=entry.title, id=entry.id)
        for picture in entry.pictures:
            _add(item, "link", href=picture.url, rel="enclosure", type=picture.type)
        _add(item, "link", href=entry.url or entry.read, rel="alternate", type="text/html")
        _add(item, "link", href=entry.read, rel="related", type="text/html")
        _add_texts(item, published=_stamp(entry.published), updated=_stamp(entry.updated))
        _add(_add(item, "author"), "name", entry.author or entry.site)
        for topic in entry.topics:
            _add(item, "category", term=topic)
        _add(item, "summary", entry.summary, type="text")
        _add(item, "content", entry.html, type="html")
    return _written(root)


def json_feed(feed: Feed) -> bytes:
    """Return JSON Feed 1.1. JSON escapes control characters; lone surrogates, which cannot be encoded, are removed."""
    items = [
        {
            "id": entry.id,
            "url": entry.url or entry.read,
            "external_url": entry.url,
            "title": entry.title,
            "summary": entry.summary,
            "content_html": entry.html,
            "date_published": _stamp(entry.published),
            "date_modified": _stamp(entry.updated),
            "authors": [{"name": entry.author or entry.site}],
            "tags": list(entry.topics),
            "language": entry.language,
            "image": entry.pictures[0].url if entry.pictures else None,
            "attachments": [
                {"url": item.url, "mime_type": item.type, **({"title": item.caption} if item.caption else {})} for item in entry.pictures
            ],
        }
        for entry in feed.entries
    ]
    content = {
        "version": "https://jsonfeed.org/version/1.1", "title": feed.title, "home_page_url": feed.home, "feed_url": feed.address,
        "language": feed.language, "items": [{key: value for key, value in item.items() if value} for item in items],
    }  # fmt: skip
    return CONTROL.sub("", json.dumps(content, ensure_ascii=False, indent=1)).encode()


FORMATS: Mapping[str, Callable[[Feed], bytes]] = {"rss": rss, "atom": atom, "json": json_feed}  # by file extension
TYPES = {"rss": "application/rss+xml", "atom": "application/atom+xml", "json": "application/feed+json"}


def _add(parent: Element, tag: str, text: str | None = None, /, **attributes: str) -> Element:
    element = SubElement(parent, tag, {key: CONTROL.sub("", value) for key, value in attributes.items()})
    element.text = CONTROL.sub("", text) if text is not None else None
    return element


def _add_texts(parent: Element, **texts: str) -> None:
    for tag, text in texts.items():
        _add(parent, tag, text)


def _stamp(moment: datetime) -> str:
    """Format as RFC 3339 in UTC."""
    return moment.astimezone(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")


def _written(root: Element) -> bytes:
    indent(root)
    return b'<?xml version="1.0" encoding="utf-8"?>\n' + bytes(tostring(root, encoding="utf-8"))
