"""What becomes of articles that an editor takes out of readers' sight: they stay known and stored. Pure.

A story whose versions are all hidden counts none, stands under no label and in no list; what is folded into it later is hidden, too.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any, Final, TypeVar

from newsportal.storage.rows import name, storable

COLUMNS: Final = ("hidden", "hidden_by", "hidden_reason")
"""When, by whom and why; all empty: everybody sees it."""

Version = TypeVar("Version", bound=Mapping[str, Any])


def seen(versions: Iterable[Version]) -> list[Version]:
    """Those of ``versions`` that readers see."""
    return [version for version in versions if version.get("hidden") is None]


def hidden(by: str, reason: str, now: datetime) -> dict[str, Any]:
    """The columns of an article that is hidden from now on."""
    return {"hidden": now, "hidden_by": name(by), "hidden_reason": storable(reason)}


def shown() -> dict[str, Any]:
    """The columns of an article that everybody sees."""
    return dict.fromkeys(COLUMNS)
