"""``/suggestions``: sites that could become sources, counted hourly over a sample of articles; ``/opml``: the feeds of sources.yaml."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice

from fastapi import APIRouter, Request, Response

from newsportal.portal.access import WATCH
from newsportal.portal.context import ThisPortal
from newsportal.portal.render import render
from newsportal.portal.ttl_cache import CostlyValue
from newsportal.services.discovery.opml import Outline, write
from newsportal.services.discovery.suggestions import SiteCounter, Suggestion
from newsportal.sources import Sources
from newsportal.sources.places import Place
from newsportal.store.store import Store

SAMPLE = 2_000  # articles. The store gives them by id, which is a hash, so the first ones are a fair sample; they take about half a second
SECONDS = 3600.0
SHOWN = 30


class Suggesting:
    """The suggestions over a store, at most ``SECONDS`` old. Called from several threads; one of them counts."""

    def __init__(self, store: Store, sources: Sources) -> None:
        self._store = store
        self._visited: tuple[str, ...] | None = None
        self.follow(sources)

    def follow(self, sources: Sources) -> None:
        """``sources.yaml`` was changed: what it visits now is no suggestion."""
        visited = tuple(url for source in sources.all() if isinstance(source, Place) for url in source.addresses)
        if visited != self._visited:
            self._visited = visited
            self._counted = CostlyValue(lambda: self._count(visited), "suggestions", SECONDS, spare=0)

    def suggestions(self) -> list[Suggestion]:
        """Raises ``StoreError``."""
        return self._counted.get()

    def _count(self, visited: Sequence[str]) -> list[Suggestion]:
        counting = SiteCounter(visited)
        for article in islice(self._store.all_articles(), SAMPLE):
            counting.take(article)
        return counting.suggestions(SHOWN)


router = APIRouter()


@router.get("/suggestions", dependencies=WATCH)
def suggestions(request: Request) -> Response:
    suggesting: Suggesting = request.app.state.suggesting
    return render(request, "suggestions.html", suggestions=suggesting.suggestions())


@router.get("/opml")
def opml(portal: ThisPortal) -> Response:
    """The enabled feeds of sources.yaml, without those whose address holds a password or a token."""
    public = (feed for feed in portal.config.feeds if feed.enabled and not portal.config.is_secret(feed.url))
    feeds = (Outline(feed.url, feed.name, feed.category) for feed in public)
    named = {"content-disposition": 'attachment; filename="newsportal.opml"'}
    return Response(write(portal.site.title, feeds, portal.now()), media_type="text/x-opml", headers=named)
