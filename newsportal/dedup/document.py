"""Documents, verdicts and the window of time that duplicate finders compare with."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Generic, Literal, Protocol, TypeVar

Relation = Literal["same", "part", "contains"]  # what a repost is to the document it repeats: the same text, a part of it, or more than it


@dataclass(frozen=True, slots=True)
class Document:
    """What is known of an article when it is compared. Missing fields are empty; ``published`` is aware, ``None`` if unknown."""

    id: str
    url: str
    title: str
    text: str
    published: datetime | None = None


@dataclass(frozen=True, slots=True)
class Verdict:
    """``duplicate_of`` is the id of an earlier document, ``None`` if there is none; ``reason`` a stable slug; ``score`` 0 to 1."""

    duplicate_of: str | None = None
    reason: str | None = None
    score: float = 0.0
    relation: Relation | None = None


NEW = Verdict()  # the verdict on a document that repeats none


class Finder(Protocol):
    """Finds documents that repeat earlier ones; fed in time order, it remembers what its window allows. No lock: one thread at a time."""

    def judge(self, document: Document) -> Verdict:
        """Compare with all earlier documents, then remember this one too. Never raises for a strange document."""


T = TypeVar("T")

DAWN = float("-inf")  # the time of documents without one as long as no other document told the time


class Window(Generic[T]):
    """Items in the order they came, forgotten when ``span`` has passed (``None``: never) or when ``capacity`` is reached.

    The clock is what the documents say: the latest time that two documents running have reached. So one document dated 2099 or 0001
    among others forgets nothing, and is itself forgotten with its neighbours.
    """

    def __init__(self, span: timedelta | None, capacity: int) -> None:
        if capacity < 1:
            raise ValueError(f"capacity must be at least 1, not {capacity}")
        self._span = span.total_seconds() if span is not None else float("inf")
        self._capacity = capacity
        self._items: deque[tuple[float, T]] = deque()
        self._clock = self._last = DAWN

    def __len__(self) -> int:
        return len(self._items)

    def time_of(self, published: datetime | None) -> float:
        """Seconds since 1970; a document without a time came when the one before it came."""
        if published is None:
            return self._last
        return (published if published.tzinfo is not None else published.replace(tzinfo=UTC)).timestamp()

    def near(self, one: float, other: float) -> bool:
        """Whether two times lie within the span, its ends included."""
        return one == other or abs(one - other) <= self._span

    def enter(self, item: T, time: float) -> list[T]:
        """Remember ``item``, which came at ``time``. Gives what was forgotten for it, oldest first."""
        if self._items and self._items[-1][0] - time > self._span:  # it lies far ahead of what came after it
            self._items[-1] = (max(self._clock, time), self._items[-1][1])
        self._clock, self._last = max(self._clock, min(time, self._last)), time
        forgotten = []
        while self._items and (len(self._items) >= self._capacity or self._clock - self._items[0][0] > self._span):
            forgotten.append(self._items.popleft()[1])
        self._items.append((time, item))
        return forgotten
