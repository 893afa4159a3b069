"""Rules for URLs: a text that must occur, or ``re:`` and a regular expression. No rule can stop the crawl by backtracking.

A regular expression is refused when its structure can take exponential time (a repeat within a repeat, or alternatives within a
repeat that can start alike), or when several open repeats could share the same text. ``extractors.hub`` applies the rules, and bounds
the time of each match besides.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable
from itertools import combinations
from re import _constants as sre  # type: ignore[attr-defined]
from re import _parser as sre_parse  # type: ignore[attr-defined]
from typing import Any

PREFIX = "re:"
MAX_PATTERN_CHARS = 500
OPEN = 32  # a repeat that may run this often or more counts as open: below, the work stays bounded by a small factor
MAX_DEGREE = 2
"""The work may grow with the square of a URL's length: 4 million steps (about 40 ms) on the longest, where the cube takes minutes.

A search that is not tied to the start with ``^`` tries every position, which is one degree by itself.
"""

REPEATS = (sre.MAX_REPEAT, sre.MIN_REPEAT)


def check_pattern(rule: str) -> str:
    """``rule`` as it is, if it may be used. Raises ``ValueError`` that says what is wrong."""
    if rule.startswith(PREFIX):
        check_expression(rule.removeprefix(PREFIX))
    elif not rule.strip():
        raise ValueError("an empty rule matches everything; allowed: a part of a URL, or re:EXPRESSION")
    return rule


def check_expression(expression: str) -> str:
    """``expression`` as it is, if it compiles and cannot backtrack without end. Raises ``ValueError``."""
    if len(expression) > MAX_PATTERN_CHARS:
        raise ValueError(f"{len(expression)} characters are too long for a regular expression; allowed: up to {MAX_PATTERN_CHARS}")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            re.compile(expression)
            tree = sre_parse.parse(expression)
    except (re.error, OverflowError, RecursionError, FutureWarning, DeprecationWarning) as error:
        raise ValueError(f"{expression!r} is no regular expression: {error}") from error
    tied = bool(tree) and tree[0] in ((sre.AT, sre.AT_BEGINNING), (sre.AT, sre.AT_BEGINNING_STRING))
    reason = _danger(tree, allowed=MAX_DEGREE if tied else MAX_DEGREE - 1, within=False)
    if reason:
        raise ValueError(f"{expression!r} is refused: {reason}, so that some URLs would keep it busy for hours; write it simpler")
    return expression


def _danger(tree: Any, allowed: int, within: bool) -> str | None:
    """Why a parsed expression may backtrack without end; ``within``: it stands inside an open repeat."""
    rivals: list[frozenset[str]] = []  # the open repeats so far that could also take what follows
    for kind, value in tree:
        reason = _danger_within(kind, value) if within else None
        if kind is not sre.AT:
            starts = _starts([(kind, value)])
            rivals = [rival for rival in rivals if rival & starts]
            if _is_open(kind, value):
                rivals.append(starts)
        if len(rivals) > allowed and reason is None:
            untied = "" if allowed == MAX_DEGREE else ", and it does not begin with ^"
            reason = f"{len(rivals)} open repeats can take the same text{untied}"
        inner = (_danger(part, allowed, within or _is_open(kind, value)) for part in _parts(kind, value))
        reason = reason or next(filter(None, inner), None)
        if reason:
            return reason
    return None


def _danger_within(kind: Any, value: Any) -> str | None:
    if _is_open(kind, value):
        return "a repeat stands within a repeat"
    if kind is sre.BRANCH and any(one & other for one, other in combinations(map(_starts, value[1]), 2)):
        return "alternatives that can start alike stand within a repeat"
    return "a reference to a group stands within a repeat" if kind is sre.GROUPREF else None


def _is_open(kind: Any, value: Any) -> bool:
    return kind in REPEATS and value[1] >= OPEN


def _parts(kind: Any, value: Any) -> list[Any]:
    if kind in (*REPEATS, sre.POSSESSIVE_REPEAT):
        return [value[2]]
    if kind is sre.BRANCH:
        return list(value[1])
    if kind is sre.SUBPATTERN:
        return [value[3]]
    if kind in (sre.ASSERT, sre.ASSERT_NOT):
        return [value[1]]
    if kind is sre.ATOMIC_GROUP:
        return [value]
    return [part for part in value[1:] if part is not None] if kind is sre.GROUPREF_EXISTS else []


SAMPLE = (*map(chr, range(0x21, 0x7F)), "é", "中", "\u3000")
"""The characters by which two parts are compared: those of URLs, and one for each further kind."""


def _starts(tree: Any) -> frozenset[str]:
    """The characters of the sample with which a match of ``tree`` can begin (all of them where that cannot be told)."""
    everything = frozenset(SAMPLE)
    for kind, value in tree:
        if kind is sre.AT:
            continue
        if kind is sre.LITERAL:
            return frozenset(chr(value))
        if kind is sre.NOT_LITERAL:
            return everything - {chr(value)}
        if kind is sre.IN:
            return frozenset(character for character in SAMPLE if _in(value, character))
        if kind is sre.SUBPATTERN:
            return _starts(value[3])
        if kind is sre.BRANCH:
            return frozenset().union(*map(_starts, value[1]))
        if kind in REPEATS and value[0] > 0:
            return _starts(value[2])
        if kind in REPEATS and len(tree) == 1:
            return _starts(value[2])  # may be empty, but what it takes is known
        return everything
    return everything


CATEGORIES: dict[Any, Callable[[str], bool]] = {
    sre.CATEGORY_DIGIT: lambda character: character.isdigit(),
    sre.CATEGORY_NOT_DIGIT: lambda character: not character.isdigit(),
    sre.CATEGORY_SPACE: lambda character: character.isspace(),
    sre.CATEGORY_NOT_SPACE: lambda character: not character.isspace(),
    sre.CATEGORY_WORD: lambda character: character.isalnum() or character == "_",
    sre.CATEGORY_NOT_WORD: lambda character: not (character.isalnum() or character == "_"),
}


def _in(items: Any, character: str) -> bool:
    """Whether a character class (``[a-z\\d]``, as parsed) holds ``character``."""
    negated = bool(items) and items[0][0] is sre.NEGATE
    held = any(_item(kind, value, character) for kind, value in items)
    return held != negated


def _item(kind: Any, value: Any, character: str) -> bool:
    if kind is sre.LITERAL:
        return chr(value) == character
    if kind is sre.RANGE:
        return bool(value[0] <= ord(character) <= value[1])
    return kind is sre.CATEGORY and CATEGORIES[value](character)
