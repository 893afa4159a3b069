"""Forward maximum matching, the segmenter of paper B: from each place the longest word of the dictionary is taken.

Words of letters or digits are taken whole. A character that begins no word of the dictionary stands alone.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from functools import cache

from newsportal.text.words import dictionary

PIECE = re.compile(r"[A-Za-z0-9]+|[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]+|\S")
"""A word of letters and digits, a run of Chinese characters, or any other character but white space."""


def forward_maximum(text: str, words: Collection[str] | None = None) -> list[str]:
    """``text`` cut by the longest match in ``words`` (by default jieba's dictionary), with punctuation, without white space."""
    lexicon, longest = _default() if words is None else (frozenset(words), _longest(frozenset(words)))
    cut: list[str] = []
    longest_of, add = longest.get, cut.append
    for piece in PIECE.findall(text):
        if len(piece) == 1 or piece.isascii():
            add(piece)
        else:
            place, end = 0, len(piece)
            while place < end:
                word = piece[place : place + 2]
                length = longest_of(word, 1)
                if length == 1:
                    word = word[0]
                elif length > 2:  # the two may be no word by themselves
                    word = piece[place : place + length]
                    while word not in lexicon and len(word) > 1:
                        word = word[:-1]
                add(word)
                place += len(word)
    return cut


def _longest(lexicon: frozenset[str]) -> dict[str, int]:
    """The length of the longest word that begins with two characters: most places need one or two looks."""
    longest: dict[str, int] = {}
    for word in lexicon:
        if len(word) > longest.get(word[:2], 1):
            longest[word[:2]] = len(word)
    return longest


@cache
def _default() -> tuple[frozenset[str], Mapping[str, int]]:
    return dictionary(), _longest(dictionary())
