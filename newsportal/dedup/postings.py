"""Which documents hold a fingerprint: an inverted index of eight bytes an entry that grows, and forgets from its old end.

A log-structured merge index (O'Neil et al. 1996) of entries ``hash << 32 | document``: the newest as they came, the others in a few
sorted arrays, each at least ``RATIO`` times as long as the next newer one.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from newsportal.dedup.fingerprints import Codes

Entries: TypeAlias = NDArray[np.uint64]

FRESH: Final = 1024
"""Entries that are kept as they came before they become an array, of some 17 documents: few enough to look each of them up in a text's
runs, which takes less time than to look the runs up in them."""

RATIO: Final = 8
"""The larger, the fewer arrays are searched and the more often an entry is moved."""

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
        """What the arrays hold."""
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
