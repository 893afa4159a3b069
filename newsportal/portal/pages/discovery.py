"""How other programs find their way: search from the address bar (OpenSearch), robots.txt, the icon at its usual place."""

from __future__ import annotations

from xml.sax.saxutils import escape

from fastapi import APIRouter, Request, Response
from fastapi.responses import PlainTextResponse, RedirectResponse

from newsportal.portal.context import Visit
from newsportal.portal.pages.feeds import base_address
from newsportal.portal.render import static_address
from newsportal.text import clean

router = APIRouter()

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

SHORT_NAME_CHARS = 16  # the OpenSearch specification's limit


@router.get("/opensearch.xml")
def open_search(request: Request) -> Response:
    title, base = clean(Visit(request).portal.site.title), base_address(request)
    told = {"name": title[:SHORT_NAME_CHARS], "title": title, "icon": base + static_address("icon.svg"), "base": base}
    content = OPEN_SEARCH.format(**{key: escape(value, {'"': "&quot;"}) for key, value in told.items()})
    return Response(content, media_type="application/opensearchdescription+xml")


@router.get("/robots.txt")
def robots(request: Request) -> Response:
    """A portal repeats what others published: search engines should send readers to the originals."""
    return PlainTextResponse("User-agent: *\nDisallow: /\n")


@router.get("/favicon.ico")
def icon(request: Request) -> Response:
    return RedirectResponse(static_address("icon.svg"), 301)
