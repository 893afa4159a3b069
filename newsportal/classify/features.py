"""Features of the default classifier: characters and character bigrams; for alphabetic scripts, words and word bigrams.

Each Chinese character and each digit is a token, and so is each run of other letters: Chinese needs no segmentation, and English gets no
noise from single letters. Punctuation marks are tokens too, and white space unless it only separates two words: the style of a text is a
hint to its subject. Features are single tokens and pairs of neighbours, identified by a 32-bit hash that is the same on every machine.
Full-width, traditional and capital letters are folded; punctuation and digits are kept as written.
"""

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

MAX_CHARS: Final = 4_000  # characters of a text that are read: its subject is clear by then
NOT_LETTERS: Final = re.compile(r"[\W\d_]+")
SPACES: Final = re.compile(r"\s+")

SINGLE_FROM: Final = 0x2E80
"""From this code point on (radicals, kana, ideographs, Hangul), each letter is a token; so are digits and letters of unspaced scripts."""

UNSPACED: Final = ((0x0E00, 0x0EFF), (0x1000, 0x109F), (0x1780, 0x17FF))  # Thai and Lao, Burmese, Khmer
TEXT_SEPARATOR: Final = "|"  # any punctuation mark
SKIPPED, SPACE, RUN, SINGLE, MARK = range(5)  # kinds of characters
STEP: Final = np.uint64(0x9E3779B97F4A7C15)
MIX: Final = np.uint64(0xD6E8FEB86659FD93)  # odd multipliers of good hash mixers (Knuth's golden ratio; Degski's 64-bit mixer)


@dataclass(frozen=True, slots=True)
class Pieces:
    """The features of a text in order, single tokens first; ``codes[i]`` covers ``text[starts[i]:ends[i]]``."""

    codes: Codes
    starts: Places
    ends: Places


@dataclass(frozen=True, slots=True)
class Counts:
    """The features of a text, in ascending order, and how often each occurs."""

    codes: Codes
    times: NDArray[np.intp]


def count_features(text: str) -> Counts:
    return Counts(*np.unique(pieces(text).codes, return_counts=True)) if text else NO_COUNTS


NO_COUNTS: Final = Counts(np.zeros(0, dtype=np.uint32), np.zeros(0, dtype=np.intp))


def count_batch(texts: Sequence[str]) -> list[Counts]:
    """Count the features of many texts at once: for short texts ten times as fast as :func:`count_features`, whose cost is NumPy calls."""
    texts = [text[:MAX_CHARS] for text in texts]
    offsets = np.cumsum([0, *(len(text) + 1 for text in texts)])
    features = _pieces(TEXT_SEPARATOR.join(texts))
    owner = np.searchsorted(offsets, features.starts, "right") - 1
    inside = features.ends < offsets[owner + 1]  # neither the separator between two texts nor a pair with it
    keys, times = np.unique(owner[inside].astype(np.uint64) << np.uint64(32) | features.codes[inside], return_counts=True)
    parts = np.searchsorted(keys, np.arange(1, len(texts)).astype(np.uint64) << np.uint64(32))
    return [Counts(*part) for part in zip(np.split(keys.astype(np.uint32), parts), np.split(times, parts), strict=True)]


def pieces(text: str) -> Pieces:
    """Return the features of ``text`` with their positions."""
    return _pieces(text[:MAX_CHARS])


def _pieces(text: str) -> Pieces:
    codes, kinds, positions = _characters(text)
    first = np.flatnonzero((kinds != RUN) | np.concatenate(([True], kinds[:-1] != RUN)))
    if not len(first):
        empty = np.zeros(0, dtype=np.intp)
        return Pieces(np.zeros(0, dtype=np.uint32), empty, empty)
    lengths = np.diff(np.concatenate((first, [len(codes)])))
    spaces, run = kinds[first] == SPACE, np.concatenate(([False], kinds[first] == RUN, [False]))
    keep = ~(spaces & run[:-2] & run[2:])  # without white space that only separates two words
    place = np.arange(len(codes)) - np.repeat(first, lengths)
    singles = _mixed(np.add.reduceat(codes.astype(np.uint64) * _powers()[place], first))[keep]  # polynomial hash, mixed
    starts, ends = positions[first][keep], positions[first + lengths - 1][keep] + 1
    pairs = _mixed(singles[:-1] * STEP + singles[1:])
    return Pieces(
        (np.concatenate((singles, pairs)) >> np.uint64(32)).astype(np.uint32),
        np.concatenate((starts, starts[:-1])),
        np.concatenate((ends, ends[1:])),
    )


def _characters(text: str) -> tuple[Codes, Kinds, Places]:
    """Return the folded characters, their kinds, and their positions in ``text``; white space is collapsed to its first character."""
    original, folded = _codes(text), _codes(fold_characters(text))
    kinds = _kinds()[np.minimum(folded, FOLDED_PLANES)]
    codes = np.where(kinds == MARK, original, folded)
    repeated = (kinds == SPACE) & np.concatenate(([False], kinds[:-1] == SPACE))[: len(kinds)]
    positions = np.flatnonzero((kinds != SKIPPED) & ~repeated)
    return codes[positions], kinds[positions], positions


def _codes(text: str) -> Codes:
    return np.frombuffer(text.encode("utf-32-le", "surrogatepass"), dtype=np.uint32)


def _mixed(numbers: NDArray[np.uint64]) -> NDArray[np.uint64]:
    numbers = (numbers ^ (numbers >> np.uint64(32))) * MIX
    return numbers ^ (numbers >> np.uint64(29))


@cache
def _powers() -> NDArray[np.uint64]:
    return np.cumprod(np.full(MAX_CHARS, STEP, dtype=np.uint64), dtype=np.uint64)


@cache
def _kinds() -> Kinds:
    """Return the kind of each code point; characters beyond the folded planes are marks."""
    kinds = np.full(FOLDED_PLANES + 1, MARK, dtype=np.uint8)
    written = _codes(NOT_LETTERS.sub("", all_characters()))
    kinds[written] = np.where(written < SINGLE_FROM, RUN, SINGLE)
    for low, high in UNSPACED:
        unspaced = kinds[low : high + 1]
        unspaced[unspaced == RUN] = SINGLE
    kinds[_codes("".join(SPACES.findall(all_characters())))] = SPACE
    kinds[_codes("".join(INVISIBLE.findall(all_characters())))] = SKIPPED
    return kinds


Sparse: TypeAlias = Any  # a ``scipy.sparse.csr_matrix``; scipy is imported only by training
TITLE_WEIGHT: Final = 0.5
"""Weight of the title relative to the body. On Sogou-10's first lines, held-out, 0.3 more gains 0.1 points, 0.7 more nothing."""

IDF_POWER: Final = 0.75
"""A compromise between 0.5, best for full articles, and 1, best for titles (0.3 points each way, held-out parts of the training data)."""

FEW_DOCUMENTS: Final = 100  # number of documents up to which features of a single document are kept


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """The known features, in ascending order, and their weights.

        value = (1 + ln n) · idf^¾          idf = 1 + ln((1 + N) / (1 + df))

    n: occurrences in the text; df: training texts with the feature; N: all training texts. The vector of an article with a title is body +
    ½ title, each normalised to length 1, and the sum too.
    """

    codes: Codes
    weights: Numbers

    def vector(self, title: Counts, body: Counts) -> tuple[Places, Numbers]:
        """Return the indexes of the known features of an article, without repeats, and their values."""
        body_at, body_values = self._part(body)
        title_at, title_values = self._part(title)
        if not len(title_at):
            return body_at, body_values
        if not len(body_at):
            return title_at, title_values
        at, inverse = np.unique(np.concatenate((body_at, title_at)), return_inverse=True)
        values = np.bincount(inverse, np.concatenate((body_values, np.float32(TITLE_WEIGHT) * title_values)))
        return at, (values / np.linalg.norm(values)).astype(np.float32)

    def _part(self, part: Counts) -> tuple[Places, Numbers]:
        if not len(self.codes) or not len(part.codes):
            return np.zeros(0, dtype=np.intp), np.zeros(0, dtype=np.float32)
        at = np.minimum(np.searchsorted(self.codes, part.codes), len(self.codes) - 1)
        is_known = self.codes[at] == part.codes
        at = at[is_known]
        values = (1 + np.log(part.times[is_known])).astype(np.float32) * self.weights[at]
        return at, values / np.float32(max(float(np.linalg.norm(values)), 1e-12))


def vocabulary(documents: Sequence[tuple[Counts, Counts]]) -> Vocabulary:
    """Build the vocabulary of ``documents`` (counts of title and body): features of at least two documents, or of one if there are few."""
    codes = [np.union1d(title.codes, body.codes) if len(title.codes) else body.codes for title, body in documents]
    unique, frequency = np.unique(np.concatenate(codes), return_counts=True)
    frequent = frequency >= (1 if len(documents) <= FEW_DOCUMENTS else 2)
    idf = 1 + np.log((1 + len(documents)) / (1 + frequency[frequent]))
    return Vocabulary(unique[frequent], (idf**IDF_POWER).astype(np.float32))


def matrix(vocab: Vocabulary, documents: Iterable[tuple[Counts, Counts]]) -> Sparse:
    from scipy.sparse import csr_matrix

    rows = [vocab.vector(title, body) for title, body in documents]
    ends = np.concatenate(([0], np.cumsum([len(at) for at, _ in rows])))
    at = np.concatenate([at for at, _ in rows]).astype(np.int32)
    return csr_matrix((np.concatenate([values for _, values in rows]), at, ends), shape=(len(rows), len(vocab.codes)))


def count_article(title: str, text: str) -> tuple[Counts, Counts]:
    return count_features(title), count_features(text)


def count_articles(articles: Sequence[tuple[str, str]]) -> list[tuple[Counts, Counts]]:
    """Return :func:`count_article` of many articles, each given as title and text."""
    return list(zip(count_batch([title for title, _ in articles]), count_batch([text for _, text in articles]), strict=True))
