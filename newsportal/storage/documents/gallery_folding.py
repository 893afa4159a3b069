"""Photo stories that are one, in a database of documents: found among the stored ones, folded, and parted again when they are not one
after all (see the SQL store's ``gallery_folding`` and ``gallery_parting``). All inside the caller's transaction."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from newsportal.dedup.photo_stories import PhotoStory, compare
from newsportal.items import Fold, Image
from newsportal.storage.columns import shifted
from newsportal.storage.documents.base import In, Is, Row, Rows, Transaction, Within, moment_in
from newsportal.storage.documents.folding import move, new_story, refresh
from newsportal.storage.documents.plain import aware
from newsportal.storage.documents.room_tables import GALLERIES, GALLERY_KEYS, GALLERY_PICTURES, GALLERY_WORDS, row_id
from newsportal.storage.documents.tables import ARTICLE_MOMENTS, ARTICLES, as_text
from newsportal.storage.galleries_steps import leaving, made_by_rule
from newsportal.storage.gallery_likeness import (
    COMMON,
    SPAN,
    all_keys,
    most_like,
    most_shared,
    photo_story,
    picture_keys,
    shown,
    word_keys,
)  # fmt: skip
from newsportal.storage.paging import chunks
from newsportal.storage.revising import fold_columns

COMPARED = ("story_id", "title", "text", "moment", "apart")


def fold(transaction: Transaction, id: str) -> Fold | None:
    """Look whether the photo story ``id``, just written, is another's repeat, and fold it; figures and ranks are the caller's.

    Only one that is alone in its story is folded, and never into a story that an editor took it out of. Answers what it was folded into.
    """
    row = _row(transaction, id)
    story = photo_story(row, _pictures(transaction, [id]).get(id, ()))
    alone = transaction.count(ARTICLES, Is("story_id", row["story_id"])) == 1
    found = _repeated(transaction, row, story) if alone else None
    _keep(transaction, story, row["moment"])  # after the look: a transaction asks twice of a table that it has written to
    if found is not None:
        move(transaction, id, found.story_id, **fold_columns(found))
        refresh(transaction, row["story_id"])  # it is empty now
    return found


def is_one(rows: Rows, id: str, other: str) -> bool:
    """Whether two stored photo stories are one, by what is known of them now."""
    images = _pictures(rows, [id, other])
    one, two = (photo_story(_row(rows, name), images.get(name, ())) for name in (id, other))
    return compare(one, two) is not None


def _row(rows: Rows, id: str) -> Row:
    """What is compared of a photo story: its article, and its own text."""
    article = rows.get(ARTICLES, [id], only=COMPARED)[id]
    own = rows.get(GALLERIES, [id], only=("text",))[id]
    return {**aware(article, "moment"), "told": article["text"], "text": own["text"]}


def _pictures(rows: Rows, ids: Collection[str]) -> dict[str, list[Image]]:
    """The pictures shown of each story, in order."""
    found: dict[str, list[Image]] = defaultdict(list)
    for chunk in chunks(ids):
        for row in rows.find(GALLERY_PICTURES, In("gallery_id", chunk), Is("dropped", None), order=("gallery_id", "number")):
            found[row["gallery_id"]].append(shown(row))
    return found


def _keep(transaction: Transaction, story: PhotoStory, moment: Any) -> None:
    """Keep a story for those that come later, in place of what was kept of it."""
    transaction.put(GALLERY_WORDS, {"id": row_id(story.id), "gallery_id": story.id, "words": as_text(dict(story.words))})
    there = {row["id"]: row for row in transaction.find(GALLERY_KEYS, Is("gallery_id", story.id))}
    at = moment_in(moment)
    kept = {row_id(key, story.id): key for key in all_keys(story)}
    transaction.delete(GALLERY_KEYS, [id for id in there if id not in kept])
    for id, key in kept.items():
        if id not in there or there[id]["moment"] != at:
            transaction.put(GALLERY_KEYS, {"id": id, "key": key, "gallery_id": story.id, "moment": at})


def _repeated(rows: Rows, row: Row, story: PhotoStory) -> Fold | None:
    """The stored story that is most like this one, if one is."""
    near = _near(rows, story, row)
    found = most_like(story, row["story_id"], _stored(rows, near), _pictures(rows, near), row["apart"])
    return Fold(found.row["story_id"], found.row["id"], found.alike.reason, found.alike.score) if found else None


def _stored(rows: Rows, ids: Collection[str]) -> list[Row]:
    """Stories with their words."""
    found: list[Row] = []
    for chunk in chunks(ids):
        words = {row["gallery_id"]: json.loads(row["words"]) for row in rows.get(GALLERY_WORDS, _ids(chunk)).values()}
        articles = rows.get(ARTICLES, list(words), only=("story_id", "title", "moment")) if words else {}
        found += [{**aware(article, "moment"), "words": words[id]} for id, article in articles.items()]
    return found


def _ids(ids: Iterable[str]) -> list[str]:
    return [row_id(id) for id in ids]


def _near(rows: Rows, story: PhotoStory, row: Mapping[str, Any]) -> set[str]:
    """The stories of the time that share most of its words, and those that share most of its pictures; common ones left out."""
    first, last = (moment_in(shifted(row["moment"], by)) for by in (-SPAN, SPAN))
    of_the_time = Within("moment", first, last, upto=True)
    rare: set[int] = set()
    for chunk in chunks(all_keys(story)):
        often = rows.count_by(GALLERY_KEYS, "key", In("key", chunk), of_the_time)
        rare.update(key for key, stories in often.items() if stories <= COMMON)
    near: set[str] = set()
    for keys in (word_keys(story), picture_keys(story.pictures)):
        counts: Counter[str] = Counter()
        for chunk in chunks(sorted(rare.intersection(keys))):
            counts.update(rows.count_by(GALLERY_KEYS, "gallery_id", In("key", chunk), of_the_time))
        near.update(most_shared(counts, row["id"]))
    return near


def part(transaction: Transaction, id: str) -> tuple[str, ...]:
    """Take apart what the pictures of ``id``, as they are now, do not join any more; what leaves may be folded elsewhere.

    Answers the photo stories that left their story; figures and ranks of all stories concerned are the caller's.
    """
    story_id = transaction.get(ARTICLES, [id], only=("story_id",))[id]["story_id"]
    links = transaction.find(ARTICLES, Is("story_id", story_id), only=("fold_of", "fold_reason"))
    broken = [link["id"] for link in links if made_by_rule(link, id) and not is_one(transaction, link["id"], link["fold_of"])]
    left = [one for child in broken for one in _leave(transaction, child, links)]
    for child in broken:
        fold(transaction, child)
    return tuple(dict.fromkeys(left))


def _leave(transaction: Transaction, child: str, links: Sequence[Row]) -> list[str]:
    """Found a story on ``child``, and take what repeats it along."""
    row = aware(transaction.get(ARTICLES, [child], without=("text", "html"))[child], *ARTICLE_MOMENTS)
    story_id = new_story(transaction, row, [mark["topic"] for mark in row["topics"]])
    move(transaction, child, story_id, **fold_columns(None))
    moved = leaving(child, links)
    for one in moved[1:]:
        move(transaction, one, story_id)
    return moved
