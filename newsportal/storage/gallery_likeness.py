"""By what photo stories are found that may be one, and which of those found it is. Pure.

Stories are looked for by what they share: words of title and first sentence, addresses of pictures, quarters of their prints (two prints
that differ in three bits of 64 have a quarter in common). ``dedup.photo_stories`` decides.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from hashlib import blake2b
from typing import Any, Final

from newsportal.dedup.cosine import unit_vector
from newsportal.dedup.photo_stories import Alike, PhotoStory, Seen, compare, seen
from newsportal.items import Image

SPAN: Final = timedelta(days=30)
"""Stories whose moments lie further apart are not compared: anniversaries tell the same anew. The paper names no time."""

MOST_KEYED: Final = 24
"""Pictures of a story by which it is looked for, the first ones."""

COMMON: Final = 2000
"""A word or picture that so many stories of the time have finds none: it would find too many."""

MOST_COMPARED: Final = 40
"""Stories that are compared with a new one: those that share most of its words, and those that share most of its pictures."""


@dataclass(frozen=True, slots=True)
class Found:
    """A stored story that the new one repeats."""

    row: Mapping[str, Any]
    alike: Alike


def photo_story(row: Mapping[str, Any], images: Sequence[Image]) -> PhotoStory:
    """A photo story as it is compared: ``title``, its own ``text``, and the text ``told`` with its captions."""
    words = unit_vector(row["title"], row["text"] or row["told"])
    return PhotoStory(row["id"], row["title"], words, seen(images))


def shown(row: Mapping[str, Any]) -> Image:
    """A row of ``gallery_pictures`` as it is compared."""
    return Image(row["url"], row["caption"], row["width"], row["height"], print=row["print"])


def most_like(
    story: PhotoStory, story_id: str, others: Iterable[Mapping[str, Any]], images: Mapping[str, Sequence[Image]], apart: Collection[str]
) -> Found | None:  # fmt: skip
    """Of ``others`` (with their ``words``) the one that is most like ``story``, if one is: the surest, then the earliest. Those of its own
    story, and of those ``apart``, are out."""
    best: Found | None = None
    for other in sorted(others, key=lambda row: (row["moment"], row["id"])):
        if other["story_id"] in apart or other["story_id"] == story_id:
            continue
        alike = compare(story, PhotoStory(other["id"], other["title"], other["words"], seen(images.get(other["id"], ()))))
        if alike and (best is None or alike.score > best.alike.score):
            best = Found(other, alike)
    return best


def most_shared(counts: Mapping[str, int], but: str) -> list[str]:
    """Of stories with the number of keys they share those that are compared; ``but``: not this one."""
    return sorted((id for id in counts if id != but), key=lambda id: (-counts[id], id))[:MOST_COMPARED]


def word_keys(story: PhotoStory) -> list[int]:
    """By the words."""
    return [_key(f"word {word}") for word in story.words]


def picture_keys(pictures: Sequence[Seen]) -> list[int]:
    """By the address, and by each quarter of the print with its place."""
    keys = []
    for picture in pictures[:MOST_KEYED]:
        keys.append(_key(f"picture {picture.address}"))
        if picture.print is not None:
            keys += [_key(f"print {place} {picture.print >> 16 * place & 0xFFFF}") for place in range(4)]
    return keys


def all_keys(story: PhotoStory) -> list[int]:
    """Those under which a story is kept."""
    return sorted({*word_keys(story), *picture_keys(story.pictures)})


def _key(of: str) -> int:
    """A hash of 63 bits: any database keeps it as a whole number."""
    return int.from_bytes(blake2b(of.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "big") >> 1
