"""The gold: the result of a perfect crawl of the made-up Web, as plain JSON values."""

from __future__ import annotations

from typing import Any

from madeup import engines, feeds, traps
from madeup.hubs import Hub, hubs, navigation
from madeup.render import article_encoding, comments_path, origin_of
from madeup.sites import SITES, Site
from madeup.world import Copy, World

UNREACHABLE = ("shenyuan",)
"""Sites whose robots.txt responds with 500: everything on them is denied."""


def manifest(world: World) -> dict[str, Any]:
    """Return sites, articles, stories, hubs, feeds, engines and traps. URLs are absolute, times ISO 8601 with zone."""
    return {
        "now": world.now.isoformat(),
        "seed": world.seed,
        "sites": [_site(world, site) for site in SITES.values()],
        "articles": [_article(world, copy) for copy in world.copies],
        "stories": _stories(world),
        "hubs": [_hub(world, hub) for key in SITES for hub in hubs(world, key)],
        "feeds": [_feed(world, feed) for feed in feeds.FEEDS],
        "engines": [{"name": key, "url": world.url(key, path)} for key, path in engines.PATHS.items()],
        "traps": _traps(world),
    }


def _site(world: World, site: Site) -> dict[str, Any]:
    return {"key": site.key, "name": site.name, "url": world.url(site.key, "/"), "encoding": site.encoding, "language": site.language}


def _article(world: World, copy: Copy) -> dict[str, Any]:
    trap = traps.BY_STORY.get(copy.story)
    denied = copy.private or copy.site in UNREACHABLE
    return {
        "url": world.url(copy.site, copy.path),
        "site": copy.site,
        "site_name": SITES[copy.site].name,
        "story": copy.story,
        "title": copy.title,
        "text": copy.text,
        "published": copy.published.isoformat(),
        "author": copy.author,
        "origin": origin_of(copy),
        "language": copy.language,
        "category": copy.category,
        "encoding": article_encoding(copy),
        "pages": [world.url(copy.site, path) for path in copy.paths],
        "images": [_image(world, copy, index) for index in range(len(copy.pictures))],
        "same_text": copy.same_text,
        "column": copy.column,
        "expect": "deny" if denied else trap.expect if trap else "store",
    }


def _image(world: World, copy: Copy, index: int) -> dict[str, str]:
    return {"url": world.url(copy.site, copy.picture_path(index)), "caption": copy.pictures[index].caption}


def _stories(world: World) -> dict[str, Any]:
    """Return the articles of each story, oldest first, and those among them with the same title and text as the oldest."""
    found: dict[str, Any] = {}
    for copy in reversed(world.copies):
        story = found.setdefault(copy.story, {"articles": [], "reposts": []})
        url = world.url(copy.site, copy.path)
        if story["articles"] and copy.same_text:
            story["reposts"].append(url)
        story["articles"].append(url)
    return found


def _hub(world: World, hub: Hub) -> dict[str, Any]:
    site = SITES[hub.site]
    comments = [comments_path(copy) for copy in hub.copies] if hub.site == "haitang" else []
    return {
        "url": world.url(hub.site, hub.path),
        "site": hub.site,
        "kind": hub.kind,
        "category": hub.category,
        "page": hub.page,
        "pages": [world.url(hub.site, path) for path in hub.paths],
        "articles": [world.url(hub.site, copy.path) for copy in hub.copies],
        "hubs": [world.url(hub.site, path) for path, _ in navigation(world, site)],
        "other": [world.url(hub.site, path) for path in [*(path for path, _ in site.others), *comments]],
    }


def _feed(world: World, feed: feeds.Feed) -> dict[str, Any]:
    copies = feeds.entries(world, feed)
    return {
        "url": world.url(feed.site, feed.path),
        "site": feed.site,
        "format": feed.kind,
        "encoding": feed.encoding,
        "quirk": feed.quirk,
        "titles": [copy.title for copy in copies],
        "articles": [world.url(feed.site, copy.path) for copy in copies],
    }


def _traps(world: World) -> list[dict[str, Any]]:
    paths = {copy.story: copy.path for copy in world.of(traps.MAZE)}
    month = traps.calendar_path(world.now.year, world.now.month)
    found = [(trap.name, traps.MAZE, trap.path, trap.expect, trap.why) for trap in traps.TRAPS]
    found += [(trap.name, traps.MAZE, paths[trap.name], trap.expect, trap.why) for trap in traps.STORY_TRAPS]
    found += [("calendar", traps.MAZE, month, "bounded", "a calendar without end")]
    found += [("deep", traps.MAZE, "/deep/a/b/", "bounded", "relative links that nest without end")]
    found += [("comments", "haitang", comments_path(copy), "skip", "comments on an article") for copy in world.of("haitang")]
    return [{"name": name, "url": world.url(site, path), "expect": expect, "why": reason} for name, site, path, expect, reason in found]
