"""Whose word on an article's category stands: its source's, a classifier's, an editor's. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from newsportal.storage.rows import name as looked_up

EDITOR: Final = "editor"
"""Who has the last word: what an editor said of an article stands when the page is revised and when the model changes."""


def later(known: Mapping[str, Any], columns: Mapping[str, Any]) -> dict[str, Any]:
    """What of the category's ``columns`` a revised page may write over ``known``: nothing where it has no category or an editor spoke."""
    if columns["category"] is None or known["category_by"] == EDITOR:
        return {}
    return dict(columns)


def given(known: Mapping[str, Any], category: str | None, by: str, *, over: bool = False) -> dict[str, Any] | None:
    """The columns of the category that ``by`` gives the article ``known``; ``None`` if an editor spoke before (``over``: whoever spoke) or
    nothing changes."""
    if known["category_by"] == EDITOR != by and not over:
        return None
    values = {"category": looked_up(category) if category else None, "category_by": by, "category_score": None, "category_reason": None}
    return None if all(known[column] == value for column, value in values.items()) else values
