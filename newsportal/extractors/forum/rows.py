"""The rows of a list of threads: for each thread link the largest box that holds no other thread, and what stands in it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta, tzinfo
from typing import Final

from newsportal import dom
from newsportal.extractors.date import DATE_LIKE, find_dates

SEVERAL: Final = ""  # owns a box that holds links of several keys

MAX_SAID: Final = 64  # the longest date written in a list, with its 「发表于」
TIMED: Final = ("datetime", "title", "data-time", "data-timestamp", "data-date-string")
CLOCK: Final = re.compile(r"\d{1,2}\s*[:：]\s*\d{2}")

NUMBER: Final = re.compile(r"(\d{1,3}(?:,\d{3})+|\d{1,7})")
ALONE: Final = re.compile(r"[(（\[]?\s*(\d{1,3}(?:,\d{3})+|\d{1,7})\s*(?:/\s*(\d[\d,]*))?\s*[)）\]]?")
"""A number by itself, or two: 「12 / 345」 are replies and views."""

REPLIES: Final = re.compile(
    r"回复|回復|回帖|回應|回应|评论|跟帖|repl(?:y|ies)|answers?|comments?|antworten|réponses|respuestas|\bposts?\b|\bnum\b", re.IGNORECASE
)
VIEWS: Final = re.compile(r"查看|浏览|瀏覽|点击|阅读|人气|views?|hits|lectures|aufrufe|likes?|votes?", re.IGNORECASE)
STUCK: Final = re.compile(
    r"stick|pinned|pin[-_]?\d|(?<![a-z])pin(?![a-z])|置顶|置頂|announce|公告|headtopic|(?<![a-z-])top(?![a-z-])|featured-topic",
    re.IGNORECASE,
)
LEVELS: Final = 2  # boxes above the row that may say that its threads are stuck

MINUTE, DAY = 60.0, 86_400.0
UNITS: Final = ((re.compile(r"秒|second|刚刚|just now|分|min", re.IGNORECASE), 120.0), (re.compile(r"时|時|hour", re.IGNORECASE), 7_200.0))


@dataclass(frozen=True, slots=True)
class Facts:
    """``last``: the latest time in the row, good to ``precision`` seconds; ``replies`` as it is listed."""

    replies: int | None
    last: datetime | None
    precision: float
    stuck: bool


def rows_of(anchors: Iterable[tuple[dom.Element, str]]) -> dict[str, dom.Element]:
    """Key → the largest box around its first link that holds no link of another key. Linear in links times depth."""
    owner: dict[dom.Element, str] = {}
    first: dict[str, dom.Element] = {}
    for node, key in anchors:
        first.setdefault(key, node)
        above: dom.Element | None = node
        while above is not None:
            had = owner.setdefault(above, key)
            if had != key:
                if had == SEVERAL:
                    break
                owner[above] = SEVERAL
            above = above.getparent()
    found = {}
    for key, node in first.items():
        row = node
        while (above := row.getparent()) is not None and owner[above] == key and above.tag not in ("body", "html"):
            row = above
        found[key] = row
    return found


def facts(row: dom.Element, title: dom.Element, pager: Sequence[dom.Element], now: datetime, zone: tzinfo) -> Facts:
    """What a row says besides the title. ``pager``: links to a thread's further pages, whose numbers count nothing."""
    skipped = {title, *pager}
    times: list[tuple[datetime, float]] = []
    named: list[int] = []
    plain: list[int] = []
    for node in row.iter():
        if not isinstance(node.tag, str):
            continue
        own = () if node in skipped else (node.text,)
        after = (node.tail,) if node is not row else ()
        times += _times(node, (*own, *after), now, zone)
        for text in (*own, *after):
            _count(text, node, named, plain)
    last, precision = max(times, default=(None, DAY), key=lambda one: one[0])
    replies = named[0] if named else min(plain[:2], default=None)
    return Facts(replies, last, precision, _stuck(row))


def _times(node: dom.Element, texts: Iterable[str | None], now: datetime, zone: tzinfo) -> list[tuple[datetime, float]]:
    told = [said for name in TIMED if (said := node.get(name)) and DATE_LIKE.search(said[:MAX_SAID])]
    found = []
    for said in told or [text for text in texts if text and DATE_LIKE.search(text[:MAX_SAID])]:
        dates = find_dates(said[:MAX_SAID], now, zone)
        found += [(written.when, _precision(said, written.relative)) for written in dates if written.when <= now + timedelta(hours=1)]
    return found


def _precision(said: str, relative: bool) -> float:
    """How far a time may be off, in seconds: what is written to the minute, or counted in hours, or a day alone."""
    if relative and not CLOCK.search(said):
        return next((seconds for unit, seconds in UNITS if unit.search(said)), DAY)
    return MINUTE if CLOCK.search(said) else DAY


def _count(text: str | None, node: dom.Element, named: list[int], plain: list[int]) -> None:
    """Sort a number into those that are said to count replies, and those that may; views are left out."""
    said = (text or "").strip()
    if not said or len(said) > 40 or not NUMBER.search(said):
        return
    around = f"{node.get('class') or ''} {node.get('title') or ''} {said} {node.tail or '' if node.tag == 'dfn' else ''}"
    below = " ".join((child.text or "") for child in node)[:40]
    match = ALONE.fullmatch(said)
    if match:
        number = int(match[1].replace(",", ""))
        if VIEWS.search(around + below) and not REPLIES.search(around + below):
            return
        (named if REPLIES.search(around + below) else plain).append(number)
    elif REPLIES.search(said) and len(NUMBER.findall(said)) == 1 and not CLOCK.search(said):
        named.append(int(NUMBER.findall(said)[0].replace(",", "")))


def _stuck(row: dom.Element) -> bool:
    said = [f"{node.get('class') or ''} {node.get('id') or ''} {node.get('alt') or ''} {node.get('title') or ''}" for node in row.iter("*")]
    above = row.getparent()
    for _ in range(LEVELS):
        if above is None or above.tag in ("body", "html"):
            break
        said.append(f"{above.get('class') or ''} {above.get('id') or ''}")
        above = above.getparent()
    return any(STUCK.search(one) for one in said if one.strip())
