"""Which newsroom publishes which story with which pictures, where and when. Equal ``now``, ``seed`` and URLs give an equal world."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from hashlib import blake2b
from itertools import combinations
from random import Random

from madeup.photos.drawing import Drawing
from madeup.photos.sites import ADS, CDN, SITES, STATIC, Site
from madeup.photos.texts import PLACES, REPORTERS, SERIES, Matter, caption, lead, subjects, title

HOURS = (1.0, 70.0)
LATER = (0.5, 9.0)  # hours after the first newsroom
ORIGINALS = 2  # stories per subject, with other places and pictures
TWICE, THRICE = 44, 24  # stories on two and on three hosts
EVENTS, DAYS = 8, 3  # events with a story each day
ISSUES = 6  # issues of each series
SCRIPTED = 12  # stories on the host that needs a browser
BIG_ADS = 4
"""Advertisements as large as pictures and placed among them; they recur in other stories, and their URLs do not identify them."""

WAYS = (0, 1, 1, 2, 2, 2, 3)
TREATMENTS = ("cdn", "scaled", "scaled", "cropped", "trimmed", "packed", "marked")
SIZED = ("single", "figures")  # layouts with a picture in three sizes


@dataclass(frozen=True, slots=True)
class Shot:
    """A picture in an edition, with absolute URLs. ``also``: smaller or other versions at other URLs."""

    url: str
    thumb: str
    caption: str | None
    drawing: Drawing
    also: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Edition:
    """A story on one host. ``parts``: the pictures of its pages; ``late``: the page that fails at the first visit; ``lost``: the page that
    always fails. ``shared_text``: one text for all its pictures."""

    site: str
    number: int
    matter: Matter
    title: str
    text: str
    author: str
    published: datetime
    parts: tuple[tuple[Shot, ...], ...]
    paths: tuple[str, ...]
    late: int | None = None
    lost: int | None = None
    shared_text: bool = False

    @property
    def shots(self) -> tuple[Shot, ...]:
        return tuple(shot for part in self.parts for shot in part)

    @property
    def path(self) -> str:
        return self.paths[0]

    @property
    def cluster(self) -> str:
        return self.matter.id


class World:
    """All editions on all hosts. ``pictures`` maps (host, path) to the drawing of every picture."""

    def __init__(self, now: datetime, seed: int, addresses: Mapping[str, str]) -> None:
        self.now, self.seed, self.addresses = now, seed, dict(addresses)
        self.pictures: dict[tuple[str, str], Drawing] = {}
        self.ads = tuple(self._ad(index) for index in range(BIG_ADS))
        self._numbers: Counter[str] = Counter()
        self._load: Counter[str] = Counter()
        editions = [edition for matter in matters() for edition in self._editions(matter)]
        self.editions = sorted(editions, key=lambda edition: (edition.published, edition.site, edition.number), reverse=True)
        self.by_path = {(edition.site, path): (edition, page) for edition in editions for page, path in enumerate(edition.paths, start=1)}

    def of(self, site: str) -> list[Edition]:
        """Return the editions of a host, newest first."""
        return [edition for edition in self.editions if edition.site == site]

    def url(self, site: str, path: str) -> str:
        return self.addresses[site] + path

    def ad(self, edition: Edition, page: int) -> str:
        """Return the URL of a page's large advertisement; every second story of a host has it under a different number."""
        which, host = (edition.number + page) % BIG_ADS, ADS if page % 2 else edition.site
        mark = f"?from={edition.number}" if edition.number % 2 else ""
        return self.url(host, self.ads[which] + mark)

    def _ad(self, index: int) -> str:
        path = f"/uploads/2026/{blake2b(f'big {index}'.encode(), digest_size=6).hexdigest()}.jpg"
        for host in (*SITES, ADS):
            self.pictures[host, path] = Drawing(f"advertisement {index}/")
        return path

    def _editions(self, matter: Matter) -> Iterator[Edition]:
        chance = Random(f"{self.seed}/{matter.id}")
        copies = _copies(matter)
        first = self.now - timedelta(minutes=round(60 * chance.uniform(LATER[1] + 0.5 if copies else HOURS[0], HOURS[1])))
        first -= timedelta(days=DAYS - matter.day) if matter.day else timedelta()
        sites = self._sites(matter, 1 + copies)
        count = chance.choice((3, 4, 5, 6, 6, 7, 8, 8, 9, 12))
        origin = self._edition(SITES[sites[0]], matter, 0, first, range(count), None, chance)
        yield origin
        for key in sites[1:]:
            way = 0 if matter.series else chance.choice(WAYS)
            indexes = sorted(chance.sample(range(count), max(3, count - chance.randrange(0, 1 + count // 3))))
            when = first + timedelta(minutes=round(60 * chance.uniform(*LATER)))
            yield self._edition(SITES[key], matter, way, when, indexes, origin, chance)

    def _sites(self, matter: Matter, count: int) -> list[str]:
        """Return the hosts with the fewest stories so far; the one that needs a browser gets separate stories."""
        keys = ["weilan"] if "scripted" in matter.id else []
        order = sorted(STATIC, key=lambda key: (self._load[key], key))
        keys += order[: count - len(keys)]
        self._load.update(keys)
        return keys

    def _edition(
        self, site: Site, matter: Matter, way: int, when: datetime, indexes: Sequence[int], origin: Edition | None, chance: Random
    ) -> Edition:
        when = when.replace(second=0, microsecond=0)
        self._numbers[site.key] += 1
        number = 2000 + 1000 * (list(SITES).index(site.key) + 1) + 7 * self._numbers[site.key]
        treatment = chance.choice(TREATMENTS) if origin else ""
        quiet = site.layout == "single" and number % 5 == 0  # one text for all pictures, no captions
        shots = tuple(
            self._shot(site, matter, number, index, None if quiet else caption(matter, way, index), origin, treatment) for index in indexes
        )
        step = site.per_page or len(shots)
        parts = tuple(shots[at : at + step] for at in range(0, len(shots), step))
        trouble = self._numbers[site.key]
        middle = len(parts) // 2 + 1 if len(parts) > 2 else None
        return Edition(
            site.key, number, matter, title(matter, way), lead(matter, way, when), chance.choice(REPORTERS), when, parts,
            tuple(_path(site, number, when, page) for page in range(1, len(parts) + 1)),
            late=(middle or 1) if trouble % 9 == 4 else None,
            lost=middle if trouble % 16 == 9 and site.layout in ("pager", "query", "strip") else None,
            shared_text=quiet,
        )  # fmt: skip

    def _shot(self, site: Site, matter: Matter, number: int, index: int, text: str | None, origin: Edition | None, treatment: str) -> Shot:
        """Return a picture of the first newsroom, or another newsroom's version of it."""
        tall = index % 7 == 3
        drawing = Drawing(f"{matter.id}/{index}", *((400, 560) if tall else (540, 360)))
        if origin is not None and treatment == "cdn" and SITES[origin.site].home == CDN:
            same = next(shot for shot in origin.shots if shot.drawing.motif == drawing.motif)
            return Shot(same.url, same.thumb, text, same.drawing)
        drawing = _treated(drawing, treatment)
        name = blake2b(f"{site.key}/{number}/{index}".encode(), digest_size=7).hexdigest()
        folder, ending = f"/pics/{self.now:%Y%m}/{name}", "png" if site.key == "songling" and index % 6 == 5 else "jpg"
        forms = {"": 1.0, "_s": 0.3} | ({"_640": 0.6} if site.layout in SIZED else {})
        for form, scale in forms.items():
            scaled = Drawing(
                drawing.motif,
                drawing.width,
                drawing.height,
                drawing.scale * scale,
                drawing.cut,
                drawing.quality,
                FORMATS[ending],
                drawing.marked,
            )
            self.pictures[site.home, f"{folder}{form}.{ending}"] = scaled
        url = self.url(site.home, folder)
        also = (f"{url}_640.{ending}",) if site.layout in SIZED else ()
        return Shot(f"{url}.{ending}", f"{url}_s.{ending}", text, drawing, also)

    def clusters(self) -> dict[str, list[Edition]]:
        found: dict[str, list[Edition]] = {}
        for edition in self.editions:
            found.setdefault(edition.cluster, []).append(edition)
        return found

    def alike(self) -> set[frozenset[tuple[str, int]]]:
        """Return pairs that look alike but are different: issues of a series, days of an event, one subject at two places."""
        kinds: dict[str, list[Edition]] = {}
        for edition in self.editions:
            kind = edition.matter.series or edition.matter.subject.event
            kinds.setdefault(kind, []).append(edition)
        return {
            frozenset(((first.site, first.number), (other.site, other.number)))
            for group in kinds.values()
            for first, other in combinations(group, 2)
            if first.cluster != other.cluster
        }


FORMATS = {"jpg": "JPEG", "png": "PNG"}


def matters() -> Iterator[Matter]:
    """Yield the subjects in a fixed order; the id names the kind."""
    pool = subjects()
    for round_ in range(ORIGINALS):
        for at, subject in enumerate(pool):
            yield Matter(f"story-{round_}-{at}", subject, PLACES[(at * 7 + round_ * 13) % len(PLACES)], at + round_ * 31)
    for at in range(EVENTS):
        subject = pool[at * 8 + 3]
        for day in range(1, DAYS + 1):
            yield Matter(f"event-{at}-{day}", subject, PLACES[(at * 11 + 5) % len(PLACES)], at * 3 + day, day)
    for at, name in enumerate(SERIES):
        for issue in range(ISSUES):
            yield Matter(
                f"series-{at}-{issue}", pool[(at * 17 + issue * 5) % len(pool)], PLACES[(at + issue) % len(PLACES)], issue, 0, name
            )
    for at in range(SCRIPTED):
        yield Matter(f"scripted-{at}", pool[(at * 5 + 1) % len(pool)], PLACES[(at * 7 + 4) % len(PLACES)], at + 57)


def _copies(matter: Matter) -> int:
    """Return the number of other hosts that repost a story."""
    kind, *numbers = matter.id.split("-")
    if kind == "story":
        place = int(numbers[0]) * 70 + int(numbers[1])
        rest = place * 29 % 140
        return 2 if rest < THRICE else 1 if rest < THRICE + TWICE else 0
    if kind == "series":
        return int(int(numbers[1]) == 2)
    return int(kind == "scripted" and int(numbers[0]) % 4 == 0)


def _treated(drawing: Drawing, treatment: str) -> Drawing:
    ways = {"scaled": (0.75, 0.0, 70), "cropped": (1.0, 0.03, 75), "trimmed": (0.9, 0.05, 80), "packed": (1.0, 0.0, 40)}
    scale, cut, quality = ways.get(treatment, (1.0, 0.0, 85))
    return Drawing(drawing.motif, drawing.width, drawing.height, scale, cut, quality, marked=treatment == "marked")


def _path(site: Site, number: int, when: datetime, page: int) -> str:
    mark = site.mark.format(p=page, a="abcdefghijklmnopqrstuvwxyz"[page - 1]) if page > 1 else ""
    return site.story.format(n=number, p=mark, d=f"{when:%Y%m%d}")


def pairs(editions: Iterable[Edition]) -> set[frozenset[tuple[str, int]]]:
    """Return pairs of editions of the same story."""
    groups: dict[str, list[tuple[str, int]]] = {}
    for edition in editions:
        groups.setdefault(edition.cluster, []).append((edition.site, edition.number))
    return {frozenset(pair) for group in groups.values() for pair in combinations(group, 2)}
