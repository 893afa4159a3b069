"""Parse written dates: absolute, without a year, and relative, Chinese first.

    「2024年3月5日 08:30」「二〇二四年三月五日」「民國113年3月5日」「03-05 08:30」「昨天 08:30」「3分钟前」
    2024-03-05T08:30:00Z · Mar 5, 2024 8:30 am · 5 March 2024 · 2 hours ago

The formats of a day, a time and a time zone are in :mod:`date_forms`.
"""

import re
import unicodedata
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, tzinfo
from typing import Final

from newsportal.extractors.fields import date_forms
from newsportal.text import CJK, INVISIBLE

HANGUL: Final = re.compile("[\uac00-\ud7a3]")
EARLIEST: Final = 1990  # no Web page is older; an earlier year is a default value (0001, 1900, 1970) or history in the text
MAX_CHARS: Final = 4000  # longer texts are cut: no date follows four thousand other characters
DATE_LIKE: Final = re.compile(
    r"\d\s?[-/.年월月:时時点點년]\s?\d|\d{8}|[\d一二两兩三四五六七八九十半几幾数數]\s{0,2}多?[个個]?\s?[^\W\d_]{1,2}\s?(?:之|以)?前|[今昨前][天日早晚]|[刚剛][刚剛才]"
    r"|\d.{0,5}[^\W\d_]{3}|[^\W\d_]{3}.{0,3}\d|[〇零○一二三四五六七八九十]\s{0,2}[年月]|\bago\b|day\b|\bjust now\b",
    re.IGNORECASE,
)  # a necessary condition for a date: the formats are tried only on texts that match
PLAIN_CHARS: Final = re.compile(r"[ \t\u3000、。《》「」『』【】（）：；，！？“”‘’—…·\u4e00-\u9fff]*+")
DATE_CHARS: Final = re.compile("[前今昨刚剛年月]")  # The characters of PLAIN_CHARS that every match of DATE_LIKE requires
MAX_GUESSED_CHARS: Final = 40  # longer texts are not passed to dateparser, which takes milliseconds
# Languages without a format here. dateparser tries them in turn; all of its two hundred take two seconds.
GUESSED_LANGUAGES: Final = ("vi", "th", "ar", "fa", "he", "hi", "cs", "sk", "hu", "ro", "uk", "bg", "el", "fi", "hr")

_TRIED: Final = tuple((form, pattern, date_forms.REQUIRED.get(read)) for form, (pattern, read) in enumerate(date_forms.FORMS))


@dataclass(frozen=True, slots=True)
class WrittenDate:
    """A date in a text: its position (in the NFKC text), its value, which parts were written, and whether it is relative."""

    start: int
    end: int
    when: datetime
    has_time: bool
    has_year: bool
    relative: bool = False


def parse_date(text: str, now: datetime, zone: tzinfo | None = None) -> datetime | None:
    """Return the first plausible date in ``text``, aware, or ``None``.

    ``now`` (aware) is when the text was read: relative dates count from it, and a missing year is the latest that is not after it. ``zone``
    applies if the text names none; the default is China for texts with Chinese characters, else UTC. A day without a time means midnight.
    Dates before 1990 or more than a day after ``now`` are not plausible.
    """
    if (parsed := read_date(text, now, zone)) is not None:
        return parsed
    stripped = text.strip()
    if len(stripped) > MAX_GUESSED_CHARS or CJK.search(stripped) or not re.search(r"\d.*[^\W\d_]{2}|[^\W\d_]{2}.*\d", stripped):
        return None
    import dateparser  # loaded late: it takes half a second, and most runs do not need it

    base = now.astimezone(zone or UTC)
    settings = {"RELATIVE_BASE": base.replace(tzinfo=None), "PREFER_DATES_FROM": "past", "REQUIRE_PARTS": ["day", "month"]}
    try:
        found = dateparser.parse(stripped, languages=list(GUESSED_LANGUAGES), settings=settings)
    except (ValueError, OverflowError, RecursionError):
        return None
    if found is None:
        return None
    when = found if found.tzinfo else found.replace(tzinfo=base.tzinfo)
    return when if is_plausible(when, now) else None


def read_date(text: str, now: datetime, zone: tzinfo | None = None) -> datetime | None:
    """Like :func:`parse_date`, without dateparser: it takes milliseconds, and a page may have thousands of dates."""
    stripped = text.strip()
    if re.fullmatch(r"\d{10}|\d{13}", stripped, re.ASCII):  # seconds or milliseconds since 1970
        stamp = datetime.fromtimestamp(int(stripped[:10]), UTC)
        if is_plausible(stamp, now):
            return stamp
    first = next(find_dates(stripped, now, zone), None)
    return first.when if first is not None else None


def find_dates(text: str, now: datetime, zone: tzinfo | None = None, day_first: bool = False) -> Iterator[WrittenDate]:
    """Yield every plausible date in ``text``, in order. ``day_first``: 05/03/2024 is the fifth of March, as everywhere but in America."""
    text = text[:MAX_CHARS]
    if PLAIN_CHARS.fullmatch(text) and not DATE_CHARS.search(text):  # true of most lines: the next steps cost thirty times as much
        return
    if not text.isascii():
        text = unicodedata.normalize("NFKC", INVISIBLE.sub("", text))
    if not DATE_LIKE.search(text):
        return
    local = now.astimezone(zone or default_zone(text))
    parts = frozenset((*text, *date_forms.words_of(text)))
    matches = [
        (match.start(), -match.end(), form, match)
        for form, pattern, needed in _TRIED
        if needed is None or not parts.isdisjoint(needed)
        for match in pattern.finditer(text)
    ]
    end = 0
    for start, _, form, match in sorted(matches, key=lambda found: found[:3]):
        if start < end:
            continue
        end = match.end()  # a match is not searched again, plausible or not
        reader = date_forms.FORMS[form][1]
        written = _written(match, date_forms.DAY_FIRST.get(reader, reader) if day_first else reader, text, local)
        if written is not None:
            end = written.end
            if is_plausible(written.when, now):
                yield written


def default_zone(text: str) -> tzinfo:
    """Return the zone of a date that names none, by the script of its text."""
    if CJK.search(text):
        return date_forms.CHINA
    return date_forms.KOREA if HANGUL.search(text) else UTC


def is_plausible(when: datetime, now: datetime) -> bool:
    """Return whether a page read at ``now`` can have been published at ``when``."""
    try:
        return when.year >= EARLIEST and when <= now + date_forms.TOLERANCE
    except OverflowError:
        return False


def _written(match: re.Match[str], reader: date_forms.Reader, text: str, local: datetime) -> WrittenDate | None:
    day = reader(match, local)
    if day is None:
        return None
    relative = reader in date_forms.RELATIVE
    if isinstance(day, datetime):
        return WrittenDate(match.start(), match.end(), day, has_time=True, has_year=True, relative=relative)
    (value, has_year), zone = day, local.tzinfo or UTC
    clock, end = date_forms.clock_after(text, match.end(), zone)
    if clock is None:
        clock = date_forms.clock_before(text, match.start(), zone)
    try:
        when = datetime(value.year, value.month, value.day, tzinfo=clock.zone if clock else zone)
        when += timedelta(seconds=clock.seconds) if clock else timedelta()
    except (ValueError, OverflowError):
        return None
    if not has_year and when > local + date_forms.TOLERANCE:
        for year in range(when.year - 1, when.year - 9, -1):
            with suppress(ValueError):  # 29 February
                when = when.replace(year=year)
                break
    return WrittenDate(match.start(), end, when, has_time=clock is not None, has_year=has_year, relative=relative)
