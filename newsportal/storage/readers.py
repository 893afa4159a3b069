"""What readers looked at, what was recommended to them, and what was learnt from it: a protocol of its own. Every store passes
``tests/storage/test_readers.py``.

A reader is a random name in a cookie: no account, no address. A reader who switched the profile off leaves no trace.

Articles are looked at, stories are recommended: ``saw`` names an article, all answers name the story that it is in today. So a story of
which a reader saw one version counts as seen, and two that were folded into one count once.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final, Protocol

from newsportal.recommend.base import Recommendation, View

VIEWS_KEPT: Final = timedelta(days=365)
"""A view is let go so long after the reader looked at the story last. Chosen: the promise of the portal's page on privacy."""

OFFERS_KEPT: Final = timedelta(days=396)
"""An offer is let go after 13 months, so that a month can be set beside the same one of the year before."""

OPENED_WITHIN: Final = timedelta(hours=24)
"""An offer counts as opened if the reader looks at the story for the first time within this time."""

FITS_KEPT: Final = 400
"""Fits whose figures are kept (a year of nights and more); the model is kept of the latest alone."""


@dataclass(frozen=True, slots=True)
class Month:
    """A month of reading (paper C, figures 3 and 4). ``start``: its first moment (UTC).

    ``views`` and ``pictures`` count what was looked at for the first time in it; of ``offered`` recommendations ``opened`` were opened, and
    ``liked`` of those read to the share α or more (formula 4: precision = liked / offered). Where
    most stories are articles α is 1, and what was read whole is liked.
    """

    start: datetime
    views: int
    pictures: int
    readers: int
    offered: int
    opened: int
    liked: int


@dataclass(frozen=True, slots=True)
class Fit:
    """What a fit left: ``packed`` is the model, ``facts`` its figures (α, λ, numbers of views and stories, seconds, by whom)."""

    made: datetime
    facts: Mapping[str, Any]
    packed: bytes


@dataclass(frozen=True, slots=True)
class Brought:
    """What became of views that were imported: ``unknown`` name no stored article, ``old`` are from before :data:`VIEWS_KEPT`, ``off`` are
    of readers who switched their profile off."""

    taken: int
    unknown: int = 0
    old: int = 0
    off: int = 0


@dataclass(frozen=True, slots=True)
class Told:
    """A story as recommendation knows it: by its head. ``text`` is the beginning of it; ``labels``: ``topic:…``, ``category:…``,
    ``source:…``."""

    story: str
    published: datetime
    title: str
    text: str
    labels: tuple[str, ...]


class Readers(Protocol):
    """Errors are those of the store."""

    def saw(self, reader: str, article_id: str, places: Collection[int], *, pictures: int, now: datetime) -> bool:
        """The reader looked at these pictures (1 is the first) of a story, added to those seen before. An article without pictures
        (``pictures`` 0) is one of one.

        Answers whether it was kept: nothing is kept of a reader whose profile is off, nor of an unknown article.
        """
        ...

    def history(self, reader: str, *, limit: int = 500) -> list[View]:
        """The stories that a reader looked at, the latest first."""
        ...

    def forget(self, reader: str, story: str | None = None) -> None:
        """Clear a reader's profile, or one story of it (named by its id or an article's); recommendations made to the reader go too."""
        ...

    def switch(self, reader: str, on: bool, *, now: datetime) -> None:
        """Switch a reader's profile off (what is known is cleared) or on again."""
        ...

    def is_on(self, reader: str) -> bool: ...

    def views(self, *, since: datetime | None = None, after: str = "", until: str | None = None) -> Iterator[View]:
        """Every view, streamed, by reader and story. ``after`` and ``until``: only of readers whose names lie behind the one, up to the
        other (see ``parts``)."""
        ...

    def recent(self, since: datetime, *, limit: int = 50_000) -> list[View]:
        """What was looked at since a moment, the latest first: what a fit does not know yet."""
        ...

    def stories(self, since: datetime, *, found: datetime | None = None, looked_at: bool = True) -> Iterator[Told]:
        """Stories from ``since`` on, streamed: what may be recommended. ``found``: only those stored at that moment or later.
        ``looked_at``: also all older ones that somebody looked at."""
        ...

    def parts(self, number: int) -> list[str]:
        """Names of readers that cut all of them into at most ``number`` parts of about as many views each; the last part has no end."""
        ...

    def counts(self) -> tuple[int, int]:
        """How many views are kept, and of how many readers."""
        ...

    def ages(self, *, hours: int) -> list[int]:
        """How many stories were looked at for the first time in each of the first hours after they were published."""
        ...

    def offer(self, reader: str, recommended: Sequence[Recommendation], *, now: datetime) -> None:
        """These were shown to the reader as recommendations. The same story again on the same day counts once."""
        ...

    def months(self, *, alpha: float) -> list[Month]:
        """Reading by month, the earliest first."""
        ...

    def bring(self, views: Iterable[View], *, now: datetime) -> Brought:
        """Take over views from elsewhere; ``View.story`` names an article by its id, or by an identity that it is known by. Repeated, it
        changes nothing. Written in small transactions, so that readers are not kept waiting."""
        ...

    def let_go(self, *, alpha: float, now: datetime) -> int:
        """Delete views and offers that are older than is promised; their months' figures stay. Answers how many rows went."""
        ...

    def save_fit(self, fit: Fit) -> None:
        """Put a fit to use in place of the one before."""
        ...

    def fit(self, *, newer_than: datetime | None = None) -> Fit | None:
        """The latest fit, if there is one that was made after ``newer_than``: to ask costs little."""
        ...

    def fits(self) -> list[tuple[datetime, Mapping[str, Any]]]:
        """The figures of the latest fits, the newest first."""
        ...
