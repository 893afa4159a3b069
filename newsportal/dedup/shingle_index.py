"""An inverted index from fingerprints to earlier documents, with the story and title of each document.

:class:`Postings` is a log-structured merge index (O'Neil et al. 1996) of entries ``hash << 32 | document``: the newest unsorted, the others
in a few sorted arrays, each at least ``RATIO`` times as long as the next newer one. A filter of bits (Bloom 1970), four or more an entry,
tells most hashes that are in none. Runs in many *stories* are ignored; copies of one story count once. Not thread-safe.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise
from typing import Final, TypeAlias
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from newsportal.dedup.fingerprints import ALL, HALF, Codes, Fingerprint, changes

Entries: TypeAlias = NDArray[np.uint64]

FRESH: Final = 1024
"""Entries kept unsorted before they become an array, of some 17 documents: looking up each in a text's runs takes less than the reverse."""

SLICE: Final = 1 << 16  # entries marked at once: each takes twenty bytes meanwhile
RATIO: Final = 8  # a larger ratio means fewer arrays to search and more frequent moves of entries
LATEST: Final = 48
"""Maximum number of documents, the latest, read per array for a run: enough to show that it is common."""

LOW: Final = np.uint64(0xFFFFFFFF)


class Postings:
    """Hash → numbers of the documents that contain it. Numbers ascend, below 2³² - 1."""

    def __init__(self) -> None:
        self._fresh = np.empty((2, FRESH), dtype=np.uint32)  # hashes, and the numbers of their documents
        self._count = 0
        self._entries: Entries = np.empty(FRESH, dtype=np.uint64)  # the sorted arrays, consecutive, longest first
        self._ends: list[int] = []  # of each of them
        self._filter = np.zeros(0, dtype=np.uint8)

    def add(self, number: int, runs: Codes) -> None:
        end = self._count + len(runs)
        if end > FRESH:
            self.add_all([number], [runs])
            return
        self._fresh[0, self._count : end] = runs
        self._fresh[1, self._count : end] = number
        self._count = end

    def add_all(self, numbers: Sequence[int], runs: Sequence[Codes]) -> None:
        """Add many documents in order."""
        repeated = np.repeat(np.array(numbers, dtype=np.uint64), [len(codes) for codes in runs])
        self._settle(np.concatenate(runs).astype(np.uint64) << HALF | repeated)

    def find(self, runs: Codes) -> tuple[NDArray[np.intp], Codes]:
        """Return pairs of an index in ``runs`` (ascending hashes) and the number of a document that contains it; the latest per array."""
        hashes, numbers = self._fresh[:, : self._count]
        places = np.minimum(runs.searchsorted(hashes), max(0, len(runs) - 1))
        fresh = (runs[places] == hashes).nonzero()[0] if len(runs) else places[:0]
        if not self._ends:
            return places[fresh], numbers[fresh]
        at, bits = self._bits(runs)
        known = (self._filter[at] & bits).nonzero()[0]
        bounds = np.repeat(runs[known].astype(np.uint64) << HALF, 2)
        bounds[1::2] |= LOW
        found = np.concatenate([array.searchsorted(bounds) + start for start, array in self._arrays()])
        begin, end = found[0::2], found[1::2]
        hits = (begin < end).nonzero()[0]
        begin = np.maximum(begin[hits], end[hits] - LATEST)
        counts = end[hits] - begin
        ends = counts.cumsum()
        entries = np.arange(ends[-1] if len(ends) else 0) + np.repeat(begin - ends + counts, counts)
        older = self._entries[entries].astype(np.uint32)
        return np.concatenate((places[fresh], np.repeat(known.take(hits, mode="wrap"), counts))), np.concatenate((numbers[fresh], older))

    def forget(self, first: int) -> None:
        """Remove the documents with numbers below ``first``."""
        self._keep(lambda numbers: numbers >= first)

    def forget_from(self, first: int) -> None:
        """Remove the documents with numbers from ``first`` on: they may be added again with other texts."""
        self._keep(lambda numbers: numbers < first)

    @property
    def bytes(self) -> int:
        return self._entries.itemsize * (self._ends[-1] if self._ends else 0) + self._filter.nbytes

    def _arrays(self) -> Iterator[tuple[int, Entries]]:
        return ((start, self._entries[start:end]) for start, end in pairwise((0, *self._ends)))

    def _keep(self, predicate: Callable[[Entries], NDArray[np.bool_]]) -> None:
        self._settle()
        arrays = [array for array in (array[predicate(array & LOW)] for _, array in self._arrays()) if len(array)]
        self._entries = np.concatenate((*arrays, self._entries[:0]))
        self._ends = list(accumulate(map(len, arrays)))
        self._filter = self._filter[:0]
        if arrays:
            self._mark(self._entries)

    def _settle(self, more: Entries | None = None) -> None:
        """Sort the newest entries and ``more`` into an array, and merge it with those that are not much longer."""
        hashes, numbers = self._fresh[:, : self._count].astype(np.uint64)
        newest: Entries = hashes << HALF | numbers
        newest = np.sort(newest if more is None else np.concatenate((newest, more)))
        self._count = 0
        if not len(newest):
            return
        start = self._ends[-1] if self._ends else 0
        end = start + len(newest)
        if end > len(self._entries):
            larger: Entries = np.empty(2 * end, dtype=np.uint64)
            larger[:start] = self._entries[:start]
            self._entries = larger
        self._entries[start:end] = newest
        before = start
        while self._ends and before - (begin := self._ends[-2] if len(self._ends) > 1 else 0) < RATIO * (end - before):
            self._ends.pop()
            before = begin
        if before < start:
            self._entries[before:end].sort(kind="stable")
        self._ends.append(end)
        self._mark(newest)

    def _mark(self, newest: Entries) -> None:
        """Set the bits of the newest entries; of all if the filter became too small."""
        if 2 * len(self._filter) < (end := self._ends[-1]):
            self._filter, newest = np.zeros(1 << (end.bit_length() - 1), dtype=np.uint8), self._entries[:end]
        for start in range(0, len(newest), SLICE):
            np.bitwise_or.at(self._filter, *self._bits((newest[start : start + SLICE] >> HALF).astype(np.uint32)))

    def _bits(self, hashes: Codes) -> tuple[Codes, NDArray[np.uint8]]:
        """Return the byte of the filter and the bit in it of each hash; the lowest bit of a hash is no random one."""
        at: Codes = (hashes >> np.uint32(4)) % np.uint32(len(self._filter))
        return at, np.uint8(1) << (hashes >> np.uint32(1)).astype(np.uint8) % np.uint8(8)


SPARSE: Final = 12  # every twelfth run of a text is indexed: a copied paragraph of 100 letters has eight of them
INDEXED: Final = 1024  # maximum number of runs indexed, of a text of 100,000 letters or more
DENSE: Final = 48  # minimum number of runs indexed of a shorter text
COMMON: Final = 5  # stories with a run from which it is ignored as common
MANY_TITLES: Final = 9  # different titles with a run from which it is ignored: more than reposts give to one story
CLOSE: Final = 10  # earlier documents compared closely, those that share most of the sample
HOPEFUL: Final = 0.05
"""Minimum share, of the runs that a full copy would share in the index, for a close comparison: far below that of a repost, because few
runs are a rough sample and common ones are not counted."""

MANY: Final = 100  # documents from which sorted arrays are used instead of single additions
FORGET_SHARE: Final = 8  # the index is cleaned up when this fraction of documents (1 / 8) is removed


@dataclass(frozen=True, slots=True)
class Likely:
    """``numbers``: earlier documents that share most, ascending; ``common``: the new text's common runs, ascending."""

    numbers: list[int]
    common: Codes


class ShingleIndex:
    """Documents by ascending number. Each takes some 60 entries of eight bytes, and three numbers."""

    def __init__(self) -> None:
        self._index = Postings()
        self._facts = np.zeros((3, 1024), dtype=np.uint32)  # story, title and length of document ``_base + column``
        self._base = self._first = self._next = 0  # numbers: of the first column, the oldest document, the one after the newest

    def add(self, number: int, runs: Codes, length: int, story: int, title: str) -> None:
        """Add a document: its :func:`indexed` ``runs``, the number of all, a number of its story (below 2³²), its title's letters."""
        self._note(number, length, story, title)
        self._index.add(number, runs)

    def add_all(self, documents: Sequence[tuple[int, bytes, int, int, str]]) -> None:
        """Add many stored documents in order, with the arguments of :meth:`add`, but all runs as bytes: faster for some hundred or more."""
        runs = [indexed(np.sort(np.frombuffer(stored, dtype=np.uint32)), length) for _, stored, length, *_ in documents]
        for (number, _, length, story, title), codes in zip(documents, runs, strict=True):
            self._note(number, length, story, title)
            if len(documents) < MANY:
                self._index.add(number, codes)
        if len(documents) >= MANY:
            self._index.add_all([number for number, *_ in documents], runs)

    def _note(self, number: int, length: int, story: int, title: str) -> None:
        if number - self._base >= self._facts.shape[1]:
            wider = np.zeros((3, max(2 * self._facts.shape[1], number - self._base + 1)), dtype=np.uint32)
            wider[:, : self._facts.shape[1]] = self._facts
            self._facts = wider
        self._facts[:, number - self._base] = story, crc32(title.encode("utf-8", "surrogatepass")), length
        self._next = number + 1

    def move(self, number: int, story: int) -> None:
        """Record that a document is now in another story."""
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
        numbers = np.sort(numbers[rare[places]])
        first = changes(numbers).nonzero()[0]
        if not len(first):
            return Likely([], new.runs[~rare])
        counts = np.concatenate((first[1:], [len(numbers)])) - first
        most = np.sort(np.argsort(-counts, kind="stable")[:CLOSE])
        found = numbers[first[most]]
        facts = zip(found.tolist(), counts[most].tolist(), self._facts[2, found - self._base].tolist(), strict=True)
        sampled = ((*fact, min(new.limit, index_limit(fact[-1])) / ALL) for fact in facts)
        hopeful = [number for number, count, length, part in sampled if count >= HOPEFUL * part * min(new.length, length)]
        return Likely(hopeful, new.runs[~rare])

    def forget(self, first: int) -> None:
        """Remove the documents with numbers below ``first``; memory is freed occasionally."""
        self._first = max(self._first, first)
        if (self._first - self._base) * FORGET_SHARE > self._next - self._base:
            self._index.forget(self._first)
            self._facts, self._base = self._facts[:, self._first - self._base :].copy(), self._first

    def forget_from(self, first: int) -> None:
        """Remove the newest documents, from number ``first`` on: they were rolled back, and their numbers may be reused."""
        if first < self._next:
            self._index.forget_from(first)
            self._next = first

    @property
    def bytes(self) -> int:
        return self._index.bytes + self._facts.nbytes

    def _rare(self, runs: int, places: NDArray[np.intp], numbers: Codes) -> NDArray[np.bool_]:
        """Return a mask of the runs that are in few stories, with few titles."""
        counts = np.bincount(places, minlength=runs)
        rare = np.ones(runs, dtype=np.bool_)
        for fact, limit in enumerate((COMMON, MANY_TITLES)):  # stories, titles
            often = rare & (counts >= limit)
            if often.any():
                mask = often[places]
                pairs = np.sort(places[mask].astype(np.uint64) << HALF | self._facts[fact, numbers[mask] - self._base])
                different = np.bincount((pairs[changes(pairs)] >> HALF).astype(np.intp), minlength=runs)
                rare &= different < limit
        return rare


def indexed(runs: Codes, length: int) -> Codes:
    """Return the ``runs`` of a text that are indexed; ``length`` is the number of all its runs, kept or not."""
    limit = index_limit(length)
    return runs[runs < limit][:INDEXED] if limit < ALL else runs


def index_limit(length: int) -> int:
    """Return the limit of hashes below which the runs of a text are indexed."""
    return min(ALL, max(ALL // SPARSE, ALL * DENSE // max(1, length)))
