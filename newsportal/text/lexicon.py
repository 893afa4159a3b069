"""jieba's dictionary as a set of words, and how rare each is: both files come with jieba (MIT) and are read without starting it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from statistics import median
from threading import Lock

_READING = Lock()
"""Each file is read once, although several threads ask for it at the same moment."""


def dictionary() -> frozenset[str]:
    """The 349,046 words of the dictionary (60 MB, read in 0.3 s when first asked for)."""
    with _READING:
        return _dictionary()


def rarity() -> Mapping[str, float]:
    """The inverse document frequency of 270,000 words, ln(documents / documents with the word), as jieba's author counted it."""
    with _READING:
        return _rarity()


def usual_rarity() -> float:
    """What a word counts that :func:`rarity` does not have: the median of all, as in jieba's ``extract_tags``."""
    with _READING:
        return _median()


@cache
def _dictionary() -> frozenset[str]:
    return frozenset(line.split(" ", 1)[0] for line in _lines("dict.txt"))


@cache
def _rarity() -> Mapping[str, float]:
    pairs = (line.rpartition(" ") for line in _lines("analyse/idf.txt"))
    return {word: float(value) for word, _, value in pairs if word}


@cache
def _median() -> float:
    return median(_rarity().values())


def _lines(name: str) -> Iterator[str]:
    spec = find_spec("jieba")
    if spec is None or not spec.submodule_search_locations:
        raise ImportError("jieba is not installed; its dictionary is needed: pip install jieba", name="jieba")
    with (Path(spec.submodule_search_locations[0]) / name).open(encoding="utf-8") as lines:
        yield from (line.rstrip("\n") for line in lines)
