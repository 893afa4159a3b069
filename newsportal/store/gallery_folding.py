"""Folding of photo stories: candidate search, the decision, and undoing a fold when the evidence changes.

Candidates share keys: words of title and first sentence, URLs of pictures, quarters of their perceptual hashes (two hashes that differ in 3
of 64 bits have a quarter in common). ``dedup.photo_stories`` decides. A fold is based on incomplete data: if pages failed, perhaps only one
picture is known and the words alone decided; a shared picture may turn out to be an advertisement. So the folds of a story are judged again
when its pictures change. Folds by editors are permanent.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import timedelta
from hashlib import blake2b
from typing import Any, Final

from sqlalchemy import Connection, delete, func, insert, select, update

from newsportal.dedup.cosine import unit_vector
from newsportal.dedup.photo_stories import ComparedPicture, PhotoStory, compare, pictures_of
from newsportal.items import Fold, Image
from newsportal.recommend.score import factors, score
from newsportal.store.article_rows import fold_columns
from newsportal.store.columns import shift
from newsportal.store.dialects import chunks, select_in
from newsportal.store.folding import new_story, refresh
from newsportal.store.gallery_rows import image_of
from newsportal.store.gallery_tables import GALLERIES, GALLERY_KEYS, GALLERY_LABELS, GALLERY_PICTURES, GALLERY_WORDS
from newsportal.store.tables import ARTICLES, STORIES, TOPICS, UNFOLDED

SPAN: Final = timedelta(days=30)
"""Stories further apart in time are not compared: anniversaries repeat the same report. The paper gives no limit."""

MAX_KEYED: Final = 24  # maximum number of pictures of a story, from the first, that yield keys
COMMON: Final = 2000  # a word or picture shared by more stories of the period is ignored: it would match too many
JUDGED: Final = ("same-pictures", "same-words")
"""Reasons given by ``dedup.photo_stories``: folds that may be undone. Folds by editors are permanent."""

MAX_COMPARED: Final = 40
"""Maximum number of candidates: those that share most words, plus those that share most pictures."""


def photo_story(row: Mapping[str, Any], images: Sequence[Image]) -> PhotoStory:
    """Return a photo story in the form compared: ``title``, its own ``text``, and the article's (``article_text``), with captions."""
    words = unit_vector(row["title"], row["text"] or row["article_text"])
    return PhotoStory(row["id"], row["title"], words, pictures_of(images))


def word_keys(story: PhotoStory) -> list[int]:
    return [_key(f"word {word}") for word in story.words]


def picture_keys(pictures: Sequence[ComparedPicture]) -> list[int]:
    """Return keys of pictures: the URL, and each quarter of the perceptual hash with its position."""
    keys = []
    for picture in pictures[:MAX_KEYED]:
        keys.append(_key(f"picture {picture.key}"))
        if picture.print is not None:
            keys += [_key(f"print {place} {picture.print >> 16 * place & 0xFFFF}") for place in range(4)]
    return keys


def _key(text: str) -> int:
    """Return a 63-bit hash, which every database can store as an integer."""
    return int.from_bytes(blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "big") >> 1


COLUMNS: Final = (
    *(ARTICLES.c[name] for name in ("id", "story_id", "title", "moment")),
    ARTICLES.c.text.label("article_text"),
    GALLERIES.c.text,
)


def fold_gallery(connection: Connection, id: str) -> Fold | None:
    """Fold the photo story ``id``, just written, if it repeats another; the caller updates figures and scores.

    Only a photo story that is alone in its story is folded, and never into one that an editor took it out of. Return the fold, or ``None``.
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
    found = _find_repeated(connection, row, story) if len(members) == 1 else None
    if found is not None:
        connection.execute(update(ARTICLES).where(ARTICLES.c.id == id).values(story_id=found.story_id, **fold_columns(found)))
        refresh(connection, row["story_id"])  # the old story is empty now
    return found


def _are_same(connection: Connection, id: str, other: str) -> bool:
    """Return whether two stored photo stories are the same, by their current content."""
    images = _pictures(connection, [id, other])
    first, second = (photo_story(_row(connection, name), images.get(name, ())) for name in (id, other))
    return compare(first, second, connection.get_execution_options().get("cosine")) is not None


def _row(connection: Connection, id: str) -> Mapping[str, Any]:
    query = select(*COLUMNS).join(GALLERIES, GALLERIES.c.id == ARTICLES.c.id).where(ARTICLES.c.id == id)
    return dict(connection.execute(query).mappings().one())


def _pictures(connection: Connection, ids: Collection[str]) -> dict[str, tuple[Image, ...]]:
    found: dict[str, list[Image]] = {}
    columns = (GALLERY_PICTURES.c[name] for name in ("gallery_id", "url", "caption", "width", "height", "perceptual_hash"))
    visible = select(*columns).where(GALLERY_PICTURES.c.hidden_reason.is_(None))
    query = visible.order_by(GALLERY_PICTURES.c.gallery_id, GALLERY_PICTURES.c.number)
    for row in select_in(connection, query, GALLERY_PICTURES.c.gallery_id, ids):
        image = Image(row["url"], row["caption"], row["width"], row["height"], print=row["perceptual_hash"])
        found.setdefault(row["gallery_id"], []).append(image)
    return {id: tuple(images) for id, images in found.items()}


def _find_repeated(connection: Connection, row: Mapping[str, Any], story: PhotoStory) -> Fold | None:
    """Return the stored story most similar to this one, or ``None`` if none is similar enough."""
    near = {*_sharing(connection, word_keys(story), row), *_sharing(connection, picture_keys(story.pictures), row)}
    excluded = set(connection.scalars(select(UNFOLDED.c.story_id).where(UNFOLDED.c.article_id == row["id"])))
    images = _pictures(connection, near)
    columns = (ARTICLES.c.id, ARTICLES.c.story_id, ARTICLES.c.title, ARTICLES.c.moment, GALLERY_WORDS.c.words)
    query = select(*columns).join(GALLERY_WORDS, GALLERY_WORDS.c.gallery_id == ARTICLES.c.id)
    others = select_in(connection, query, ARTICLES.c.id, near)
    theta = connection.get_execution_options().get("cosine")
    best: Fold | None = None
    for other in sorted(others, key=lambda candidate: (candidate["moment"], candidate["id"])):
        if other["story_id"] in excluded or other["story_id"] == row["story_id"]:
            continue
        match = compare(story, PhotoStory(other["id"], other["title"], other["words"], pictures_of(images.get(other["id"], ()))), theta)
        if match and (best is None or match.score > best.score):
            best = Fold(other["story_id"], other["id"], match.reason, match.score)
    return best


def _sharing(connection: Connection, keys: Iterable[int], row: Mapping[str, Any]) -> list[str]:
    """Return the stories of the period that share most of ``keys``, ignoring common keys."""
    counts = Counter[str]()
    in_period = GALLERY_KEYS.c.moment.between(shift(row["moment"], -SPAN), shift(row["moment"], SPAN))
    for chunk in chunks(sorted(set(keys))):
        within = GALLERY_KEYS.c.key.in_(chunk) & in_period
        query = select(GALLERY_KEYS.c.key).where(within).group_by(GALLERY_KEYS.c.key).having(func.count() > COMMON)
        common = set(connection.scalars(query))
        rare = [key for key in chunk if key not in common]
        counts.update(connection.scalars(select(GALLERY_KEYS.c.gallery_id).where(GALLERY_KEYS.c.key.in_(rare) & in_period)))
    return sorted((id for id in counts if id != row["id"]), key=lambda id: (-counts[id], id))[:MAX_COMPARED]


def split_galleries(connection: Connection, id: str) -> tuple[str, ...]:
    """Undo the folds that the current pictures of ``id`` no longer support; separated stories may be folded elsewhere.

    Return the photo stories that left their story; the caller updates figures and scores of all stories concerned.
    """
    story = select(ARTICLES.c.story_id).where(ARTICLES.c.id == id).scalar_subquery()
    links = connection.execute(select(ARTICLES.c.id, ARTICLES.c.fold_of, ARTICLES.c.fold_reason).where(ARTICLES.c.story_id == story)).all()
    judged = [link for link in links if link.fold_of and link.fold_reason in JUDGED and id in (link.id, link.fold_of)]
    broken = [link.id for link in judged if not _are_same(connection, link.id, link.fold_of)]
    moved_ids = [moved_id for child in broken for moved_id in _move_to_new_story(connection, child, links)]
    for child in broken:
        fold_gallery(connection, child)
    return tuple(dict.fromkeys(moved_ids))


def _move_to_new_story(connection: Connection, child: str, links: Sequence[Any]) -> list[str]:
    """Create a story for ``child``, and move its reposts along."""
    row = dict(connection.execute(select(ARTICLES).where(ARTICLES.c.id == child)).mappings().one())
    topics = connection.scalars(select(TOPICS.c.topic).where(TOPICS.c.article_id == child)).all()
    story_id = new_story(connection, row, topics)
    connection.execute(update(ARTICLES).where(ARTICLES.c.id == child).values(story_id=story_id, **fold_columns(None)))
    moved = [child]
    for parent in moved:  # grows during the loop: reposts of reposts are moved, too
        moved += [link.id for link in links if link.fold_of == parent and link.id not in moved]
    connection.execute(update(ARTICLES).where(ARTICLES.c.id.in_(moved[1:])).values(story_id=story_id))
    return moved


def label_gallery(connection: Connection, id: str) -> None:
    """List the photo story ``id`` under its current labels, with the wall's sort keys; do nothing for other articles."""
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
    """Update a story's figures and the score of each of its photo stories."""
    refresh(connection, story_id)
    sites = connection.scalar(select(STORIES.c.sites).where(STORIES.c.id == story_id)) or 1
    members = select(GALLERIES).join(ARTICLES, ARTICLES.c.id == GALLERIES.c.id).where(ARTICLES.c.story_id == story_id)
    for row in connection.execute(members).mappings().all():
        query = select(GALLERY_PICTURES).where(GALLERY_PICTURES.c.gallery_id == row["id"], GALLERY_PICTURES.c.hidden_reason.is_(None))
        images = list(map(image_of, connection.execute(query).mappings()))
        ranked = score(factors(images, weight=row["weight"], sites=sites, complete=row["complete"]), row["moment"])
        connection.execute(update(GALLERIES).where(GALLERIES.c.id == row["id"]).values(score=ranked))
        label_gallery(connection, row["id"])
