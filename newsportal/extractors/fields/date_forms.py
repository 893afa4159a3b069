"""Formats of a day: each one regular expression and a function that converts its match to a day.

Every quantifier is bounded, so the time is linear in the text. A new format is a row in ``FORMS`` and a row in ``test_date.py``.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta, timezone, tzinfo
from typing import Final

# Names of months, weekdays and time zones for :mod:`newsportal.extractors.fields.date`.

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
# A regular expression for a month's name, longest first, not within a word.
MONTH: Final = "(?:" + "|".join(sorted({*" ".join(_NAMES).split()}, key=lambda name: (-len(name), name))) + r")(?![^\W\d_])"
WEEKDAYS: Final[dict[str, int]] = {name: day for day, name in enumerate("mon tue wed thu fri sat sun".split())}
WEEKDAY: Final = "(?:mon(?:day)?|tue(?:s(?:day)?)?|wed(?:nesday)?|thu(?:r(?:s(?:day)?)?)?|fri(?:day)?|sat(?:urday)?|sun(?:day)?)"
_ZONES: Final = (
    "Z=0 UTC=0 GMT=0 UT=0 WET=0 BST=1 CET=1 CEST=2 EET=2 EEST=3 MSK=3 IST=5.5 HKT=8 SGT=8 MYT=8 JST=9 KST=9 "
    "AEST=10 AEDT=11 NZST=12 NZDT=13 EST=-5 EDT=-4 ET=-5 CST=-6 CDT=-5 MST=-7 MDT=-6 PST=-8 PDT=-7 PT=-8"
)
# Hours east of UTC. CST is America's here; in Java's dates and in Chinese texts it is China's.
ZONES: Final[dict[str, float]] = {name: float(hours) for name, _, hours in (pair.partition("=") for pair in _ZONES.split())}
_WORD: Final = re.compile(r"[^\W\d_]{3,}")
CHINA: Final = timezone(timedelta(hours=8), "CST")  # Beijing, Hong Kong, Macau and Taipei: the zone of a Chinese date without one
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
_BETWEEN = rf"(?P<joint>T|[\s,|·.•/-]{{0,6}}{_DAY_OF_WEEK}?[\s,|·•/-]{{0,6}}(?:at|um|à|às|a las|alle|kl\.?|klo|om|o)?\s{{0,3}})"
CLOCK_AFTER = re.compile(_BETWEEN + _CLOCK, re.IGNORECASE)
CLOCK_BEFORE = re.compile(rf"(?<![\d:]){_CLOCK}\)?[\s,|·]{{0,4}}(?:on\s)?(?:{WEEKDAY}[\s,.]{{1,3}})?$", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Clock:
    """Seconds since midnight, and the time zone."""

    seconds: int
    zone: tzinfo


def words_of(text: str) -> list[str]:
    """Return the words of ``text`` as ``re`` compares them where case is ignored (ı and İ are i), also those after an ordinal's end."""
    words = _WORD.findall(text.lower().replace("ı", "i").replace("\u0307", ""))
    return words + [word[2:] for word in words if word.startswith(("st", "nd", "rd", "th", "er"))]


def clock_after(text: str, end: int, zone: tzinfo) -> tuple[Clock | None, int]:
    """Return the time right after a date that ends at ``end``, and its end."""
    match = CLOCK_AFTER.match(text, end)
    clock = _clock(match, zone, joined=match["joint"] == "T") if match else None
    return (clock, match.end()) if match and clock else (None, end)


def clock_before(text: str, start: int, zone: tzinfo) -> Clock | None:
    """Return the time right before a date that starts at ``start``."""
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
        offset = None  # 08:30-09:30 is a period, not a zone
    return Clock(hour * 3600 + minute * 60 + second, zone_of(offset, zone))


def zone_of(name: str | None, default: tzinfo) -> tzinfo:
    """Return the zone called ``name`` (``EST``, ``+08:00``, 北京时间); ``default`` for none or an unknown one."""
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


TOLERANCE: Final = timedelta(days=1)  # after the fetch: unnamed zones differ by up to 14 hours, clocks by minutes
Day = tuple[date, bool] | datetime | None  # a day and whether its year was written, or a moment (relative dates), or nothing
Reader = Callable[[re.Match[str], datetime], Day]  # match and current time (aware, in the text's zone) to a day
_DIGIT = {
    character: value
    for value, digits in enumerate(("〇零○", "一", "二两兩", "三", "四", "五", "六", "七", "八", "九"))
    for character in digits
}
_CN = "〇零○一二三四五六七八九"


def parse_number(text: str) -> int:
    """Return an integer in Arabic or Chinese numerals: 「二〇二四」, 「一百一十三」, 「廿一」."""
    if text.isdecimal():
        return int(text)
    if not any(character in "十百廿卅" for character in text):
        return int("".join(str(_DIGIT.get(character, character)) for character in text))
    total, digit = 0, 0
    for character in text.replace("廿", "二十").replace("卅", "三十"):
        if character in "十百":
            total, digit = total + (digit or 1) * (10 if character == "十" else 100), 0
        else:
            digit = _DIGIT.get(character, 0)
    return total + digit


def _date(year: int, month: int, day: int, has_year: bool = True) -> Day:
    try:
        return date(year, month, day), has_year
    except ValueError:
        return None


def _without_year(local: datetime, month: int, day: int) -> Day:
    """Return the day in the latest year that has it and in which it is not after tomorrow."""
    for year in range(local.year, local.year - 9, -1):
        found = _date(year, month, day, has_year=False)
        if isinstance(found, tuple) and found[0] <= (local + TOLERANCE).date():
            return found
    return None


def _year_month_day(match: re.Match[str], local: datetime) -> Day:
    return _date(int(match["y"]), int(match["mo"]), int(match["d"]))


def _compact(match: re.Match[str], local: datetime) -> Day:
    """Read 20240305, 20240305083000, 20240305T0830."""
    day = _year_month_day(match, local)
    if not match["h"] or not isinstance(day, tuple):
        return day
    value = day[0]
    return datetime(value.year, value.month, value.day, int(match["h"]), int(match["m"]), int(match["s"] or 0), tzinfo=local.tzinfo)


def _chinese(match: re.Match[str], local: datetime) -> Day:
    year, month, day = parse_number(match["y"]), parse_number(match["mo"]), parse_number(match["d"])
    era = match["era"] or ""
    year += 1911 if "民" in era else 2018 if era == "令和" else 1988 if era == "平成" else 2000 if year < 100 else 0
    return _date(year, month, day)


def _month_day(match: re.Match[str], local: datetime) -> Day:
    return _without_year(local, parse_number(match["mo"]), parse_number(match["d"]))


def _short_year(match: re.Match[str], local: datetime) -> Day:
    return _date(2000 + int(match["y"]), int(match["mo"]), int(match["d"]))


def _named_month(match: re.Match[str], local: datetime) -> Day:
    month = MONTHS[words_of(match["mon"])[0]]
    return _date(int(match["y"]), month, int(match["d"])) if match["y"] else _without_year(local, month, int(match["d"]))


def _java(match: re.Match[str], local: datetime) -> Day:
    """Read Java's ``Date.toString``: its CST is China's, where such dates are displayed."""
    day = _date(int(match["y"]), MONTHS[words_of(match["mon"])[0]], int(match["d"]))
    if not isinstance(day, tuple):
        return None
    hour, minute, second = (int(part) for part in match["time"].split(":"))
    if hour > 23 or minute > 59 or second > 59:
        return None
    zone = CHINA if match["zone"] == "CST" else zone_of(match["zone"], local.tzinfo or UTC)
    return datetime(day[0].year, day[0].month, day[0].day, hour, minute, second, tzinfo=zone)


def _year_last(match: re.Match[str], local: datetime) -> Day:
    """Read 05/03/2024: month first with slashes (American), day first with points and hyphens; a number over 12 decides."""
    first, second = int(match["a"]), int(match["b"])
    month_first = (match["sep"] == "/" and first <= 12) or second > 12
    return _date(int(match["y"]), *((first, second) if month_first else (second, first)))


def _day_first(match: re.Match[str], local: datetime) -> Day:
    """Read 05/03/2024 with the day first; a number over 12 decides."""
    first, second = int(match["a"]), int(match["b"])
    return _date(int(match["y"]), *((first, second) if second > 12 else (second, first)))


_UNITS = {
    **dict.fromkeys(("秒", "秒钟", "秒鐘", "s", "sec", "second"), timedelta(seconds=1)),
    **dict.fromkeys(("分", "分钟", "分鐘", "m", "min", "minute"), timedelta(minutes=1)),
    **dict.fromkeys(("小时", "小時", "钟头", "鐘頭", "h", "hr", "hour"), timedelta(hours=1)),
    **dict.fromkeys(("天", "日", "d", "day"), timedelta(days=1)),
    **dict.fromkeys(("周", "週", "星期", "礼拜", "禮拜", "w", "wk", "week"), timedelta(weeks=1)),
    **dict.fromkeys(("月", "mo", "month"), timedelta(days=30)),
    **dict.fromkeys(("年", "y", "yr", "year"), timedelta(days=365)),
}
_FEW = {"半": 0.5, "几": 3.0, "幾": 3.0, "数": 3.0, "數": 3.0, "a": 1.0, "an": 1.0, "one": 1.0, "half": 0.5}


def _ago(match: re.Match[str], local: datetime) -> Day:
    count, unit = match["n"].lower(), match["unit"].lower()
    size = _UNITS.get(unit) or _UNITS[unit.removesuffix("s")]
    try:
        return local - size * (_FEW[count] if count in _FEW else parse_number(count))
    except OverflowError:  # 9999年前
        return None


_DAYS_BACK = {"今": 0, "昨": 1, "前": 2, "today": 0, "yesterday": 1}


def _named_day(match: re.Match[str], local: datetime) -> Day:
    back = _DAYS_BACK.get(match["day"].lower(), _DAYS_BACK.get(match["day"][0], 0))
    return (local - timedelta(days=back)).date(), True


def _weekday(match: re.Match[str], local: datetime) -> Day:
    """Return the last such day: 「周三 08:30」, ``Tuesday at 8:30 AM``."""
    weekday = WEEKDAYS[match["day"].lower()[:3]] if match["day"] else "一二三四五六日".index(match["cn"].replace("天", "日"))
    return (local - timedelta(days=(local.weekday() - weekday) % 7)).date(), True


def _just_now(match: re.Match[str], local: datetime) -> Day:
    return local


_N = r"\d{1,2}"
_CN_DAY = rf"{_N}|[一二三四五六七八九十廿卅]{{1,3}}"
_TIME_FOLLOWS = r"(?=[\sT]{1,4}\d{1,2}:\d{2})"
FORMS: Final[tuple[tuple[re.Pattern[str], Reader], ...]] = tuple(
    (re.compile(pattern, re.IGNORECASE), read)
    for pattern, read in (
        (
            rf"(?P<era>(?:中华|中華)?民[国國]|令和|平成)?\s?(?P<y>(?<!\d)\d{{4}}|(?<!\d)\d{{2,3}}|[{_CN}]{{4}}|(?<=[国國和成])(?:\d{{1,3}}|[元{_CN}十百]{{1,6}}))"
            rf"\s{{0,2}}[年년]\s{{0,2}}(?P<mo>{_CN_DAY})\s{{0,2}}[月월]\s{{0,2}}(?P<d>{_CN_DAY})\s{{0,2}}(?:[日号號일]|(?!\d))",
            _chinese,
        ),
        (rf"(?<![\d.])(?P<y>\d{{4}})\s?(?P<sep>[-/.])\s?(?P<mo>{_N})\s?(?P=sep)\s?(?P<d>{_N})(?!\d)", _year_month_day),
        (
            r"(?<!\d)(?P<y>(?:19|20)\d\d)(?P<mo>0[1-9]|1[0-2])(?P<d>0[1-9]|[12]\d|3[01])"
            r"(?:T?(?P<h>[01]\d|2[0-3])(?P<m>[0-5]\d)(?P<s>[0-5]\d)?)?(?!\d)",
            _compact,
        ),
        (rf"(?<![\w年])(?P<mo>{_CN_DAY})\s?月\s?(?P<d>{_CN_DAY})\s?[日号號]", _month_day),
        (rf"(?<![\d.\-/])(?P<y>[0-3]\d)-(?P<mo>{_N})-(?P<d>{_N}){_TIME_FOLLOWS}", _short_year),
        (rf"(?<![\d.\-/:])(?P<mo>{_N})[-/](?P<d>{_N}){_TIME_FOLLOWS}", _month_day),
        (rf"^(?P<mo>{_N})[-/](?P<d>{_N})$", _month_day),
        (
            rf"(?P<mon>(?<![^\W\d_]){MONTH})\s+(?P<d>{_N})\s+(?P<time>\d\d:\d\d:\d\d)\s+(?P<zone>[A-Z]{{3,4}}|[+-]\d{{4}})?\s*(?P<y>\d{{4}})(?!\d)",
            _java,
        ),
        (
            rf"(?P<mon>(?<![^\W\d_]){MONTH})\.?\s{{1,2}}(?P<d>{_N})(?:st|nd|rd|th)?(?!\d)(?!:)(?:,?\s{{0,2}}(?:{WEEKDAY},?\s{{1,2}})?(?P<y>\d{{4}})(?!\d))?",
            _named_month,
        ),
        (
            rf"(?<!\d)(?P<d>{_N})(?:st|nd|rd|th|er|\.|º)?(?:\s|-|de\b|of\b|d'){{0,5}}(?P<mon>{MONTH})(?![^\W\d_])\.?(?:[\s,-]|de\b|del\b|г\.){{0,5}}"
            r"(?:(?P<y>\d{4})(?!\d))?",
            _named_month,
        ),
        (rf"(?<![\d.\-/])(?P<a>{_N})(?P<sep>[-/.])(?P<b>{_N})(?P=sep)(?P<y>\d{{4}})(?!\d)", _year_last),
        (rf"(?<![\d.])(?P<d>{_N})\.(?P<mo>{_N})\.(?P<y>[0-3]\d)(?![\d.])(?=[\s,|·-]{{1,4}}\d{{1,2}}[:.]\d{{2}})", _short_year),
        (
            r"(?P<n>\d{1,4}|[半几幾数數]|[一二两兩三四五六七八九十]{1,3})\s{0,2}多?[个個]?\s?"
            r"(?P<unit>秒[钟鐘]?|分[钟鐘]?|小[时時]|钟头|鐘頭|天|日|[周週]|星期|[礼禮]拜|月|年)\s?(?:之前|以前|前)",
            _ago,
        ),
        (
            r"(?<!\w)(?P<n>\d{1,4}|an?|one|half)\s{0,2}(?:an?\s)?(?P<unit>s|secs?|seconds?|m|mins?|minutes?|h|hrs?|hours?|d|days?|w|wks?|weeks?"
            r"|mo|months?|y|yrs?|years?)\s{1,2}ago\b",
            _ago,
        ),
        (r"(?P<day>今[天日早晚]|昨[天日晚]|前[天日](?!鼻)|\b(?:today|yesterday)\b)", _named_day),
        (
            rf"(?:(?:星期|周|週|[礼禮]拜)(?P<cn>[一二三四五六日天])|(?<!\w)(?P<day>{WEEKDAY})),?(?=\s{{1,3}}(?:at\s)?\d{{1,2}}:\d\d)",
            _weekday,
        ),
        (r"[刚剛][刚剛才]|\bjust now\b", _just_now),
    )
)  # Format and reader. If two formats match at the same position, the longer match is used.
MONTHS: Final = {words_of(name)[0]: month for month, names in enumerate(_NAMES, 1) for name in names.split()}
REQUIRED: Final[dict[Reader, frozenset[str]]] = {
    _chinese: frozenset("年년"),
    _short_year: frozenset(":."),
    _month_day: frozenset("月-/"),
    _named_month: frozenset(MONTHS),
    _java: frozenset(MONTHS),
    _year_month_day: frozenset("-/."),
    _year_last: frozenset("-/."),
    _ago: frozenset("前gG"),
    _named_day: frozenset("今昨前yY"),
    _weekday: frozenset(":"),
    _just_now: frozenset("刚剛jJ"),
}  # a text that matches a format contains at least one of these characters or words: this check avoids most of the matching
RELATIVE: Final[frozenset[Reader]] = frozenset((_ago, _named_day, _weekday, _just_now))  # relative to the time of reading
DAY_FIRST: Final[dict[Reader, Reader]] = {_year_last: _day_first}  # for languages that write the day before the month
