"""What the default classifier sees of a text: its characters and their pairs; of alphabets its words and their pairs.

Each Chinese character and each digit is a piece, and so is each run of other letters, so that Chinese needs no cutting and English none
of its letters' noise. Single pieces and pairs of neighbours are features, known by a hash of 32 bits that is the same on every machine.
Full width, traditional and capital forms count as the plain ones; punctuation parts neighbours, white space parts Chinese ones alone.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from newsportal.text import INVISIBLE, fold_characters

Codes: TypeAlias = NDArray[np.uint32]
Places: TypeAlias = NDArray[np.intp]
Numbers: TypeAlias = NDArray[np.float32]

LONGEST: Final = 4_000
"""Characters of a text that are looked at: what an article is about is said by then (held-out macro-F1 is the same without a bound)."""

KINDS: Final = 0x30000
"""Characters up to here are known to the table of kinds; later ones part what they stand between."""

ALONE_FROM: Final = 0x2E80
"""From here on (radicals, kana, ideographs, Hangul) a letter is a piece by itself; so are digits and letters of scripts without spaces."""

UNSPACED: Final = ((0x0E00, 0x0EFF), (0x1000, 0x109F), (0x1780, 0x17FF))
"""Thai and Lao, Burmese, Khmer."""

PARTING, SPACE, SKIPPED, RUN, ALONE = range(5)
"""Kinds of characters."""

STEP: Final = np.uint64(0x9E3779B97F4A7C15)
MIX: Final = np.uint64(0xD6E8FEB86659FD93)
"""Odd multipliers of good mixers (Knuth's golden ratio; Degski's 64-bit mixer)."""


@dataclass(frozen=True, slots=True)
class Pieces:
    """The features of a text in order, single pieces first; ``codes[i]`` covers ``text[starts[i]:ends[i]]``."""

    codes: Codes
    starts: Places
    ends: Places


@dataclass(frozen=True, slots=True)
class Counts:
    """The features of a text, ascending, and how often each comes."""

    codes: Codes
    times: NDArray[np.intp]


def counts(text: str) -> Counts:
    """What the classifier knows of ``text``."""
    return Counts(*np.unique(pieces(text).codes, return_counts=True))


def pieces(text: str) -> Pieces:
    """The features of ``text`` with their places in it."""
    plain = fold_characters(text[:LONGEST])
    codes = np.frombuffer(plain.encode("utf-32-le", "surrogatepass"), dtype=np.uint32)
    kinds = _kinds()[np.minimum(codes, KINDS)]
    seen = np.flatnonzero(kinds != SKIPPED)
    codes, kinds = codes[seen], kinds[seen]
    follows = np.concatenate(([False], kinds[:-1] == RUN))
    first = np.flatnonzero((kinds == ALONE) | ((kinds == RUN) & ~follows))
    if not len(first):
        none = np.zeros(0, dtype=np.intp)
        return Pieces(np.zeros(0, dtype=np.uint32), none, none)
    lengths = _lengths(kinds, first)
    singles = _hashes(codes, kinds, first, lengths)
    neighbours = _neighbours(kinds, first, lengths)
    pairs = _mixed(singles[:-1][neighbours] * STEP + singles[1:][neighbours])
    starts, ends = seen[first], seen[first + lengths - 1] + 1
    return Pieces(
        (np.concatenate((singles, pairs)) >> np.uint64(32)).astype(np.uint32),
        np.concatenate((starts, starts[:-1][neighbours])),
        np.concatenate((ends, ends[1:][neighbours])),
    )


def _lengths(kinds: NDArray[np.uint8], first: Places) -> Places:
    """Characters of each piece: one, or the run's."""
    lengths = np.ones(len(first), dtype=np.intp)
    runs = kinds[first] == RUN
    if runs.any():
        ends = np.flatnonzero((kinds == RUN) & ~np.concatenate((kinds[1:] == RUN, [False])))
        lengths[runs] = ends - first[runs] + 1
    return lengths


def _hashes(codes: Codes, kinds: NDArray[np.uint8], first: Places, lengths: Places) -> NDArray[np.uint64]:
    """A hash of 64 bits for each piece: its characters as digits of a number, mixed."""
    inside = np.flatnonzero(kinds >= RUN)
    at = np.concatenate(([0], np.cumsum(lengths)[:-1]))
    place = np.arange(len(inside)) - np.repeat(at, lengths)
    return _mixed(np.add.reduceat(codes[inside].astype(np.uint64) * _powers()[place], at))


def _neighbours(kinds: NDArray[np.uint8], first: Places, lengths: Places) -> Places:
    """Pieces that have a neighbour behind them: nothing between them, or white space alone if one of them is a run."""
    parted = np.cumsum(kinds == PARTING)
    near = parted[first[1:]] == parted[first[:-1]]
    touching = first[1:] == first[:-1] + lengths[:-1]
    run = kinds[first] == RUN
    return np.flatnonzero(near & (touching | run[1:] | run[:-1]))


def _mixed(numbers: NDArray[np.uint64]) -> NDArray[np.uint64]:
    numbers = (numbers ^ (numbers >> np.uint64(32))) * MIX
    return numbers ^ (numbers >> np.uint64(29))


@cache
def _powers() -> NDArray[np.uint64]:
    return np.cumprod(np.full(LONGEST, STEP, dtype=np.uint64), dtype=np.uint64)


@cache
def _kinds() -> NDArray[np.uint8]:
    """Code point → what it is."""
    kinds = np.full(KINDS + 1, PARTING, dtype=np.uint8)
    for code in range(KINDS):
        character = chr(code)
        if character.isalnum():
            unspaced = code >= ALONE_FROM or any(low <= code <= high for low, high in UNSPACED)
            kinds[code] = ALONE if unspaced or character.isdecimal() else RUN
        elif character.isspace() and character not in "\r\n":
            kinds[code] = SPACE
        elif INVISIBLE.match(character):
            kinds[code] = SKIPPED
    return kinds
