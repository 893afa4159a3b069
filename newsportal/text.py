"""Words and characters: the only door to jieba and to the tables of traditional characters.

Everything here is pure and takes and returns ``str``; lengths are characters, Chinese first.
"""

from __future__ import annotations

import re
import unicodedata
import warnings
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

INVISIBLE = re.compile("[\u00ad\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]")
"""Soft hyphen, zero-width and direction marks: they carry no text, and titles are padded with them."""

CONTROL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")
"""What XML 1.0 and terminals cannot take: control characters but tab and line feed, lone surrogates, non-characters."""

SPACE = re.compile(r"\s+")
WORD = re.compile(r"\w", re.UNICODE)
CJK = re.compile("[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]")
"""Chinese characters (unified ideographs with extensions and compatibility forms)."""


def clean(text: str) -> str:
    """``text`` on one line: no invisible or control characters, every run of white space one space."""
    return SPACE.sub(" ", CONTROL.sub(" ", INVISIBLE.sub("", text))).strip()


def normalise(text: str) -> str:
    """The form in which texts are compared: NFKC (full width becomes half width), simplified characters, lower case, cleaned."""
    return clean(to_simplified(unicodedata.normalize("NFKC", text))).lower()


def letters(text: str) -> str:
    """The letters and digits of the normalised text alone: punctuation and white space differ between reposts."""
    return "".join(character for character in normalise(text) if character.isalnum())


def chinese_share(text: str) -> float:
    """The share (0 to 1) of Chinese characters among the letters of ``text``."""
    total = sum(1 for character in text if character.isalpha())
    return len(CJK.findall(text)) / total if total else 0.0


@cache
def _jieba() -> Any:
    with warnings.catch_warnings():  # jieba 0.42.1 has invalid escapes and imports pkg_resources
        warnings.simplefilter("ignore")
        import jieba

        jieba.setLogLevel("ERROR")
        jieba.initialize()
    return jieba


def segment(text: str) -> list[str]:
    """The words of ``text`` in order, with punctuation, without white space (jieba, exact mode)."""
    return [word for word in _jieba().cut(text) if not word.isspace()]


def search_words(text: str) -> Iterator[str]:
    """The words of ``text`` for an index: segmented, and every long word's shorter words too (jieba, search mode)."""
    for word in _jieba().cut_for_search(text):
        if WORD.search(word):
            yield word


@cache
def _traditional() -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from opencc import OpenCC
    return OpenCC("t2s")


def to_simplified(text: str) -> str:
    """Traditional Chinese as simplified; other text as it is (OpenCC's t2s tables)."""
    if not CJK.search(text):
        return text
    return str(_traditional().convert(text))


FOLDED_PLANES = 0x30000
"""Characters up to here are folded: the basic plane, the supplementary and the ideographic plane."""


@cache
def _folding() -> dict[int, str]:
    """One character for one: full width, compatibility form, traditional and capital become the plain one."""
    simple = _simple_characters()
    table: dict[int, str] = {}
    for code in range(0x41, FOLDED_PLANES):
        character = chr(code)
        plain = unicodedata.normalize("NFKC", character)
        plain = simple.get(plain, plain).lower()
        if len(plain) == 1 and plain != character:
            table[code] = plain
    return table


def _simple_characters() -> dict[str, str]:
    """OpenCC's table of single characters (the first choice where it gives several)."""
    lines = (files("opencc") / "dictionary" / "TSCharacters.txt").read_text(encoding="utf-8").splitlines()
    pairs = (line.split("\t") for line in lines if "\t" in line)
    return {traditional: choices.split(" ")[0] for traditional, choices in pairs}


def fold_characters(text: str) -> str:
    """``text`` with every character in its plain form, at the same place: ``fold_characters(text)[i]`` comes from ``text[i]``.

    What :func:`normalise` does as far as it goes character by character: fast enough for full texts (40 MB/s), and found places can
    be marked in the original. Characters whose plain form is longer (``㎏``) stay.
    """
    return text.translate(_folding())
