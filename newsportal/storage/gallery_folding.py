"""Photo stories that are one: found among the stored ones, and folded. All inside the caller's transaction.

Stories are looked for by what they share: words of title and first sentence, addresses of pictures, quarters of their prints (two prints
that differ in three bits of 64 have a quarter in common). ``dedup.photo_stories`` decides.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from hashlib import blake2b
from typing import Any, Final

from sqlalchemy import Connection, delete, func, insert, select, update

from newsportal.dedup.cosine import unit_vector
from newsportal.dedup.photo_stories import Alike, PhotoStory, Seen, compare, seen
from newsportal.items import Fold, Image
from newsportal.storage.columns import shifted
from newsportal.storage.folding import refresh
from newsportal.storage.gallery_tables import GALLERIES, KEYS, PICTURES, WORDS
from newsportal.storage.reading import chunks
from newsportal.storage.tables import ARTICLES, UNFOLDED

SPAN: Final = timedelta(days=30)
"""Stories whose moments lie further apart are not compared: anniversaries tell the same anew. The paper names no time."""

MOST_KEYED: Final = 24
"""Pictures of a story by which it is looked for, the first ones."""

COMMON: Final = 2000
"""A word or picture that so many stories of the time have finds none: it would find too many."""

MOST_COMPARED: Final = 40
"""Stories that are compared with a new one: those that share most of its words, and those that share most of its pictures."""

COLUMNS: Final = (
    ARTICLES.c.id,
    ARTICLES.c.story_id,
    ARTICLES.c.title,
    ARTICLES.c.text.label("told"),
    ARTICLES.c.moment,
    GALLERIES.c.text,
)


@dataclass(frozen=True, slots=True)
class Found:
    """A stored story that the new one repeats."""

    row: Mapping[str, Any]
    alike: Alike


def fold(connection: Connection, id: str) -> Fold | None:
    """Look whether the photo story ``id``, just written, is another's repeat, and fold it; figures and ranks are the caller's.

    Only one that is alone in its story is folded, and never into a story that an editor took it out of. Answers what it was folded into.
    """
    row = _row(connection, id)
    story = _photo_story(row, _pictures(connection, [id]).get(id, ()))
    _keep(connection, story, row["moment"])
    members = _members(connection, row["story_id"])
    found = _repeated(connection, row, story) if len(members) == 1 else None
    story_id = row["story_id"]
    if found is not None:
        story_id = found.row["story_id"]
        folded = {"fold_of": found.row["id"], "fold_reason": found.alike.reason, "fold_score": found.alike.score}
        connection.execute(update(ARTICLES).where(ARTICLES.c.id == id).values(story_id=story_id, **folded))
        refresh(connection, row["story_id"])  # it is empty now
    return Fold(story_id, found.row["id"], found.alike.reason, found.alike.score) if found else None


def is_one(connection: Connection, id: str, other: str) -> bool:
    """Whether two stored photo stories are one, by what is known of them now."""
    images = _pictures(connection, [id, other])
    one, two = (_photo_story(_row(connection, name), images.get(name, ())) for name in (id, other))
    return compare(one, two) is not None


def _row(connection: Connection, id: str) -> Mapping[str, Any]:
    wanted = select(*COLUMNS).join(GALLERIES, GALLERIES.c.id == ARTICLES.c.id).where(ARTICLES.c.id == id)
    return dict(connection.execute(wanted).mappings().one())


def _members(connection: Connection, story_id: str) -> list[str]:
    return list(connection.scalars(select(ARTICLES.c.id).where(ARTICLES.c.story_id == story_id)))


def _pictures(connection: Connection, ids: Collection[str]) -> dict[str, tuple[Image, ...]]:
    """The pictures shown of each story, in order."""
    found: dict[str, list[Image]] = {}
    columns = (PICTURES.c[name] for name in ("gallery_id", "url", "caption", "width", "height", "print"))
    wanted = select(*columns).where(PICTURES.c.dropped.is_(None)).order_by(PICTURES.c.gallery_id, PICTURES.c.number)
    for chunk in chunks(ids):
        for row in connection.execute(wanted.where(PICTURES.c.gallery_id.in_(chunk))):
            image = Image(row.url, row.caption, row.width, row.height, print=row.print)
            found.setdefault(row.gallery_id, []).append(image)
    return {id: tuple(images) for id, images in found.items()}


def _photo_story(row: Mapping[str, Any], images: Sequence[Image]) -> PhotoStory:
    words = unit_vector(row["title"], row["text"] or row["told"])
    return PhotoStory(row["id"], row["title"], words, seen(images))


def _keep(connection: Connection, story: PhotoStory, moment: datetime) -> None:
    """Keep a story for those that come later, in place of what was kept of it."""
    for table in (KEYS, WORDS):
        connection.execute(delete(table).where(table.c.gallery_id == story.id))
    connection.execute(insert(WORDS), {"gallery_id": story.id, "words": dict(story.words)})
    keys = {*_word_keys(story), *_picture_keys(story.pictures)}
    if keys:
        connection.execute(insert(KEYS), [{"key": key, "gallery_id": story.id, "moment": moment} for key in sorted(keys)])


def _repeated(connection: Connection, row: Mapping[str, Any], story: PhotoStory) -> Found | None:
    """The stored story that is most like this one, if one is: the surest, then the earliest."""
    near = {*_sharing(connection, _word_keys(story), row), *_sharing(connection, _picture_keys(story.pictures), row)}
    apart = set(connection.scalars(select(UNFOLDED.c.story_id).where(UNFOLDED.c.article_id == row["id"])))
    images = _pictures(connection, near)
    best: Found | None = None
    for other in _stored(connection, near):
        if other["story_id"] in apart or other["story_id"] == row["story_id"]:
            continue
        alike = compare(story, PhotoStory(other["id"], other["title"], other["words"], seen(images.get(other["id"], ()))))
        if alike and (best is None or alike.score > best.alike.score):
            best = Found(other, alike)
    return best


def _stored(connection: Connection, ids: Collection[str]) -> list[Mapping[str, Any]]:
    """Stories with their words, the earliest first."""
    columns = (ARTICLES.c.id, ARTICLES.c.story_id, ARTICLES.c.title, ARTICLES.c.moment, WORDS.c.words)
    wanted = select(*columns).join(WORDS, WORDS.c.gallery_id == ARTICLES.c.id)
    rows = [dict(row) for chunk in chunks(ids) for row in connection.execute(wanted.where(ARTICLES.c.id.in_(chunk))).mappings()]
    return sorted(rows, key=lambda row: (row["moment"], row["id"]))


def _sharing(connection: Connection, keys: Iterable[int], row: Mapping[str, Any]) -> list[str]:
    """The stories of the time that share most of ``keys``, common ones left out."""
    counts: dict[str, int] = {}
    of_the_time = KEYS.c.moment.between(shifted(row["moment"], -SPAN), shifted(row["moment"], SPAN))
    for chunk in chunks(sorted(set(keys))):
        within = KEYS.c.key.in_(chunk) & of_the_time
        often = select(KEYS.c.key).where(within).group_by(KEYS.c.key).having(func.count() > COMMON)
        common = set(connection.scalars(often))
        rare = [key for key in chunk if key not in common]
        for (id,) in connection.execute(select(KEYS.c.gallery_id).where(KEYS.c.key.in_(rare) & of_the_time)):
            counts[id] = counts.get(id, 0) + 1
    counts.pop(row["id"], None)
    return sorted(counts, key=lambda id: (-counts[id], id))[:MOST_COMPARED]


def _word_keys(story: PhotoStory) -> list[int]:
    return [_key(f"word {word}") for word in story.words]


def _picture_keys(pictures: Sequence[Seen]) -> list[int]:
    """By the address, and by each quarter of the print with its place."""
    keys = []
    for picture in pictures[:MOST_KEYED]:
        keys.append(_key(f"picture {picture.address}"))
        if picture.print is not None:
            keys += [_key(f"print {place} {picture.print >> 16 * place & 0xFFFF}") for place in range(4)]
    return keys


def _key(of: str) -> int:
    """A hash of 63 bits: any database keeps it as a whole number."""
    return int.from_bytes(blake2b(of.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "big") >> 1
