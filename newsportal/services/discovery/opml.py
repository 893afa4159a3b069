"""Read and write feed lists in OPML 1.0 and 2.0, tolerating broken files. Pure.

Folders are outlines without a URL; the category of a feed is its innermost folder (as written by FreshRSS, Miniflux, Feedly, NetNewsWire),
else its ``category`` attribute (OPML 2.0, "Subscription lists").
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from email.utils import format_datetime
from itertools import chain
from xml.etree import ElementTree

from newsportal.errors import NewsportalError
from newsportal.extractors.feeds.xml_stream import XmlText
from newsportal.messages import Message
from newsportal.text import clean, dom

MAX_BYTES = 8 * 1024 * 1024  # 20,000 feeds take about 5 MB
MAX_FEEDS = 20_000
MAX_TEXT = 200
MAX_DEPTH = 200  # nested folders; readers write one or two levels, and libxml2 stops at 256


class BadOpml(NewsportalError):
    """Raised by :func:`read` for a file without outlines. The caller shows it; nothing was imported."""


@dataclass(frozen=True, slots=True)
class Outline:
    """A feed in a list. ``url``: absolute http(s) URL; ``home``: URL of the site; ``folder``: the innermost folder."""

    url: str
    title: str | None = None
    folder: str | None = None
    home: str | None = None


@dataclass(frozen=True, slots=True)
class OutlineList:
    """Parsed. ``skipped``: outlines without a URL. ``warnings``: slugs of :mod:`newsportal.extractors.feeds.xml_stream`, ``too-many``."""

    title: str | None
    feeds: tuple[Outline, ...]
    repeated: int = 0
    skipped: int = 0
    warnings: tuple[str, ...] = ()


OTHER_ROOTS = {"rss": "opml.is-feed", "feed": "opml.is-feed", "rdf": "opml.is-feed", "html": "opml.is-html"}
NOWHERE = "https://opml.invalid/"  # base of lists without a URL (RFC 6761: no such host): relative URLs are invalid


def read(body: bytes, content_type: str | None = None, base: str = NOWHERE) -> OutlineList:
    """Return the feeds of an OPML file in order, without duplicates. Broken XML is read as far as possible. ``base``: the list's own URL.
    Raises ``BadOpml`` for other files (an HTML page, a feed, an empty file), and for more than 8 MiB."""
    text = XmlText(body, content_type, limit=MAX_BYTES)
    pieces = iter(text)
    first = next(pieces, "")
    if not first.strip():
        raise BadOpml(Message("opml.empty" if not body.strip() else "opml.no-text"))
    if not first.lstrip().startswith("<"):
        raise BadOpml(Message("opml.not-opml"))
    reader = _Reader(base)
    try:
        dom.stream_xml(chain((first,), pieces), reader)
    except _StopParsing as why:
        text.warn(str(why))
    if "too-large" in text.warnings:
        raise BadOpml(Message("opml.too-large", number=MAX_BYTES // 1024**2))
    if reader.root != "opml":
        raise BadOpml(Message(OTHER_ROOTS.get(reader.root or "", "opml.not-opml")))
    feeds = tuple(reader.feeds.values())
    return OutlineList(clean(reader.title or "") or None, feeds, reader.repeated, reader.skipped, tuple(text.warnings))


def write(title: str, feeds: Iterable[Outline], now: datetime) -> str:
    """Return an OPML 2.0 list with a folder per category, in the given order; feeds without one come last. Always well-formed."""
    root = ElementTree.Element("opml", version="2.0")
    head, body = ElementTree.SubElement(root, "head"), ElementTree.SubElement(root, "body")
    ElementTree.SubElement(head, "title").text = clean(title)
    ElementTree.SubElement(head, "dateCreated").text = format_datetime(now)
    folders: dict[str | None, ElementTree.Element] = {None: body}
    for feed in sorted(feeds, key=lambda feed: feed.folder is None):
        if feed.folder not in folders:
            folders[feed.folder] = _outline(body, text=feed.folder, title=feed.folder)
        name = feed.title or feed.url
        _outline(folders[feed.folder], text=name, title=name, type="rss", xmlUrl=feed.url, htmlUrl=feed.home)
    ElementTree.indent(root)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{ElementTree.tostring(root, "unicode")}\n'


def _outline(parent: ElementTree.Element, **attributes: str | None) -> ElementTree.Element:
    return ElementTree.SubElement(parent, "outline", {name: clean(value) for name, value in attributes.items() if value})


class _StopParsing(Exception):
    """Raised by the parser target to stop parsing."""


class _Reader:
    """Parser target that collects feeds and their open folders."""

    def __init__(self, base: str) -> None:
        self.root: str | None = None
        self.title: str | None = None
        self.feeds: dict[str, Outline] = {}
        self.repeated = self.skipped = 0
        self._base = base
        self._folders: list[str | None] = []
        self._in_title = False

    def start(self, tag: str, attributes: Mapping[str, str]) -> None:
        name = tag.rpartition("}")[2].rpartition(":")[2].lower()
        if self.root is None:
            self.root = name
            if name != "opml":
                raise _StopParsing(name)
        self._in_title = name == "title"
        if name != "outline":
            return
        values = {key.rpartition("}")[2].lower(): clean(value) for key, value in attributes.items()}
        folder = None if "xmlurl" in values else (values.get("title") or values.get("text") or "")[:MAX_TEXT] or None
        if "xmlurl" in values:
            self._add_feed(values)
        if len(self._folders) >= MAX_DEPTH:
            raise _StopParsing("too-deep")
        self._folders.append(folder)

    def end(self, tag: str) -> None:
        self._in_title = False
        if tag.rpartition("}")[2].rpartition(":")[2].lower() == "outline" and self._folders:
            self._folders.pop()

    def data(self, text: str) -> None:
        if self._in_title:
            self.title = ((self.title or "") + text)[:MAX_TEXT]

    def close(self) -> None:
        """Do nothing at the end."""

    def _add_feed(self, values: Mapping[str, str]) -> None:
        raw = values["xmlurl"].removeprefix("feed:")  # feed://host/path and feed:https://host/path
        url = self._absolute(f"https:{raw}" if raw.startswith("//") else raw)
        if url is None or len(url) > 2_048:
            self.skipped += 1
        elif url in self.feeds:
            self.repeated += 1
        elif len(self.feeds) >= MAX_FEEDS:
            raise _StopParsing("too-many")
        else:
            category = values.get("category", "").partition(",")[0].strip("/ ").rpartition("/")[2]  # Linux in /Technology/Linux,/Open
            folder = next(filter(None, reversed(self._folders)), None) or category[:MAX_TEXT] or None
            title = (values.get("title") or values.get("text") or "")[:MAX_TEXT] or None
            self.feeds[url] = Outline(url, title, folder, self._absolute(values.get("htmlurl")))

    def _absolute(self, written: str | None) -> str | None:
        url = dom.join(self._base, written) if written else None
        return None if url is None or url.startswith(NOWHERE) else url
