"""Put a version into another story, or into one of its own, and what takes that back. The caller writes it down."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Final

from newsportal.errors import StoreError
from newsportal.store.store import Store

BY_HAND: Final = "by-hand"
"""The reason of a fold that an editor made."""


@dataclass(frozen=True, slots=True)
class Moved:
    """``came_from``: the story that the article was in; ``back``: the one it may be put into again, ``None`` if that is gone (then it
    is taken out again)."""

    article: str
    story: str
    came_from: str
    back: str | None


def fold(store: Store, article_id: str, story_id: str, *, now: datetime) -> Moved:
    """Move an article into the story of that id, or of that article. Raises ``StoreError`` if either is unknown, or it is there already."""
    came_from = _where(store, article_id)
    target = store.story(story_id, hidden=True)
    if target is None:
        raise StoreError(f"no story {story_id!r}")
    if target.id == came_from:
        raise StoreError(f"article {article_id!r} is in that story already")
    store.fold(article_id, target.id, reason=BY_HAND, now=now)
    left = store.story(came_from, hidden=True)
    return Moved(article_id, target.id, came_from, came_from if left is not None and left.id == came_from else None)


def unfold(store: Store, article_id: str, *, now: datetime) -> Moved:
    """Take an article out into a story of its own. Raises ``StoreError`` if it is unknown, or alone."""
    came_from = _where(store, article_id)
    story_id = store.unfold(article_id, now=now)
    if story_id == came_from:
        raise StoreError(f"article {article_id!r} is alone in its story")
    return Moved(article_id, story_id, came_from, came_from)


def _where(store: Store, article_id: str) -> str:
    article = store.article(article_id)
    if article is None:
        raise StoreError(f"no article {article_id!r}")
    return article.story_id
