"""What a reader typed, as terms. Any text is a query; what is no syntax is words."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from newsportal.search.base import FIELDS, MAX_QUERY_CHARS
from newsportal.search.words import query_grams, query_words

MAX_TERMS = 32
"""Further terms are left out: a pasted article is found by its first words."""

MAX_TERM_WORDS = 32
"""The same for the words of one term (a pasted text without spaces)."""

QUOTES = str.maketrans(dict.fromkeys("“”„‟＂「」『』«»", '"') | {"－": "-", "＋": "+", "：": ":", "\u3000": " "})
TERM = re.compile(r'(?P<sign>[+-]?)(?:(?P<field>[^\W\d_]{1,12}):)?(?:"(?P<phrase>[^"]*)"?|(?P<words>\S+))')


@dataclass(frozen=True, slots=True)
class Term:
    """One term of a query. ``words`` are its words, ``grams`` the pairs (or single characters) that any text with it must have."""

    text: str
    words: tuple[str, ...]
    grams: tuple[str, ...]
    field: str | None = None
    sign: Literal["", "+", "-"] = ""
    phrase: bool = False


def parse(query: str) -> tuple[Term, ...]:
    """The terms of ``query`` that hold a letter, a digit or a Chinese character."""
    found: dict[Term, None] = {}
    for match in TERM.finditer(query[:MAX_QUERY_CHARS].translate(QUOTES)):
        if len(found) >= MAX_TERMS:
            break
        term = _term(match)
        if term.grams:
            found.setdefault(term)
    return tuple(found)


def _term(match: re.Match[str]) -> Term:
    named, phrase = match["field"], match["phrase"] is not None
    text = match["phrase"] if phrase else match["words"]
    field = FIELDS.get(named.lower()) if named else None
    if named and field is None:  # "Trump:" is no field
        text = f"{named} {text}"
    sign: Literal["", "+", "-"] = "+" if match["sign"] == "+" else "-" if match["sign"] == "-" else ""
    words, grams = query_words(text)[:MAX_TERM_WORDS], query_grams(text)[: 2 * MAX_TERM_WORDS]
    return Term(text, tuple(words), tuple(grams), field, sign, phrase)
