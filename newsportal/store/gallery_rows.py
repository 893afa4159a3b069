"""Between photo stories and rows, and what a visit, a fold or a dropped picture changes about them. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, fields
from datetime import datetime, timedelta
from types import MappingProxyType
from typing import Any, Final

from newsportal.errors import StoreError
from newsportal.items import Article, Gallery, GalleryPage, Image, content_id
from newsportal.recommend.score import parts, score
from newsportal.store.article_rows import category_of, content_of, keywords_of, revised_category, row_of, sorted_by
from newsportal.store.columns import storable
from newsportal.store.corrections import uncorrected_columns
from newsportal.store.gallery_tables import PRINT_CHARS, SLUG_CHARS, StoredGallery, StoredPicture

WALL_ORDERS: Final = {"ranked": "score", "newest": "moment"}
"""Order of the wall → what photo stories are sorted by, the largest first."""

WALL_KINDS: Final = ("topic", "source", "category")
"""What narrows the wall, rarest first: the first one given is read from the index in order, the others are looked up."""

MAX_TEXT: Final = 200_000
"""Characters of captions and text that are the article's text: what the search finds and lists show. All captions are kept."""

SHOWN_IN_LISTS: Final = 3
"""Pictures that stand in the article's own row, which every list reads: the cover and two more."""

IMAGE: Final = ("url", "caption", "width", "height", "format", "page", "print", "dropped")


def page_values(page: GalleryPage) -> dict[str, Any]:
    """A page as JSON values, without what is empty."""
    plain = asdict(page)
    plain["images"] = [_plain(image) for image in plain["images"]]
    plain["published"] = page.published.isoformat() if page.published else None
    return {key: value for key, value in _plain(plain).items() if value not in (None, (), [], False)}


def page_of(plain: Mapping[str, Any]) -> GalleryPage:
    """The inverse of :func:`page_values`; what a later version added is left out."""
    values = {key: plain[key] for key in GalleryPage.__dataclass_fields__ if key in plain}
    published = values.get("published")
    values["published"] = datetime.fromisoformat(published) if published else None
    values["images"] = tuple(Image(**{key: image[key] for key in IMAGE if key in image}) for image in values.get("images", ()))
    values["pages"] = tuple(values.get("pages", ()))
    return GalleryPage(**values)


def _plain(values: Mapping[str, Any]) -> dict[str, Any]:
    """Without ``None``, texts as every database can keep them."""
    plain = {key: storable(value) if isinstance(value, str) else value for key, value in values.items() if value is not None}
    if isinstance(plain.get("pages"), tuple):
        plain["pages"] = [storable(url) for url in plain["pages"]]
    return plain


def picture_rows(
    gallery_id: str, gallery: Gallery, left: Mapping[str, str], words: Mapping[str, str] = MappingProxyType({})
) -> list[dict[str, Any]]:
    """The pictures of a story in order; ``left``: hashes of addresses that the store leaves out, and why; ``words``: hashes → what editors
    say in place of captions.

    An address stands in a story once.
    """
    pictures: dict[str, Image] = {}
    for image in gallery.images:
        pictures.setdefault(content_id(storable(image.url)), image)
    return [
        {"gallery_id": gallery_id, "number": number, "name": name, **_picture(image, left.get(name)), "said": words.get(name)}
        for number, (name, image) in enumerate(pictures.items(), 1)
    ]


def _picture(image: Image, left: str | None) -> dict[str, Any]:
    row = {key: storable(value) if isinstance(value, str) else value for key, value in asdict(image).items()}
    return row | {"print": row["print"][:PRINT_CHARS] if row["print"] else None, "dropped": slug(row["dropped"] or left)}


def slug(reason: str | None) -> str | None:
    return None if reason is None else storable(reason)[:SLUG_CHARS]


def caption_of(row: Mapping[str, Any]) -> str | None:
    """What stands beneath a picture: an editor's word before its page's."""
    said: str | None = row.get("said")
    return row["caption"] if said is None else said or None


def recaptioned(row: Mapping[str, Any], said: str | None) -> str | None:
    """The column ``said`` of a picture once an editor has spoken; what its page says anyway is none of his words."""
    if said is None or " ".join(said.split()) == " ".join((row["caption"] or "").split()):
        return None
    return storable(said).strip()


def image_of(row: Mapping[str, Any]) -> Image:
    return Image(**{**{key: row[key] for key in IMAGE}, "caption": caption_of(row)})


def stored_pictures(rows: Sequence[Mapping[str, Any]], dropped: bool) -> list[StoredPicture]:
    """The pictures of a story, those left out behind the others if they are asked for."""
    shown = [row for row in rows if row["dropped"] is None]
    left = [row for row in rows if row["dropped"] is not None] if dropped else []
    return [
        StoredPicture(place, image_of(row), row["dropped"], row.get("said") is not None, row["caption"])
        for place, row in enumerate((*shown, *left), 1)
    ]


SHARED: Final = frozenset(one.name for one in fields(Gallery)) - {"images", "pages"}
"""Fields that a photo story has as its article has them."""


def article_of(gallery: Gallery) -> Article:
    """The photo story as lists and the search see it."""
    shared = {one.name: getattr(gallery, one.name) for one in fields(Article) if one.name in SHARED}
    derived = {
        "text": "",
        "published": gallery.published or gallery.link.published,
        "author": gallery.author or gallery.link.author,
        "site": gallery.site or gallery.link.site,
        "category_by": (gallery.category_by or "source") if gallery.category else None,
        "algorithm": "gallery",
    }
    return Article(**{**shared, **derived})


def state(gallery: Gallery) -> dict[str, Any]:
    """The columns that a visit fills."""
    return {
        "complete": gallery.complete,
        "pages": len(gallery.pages) or 1,
        "total": gallery.total,
        "missing": list(gallery.missing),
        "failure": storable(gallery.failure) if gallery.failure else None,
        "weight": gallery.weight,
        "addresses": [storable(url) for url in gallery.pages],
        "text": storable(gallery.text or ""),
    }


def gallery_of(row: Mapping[str, Any]) -> StoredGallery:
    """A row of ``galleries`` with its article's identity."""
    values = {key: row[key] for key in StoredGallery.__dataclass_fields__}
    return StoredGallery(**{**values, "missing": tuple(row["missing"]), "addresses": tuple(row["addresses"])})


PAGES_KEPT: Final = timedelta(days=60)
"""Pages of stories that never became complete are kept so long."""

JUDGED: Final = ("same-pictures", "same-words")
"""The reasons of ``dedup.photo_stories``: folds that were made by its rule."""

Pictures = Callable[[], Iterable[tuple[str, str | None]]]
"""Asks for (name, caption) of a story's pictures."""


def identity_of(gallery: Gallery) -> str:
    """What a photo story is known by. Raises ``StoreError`` where nobody said."""
    if gallery.identity is None:
        raise StoreError(f"{gallery.url}: a photo story without an identity cannot be stored")
    return storable(gallery.identity)


def is_fuller(kept: Mapping[str, Any] | None, gallery: Gallery, pictures: Pictures) -> bool:
    """Whether a visit says more than is ``kept``, or (both complete) something else."""
    if kept is None:
        return True
    if gallery.complete != kept["complete"]:
        return gallery.complete
    new = state(gallery)
    if new["pages"] < kept["pages"]:
        return False
    found = {(row["name"], row["caption"]) for row in picture_rows(kept["id"], gallery, {})}
    return found != set(pictures()) or bool(new["text"] != kept["text"]) or bool(new["pages"] > kept["pages"])


def written(kept: Mapping[str, Any] | None, gallery: Gallery, grown: bool, now: datetime) -> dict[str, Any]:
    """The columns of ``galleries`` that a visit writes; none where it says nothing of a complete story."""
    if kept is None:
        return {**state(gallery), "pictures": 0, "score": 0.0, "moment": now, "visited": now, "vain": 0}
    if grown:
        return {**state(gallery), "visited": now, "vain": 0}
    if kept["complete"]:
        return {}
    return {"failure": state(gallery)["failure"], "visited": now, "vain": in_vain(kept, gallery, grown)}


def in_vain(kept: Mapping[str, Any] | None, gallery: Gallery, grown: bool) -> int:
    """The visits in a row that brought nothing, this one included."""
    return 0 if grown or gallery.complete or kept is None or kept["complete"] else int(kept["vain"]) + 1


def revised(known: Mapping[str, Any], article: Article) -> dict[str, Any]:
    """The columns of a ``known`` article that a later visit changes; what it does not say stays. An article of another source is a
    photo story from now on."""
    new = {key: value for key, value in content_of(article).items() if value is not None and key not in ("text", "images")}
    derived = revised_category(known, category_of(article)) | keywords_of(article)
    new = uncorrected_columns(known, new)
    moment = sorted_by(new.get("published", known["published"]), known["first_seen"])
    return {**new, **derived, "moment": moment, "source": row_of(article, now=known["first_seen"])["source"]}


def followed(own: str, shown: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """The columns of the article that the story's pictures decide: its text (``own``: the story's without captions), and its first
    pictures. ``shown``: rows of pictures in order."""
    shown = [{**row, "caption": caption_of(row)} for row in shown]
    captions = [row["caption"] for row in shown]
    lines = dict.fromkeys(line for part in (own, *captions) if part for line in map(str.strip, part.splitlines()) if line)
    text = "\n".join(lines)[:MAX_TEXT]
    images = [{key: row[key] for key in IMAGE if row[key] is not None} for row in shown[:SHOWN_IN_LISTS]]
    return {"text": text, "length": len(text), "images": images}


def outcome(kept: bool, grown: bool, folded: bool) -> str:
    """What ``SavedGallery`` tells; ``kept``: it was stored as a photo story before."""
    return "same" if not grown else "grown" if kept else "folded" if folded else "stored"


def scored(row: Mapping[str, Any], shown: Iterable[Mapping[str, Any]], sites: int) -> float:
    """What the photo story ``row`` is ranked by (its moment as a datetime); ``shown``: rows of its pictures."""
    worth = parts([image_of(one) for one in shown], weight=row["weight"], sites=sites, complete=row["complete"])
    return score(worth, row["moment"])


def labels(topics: Iterable[str], category: str | None, source: str | None) -> list[tuple[str, str]]:
    """(kind, value) of what the wall shows a photo story under."""
    named = (("category", category), ("source", source))
    return sorted({*(("topic", topic) for topic in topics), *((kind, value) for kind, value in named if value)})


def made_by_rule(link: Mapping[str, Any], id: str) -> bool:
    """Whether the article ``link`` was folded by the rule, as the photo story ``id`` or into it. What an editor folded stays."""
    return link["fold_of"] is not None and link["fold_reason"] in JUDGED and id in (link["id"], link["fold_of"])


def leaving(child: str, links: Iterable[Mapping[str, Any]]) -> list[str]:
    """``child`` with all that repeats it, and what repeats that."""
    told, moved = list(links), [child]
    for one in moved:  # grows meanwhile
        moved += [link["id"] for link in told if link["fold_of"] == one and link["id"] not in moved]
    return moved
