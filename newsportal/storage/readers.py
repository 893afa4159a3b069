"""What readers looked at, what was recommended to them, and what was learnt from it: a protocol of its own. Every store passes
``tests/storage/test_readers.py``.

A reader is a random name in a cookie: no account, no address. A reader who switched the profile off leaves no trace.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Protocol

from newsportal.recommend.base import Recommendation, View


@dataclass(frozen=True, slots=True)
class Month:
    """A month of reading (paper C, figures 3 and 4). ``start``: its first moment (UTC).

    ``views`` and ``pictures`` count what was looked at; of ``offered`` recommendations ``opened`` were opened, and ``liked`` of those read
    past α (formula 4: precision = liked / offered).
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


class Readers(Protocol):
    """Errors are those of the store."""

    def saw(self, reader: str, article_id: str, places: Collection[int], *, pictures: int, now: datetime) -> bool:
        """The reader looked at these pictures of a story (an article without pictures is one of one): added to those seen before.

        Answers whether it was kept: nothing is kept of a reader whose profile is off, nor of an unknown article.
        """
        ...

    def history(self, reader: str, *, limit: int = 500) -> list[View]:
        """What a reader looked at, the latest first."""
        ...

    def forget(self, reader: str, article_id: str | None = None) -> None:
        """Clear a reader's profile, or one story of it; recommendations made to the reader go too."""
        ...

    def switch(self, reader: str, on: bool, *, now: datetime) -> None:
        """Switch a reader's profile off (what is known is cleared) or on again."""
        ...

    def is_on(self, reader: str) -> bool: ...

    def views(self, *, since: datetime | None = None) -> Iterator[View]:
        """Every view, streamed, by reader and story."""
        ...

    def offer(self, reader: str, recommended: Sequence[Recommendation], *, now: datetime) -> None:
        """These were shown to the reader as recommendations. The same story again on the same day counts once."""
        ...

    def months(self, *, alpha: float) -> list[Month]:
        """Reading by month, the earliest first."""
        ...

    def save_fit(self, fit: Fit) -> None:
        """Put a fit to use in place of the one before."""
        ...

    def fit(self) -> Fit | None: ...
