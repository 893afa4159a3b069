"""How a board writes its times: the zone they are in, and whether the day or the month comes first.

A board says its zone in its foot (GMT+8, All times are UTC-05:00), else it is that of the script it is written in. 05/03/2024 is read as
the other times of the page decide (13/03 is no month), else as its language does.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone, tzinfo
from typing import Final

from newsportal.extractors.clock import CHINA
from newsportal.extractors.date import default_zone
from newsportal.extractors.forum.tree import Tree
from newsportal.text import CJK, chinese_share

ZONE: Final = re.compile(r"(?<![A-Za-z])(?:GMT|UTC|WEZ|MEZ)\s?(?P<sign>[+-])\s?(?P<hours>\d{1,2})(?:[:.]?(?P<minutes>[0-5]\d))?(?!\d)")
MAX_ZONE_CHARS: Final = 200
LAST_PIECES: Final = 600
"""The foot of a page is looked at, in texts no longer than a line."""

FAR: Final = 14
CHINESE: Final = 0.3
MAX_SAMPLE: Final = 20_000
"""A page whose letters are Chinese in such a share is; so many characters of it are counted."""

SLASHED: Final = re.compile(r"(?<![\d./-])(\d{1,2})[-/.](\d{1,2})[-/.](?:\d{4}|\d{2})(?!\d)")
MONTH_FIRST: Final = frozenset(("en", "zh", "ja", "ko"))
"""Languages in whose pages ``extractors/date`` puts the month first where slashes stand: of these America alone writes so."""


@dataclass(frozen=True, slots=True)
class Calendar:
    """``now``: when the page was read (aware); ``zone``: of times that name none; ``day_first``: 05/03/2024 is the fifth of March."""

    now: datetime
    zone: tzinfo
    day_first: bool = False


def calendar_of(tree: Tree, flags: Sequence[bool], now: datetime, language: str | None) -> Calendar:
    """``flags``: which nodes hold a time."""
    return Calendar(now, _said_zone(tree) or _script_zone(tree), _is_day_first(tree, flags, language))


def _said_zone(tree: Tree) -> tzinfo | None:
    for piece in reversed(tree.pieces[-LAST_PIECES:]):
        match = ZONE.search(piece) if len(piece) <= MAX_ZONE_CHARS else None
        if match and int(match["hours"]) <= FAR:
            offset = timedelta(hours=int(match["hours"]), minutes=int(match["minutes"] or 0))
            return timezone(-offset if match["sign"] == "-" else offset)
    return None


def _script_zone(tree: Tree) -> tzinfo:
    text = "".join(tree.pieces)[:MAX_SAMPLE]
    return CHINA if chinese_share(text) >= CHINESE else default_zone(CJK.sub("", text))  # a name in Chinese makes no Chinese board


def _is_day_first(tree: Tree, flags: Sequence[bool], language: str | None) -> bool:
    votes: Counter[bool] = Counter()
    for at, flag in enumerate(flags):
        match = SLASHED.search(tree.short(at, 12)) if flag else None
        if match and (int(match[1]) > 12) != (int(match[2]) > 12):
            votes[int(match[1]) > 12] += 1
    if votes:
        return votes[True] > votes[False]
    return language is not None and language.lower().replace("_", "-").split("-")[0] not in MONTH_FIRST
