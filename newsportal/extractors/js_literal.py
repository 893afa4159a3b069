"""Object literals of JavaScript that are no JSON: quotes of any kind, names without quotes, commas before a bracket, comments.

    {img: '/1.jpg', note: "…", /* old */ big: "/1b.jpg",}

Nothing is run: a call, a sum or a function is no literal. The time is linear in the text.
"""

from __future__ import annotations

import re
from typing import Any, Final

from newsportal.extractors.state import unescaped

MAX_DEPTH: Final = 60
TOKEN: Final = re.compile(
    r"(?:\s++|/\*.{0,2000}?\*/|//[^\n]*+\n)*+"
    r"(?:(?P<mark>[{}\[\]:,()])|\"(?P<double>[^\"\\]*+(?:\\.[^\"\\]*+)*+)\"|'(?P<single>[^'\\]*+(?:\\.[^'\\]*+)*+)'"
    r"|`(?P<back>[^`\\$]*+(?:\\.[^`\\$]*+)*+)`|(?P<word>[\w$.+-]++))",
    re.DOTALL,
)
CONSTANTS: Final[dict[str, Any]] = {"true": True, "false": False, "null": None, "undefined": None, "NaN": None}
OPEN: Final = {"{": "}", "[": "]", "(": ")"}


class NoLiteral(ValueError):
    """Raised for text that is no literal; ``at`` is how far it was read. The caller goes on behind it."""

    def __init__(self, at: int) -> None:
        super().__init__(f"no literal at {at}")
        self.at = at


def literal(text: str, start: int, end: int) -> tuple[Any, int]:
    """The literal that begins at ``start`` and ends before ``end``, and where it ends. Raises :class:`NoLiteral`."""
    return _value(text, start, end, 0)


def _token(text: str, at: int, end: int) -> re.Match[str]:
    match = TOKEN.match(text, at, end)
    if match is None:
        raise NoLiteral(at)
    return match


def _value(text: str, at: int, end: int, depth: int) -> tuple[Any, int]:
    match = _token(text, at, end)
    mark = match["mark"]
    if mark in OPEN and depth < MAX_DEPTH:
        return (_object if mark == "{" else _list)(text, match.end(), end, depth + 1)
    if mark is not None:
        raise NoLiteral(at)
    return _plain(match), match.end()


def _object(text: str, at: int, end: int, depth: int) -> tuple[Any, int]:
    found: dict[str, Any] = {}
    while True:
        match = _token(text, at, end)
        if match["mark"] == "}":
            return found, match.end()
        key = next((match[name] for name in ("double", "single", "word") if match[name] is not None), None)
        colon = _token(text, match.end(), end)
        if key is None or colon["mark"] != ":":
            raise NoLiteral(at)
        found[unescaped(key)], at = _value(text, colon.end(), end, depth)
        at = _behind_comma(text, at, end, "}")


def _list(text: str, at: int, end: int, depth: int) -> tuple[Any, int]:
    found: list[Any] = []
    while True:
        match = _token(text, at, end)
        if match["mark"] in ("]", ")"):
            return found, match.end()
        value, at = _value(text, at, end, depth)
        found.append(value)
        at = _behind_comma(text, at, end, "])")


def _behind_comma(text: str, at: int, end: int, closing: str) -> int:
    """Where the next value begins; at the bracket where there is none."""
    match = _token(text, at, end)
    mark = match["mark"]
    if mark is None or (mark != "," and mark not in closing):
        raise NoLiteral(at)
    return match.end() if mark == "," else match.start("mark")


def _plain(match: re.Match[str]) -> Any:
    for name in ("double", "single", "back"):
        if match[name] is not None:
            return unescaped(match[name])
    word = match["word"]
    if word in CONSTANTS:
        return CONSTANTS[word]
    try:
        return float(word) if "." in word else int(word[:20])
    except ValueError:
        raise NoLiteral(match.start()) from None
