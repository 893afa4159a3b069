"""Feeds: ``/feed.rss``, ``/topic/旅游/feed.atom``, ``/search/feed.json?q=…``, and an OPML file of them; the same lists as files
(``/feed.csv``, ``/feed.jsonl``), in the format of ``newsportal export``; OpenSearch, robots.txt, the icon; ``/oembed`` (oembed.com), an
embeddable quotation of a story with links to the portal and the original."""

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from email.utils import format_datetime, parsedate_to_datetime
from hashlib import blake2b
from io import StringIO
from typing import Any, Final, Self
from urllib.parse import urlsplit
from xml.sax.saxutils import escape

from fastapi import APIRouter, HTTPException, Request, Response
from fastapi.responses import JSONResponse, PlainTextResponse, RedirectResponse
from markupsafe import Markup

from newsportal.portal import safe_text
from newsportal.portal.access import or_404, require
from newsportal.portal.context import Portal, Visit, VisitDep
from newsportal.portal.reading.feed_formats import FORMATS, TYPES, Feed, FeedItem, Picture
from newsportal.portal.reading.picture_proxy import picture_addresses
from newsportal.portal.reading.search_query import search_from
from newsportal.portal.reading.story import absolute_url, figures, picture_views, text_without_captions
from newsportal.portal.render import address, render, static_address, topic_address
from newsportal.portal.request_body import has_etag
from newsportal.portal.safe_text import excerpt, site_name, title, web_address
from newsportal.services.discovery.opml import Outline
from newsportal.services.discovery.opml import write as write_opml
from newsportal.services.exchange.form import article_values
from newsportal.services.exchange.tables import COLUMNS, write_csv
from newsportal.store.results import Order, StoredArticle, StoryFilter, is_gallery
from newsportal.text import clean

router = APIRouter()

ENTRIES = 40
CATEGORIES = 30  # on the page of all feeds; other categories have feeds at their lists
SUMMARY_CHARS = 300
MAX_AGE = 300  # seconds: feed readers poll every quarter of an hour at most
COMMON_URLS = ("/feed", "/rss", "/rss.xml", "/atom.xml", "/feed.xml", "/feed/rss.xml", "/feed/atom.xml", "/feed/feed.json", "/index.xml")
"""Common URLs of feeds, which redirect to ours."""

MAX_EXPORTED: Final = 500  # stories per file, so that a request stays small; newsportal export has no limit
Rows = Iterable[Mapping[str, Any]]


def as_csv(rows: Rows) -> str:
    output = StringIO()
    write_csv(({name: row[name] for name in COLUMNS if name in row} for row in rows), output)
    return output.getvalue()


EXPORTS: Final[Mapping[str, tuple[str, Callable[[Rows], str]]]] = {
    "csv": ("text/csv", as_csv),
    "jsonl": ("application/x-ndjson", lambda rows: "".join(f"{json.dumps(row, ensure_ascii=False)}\n" for row in rows)),
}  # extension → media type and writer of a file


@dataclass(frozen=True, slots=True)
class FeedAddresses:
    """The URLs of a list as a feed in three formats, and as a file in two."""

    title: str
    rss: str
    atom: str
    json: str
    csv: str
    jsonl: str

    @classmethod
    def below(cls, path: str, title: str, **parameters: object) -> Self:
        """Return ``PATH/feed.rss`` and so on with these parameters; ``order`` and ``sort`` only of files: feeds are newest first."""
        narrowed = {name: value for name, value in parameters.items() if name not in ("order", "sort")}
        feeds = [address(f"{path}/feed.{ending}", **narrowed) for ending in FORMATS]
        return cls(clean(title), *feeds, *(address(f"{path}/feed.{ending}", **parameters) for ending in EXPORTS))


FILTERS = ("site", "source", "category")


def feed_addresses(title: str, topic: str | None = None, filters: Mapping[str, str | None] | None = None) -> FeedAddresses:
    """Return the feeds of all stories or of ``topic``, filtered by ``filters`` (:data:`FILTERS`, ``order``)."""
    return FeedAddresses.below(topic_address(topic) if topic else "", title, **(filters or {}))


@router.get("/feed.{ending}")
def everything(visit: VisitDep, ending: str) -> Response:
    """The newest stories, filtered by ``?site=``, ``?source=`` or ``?category=``."""
    return stories_response(visit, ending)


@router.get("/topic/{name:path}/feed.{ending}")
def of_topic(visit: VisitDep, name: str, ending: str) -> Response:
    if name not in visit.portal.topics():
        return RedirectResponse(f"{topic_address(or_404(visit.portal.renamed_topic(name)))}/feed.{ending}", 302)
    return stories_response(visit, ending, name)


def stories_response(visit: Visit, ending: str, topic: str | None = None) -> Response:
    filters = {name: visit.text(name) for name in FILTERS}
    order: Order = "hottest" if ending in EXPORTS and visit.text("order") == "hottest" else "newest"
    selection = StoryFilter(topic, filters["category"], filters["source"], filters["site"], order=order, limit=max_stories(ending))
    ids = [story.head.id for story in visit.portal.store.stories(selection).stories]
    title = " · ".join(part for part in (topic, *filters.values(), visit.portal.site.title) if part)
    page = topic_address(topic) if topic else "/latest" if any(filters.values()) else "/"
    return list_response(visit, ending, title, address(page, **filters), ids)


@router.get("/search/feed.{ending}")
def of_search(visit: VisitDep, ending: str) -> Response:
    """The newest stories for ``?q=`` and the filters; empty without a query or an index."""
    ranked = ending in EXPORTS and visit.text("sort") == "relevance"
    search = replace(search_from(visit.text), sort="relevance" if ranked else "time", page=1)
    query = search.query(visit.clock.now, visit.clock.zone, limit=max_stories(ending))
    hits = visit.portal.index.search(query).hits if visit.portal.index and not search.empty else ()
    name = " · ".join(part[:60] for part in (search.text, *search.filters.values(), visit.portal.site.title) if part)
    return list_response(visit, ending, name, replace(search, sort="relevance").address(), [hit.id for hit in hits])


@router.get("/feeds.opml")
def feeds_opml(request: Request, visit: VisitDep) -> Response:
    base = base_address(request)
    feeds = [Outline(f"{base}/feed.rss", visit.portal.site.title, home=f"{base}/")]
    feeds += [Outline(f"{base}{topic_address(name)}/feed.rss", name, home=f"{base}{topic_address(name)}") for name in visit.portal.topics()]
    disposition = {"content-disposition": 'attachment; filename="newsportal.opml"'}
    content = write_opml(visit.portal.site.title, feeds, visit.portal.now())
    return Response(content, media_type="text/x-opml; charset=utf-8", headers=disposition)


@router.get("/feeds")
def feeds_page(request: Request, visit: VisitDep) -> Response:
    rows = [(visit.say("Everything"), feed_addresses(visit.portal.site.title))]
    rows += [(clean(name), feed_addresses(name, name)) for name in visit.portal.topics()]
    counts = visit.portal.tally().by_category
    frequent = sorted(counts, key=lambda name: (-counts[name], name))[:CATEGORIES]
    categories = [(clean(name), feed_addresses(name, None, {"category": name})) for name in frequent if clean(name)]
    return render(request, "feeds.html", feeds=rows, categories=categories, feed=feed_addresses(visit.portal.site.title))


def redirect_common_url(request: Request) -> Response:
    path = request.url.path
    ending = "json" if path.endswith("json") else "atom" if "atom" in path else "rss"
    return RedirectResponse(f"/feed.{ending}", 301)


for path in COMMON_URLS:
    router.add_api_route(path, redirect_common_url)


def max_stories(ending: str) -> int:
    return MAX_EXPORTED if ending in EXPORTS else ENTRIES


def list_response(visit: Visit, ending: str, title: str, page: str, ids: Sequence[str]) -> Response:
    """Return the feed or file in the format ``ending``, or 304 if the client has the feed."""
    require(ending in (*FORMATS, *EXPORTS))
    articles = [article for article in visit.portal.store.articles(ids) if article.hidden is None]
    if ending in EXPORTS:
        kind, write = EXPORTS[ending]
        headers = {"content-disposition": f'attachment; filename="newsportal.{ending}"', "cache-control": "no-cache"}
        return Response(write(map(article_values, articles)), media_type=f"{kind}; charset=utf-8", headers=headers)
    base = base_address(visit.request)
    return feed_response(visit, ending, title, page, [entry_of(article, visit.portal, base) for article in articles])


def feed_response(visit: Visit, ending: str, title: str, page: str, entries: Sequence[FeedItem]) -> Response:
    """Return the feed of ``entries``; ``ending`` is one of :data:`FORMATS`."""
    base = base_address(visit.request)
    feed = Feed(clean(title), base + page, base + visit.current_url, visit.portal.site.language, entries)
    content = FORMATS[ending](feed)
    headers = {
        "etag": f'W/"{blake2b(content, digest_size=10).hexdigest()}"',
        "last-modified": format_datetime(feed.updated, usegmt=True),
        "cache-control": f"max-age={MAX_AGE}",
    }
    if is_unchanged(visit.request, headers["etag"], feed):
        return Response(status_code=304, headers=headers)
    return Response(content, media_type=f"{TYPES[ending]}; charset=utf-8", headers=headers)


def is_unchanged(request: Request, etag: str, feed: Feed) -> bool:
    """RFC 9110 section 13.2.2: the ETag decides if it was sent; else the date."""
    if "if-none-match" in request.headers:
        return has_etag(request, etag)
    try:
        since = parsedate_to_datetime(request.headers.get("if-modified-since", ""))
        return bool(feed.entries) and feed.updated.replace(microsecond=0) <= since
    except (TypeError, ValueError):
        return False


def entry_of(article: StoredArticle, portal: Portal, base: str) -> FeedItem:
    """Return an article as the entry of a feed; of a photo story, with its pictures."""
    html = str(safe_text.body(article, picture_addresses(portal, article, base)))
    entry = FeedItem(
        id=f"urn:newsportal:{article.id}", title=safe_text.title(article), read=f"{base}/story/{article.story_id}",
        url=safe_text.web_address(article.url), published=article.moment, updated=max(article.moment, article.fetched),
        summary=safe_text.excerpt(article, SUMMARY_CHARS), html=html, site=safe_text.site_name(article),
        author=clean(article.author) if article.author else None, topics=article.topics, language=article.language,
    )  # fmt: skip
    pictures = portal.store.galleries.pictures(article.id) if is_gallery(article.source) else []
    if not pictures:
        return entry
    views = picture_views(portal, article.id, pictures)  # the picture proxy converts pictures: their formats are unknown
    types = {picture.place: f"image/{picture.image.format or 'jpeg'}" for picture in pictures if portal.picture_proxy is None}
    enclosed = tuple(Picture(absolute_url(view.address, base), types.get(view.place, "image/jpeg"), view.caption) for view in views)
    return replace(entry, html=str(figures(views, text_without_captions(article.text, views), base)), pictures=enclosed)


def base_address(request: Request) -> str:
    """Return the portal's URL as configured in ``sources.yaml``, else as in the request, whose host the guard has checked."""
    return Visit(request).portal.site.url or str(request.base_url).rstrip("/")


OPEN_SEARCH = """<?xml version="1.0" encoding="utf-8"?>
<OpenSearchDescription xmlns="http://a9.com/-/spec/opensearch/1.1/">
<ShortName>{name}</ShortName>
<Description>{title}</Description>
<InputEncoding>UTF-8</InputEncoding>
<Image type="image/svg+xml">{icon}</Image>
<Url type="text/html" template="{base}/search?q={{searchTerms}}"/>
<Url type="application/x-suggestions+json" template="{base}/search/suggest?q={{searchTerms}}"/>
</OpenSearchDescription>
"""

SHORT_NAME_CHARS = 16  # limit of the OpenSearch specification


@router.get("/opensearch.xml")
def open_search(request: Request) -> Response:
    title, base = clean(Visit(request).portal.site.title), base_address(request)
    texts = {"name": title[:SHORT_NAME_CHARS], "title": title, "icon": base + static_address("icon.svg"), "base": base}
    content = OPEN_SEARCH.format(**{key: escape(value, {'"': "&quot;"}) for key, value in texts.items()})
    return Response(content, media_type="application/opensearchdescription+xml")


@router.get("/robots.txt")
def robots(request: Request) -> Response:
    """The portal repeats what others published: search engines should send readers to the originals."""
    return PlainTextResponse("User-agent: *\nDisallow: /\n")


@router.get("/favicon.ico")
def icon(request: Request) -> Response:
    return RedirectResponse(static_address("icon.svg"), 301)


STORY: Final = re.compile(r"/story/([^/]+)/?")
MAX_WIDTH: Final = 600  # pixels: the width of a column of text
QUOTATION: Final = Markup('<blockquote><p><a href="{page}">{title}</a></p><p>{excerpt}</p><footer>{source}</footer></blockquote>')
SOURCE: Final = Markup('<a href="{}">{}</a>')


@router.get("/oembed")
def oembed(request: Request, visit: VisitDep) -> Response:
    """The story at ``?url=``; 404 for other URLs, 501 for formats other than JSON, as the specification says."""
    if (visit.text("format") or "json") != "json":
        raise HTTPException(501)
    base = base_address(request)
    path = _path(visit.text("url", 2000) or "", {urlsplit(base).netloc, request.url.netloc})
    match = STORY.fullmatch(path)
    story = or_404(visit.portal.store.story(match[1]) if match else None)
    article, page = story.head, f"{base}/story/{story.id}"
    name, original = site_name(article), web_address(article.url)
    source = SOURCE.format(original, name) if original else name
    content = {
        "version": "1.0", "type": "rich", "title": title(article), "author_name": name, "author_url": original or page,
        "provider_name": visit.portal.site.title, "provider_url": f"{base}/", "cache_age": MAX_AGE,
        "html": QUOTATION.format(page=page, title=title(article), excerpt=excerpt(article, SUMMARY_CHARS), source=source),
        "width": min(visit.integer("maxwidth", MAX_WIDTH) or MAX_WIDTH, MAX_WIDTH), "height": None,
    }  # fmt: skip
    return JSONResponse(content, headers={"cache-control": f"public, max-age={MAX_AGE}"})


def _path(url: str, hosts: set[str]) -> str:
    """Return the path of a URL of this portal; empty for other URLs."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return ""
    return parts.path if parts.scheme in ("http", "https") and parts.netloc in hosts else ""
