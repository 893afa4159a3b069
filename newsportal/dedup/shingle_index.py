"""An inverted index from fingerprints to the earlier documents that hold them, with the story and title of each document.

:class:`Postings` is a log-structured merge index (O'Neil et al. 1996) of entries ``hash << 32 | document``: the newest as they came, the
others in a few sorted arrays, each at least ``RATIO`` times as long as the next newer one. Runs that many *stories* hold are ignored;
copies of one story count once. Not locked.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from newsportal.dedup.fingerprints import ALL, Codes, Fingerprint

Entries: TypeAlias = NDArray[np.uint64]

FRESH: Final = 1024
"""Entries that are kept as they came before they become an array, of some 17 documents: few enough to look each of them up in a text's
runs, which takes less time than to look the runs up in them."""

RATIO: Final = 8  # the larger, the fewer arrays are searched and the more often an entry is moved
LATEST: Final = 48
"""Documents that are looked at of an array's entry, the latest: what more documents than this hold is told by them well enough."""

HALF: Final = np.uint64(32)
LOW: Final = np.uint64(0xFFFFFFFF)


class Postings:
    """Hash → the numbers of the documents that hold it. Numbers ascend."""

    def __init__(self) -> None:
        self._fresh: Entries = np.empty(FRESH, dtype=np.uint64)
        self._count = 0
        self._arrays: list[Entries] = []

    def add(self, number: int, runs: Codes) -> None:
        end = self._count + len(runs)
        if end > FRESH:
            self.add_all([number], [runs])
            return
        self._fresh[self._count : end] = (runs.astype(np.uint64) << HALF) | np.uint64(number)
        self._count = end

    def add_all(self, numbers: Sequence[int], runs: Sequence[Codes]) -> None:
        """Many documents at once, in order."""
        repeated = np.repeat(np.array(numbers, dtype=np.uint64), [len(own) for own in runs])
        self._settle(np.concatenate(runs).astype(np.uint64) << HALF | repeated)

    def find(self, runs: Codes) -> tuple[NDArray[np.intp], Codes]:
        """Pairs of a place in ``runs`` (ascending hashes) and the number of a document that holds it, the latest documents alone."""
        places, numbers = self._find_fresh(runs)
        keys = runs.astype(np.uint64) << HALF
        for array in self._arrays:
            at, held = _find_in(array, keys)
            if len(at):
                places.append(at)
                numbers.append(held)
        if not places:
            return np.zeros(0, dtype=np.intp), np.zeros(0, dtype=np.uint32)
        return np.concatenate(places), np.concatenate(numbers)

    def forget(self, first: int) -> None:
        """Forget the documents whose number is below ``first``, in the arrays; the dict's are the newest and go with the next array."""
        self._settle()
        kept = [array[(array & LOW) >= np.uint64(first)] for array in self._arrays]
        self._arrays = [array for array in kept if len(array)]

    def forget_from(self, first: int) -> None:
        """Forget the documents whose number is ``first`` or above: they may come again, with other texts."""
        self._settle()
        kept = [array[(array & LOW) < np.uint64(first)] for array in self._arrays]
        self._arrays = [array for array in kept if len(array)]

    @property
    def bytes(self) -> int:
        return sum(array.nbytes for array in self._arrays)

    def _find_fresh(self, runs: Codes) -> tuple[list[NDArray[np.intp]], list[Codes]]:
        if not self._count or not len(runs):
            return [], []
        fresh = self._fresh[: self._count]
        held = (fresh >> HALF).astype(np.uint32)
        places = np.minimum(runs.searchsorted(held), len(runs) - 1)
        found = np.flatnonzero(runs[places] == held)
        return ([places[found]], [(fresh[found] & LOW).astype(np.uint32)]) if len(found) else ([], [])

    def _settle(self, more: Entries | None = None) -> None:
        """Make an array of the newest entries and of ``more``, and merge it with those that are not much longer."""
        fresh = self._fresh[: self._count].copy()
        self._count = 0
        newest: Entries = np.sort(fresh if more is None else np.concatenate((fresh, more)))
        if not len(newest):
            return
        while self._arrays and len(self._arrays[-1]) < RATIO * len(newest):
            newest = np.concatenate((self._arrays.pop(), newest))
            newest.sort(kind="stable")
        self._arrays.append(newest)


def _find_in(array: Entries, keys: Entries) -> tuple[NDArray[np.intp], Codes]:
    """The latest entries of ``array`` under each of ``keys``: places in ``keys``, and documents."""
    keys = keys[: keys.searchsorted(array[-1], side="right")]  # of long texts only small hashes are indexed
    start = array.searchsorted(keys)
    there = array[np.minimum(start, len(array) - 1)] & ~LOW == keys
    hits = np.flatnonzero(there & (start < len(array)))
    if not len(hits):
        return hits, np.zeros(0, dtype=np.uint32)
    end = array.searchsorted(keys[hits] | LOW, side="right")
    begin = np.maximum(start[hits], end - LATEST)
    counts = end - begin
    offsets = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)
    return np.repeat(hits, counts), (array[np.repeat(begin, counts) + offsets] & LOW).astype(np.uint32)


SPARSE: Final = 12  # of a text's runs every twelfth is indexed: a copied paragraph of 100 letters has eight of them
INDEXED: Final = 1024  # runs indexed at most, of a text of 100,000 letters and more
DENSE: Final = 48  # runs that are indexed of a shorter text anyway
COMMON: Final = 5  # stories that hold a run before it is nobody's
MANY_TITLES: Final = 9  # different titles over a run before it is nobody's: more than a story is given by its reposts
CLOSE: Final = 10  # earlier documents that are compared closely, those that share the largest part of the sample
HOPEFUL: Final = 0.05
"""Of the runs that a full copy would share in the index, the share below which a document is not compared closely: far below what
makes a repost, because few runs are a rough sample and common ones are not counted."""

MANY: Final = 100  # documents that are added as sorted arrays, not one by one
FORGET_SHARE: Final = 8  # the index is cleaned when one in so many documents is forgotten


@dataclass(frozen=True, slots=True)
class Likely:
    """The ``numbers`` of the earlier documents that share most, ascending; and the new text's runs that are ``common``, ascending."""

    numbers: list[int]
    common: Codes


class ShingleIndex:
    """Documents by number; numbers ascend. Of each some 60 entries of eight bytes are kept, and three numbers."""

    def __init__(self) -> None:
        self._index = Postings()
        self._facts = np.zeros((3, 1024), dtype=np.uint32)  # story, title and length of document ``_base + column``
        self._base = self._first = self._next = 0  # numbers: of the first column, the oldest remembered, the one after the newest

    def add(self, number: int, runs: Codes, length: int, story: int, title: str) -> None:
        """Remember a document: its ``runs`` that are :func:`indexed`, the number of all its runs, one for its story (below 2³²), the
        letters of its title."""
        self._note(number, length, story, title)
        self._index.add(number, runs)

    def add_all(self, documents: Sequence[tuple[int, Codes, int, int, str]]) -> None:
        """Many documents in order, each as :meth:`add` takes it: faster from some hundred on."""
        if len(documents) < MANY:
            for document in documents:
                self.add(*document)
            return
        for number, _, length, story, title in documents:
            self._note(number, length, story, title)
        self._index.add_all([number for number, *_ in documents], [runs for _, runs, *_ in documents])

    def _note(self, number: int, length: int, story: int, title: str) -> None:
        if number - self._base >= self._facts.shape[1]:
            wider = np.zeros((3, max(2 * self._facts.shape[1], number - self._base + 1)), dtype=np.uint32)
            wider[:, : self._facts.shape[1]] = self._facts
            self._facts = wider
        self._facts[:, number - self._base] = story, crc32(title.encode("utf-8", "surrogatepass")), length
        self._next = number + 1

    def move(self, number: int, story: int) -> None:
        """A remembered document is in another story now."""
        if self._first <= number < self._next:
            self._facts[0, number - self._base] = story

    def likely(self, new: Fingerprint) -> Likely:
        places, numbers = self._index.find(new.runs)
        if self._first > self._base:
            alive = numbers >= self._first
            places, numbers = places[alive], numbers[alive]
        if not len(places):
            return Likely([], new.runs[:0])
        rare = self._rare(len(new.runs), places, numbers)
        found, counts = np.unique(numbers[rare[places]], return_counts=True)
        most = np.sort(np.argsort(-counts, kind="stable")[:CLOSE])
        pairs = zip(found[most].tolist(), counts[most].tolist(), strict=True)
        return Likely([number for number, count in pairs if self._is_hopeful(new, number, count)], new.runs[~rare])

    def forget(self, first: int) -> None:
        """Forget the documents whose number is below ``first``; the room is freed now and then."""
        self._first = max(self._first, first)
        if (self._first - self._base) * FORGET_SHARE > self._next - self._base:
            self._index.forget(self._first)
            self._facts, self._base = self._facts[:, self._first - self._base :].copy(), self._first

    def forget_from(self, first: int) -> None:
        """Forget the documents from number ``first`` on, the newest: they were not kept, and their numbers may be given again."""
        if first < self._next:
            self._index.forget_from(first)
            self._next = first

    @property
    def bytes(self) -> int:
        return self._index.bytes + self._facts.nbytes

    def _is_hopeful(self, new: Fingerprint, number: int, shared: int) -> bool:
        """Whether they share enough of what a repost would share in the index."""
        length = int(self._facts[2, number - self._base])
        sampled = min(new.limit, index_limit(length)) / ALL
        return shared >= HOPEFUL * sampled * min(new.length, length)

    def _rare(self, runs: int, places: NDArray[np.intp], numbers: Codes) -> NDArray[np.bool_]:
        """Which runs are held by few stories, under few titles."""
        often = np.bincount(places, minlength=runs) >= COMMON
        if not often.any():
            return ~often
        asked = often[places]
        stories, titles = self._facts[:2, numbers[asked] - self._base]
        at = places[asked].astype(np.uint64) << np.uint64(32)
        few: NDArray[np.bool_] = (_different(at, stories, runs) < COMMON) & (_different(at, titles, runs) < MANY_TITLES)
        return few


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
