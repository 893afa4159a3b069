"""What the default classifier sees of a text: its characters and their pairs; of alphabets its words and their pairs.

Each Chinese character and each digit is a piece, and so is each run of other letters, so that Chinese needs no cutting and English none
of its letters' noise. Marks are pieces too, as is a run of white space unless it stands between two words: how a text is written says
what it is. Single pieces and pairs of neighbours are features, known by a hash of 32 bits that is the same on every machine. Letters of
full width, traditional and capital ones count as the plain ones; marks and digits count as they are written.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from newsportal.text import INVISIBLE, fold_characters
from newsportal.text.characters import FOLDED_PLANES, all_characters

Codes: TypeAlias = NDArray[np.uint32]
Places: TypeAlias = NDArray[np.intp]
Numbers: TypeAlias = NDArray[np.float32]
Kinds: TypeAlias = NDArray[np.uint8]

LONGEST: Final = 4_000  # characters of a text that are looked at: what an article is about is said by then
NOT_LETTERS: Final = re.compile(r"[\W\d_]+")
SPACES: Final = re.compile(r"\s+")

ALONE_FROM: Final = 0x2E80
"""From here on (radicals, kana, ideographs, Hangul) a letter is a piece by itself; so are digits and letters of scripts without spaces."""

UNSPACED: Final = ((0x0E00, 0x0EFF), (0x1000, 0x109F), (0x1780, 0x17FF))  # Thai and Lao, Burmese, Khmer
BETWEEN_TEXTS: Final = "|"  # any mark
SKIPPED, SPACE, RUN, ALONE, MARK = range(5)  # kinds of characters
STEP: Final = np.uint64(0x9E3779B97F4A7C15)
MIX: Final = np.uint64(0xD6E8FEB86659FD93)  # odd multipliers of good mixers (Knuth's golden ratio; Degski's 64-bit mixer)


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
    return Counts(*np.unique(pieces(text).codes, return_counts=True)) if text else NO_COUNTS


NO_COUNTS: Final = Counts(np.zeros(0, dtype=np.uint32), np.zeros(0, dtype=np.intp))


def counts_of(texts: Sequence[str]) -> list[Counts]:
    """:func:`counts` of many texts at once, which takes short ones a tenth of the time: calls of NumPy, not characters, cost there."""
    texts = [text[:LONGEST] for text in texts]
    begins = np.cumsum([0, *(len(text) + 1 for text in texts)])
    found = _pieces(BETWEEN_TEXTS.join(texts))
    owner = np.searchsorted(begins, found.starts, "right") - 1
    inside = found.ends < begins[owner + 1]  # neither the mark between two texts nor a pair with it
    keys, times = np.unique(owner[inside].astype(np.uint64) << np.uint64(32) | found.codes[inside], return_counts=True)
    parts = np.searchsorted(keys, np.arange(1, len(texts)).astype(np.uint64) << np.uint64(32))
    return [Counts(*part) for part in zip(np.split(keys.astype(np.uint32), parts), np.split(times, parts), strict=True)]


def pieces(text: str) -> Pieces:
    """The features of ``text`` with their places in it."""
    return _pieces(text[:LONGEST])


def _pieces(text: str) -> Pieces:
    codes, kinds, seen = _characters(text)
    first = np.flatnonzero((kinds != RUN) | np.concatenate(([True], kinds[:-1] != RUN)))
    if not len(first):
        none = np.zeros(0, dtype=np.intp)
        return Pieces(np.zeros(0, dtype=np.uint32), none, none)
    lengths = np.diff(np.concatenate((first, [len(codes)])))
    spaces, run = kinds[first] == SPACE, np.concatenate(([False], kinds[first] == RUN, [False]))
    kept = ~(spaces & run[:-2] & run[2:])  # without white space that only parts two words
    place = np.arange(len(codes)) - np.repeat(first, lengths)
    singles = _mixed(np.add.reduceat(codes.astype(np.uint64) * _powers()[place], first))[kept]  # characters as digits of a number, mixed
    starts, ends = seen[first][kept], seen[first + lengths - 1][kept] + 1
    pairs = _mixed(singles[:-1] * STEP + singles[1:])
    return Pieces(
        (np.concatenate((singles, pairs)) >> np.uint64(32)).astype(np.uint32),
        np.concatenate((starts, starts[:-1])),
        np.concatenate((ends, ends[1:])),
    )


def _characters(text: str) -> tuple[Codes, Kinds, Places]:
    """The plain characters, their kinds, and their places in ``text``; of a run of white space the first alone."""
    written, plain = _codes(text), _codes(fold_characters(text))
    kinds = _kinds()[np.minimum(plain, FOLDED_PLANES)]
    codes = np.where(kinds == MARK, written, plain)
    repeated = (kinds == SPACE) & np.concatenate(([False], kinds[:-1] == SPACE))[: len(kinds)]
    seen = np.flatnonzero((kinds != SKIPPED) & ~repeated)
    return codes[seen], kinds[seen], seen


def _codes(text: str) -> Codes:
    return np.frombuffer(text.encode("utf-32-le", "surrogatepass"), dtype=np.uint32)


def _mixed(numbers: NDArray[np.uint64]) -> NDArray[np.uint64]:
    numbers = (numbers ^ (numbers >> np.uint64(32))) * MIX
    return numbers ^ (numbers >> np.uint64(29))


@cache
def _powers() -> NDArray[np.uint64]:
    return np.cumprod(np.full(LONGEST, STEP, dtype=np.uint64), dtype=np.uint64)


@cache
def _kinds() -> Kinds:
    """Code point → what it is; the characters beyond the folded planes are marks."""
    kinds = np.full(FOLDED_PLANES + 1, MARK, dtype=np.uint8)
    written = _codes(NOT_LETTERS.sub("", all_characters()))
    kinds[written] = np.where(written < ALONE_FROM, RUN, ALONE)
    for low, high in UNSPACED:
        unspaced = kinds[low : high + 1]
        unspaced[unspaced == RUN] = ALONE
    kinds[_codes("".join(SPACES.findall(all_characters())))] = SPACE
    kinds[_codes("".join(INVISIBLE.findall(all_characters())))] = SKIPPED
    return kinds


Sparse: TypeAlias = Any  # a ``scipy.sparse.csr_matrix``; scipy is loaded by training alone
TITLE: Final = 0.5
"""What a title counts beside the body. First lines of Sogou-10's articles counted 0.3 more gain 0.1 points, held-out, 0.7 no more."""

IDF_POWER: Final = 0.75
"""Between 0.5, best for full articles, and 1, best for titles (0.3 points each way, held-out parts of the training data)."""

FEW: Final = 100  # documents up to which features of one document alone are kept


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """The known features, ascending, and the weight of each.

        value = (1 + ln n) · idf^¾          idf = 1 + ln((1 + N) / (1 + df))

    n: how often the text has the feature; df: training texts that have it; N: all of them. The vector of an article with a title is
    body + ½ title, each at length 1, the sum at length 1 again.
    """

    codes: Codes
    weights: Numbers

    def vector(self, title: Counts, body: Counts) -> tuple[Places, Numbers]:
        """The known features of an article, each once, and their values."""
        body_at, body_values = self._part(body)
        title_at, title_values = self._part(title)
        if not len(title_at):
            return body_at, body_values
        if not len(body_at):
            return title_at, title_values
        at, where = np.unique(np.concatenate((body_at, title_at)), return_inverse=True)
        values = np.bincount(where, np.concatenate((body_values, np.float32(TITLE) * title_values)))
        return at, (values / np.linalg.norm(values)).astype(np.float32)

    def _part(self, part: Counts) -> tuple[Places, Numbers]:
        if not len(self.codes) or not len(part.codes):
            return np.zeros(0, dtype=np.intp), np.zeros(0, dtype=np.float32)
        at = np.minimum(np.searchsorted(self.codes, part.codes), len(self.codes) - 1)
        known = self.codes[at] == part.codes
        at = at[known]
        values = (1 + np.log(part.times[known])).astype(np.float32) * self.weights[at]
        return at, values / np.float32(max(float(np.linalg.norm(values)), 1e-12))


def vocabulary(documents: Sequence[tuple[Counts, Counts]]) -> Vocabulary:
    """What is known after ``documents`` (counts of title and body): features of two of them at least, of one if they are few."""
    codes = [np.union1d(title.codes, body.codes) if len(title.codes) else body.codes for title, body in documents]
    known, frequency = np.unique(np.concatenate(codes), return_counts=True)
    kept = frequency >= (1 if len(documents) <= FEW else 2)
    idf = 1 + np.log((1 + len(documents)) / (1 + frequency[kept]))
    return Vocabulary(known[kept], (idf**IDF_POWER).astype(np.float32))


def matrix(known: Vocabulary, documents: Iterable[tuple[Counts, Counts]]) -> Sparse:
    from scipy.sparse import csr_matrix

    rows = [known.vector(title, body) for title, body in documents]
    ends = np.concatenate(([0], np.cumsum([len(at) for at, _ in rows])))
    at = np.concatenate([at for at, _ in rows]).astype(np.int32)
    return csr_matrix((np.concatenate([values for _, values in rows]), at, ends), shape=(len(rows), len(known.codes)))


def counted(title: str, text: str) -> tuple[Counts, Counts]:
    return counts(title), counts(text)


def counted_batch(articles: Sequence[tuple[str, str]]) -> list[tuple[Counts, Counts]]:
    """:func:`counted` of many articles, each a title and a text."""
    return list(zip(counts_of([title for title, _ in articles]), counts_of([text for _, text in articles]), strict=True))
