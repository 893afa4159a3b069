"""The time of each post: the place where most posts have one that is theirs, then for each post what stands there or is called like it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import datetime
from itertools import pairwise
from typing import Final

from newsportal.extractors.date import parse_date
from newsportal.extractors.forum.ages import moment
from newsportal.extractors.forum.anchors import ABSOLUTE, NOT_POSTED, STAMP, TIMED_NAME, attribute_time
from newsportal.extractors.forum.calendar import Calendar
from newsportal.extractors.forum.paths import Overlay, Path, ranked, same_leaf, signature
from newsportal.extractors.forum.tree import BREAK, Tree
from newsportal.text import clean

BEFORE_CHARS: Final = 24
BEFORE_PIECES: Final = 12
"""What stands so near before a date says what date it is: 注册时间, Join Date."""

POSTED: Final = re.compile(
    r"post[ée]|publi|geschrieben|verfasst|written|wrote|发表|發表|发布|回复于|написа|добавлено|geplaatst|inviato|enviado|escrito|»",
    re.IGNORECASE,
)
"""What stands beside the time of a post."""

HALF: Final = 0.5
COVER, MARKED, CALLED, CLOCK, SAYS, RISING, SAME = 2.0, 0.6, 0.4, 0.4, 0.6, 2.0, 0.5
"""Points of a place: for the share of posts that have a time there, ``time`` or ``datetime``, its name, a time of day, a word, times that
grow from post to post (down to minus that), and off for the same time in all."""

MAX_COMPARED: Final = 8
MAX_CHARS: Final = 200


def find_times(tree: Tree, over: Overlay, flags: Sequence[bool], body: int, calendar: Calendar) -> None:
    """Set each record's ``time`` where a hint has not; a hint that tells no time is dropped."""
    inside = over.inside(body, over.paths[body].times)
    covers = _covers(over, flags)
    scores = ((_score(tree, over, path, flags, covers, calendar), number) for number, path in enumerate(over.paths) if number not in inside)
    order = ranked(scores)
    for place, record in enumerate(over.records):
        if record.time is not None and time_of(tree, record.time, calendar)[0] is not None:
            continue
        there = (over.paths[number].at.get(place) for number in order)
        record.time = next((at for at in there if at is not None and flags[at] and not _is_anothers(tree, at)), None)
        if record.time is None and order:
            record.time = same_leaf(tree, record, tree.nodes[over.paths[order[0]].first], flags)


def _covers(over: Overlay, flags: Sequence[bool]) -> dict[str, int]:
    """In how many posts a time stands in a node of these names, wherever: ``span`` in one and ``abbr`` in another."""
    posts: dict[str, set[int]] = {}
    for path in over.paths:
        if path.names:
            posts.setdefault(signature(path.names), set()).update(place for place, at in path.at.items() if flags[at])
    return {name: len(places) for name, places in posts.items()}


def _score(tree: Tree, over: Overlay, path: Path, flags: Sequence[bool], covers: dict[str, int], calendar: Calendar) -> float:
    places = [at for at in path.at.values() if flags[at]]
    posted = [at for at in places if not _is_anothers(tree, at)]
    if not posted or len(posted) < HALF * len(places):
        return 0.0
    node = tree.nodes[posted[0]]
    machine = node.tag in ("time", "abbr") or node.element.get("datetime") or node.element.get("itemprop")
    texts = [_shown(tree, at) or node.element.get("title") or "" for at in posted]
    score = COVER * max(len(posted), covers.get(signature(path.names), 0)) / len(over.records)
    score += MARKED if machine else 0.0
    score += CALLED if TIMED_NAME.search(node.names) else 0.0
    score += CLOCK if sum(":" in text for text in texts) >= HALF * len(texts) else 0.0
    score += SAYS if sum(POSTED.search(text) is not None for text in texts) >= HALF * len(texts) else 0.0
    score += RISING * _rising(texts, calendar)
    return score - (SAME if len(over.records) > 3 and len({*texts}) == 1 and not node.element.get("datetime") else 0.0)


def _rising(texts: Sequence[str], calendar: Calendar) -> float:
    """How far the times grow from post to post, from -0.5 to 0.5; nothing is said of fewer than three."""
    dates = [when for text in texts[:MAX_COMPARED] if (when := _moment(text, calendar)) is not None]
    if len(dates) < 3 or len(dates) < HALF * min(len(texts), MAX_COMPARED):
        return 0.0
    return sum(after >= before for before, after in pairwise(dates)) / (len(dates) - 1) - HALF


def _is_anothers(tree: Tree, at: int) -> bool:
    """Whether the date is that of a member, a change, an attachment: by its names, what stands in it and right before it."""
    node = tree.nodes[at]
    if node.names and NOT_POSTED.search(node.names):
        return True
    text = _shown(tree, at)
    match = ABSOLUTE.search(text)
    before = text[max(0, match.start() - BEFORE_CHARS) : match.start()] if match else text[:BEFORE_CHARS]
    if NOT_POSTED.search(before):
        return True
    found, place = "", node.first - 1
    while place >= 0 and len(found) < BEFORE_CHARS and node.first - place < BEFORE_PIECES:
        piece = tree.pieces[place][-BEFORE_CHARS:]
        if piece == BREAK and found.strip():
            break
        found = (" " if piece == BREAK else piece) + found
        place -= 1
    return NOT_POSTED.search(clean(found)[-BEFORE_CHARS:]) is not None


def _shown(tree: Tree, at: int) -> str:
    return tree.short(at)[:MAX_CHARS]


def time_of(tree: Tree, at: int, calendar: Calendar) -> tuple[datetime | None, str | None]:
    """The moment that a node tells, and how it is written: as readers see it, unless that is relative and an attribute says more."""
    node = tree.nodes[at]
    told, shown = attribute_time(node.element, node.tag), _shown(tree, at)
    # seconds or milliseconds since 1970
    when = parse_date(told, calendar.now) if told and STAMP.match(told) else _moment(told, calendar) if told else None
    if when is None and shown:
        when = _moment(shown, calendar)
    written = shown if shown and (told is None or ABSOLUTE.search(shown)) else told or shown
    return when, written or None


def _moment(text: str, calendar: Calendar) -> datetime | None:
    return moment(text, calendar.now, calendar.zone, calendar.day_first)
