"""``/suggestions``: sites that could become sources, counted hourly over a sample of articles; ``/opml``: the feeds of sources.yaml."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from threading import Lock
from time import monotonic
from typing import Any

from fastapi import APIRouter, Request, Response

from newsportal.portal.access import needs
from newsportal.portal.context import Visit
from newsportal.portal.render import render
from newsportal.services.accounts import Right
from newsportal.services.discovery.opml import Outline, write
from newsportal.services.discovery.suggestions import SiteCounter, Suggestion
from newsportal.sources import Sources
from newsportal.store.store import Store

SAMPLE = 2_000  # articles. The store gives them by id, which is a hash, so the first ones are a fair sample; they take about half a second
SECONDS = 3600.0
SHOWN = 30
KINDS = ("feeds", "sitemaps", "regions", "forums", "galleries")


class Suggesting:
    """The suggestions over a store, at most ``SECONDS`` old. Called from several threads; one of them counts."""

    def __init__(self, store: Store, sources: object) -> None:
        self._store = store
        self._visited = tuple(_addresses(sources))
        self._lock = Lock()
        self._made: tuple[float, list[Suggestion]] | None = None

    def follow(self, sources: object) -> None:
        """``sources.yaml`` was changed: what it visits now is no suggestion."""
        visited = tuple(_addresses(sources))
        with self._lock:
            if visited != self._visited:
                self._visited, self._made = visited, None

    def suggestions(self) -> list[Suggestion]:
        """Raises ``StoreError``."""
        with self._lock:
            if self._made is None or monotonic() - self._made[0] > SECONDS:
                counting = SiteCounter(self._visited)
                for article in islice(self._store.all_articles(), SAMPLE):
                    counting.take(article)
                self._made = (monotonic(), counting.suggestions(SHOWN))
            return self._made[1]


def _addresses(sources: object) -> Iterator[str]:
    for kind in KINDS:
        source: Any
        for source in getattr(sources, kind, ()):
            yield from getattr(source, "seeds", ()) or (source.url,)


router = APIRouter()


@router.get("/suggestions", dependencies=[needs(Right.WATCH)])
def suggestions(request: Request) -> Response:
    suggesting: Suggesting = request.app.state.suggesting
    return render(request, "suggestions.html", suggestions=suggesting.suggestions())


@router.get("/opml")
def opml(request: Request) -> Response:
    """The enabled feeds of sources.yaml, without those whose address holds a password or a token."""
    portal = Visit(request).portal
    secret = (portal.config or Sources()).is_secret
    open_ = (feed for feed in request.app.state.feeds if feed.enabled and not secret(feed.url))
    feeds = (Outline(feed.url, feed.name, feed.category) for feed in open_)
    named = {"content-disposition": 'attachment; filename="newsportal.opml"'}
    return Response(write(portal.site.title, feeds, portal.now()), media_type="text/x-opml", headers=named)
