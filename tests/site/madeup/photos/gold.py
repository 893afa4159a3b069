"""The result of a perfect crawl of the made-up photo stories."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from madeup.photos.sites import SITES
from madeup.photos.world import Edition, World


@dataclass(frozen=True, slots=True)
class Picture:
    """``caption`` is ``None`` if one text applies to all pictures."""

    url: str
    caption: str | None


@dataclass(frozen=True, slots=True)
class GoldStory:
    """A story on one host. ``late``: a page that fails at the first visit; ``lost``: a page that always fails; ``counted``: only the URL
    pattern leads to the next page, so the pages behind a failed one cannot be known."""

    site: str
    key: str
    url: str
    title: str
    published: str
    author: str
    cluster: str
    pages: tuple[str, ...]
    pictures: tuple[tuple[Picture, ...], ...]
    late: int | None
    lost: int | None
    counted: bool = False

    def shown(self, visit: int) -> tuple[Picture, ...]:
        """Return the pictures of the pages that are available up to this visit."""
        unavailable = {self.lost, self.late if visit == 0 else None}
        if self.counted and visit == 0 and self.late is not None:
            unavailable |= set(range(self.late, len(self.pages) + 1))
        return tuple(picture for page, part in enumerate(self.pictures, start=1) if page not in unavailable for picture in part)


def gold(world: World, keys: Collection[str]) -> list[GoldStory]:
    return [_gold_story(world, edition) for edition in world.editions if edition.site in keys]


def key_of(edition: Edition) -> str:
    return f"{edition.site}/{edition.number}"


def _gold_story(world: World, edition: Edition) -> GoldStory:
    parts = tuple(tuple(Picture(shot.url, shot.caption) for shot in part) for part in edition.parts)
    pages = tuple(world.url(edition.site, path) for path in edition.paths)
    return GoldStory(
        edition.site, key_of(edition), pages[0], edition.title, edition.published.isoformat(), edition.author, edition.cluster, pages,
        parts, edition.late, edition.lost, bool(SITES[edition.site].pattern),
    )  # fmt: skip


def alike(world: World, keys: Collection[str]) -> set[frozenset[str]]:
    """Return pairs that look alike but are different stories: hard negatives."""
    return {frozenset(f"{site}/{number}" for site, number in pair) for pair in world.alike() if all(site in keys for site, _ in pair)}
