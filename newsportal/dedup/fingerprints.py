"""Fingerprints of texts: a sample of hashed runs of letters, independent of position.

Manber's sampling of k-grams (Finding Similar Files in a Large File System, 1994): runs of ``RUN`` letters with small hashes are kept, so
that two texts keep the same runs independently. Short texts keep all runs. The lowest bit of a hash marks runs with a digit, so that
changed numbers are distinguished from changed words.
"""

from dataclasses import dataclass
from typing import Any, Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from newsportal.text import NON_LETTERS
from newsportal.text.characters import FOLDED_PLANES, all_characters, cache_once, changed_characters

Codes: TypeAlias = NDArray[np.uint32]
Places: TypeAlias = NDArray[np.intp]

RUN: Final = 6
"""Letters of a run: long enough that different texts share few (four Chinese words), short enough to survive a changed word nearby."""

KEPT: Final = 256  # maximum number of runs kept of a text, 1 kB: a share of 0.7 is measured within ± 0.03
LONGEST: Final = 200_000  # characters examined; the beginning of a book is enough to recognize it
ALL: Final = 1 << 32  # hashes are smaller than this
HALF: Final = np.uint64(32)
STEP: Final = np.uint64(0x9E3779B97F4A7C15)
CUBE: Final = np.uint64(0x9E3779B97F4A7C15**3 % 2**64)
MIX: Final = np.uint64(0xD6E8FEB86659FD93)  # odd multipliers of good mixers (Knuth's golden ratio; Degski's 64-bit mixer)


@dataclass(frozen=True, slots=True)
class Fingerprint:
    """``runs``: kept hashes, ascending, distinct; ``places``: their first positions; ``length``: number of all runs; ``limit``: upper bound
    of kept hashes; ``letters``: of the text."""

    runs: Codes
    places: Places
    length: int
    limit: int
    letters: str

    def in_order(self) -> Codes:
        runs: Codes = self.runs[self.places.argsort()]
        return runs

    def covered(self, shared: Codes) -> str:
        """Return the letters of the ``runs`` that are in ``shared``, joined where no other run lies between."""
        places = np.sort(self.places)
        mask = np.isin(self.in_order(), shared)
        starts = np.flatnonzero(mask & ~np.concatenate(([False], mask[:-1])))
        ends = np.flatnonzero(mask & ~np.concatenate((mask[1:], [False])))
        return " ".join(self.letters[places[start] : places[end] + RUN] for start, end in zip(starts, ends, strict=True))


def fingerprint(text: str) -> Fingerprint:
    """Return the fingerprint of ``text``; empty if it has fewer than ``RUN`` letters."""
    codes = plain_letters(text)
    hashes = _hashes(codes)
    limit = limit_for(len(hashes), KEPT)
    sampled = np.flatnonzero(hashes < limit) if limit < ALL else np.arange(len(hashes))
    places = sampled[hashes[sampled].argsort(kind="stable")]
    ascending = hashes[places]
    first = changes(ascending)
    return Fingerprint(ascending[first], places[first], len(hashes), limit, codes.tobytes().decode("utf-32-le"))


def changes(ascending: NDArray[Any]) -> NDArray[np.bool_]:
    """Return a mask of the numbers that differ from the previous one."""
    found = np.ones(len(ascending), dtype=np.bool_)
    np.not_equal(ascending[1:], ascending[:-1], out=found[1:])
    return found


def limit_for(length: int, maximum: int) -> int:
    """Return the hash limit that keeps between ``maximum`` / 2 and ``maximum`` of ``length`` runs: halved repeatedly, so limits nest."""
    limit = ALL
    while length > maximum:
        length, limit = length // 2, limit // 2
    return limit


def plain_letters(text: str) -> Codes:
    """Return the letters and digits of ``text`` as :func:`newsportal.text.letters` does, as code points, by a table (40 times as fast)."""
    plain: Codes = _table().take(_codes(text[:LONGEST]), mode="clip")
    letters: Codes = plain[plain != 0]
    return letters


@cache_once
def _table() -> Codes:
    """Return the table of code point → plain letter, or 0. Forms of several letters (㎏) become the first."""
    table = np.zeros(FOLDED_PLANES + 1, dtype=np.uint32)
    unchanged = _codes(NON_LETTERS.sub("", all_characters()))
    table[unchanged] = unchanged
    for character, plain in changed_characters().items():
        table[ord(character)] = ord(plain[0]) if plain else 0
    return table


def _codes(text: str) -> Codes:
    return np.frombuffer(text.encode("utf-32-le", "surrogatepass"), dtype=np.uint32)


def _hashes(codes: Codes) -> Codes:
    """Return a 32-bit hash of each run of ``RUN`` letters, whose lowest bit marks runs with a digit."""
    number = len(codes) - RUN + 1
    if number <= 0:
        return np.zeros(0, dtype=np.uint32)
    wide = codes.astype(np.uint64)
    threes = (wide[:-2] * STEP + wide[1:-1]) * STEP + wide[2:]
    mixed = threes[:-3] * CUBE + threes[3:]
    mixed ^= mixed >> HALF
    mixed *= MIX
    hashes: Codes = (mixed >> HALF).astype(np.uint32) & np.uint32(ALL - 2)
    digits = codes - np.uint32(ord("0")) < 10
    near = digits[:-2] | digits[1:-1] | digits[2:]
    return hashes | (near[:-3] | near[3:])
