"""``judge``, the default finder of reposts: fingerprints, an inverted index, containment in the shorter text, a guard on numbers.

A document's sampled runs are looked up (``holders``); earlier documents that share most of them are compared closely (``compared``).
:class:`Judge` keeps everything in memory; the SQL stores hold what they know beside the articles and ask the same rule.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import timedelta
from typing import Final, Generic, TypeVar

import numpy as np

from newsportal.dedup.document import NEW, Document, Verdict, Window
from newsportal.dedup.fingerprints import KEPT, Codes, Fingerprint, fingerprint, limit_for
from newsportal.dedup.near_duplicate import overlap, verdict
from newsportal.dedup.shingle_index import Holders, indexed
from newsportal.dedup.title_evidence import is_told
from newsportal.text import letters

T = TypeVar("T")
"""What a story is called: a number in memory, an id in a store."""

WINDOW: Final = 180.0
"""Days after which a text is forgotten."""

CAPACITY: Final = 2_000_000
"""Documents that are remembered at most, some 4 GB."""

SURE: Final = 0.75
"""Containment from which titles are not asked …"""

BRIEF: Final = 180
"""… unless a text is so short (in runs) that it may be a site's notice alone …"""

CROWD: Final = 6
"""… or the story has so many copies already: then it may be a site's furniture."""

TITLE_KEPT: Final = 40
"""Letters of a title that are kept."""


@dataclass(frozen=True, slots=True)
class Earlier(Generic[T]):
    """What the rule asks of an earlier document: its ``runs`` in the order of the text (as bytes), of ``length`` in all, the letters of
    its title, how many ``copies`` its story has."""

    id: str
    story: T
    runs: bytes
    length: int
    title: str
    copies: int


def compared(new: Fingerprint, title: str, candidates: Iterable[Earlier[T]], common: Codes) -> list[tuple[Verdict, Earlier[T]]]:
    """The rule: those of the candidates that the new text repeats, the fullest first, of equals the one that came first.

    ``title`` holds letters alone; ``common`` are the new text's runs that are nobody's, ascending.
    """
    ordered = new.in_order()
    found = []
    for old in candidates:
        runs = np.frombuffer(old.runs, dtype=np.uint32)
        shared = overlap(ordered, runs, common, min(new.limit, limit_for(old.length, KEPT)))
        answer = verdict(shared, old.id, bool(title) and title == old.title)
        if answer.duplicate_of is None:
            continue
        doubtful = answer.score < SURE or min(new.length, old.length) < BRIEF or old.copies >= CROWD
        if not doubtful or is_told(title, old.title, new.covered(runs)):
            found.append((answer, old))
    return sorted(found, key=lambda pair: -pair[0].score)


def title_letters(title: str | None) -> str:
    return letters(title or "")[:TITLE_KEPT]


@dataclass(frozen=True, slots=True)
class Remembered:
    """What is kept of a document: its runs as bytes in the order of the text, how many there were, the number of its story's first
    document, the letters of its title."""

    id: str
    runs: bytes
    length: int
    story: int
    title: str


class Judge:
    """A finder; ``window`` in days, ``capacity`` in documents. Not locked: one thread at a time."""

    def __init__(self, *, window: float = WINDOW, capacity: int = CAPACITY) -> None:
        self._window: Window[int] = Window(timedelta(days=window), capacity)
        self._kept: dict[int, Remembered] = {}
        self._next = 0
        self._holders = Holders()
        self._copies: Counter[int] = Counter()  # by the number of the story's first document

    def judge(self, document: Document) -> Verdict:
        """The earlier document that this one repeats most fully, the earliest of equals."""
        return next(iter(self.matches(document)), NEW)

    def matches(self, document: Document) -> list[Verdict]:
        """All close earlier documents that this one repeats, the fullest first. The document is remembered."""
        new, title = fingerprint(document.text), title_letters(document.title)
        likely = self._holders.likely(new)
        found = compared(new, title, self._candidates(likely.numbers), likely.common)
        self._remember(document, new, title, found[0][1].story if found else None)
        return [answer for answer, _ in found]

    def _candidates(self, numbers: list[int]) -> Iterator[Earlier[int]]:
        for number in numbers:
            old = self._kept[number]
            yield Earlier(old.id, old.story, old.runs, old.length, old.title, self._copies[old.story])

    def _remember(self, document: Document, new: Fingerprint, title: str, story: int | None) -> None:
        number = self._next
        self._next += 1
        if story is None:
            story = number
        else:
            self._copies[story] += 1
        self._kept[number] = Remembered(document.id, new.in_order().tobytes(), new.length, story, title)
        self._holders.add(number, indexed(new.runs, new.length), new.length, story, title)
        for old in self._window.enter(number, self._window.time_of(document.published)):
            self._forget(old)

    def _forget(self, number: int) -> None:
        story = self._kept.pop(number).story
        if story != number:
            self._copies[story] -= 1
            if not self._copies[story]:
                del self._copies[story]
        self._holders.forget(number + 1)
