"""A random text generator with plain-text grammars: ``symbol: one | another``; ``{symbol}`` is replaced, ``{12-99}`` is a number.

Lines of the same symbol are combined. A slot with a question mark in front (``{?symbol}``) is omitted half the time.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from random import Random

SLOT = re.compile(r"\{([^{}]+)\}")
USUAL = "后後里裡面面群群众眾为為钟鐘签簽台台启啟“「”」"
"""Simplified characters whose usual traditional form is not the first in the table, and quotation marks."""
NUMBER = re.compile(r"(\d+)-(\d+)")

Part = str | tuple[str, int, int]
Grammar = Mapping[str, tuple[tuple[Part, ...], ...]]


def grammar(*texts: str) -> Grammar:
    """Return the alternatives of every symbol, split into literal parts (even positions) and slots (odd positions)."""
    rules: dict[str, list[tuple[Part, ...]]] = {}
    for line in "\n".join(texts).splitlines():
        symbol, colon, alternatives = line.partition(":")
        if colon and symbol.strip():
            rules.setdefault(symbol.strip(), []).extend(_parts(part.strip()) for part in alternatives.split("|"))
    missing = {slot for all_ in rules.values() for parts in all_ for slot in _symbols(parts)} - set(rules)
    if missing:
        raise ValueError(f"the grammar does not say what these are: {sorted(missing)}")
    return {symbol: tuple(alternatives) for symbol, alternatives in rules.items()}


def _parts(alternative: str) -> tuple[Part, ...]:
    parts: list[Part] = list(SLOT.split(alternative))
    for place in range(1, len(parts), 2):
        if number := NUMBER.fullmatch(str(parts[place])):
            parts[place] = ("", int(number[1]), int(number[2]))
    return tuple(parts)


def _symbols(parts: tuple[Part, ...]) -> list[str]:
    return [part.lstrip("?") for part in parts[1::2] if isinstance(part, str)]


def speak(rules: Grammar, symbol: str, rng: Random) -> str:
    """Return a random text for ``symbol``."""
    alternatives = rules[symbol]
    parts = alternatives[int(rng.random() * len(alternatives))]
    if len(parts) == 1:
        return str(parts[0])
    words: list[str] = []
    for place, part in enumerate(parts):
        if not place % 2:
            words.append(str(part))
        elif not isinstance(part, str):
            words.append(str(part[1] + int(rng.random() * (part[2] - part[1] + 1))))
        elif part[0] != "?":
            words.append(speak(rules, part, rng))
        elif rng.random() < 0.5:
            words.append(speak(rules, part[1:], rng))
    return "".join(words)


@cache
def _traditional() -> dict[int, str]:
    """Return OpenCC's table of single characters, the usual form first."""
    lines = (files("opencc") / "dictionary" / "STCharacters.txt").read_text(encoding="utf-8").splitlines()
    pairs = (line.split("\t") for line in lines if "\t" in line)
    table = {ord(simple): forms.split(" ")[0] for simple, forms in pairs if len(simple) == 1}
    return table | {ord(simple): form for simple, form in zip(USUAL[::2], USUAL[1::2], strict=True)}


def traditional(text: str) -> str:
    """Convert simplified text to traditional characters one by one, with the quotation marks used there."""
    return text.translate(_traditional())
