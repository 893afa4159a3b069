"""The feeds of the sites: RSS 2.0, Atom, RDF, JSON; valid, malformed, in legacy encodings."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, replace
from email.utils import format_datetime
from hashlib import blake2b
from html import escape

from madeup.exchange import Request, Response
from madeup.sites import SITES
from madeup.world import Copy, World

ENTRIES = 15


@dataclass(frozen=True, slots=True)
class Feed:
    """``quirk`` is a stable slug of its peculiarity; ``label`` is the encoding in its XML declaration."""

    site: str
    path: str
    kind: str
    encoding: str = "utf-8"
    label: str = "utf-8"
    content_type: str = "application/xml"
    quirk: str | None = None

    def link(self, world: World, copy: Copy) -> str:
        """Return the link of an entry, as the feed writes it."""
        if self.quirk == "shared-link":
            return world.url(self.site, "/")
        if self.quirk == "relative":
            return copy.path
        return world.url(self.site, copy.path) + ("?utm_source=rss&utm_medium=feed" if self.quirk == "utm" else "")


FEEDS = (
    Feed("kunzhou", "/rss/news.xml", "rss", "gb18030", "gb2312", "text/xml"),
    Feed("haitang", "/feed", "rss", content_type="application/rss+xml; charset=utf-8", quirk="relative"),
    Feed("nanwan", "/rss.php", "rss", "big5", "big5", "text/html", quirk="no-dates"),
    Feed("qingtai", "/atom.xml", "atom", content_type="application/atom+xml"),
    Feed("qingtai", "/feed.json", "json", content_type="application/feed+json"),
    Feed("xifeng", "/rss.xml", "rss", "gbk", "gbk", "text/xml", quirk="broken"),
    Feed("harbour", "/rss", "rss", "cp1252", "windows-1252", "application/rss+xml"),
    Feed("quill", "/index.rdf", "rdf", content_type="application/rdf+xml"),
    Feed("beichen", "/rss/stock.xml", "rss", "utf-16", "utf-16", "application/xml; charset=utf-16"),
    Feed("chaoyin", "/feed.xml", "rss", quirk="shared-link"),
    Feed("shenyuan", "/rss.xml", "rss"),
    Feed("maze", "/rss.xml", "rss", quirk="utm"),
    Feed("maze", "/odd.xml", "rss", quirk="odd-dates"),
    Feed("maze", "/restless.xml", "rss", quirk="changing-etag"),
)
ODD_DATES = ("", "昨天 08:30", "3分钟前", "Mon, 01 Jan 0001 00:00:00 GMT", "Tue, 01 Jan 2099 00:00:00 GMT", "soon")
"""Values in place of dates in the feed with the quirk ``odd-dates``, in turn."""

BY_PATH = {(feed.site, feed.path): feed for feed in FEEDS}


def entries(world: World, feed: Feed) -> list[Copy]:
    """Return the articles that the feed lists, newest first."""
    return [copy for copy in world.of(feed.site) if not copy.private][:ENTRIES]


def feed_response(world: World, feed: Feed, request: Request) -> Response:
    """Return the feed, or 304 if the client has it (ETag first, else the date). The one with a changing ETag always seems modified."""
    copies = entries(world, feed)
    body = BUILDERS[feed.kind](world, feed, copies).encode(feed.encoding, "xmlcharrefreplace")
    restless = feed.quirk == "changing-etag"
    tag = f'"{request.nth if restless else blake2b(body, digest_size=8).hexdigest()}"'
    changed = format_datetime(world.now if restless else copies[0].published)
    fresh = Response(content_type=feed.content_type, body=body, headers=(("ETag", tag), ("Last-Modified", changed)))
    etag = request.header("If-None-Match")
    if etag == tag or (not etag and request.header("If-Modified-Since") == changed):
        return replace(fresh, status=304, body=b"")
    return fresh


def _rss(world: World, feed: Feed, copies: list[Copy]) -> str:
    name, home = escape(SITES[feed.site].name), world.url(feed.site, "/")
    items = "\n".join(_rss_item(world, feed, copy) for copy in copies)
    head = f"<title>{name}</title><link>{home}</link><description>{name}</description><ttl>30</ttl>"
    start = f'<?xml version="1.0" encoding="{feed.label}"?>\n<rss version="2.0"><channel>{head}\n'
    if feed.quirk == "broken":  # a lone ampersand, an unclosed element, and a missing end
        return start + items.replace("<description>", "<description>新闻 & 生活 <br>", 1)
    return f"{start}{items}\n</channel></rss>\n"


def _rss_item(world: World, feed: Feed, copy: Copy) -> str:
    date = "" if feed.quirk == "no-dates" else f"<pubDate>{_date(feed, copy)}</pubDate>"
    author = f"<author>{escape(copy.author)}</author>" if copy.author else ""
    guid = f'<guid isPermaLink="false">{feed.site}-{copy.number}</guid>'
    return (
        f"<item><title>{escape(copy.title)}</title><link>{escape(feed.link(world, copy))}</link>{guid}{date}{author}"
        f"<category>{escape(copy.category)}</category><description>{escape(copy.lead)}</description></item>"
    )


def _date(feed: Feed, copy: Copy) -> str:
    return ODD_DATES[copy.number % len(ODD_DATES)] if feed.quirk == "odd-dates" else format_datetime(copy.published)


def _atom(world: World, feed: Feed, copies: list[Copy]) -> str:
    entries = "\n".join(
        f'<entry><title type="html">{escape(escape(copy.title))}</title><link rel="alternate" href="{escape(feed.link(world, copy))}"/>'
        f"<id>tag:{feed.site},2020:{copy.number}</id><published>{copy.published.isoformat()}</published><updated>{copy.published.isoformat()}</updated>"
        f"<author><name>{escape(copy.author or SITES[feed.site].name)}</name></author><summary>{escape(copy.lead)}</summary></entry>"
        for copy in copies
    )
    changed = copies[0].published.isoformat()
    head = f"<title>{escape(SITES[feed.site].name)}</title><id>tag:{feed.site},2020:feed</id><updated>{changed}</updated>"
    return f'<?xml version="1.0" encoding="utf-8"?>\n<feed xmlns="http://www.w3.org/2005/Atom">{head}\n{entries}\n</feed>\n'


def _rdf(world: World, feed: Feed, copies: list[Copy]) -> str:
    name, home = escape(SITES[feed.site].name), world.url(feed.site, "/")
    links = [escape(feed.link(world, copy)) for copy in copies]
    order = "".join(f'<rdf:li rdf:resource="{link}"/>' for link in links)
    items = "\n".join(
        f'<item rdf:about="{link}"><title>{escape(copy.title)}</title><link>{link}</link><description>{escape(copy.lead)}</description>'
        f"<dc:date>{copy.published.isoformat()}</dc:date><dc:creator>{escape(copy.author or '')}</dc:creator></item>"
        for link, copy in zip(links, copies, strict=True)
    )
    spaces = 'xmlns="http://purl.org/rss/1.0/" xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:dc="http://purl.org/dc/elements/1.1/"'
    channel = f'<channel rdf:about="{home}"><title>{name}</title><link>{home}</link><items><rdf:Seq>{order}</rdf:Seq></items></channel>'
    return f'<?xml version="1.0" encoding="utf-8"?>\n<rdf:RDF {spaces}>{channel}\n{items}\n</rdf:RDF>\n'


def _json(world: World, feed: Feed, copies: list[Copy]) -> str:
    items = [
        {
            "id": f"{feed.site}-{copy.number}",
            "url": feed.link(world, copy),
            "title": copy.title,
            "summary": copy.lead,
            "content_text": copy.text,
            "date_published": copy.published.isoformat(),
            "authors": [{"name": copy.author or SITES[feed.site].name}],
        }
        for copy in copies
    ]
    head = {"version": "https://jsonfeed.org/version/1.1", "title": SITES[feed.site].name, "home_page_url": world.url(feed.site, "/")}
    return json.dumps(head | {"items": items}, ensure_ascii=False)


BUILDERS: dict[str, Callable[[World, Feed, list[Copy]], str]] = {"rss": _rss, "atom": _atom, "rdf": _rdf, "json": _json}
