"""Unintended inputs: good ones, mutated as by transmission errors, manual edits and attackers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from random import Random
from typing import Final

TOKENS: Final = tuple(
    token.encode()
    for token in (
        *("<", ">", "</", "<!--", "-->", "<![CDATA[", "]]>", "<?xml version='1.0' encoding='utf-16'?>", "<!DOCTYPE x [<!ENTITY a 'b'>]>"),
        *(
            "<script>alert(1)</script>",
            "<svg onload=alert(1)>",
            "<math><mtext><style><img src=x onerror=alert(1)>",
            "<base href=//e.example>",
        ),
        *(
            "<a href='java\tscript:alert(1)'>",
            "<img src='data:text/html,x'>",
            "<iframe srcdoc='<b>'>",
            "<table><tr><td>",
            "<template><p>",
            "<p>",
        ),
        *("&#0;", "&#xD800;", "&#x110000;", "&lt;script&gt;", "&a;", "\x00", "\x1b[31m", "\u202e", "\ufeff", "\u200b", "\u2028", "😀"),
        *(
            "http://[",
            "http://a:99999/",
            "//",
            "%00",
            "%zz",
            "http://127.0.0.1/",
            "file:///etc/passwd",
            "javascript:",
            "\\@",
            "?" * 50,
            "#",
        ),
        *("0", "-1", "1e309", "NaN", "99999999999999999999", "0001-01-01", "2099-13-45T25:61:00Z", "昨天 08:30", "3分钟前", "2月30日"),
        *(
            "{",
            "}",
            "[",
            "]",
            ":",
            ",",
            '"',
            "'",
            "null",
            "true",
            "!!python/object:os.system",
            "&x [*x]",
            "${HOME}",
            "|",
            "- ",
            "\n  ",
            "\t",
            "\r\n\r\n",
        ),
        *("=" * 40, "a" * 300, "的" * 300, "，。", " " * 200, "charset=utf-7", "charset=rot13", "charset=gb2312"),
    )
)

Change = Callable[[bytearray, bytes, Random], None]


def _place(data: bytearray, random: Random) -> int:
    return random.randrange(len(data) + 1)


def _part(data: bytes | bytearray, random: Random, most: int) -> slice:
    begin = random.randrange(len(data) + 1)
    return slice(begin, begin + random.randint(1, most))


def flip(data: bytearray, other: bytes, random: Random) -> None:
    """Flip one bit."""
    if data:
        data[random.randrange(len(data))] ^= 1 << random.randrange(8)


def insert_token(data: bytearray, other: bytes, random: Random) -> None:
    at = _place(data, random)
    data[at:at] = random.choice(TOKENS)


def overwrite(data: bytearray, other: bytes, random: Random) -> None:
    token = random.choice(TOKENS)
    at = _place(data, random)
    data[at : at + len(token)] = token


def drop(data: bytearray, other: bytes, random: Random) -> None:
    del data[_part(data, random, 400)]


def cut_end(data: bytearray, other: bytes, random: Random) -> None:
    """Truncate, as a broken connection does."""
    del data[_place(data, random) :]


def repeat(data: bytearray, other: bytes, random: Random) -> None:
    part = data[_part(data, random, 200)]
    at = _place(data, random)
    data[at:at] = part * random.choice((1, 2, 10, 100))


def splice(data: bytearray, other: bytes, random: Random) -> None:
    """Insert a piece of another input."""
    at = _place(data, random)
    data[at:at] = other[_part(other, random, 2000)]


def move(data: bytearray, other: bytes, random: Random) -> None:
    part = _part(data, random, 300)
    moved = data[part]
    del data[part]
    at = _place(data, random)
    data[at:at] = moved


CHANGES: Final[Sequence[Change]] = (flip, insert_token, overwrite, drop, cut_end, repeat, splice, move)
WEIGHTS: Final = (2, 6, 4, 4, 1, 3, 2, 3)


def mutate(data: bytes, other: bytes, random: Random) -> bytes:
    """Return ``data`` after one to eight changes; pieces may come from ``other``."""
    changed = bytearray(data)
    for change in random.choices(CHANGES, WEIGHTS, k=random.randint(1, 8)):
        change(changed, other, random)
    return bytes(changed)
