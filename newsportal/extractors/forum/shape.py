"""Boards and threads by their shape alone, where the addresses say nothing: what stands in the rows of links of one form."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from newsportal import dom
from newsportal.extractors.date import DATE_LIKE
from newsportal.extractors.forum.addresses import form_of
from newsportal.extractors.forum.rows import rows_of
from newsportal.text import CJK

OF_BOARDS: Final = re.compile(
    r"主题|主題|帖子数|帖数|版主|今日|最后发表|最后发言|\btopics?\b|\bthreads?\b|\bposts\b|\bdiscussions?\b|moderator|thèmes|themen",
    re.IGNORECASE,
)
OF_THREADS: Final = re.compile(
    r"回复|回復|回帖|回應|回应|查看|浏览|瀏覽|阅读|点击|\brepl(?:y|ies)\b|\bviews?\b|\banswers?\b", re.IGNORECASE
)
"""What stands in the rows of a list of boards, and of threads. A row of boards counts threads, a row of threads counts replies."""

MIN_THREADS: Final = 2
SHARE: Final = 0.5
MIN_TITLE: Final = 5.0
"""Characters (a Latin letter counts half): names of members and boards are shorter than titles on the average."""

HEADINGS: Final = frozenset({"h1", "h2", "h3", "h4", "dt", "strong"})
COUNTED: Final = re.compile(r"(?<![\d:/-])\d{1,6}(?![\d:]|[-/.年月]\d)")
"""A number that is no part of a date or time."""

MAX_ROW: Final = 400  # characters; what is longer is no row but a part of the page
TIMED: Final = re.compile(r"\d{1,2}:\d{2}|\d{4}[-/.年]\d|前\b|前$|\bago\b|昨天|今天")

Sorted = Mapping[str, Literal["board", "thread"]]


def by_shape(links: Sequence[tuple[dom.Element, str, str]]) -> Sorted:
    """URL → what it leads to, of the links (element, URL, text) that lead to either."""
    groups: dict[str, list[tuple[dom.Element, str, str]]] = defaultdict(list)
    for node, url, text in links:
        if text and not text.isdecimal():
            groups[form_of(url)].append((node, url, text))
    found: dict[str, Literal["board", "thread"]] = {}
    best: tuple[float, list[str]] = (0.0, [])
    for members in groups.values():
        group = _group(members)
        if group.looks_like_threads:
            best = max(best, (group.length * len(group.urls), group.urls))
        elif group.looks_like_boards:
            found |= dict.fromkeys(group.urls, "board")
    return found | dict.fromkeys(best[1], "thread")


@dataclass(frozen=True, slots=True)
class Group:
    """Links of one form. Shares are of their rows: with words of lists of threads, of boards, with a time, with numbers, as headings.
    ``length``: the mean length of their texts."""

    urls: list[str]
    threads: float
    boards: float
    timed: float
    counted: float
    headed: float
    length: float

    @property
    def looks_like_threads(self) -> bool:
        said = self.threads > self.boards and self.threads >= SHARE
        dated = self.timed > SHARE and self.boards < SHARE
        return (said or dated) and len(self.urls) >= MIN_THREADS and self.length >= MIN_TITLE

    @property
    def looks_like_boards(self) -> bool:
        if self.boards >= SHARE and self.boards > self.threads:
            return True
        return len(self.urls) >= MIN_THREADS and self.headed >= SHARE and self.counted >= SHARE and self.timed >= SHARE


def _group(members: Sequence[tuple[dom.Element, str, str]]) -> Group:
    titles = {url: text for _, url, text in reversed(members)}
    rows = [dom.text_of(row)[:MAX_ROW] for row in _rows(members)]
    return Group(
        urls=list(titles),
        threads=_share(rows, OF_THREADS),
        boards=_share(rows, OF_BOARDS),
        timed=sum(bool(TIMED.search(row) and DATE_LIKE.search(row)) for row in rows) / len(rows),
        counted=_share(rows, COUNTED),
        headed=len({url for node, url, _ in members if (above := node.getparent()) is not None and above.tag in HEADINGS}) / len(titles),
        length=sum(map(_weight, titles.values())) / len(titles),
    )


def _rows(members: Sequence[tuple[dom.Element, str, str]]) -> list[dom.Element]:
    """The rows of a group; of a group of one the smallest box that says more than its link."""
    if len({url for _, url, _ in members}) > 1:
        return list(rows_of((node, url) for node, url, _ in members).values())
    row, text = members[0][0], members[0][2]
    while (above := row.getparent()) is not None and above.tag not in ("body", "html") and dom.text_of(row) == text:
        row = above
    return [row]


def _share(rows: Sequence[str], words: re.Pattern[str]) -> float:
    return sum(bool(words.search(row)) for row in rows) / len(rows)


def _weight(title: str) -> float:
    return sum(1.0 if CJK.search(character) else 0.5 for character in title)
