"""Which site publishes which story, when and at which URL: determined by seed and time before anything is served."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import cached_property
from random import Random

from madeup.characters import in_simplified
from madeup.sites import SITES, TOPICS, Site
from madeup.stories import Block, Picture, Story, lines_of, stories

OLDEST_HOURS = 60.0
"""All stories are within the time in which reposts are folded (three days)."""

REPOST_HOURS = (0.4, 5.0)
PAGING = frozenset({"chaoyin", "maze"})
"""Sites that split long stories into pages; the others print them on one."""

LARGEST = 900_000
"""Articles have smaller numbers."""

SLUGS = {**TOPICS, "World": "world"}
CHANNELS_HANT = {"社会": "社會"}


@dataclass(frozen=True, slots=True)
class Copy:
    """A story on one site. ``paths`` are its pages in order, the first is its URL."""

    site: str
    story: str
    number: int
    title: str
    category: str
    language: str
    author: str | None
    origin: str | None
    published: datetime
    parts: tuple[tuple[Block, ...], ...]
    pictures: tuple[Picture, ...]
    paths: tuple[str, ...]
    same_text: bool
    column: bool
    private: bool

    @property
    def path(self) -> str:
        return self.paths[0]

    @property
    def blocks(self) -> tuple[Block, ...]:
        return tuple(block for part in self.parts for block in part)

    @property
    def text(self) -> str:
        return lines_of(self.blocks)

    @property
    def lead(self) -> str:
        return self.blocks[0].text

    def picture_path(self, index: int) -> str:
        return f"/img/{self.number}_{index}.png"


class World:
    """All copies on all sites. ``addresses`` maps every site's key to its URL without trailing slash."""

    def __init__(self, now: datetime, seed: int, addresses: Mapping[str, str]) -> None:
        self.now = now
        self.seed = seed
        self.addresses = dict(addresses)
        self.stories = {story.id: story for story in stories()}
        copies = [copy for story in self.stories.values() for copy in self._copies(story)]
        self.copies = sorted(copies, key=lambda copy: (copy.published, copy.site, copy.number), reverse=True)

    def url(self, site: str, path: str) -> str:
        return self.addresses[site] + path

    def of(self, site: str, category: str | None = None) -> list[Copy]:
        """Return the copies of a site, or of one of its channels, newest first."""
        return [copy for copy in self.copies if copy.site == site and category in (None, copy.category)]

    def channels(self, site: str) -> dict[str, str]:
        """Return the channels of a site: category to its name in URLs, in a fixed order."""
        found = {copy.category for copy in self.of(site)}
        return {category: slug for category, slug in SLUGS.items() if category in found}

    @cached_property
    def by_path(self) -> dict[tuple[str, str], tuple[Copy, int]]:
        """Map (site, path) to the copy and its page number, from 1."""
        return {(copy.site, path): (copy, index) for copy in self.copies for index, path in enumerate(copy.paths, start=1)}

    def _copies(self, story: Story) -> Iterable[Copy]:
        chance = Random(f"{self.seed}/{story.id}")
        youngest = 0.3 if not (story.reposts or story.simplified or story.retold) else REPOST_HOURS[1] + 0.3
        first = self.now - timedelta(minutes=round(60 * chance.uniform(youngest, 12.0 if story.is_flash else OLDEST_HOURS)))
        yield self._copy(story, SITES[story.home], first, chance, origin=None)
        name = SITES[story.home].name
        for key in story.reposts:
            yield self._copy(story, SITES[key], _later(first, chance), chance, name)
        for key in story.simplified:
            yield self._copy(in_simplified(story), SITES[key], _later(first, chance), chance, name)
        for telling in story.retold:
            blocks = (Block("p", telling.lead), *story.blocks[1:])
            retold = replace(story, title=telling.title, blocks=blocks, author=None)
            yield replace(self._copy(retold, SITES[telling.site], _later(first, chance), chance, name), same_text=False)

    def _copy(self, story: Story, site: Site, published: datetime, chance: Random, origin: str | None) -> Copy:
        number = chance.randrange(LARGEST // 9, LARGEST)
        parts = _parts(story.blocks, story.pages if site.key in PAGING else 1)
        prefix = "/private" if story.private else ""
        published = published.replace(second=0, microsecond=0).astimezone(site.zone)
        marks = ["", *(site.page.format(page=page) for page in range(2, len(parts) + 1))]
        return Copy(
            site=site.key,
            story=story.id,
            number=number,
            title=story.title,
            category=story.category,
            language=story.language,
            author=story.author,
            origin=origin,
            published=published,
            parts=parts,
            pictures=story.pictures,
            paths=tuple(prefix + site.article.format(d=published, n=number, s=story.id, p=mark) for mark in marks),
            same_text=True,
            column=story.column,
            private=story.private,
        )


def _later(first: datetime, chance: Random) -> datetime:
    return first + timedelta(minutes=round(60 * chance.uniform(*REPOST_HOURS)))


def _parts(blocks: tuple[Block, ...], pages: int) -> tuple[tuple[Block, ...], ...]:
    """Split evenly; never after a subhead or within a table."""
    if pages == 1:
        return (blocks,)
    cuts = [round(len(blocks) * page / pages) for page in range(1, pages)]
    cuts = [next(place for place in range(cut, 0, -1) if _may_cut(blocks[place - 1], blocks[place])) for cut in cuts]
    return tuple(blocks[start:end] for start, end in zip([0, *cuts], [*cuts, len(blocks)], strict=True))


def _may_cut(before: Block, after: Block) -> bool:
    return before.kind != "h" and not (before.kind == after.kind == "row")
