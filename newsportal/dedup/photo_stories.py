"""Duplicate photo stories (套图): by words, as in paper C, and by pictures. Pure.

Paper C (Jiang, Zuo 2014), 2.2.3: two stories are the same if the cosine of the words of title and first sentence is 0.3 or more; the one
with more pictures is kept. That alone confuses 「每日一图」 of today with that of yesterday, and misses a story rewritten by another
newsroom. Pictures distinguish both cases, if they are known:

    s = matched pictures / pictures of the story that has fewer,   c = the paper's cosine

If both stories have at least three pictures with perceptual hashes, s only counts those: large pictures only have hashes if they were
fetched completely (``pictures.prints``).

=============================================  ==========================================
pictures of both known (at least three each)   s ≥ 0.5, or s ≥ 0.2 and c ≥ 0.3
fewer known                                    s ≥ 0.5 with two pictures matched, or c ≥ 0.5
none known of one                              c ≥ 0.5, and the same numbers in both titles
=============================================  ==========================================

Two pictures match by URL, or by perceptual hashes that differ in at most :data:`MAX_DISTANCE` of 64 bits.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from newsportal.dedup.cosine import THRESHOLD
from newsportal.items import Image

PAPER_COSINE: Final = THRESHOLD  # paper C, 2.2.3: cosine from which two stories are the same
WORDS_COSINE: Final = 0.5
"""Cosine from which words alone decide: above the paper's, because reports of one event share a third of their words."""

DECISIVE_SHARE: Final = 0.5
SUPPORTING_SHARE: Final = 0.2  # shares of pictures: the first decides alone, the second together with the paper's cosine
MIN_KNOWN: Final = 3  # known pictures of each story from which a lack of matches is significant
MIN_MATCHES: Final = 2  # minimum number of matches if pictures alone decide: one may be a portrait in every report
MAX_DISTANCE: Final = 10
"""Maximum number of different bits of 64 in hashes of the same picture (recompressed, scaled, slightly cropped); others differ in 32."""

MAX_COMPARED: Final = 60  # pictures of a story that are compared
NUMBER: Final = re.compile(r"\d+")


@dataclass(frozen=True, slots=True)
class ComparedPicture:
    """A picture to compare: the key of its URL, and its perceptual hash if known."""

    key: str
    print: int | None = None


@dataclass(frozen=True, slots=True)
class PhotoStory:
    """A photo story to compare. ``words``: unit vector of title and first sentence (:func:`newsportal.dedup.cosine.unit_vector`)."""

    id: str
    title: str
    words: Mapping[str, float]
    pictures: tuple[ComparedPicture, ...]


@dataclass(frozen=True, slots=True)
class StoryMatch:
    """Why two stories are the same. ``reason``: ``same-pictures`` or ``same-words``; ``score``: 0 to 1."""

    reason: str
    score: float


def compare(first: PhotoStory, second: PhotoStory, theta: float | None = None) -> StoryMatch | None:
    """Compare two photo stories by the rule above, or with ``theta`` by words alone, as in the paper. ``None``: not the same."""
    words = cosine(first.words, second.words)
    if theta is not None:
        return StoryMatch("same-words", words) if words >= theta else None
    matched = count_matches(first.pictures, second.pictures)
    hashed = min(sum(picture.print is not None for picture in story.pictures) for story in (first, second))  # whose match can be detected
    fewer = hashed if hashed >= MIN_KNOWN else min(len(first.pictures), len(second.pictures))
    share = min(matched / fewer, 1.0) if fewer else 0.0
    if share >= DECISIVE_SHARE and matched >= min(MIN_MATCHES, fewer) and (matched >= MIN_MATCHES or words >= PAPER_COSINE):
        return StoryMatch("same-pictures", share)
    if share >= SUPPORTING_SHARE and words >= PAPER_COSINE:
        return StoryMatch("same-pictures", max(share, words))
    words_decide = hashed < MIN_KNOWN and words >= WORDS_COSINE and numbers(first.title) == numbers(second.title)
    return StoryMatch("same-words", words) if words_decide else None


def cosine(first: Mapping[str, float], second: Mapping[str, float]) -> float:
    """Return the cosine of two unit vectors."""
    if len(second) < len(first):
        first, second = second, first
    return sum(weight * second[word] for word, weight in first.items() if word in second)


def count_matches(first: Sequence[ComparedPicture], second: Sequence[ComparedPicture]) -> int:
    """Return how many pictures of the two match, each counted once; the nearest first."""
    unmatched = list(second[:MAX_COMPARED])
    found = 0
    for picture in first[:MAX_COMPARED]:
        best = min(unmatched, key=lambda candidate: bit_distance(picture, candidate), default=None)
        if best is not None and bit_distance(picture, best) <= MAX_DISTANCE:
            unmatched.remove(best)
            found += 1
    return found


def bit_distance(first: ComparedPicture, second: ComparedPicture) -> int:
    """Return the number of different bits of two pictures: 0 for the same URL, 64 if a hash is unknown."""
    if first.key == second.key:
        return 0
    return 64 if first.print is None or second.print is None else (first.print ^ second.print).bit_count()


def numbers(title: str) -> frozenset[int]:
    """Return the numbers in a title: issues of a series differ in them."""
    return frozenset(int(number) for number in NUMBER.findall(title))


def pictures_of(images: Iterable[Image], key: Mapping[str, str] | None = None) -> tuple[ComparedPicture, ...]:
    """Convert pictures for comparison; ``key``: URL → its key, by default the URL without its query."""
    return tuple(ComparedPicture((key or {}).get(image.url) or picture_key(image.url), _bits(image.print)) for image in images)


def picture_key(url: str) -> str:
    """Return a picture's URL without scheme and query, where image servers put sizes and signatures."""
    return url.partition("://")[2].partition("?")[0] or url


def _bits(print: str | None) -> int | None:
    try:
        return int(print, 16) if print else None
    except ValueError:
        return None
