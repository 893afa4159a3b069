"""By what photo stories are found that may be one, which of those found it is, and when one is parted again.

Stories are looked for by what they share: words of title and first sentence, addresses of pictures, quarters of their prints (two prints
that differ in three bits of 64 have a quarter in common). ``dedup.photo_stories`` decides. A fold is judged by what is known at the time:
of a story whose pages failed one picture may be known, and words alone decided; a picture that two stories share may turn out to be an
advertisement. So when the pictures of a story change, its folds are judged again. What an editor folded stays.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import timedelta
from hashlib import blake2b
from typing import Any, Final

from sqlalchemy import Connection, delete, func, insert, select, update

from newsportal.dedup.cosine import unit_vector
from newsportal.dedup.photo_stories import ComparedPicture, PhotoStory, compare, pictures_of
from newsportal.items import Fold, Image
from newsportal.recommend.score import parts, score
from newsportal.store.article_rows import fold_columns
from newsportal.store.columns import shifted
from newsportal.store.dialects import chunks, select_in
from newsportal.store.folding import new_story, refresh
from newsportal.store.gallery_rows import image_of
from newsportal.store.gallery_tables import GALLERIES, GALLERY_KEYS, GALLERY_LABELS, GALLERY_PICTURES, GALLERY_WORDS
from newsportal.store.tables import ARTICLES, STORIES, TOPICS, UNFOLDED

SPAN: Final = timedelta(days=30)
"""Stories whose moments lie further apart are not compared: anniversaries tell the same anew. The paper names no time."""

MOST_KEYED: Final = 24  # pictures of a story by which it is looked for, the first ones
COMMON: Final = 2000  # a word or picture that so many stories of the time have finds none: it would find too many
JUDGED: Final = ("same-pictures", "same-words")
"""The reasons of ``dedup.photo_stories``: folds that were made by its rule. What an editor folded stays."""

MOST_COMPARED: Final = 40
"""Stories that are compared with a new one: those that share most of its words, and those that share most of its pictures."""


def photo_story(row: Mapping[str, Any], images: Sequence[Image]) -> PhotoStory:
    """A photo story as it is compared: ``title``, its own ``text``, and the text ``told`` with its captions."""
    words = unit_vector(row["title"], row["text"] or row["told"])
    return PhotoStory(row["id"], row["title"], words, pictures_of(images))


def word_keys(story: PhotoStory) -> list[int]:
    return [_key(f"word {word}") for word in story.words]


def picture_keys(pictures: Sequence[ComparedPicture]) -> list[int]:
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


COLUMNS: Final = (ARTICLES.c.id, ARTICLES.c.story_id, ARTICLES.c.title, ARTICLES.c.text.label("told"), ARTICLES.c.moment, GALLERIES.c.text)


def fold_gallery(connection: Connection, id: str) -> Fold | None:
    """Look whether the photo story ``id``, just written, is another's repeat, and fold it; figures and ranks are the caller's.

    Only one that is alone in its story is folded, and never into a story that an editor took it out of. Answers what it was folded into.
    """
    row = _row(connection, id)
    story = photo_story(row, _pictures(connection, [id]).get(id, ()))
    for table in (GALLERY_KEYS, GALLERY_WORDS):
        connection.execute(delete(table).where(table.c.gallery_id == story.id))
    connection.execute(insert(GALLERY_WORDS), {"gallery_id": story.id, "words": dict(story.words)})
    keys = sorted({*word_keys(story), *picture_keys(story.pictures)})
    if keys:
        connection.execute(insert(GALLERY_KEYS), [{"key": key, "gallery_id": story.id, "moment": row["moment"]} for key in keys])
    members = list(connection.scalars(select(ARTICLES.c.id).where(ARTICLES.c.story_id == row["story_id"])))
    found = _repeated(connection, row, story) if len(members) == 1 else None
    if found is not None:
        connection.execute(update(ARTICLES).where(ARTICLES.c.id == id).values(story_id=found.story_id, **fold_columns(found)))
        refresh(connection, row["story_id"])  # it is empty now
    return found


def _is_one(connection: Connection, id: str, other: str) -> bool:
    """Whether two stored photo stories are one, by what is known of them now."""
    images = _pictures(connection, [id, other])
    one, two = (photo_story(_row(connection, name), images.get(name, ())) for name in (id, other))
    return compare(one, two, connection.get_execution_options().get("cosine")) is not None


def _row(connection: Connection, id: str) -> Mapping[str, Any]:
    wanted = select(*COLUMNS).join(GALLERIES, GALLERIES.c.id == ARTICLES.c.id).where(ARTICLES.c.id == id)
    return dict(connection.execute(wanted).mappings().one())


def _pictures(connection: Connection, ids: Collection[str]) -> dict[str, tuple[Image, ...]]:
    found: dict[str, list[Image]] = {}
    columns = (GALLERY_PICTURES.c[name] for name in ("gallery_id", "url", "caption", "width", "height", "print"))
    wanted = select(*columns).where(GALLERY_PICTURES.c.dropped.is_(None)).order_by(GALLERY_PICTURES.c.gallery_id, GALLERY_PICTURES.c.number)
    for row in select_in(connection, wanted, GALLERY_PICTURES.c.gallery_id, ids):
        image = Image(row["url"], row["caption"], row["width"], row["height"], print=row["print"])
        found.setdefault(row["gallery_id"], []).append(image)
    return {id: tuple(images) for id, images in found.items()}


def _repeated(connection: Connection, row: Mapping[str, Any], story: PhotoStory) -> Fold | None:
    """The stored story that is most like this one, if one is."""
    near = {*_sharing(connection, word_keys(story), row), *_sharing(connection, picture_keys(story.pictures), row)}
    apart = set(connection.scalars(select(UNFOLDED.c.story_id).where(UNFOLDED.c.article_id == row["id"])))
    images = _pictures(connection, near)
    columns = (ARTICLES.c.id, ARTICLES.c.story_id, ARTICLES.c.title, ARTICLES.c.moment, GALLERY_WORDS.c.words)
    wanted = select(*columns).join(GALLERY_WORDS, GALLERY_WORDS.c.gallery_id == ARTICLES.c.id)
    others = select_in(connection, wanted, ARTICLES.c.id, near)
    theta = connection.get_execution_options().get("cosine")
    best: Fold | None = None
    for other in sorted(others, key=lambda one: (one["moment"], one["id"])):
        if other["story_id"] in apart or other["story_id"] == row["story_id"]:
            continue
        alike = compare(story, PhotoStory(other["id"], other["title"], other["words"], pictures_of(images.get(other["id"], ()))), theta)
        if alike and (best is None or alike.score > best.score):
            best = Fold(other["story_id"], other["id"], alike.reason, alike.score)
    return best


def _sharing(connection: Connection, keys: Iterable[int], row: Mapping[str, Any]) -> list[str]:
    """The stories of the time that share most of ``keys``, common ones left out."""
    counts = Counter[str]()
    of_the_time = GALLERY_KEYS.c.moment.between(shifted(row["moment"], -SPAN), shifted(row["moment"], SPAN))
    for chunk in chunks(sorted(set(keys))):
        within = GALLERY_KEYS.c.key.in_(chunk) & of_the_time
        often = select(GALLERY_KEYS.c.key).where(within).group_by(GALLERY_KEYS.c.key).having(func.count() > COMMON)
        common = set(connection.scalars(often))
        rare = [key for key in chunk if key not in common]
        counts.update(connection.scalars(select(GALLERY_KEYS.c.gallery_id).where(GALLERY_KEYS.c.key.in_(rare) & of_the_time)))
    return sorted((id for id in counts if id != row["id"]), key=lambda id: (-counts[id], id))[:MOST_COMPARED]


def part_galleries(connection: Connection, id: str) -> tuple[str, ...]:
    """Take apart what the pictures of ``id``, as they are now, do not join any more; what leaves may be folded elsewhere.

    Answers the photo stories that left their story; figures and ranks of all stories concerned are the caller's.
    """
    story = select(ARTICLES.c.story_id).where(ARTICLES.c.id == id).scalar_subquery()
    links = connection.execute(select(ARTICLES.c.id, ARTICLES.c.fold_of, ARTICLES.c.fold_reason).where(ARTICLES.c.story_id == story)).all()
    judged = [link for link in links if link.fold_of and link.fold_reason in JUDGED and id in (link.id, link.fold_of)]
    broken = [link.id for link in judged if not _is_one(connection, link.id, link.fold_of)]
    left = [one for child in broken for one in _leave(connection, child, links)]
    for child in broken:
        fold_gallery(connection, child)
    return tuple(dict.fromkeys(left))


def _leave(connection: Connection, child: str, links: Sequence[Any]) -> list[str]:
    """Found a story on ``child``, and take what repeats it along."""
    row = dict(connection.execute(select(ARTICLES).where(ARTICLES.c.id == child)).mappings().one())
    topics = connection.scalars(select(TOPICS.c.topic).where(TOPICS.c.article_id == child)).all()
    story_id = new_story(connection, row, topics)
    connection.execute(update(ARTICLES).where(ARTICLES.c.id == child).values(story_id=story_id, **fold_columns(None)))
    moved = [child]
    for one in moved:  # grows meanwhile: what repeats that leaves, too
        moved += [link.id for link in links if link.fold_of == one and link.id not in moved]
    connection.execute(update(ARTICLES).where(ARTICLES.c.id.in_(moved[1:])).values(story_id=story_id))
    return moved


def label_gallery(connection: Connection, id: str) -> None:
    """Put the photo story ``id`` up under what it is labelled with now, with what the wall is ordered by; nothing for other articles."""
    order = connection.execute(select(GALLERIES.c.score, GALLERIES.c.moment).where(GALLERIES.c.id == id)).first()
    if order is None:
        return
    connection.execute(delete(GALLERY_LABELS).where(GALLERY_LABELS.c.gallery_id == id))
    article = connection.execute(select(ARTICLES.c.category, ARTICLES.c.source).where(ARTICLES.c.id == id)).one()
    topics = connection.scalars(select(TOPICS.c.topic).where(TOPICS.c.article_id == id))
    labels = [("category", article.category), ("source", article.source), *(("topic", topic) for topic in topics)]
    row = {"gallery_id": id, "score": order.score, "moment": order.moment}
    connection.execute(insert(GALLERY_LABELS), [{**row, "kind": kind, "value": value} for kind, value in labels if value])


def refresh_galleries(connection: Connection, story_id: str) -> None:
    """After a change of a story's photo stories: its figures, and the score of each of them."""
    refresh(connection, story_id)
    sites = connection.scalar(select(STORIES.c.sites).where(STORIES.c.id == story_id)) or 1
    members = select(GALLERIES).join(ARTICLES, ARTICLES.c.id == GALLERIES.c.id).where(ARTICLES.c.story_id == story_id)
    for row in connection.execute(members).mappings().all():
        shown = select(GALLERY_PICTURES).where(GALLERY_PICTURES.c.gallery_id == row["id"], GALLERY_PICTURES.c.dropped.is_(None))
        images = list(map(image_of, connection.execute(shown).mappings()))
        ranked = score(parts(images, weight=row["weight"], sites=sites, complete=row["complete"]), row["moment"])
        connection.execute(update(GALLERIES).where(GALLERIES.c.id == row["id"]).values(score=ranked))
        label_gallery(connection, row["id"])
