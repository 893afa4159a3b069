"""jieba's dictionary with the kinds of its words, and how rare each is: read from jieba's files (MIT) without starting it."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from threading import Lock

_READING = Lock()
"""The dictionary is read once, although several threads ask for it at the same moment."""


def dictionary() -> frozenset[str]:
    """The 349,046 words of the dictionary (60 MB, read in 0.3 s when first asked for)."""
    with _READING:
        return _dictionary()


@cache
def _dictionary() -> frozenset[str]:
    return frozenset(word for word, _ in kinds())


def kinds() -> Iterator[tuple[str, str]]:
    """Each word of the dictionary with its kind, in the letters of ICTCLAS: ``n…`` nouns (``nr`` persons, ``ns`` places), ``v`` verbs …"""
    for line in _lines("dict.txt"):
        word, _, rest = line.partition(" ")
        yield word, rest.rpartition(" ")[2]


def rarity() -> dict[str, float]:
    """The inverse document frequency of 270,000 words, ln(documents / documents with the word), as jieba's author counted it.

    Read anew at every call (0.2 s): who needs it keeps what it needs.
    """
    pairs = (line.rpartition(" ") for line in _lines("analyse/idf.txt"))
    return {word: float(value) for word, _, value in pairs if word}


def _lines(name: str) -> Iterator[str]:
    spec = find_spec("jieba")
    if spec is None or not spec.submodule_search_locations:
        raise ImportError("jieba is not installed; its dictionary is needed: pip install jieba", name="jieba")
    with (Path(spec.submodule_search_locations[0]) / name).open(encoding="utf-8") as lines:
        yield from (line.rstrip("\n") for line in lines)
