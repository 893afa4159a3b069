"""``/suggestions``: sites that could become sources, with the command that adds each. ``/opml``: the feeds, for other readers."""

from __future__ import annotations

from fastapi import APIRouter, Request, Response

from newsportal.accounts import Right
from newsportal.discovery.opml import Outline, write
from newsportal.portal.access import needs
from newsportal.portal.context import Visit
from newsportal.portal.render import render
from newsportal.portal.suggesting import Suggesting
from newsportal.sources import Sources

router = APIRouter()


@router.get("/suggestions", dependencies=[needs(Right.WATCH)])
def suggestions(request: Request) -> Response:
    suggesting: Suggesting = request.app.state.suggesting
    return render(request, "suggestions.html", suggestions=suggesting.suggestions())


@router.get("/opml")
def opml(request: Request) -> Response:
    """The enabled feeds of sources.yaml, without those whose address holds a password or a token."""
    portal = Visit(request).portal
    secret = (portal.known or Sources()).is_secret
    open_ = (feed for feed in request.app.state.feeds if feed.enabled and not secret(feed.url))
    feeds = (Outline(feed.url, feed.name, feed.category) for feed in open_)
    named = {"content-disposition": 'attachment; filename="newsportal.opml"'}
    return Response(write(portal.site.title, feeds, portal.now()), media_type="text/x-opml", headers=named)
