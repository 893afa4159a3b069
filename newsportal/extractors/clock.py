"""The time of day and its zone, as written beside a date: 「下午3点30分」, ``08:30:00+08:00``, ``8:30 am EST``."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import timedelta, timezone, tzinfo
from typing import Final

# Names of months, weekdays and time zones as pages write them, for :mod:`newsportal.extractors.date`.

_NAMES: Final = (
    # en, de, fr, es, it, pt, nl, pl (genitive), ru (genitive), tr, sv/da/nb, id/ms; abbreviations beside them
    "january jan januar janvier janv enero ene gennaio gen janeiro januari stycznia января янв ocak jänner",
    "february feb februar février févr fév febrero febbraio fevereiro fev februari lutego февраля фев şubat feber",
    "march mar märz mrz mär mars marzo março maart mrt marca марта мар mart marts maret mac",
    "april apr avril avr abril abr aprile kwietnia апреля апр nisan",
    "may mai mayo maggio mag maio mei maja мая mayıs maj",
    "june jun juni juin junio giugno giu junho czerwca июня июн haziran",
    "july jul juli juillet juil julio luglio lug julho lipca июля июл temmuz julai",
    "august aug août aoû agosto ago augustus sierpnia августа авг ağustos augusti agustus ogos",
    "september sep sept septembre septiembre settembre set setembro września сентября сен eylül",
    "october oct oktober okt octobre octubre ottobre ott outubro out października октября окт ekim",
    "november nov novembre noviembre novembro listopada ноября ноя kasım",
    "december dec dezember dez décembre déc diciembre dic dicembre dezembro grudnia декабря дек aralık desember disember",
)
MONTH_NAMES: Final[dict[str, int]] = {name: month for month, names in enumerate(_NAMES, 1) for name in names.split()}
# A regular expression for a month's name, the longest first, never a part of a word.
MONTH: Final = "(?:" + "|".join(sorted(MONTH_NAMES, key=lambda name: (-len(name), name))) + r")(?![^\W\d_])"
WEEKDAYS: Final[dict[str, int]] = {name: day for day, name in enumerate("mon tue wed thu fri sat sun".split())}
WEEKDAY: Final = "(?:mon(?:day)?|tue(?:s(?:day)?)?|wed(?:nesday)?|thu(?:r(?:s(?:day)?)?)?|fri(?:day)?|sat(?:urday)?|sun(?:day)?)"
_ZONES: Final = (
    "Z=0 UTC=0 GMT=0 UT=0 WET=0 BST=1 CET=1 CEST=2 EET=2 EEST=3 MSK=3 IST=5.5 HKT=8 SGT=8 MYT=8 JST=9 KST=9 "
    "AEST=10 AEDT=11 NZST=12 NZDT=13 EST=-5 EDT=-4 ET=-5 CST=-6 CDT=-5 MST=-7 MDT=-6 PST=-8 PDT=-7 PT=-8"
)
# Hours east of UTC. CST is America's here; in Java's dates and in Chinese texts it is China's.
ZONES: Final[dict[str, float]] = {name: float(hours) for name, _, hours in (pair.partition("=") for pair in _ZONES.split())}
CHINA: Final = timezone(timedelta(hours=8), "CST")  # Beijing, Hong Kong, Macau and Taipei: what a Chinese date without a zone means
KOREA: Final = timezone(timedelta(hours=9), "KST")
AFTERNOON: Final = frozenset(("下午", "晚上", "傍晚", "晚间", "晚間", "夜间", "夜間", "오후"))
MORNING: Final = frozenset(("凌晨", "오전"))
_HALF = r"(?P<half>上午|下午|中午|晚上|凌晨|早上|早晨|清晨|傍晚|晚间|晚間|夜间|夜間|오전|오후)?\s{0,2}"
_CLOCK = (
    rf"{_HALF}(?P<h>\d{{1,2}})(?::(?P<m>\d{{2}})(?!\d)(?::(?P<s>\d{{2}})(?!\d)(?:[.,]\d{{1,9}})?)?"
    r"|\s?[时時点點시h]\s?(?:(?P<m2>\d{1,2})\s?[分분]?(?:(?P<s2>\d{1,2})[秒초])?)?|(?=\s?[ap]\.?m\b))"
    r"(?:\s?(?P<ap>[ap])\.?m\b\.?)?"
    r"(?P<gap>\s{0,2})\(?(?P<zone>Z\b|(?:UTC|GMT)?\s?[+-]\d{1,2}(?::?\d{2})?(?!\d)|[A-Z]{2,4}\b|北京时间|北京時間)?"
)
_DAY_OF_WEEK = rf"(?:\((?:星期|周|週|礼拜)?[一二三四五六日天]\)|(?:星期|周|週|礼拜)[一二三四五六日天]|[월화수목금토일]요일|{WEEKDAY}\b)"
_BETWEEN = (
    rf"(?P<joint>T|[\s,|·.•/-]{{0,6}}{_DAY_OF_WEEK}?[\s,|·•/-]{{0,6}}"
    r"(?:at|um|à|às|a las|alle|kl\.?|klo|om|o)?\s{0,3})"
)
CLOCK_AFTER = re.compile(_BETWEEN + _CLOCK, re.IGNORECASE)
CLOCK_BEFORE = re.compile(rf"(?<![\d:]){_CLOCK}\)?[\s,|·]{{0,4}}(?:on\s)?(?:{WEEKDAY}[\s,.]{{1,3}})?$", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Clock:
    """Seconds since midnight, and the zone they are of."""

    seconds: int
    zone: tzinfo


def clock_after(text: str, end: int, zone: tzinfo) -> tuple[Clock | None, int]:
    """The time written right after a date that ends at ``end``, and where it ends."""
    match = CLOCK_AFTER.match(text, end)
    clock = _clock(match, zone, joined=match["joint"] == "T") if match else None
    return (clock, match.end()) if match and clock else (None, end)


def clock_before(text: str, start: int, zone: tzinfo) -> Clock | None:
    """The time written right before a date that starts at ``start``."""
    match = CLOCK_BEFORE.search(text[max(0, start - 40) : start])
    return _clock(match, zone, joined=False) if match else None


def _clock(match: re.Match[str], zone: tzinfo, joined: bool) -> Clock | None:
    hour, minute, second = (int(value or 0) for value in (match["h"], match["m"] or match["m2"], match["s"] or match["s2"]))
    half, ap = match["half"], (match["ap"] or "").lower()
    if ((half in AFTERNOON or ap == "p") and hour < 12) or (half == "中午" and hour < 3):
        hour += 12
    elif hour == 12 and (ap == "a" or half in MORNING):
        hour = 0
    if hour > 24 or minute > 59 or second > 60:
        return None
    offset = match["zone"]
    if offset and ":" in offset and not (joined or match["s"] or match["gap"]):
        offset = None  # 08:30-09:30 is a span of time, not a zone
    return Clock(hour * 3600 + minute * 60 + second, zone_of(offset, zone))


def zone_of(name: str | None, default: tzinfo) -> tzinfo:
    """The zone called ``name`` (``EST``, ``+08:00``, 北京时间); ``default`` for no name and for unknown ones."""
    if not name:
        return default
    name = name.strip().upper()
    if name in ZONES:
        return timezone(timedelta(hours=ZONES[name]))
    if name.startswith("北京"):
        return CHINA
    match = re.fullmatch(r"(?:UTC|GMT)?\s?([+-])(\d{1,2}):?(\d{2})?", name)
    if not match or int(match[2]) > 14 or int(match[3] or 0) > 59:
        return default
    offset = timedelta(hours=int(match[2]), minutes=int(match[3] or 0))
    return timezone(-offset if match[1] == "-" else offset)
