"""Which words of a text decided: what its features added is laid on the characters they cover, and read off word by word."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from newsportal.classify.base import Reason
from newsportal.classify.features import LONGEST, Codes, Numbers, pieces
from newsportal.text import WORD, segment


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
        laid = _laid(each[at[known]], one.starts[known], one.ends[known], min(len(text), LONGEST))
        for word, start, end in _cut(text[:LONGEST]):
            totals[word] = totals.get(word, 0.0) + float(laid[start:end].sum())
    ranked = sorted(totals.items(), key=lambda item: (-abs(item[1]), item[0]))[:limit]
    return tuple(Reason(word, weight) for word, weight in ranked if weight)


def _known(codes: Codes, wanted: Codes) -> tuple[NDArray[np.intp], NDArray[np.bool_]]:
    at = np.minimum(np.searchsorted(codes, wanted), len(codes) - 1)
    return at, codes[at] == wanted


def _laid(added: NDArray[np.float64], starts: NDArray[np.intp], ends: NDArray[np.intp], length: int) -> NDArray[np.float64]:
    """What stands on every character: each feature evenly on those it covers."""
    steps = np.zeros(length + 1)
    share = added / np.maximum(ends - starts, 1)
    np.add.at(steps, starts, share)
    np.add.at(steps, ends, -share)
    laid: NDArray[np.float64] = np.cumsum(steps)[:-1]
    return laid


def _cut(text: str) -> Iterator[tuple[str, int, int]]:
    """The words of ``text`` with their places."""
    end = 0
    for word in segment(text):
        start = text.find(word, end)
        if start >= 0:
            end = start + len(word)
            if WORD.search(word):
                yield word, start, end
