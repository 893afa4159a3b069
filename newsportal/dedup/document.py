"""Documents, verdicts, and the time window of duplicate finders."""

from collections import deque
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Final, Generic, Literal, Protocol, TypeVar

from newsportal.text import letters

Relation = Literal["same", "part", "contains"]  # relation of a repost to the earlier document: the same text, a part of it, or more


@dataclass(frozen=True, slots=True)
class Document:
    """An article to compare. Missing strings are empty; ``published`` is timezone-aware, ``None`` if unknown."""

    id: str
    url: str
    title: str
    text: str
    published: datetime | None = None


@dataclass(frozen=True, slots=True)
class Verdict:
    """``duplicate_of``: id of an earlier document, or ``None``; ``reason``: a stable slug; ``score``: 0 to 1."""

    duplicate_of: str | None = None
    reason: str | None = None
    score: float = 0.0
    relation: Relation | None = None


NEW = Verdict()  # verdict on a document that repeats none


MIN_TITLE_SHARE: Final = 0.6
"""Minimum share of the shorter title's letter pairs for similar titles: a site's prefix and the name of the event are not enough."""

MIN_SAME_SHARE: Final = 0.6  # minimum share of the longer text, too, for the same text rather than a part
MAX_TITLE: Final = 40  # letters kept of a title


def title_letters(title: str | None) -> str:
    return letters(title or "")[:MAX_TITLE]


def letter_pairs(title: str) -> set[str]:
    return {title[place : place + 2] for place in range(len(title) - 1)}


def alike(first: str, second: str) -> bool:
    pairs, others = letter_pairs(first), letter_pairs(second)
    return len(pairs & others) >= MIN_TITLE_SHARE * max(1, min(len(pairs), len(others)))


class Finder(Protocol):
    """Finds documents that repeat earlier ones, in time order, within its window. Not thread-safe."""

    def judge(self, document: Document) -> Verdict:
        """Compare with all earlier documents, then add this one. Never raises for unusual documents."""


T = TypeVar("T")

WINDOW: Final = 180.0  # days after which the judge and the stores forget a text
NO_TIME = float("-inf")  # time of documents without one while no document had one


class Window(Generic[T]):
    """Items in the order of arrival, removed after ``span`` (``None``: never) or when ``capacity`` is reached.

    The clock is driven by documents: the latest time that two successive documents have reached. So a single document dated 2099 or 0001
    removes nothing, and is itself removed with its neighbours.
    """

    def __init__(self, span: timedelta | None, capacity: int) -> None:
        if capacity < 1:
            raise ValueError(f"capacity must be at least 1, not {capacity}")
        self._span = span.total_seconds() if span is not None else float("inf")
        self._capacity = capacity
        self._items: deque[tuple[float, T]] = deque()
        self._clock = self._last = NO_TIME

    def __len__(self) -> int:
        return len(self._items)

    def time_of(self, published: datetime | None) -> float:
        """Return seconds since 1970; a document without a time gets that of the previous one."""
        if published is None:
            return self._last
        return (published if published.tzinfo is not None else published.replace(tzinfo=UTC)).timestamp()

    def is_near(self, a: float, b: float) -> bool:
        """Return whether two times are within the span, inclusive."""
        return a == b or abs(a - b) <= self._span

    def add(self, item: T, time: float) -> list[T]:
        """Add ``item`` with its ``time``. Return the items removed for it, oldest first."""
        if self._items and self._items[-1][0] - time > self._span:  # it is dated far ahead of the following ones
            self._items[-1] = (max(self._clock, time), self._items[-1][1])
        self._clock, self._last = max(self._clock, min(time, self._last)), time
        removed = []
        while self._items and (len(self._items) >= self._capacity or self._clock - self._items[0][0] > self._span):
            removed.append(self._items.popleft()[1])
        self._items.append((time, item))
        return removed
