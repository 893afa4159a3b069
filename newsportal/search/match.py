"""Terms as clauses that every index understands. Only letters, digits and Chinese characters ever stand in a clause: nothing to inject.

Three readings, from strict to wide; a wider one is asked only when the stricter found little:

- ``words``: every term by its words, so that 市民 is not found where 城市民警 stands;
- ``grams``: every term by its pairs of characters: whatever contains it, however it was cut;
- ``any``: any of the terms (those with + still needed, those with - still out).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Literal

from newsportal.items import content_id
from newsportal.search.base import KINDS, Query
from newsportal.search.syntax import Asked, Term
from newsportal.search.words import is_chinese, sequence

Reading = Literal["words", "grams", "any"]

READINGS: tuple[tuple[int, Reading], ...] = ((2, "words"), (1, "grams"), (0, "any"))
"""The whole part of a hit's score says under which reading it was found."""

WIDEN_BELOW = 20
"""With fewer hits than a page, whatever contains the characters is shown after what contains the words."""

TITLE_WEIGHT = 10.0
"""A word of the title tells ten times as much as one of the text. Usual for titles, not fitted."""

TITLE_BONUS = 1.0
"""What the characters of a query in the title add to the relevance of a match by characters. Chosen, not fitted."""

CLOSE = 1.0
"""From this score on a hit holds all the words."""

MAX_ANY = 8
"""Of many words of which any will do, the longest are asked for: they say most, and each costs a walk through its matches."""

Place = Literal["text", "title", "site", "author", "topic", "category", "labels", "grams", "title_grams"]
"""``text``, ``title``: words of title or text, of the title. ``site`` … ``category``: characters and pairs of a name. ``labels``: exact
values. ``grams``, ``title_grams``: characters and pairs of title or text, of the title."""


@dataclass(frozen=True, slots=True)
class Clause:
    """All of ``words`` stand at ``place``; with ``any_of`` at least one of them does."""

    place: Place
    words: tuple[str, ...]
    any_of: bool = False


@dataclass
class Match:
    """All of ``needed`` and of ``phrases`` (field, :func:`~newsportal.search.words.sequence`), none of ``without``."""

    needed: list[Clause] = field(default_factory=list)
    without: list[Clause] = field(default_factory=list)
    phrases: list[tuple[str | None, str]] = field(default_factory=list)


def relevance(rank: int, score: float) -> float:
    """A hit's score: its reading, and what it scored under it between 0 and 1."""
    return rank + max(0.0, score) / (1.0 + max(0.0, score))


def compile_terms(asked: Asked, query: Query, reading: Reading) -> Match:
    """What the terms and the filters of ``query`` ask for under a reading."""
    match = Match([Clause("labels", (token,)) for token in filters(query)])
    optional: list[Term] = []
    for term in asked.terms:
        if term.sign == "-":
            match.without.append(_unwanted(term))
        elif reading == "any" and not term.sign and term.field is None and not term.phrase:
            optional.append(term)
        else:
            _needed(match, term, "words" if reading == "any" else reading)
    if optional:
        match.needed.append(_any_of(optional))
    if not any(term.sign != "-" for term in asked.terms):  # a time alone
        match.needed.append(Clause("labels", tuple(label("kind", kind) for kind in sorted(set(KINDS.values()))), any_of=True))
    return match


def _needed(match: Match, term: Term, reading: Reading) -> None:
    if (named := _named(term)) is not None:
        match.needed.append(named)
        return
    pairs: Place = "title_grams" if term.field else "grams"
    if term.phrase or reading == "grams":
        match.needed.append(Clause(pairs, term.grams))
        if term.phrase and len(term.grams) > 1:
            match.phrases.append((term.field, sequence(term.text)))
        return
    if long := tuple(word for word in term.words if not _single(word)):
        match.needed.append(Clause("title" if term.field else "text", long))
    match.needed += [Clause(pairs, (word,)) for word in term.words if _single(word)]


def _unwanted(term: Term) -> Clause:
    if (named := _named(term)) is not None:
        return named
    if term.field:
        return Clause("title_grams", term.grams)
    if term.phrase or any(_single(word) for word in term.words):
        return Clause("grams", term.grams)
    return Clause("text", term.words)


def _named(term: Term) -> Clause | None:
    """What a term of another field than the title asks for."""
    if term.field == "kind":
        said = term.text.lower()
        return Clause("labels", (label("kind", KINDS.get(said, said)),))
    places: dict[str | None, Place] = {"site": "site", "author": "author", "topic": "topic", "category": "category"}
    return Clause(places[term.field], term.grams) if term.field in places else None


def _any_of(terms: Iterable[Term]) -> Clause:
    words = list(dict.fromkeys(word for term in terms for word in term.words))
    long = sorted((word for word in words if not _single(word)), key=len, reverse=True)[:MAX_ANY]
    return Clause("text", tuple(long), any_of=True) if long else Clause("grams", tuple(words), any_of=True)


def filters(query: Query) -> list[str]:
    """The label tokens of a query's filters."""
    named = (("topic", query.topic), ("site", query.site), ("category", query.category))
    return [label(kind, value) for kind, value in named if value is not None]


def label(kind: str, value: str) -> str:
    """A topic, site or category as one token, exact to the letter."""
    return f"{kind[0]}{content_id(value)}"


def _single(word: str) -> bool:
    return len(word) == 1 and is_chinese(word)


def in_title(needed: Sequence[Clause]) -> tuple[str, ...]:
    """The characters of a query that earn :data:`TITLE_BONUS` where the title has them all; empty if there are none to look for."""
    clauses = [clause for clause in needed if clause.place == "grams" and not clause.any_of]
    return tuple(dict.fromkeys(word for clause in clauses for word in clause.words))
