"""What a visit, a fold or a dropped picture changes about photo stories. Pure: rows in, columns out."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, Final

from newsportal.errors import StoreError
from newsportal.items import Article, Gallery
from newsportal.recommend.score import parts, score
from newsportal.storage.corrections import kept_columns
from newsportal.storage.editors import later
from newsportal.storage.galleries_rows import IMAGE, SHOWN_IN_LISTS, caption_of, image_of, picture_rows, state, text_of
from newsportal.storage.rows import category_of, content_of, keywords_of, row_of, sorted_by, storable

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
    derived = later(known, category_of(article)) | keywords_of(article)
    new = kept_columns(known, new)
    moment = sorted_by(new.get("published", known["published"]), known["first_seen"])
    return {**new, **derived, "moment": moment, "source": row_of(article, now=known["first_seen"])["source"]}


def followed(own: str, shown: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """The columns of the article that the story's pictures decide: its text (``own``: the story's without captions), and its first
    pictures. ``shown``: rows of pictures in order."""
    shown = [{**row, "caption": caption_of(row)} for row in shown]
    text = text_of(own, [row["caption"] for row in shown])
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
