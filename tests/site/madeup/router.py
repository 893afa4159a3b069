"""Pure function from request to response: the same world and request give the same response."""

from __future__ import annotations

import re
from urllib.parse import urlsplit

from madeup import engines, feeds, sitemaps, traps
from madeup.exchange import Request, Response, page
from madeup.hubs import Hub, hubs
from madeup.pictures import png
from madeup.render import article_page, hub_page, plain_page
from madeup.sites import ENGINE_KEYS, MORE_ROBOTS, ROBOTS, SITES
from madeup.world import World

PICTURE = re.compile(r"^/img/([a-z0-9_]+)\.png$")
MISSING = page("<html><head><title>404 Not Found</title></head><body><h1>404 Not Found</h1></body></html>", 404)


class Router:
    """Responds to every URL. ``limits`` bound the endless traps; the second engine shows a captcha after ``captcha_after`` pages."""

    def __init__(self, world: World, limits: traps.Limits | None = None, captcha_after: int = engines.CAPTCHA_AFTER) -> None:
        self.world = world
        self.limits = limits or traps.Limits()
        self.captcha_after = captcha_after
        self.refusing: set[str] = set()  # engines that always show a captcha
        self.hubs: dict[tuple[str, str], Hub] = {(key, hub.path): hub for key in SITES for hub in hubs(world, key)}

    def answer(self, request: Request) -> Response:
        """Return a response; 404 for unknown URLs."""
        if request.path == "/robots.txt":
            return ROBOTS[request.site]
        if request.site in self.refusing and request.path != "/link":
            return engines.captcha()
        if request.site in ENGINE_KEYS:
            return engines.engine_response(self.world, request, self.captcha_after) or MISSING
        return self._listed(request) or self._extra(request) or MISSING

    def _listed(self, request: Request) -> Response | None:
        """Return articles, lists and feeds; unneeded URL parameters are ignored."""
        for target in (request.target, request.path):
            copy, number = self.world.by_path.get((request.site, target), (None, 1))
            if copy:
                trap = traps.BY_STORY.get(copy.story)
                return trap.answer(self.world, request, self.limits) if trap else article_page(self.world, copy, number)
            hub = self.hubs.get((request.site, target))
            if hub:
                return hub_page(self.world, hub, traps.links(self.world, hub) if request.site == traps.MAZE else "")
        feed = feeds.BY_PATH.get((request.site, request.path))
        return feeds.feed_response(self.world, feed, request) if feed else sitemaps.sitemap_response(self.world, request)

    def _extra(self, request: Request) -> Response | None:
        if found := PICTURE.match(request.path):
            return self._picture(request.site, found[1])
        site = SITES[request.site]
        title = next((title for path, title in site.others if urlsplit(path).path == request.path), None)
        if title:
            return plain_page(site, title, site.name, title)
        if request.site == traps.MAZE:
            return traps.maze_response(self.world, request, self.limits)
        return MORE_ROBOTS.get((request.site, request.path)) or traps.comments_response(self.world, request)

    def _picture(self, site: str, name: str) -> Response | None:
        number, _, index = name.partition("_")
        pictures = next((copy.pictures for copy in self.world.of(site) if str(copy.number) == number), ())
        if name == "logo":
            return Response(content_type="image/png", body=png(site, 180, 50))
        if not index.isdecimal() or int(index) >= len(pictures):
            return None
        return Response(content_type="image/png", body=png(pictures[int(index)].motif + number))
