"""Scores of extraction against gold answers, as thesis E measures them (2.4.1).

    P = Σ LCS(e, g) / Σ |e|      R = Σ LCS(e, g) / Σ |g|      F1 = 2PR / (P + R)                              (2-13 to 2-16)

over all pages, where e is the extracted and g the gold text without white space and LCS the length of their longest common
subsequence of characters.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

MAX_CHARS: Final = 300_000
"""Longer texts are compared by their beginnings: the comparison is quadratic in principle."""

BLANK: Final = re.compile(r"[\s\u200b-\u200d\u2060\ufeff\u00ad]+")


@dataclass(slots=True)
class Tally:
    """Sums over pages: common, extracted and gold characters, each page's own F1, and the fields that were right and asked for."""

    pages: int = 0
    common: int = 0
    extracted: int = 0
    gold: int = 0
    page_f1: float = 0.0
    titles: tuple[int, int] = (0, 0)
    dates: tuple[int, int] = (0, 0)
    unanswered: int = 0

    def add(self, gold: Mapping[str, Any], found: Mapping[str, Any]) -> None:
        """Count one page; both are plain dicts with ``text``, ``title`` and ``published`` (gold: or ``date``)."""
        self.pages += 1
        self.unanswered += not found.get("text")
        if gold.get("text"):
            self._add_text(squash(gold["text"]), squash(found.get("text")))
        if gold.get("title"):
            self.titles = _count(self.titles, folded(gold["title"]) == folded(found.get("title")))
        day = str(gold.get("date") or gold.get("published") or "")[:10]
        if day:
            self.dates = _count(self.dates, str(found.get("published") or "")[:10] == day)

    def _add_text(self, gold: str, extracted: str) -> None:
        common = lcs_length(gold, extracted)
        self.common += common
        self.extracted += len(extracted)
        self.gold += len(gold)
        self.page_f1 += 2 * common / (len(gold) + len(extracted))

    def scores(self) -> dict[str, float | int | None]:
        """Precision, recall, F1 of all characters, mean F1 of the pages, shares of right titles and dates; ``None``: no gold."""
        precision, recall = _share(self.common, self.extracted), _share(self.common, self.gold)
        both = (precision or 0.0) + (recall or 0.0)
        return {
            "pages": self.pages,
            "precision": precision,
            "recall": recall,
            "f1": round(2 * (precision or 0.0) * (recall or 0.0) / both, 4) if both else None,
            "page_f1": _share(self.page_f1, self.pages),
            "title": _share(*self.titles),
            "date": _share(*self.dates),
            "unanswered": self.unanswered,
        }


def _count(so_far: tuple[int, int], right: bool) -> tuple[int, int]:
    return so_far[0] + right, so_far[1] + 1


def _share(part: float, whole: int) -> float | None:
    return round(part / whole, 4) if whole else None


def squash(text: object) -> str:
    """``text`` without white space, cut at ``MAX_CHARS``."""
    return BLANK.sub("", str(text or ""))[:MAX_CHARS]


def folded(text: object) -> str:
    """How titles are compared: NFKC, no white space, lower case."""
    return BLANK.sub("", unicodedata.normalize("NFKC", str(text or ""))).lower()


def lcs_length(first: str, second: str) -> int:
    """The length of the longest common subsequence (Hyyrö's bit-parallel rows: one addition of long integers a character)."""
    if not first or not second:
        return 0
    places: dict[str, int] = {}
    for place, character in enumerate(first):
        places[character] = places.get(character, 0) | 1 << place
    full = (1 << len(first)) - 1
    row = full
    for character in second:
        matched = row & places.get(character, 0)
        row = (row + matched | row - matched) & full
    return len(first) - row.bit_count()
