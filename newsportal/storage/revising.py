"""What becomes of a stored article when its page says something else, and when it is folded: its columns. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from newsportal.items import Article, Fold
from newsportal.storage.columns import CONTENT
from newsportal.storage.editors import later
from newsportal.storage.rows import category_of, content_of, keywords_of, sorted_by


def is_newer(known: Mapping[str, Any], article: Article) -> bool:
    """Whether ``article`` has another title or text than the stored row."""
    content = content_of(article)
    return (content["title"], content["text"]) != (known["title"], known["text"])


def earlier(known: Mapping[str, Any]) -> dict[str, Any]:
    """What is kept of the present state when a newer one is written."""
    return {name: known.get(name) for name in CONTENT}


def newer(known: Mapping[str, Any], article: Article) -> dict[str, Any]:
    """The columns that the newer ``article`` changes. What it does not say stays as it was."""
    said = {name: value for name, value in content_of(article).items() if value is not None}
    return {
        **said,
        **later(known, category_of(article)),
        **keywords_of(article),
        "moment": sorted_by(said.get("published", known["published"]), known["first_seen"]),
        "length": len(said["text"]),
        "revision": known["revision"] + 1,
    }


def fold_columns(found: Fold | None) -> dict[str, Any]:
    """The columns of an article that was folded, or was not."""
    if found is None:
        return {"fold_of": None, "fold_reason": None, "fold_score": None}
    return {"fold_of": found.of, "fold_reason": found.reason, "fold_score": found.score}
