"""The words of recommendation: what was seen, what may be recommended, and what a method answers.

A method learns from a :class:`Log` (what the portal runs is ``best.fit``) and answers for one reader's history at a moment. Histories are
given at the time of asking, so what a reader saw a minute ago counts before the next fit; ``extended`` adds what was published and seen
since.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True, slots=True)
class View:
    """A reader looked at a story: at ``seen`` of its ``pictures`` (an article is one of one). ``at``: when last."""

    reader: str
    story: str
    seen: int
    pictures: int
    at: datetime


@dataclass(frozen=True, slots=True)
class Item:
    """A story that may be recommended. ``words`` are those of its title and first sentence; ``labels`` its topics, category and source."""

    story: str
    published: datetime
    words: tuple[str, ...] = ()
    labels: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Recommendation:
    """``by`` is a stable slug that readers see translated (``neighbours``, ``content``, ``popular``, ``fresh``, ``explore``).

    ``because``: the story of the reader's own history that speaks most for it, if one does (「因为你看过…」).
    """

    story: str
    score: float
    by: str
    because: str | None = None


@dataclass(frozen=True, slots=True)
class Log:
    """What a method learns from. ``views`` are read once, so may be a stream; those of stories that ``items`` lacks are left out."""

    views: Iterable[View]
    items: Iterable[Item]
