"""Rows of a list of threads: for each thread link the largest box without another thread, and the facts in it."""

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timedelta, tzinfo
from typing import Final, Literal

from newsportal.extractors.article.hints import ancestors
from newsportal.extractors.fields.date import DATE_LIKE, find_dates
from newsportal.extractors.forum.addresses import form_of
from newsportal.text import CJK, dom

SEVERAL_KEYS: Final = ""  # owner of a box with links of several keys
MAX_LABEL_CHARS: Final = 64  # the longest date written in a list, with its 「发表于」
TIME_ATTRIBUTES: Final = ("datetime", "title", "data-time", "data-timestamp", "data-date-string")
CLOCK: Final = re.compile(r"\d{1,2}\s*[:：]\s*\d{2}")
NUMBER: Final = re.compile(r"(\d{1,3}(?:,\d{3})+|\d{1,7})")
# One number, or two: 「12 / 345」 are replies and views.
LONE_NUMBER: Final = re.compile(r"[(（\[]?\s*(\d{1,3}(?:,\d{3})+|\d{1,7})\s*(?:/\s*(\d[\d,]*))?\s*[)）\]]?")
REPLIES: Final = re.compile(
    r"回复|回復|回帖|回應|回应|评论|跟帖|repl(?:y|ies)|answers?|comments?|antworten|réponses|respuestas|\bposts?\b|\bnum\b", re.IGNORECASE
)
VIEWS: Final = re.compile(r"查看|浏览|瀏覽|点击|阅读|人气|views?|hits|lectures|aufrufe|likes?|votes?", re.IGNORECASE)
STICKY: Final = re.compile(
    r"stick|pinned|pin[-_]?\d|(?<![a-z])pin(?![a-z])|置顶|置頂|announce|公告|headtopic|(?<![a-z-])top(?![a-z-])|featured-topic",
    re.IGNORECASE,
)
LEVELS: Final = 2  # boxes above the row whose names may mark sticky threads
MINUTE, DAY = 60.0, 86_400.0
RowFacts = tuple[int | None, datetime | None, float, bool]
UNITS: Final = ((re.compile(r"秒|second|刚刚|just now|分|min", re.IGNORECASE), 120.0), (re.compile(r"时|時|hour", re.IGNORECASE), 7_200.0))


def rows_of(anchors: Iterable[tuple[dom.Element, str]]) -> dict[str, dom.Element]:
    """Return key → the largest box around its first link without a link of another key. Linear in links times depth."""
    owner: dict[dom.Element, str] = {}
    first: dict[str, dom.Element] = {}
    for node, key in anchors:
        first.setdefault(key, node)
        above: dom.Element | None = node
        while above is not None:
            previous = owner.setdefault(above, key)
            if previous != key:
                if previous == SEVERAL_KEYS:
                    break
                owner[above] = SEVERAL_KEYS
            above = above.getparent()
    found = {}
    for key, node in first.items():
        row = node
        while (above := row.getparent()) is not None and owner[above] == key and above.tag not in ("body", "html"):
            row = above
        found[key] = row
    return found


def read_row(row: dom.Element, title: dom.Element, pager: Sequence[dom.Element], now: datetime, zone: tzinfo) -> RowFacts:
    """Return replies as listed, the latest time, its precision in seconds, and whether the row is sticky.

    ``pager``: links to a thread's further pages, whose numbers are ignored.
    """
    skipped = {title, *pager}
    times: list[tuple[datetime, float]] = []
    declared: list[int] = []
    possible: list[int] = []
    for node in row.iter():
        if not isinstance(node.tag, str):
            continue
        texts = [text for text in (None if node in skipped else node.text, None if node is row else node.tail) if text]
        attributes = [value for name in TIME_ATTRIBUTES if (value := node.get(name)) and DATE_LIKE.search(value[:MAX_LABEL_CHARS])]
        for value in attributes or [text for text in texts if DATE_LIKE.search(text[:MAX_LABEL_CHARS])]:
            dates = [date for date in find_dates(value[:MAX_LABEL_CHARS], now, zone) if date.when <= now + timedelta(hours=1)]
            times += [(written.when, _precision(value, written.relative)) for written in dates]
        for text in texts:
            _count(text, node, declared, possible)
    last, precision = max(times, default=(None, DAY), key=lambda pair: pair[0])
    replies = declared[0] if declared else min(possible[:2], default=None)
    names = [
        f"{node.get('class') or ''} {node.get('id') or ''} {node.get('alt') or ''} {node.get('title') or ''}" for node in row.iter("*")
    ]
    names += [f"{above.get('class') or ''} {above.get('id') or ''}" for above in ancestors(row, LEVELS)]
    return replies, last, precision, any(STICKY.search(name) for name in names if name.strip())


def _precision(text: str, relative: bool) -> float:
    """Return how imprecise a time is, in seconds: written to the minute, counted in hours, or only a day."""
    if relative and not CLOCK.search(text):
        return next((seconds for unit, seconds in UNITS if unit.search(text)), DAY)
    return MINUTE if CLOCK.search(text) else DAY


def _count(text: str, node: dom.Element, declared: list[int], possible: list[int]) -> None:
    """Add a number to the declared reply counts (``declared``) or to the possible ones (``possible``); views are skipped."""
    label = text.strip()
    if not label or len(label) > 40 or not NUMBER.search(label):
        return
    around = f"{node.get('class') or ''} {node.get('title') or ''} {label} {node.tail or '' if node.tag == 'dfn' else ''}"
    below = " ".join((child.text or "") for child in node)[:40]
    if match := LONE_NUMBER.fullmatch(label):
        number = int(match[1].replace(",", ""))
        if VIEWS.search(around + below) and not REPLIES.search(around + below):
            return
        (declared if REPLIES.search(around + below) else possible).append(number)
    elif REPLIES.search(label) and len(NUMBER.findall(label)) == 1 and not CLOCK.search(label):
        declared.append(int(NUMBER.findall(label)[0].replace(",", "")))


# Classify boards and threads by the rows of links with one URL form, if their URLs are unknown.

BOARD_ROW: Final = re.compile(
    r"主题|主題|帖子数|帖数|版主|今日|最后发表|最后发言|\btopics?\b|\bthreads?\b|\bposts\b|\bdiscussions?\b|moderator|thèmes|themen",
    re.IGNORECASE,
)
THREAD_ROW: Final = re.compile(
    r"回复|回復|回帖|回應|回应|查看|浏览|瀏覽|阅读|点击|\brepl(?:y|ies)\b|\bviews?\b|\banswers?\b", re.IGNORECASE
)  # what stands in the rows of a list of boards, and of threads. A row of boards counts threads, a row of threads counts replies.
MIN_THREADS: Final = 2
SHARE: Final = 0.5
MIN_TITLE: Final = 5.0  # Characters (a Latin letter counts half): names of members and boards are shorter than titles on the average
HEADINGS: Final = frozenset({"h1", "h2", "h3", "h4", "dt", "strong"})
COUNT: Final = re.compile(r"(?<![\d:/-])\d{1,6}(?![\d:]|[-/.年月]\d)")  # A number that is no part of a date or time
MAX_ROW: Final = 400  # characters; what is longer is no row but a part of the page
TIME_WORDS: Final = re.compile(r"\d{1,2}:\d{2}|\d{4}[-/.年]\d|前\b|前$|\bago\b|昨天|今天")
KindByUrl = Mapping[str, Literal["board", "thread"]]


def sort_by_shape(links: Sequence[tuple[dom.Element, str, str]]) -> KindByUrl:
    """Return URL → kind, for the links (element, URL, text) to boards and threads."""
    groups: dict[str, list[tuple[dom.Element, str, str]]] = defaultdict(list)
    for node, url, text in links:
        if text and not text.isdecimal():
            groups[form_of(url)].append((node, url, text))
    found: dict[str, Literal["board", "thread"]] = {}
    best: tuple[float, list[str]] = (0.0, [])
    for members in groups.values():
        titles = {url: text for _, url, text in reversed(members)}
        if len(titles) > 1:
            boxes = list(rows_of((node, url) for node, url, _ in members).values())
        else:  # the smallest box that says more than its link
            box, text = members[0][0], members[0][2]
            while (above := box.getparent()) is not None and above.tag not in ("body", "html") and dom.text_of(box) == text:
                box = above
            boxes = [box]
        rows = [dom.text_of(box)[:MAX_ROW] for box in boxes]
        # shares of the rows: with words of lists of threads, of boards, with numbers, with a time
        threads, boards, numbered = (sum(bool(words.search(row)) for row in rows) / len(rows) for words in (THREAD_ROW, BOARD_ROW, COUNT))
        timed = sum(bool(TIME_WORDS.search(row) and DATE_LIKE.search(row)) for row in rows) / len(rows)
        headed = {url for node, url, _ in members if (above := node.getparent()) is not None and above.tag in HEADINGS}
        length = sum(1.0 if CJK.search(character) else 0.5 for title in titles.values() for character in title) / len(titles)
        several = len(titles) >= MIN_THREADS
        is_list = (threads > boards and threads >= SHARE) or (timed > SHARE and boards < SHARE)
        if is_list and several and length >= MIN_TITLE:
            best = max(best, (length * len(titles), list(titles)))
        elif (boards >= SHARE and boards > threads) or (several and min(len(headed) / len(titles), numbered, timed) >= SHARE):
            found |= dict.fromkeys(titles, "board")
    return found | dict.fromkeys(best[1], "thread")
