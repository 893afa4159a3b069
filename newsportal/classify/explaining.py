"""Which words of a text decided: what its features added is laid on the characters they cover, and read off word by word."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Final

import numpy as np
from numpy.typing import NDArray

from newsportal.classify.base import Reason
from newsportal.classify.features import LONGEST, Codes, Numbers, pieces
from newsportal.text import WORD, segment

NOTHING: Final = 1e-9
"""What sums of shares are off by: a word that weighs less has no feature on it."""


@dataclass(frozen=True, slots=True)
class Part:
    """What each feature (ascending) added in the whole article."""

    codes: Codes
    added: Numbers


def words(part: Part, texts: Sequence[str], limit: int) -> tuple[Reason, ...]:
    """The words of an article's ``texts`` (title, body), each with all it added wherever it stands, the weightiest first."""
    found = [pieces(text) for text in texts]
    often = np.zeros(len(part.codes))
    places = [_known(part.codes, one.codes) for one in found]
    for at, known in places:
        often += np.bincount(at[known], minlength=len(part.codes))
    each = part.added / np.maximum(often, 1)
    totals: dict[str, float] = {}
    for text, one, (at, known) in zip(texts, found, places, strict=True):
        before = _before(each[at[known]], one.starts[known], one.ends[known], min(len(text), LONGEST))
        for word, start, end in _cut(text[:LONGEST]):
            totals[word] = totals.get(word, 0.0) + before[end] - before[start]
    ranked = sorted(totals.items(), key=lambda item: (-abs(item[1]), item[0]))
    reasons = (Reason(word, weight) for word, weight in ranked if abs(weight) > NOTHING and WORD.search(word))
    return tuple(islice(reasons, limit))


def _known(codes: Codes, wanted: Codes) -> tuple[NDArray[np.intp], NDArray[np.bool_]]:
    at = np.minimum(np.searchsorted(codes, wanted), len(codes) - 1)
    return at, codes[at] == wanted


def _before(added: NDArray[np.float64], starts: NDArray[np.intp], ends: NDArray[np.intp], length: int) -> list[float]:
    """What stands before every place: each feature lies evenly on the characters it covers."""
    share = added / np.maximum(ends - starts, 1)
    steps = np.bincount(starts, share, length + 1) - np.bincount(ends, share, length + 1)
    before: list[float] = np.concatenate(([0.0], np.cumsum(np.cumsum(steps)[:-1]))).tolist()
    return before


def _cut(text: str) -> Iterator[tuple[str, int, int]]:
    """What ``text`` is cut into, marks too, with its places."""
    end = 0
    for word in segment(text):
        start = text.find(word, end)
        if start >= 0:
            end = start + len(word)
            yield word, start, end
