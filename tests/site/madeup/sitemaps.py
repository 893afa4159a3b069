"""The sitemaps of two sites: an index that lists itself, a gzipped sitemap and a news sitemap; a plain-text list of URLs."""

from __future__ import annotations

import gzip
from html import escape

from madeup.exchange import Request, Response
from madeup.sites import SITES
from madeup.world import World

INDEX = ("harbour", "/sitemap_index.xml")
ALL = "/sitemap-all.xml.gz"
NEWS = "/news-sitemap.xml"
TEXT = ("xifeng", "/sitemap.txt")
HEAD = '<?xml version="1.0" encoding="UTF-8"?>\n'
SPACE = 'xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"'
NEWS_SPACE = 'xmlns:news="http://www.google.com/schemas/sitemap-news/0.9"'
LATEST = 10
"""Articles in the news sitemap."""


def sitemap_response(world: World, request: Request) -> Response | None:
    """Return the sitemap at a path; ``None`` if there is none."""
    if request.site == INDEX[0]:
        path = request.path
        bodies = {INDEX[1]: _index, ALL: _all, NEWS: _news}
        return Response(content_type="application/xml", body=bodies[path](world)) if path in bodies else None
    if (request.site, request.path) == TEXT:
        lines = [world.url(TEXT[0], copy.path) for copy in world.of(TEXT[0]) if not copy.private]
        return Response(content_type="text/plain", body="\n".join([world.url(TEXT[0], "/about.html"), *lines, ""]).encode())
    return None


def _index(world: World) -> bytes:
    names = (world.url(INDEX[0], path) for path in (INDEX[1], ALL, NEWS))
    inside = "".join(f"<sitemap><loc>{name}</loc></sitemap>" for name in names)
    return f"{HEAD}<sitemapindex {SPACE}>{inside}</sitemapindex>".encode()


def _all(world: World) -> bytes:
    copies = [copy for copy in world.of(INDEX[0]) if not copy.private]
    entries = [f"<url><loc>{world.url(INDEX[0], copy.path)}</loc><lastmod>{copy.published.isoformat()}</lastmod></url>" for copy in copies]
    about = f"<url><loc>{world.url(INDEX[0], '/about.html')}</loc></url>"
    return gzip.compress(f"{HEAD}<urlset {SPACE}>{about}{''.join(entries)}</urlset>".encode(), mtime=0)


def _news(world: World) -> bytes:
    name = f"<news:publication><news:name>{escape(SITES[INDEX[0]].name)}</news:name><news:language>en</news:language></news:publication>"
    entries = [
        f"<url><loc>{world.url(INDEX[0], copy.path)}</loc><news:news>{name}<news:title>{escape(copy.title)}</news:title>"
        f"<news:publication_date>{copy.published.isoformat()}</news:publication_date></news:news></url>"
        for copy in [copy for copy in world.of(INDEX[0]) if not copy.private][:LATEST]
    ]
    return f"{HEAD}<urlset {SPACE} {NEWS_SPACE}>{''.join(entries)}</urlset>".encode()
