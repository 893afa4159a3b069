"""The words of folding: a document goes in, in time order, and a verdict comes out."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Literal, Protocol, runtime_checkable

Relation = Literal["same", "part", "contains"]
"""What a repost is to the document it repeats: the same text, a part of it, or more than it."""


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


NEW = Verdict()
"""The verdict on a document that repeats none."""


class Finder(Protocol):
    """Finds the documents that repeat earlier ones. It is fed in time order and remembers what its window allows.

    Finders hold no lock: one thread at a time.
    """

    def judge(self, document: Document) -> Verdict:
        """Compare with all earlier documents, then remember this one too. Never raises for a strange document."""
        ...


@runtime_checkable
class Matcher(Finder, Protocol):
    """A finder that can tell all earlier documents which one repeats, not the best alone."""

    def matches(self, document: Document) -> list[Verdict]:
        """As :meth:`judge`, with every close earlier document, the fullest first."""
        ...
