"""The portal as an app of a telephone: its manifest, its service worker, and ``/offline``, the list of a browser's copies."""

from __future__ import annotations

from importlib import resources
from typing import Any, Final

from fastapi import APIRouter, Request, Response
from fastapi.responses import JSONResponse

from newsportal.portal.context import Here
from newsportal.portal.language import TAGS
from newsportal.portal.render import render, static_address
from newsportal.services.accounts import Right
from newsportal.text import clean

router = APIRouter()
open_router = APIRouter()

SHORT_CHARS: Final = 12  # what stands below an icon
PAPER: Final = "#fcfbf8"  # as in portal.css
ICONS: Final = (("icon-192.png", "192x192", "any"), ("icon-512.png", "512x512", "any"), ("icon-maskable.png", "512x512", "maskable"))
SHARE: Final = {"action": "/sources/new", "method": "GET", "params": {"title": "title", "text": "text", "url": "url"}}


@open_router.get("/manifest.webmanifest")
def manifest(visit: Here) -> Response:
    """Other apps share addresses to it if who asks may add sources."""
    title = clean(visit.portal.site.title)
    told: dict[str, Any] = {
        "id": "/", "start_url": "/", "scope": "/", "name": title, "short_name": title[:SHORT_CHARS], "lang": TAGS[visit.language],
        "display": "standalone", "background_color": PAPER, "theme_color": PAPER,
        "icons": [{"src": static_address(name), "sizes": sizes, "type": "image/png", "purpose": use} for name, sizes, use in ICONS],
    }  # fmt: skip
    if visit.may(Right.EDIT):
        told["share_target"] = SHARE
    headers = {"cache-control": "private, no-cache", "vary": "Accept-Language, Cookie"}
    return JSONResponse(told, media_type="application/manifest+json", headers=headers)


@open_router.get("/service-worker.js")
def service_worker() -> Response:
    """At the root: a service worker is asked for the pages at and below its own address."""
    script = resources.files("newsportal.portal").joinpath("static", "service-worker.js").read_bytes()
    return Response(script, media_type="text/javascript; charset=utf-8", headers={"cache-control": "no-cache"})


@router.get("/offline")
def offline(request: Request) -> Response:
    return render(request, "offline.html")
