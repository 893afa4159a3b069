"""Lists of articles, as editors look through them: the newest first, narrowed by what may want a hand. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from newsportal.storage.answers import StoredArticle
from newsportal.storage.columns import EPOCH, MICROSECOND

BY_MODEL: Final = ("model", "lexicon")
"""How ``category_by`` begins where no person chose the category."""


@dataclass(frozen=True, slots=True)
class ArticleFilter:
    """Which articles; every field narrows. ``hidden`` and ``corrected``: True, False, or ``None`` for both. ``judged``: an editor chose
    its category. ``undated``: its page tells no time. ``shorter``: than so many characters. ``unsure``: a model or the lexicon gave the
    category with less than this score. ``before``: a cursor from ``ArticlePage.next``."""

    hidden: bool | None = None
    corrected: bool | None = None
    judged: bool = False
    undated: bool = False
    shorter: int | None = None
    unsure: float | None = None
    source: str | None = None
    category: str | None = None
    since: datetime | None = None
    before: str | None = None
    limit: int = 50


@dataclass(frozen=True, slots=True)
class ArticlePage:
    """Articles, their texts cut as in lists of stories; the cursor of the next page (``None`` on the last)."""

    articles: tuple[StoredArticle, ...]
    next: str | None = None


def meets(row: Mapping[str, Any], which: ArticleFilter) -> bool:
    """Whether an article (its columns; moments in any form) is meant, but for its moment, source and category."""
    return (
        (which.hidden is None or (row.get("hidden") is not None) == which.hidden)
        and (which.corrected is None or (row.get("corrected") is not None) == which.corrected)
        and (not which.judged or row.get("category_by") == "editor")
        and (not which.undated or row.get("published") is None)
        and (which.shorter is None or row["length"] < which.shorter)
        and (which.unsure is None or _is_unsure(row, which.unsure))
    )


def _is_unsure(row: Mapping[str, Any], score: float) -> bool:
    by, sure = row.get("category_by") or "", row.get("category_score")
    return by.startswith(BY_MODEL) and sure is not None and sure < score


def cursor(moment: datetime, id: str) -> str:
    """The cursor behind an article."""
    return f"{(moment - EPOCH) // MICROSECOND}~{id}"


def edge(which: ArticleFilter) -> tuple[datetime, str] | None:
    """The last article of the page before; ``None`` without a cursor, or one that is none."""
    value, _, last = (which.before or "").partition("~")
    try:
        return EPOCH + int(value) * MICROSECOND, last
    except (ValueError, OverflowError):
        return None
