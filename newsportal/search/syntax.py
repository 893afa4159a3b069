"""What a reader typed, as terms and bounds of time. Any text is a query; what is no syntax is words."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, tzinfo
from typing import Literal

from newsportal.search.base import FIELDS, MAX_QUERY_CHARS, TIMES, Query
from newsportal.search.words import query_grams, query_words

MAX_TERMS = 32
"""Further terms are left out: a pasted article is found by its first words."""

MAX_TERM_WORDS = 32
"""The same for the words of one term (a pasted text without spaces)."""

QUOTES = str.maketrans(dict.fromkeys("“”„‟＂「」『』«»", '"') | {"－": "-", "＋": "+", "：": ":", "\u3000": " "})
TERM = re.compile(r'(?P<sign>[+-]?)(?:(?P<field>[^\W\d_]{1,12}):)?(?:"(?P<phrase>[^"]*)"?|(?P<words>\S+))')
DAY = re.compile(r"(?P<year>\d{4})(?:[-/.年](?P<month>\d{1,2})(?:[-/.月](?P<day>\d{1,2})日?|月?)|年?)", re.ASCII)


@dataclass(frozen=True, slots=True)
class Term:
    """One term of a query. ``words`` are its words, ``grams`` the pairs (or single characters) that any text with it must have."""

    text: str
    words: tuple[str, ...]
    grams: tuple[str, ...]
    field: str | None = None
    sign: Literal["", "+", "-"] = ""
    phrase: bool = False


@dataclass(frozen=True, slots=True)
class Asked:
    """A query as it was understood. ``since <= moment < until``; ``timed``: whether a bound was typed among the words."""

    terms: tuple[Term, ...]
    since: datetime | None
    until: datetime | None
    timed: bool = False

    @property
    def empty(self) -> bool:
        """Nothing is looked for: no words, or only such as must be missing."""
        return not self.timed and all(term.sign == "-" for term in self.terms)

    @property
    def words(self) -> tuple[str, ...]:
        """What is marked in the hits."""
        return tuple(dict.fromkeys(word for term in self.terms if term.sign != "-" and term.field != "kind" for word in term.words))


def parse(query: Query) -> Asked:
    """The terms of ``query`` that hold a letter, a digit or a Chinese character, and the narrowest of its bounds."""
    found: dict[Term, None] = {}
    since, until = [query.since] if query.since else [], [query.until] if query.until else []
    timed = False
    for match in TERM.finditer(query.text[:MAX_QUERY_CHARS].translate(QUOTES)):
        if bounds := _bounds(match, query.zone):
            since += [bounds[0]] if bounds[0] else []
            until += [bounds[1]] if bounds[1] else []
            timed = True
        elif len(found) < MAX_TERMS and (term := _term(match)).grams:
            found.setdefault(term)
    return Asked(tuple(found), max(since, default=None), min(until, default=None), timed)


def _term(match: re.Match[str]) -> Term:
    named, phrase = match["field"], match["phrase"] is not None
    text = match["phrase"] if phrase else match["words"]
    field = FIELDS.get(named.lower()) if named else None
    if named and field is None:  # "Trump:" is no field
        text = f"{named} {text}"
    sign: Literal["", "+", "-"] = "+" if match["sign"] == "+" else "-" if match["sign"] == "-" else ""
    words, grams = query_words(text)[:MAX_TERM_WORDS], query_grams(text)[: 2 * MAX_TERM_WORDS]
    return Term(text, tuple(words), tuple(grams), field, sign, phrase)


def _bounds(match: re.Match[str], zone: tzinfo | None) -> tuple[datetime | None, datetime | None] | None:
    """What ``since:2026-03`` and its like bound; ``None`` for what is no bound of time."""
    said = TIMES.get((match["field"] or "").lower())
    span = _span(match["words"] or match["phrase"] or "", zone) if said and match["sign"] != "-" else None
    if span is None:
        return None
    return {"since": (span[0], None), "until": (None, span[1]), "before": (None, span[0])}[said or ""]


def _span(text: str, zone: tzinfo | None) -> tuple[datetime, datetime] | None:
    """The first moment of a day, month or year, and the first after it."""
    found = DAY.fullmatch(text)
    if not found:
        return None
    year, month, day = (int(found[part]) if found[part] else None for part in ("year", "month", "day"))
    try:
        first = datetime(year or 0, month or 1, day or 1)  # noqa: DTZ001  given its zone below
        if day:
            after = first + timedelta(days=1)
        else:
            after = datetime(first.year + (month in (None, 12)), (first.month % 12 + 1) if month else 1, 1)  # noqa: DTZ001
        return _in(zone, first), _in(zone, after)
    except (ValueError, OverflowError):  # the 31st of June, the year 0: words like others
        return None


def _in(zone: tzinfo | None, wall: datetime) -> datetime:
    """``wall`` on the clocks of ``zone``."""
    return (wall.replace(tzinfo=zone) if zone else wall).astimezone(UTC)
