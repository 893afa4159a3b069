"""Articles and lists as pages: the layout of a site with content. Text is escaped only here."""

from __future__ import annotations

import codecs
import json
from collections.abc import Sequence
from html import escape

from madeup.bodies import BODIES
from madeup.exchange import Response
from madeup.hubs import Hub, channel_name, navigation
from madeup.layouts import layout
from madeup.sites import SITES, Site
from madeup.world import SLUGS, Copy, World

WORDS = {"en": ("Previous", "Next"), "zh": ("上一页", "下一页"), "zh-Hant": ("上一頁", "下一頁")}
PADDING = "模板编号 8a3f " * 90
"""Longer than the 1,024 bytes in which HTML parsers look for ``meta charset``."""

SIDE_LINKS = 5
HALF_WIDTH = 4  # every fourth UTF-16 page has no byte order mark


def article_page(world: World, copy: Copy, page: int = 1, **more: str) -> Response:
    """Return page ``page`` (from 1) of an article; ``more`` replaces parts of the layout with HTML."""
    site = SITES[copy.site]
    filled = layout(site.key)["article"].substitute(_article_parts(world, site, copy, page) | more)
    bare = site.encoding == "utf-16" and copy.number % HALF_WIDTH == 0
    return encoded(filled, site, bare)


def article_encoding(copy: Copy) -> str:
    """Return Python's name of the encoding used by :func:`article_page`."""
    return "utf-16-le" if SITES[copy.site].encoding == "utf-16" and copy.number % HALF_WIDTH == 0 else SITES[copy.site].encoding


def hub_page(world: World, hub: Hub, traps: str = "") -> Response:
    """Return a list page; ``traps`` is HTML after the items."""
    site = SITES[hub.site]
    parts = _frame(world, site) | {
        "title": escape(f"{hub.name} - {site.name}" if hub.kind != "front" else site.name),
        "heading": escape(hub.name),
        "items": "".join(_item(site, copy, "item") for copy in hub.copies),
        "pager": _pager(site, hub.paths, hub.page),
        "ranking": _side(site, _ranking(world, site.key)),
        "traps": traps,
    }
    return encoded(layout(site.key)["hub"].substitute(parts), site)


def encoded(html: str, site: Site, bare: bool = False) -> Response:
    """Encode HTML as the site does: characters missing in its encoding become references."""
    if site.encoding != "utf-16":
        return Response(content_type=site.header, body=html.encode(site.encoding, "xmlcharrefreplace"))
    body = html.encode("utf-16-le")
    if bare:
        return Response(content_type="text/html; charset=utf-16le", body=body)
    return Response(content_type=site.header, body=codecs.BOM_UTF16_LE + body)


def plain_page(site: Site, title: str, *lines: str) -> Response:
    """Return a page without a story: about us, log in."""
    text = "".join(f"<p>{escape(line)}</p>" for line in lines)
    head = f"<html><head><title>{escape(title)}</title></head>"
    return encoded(f"{head}<body><h1>{escape(title)}</h1>{text}<a href='/'>{escape(site.name)}</a></body></html>", site)


def comments_path(copy: Copy) -> str:
    return f"/comment/{copy.number}.shtml"


def origin_of(copy: Copy) -> str:
    """Return the source named on the page: the first publisher of a repost, else the site itself."""
    return copy.origin or SITES[copy.site].name


def _frame(world: World, site: Site) -> dict[str, str]:
    sections = layout(site.key)
    return {
        "site": escape(site.name),
        "nav": "".join(sections["nav"].substitute(href=href, title=escape(title)) for href, title in navigation(world, site)),
        "others": "".join(sections["other"].substitute(href=href, title=escape(title)) for href, title in site.others),
    }


def _article_parts(world: World, site: Site, copy: Copy, page: int) -> dict[str, str]:
    copies = world.of(site.key)
    place = copies.index(copy)
    images = [(copy.picture_path(index), picture.caption) for index, picture in enumerate(copy.pictures)] if page == 1 else []
    return _frame(world, site) | {
        "title": escape(copy.title),
        "category": escape(channel_name(site, copy.category)),
        "channel": site.hub.format(slug=SLUGS[copy.category]),
        "time": escape(site.date(copy.published)),
        "iso": copy.published.isoformat(),
        "origin": escape(site.origin.format(origin_of(copy))),
        "author": escape((site.taken if copy.origin else site.byline).format(copy.author)) if copy.author else "",
        "meta_author": f'<meta name="author" content="{escape(copy.author)}">' if copy.author else "",
        "lead": escape(copy.lead[:80]),
        "url": world.url(site.key, copy.path),
        "body": BODIES[site.body](copy.parts[page - 1], images),
        "pager": _pager(site, copy.paths, page),
        "related": _side(site, (copies[place + 1 :] + copies[:place])[:SIDE_LINKS]),
        "ranking": _side(site, [other for other in _ranking(world, site.key) if other is not copy]),
        "comments": comments_path(copy),
        "count": str(copy.number % 97 + 2),
        "padding": PADDING,
        "head": "",
        "og_image": f'<meta property="og:image" content="{world.url(site.key, images[0][0])}">' if images else "",
        "json": _json_ld(world, site, copy),
    }


def _json_ld(world: World, site: Site, copy: Copy) -> str:
    data = {
        "@context": "https://schema.org",
        "@type": "NewsArticle",
        "headline": copy.title,
        "datePublished": copy.published.isoformat(),
        "author": {"@type": "Person" if copy.author else "Organization", "name": copy.author or site.name},
        "publisher": {"@type": "Organization", "name": site.name},
        "mainEntityOfPage": world.url(site.key, copy.path),
    }
    return json.dumps(data, ensure_ascii=False).replace("</", "<\\/")


def _item(site: Site, copy: Copy, section: str) -> str:
    return layout(site.key)[section].substitute(
        href=escape(copy.path),
        title=escape(copy.title),
        lead=escape(copy.lead[:60]),
        date=escape(site.listed.format(d=copy.published)),
        iso=copy.published.isoformat(),
        comments=comments_path(copy),
        count=str(copy.number % 97 + 2),
    )


def _side(site: Site, copies: Sequence[Copy]) -> str:
    return "".join(_item(site, copy, "related") for copy in copies)


def _ranking(world: World, key: str) -> list[Copy]:
    return sorted(world.of(key), key=lambda copy: copy.number)[:SIDE_LINKS]


def _pager(site: Site, paths: Sequence[str], page: int) -> str:
    if len(paths) == 1:
        return ""
    before, after = WORDS[site.language]
    links = [f'<a href="{escape(paths[page - 2])}">{before}</a>'] if page > 1 else []
    links += [f"<span>{n}</span>" if n == page else f'<a href="{escape(path)}">{n}</a>' for n, path in enumerate(paths, start=1)]
    links += [f'<a href="{escape(paths[page])}">{after}</a>'] if page < len(paths) else []
    return " ".join(links)
