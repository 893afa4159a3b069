"""The list pages of a site: its front page, the page of all news, and its channels, each with further pages."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from madeup.sites import SITES, Site
from madeup.world import CHANNELS_HANT, Copy, World

FRONT_ITEMS = 12
PAGE_ITEMS = 10
ROLLING = "roll"


@dataclass(frozen=True, slots=True)
class Hub:
    """One list page. ``paths`` are all pages of its list, in order; this is number ``page``."""

    site: str
    kind: Literal["front", "rolling", "channel"]
    name: str
    category: str | None
    copies: tuple[Copy, ...]
    paths: tuple[str, ...]
    page: int = 1

    @property
    def path(self) -> str:
        return self.paths[self.page - 1]


def channel_name(site: Site, category: str) -> str:
    return CHANNELS_HANT.get(category, category) if site.language == "zh-Hant" else category


def navigation(world: World, site: Site) -> list[tuple[str, str]]:
    """Return URL path and name of the links at the top of every page: front page, all news, channels."""
    home = "Home" if site.language == "en" else "首頁" if site.language == "zh-Hant" else "首页"
    channels = [(site.hub.format(slug=slug), channel_name(site, category)) for category, slug in world.channels(site.key).items()]
    return [("/", home), (site.hub.format(slug=ROLLING), site.rolling), *channels]


def hubs(world: World, key: str) -> Iterator[Hub]:
    """Yield all list pages of a site."""
    site = SITES[key]
    yield Hub(key, "front", site.name, None, tuple(world.of(key)[:FRONT_ITEMS]), ("/",))
    yield from _paged(world, site, "rolling", site.rolling, None, ROLLING)
    for category, slug in world.channels(key).items():
        yield from _paged(world, site, "channel", channel_name(site, category), category, slug)


def _paged(world: World, site: Site, kind: Literal["rolling", "channel"], name: str, category: str | None, slug: str) -> Iterator[Hub]:
    copies = tuple(world.of(site.key, category))
    pages = range(1, max(1, -(-len(copies) // PAGE_ITEMS)) + 1)
    paths = tuple(site.hub.format(slug=slug) if page == 1 else site.more.format(slug=slug, page=page) for page in pages)
    for page in pages:
        yield Hub(site.key, kind, name, category, copies[(page - 1) * PAGE_ITEMS : page * PAGE_ITEMS], paths, page)
