"""Data classes of recommendation: views, stories that may be recommended, and recommendations.

A model is fitted on a :class:`Log` (the portal uses ``best.fit``) and recommends for a reader's history at a given time. The history is
passed with each call, so that a view of a minute ago counts before the next fit; ``extended`` adds stories and views since the fit.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True, slots=True)
class View:
    """A reader's view of a story: ``seen`` of its ``pictures`` (1 of 1 for an article). ``at``: time of the latest view."""

    reader: str
    story: str
    seen: int
    pictures: int
    at: datetime


@dataclass(frozen=True, slots=True)
class Item:
    """A story that may be recommended. ``words``: of its title and first sentence; ``labels``: its topics, category and source."""

    story: str
    published: datetime
    words: tuple[str, ...] = ()
    labels: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Recommendation:
    """A recommended story. ``by``: its reason as a stable slug, translated for readers (``neighbours``, ``content``, ``popular``,
    ``fresh``, ``explore``). ``reason_story``: the story in the reader's history most responsible for it, if any (「因为你看过…」)."""

    story: str
    score: float
    by: str
    reason_story: str | None = None


@dataclass(frozen=True, slots=True)
class Log:
    """Training data. ``views`` are iterated once, so may be a stream; views of stories not in ``items`` are ignored."""

    views: Iterable[View]
    items: Iterable[Item]
