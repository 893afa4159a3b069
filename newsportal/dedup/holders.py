"""Which earlier documents hold a text's runs: the index that finders ask, with the story and the title of every document.

Runs that many *stories* hold are nobody's text: copies of one story count once, so that a story may be reposted as often as it likes.
Not locked: whoever shares one among threads takes turns.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from newsportal.dedup.fingerprints import ALL, Codes, Fingerprint
from newsportal.dedup.postings import Postings

SPARSE: Final = 12
"""Of a text's runs every twelfth is indexed: a copied paragraph of 100 letters has eight of them."""

INDEXED: Final = 1024
"""Runs indexed at most, of a text of 100,000 letters and more."""

DENSE: Final = 48
"""Runs that are indexed of a shorter text anyway."""

COMMON: Final = 5
"""Stories that hold a run before it is nobody's."""

MANY_TITLES: Final = 9
"""Different titles over a run before it is nobody's: more than a story is given by its reposts."""

CLOSE: Final = 10
"""Earlier documents that are compared closely, those that share the largest part of the sample."""

MANY: Final = 100
"""Documents that are added as sorted arrays, not one by one."""

FORGET_SHARE: Final = 8
"""The index is cleaned when one in so many documents is forgotten."""


@dataclass(frozen=True, slots=True)
class Likely:
    """The earlier documents that share most, as number → runs shared in the index, the earliest first; and the new text's runs that
    are ``common``, ascending."""

    shared: dict[int, int]
    common: Codes


class Holders:
    """Documents by number; numbers ascend. Of each some 60 entries of eight bytes are kept, and two numbers."""

    def __init__(self) -> None:
        self._index = Postings()
        self._facts = np.zeros((2, 1024), dtype=np.uint32)  # story and title of document ``_base + column``
        self._base = self._first = self._next = 0  # numbers: of the first column, the oldest remembered, the one after the newest

    def add(self, number: int, runs: Codes, story: int, title: str) -> None:
        """Remember a document: its ``runs`` that are :func:`indexed`, a number for its story (below 2³²), the letters of its title."""
        self._note(number, story, title)
        self._index.add(number, runs)

    def add_all(self, numbers: Sequence[int], runs: Sequence[Codes], stories: Sequence[int], titles: Sequence[str]) -> None:
        """Many documents in order, each as :meth:`add` takes it: a hundred times as fast."""
        for number, story, title in zip(numbers, stories, titles, strict=True):
            self._note(number, story, title)
        if len(numbers) < MANY:
            for number, own in zip(numbers, runs, strict=True):
                self._index.add(number, own)
        else:
            self._index.add_all(numbers, runs)

    def _note(self, number: int, story: int, title: str) -> None:
        if number - self._base >= self._facts.shape[1]:
            self._make_room(number)
        self._facts[:, number - self._base] = story, crc32(title.encode("utf-8", "surrogatepass"))
        self._next = number + 1

    def told(self, number: int, story: int) -> None:
        """A remembered document is in another story now."""
        if self._first <= number < self._next:
            self._facts[0, number - self._base] = story

    def likely(self, new: Fingerprint) -> Likely:
        """See :class:`Likely`."""
        places, numbers = self._index.find(new.runs)
        if self._first > self._base:
            alive = numbers >= self._first
            places, numbers = places[alive], numbers[alive]
        if not len(places):
            return Likely({}, new.runs[:0])
        rare = self._rare(len(new.runs), places, numbers)
        found, counts = np.unique(numbers[rare[places]], return_counts=True)
        most = np.sort(np.argsort(-counts, kind="stable")[:CLOSE])
        return Likely(dict(zip(found[most].tolist(), counts[most].tolist(), strict=True)), new.runs[~rare])

    def forget(self, first: int) -> None:
        """Forget the documents whose number is below ``first``; the room is freed now and then."""
        self._first = max(self._first, first)
        if (self._first - self._base) * FORGET_SHARE > self._next - self._base:
            self._index.forget(self._first)
            self._facts, self._base = self._facts[:, self._first - self._base :].copy(), self._first

    @property
    def bytes(self) -> int:
        """What the arrays hold."""
        return self._index.bytes + self._facts.nbytes

    def _rare(self, runs: int, places: NDArray[np.intp], numbers: Codes) -> NDArray[np.bool_]:
        """Which runs are held by few stories, under few titles."""
        often = np.bincount(places, minlength=runs) >= COMMON
        if not often.any():
            return ~often
        asked = often[places]
        stories, titles = self._facts[:, numbers[asked] - self._base]
        at = places[asked].astype(np.uint64) << np.uint64(32)
        few: NDArray[np.bool_] = (_different(at, stories, runs) < COMMON) & (_different(at, titles, runs) < MANY_TITLES)
        return few

    def _make_room(self, number: int) -> None:
        wider = np.zeros((2, max(2 * self._facts.shape[1], number - self._base + 1)), dtype=np.uint32)
        wider[:, : self._facts.shape[1]] = self._facts
        self._facts = wider


def _different(at: NDArray[np.uint64], values: Codes, runs: int) -> NDArray[np.intp]:
    """For each run the number of different ``values``; ``at`` is each value's run, in the upper half."""
    pairs = np.sort(at | values)
    fresh = np.concatenate(([True], pairs[1:] != pairs[:-1]))
    return np.bincount((pairs[fresh] >> np.uint64(32)).astype(np.intp), minlength=runs)


def indexed(runs: Codes, length: int) -> Codes:
    """Those of a text's ``runs`` that go into the index; ``length`` is the number of all its runs, kept or not."""
    limit = index_limit(length)
    return runs[runs < limit][:INDEXED] if limit < ALL else runs


def index_limit(length: int) -> int:
    """Below which hash the runs of a text are indexed."""
    return min(ALL, max(ALL // SPARSE, ALL * DENSE // max(1, length)))
