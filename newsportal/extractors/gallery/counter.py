"""「3/12」, 「共12页」, "Page 3 of 12": which page of how many a page says it is."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

MAX_TOTAL: Final = 500
MAX_CHARS: Final = 40  # Characters of a line that is looked at: a counter stands alone, or with the words of a pager
_OPEN, _CLOSE = r"[\[(（【<〈]?\s*", r"\s*[\])）】>〉]?"
OF: Final = re.compile(
    rf"(?:^|(?<=[^\d./:-])){_OPEN}(?:第|page|photo|image|slide|seite|图|圖)?\s*(?P<number>\d{{1,3}})\s*(?P<first>[页頁张張幅]?)\s*"
    rf"(?:[/／]|\bof\b|\bvon\b|[,，、]?\s*(?=共|of\b))\s*(?:共|total)?\s*(?P<total>\d{{1,3}})\s*(?P<unit>[页頁张張幅图圖]?){_CLOSE}(?=$|[^\d/.:-])",
    re.IGNORECASE,
)
ALONE: Final = re.compile(r"(?:^|[^\d])[共全]\s*(?P<total>\d{1,3})\s*(?P<unit>[页頁张張幅])")
WORD: Final = re.compile(r"[页頁张張幅共第图圖]|\b(?:page|photo|image|slide|of)\b", re.IGNORECASE)
BRACKETED: Final = re.compile(r"[\[(（【]\s*\d{1,3}\s*[/／]\s*\d{1,3}\s*[\])）】]")


@dataclass(frozen=True, slots=True)
class Count:
    """``pictures``: the counter says that it counts pictures (张, 幅), not pages. ``several``: it stands under each of many pictures."""

    number: int | None
    total: int
    pictures: bool = False
    several: bool = False


def counted(lines: Iterable[str], titles: Iterable[str] = ()) -> Count | None:
    """The counter that most of a page's lines and titles agree on; ``None`` where there is none, or they do not agree on the total."""
    found = [count for title in titles if (count := _read(title, strict=True)) is not None]
    found += [count for line in lines if len(line) <= MAX_CHARS and (count := _read(line.replace("\t", ""), strict=False)) is not None]
    found = [count for count in found if count.number is not None] or found  # 「共12张」 stands under other stories, too
    totals = {count.total for count in found}
    if len(totals) != 1:
        return None
    numbers = {count.number for count in found if count.number is not None}
    several = len(numbers) > 1
    return Count(None if several or not numbers else numbers.pop(), totals.pop(), any(count.pictures for count in found), several)


def _read(text: str, strict: bool) -> Count | None:
    """``strict``: only in brackets or with words; a line that is a counter and nothing else needs neither."""
    match = OF.search(text)
    if match is not None:
        number, total = int(match["number"]), int(match["total"])
        alone = match.group().strip() == text.strip()
        sure = BRACKETED.search(match.group()) or WORD.search(match.group())
        if 1 <= number <= total <= MAX_TOTAL and total > 1 and (sure or (alone and not strict)):
            return Count(number, total, pictures=(match["unit"] or match["first"] or "页") in "张張幅")
    match = ALONE.search(text)
    if match is not None and 1 < int(match["total"]) <= MAX_TOTAL:
        return Count(None, int(match["total"]), pictures=match["unit"] in "张張幅")
    return None
