"""Times of posts as boards write them: what ``extractors/date`` reads, and ages and named days in more languages.

「3分钟前」 2 hours ago · vor 3 Stunden · il y a 2 jours · hace 3 horas · 3 часа назад · 1 Jahr 2 Tage her · gestern um 12:30 · 3h
"""

from __future__ import annotations

import re
from datetime import datetime, timedelta, tzinfo
from typing import Final

from newsportal.extractors.date import find_dates, plausible
from newsportal.extractors.date_forms import number

_SECOND, _MINUTE, _HOUR, _DAY, _WEEK, _MONTH, _YEAR = 1, 60, 3600, 86400, 604800, 2592000, 31536000
_STEMS: Final = (
    ("秒 sec segund secon sekund секунд сек", _SECOND),
    ("分钟 分鐘 分 min минут мин", _MINUTE),
    ("小时 小時 时 hour hr stunde std heure hora or[ae]$ uur godzin час timm time", _HOUR),
    ("天 日 day tag jour d[ií]a giorn dag dni dzie дн день дня", _DAY),
    ("周 週 星期 week woche semain seman settiman tydzie tygod недел veck uge", _WEEK),
    ("个月 個月 月 month monat mois mes maand miesi месяц månad måned", _MONTH),
    ("年 year jahr an$ ans$ año ano ann jaar rok lat год лет år", _YEAR),
)
"""How the units begin; ``$``: the whole word."""

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
_FIGURES: Final = re.compile("[一二两兩三四五六七八九十]+")
_CLOCK: Final = re.compile(r"(?<!\d)(\d{1,2})[:.h](\d{2})(?!\d)")
MAX_CHARS: Final = 60
"""A relative time is short."""


def moment(text: str, now: datetime, zone: tzinfo | None = None, day_first: bool = False) -> datetime | None:
    """The moment that a short text tells, aware; ``None`` where it tells none. As :func:`newsportal.extractors.date.find_dates`."""
    first = next(find_dates(text, now, zone, day_first), None)
    if first is not None:
        return first.when
    if len(text) > MAX_CHARS:
        return None
    local = now.astimezone(zone) if zone else now
    when = _named_day(text, local) or _age(text, local)
    return when if when is not None and plausible(when, now) else None


def _named_day(text: str, now: datetime) -> datetime | None:
    back = next((days for pattern, days in reversed(_NAMED) if pattern.search(text)), None)
    clock = _CLOCK.search(text)
    if back is None or (clock and (int(clock[1]) > 23 or int(clock[2]) > 59)):
        return None
    hour, minute = (int(clock[1]), int(clock[2])) if clock else (0, 0)
    return (now - timedelta(days=back)).replace(hour=hour, minute=minute, second=0, microsecond=0)


def _age(text: str, now: datetime) -> datetime | None:
    """The sum of the counted units, before now."""
    total = 0.0
    for part in _PART.finditer(text):
        size = _size(part["unit"])
        if size is None:
            if part["n"].isdecimal():
                return None
            continue
        total += size * _count(part["n"])
    return now - timedelta(seconds=total) if total else None


def _size(unit: str) -> int | None:
    if unit.lower() in _LETTERS:
        return _LETTERS[unit.lower()]
    return next((size for pattern, size in _UNITS if pattern.match(unit)), None)


def _count(text: str) -> float:
    if text == "半":
        return 0.5
    if text == "几":
        return 3.0
    return float(number(text)) if text.isdecimal() or _FIGURES.fullmatch(text) else 1.0
