"""What an editor's draft changes in an article, and what is written down of it. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from newsportal.editing.blocks import Block, Body, blocks_of, read, typed
from newsportal.store.corrections import Correction
from newsportal.store.results import StoredArticle

TOLD: Final = 200
"""Characters of a value that are written down; the article's revisions have the whole."""


@dataclass(frozen=True, slots=True)
class Draft:
    """What stands in the editor's form. ``lines``: the body as ``blocks.typed`` writes it; ``None``: it has none to be edited."""

    title: str
    lines: str | None
    published: datetime | None
    author: str


def parts(article: StoredArticle) -> list[Block]:
    """The parts of the body as it stands."""
    return blocks_of(article.html, article.text, article.images, article.url)


def draft_of(article: StoredArticle, *, body: bool = True) -> Draft:
    """The article as it is, to be changed."""
    return Draft(article.title, typed(parts(article)) if body else None, article.published, article.author or "")


def drafted(article: StoredArticle, draft: Draft) -> Body | None:
    """The body of a draft; ``None`` where it is the article's own. Raises ``ValueError`` for a part that is not there."""
    if draft.lines is None:
        return None
    there = parts(article)
    if _lines(draft.lines) == _lines(typed(there)):
        return None
    return read(draft.lines, there, article.url)


def correction(article: StoredArticle, draft: Draft) -> Correction:
    """What the draft says otherwise than the article. Raises ``ValueError`` for a part of the body that is not there."""
    said: Correction = {}
    if draft.title.strip() != article.title.strip():
        said["title"] = draft.title.strip()
    if draft.author.strip() != (article.author or "").strip():
        said["author"] = draft.author.strip() or None
    if not same_minute(draft.published, article.published):
        said["published"] = draft.published
    body = drafted(article, draft)
    if body is not None:
        there = set(body.pictures)
        said["text"], said["html"] = body.text, body.html
        said["images"] = tuple(image for image in article.images if image.url in there)
    return said


def details(article: StoredArticle, said: Mapping[str, Any]) -> dict[str, Any]:
    """What the log of changes keeps: each field before and after, long ones cut."""
    fields = [field for field in ("title", "author", "published", "text") if field in said]
    return {field: [_told(getattr(article, field)), _told(said[field])] for field in fields}


def same_minute(one: datetime | None, other: datetime | None) -> bool:
    """Forms tell no seconds."""
    if one is None or other is None:
        return one is other
    return one.replace(second=0, microsecond=0) == other.replace(second=0, microsecond=0)


def _told(value: Any) -> Any:
    return value.isoformat() if isinstance(value, datetime) else value[:TOLD] if isinstance(value, str) else value


def _lines(text: str) -> list[str]:
    return [line for line in map(str.strip, text.splitlines()) if line]
