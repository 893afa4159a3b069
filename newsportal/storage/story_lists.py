"""How lists of stories are narrowed, ordered and gone through page after page, in every store. Pure."""

from __future__ import annotations

from datetime import datetime
from math import isfinite
from typing import Final

from newsportal.storage.answers import Story, StoryFilter
from newsportal.storage.columns import EPOCH, MICROSECOND
from newsportal.storage.figures import coolest
from newsportal.storage.galleries import WallFilter

EXCERPT_CHARS: Final = 300
"""How much of a text a list shows (``storage.base.Story``)."""

KINDS: Final = ("topic", "site", "source", "category")
"""What narrows, rarest first: the first one given is read from the index in order, the others are looked up."""

ORDERS: Final = {"newest": "moment", "hottest": "heat"}
"""Order of a list -> what stories are sorted by, the largest first."""


def given(which: StoryFilter) -> list[str]:
    """The kinds that narrow a list."""
    return [kind for kind in KINDS if getattr(which, kind) is not None]


def edge(which: StoryFilter | WallFilter) -> tuple[datetime | float, str] | None:
    """What the last story of the page before was sorted by, and its id; ``None`` without a cursor, or one that is none."""
    return _edge(which.before, newest=which.order == "newest")


def turned(which: StoryFilter) -> tuple[datetime | float, str] | None:
    """The same of the story behind the page, where the list is asked for the other way."""
    return _edge(which.after, newest=which.order == "newest")


def _edge(told: str | None, *, newest: bool) -> tuple[datetime | float, str] | None:
    value, _, last = (told or "").partition("~")
    try:
        if newest:
            return EPOCH + int(value) * MICROSECOND, last
        heat = float(value)
    except (ValueError, OverflowError):
        return None
    return (heat, last) if isfinite(heat) else None


def cursor(value: datetime | float, story_id: str) -> str:
    """The cursor behind a story that was sorted by ``value``."""
    return f"{value!r}~{story_id}" if isinstance(value, float) else f"{(value - EPOCH) // MICROSECOND}~{story_id}"


def cursor_of(story: Story) -> str:
    """The cursor behind ``story`` in lists by time."""
    return cursor(story.head.moment, story.id)


def warm_enough(which: StoryFilter) -> float | None:
    """The heat below which no story can be meant, so that what was hot long ago is not looked through; ``None``: any may be."""
    return coolest(which.since) if which.since and which.order == "hottest" else None
