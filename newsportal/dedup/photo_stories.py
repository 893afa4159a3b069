"""Which photo stories (套图) are one: by their words, as paper C tells, and by their pictures. Pure.

Paper C (Jiang, Zuo 2014), 2.2.3: two stories are one if the cosine of the words of title and first sentence is 0.3 or more; the one with
more pictures stays. That alone takes 「每日一图」 of today for that of yesterday, and misses a story whose words another newsroom wrote
anew. Pictures tell both apart, where they are known:

    s = matched pictures / pictures of the story that has fewer,   c = the paper's cosine

Where both stories have at least three pictures with prints, s counts those alone: large pictures have prints only as far as they were
fetched whole (``pictures.prints``).

=============================================  ==========================================
pictures of both known (at least three each)   s ≥ 0.5, or s ≥ 0.2 and c ≥ 0.3
fewer known                                    s ≥ 0.5 with two pictures matched, or c ≥ 0.5
none known of one                              c ≥ 0.5, and the same numbers in both titles
=============================================  ==========================================

Two pictures match by address, or by perceptual hashes that differ in at most :data:`NEAR` of 64 bits.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from newsportal.dedup.cosine import THRESHOLD
from newsportal.items import Image

PAPER: Final = THRESHOLD  # paper C, 2.2.3: the cosine from which two stories are one
WORDS_ALONE: Final = 0.5
"""The cosine from which words alone are believed: above the paper's, for reports of one event share a third of their words."""

MOST_SHARED: Final = 0.5
SOME_SHARED: Final = 0.2  # Shares of pictures: from the first on pictures alone decide, from the second on together with the paper's cosine
ENOUGH: Final = 3  # pictures known of each story from which on it counts that they do not match
TOGETHER: Final = 2  # pictures that must match at least where pictures alone decide: one may be a portrait that every report shows
NEAR: Final = 10
"""Bits of 64 in which the prints of one picture may differ (recompressed, scaled, cropped a little); of two pictures about 32 differ."""

MOST_COMPARED: Final = 60  # pictures of a story that are compared
NUMBER: Final = re.compile(r"\d+")


@dataclass(frozen=True, slots=True)
class ComparedPicture:
    """A picture as it is compared: the key of its address, and its perceptual hash where that is known."""

    address: str
    print: int | None = None


@dataclass(frozen=True, slots=True)
class PhotoStory:
    """A photo story as it is compared. ``words``: unit vector of title and first sentence (:func:`newsportal.dedup.cosine.unit_vector`)."""

    id: str
    title: str
    words: Mapping[str, float]
    pictures: tuple[ComparedPicture, ...]


@dataclass(frozen=True, slots=True)
class StoryMatch:
    """Why two stories are one. ``reason``: ``same-pictures`` or ``same-words``; ``score`` runs from 0 to 1."""

    reason: str
    score: float


def compare(one: PhotoStory, other: PhotoStory, theta: float | None = None) -> StoryMatch | None:
    """Whether two photo stories are one, by the rule above; with ``theta`` as the paper tells it, by their words alone."""
    words = cosine(one.words, other.words)
    if theta is not None:
        return StoryMatch("same-words", words) if words >= theta else None
    matched = matches(one.pictures, other.pictures)
    printed = comparable(one.pictures, other.pictures)
    fewer = printed if printed >= ENOUGH else min(len(one.pictures), len(other.pictures))
    share = min(matched / fewer, 1.0) if fewer else 0.0
    if share >= MOST_SHARED and matched >= min(TOGETHER, fewer) and (matched >= TOGETHER or words >= PAPER):
        return StoryMatch("same-pictures", share)
    if share >= SOME_SHARED and words >= PAPER:
        return StoryMatch("same-pictures", max(share, words))
    alone = printed < ENOUGH and words >= WORDS_ALONE and numbers(one.title) == numbers(other.title)
    return StoryMatch("same-words", words) if alone else None


def cosine(one: Mapping[str, float], other: Mapping[str, float]) -> float:
    """Of two unit vectors."""
    if len(other) < len(one):
        one, other = other, one
    return sum(weight * other[word] for word, weight in one.items() if word in other)


def comparable(one: Sequence[ComparedPicture], other: Sequence[ComparedPicture]) -> int:
    """Of how many pictures both stories could have shown that they are the same: those with prints, of the story that has fewer."""
    return min(sum(picture.print is not None for picture in pictures) for pictures in (one, other))


def matches(one: Sequence[ComparedPicture], other: Sequence[ComparedPicture]) -> int:
    """How many pictures of the two are the same, each counted once; the nearest first."""
    left = list(other[:MOST_COMPARED])
    found = 0
    for picture in one[:MOST_COMPARED]:
        best = min(left, key=lambda candidate: apart(picture, candidate), default=None)
        if best is not None and apart(picture, best) <= NEAR:
            left.remove(best)
            found += 1
    return found


def apart(one: ComparedPicture, other: ComparedPicture) -> int:
    """In how many bits two pictures differ: none with the same address, 64 where a print is not known."""
    if one.address == other.address:
        return 0
    return 64 if one.print is None or other.print is None else (one.print ^ other.print).bit_count()


def numbers(title: str) -> frozenset[int]:
    """The numbers of a title: issues of a series differ in them."""
    return frozenset(int(number) for number in NUMBER.findall(title))


def pictures_of(images: Iterable[Image], key: Mapping[str, str] | None = None) -> tuple[ComparedPicture, ...]:
    """Pictures as they are compared; ``key``: URL → the key of its address, by default the address without its query."""
    return tuple(ComparedPicture((key or {}).get(image.url) or address(image.url), _bits(image.print)) for image in images)


def address(url: str) -> str:
    """A picture's address without scheme and query: servers of pictures put sizes and signatures there."""
    return url.partition("://")[2].partition("?")[0] or url


def _bits(print: str | None) -> int | None:
    try:
        return int(print, 16) if print else None
    except ValueError:
        return None
