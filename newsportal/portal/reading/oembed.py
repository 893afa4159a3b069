"""``/oembed``: what another site shows of the address of a story (oembed.com), as a quotation that leads to the portal and the original."""

from __future__ import annotations

import re
from typing import Final
from urllib.parse import urlsplit

from fastapi import APIRouter, HTTPException, Request, Response
from fastapi.responses import JSONResponse
from markupsafe import Markup

from newsportal.portal.context import Here
from newsportal.portal.reading.feeds import MAX_AGE, SUMMARY_CHARS, base_address
from newsportal.portal.safe_text import excerpt, site_name, title, web_address

router = APIRouter()

STORY: Final = re.compile(r"/story/([^/]+)/?")
WIDEST: Final = 600  # pixels: a column of text
QUOTATION: Final = Markup('<blockquote><p><a href="{page}">{title}</a></p><p>{excerpt}</p><footer>{source}</footer></blockquote>')
SOURCE: Final = Markup('<a href="{}">{}</a>')


@router.get("/oembed")
def oembed(request: Request, visit: Here) -> Response:
    """The story at ``?url=``; 404 for any other address, 501 for another format than JSON, as the specification says."""
    if (visit.text("format") or "json") != "json":
        raise HTTPException(501)
    base = base_address(request)
    path = _path(visit.text("url", 2000) or "", {urlsplit(base).netloc, request.url.netloc})
    found = STORY.fullmatch(path)
    story = visit.portal.store.story(found[1]) if found else None
    if story is None:
        raise HTTPException(404)
    article, page = story.head, f"{base}/story/{story.id}"
    name, original = site_name(article), web_address(article.url)
    source = SOURCE.format(original, name) if original else name
    told = {
        "version": "1.0", "type": "rich", "title": title(article), "author_name": name, "author_url": original or page,
        "provider_name": visit.portal.site.title, "provider_url": f"{base}/", "cache_age": MAX_AGE,
        "html": QUOTATION.format(page=page, title=title(article), excerpt=excerpt(article, SUMMARY_CHARS), source=source),
        "width": min(visit.whole("maxwidth", WIDEST) or WIDEST, WIDEST), "height": None,
    }  # fmt: skip
    return JSONResponse(told, headers={"cache-control": f"public, max-age={MAX_AGE}"})


def _path(url: str, hosts: set[str]) -> str:
    """The path of an address of this portal; nothing of any other."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return ""
    return parts.path if parts.scheme in ("http", "https") and parts.netloc in hosts else ""
