"""What a perfect crawl would know of the made-up photo stories."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from madeup.photos.sites import SITES
from madeup.photos.world import Edition, World


@dataclass(frozen=True, slots=True)
class Picture:
    """``caption`` is ``None`` where one text stands for all pictures."""

    url: str
    caption: str | None


@dataclass(frozen=True, slots=True)
class Told:
    """A story as one host tells it. ``late``: a page that fails at the first visit; ``lost``: the page that never comes; ``counted``:
    nothing but its addresses tells of the next page, so what is behind one that fails cannot be known."""

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
        """The pictures of the pages that can be had up to this visit."""
        away = {self.lost, self.late if visit == 0 else None}
        if self.counted and visit == 0 and self.late is not None:
            away |= set(range(self.late, len(self.pages) + 1))
        return tuple(picture for page, part in enumerate(self.pictures, start=1) if page not in away for picture in part)


def gold(world: World, keys: Collection[str]) -> list[Told]:
    return [_told(world, edition) for edition in world.editions if edition.site in keys]


def key_of(edition: Edition) -> str:
    return f"{edition.site}/{edition.number}"


def _told(world: World, edition: Edition) -> Told:
    parts = tuple(tuple(Picture(shot.url, shot.caption) for shot in part) for part in edition.parts)
    pages = tuple(world.url(edition.site, path) for path in edition.paths)
    return Told(
        edition.site, key_of(edition), pages[0], edition.title, edition.published.isoformat(), edition.author, edition.cluster, pages,
        parts, edition.late, edition.lost, bool(SITES[edition.site].pattern),
    )  # fmt: skip


def alike(world: World, keys: Collection[str]) -> set[frozenset[str]]:
    """Pairs that look alike and are not one: hard negatives."""
    return {frozenset(f"{site}/{number}" for site, number in pair) for pair in world.alike() if all(site in keys for site, _ in pair)}
