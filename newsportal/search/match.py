"""Terms as FTS5 expressions. Only letters, digits and Chinese characters ever reach an expression, each word quoted: nothing to inject.

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
from newsportal.search.syntax import Term
from newsportal.search.words import is_chinese, sequence

Reading = Literal["words", "grams", "any"]
TEXT = "{title body}"

MAX_ANY = 8
"""Of many words of which any will do, the longest are asked for: they say most, and each costs a walk through its matches."""


@dataclass
class Match:
    """Expressions for the tables ``words``, ``grams`` and ``title_grams``: needed, and (``without``) unwanted ones."""

    words: list[str] = field(default_factory=list)
    grams: list[str] = field(default_factory=list)
    title_grams: list[str] = field(default_factory=list)
    without_words: list[str] = field(default_factory=list)
    without_grams: list[str] = field(default_factory=list)
    without_title_grams: list[str] = field(default_factory=list)
    phrases: list[tuple[str | None, str]] = field(default_factory=list)  # (field, sequence) to be looked for in the text itself


def compile_terms(terms: Sequence[Term], query: Query, reading: Reading) -> Match:
    """What ``terms`` and the filters of ``query`` ask for under a reading."""
    match = Match(words=[f'labels : "{token}"' for token in filters(query)])
    optional: list[Term] = []
    for term in terms:
        if term.sign == "-":
            _without(match, term)
        elif reading == "any" and not term.sign and term.field is None and not term.phrase:
            optional.append(term)
        else:
            _needed(match, term, "words" if reading == "any" else reading)
    if optional:
        _any_of(match, optional)
    return match


def _needed(match: Match, term: Term, reading: Reading) -> None:
    if term.field == "kind":
        match.words.append(_kind(term))
        return
    if term.field and term.field != "title":
        match.words.append(f"{term.field} : {_all(term.grams)}")
        return
    pairs = match.title_grams if term.field else match.grams
    if term.phrase or reading == "grams":
        pairs.append(_all(term.grams))
        if term.phrase and len(term.grams) > 1:
            match.phrases.append((term.field, sequence(term.text)))
        return
    long = [word for word in term.words if not _single(word)]
    if long:
        match.words.append(f"{term.field or TEXT} : {_all(long)}")
    pairs.extend(_quoted(word) for word in term.words if _single(word))


def _without(match: Match, term: Term) -> None:
    if term.field == "kind":
        match.without_words.append(_kind(term))
    elif term.field == "title":
        match.without_title_grams.append(_all(term.grams))
    elif term.field:
        match.without_words.append(f"{term.field} : {_all(term.grams)}")
    elif term.phrase or any(_single(word) for word in term.words):
        match.without_grams.append(_all(term.grams))
    else:
        match.without_words.append(f"{TEXT} : {_all(term.words)}")


def _kind(term: Term) -> str:
    said = term.text.lower()
    return f'labels : "{label("kind", KINDS.get(said, said))}"'


def _any_of(match: Match, terms: Iterable[Term]) -> None:
    words = list(dict.fromkeys(word for term in terms for word in term.words))
    long = sorted((word for word in words if not _single(word)), key=len, reverse=True)[:MAX_ANY]
    if long:
        match.words.append(f"{TEXT} : ({' OR '.join(map(_quoted, long))})")
    else:
        match.grams.append(f"({' OR '.join(map(_quoted, words))})")


def expression(needed: Sequence[str], without: Sequence[str] = ()) -> str:
    """All of ``needed``, none of ``without``."""
    joined = " AND ".join(f"({part})" for part in needed)
    return f"({joined}) NOT ({any_of(without)})" if without else joined


def any_of(parts: Iterable[str]) -> str:
    """At least one of ``parts``."""
    return " OR ".join(f"({part})" for part in parts)


def filters(query: Query) -> list[str]:
    """The label tokens of a query's filters."""
    named = (("topic", query.topic), ("site", query.site), ("category", query.category))
    return [label(kind, value) for kind, value in named if value is not None]


def label(kind: str, value: str) -> str:
    """A topic, site or category as one token, exact to the letter."""
    return f"{kind[0]}{content_id(value)}"


def _single(word: str) -> bool:
    return len(word) == 1 and is_chinese(word)


def _quoted(word: str) -> str:
    return f'"{word}"'


def _all(words: Iterable[str]) -> str:
    return f"({' AND '.join(map(_quoted, words))})"
