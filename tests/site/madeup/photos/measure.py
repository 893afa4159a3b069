"""Scores of a store against the gold: stories, pictures and captions in order, foreign pictures, folded pairs. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass
from datetime import datetime
from itertools import combinations

from madeup.photos.gold import GoldStory, Picture


@dataclass(frozen=True, slots=True)
class StoredStory:
    """A stored photo story: URL, whether it is marked complete, its visible pictures in order, the id of its story, and whether it heads
    that story."""

    url: str
    complete: bool
    pictures: tuple[Picture, ...]
    story: str
    title: str | None = None
    author: str | None = None
    published: datetime | None = None
    head: bool = True


@dataclass(frozen=True, slots=True)
class Collection:
    """Precision: share of the stored stories that are right; recall: share of the existing ones. ``wrong``: URL to fault."""

    stories: int
    stored: int
    right: int
    pictures: int
    pictures_stored: int
    pictures_right: int
    captions_right: int
    captions: int
    wrong: Mapping[str, str]

    @property
    def precision(self) -> float:
        return self.right / self.stored if self.stored else 0.0

    @property
    def recall(self) -> float:
        return self.right / self.stories if self.stories else 0.0


def collected(kept: Iterable[StoredStory], told: Sequence[GoldStory], visit: int) -> Collection:
    """Score stories. One is right if it is stored once, with exactly the pictures available up to ``visit`` and their captions in order,
    and correctly marked as complete or not."""
    by_url: dict[str, list[StoredStory]] = {}
    for one in kept:
        by_url.setdefault(_plain(one.url), []).append(one)
    counts: Counter[str] = Counter()
    wrong: dict[str, str] = {}
    for gold in told:
        found = by_url.pop(_plain(gold.url), [])
        shown = gold.shown(visit)
        counts["pictures"] += len(shown)
        if fault := _fault(found, gold, shown, visit):
            wrong[gold.key] = fault
        for one in found[:1]:
            counts.update(_pictures(one, shown))
        counts["stored"] += len(found)
    for url, found in by_url.items():
        wrong[url] = "is no story"
        counts["stored"] += len(found)
        counts["pictures_stored"] += sum(len(one.pictures) for one in found)
    right = len(told) - sum(gold.key in wrong for gold in told)
    return Collection(
        len(told), counts["stored"], right, counts["pictures"], counts["pictures_stored"], counts["pictures_right"],
        counts["captions_right"], counts["captions"], wrong,
    )  # fmt: skip


def _pictures(kept: StoredStory, shown: Sequence[Picture]) -> Counter[str]:
    wanted = {picture.url: picture.caption for picture in shown}
    there = [picture for picture in kept.pictures if picture.url in wanted]
    captions = [url for url, caption in wanted.items() if caption]
    said = {picture.url: picture.caption for picture in there}
    right = sum(squeezed(said.get(url)) == squeezed(wanted[url]) for url in captions)
    return Counter(
        pictures_stored=len(kept.pictures), pictures_right=len({picture.url for picture in there}), captions=len(captions),
        captions_right=right,
    )  # fmt: skip


def _fault(found: Sequence[StoredStory], gold: GoldStory, shown: Sequence[Picture], visit: int) -> str | None:
    if len(found) != 1:
        return "is not stored" if not found else f"is stored {len(found)} times"
    (kept,) = found
    whole = gold.lost is None and (visit > 0 or gold.late is None)
    urls, wanted = [picture.url for picture in kept.pictures], [picture.url for picture in shown]
    if urls != wanted:
        strange, missed = len(set(urls) - set(wanted)), len(set(wanted) - set(urls))
        return f"has {strange} strange pictures, misses {missed}" if strange or missed else "has its pictures in another order, or twice"
    captions = sum(
        bool(there.caption) and squeezed(one.caption) != squeezed(there.caption) for one, there in zip(kept.pictures, shown, strict=True)
    )
    if captions:
        return f"has {captions} other captions"
    if kept.complete != whole:
        return "says that it is whole" if kept.complete else "says that it is not whole"
    return None


def folded(kept: Iterable[StoredStory], told: Sequence[GoldStory]) -> tuple[Set[frozenset[str]], Set[frozenset[str]]]:
    """Return the pairs of stories that the store joins, and those that are the same; both among the stored ones only."""
    keys = {_plain(gold.url): gold for gold in told}
    stored = [(keys[_plain(one.url)], one.story) for one in kept if _plain(one.url) in keys]
    joined = _pairs((gold.key, story) for gold, story in stored)
    right = _pairs((gold.key, gold.cluster) for gold, _ in stored)
    return joined, right


def _pairs(named: Iterable[tuple[str, str]]) -> set[frozenset[str]]:
    groups: dict[str, list[str]] = {}
    for key, group in named:
        groups.setdefault(group, []).append(key)
    return {frozenset(pair) for group in groups.values() for pair in combinations(group, 2)}


def squeezed(text: str | None) -> str:
    return "".join((text or "").split())


def _plain(url: str) -> str:
    return url.partition("#")[0].partition("://")[2].rstrip("/")
