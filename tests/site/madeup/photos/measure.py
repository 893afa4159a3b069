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


def collected(stories: Iterable[StoredStory], golds: Sequence[GoldStory], visit: int) -> Collection:
    """Score stories. One is right if it is stored once, with exactly the pictures available up to ``visit`` and their captions in order,
    and correctly marked as complete or not."""
    by_url: dict[str, list[StoredStory]] = {}
    for story in stories:
        by_url.setdefault(_plain(story.url), []).append(story)
    counts: Counter[str] = Counter()
    wrong: dict[str, str] = {}
    for gold in golds:
        found = by_url.pop(_plain(gold.url), [])
        pictures = gold.shown(visit)
        counts["pictures"] += len(pictures)
        if fault := _fault(found, gold, pictures, visit):
            wrong[gold.key] = fault
        for story in found[:1]:
            counts.update(_pictures(story, pictures))
        counts["stored"] += len(found)
    for url, found in by_url.items():
        wrong[url] = "is no story"
        counts["stored"] += len(found)
        counts["pictures_stored"] += sum(len(story.pictures) for story in found)
    right = len(golds) - sum(gold.key in wrong for gold in golds)
    return Collection(
        len(golds), counts["stored"], right, counts["pictures"], counts["pictures_stored"], counts["pictures_right"],
        counts["captions_right"], counts["captions"], wrong,
    )  # fmt: skip


def _pictures(story: StoredStory, pictures: Sequence[Picture]) -> Counter[str]:
    expected = {picture.url: picture.caption for picture in pictures}
    present = [picture for picture in story.pictures if picture.url in expected]
    captions = [url for url, caption in expected.items() if caption]
    captioned = {picture.url: picture.caption for picture in present}
    right = sum(squeezed(captioned.get(url)) == squeezed(expected[url]) for url in captions)
    return Counter(
        pictures_stored=len(story.pictures), pictures_right=len({picture.url for picture in present}), captions=len(captions),
        captions_right=right,
    )  # fmt: skip


def _fault(found: Sequence[StoredStory], gold: GoldStory, pictures: Sequence[Picture], visit: int) -> str | None:
    if len(found) != 1:
        return "is not stored" if not found else f"is stored {len(found)} times"
    (story,) = found
    complete = gold.lost is None and (visit > 0 or gold.late is None)
    urls, expected = [picture.url for picture in story.pictures], [picture.url for picture in pictures]
    if urls != expected:
        strange, missed = len(set(urls) - set(expected)), len(set(expected) - set(urls))
        return f"has {strange} strange pictures, misses {missed}" if strange or missed else "has its pictures in another order, or twice"
    captions = sum(
        bool(gold.caption) and squeezed(picture.caption) != squeezed(gold.caption)
        for picture, gold in zip(story.pictures, pictures, strict=True)
    )
    if captions:
        return f"has {captions} other captions"
    if story.complete != complete:
        return "says that it is whole" if story.complete else "says that it is not whole"
    return None


def folded(stories: Iterable[StoredStory], golds: Sequence[GoldStory]) -> tuple[Set[frozenset[str]], Set[frozenset[str]]]:
    """Return the pairs of stories that the store joins, and those that are the same; both among the stored ones only."""
    keys = {_plain(gold.url): gold for gold in golds}
    stored = [(keys[_plain(story.url)], story.story) for story in stories if _plain(story.url) in keys]
    joined = _pairs((gold.key, story) for gold, story in stored)
    right = _pairs((gold.key, gold.cluster) for gold, _ in stored)
    return joined, right


def _pairs(pairs: Iterable[tuple[str, str]]) -> set[frozenset[str]]:
    groups: dict[str, list[str]] = {}
    for key, group in pairs:
        groups.setdefault(group, []).append(key)
    return {frozenset(pair) for group in groups.values() for pair in combinations(group, 2)}


def squeezed(text: str | None) -> str:
    return "".join((text or "").split())


def _plain(url: str) -> str:
    return url.partition("#")[0].partition("://")[2].rstrip("/")
