"""Parsing of queries into terms and time bounds, and compilation into clauses for every index. Any text is a valid query.

Clauses only contain letters, digits and Chinese characters, which excludes injection. There are three readings, from strict to wide; a
wider one is used only if the stricter one found little:

- ``words``: every term by its words, so that 市民 does not match 城市民警;
- ``grams``: every term by its pairs of characters: matches any text that contains it, however segmented;
- ``any``: any of the terms (those with + are still required, those with - still excluded).
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta, tzinfo
from typing import Literal

from newsportal.items import content_id
from newsportal.search.base import FIELDS, KINDS, MAX_QUERY_CHARS, TIMES, Query
from newsportal.search.words import is_chinese, query_grams, query_words, sequence

MAX_TERMS = 32  # further terms are ignored: a pasted article is found by its first words
MAX_TERM_WORDS = 32  # the same for the words of one term (pasted text without spaces)
QUOTES = str.maketrans(dict.fromkeys("“”„‟＂「」『』«»", '"') | {"－": "-", "＋": "+", "：": ":", "\u3000": " "})
TERM = re.compile(r'(?P<sign>[+-]?)(?:(?P<field>[^\W\d_]{1,12}):)?(?:"(?P<phrase>[^"]*)"?|(?P<words>\S+))')
DAY = re.compile(r"(?P<year>\d{4})(?:[-/.年](?P<month>\d{1,2})(?:[-/.月](?P<day>\d{1,2})日?|月?)|年?)", re.ASCII)
NUMBERS = re.compile(r"\d[\d/.年月日-]*")


@dataclass(frozen=True, slots=True)
class Term:
    """A term of a query. ``words``: its words, ``grams``: the pairs (or single characters) that a matching text must have."""

    text: str
    words: tuple[str, ...]
    grams: tuple[str, ...]
    field: str | None = None
    sign: Literal["", "+", "-"] = ""
    phrase: bool = False


@dataclass(frozen=True, slots=True)
class ParsedQuery:
    """A parsed query. ``since <= moment < until``; ``timed``: whether the text contained a time bound."""

    terms: tuple[Term, ...]
    since: datetime | None
    until: datetime | None
    timed: bool = False

    @property
    def empty(self) -> bool:
        """Whether nothing is searched: no words, or only excluded ones."""
        return not self.timed and all(term.sign == "-" for term in self.terms)

    @property
    def words(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(word for term in self.terms if term.sign != "-" and term.field != "kind" for word in term.words))


def parse(query: Query) -> ParsedQuery:
    """Parse the terms of ``query`` that have a letter, a digit or a Chinese character, and its narrowest time bounds."""
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
    return ParsedQuery(tuple(found), max(since, default=None), min(until, default=None), timed)


def wrong_dates(text: str) -> list[str]:
    """Return the terms like ``since:2026-13-45``, which look like time bounds but are searched as words."""
    terms = (term for term in TERM.finditer(text[:MAX_QUERY_CHARS].translate(QUOTES)) if (term["field"] or "").lower() in TIMES)
    bounds = (term for term in terms if term["sign"] != "-" and NUMBERS.fullmatch(term["words"] or term["phrase"] or ""))
    return [term[0] for term in bounds if _bounds(term, None) is None]


def _term(match: re.Match[str]) -> Term:
    name, phrase = match["field"], match["phrase"] is not None
    text = match["phrase"] if phrase else match["words"]
    field = FIELDS.get(name.lower()) if name else None
    if name and field is None:  # "Trump:" is not a field
        text = f"{name} {text}"
    sign: Literal["", "+", "-"] = "+" if match["sign"] == "+" else "-" if match["sign"] == "-" else ""
    words, grams = query_words(text)[:MAX_TERM_WORDS], query_grams(text)[: 2 * MAX_TERM_WORDS]
    return Term(text, tuple(words), tuple(grams), field, sign, phrase)


def _bounds(match: re.Match[str], zone: tzinfo | None) -> tuple[datetime | None, datetime | None] | None:
    """Return the bounds given by ``since:2026-03`` and the like; ``None`` if it is not a time bound."""
    bound = TIMES.get((match["field"] or "").lower())
    span = _span(match["words"] or match["phrase"] or "", zone) if bound and match["sign"] != "-" else None
    if span is None:
        return None
    return {"since": (span[0], None), "until": (None, span[1]), "before": (None, span[0])}[bound or ""]


def _span(text: str, zone: tzinfo | None) -> tuple[datetime, datetime] | None:
    """Return the first moment of a day, month or year, and the first after it."""
    found = DAY.fullmatch(text)
    if not found:
        return None
    year, month, day = (int(found[part]) if found[part] else None for part in ("year", "month", "day"))
    try:
        first = datetime(year or 0, month or 1, day or 1)  # noqa: DTZ001  its zone is set below
        if day:
            after = first + timedelta(days=1)
        else:
            after = datetime(first.year + (month in (None, 12)), (first.month % 12 + 1) if month else 1, 1)  # noqa: DTZ001
        return _in(zone, first), _in(zone, after)
    except (ValueError, OverflowError):  # the 31st of June, the year 0: treated as words
        return None


def _in(zone: tzinfo | None, wall: datetime) -> datetime:
    return (wall.replace(tzinfo=zone) if zone else wall).astimezone(UTC)


Reading = Literal["words", "grams", "any"]

READINGS: tuple[tuple[int, Reading], ...] = ((2, "words"), (1, "grams"), (0, "any"))
"""Integer part of a hit's score -> reading under which it was found."""

WIDEN_BELOW = 20  # with fewer hits than a page, texts that only contain the characters follow
TITLE_WEIGHT = 10.0  # weight of a word in the title, relative to the text. Usual for titles, not fitted.
TITLE_BONUS = 1.0  # bonus if the title has all characters of a query, for matches by characters. Chosen, not fitted.
MIN_CLOSE_SCORE = 1.0  # minimum score of a hit with all the words
MAX_ANY = 8  # for ``any``, the longest words are used: they are most significant, and each costs a scan of its matches
Place = Literal["text", "title", "site", "author", "topic", "category", "labels", "grams", "title_grams"]
"""``text``, ``title``: words of title or text, of the title. ``site`` … ``category``: characters and pairs of a name. ``labels``: exact
values. ``grams``, ``title_grams``: characters and pairs of title or text, of the title."""


@dataclass(frozen=True, slots=True)
class Clause:
    """A condition: all of ``words`` occur at ``place``, or with ``any_of`` at least one."""

    place: Place
    words: tuple[str, ...]
    any_of: bool = False


@dataclass
class Match:
    """A compiled query: all of ``required`` and ``phrases`` (field, :func:`~newsportal.search.words.sequence`), none of ``excluded``."""

    required: list[Clause] = field(default_factory=list)
    excluded: list[Clause] = field(default_factory=list)
    phrases: list[tuple[str | None, str]] = field(default_factory=list)


def relevance(rank: int, score: float) -> float:
    """Return a hit's score: its reading, plus its score under that reading mapped to 0 … 1."""
    return rank + max(0.0, score) / (1.0 + max(0.0, score))


def compile_terms(parsed: ParsedQuery, query: Query, reading: Reading) -> Match:
    """Compile the terms and filters of ``query`` under a reading."""
    filters = (("topic", query.topic), ("site", query.site), ("category", query.category))
    match = Match([Clause("labels", (label(kind, value),)) for kind, value in filters if value is not None])
    optional: list[Term] = []
    for term in parsed.terms:
        if term.sign == "-":
            match.excluded.append(_unwanted(term))
        elif reading == "any" and not term.sign and term.field is None and not term.phrase:
            optional.append(term)
        else:
            _needed(match, term, "words" if reading == "any" else reading)
    if optional:
        words = list(dict.fromkeys(word for term in optional for word in term.words))
        long = sorted((word for word in words if not _single(word)), key=len, reverse=True)[:MAX_ANY]
        match.required.append(Clause("text", tuple(long), any_of=True) if long else Clause("grams", tuple(words), any_of=True))
    if not any(term.sign != "-" for term in parsed.terms):  # only a time bound
        match.required.append(Clause("labels", tuple(label("kind", kind) for kind in sorted(set(KINDS.values()))), any_of=True))
    return match


def _needed(match: Match, term: Term, reading: Reading) -> None:
    if (clause := _named(term)) is not None:
        match.required.append(clause)
        return
    pairs: Place = "title_grams" if term.field else "grams"
    if term.phrase or reading == "grams":
        match.required.append(Clause(pairs, term.grams))
        if term.phrase and len(term.grams) > 1:
            match.phrases.append((term.field, sequence(term.text)))
        return
    if long := tuple(word for word in term.words if not _single(word)):
        match.required.append(Clause("title" if term.field else "text", long))
    match.required += [Clause(pairs, (word,)) for word in term.words if _single(word)]


def _unwanted(term: Term) -> Clause:
    if (clause := _named(term)) is not None:
        return clause
    if term.field:
        return Clause("title_grams", term.grams)
    if term.phrase or any(_single(word) for word in term.words):
        return Clause("grams", term.grams)
    return Clause("text", term.words)


def _named(term: Term) -> Clause | None:
    """Return the clause of a term in a field other than the title, or ``None``."""
    if term.field == "kind":
        kind = term.text.lower()
        return Clause("labels", (label("kind", KINDS.get(kind, kind)),))
    places: dict[str | None, Place] = {"site": "site", "author": "author", "topic": "topic", "category": "category"}
    return Clause(places[term.field], term.grams) if term.field in places else None


def label(kind: str, value: str) -> str:
    """Return a topic, site or category as one token, for exact matches."""
    return f"{kind[0]}{content_id(value)}"


def _single(word: str) -> bool:
    return len(word) == 1 and is_chinese(word)


def title_bonus_grams(needed: Sequence[Clause]) -> tuple[str, ...]:
    """Return the characters of a query that earn :data:`TITLE_BONUS` if the title has them all; empty if there are none."""
    clauses = [clause for clause in needed if clause.place == "grams" and not clause.any_of]
    return tuple(dict.fromkeys(word for clause in clauses for word in clause.words))
