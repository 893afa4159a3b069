"""Chinese in the script that a reader reads: simplified or traditional, by OpenCC's words and characters.

For showing only; texts are stored, searched and compared as :func:`newsportal.text.normalise` has them.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any, Literal

from newsportal.text.characters import CJK, made_once

Script = Literal["simplified", "traditional"]

CONVERSIONS: dict[Script, str] = {"simplified": "t2s", "traditional": "s2tw"}
"""OpenCC's: ``s2tw`` has the forms that readers in Taiwan and Hong Kong write (為, 吃), ``s2t`` those of its own standard (爲, 喫)."""

TAGS: dict[Script, str] = {"simplified": "zh-Hans", "traditional": "zh-Hant"}
"""What stands in ``lang`` then: the browser chooses letter forms by it."""

REMEMBERED_CHARS = 400  # titles and beginnings stand on many pages and are remembered; whole texts are not
REMEMBERED = 10_000  # of them, some 10 MB

MAX_CHARS = 100_000  # Characters of one text that are converted (0.2 s); what follows stays as it is. A long novel's chapter has 10,000.
KANA = re.compile("[\u3041-\u30ff]")  # Japanese: its characters are its own
TAG = re.compile(r'<(?:"[^"]*"|[^">])*>')


def convert(text: str, script: Script) -> str:
    """``text`` in ``script``. What is not Chinese stays; so does a text with Japanese letters."""
    if text.isascii() or not CJK.search(text) or KANA.search(text):
        return text
    if len(text) <= REMEMBERED_CHARS:
        return _remembered(text, script)
    return _converted(text[:MAX_CHARS], script) + text[MAX_CHARS:]


def convert_html(fragment: str, script: Script) -> str:
    """A clean fragment of HTML with its text in ``script``; tags stay letter by letter."""
    if KANA.search(fragment):
        return fragment
    pieces: list[str] = []
    last = 0
    for tag in TAG.finditer(fragment, 0, MAX_CHARS):
        pieces += [convert(fragment[last : tag.start()], script), tag[0]]
        last = tag.end()
    return "".join([*pieces, convert(fragment[last:], script)])


def _converted(text: str, script: Script) -> str:
    return str(_converter(script).convert(text))


_remembered = lru_cache(maxsize=REMEMBERED)(_converted)


@made_once
def _converter(script: Script) -> Any:
    """Loading its dictionaries takes 0.1 s, once."""
    from opencc import OpenCC

    return OpenCC(CONVERSIONS[script])
