"""``judge``, the default finder of reposts: fingerprints, an inverted index, containment in the shorter text, a guard on numbers.

A document's sampled runs are looked up; earlier documents that share most of them are compared closely (``near_duplicate``). Runs that
many *stories* hold are nobody's text: copies of one story count once, so that a story may be reposted as often as it likes. Everything
is kept in memory, for a window of days and up to a number of documents.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import timedelta
from typing import Final

import numpy as np
from numpy.typing import NDArray

from newsportal.dedup.document import NEW, Document, Verdict
from newsportal.dedup.fingerprints import ALL, KEPT, Codes, Fingerprint, fingerprint, limit_for
from newsportal.dedup.near_duplicate import overlap, verdict
from newsportal.dedup.postings import Postings
from newsportal.dedup.told import is_told
from newsportal.dedup.window import Window
from newsportal.text import letters

WINDOW: Final = 180.0
"""Days after which a text is forgotten."""

CAPACITY: Final = 2_000_000
"""Documents that are remembered at most, some 4 GB."""

SPARSE: Final = 12
"""Of a text's runs every twelfth is indexed: a copied paragraph of 100 letters has eight of them."""

INDEXED: Final = 1024
"""Runs indexed at most, of a text of 100,000 letters and more."""

DENSE: Final = 48
"""Runs that are indexed of a shorter text anyway."""

HOPEFUL: Final = 0.05
"""Of the runs that a full copy would share in the index, the share below which a document is not compared closely: far below ``ENOUGH``,
because few runs are a rough sample and common ones are not counted."""

COMMON: Final = 5
"""Stories that hold a run before it is nobody's."""

MANY_TITLES: Final = 9
"""Different titles over a run before it is nobody's: more than a story is given by its reposts."""

CLOSE: Final = 10
"""Earlier documents that are compared closely, those that share the largest part of the sample."""

FORGET_SHARE: Final = 8
"""The index is cleaned when one in so many documents is out of the window."""

SURE: Final = 0.75
"""Containment from which titles are not asked …"""

BRIEF: Final = 180
"""… unless a text is so short (in runs) that it may be a site's notice alone …"""

CROWD: Final = 6
"""… or the story has so many copies already: then it may be a site's furniture."""

TITLE_KEPT: Final = 40
"""Letters of a title that are kept."""


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
    """A finder; ``window`` in days, ``capacity`` in documents."""

    def __init__(self, *, window: float = WINDOW, capacity: int = CAPACITY) -> None:
        self._window: Window[int] = Window(timedelta(days=window), capacity)
        self._kept: dict[int, Remembered] = {}
        self._next = self._first = self._cleaned = 0  # numbers: of the next document, the oldest kept, the oldest in the index
        self._index = Postings()
        self._copies: Counter[int] = Counter()  # of the stories that have any

    def judge(self, document: Document) -> Verdict:
        """The earlier document that this one repeats most fully, the earliest of equals."""
        return next(iter(self.matches(document)), NEW)

    def matches(self, document: Document) -> list[Verdict]:
        """All close earlier documents that this one repeats, the fullest first. The document is remembered."""
        new = fingerprint(document.text)
        title = letters(document.title)[:TITLE_KEPT]
        found = sorted(self._compared(new, title), key=lambda pair: (-pair[0].score, pair[1]))
        self._remember(document, new, title, self._kept[found[0][1]].story if found else None)
        return [answer for answer, _ in found]

    def _compared(self, new: Fingerprint, title: str) -> Iterator[tuple[Verdict, int]]:
        places, numbers = self._held(new)
        common, rare = self._common(new, places, numbers)
        ordered = new.in_order()
        for number, old in self._closest(new, Counter(numbers[rare[places]].tolist())):
            runs = np.frombuffer(old.runs, dtype=np.uint32)
            found = overlap(ordered, runs, common, min(new.limit, limit_for(old.length, KEPT)))
            answer = verdict(found, old.id, bool(title) and title == old.title)
            if answer.duplicate_of is None:
                continue
            doubtful = answer.score < SURE or min(new.length, old.length) < BRIEF or self._copies[old.story] >= CROWD
            if not doubtful or is_told(title, old.title, new.covered(runs)):
                yield answer, number

    def _closest(self, new: Fingerprint, shared: Counter[int]) -> Iterator[tuple[int, Remembered]]:
        """Those that share most of their indexed runs, if it is enough of what a repost would share."""
        for number, count in shared.most_common(CLOSE):
            old = self._kept[number]
            sampled = min(new.limit, _index_limit(old.length)) / ALL
            if count >= HOPEFUL * sampled * min(new.length, old.length):
                yield number, old

    def _held(self, new: Fingerprint) -> tuple[NDArray[np.intp], Codes]:
        """Pairs of a run of ``new`` and an earlier document of the window that holds it."""
        places, numbers = self._index.find(new.runs)
        alive = numbers >= self._first
        return places[alive], numbers[alive]

    def _common(self, new: Fingerprint, places: NDArray[np.intp], numbers: Codes) -> tuple[Codes, NDArray[np.bool_]]:
        """The runs of ``new`` that too many stories hold, or documents of too many titles; and which of all are left."""
        rare = np.ones(len(new.runs), dtype=np.bool_)
        if not len(places):
            return new.runs[:0], rare
        often = np.flatnonzero(np.bincount(places, minlength=len(rare)) >= COMMON)
        for place in often.tolist():
            holders = [self._kept[number] for number in numbers[places == place].tolist()]
            rare[place] = len({old.story for old in holders}) < COMMON and len({old.title for old in holders}) < MANY_TITLES
        return new.runs[~rare], rare

    def _remember(self, document: Document, new: Fingerprint, title: str, story: int | None) -> None:
        number = self._next
        self._next += 1
        if story is not None:
            self._copies[story] += 1
        self._kept[number] = Remembered(document.id, new.in_order().tobytes(), new.length, number if story is None else story, title)
        self._index.add(number, _indexed(new))
        for old in self._window.enter(number, self._window.time_of(document.published)):
            del self._kept[old]
            self._first = old + 1
        if (self._first - self._cleaned) * FORGET_SHARE > self._next - self._cleaned:
            self._clean()

    def _clean(self) -> None:
        self._index.forget(self._first)
        alive = {kept.story for kept in self._kept.values()}
        self._copies = Counter({story: count for story, count in self._copies.items() if story in alive})
        self._cleaned = self._first


def _indexed(new: Fingerprint) -> Codes:
    """The runs of ``new`` that go into the index."""
    limit = _index_limit(new.length)
    return new.runs[: new.runs.searchsorted(limit)][:INDEXED] if limit < ALL else new.runs


def _index_limit(length: int) -> int:
    return min(ALL, max(ALL // SPARSE, ALL * DENSE // max(1, length)))
