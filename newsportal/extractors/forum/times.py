"""Find each post's time: at the path where most posts have a time of their own, else in a node with the same names."""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone, tzinfo
from functools import lru_cache
from itertools import pairwise
from typing import Final

from newsportal.extractors.fields.date import default_zone, find_dates, is_plausible, parse_date
from newsportal.extractors.fields.date_forms import CHINA, parse_number
from newsportal.extractors.forum.anchors import ABSOLUTE, TIMED_NAME, UNIX_TIMESTAMP, attribute_time, is_other_time
from newsportal.extractors.forum.paths import Overlay, Path, best_paths, same_leaf, signature
from newsportal.extractors.forum.tree import LINE_BREAK, Tree
from newsportal.text import CJK, chinese_share, clean

# How a board writes its times: the zone they are in, and whether the day or the month comes first.
# A board says its zone in its foot (GMT+8, All times are UTC-05:00), else it is that of the script it is written in. 05/03/2024 is read as
# the other times of the page decide (13/03 is no month), else as its language does.

ZONE: Final = re.compile(r"(?<![A-Za-z])(?:GMT|UTC|WEZ|MEZ)\s?(?P<sign>[+-])\s?(?P<hours>\d{1,2})(?:[:.]?(?P<minutes>[0-5]\d))?(?!\d)")
ZONE_NAMES: Final = ("GMT", "UTC", "WEZ", "MEZ")
MAX_ZONE_CHARS: Final = 200
LAST_PIECES: Final = 600  # Pieces at the end of a page that are searched, if no longer than a line
MAX_OFFSET_HOURS: Final = 14
MIN_CHINESE_SHARE: Final = 0.3
MAX_SAMPLE: Final = 20_000  # A page whose letters are Chinese in such a share is; so many characters of it are counted
NUMERIC_DATE: Final = re.compile(r"(?<![\d./-])(\d{1,2})[-/.](\d{1,2})[-/.](?:\d{4}|\d{2})(?!\d)")
MONTH_FIRST: Final = frozenset(("en", "zh", "ja", "ko"))  # languages that ``extractors/date`` reads month first; only America does


@dataclass(frozen=True, slots=True)
class Calendar:
    """``now``: when the page was read (aware); ``zone``: of times that name none; ``day_first``: 05/03/2024 is the fifth of March."""

    now: datetime
    zone: tzinfo
    day_first: bool = False


def calendar_of(tree: Tree, flags: Sequence[bool], now: datetime, language: str | None) -> Calendar:
    """Return the calendar. ``flags``: which nodes contain a time."""
    zone: tzinfo | None = None
    last = tree.pieces[-LAST_PIECES:]
    foot = "\n".join(last)
    for piece in reversed(last) if any(name in foot for name in ZONE_NAMES) else ():
        match = ZONE.search(piece) if len(piece) <= MAX_ZONE_CHARS else None
        if match and int(match["hours"]) <= MAX_OFFSET_HOURS:
            offset = timedelta(hours=int(match["hours"]), minutes=int(match["minutes"] or 0))
            zone = timezone(-offset if match["sign"] == "-" else offset)
            break
    if zone is None:
        text = "".join(tree.pieces)[:MAX_SAMPLE]
        zone = CHINA if chinese_share(text) >= MIN_CHINESE_SHARE else default_zone(CJK.sub("", text))  # one Chinese name is not enough
    votes: Counter[bool] = Counter()  # whether the day comes first, from unambiguous dates
    for at, flag in enumerate(flags):
        match = NUMERIC_DATE.search(tree.short(at, 12)) if flag else None
        if match and (int(match[1]) > 12) != (int(match[2]) > 12):
            votes[int(match[1]) > 12] += 1
    by_language = language is not None and language.lower().replace("_", "-").split("-")[0] not in MONTH_FIRST
    return Calendar(now, zone, votes[True] > votes[False] if votes else by_language)


# Times of posts as boards write them: what ``extractors/date`` reads, and ages and named days in more languages.
# 「3分钟前」 2 hours ago · vor 3 Stunden · il y a 2 jours · hace 3 horas · 3 часа назад · 1 Jahr 2 Tage her · gestern um 12:30 · 3h

_SECOND, _MINUTE, _HOUR, _DAY, _WEEK, _MONTH, _YEAR = 1, 60, 3600, 86400, 604800, 2592000, 31536000
_STEMS: Final = (
    ("秒 sec segund secon sekund секунд сек", _SECOND),
    ("分钟 分鐘 分 min минут мин", _MINUTE),
    ("小时 小時 时 hour hr stunde std heure hora or[ae]$ uur godzin час timm time", _HOUR),
    ("天 日 day tag jour d[ií]a giorn dag dni dzie дн день дня", _DAY),
    ("周 週 星期 week woche semain seman settiman tydzie tygod недел veck uge", _WEEK),
    ("个月 個月 月 month monat mois mes maand miesi месяц månad måned", _MONTH),
    ("年 year jahr an$ ans$ año ano ann jaar rok lat год лет år", _YEAR),
)  # first characters of the units; ``$``: the complete word
_LETTERS: Final = {"s": _SECOND, "m": _MINUTE, "h": _HOUR, "d": _DAY, "w": _WEEK, "mo": _MONTH, "y": _YEAR}
_UNITS: Final = tuple((re.compile("|".join(stems.split()), re.IGNORECASE), size) for stems, size in _STEMS)
_PART: Final = re.compile(
    r"(?P<n>\d{1,3}|[一二两兩三四五六七八九十半几]{1,3}|(?<!\w)(?:an?|one|eine[mr]?|une?|uma?|un[ao]?|één))\s?(?P<unit>[^\W\d_]{1,12})",
    re.IGNORECASE,
)
_NAMED: Final = (
    (re.compile(r"(?<!\w)(?:heute|aujourd'hui|hoy|hoje|oggi|сегодня|dzisiaj|dziś|vandaag|idag|i dag)(?!\w)", re.IGNORECASE), 0),
    (re.compile(r"(?<!\w)(?:gestern|hier|ayer|ontem|ieri|вчера|wczoraj|gisteren|igår|i går)(?!\w)", re.IGNORECASE), 1),
    (re.compile(r"(?<!\w)(?:vorgestern|avant-hier|anteayer|anteontem|позавчера|przedwczoraj|eergisteren)(?!\w)", re.IGNORECASE), 2),
)
_VAGUE: Final = {"半": 0.5, "几": 3.0}
_FIGURES: Final = re.compile("[一二两兩三四五六七八九十]+")
_CLOCK: Final = re.compile(r"(?<!\d)(\d{1,2})[:.h](\d{2})(?!\d)")
MAX_AGE_CHARS: Final = 60  # A relative time is short


def parse_time(text: str, now: datetime, zone: tzinfo | None = None, day_first: bool = False) -> datetime | None:
    """Return the time in a short text, aware, or ``None``. Extends :func:`newsportal.extractors.fields.date.find_dates`."""
    first = next(find_dates(text, now, zone, day_first), None)
    if first is not None:
        return first.when
    if len(text) > MAX_AGE_CHARS:
        return None
    local = now.astimezone(zone) if zone else now
    when = _named_day(text, local) or _age(text, local)
    return when if when is not None and is_plausible(when, now) else None


def _named_day(text: str, now: datetime) -> datetime | None:
    back = next((days for pattern, days in reversed(_NAMED) if pattern.search(text)), None)
    clock = _CLOCK.search(text)
    if back is None or (clock and (int(clock[1]) > 23 or int(clock[2]) > 59)):
        return None
    hour, minute = (int(clock[1]), int(clock[2])) if clock else (0, 0)
    return (now - timedelta(days=back)).replace(hour=hour, minute=minute, second=0, microsecond=0)


def _age(text: str, now: datetime) -> datetime | None:
    """Subtract the sum of the counted units from ``now``."""
    total = 0.0
    for part in _PART.finditer(text):
        unit, amount = part["unit"], part["n"]
        size = _LETTERS.get(unit.lower()) or next((size for pattern, size in _UNITS if pattern.match(unit)), None)
        if size is not None:
            exact = amount.isdecimal() or _FIGURES.fullmatch(amount)
            total += size * (float(parse_number(amount)) if exact else _VAGUE.get(amount, 1.0))
        elif amount.isdecimal():
            return None
    return now - timedelta(seconds=total) if total else None


BEFORE_CHARS: Final = 24
BEFORE_PIECES: Final = 12  # Text so close before a date describes it: 注册时间, Join Date
POSTED_WORD: Final = re.compile(
    r"post[ée]|publi|geschrieben|verfasst|written|wrote|发表|發表|发布|回复于|написа|добавлено|geplaatst|inviato|enviado|escrito|»",
    re.IGNORECASE,
)  # words next to the time of a post
# Points of a place: for the share of posts that have a time there, ``time`` or ``datetime``, its name, a time of day, a word, times that
# grow from post to post (down to minus that), and off for the same time in all.
MIN_SHARE: Final = 0.5
COVERAGE_WEIGHT, ATTRIBUTE_WEIGHT, NAME_WEIGHT, CLOCK_WEIGHT, POSTED_WEIGHT, ORDER_WEIGHT, SAME_PENALTY = 2.0, 0.6, 0.4, 0.4, 0.6, 2.0, 0.5
MAX_COMPARED: Final = 8
MAX_CHARS: Final = 200


def find_times(tree: Tree, overlay: Overlay, flags: Sequence[bool], body: int, calendar: Calendar) -> None:
    """Set each record's ``time`` unless a hint has; a hint without a time is dropped."""
    paths, inside = overlay.paths, overlay.inside(body, overlay.paths[body].times)
    posts: dict[str, set[int]] = {}
    for path in paths:
        if path.times and path.names:
            posts.setdefault(signature(path.names), set()).update(place for place, at in path.at.items() if flags[at])
    covers = {name: len(places) for name, places in posts.items()}
    timed = ((number, path) for number, path in enumerate(paths) if path.times and number not in inside)
    order = best_paths((_score(tree, overlay, path, flags, covers, calendar), number) for number, path in timed)
    for place, record in enumerate(overlay.records):
        if record.time is not None and time_of(tree, record.time, calendar)[0] is not None:
            continue
        nodes = (paths[number].at.get(place) for number in order)
        record.time = next((at for at in nodes if at is not None and flags[at] and not _is_anothers(tree, at)), None)
        if record.time is None and order:
            record.time = same_leaf(tree, record, tree.nodes[paths[order[0]].first], flags)


def _score(tree: Tree, overlay: Overlay, path: Path, flags: Sequence[bool], covers: dict[str, int], calendar: Calendar) -> float:
    places = [at for at in path.at.values() if flags[at]]
    posted = [at for at in places if not _is_anothers(tree, at)]
    if not posted or len(posted) < MIN_SHARE * len(places):
        return 0.0
    node = tree.nodes[posted[0]]
    machine = node.tag in ("time", "abbr") or node.element.get("datetime") or tree.values["itemprop"].get(posted[0])
    texts = [_short_text(tree, at) or node.element.get("title", "") for at in posted]
    score = COVERAGE_WEIGHT * max(len(posted), covers.get(signature(path.names), 0)) / len(overlay.records)
    score += ATTRIBUTE_WEIGHT if machine else 0.0
    score += NAME_WEIGHT if TIMED_NAME.search(node.names) else 0.0
    score += CLOCK_WEIGHT if sum(":" in text for text in texts) >= MIN_SHARE * len(texts) else 0.0
    score += POSTED_WEIGHT if sum(POSTED_WORD.search(text) is not None for text in texts) >= MIN_SHARE * len(texts) else 0.0
    # how far the times grow from post to post, from -0.5 to 0.5; nothing is said of fewer than three
    dates = [when for text in texts[:MAX_COMPARED] if (when := _moment(text, calendar)) is not None]
    if len(dates) >= max(3, MIN_SHARE * min(len(texts), MAX_COMPARED)):
        score += ORDER_WEIGHT * (sum(after >= before for before, after in pairwise(dates)) / (len(dates) - 1) - MIN_SHARE)
    return score - (SAME_PENALTY if len(overlay.records) > 3 and len({*texts}) == 1 and not node.element.get("datetime") else 0.0)


def _is_anothers(tree: Tree, at: int) -> bool:
    """Return whether the date is that of a member, an edit or an attachment: by its names, its text and the text before it."""
    node = tree.nodes[at]
    if node.names and is_other_time(node.names):
        return True
    text = _short_text(tree, at)
    match = ABSOLUTE.search(text)
    before = text[max(0, match.start() - BEFORE_CHARS) : match.start()] if match else text[:BEFORE_CHARS]
    if is_other_time(before):
        return True
    found, place = "", node.first - 1
    while place >= 0 and len(found) < BEFORE_CHARS and node.first - place < BEFORE_PIECES:
        piece = tree.pieces[place][-BEFORE_CHARS:]
        if piece == LINE_BREAK and found.strip():
            break
        found = (" " if piece == LINE_BREAK else piece) + found
        place -= 1
    return is_other_time(clean(found)[-BEFORE_CHARS:])


def _short_text(tree: Tree, at: int) -> str:
    return tree.short(at)[:MAX_CHARS]


def time_of(tree: Tree, at: int, calendar: Calendar) -> tuple[datetime | None, str | None]:
    """Return the time in a node, and its text: as displayed, unless that is relative and an attribute is absolute."""
    node = tree.nodes[at]
    value, text = attribute_time(node), _short_text(tree, at)
    # seconds or milliseconds since 1970
    when = parse_date(value, calendar.now) if value and UNIX_TIMESTAMP.match(value) else _moment(value, calendar) if value else None
    if when is None and text:
        when = _moment(text, calendar)
    date_text = text if text and (value is None or ABSOLUTE.search(text)) else value or text
    return when, date_text or None


@lru_cache(maxsize=1024)  # the time of a post is read to find its place, to see whether a hint is one, and for the post
def _moment(text: str, calendar: Calendar) -> datetime | None:
    return parse_time(text, calendar.now, calendar.zone, calendar.day_first)
