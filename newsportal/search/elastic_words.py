"""Clauses as queries of Elasticsearch: objects, never strings, so that nothing that is typed can be taken for syntax."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from newsportal.search.match import TITLE_BONUS, TITLE_WEIGHT, Clause, Match, Place, in_title
from newsportal.search.syntax import Asked
from newsportal.store.columns import EPOCH, MICROSECOND

RANK = 1024.0
"""What a reading adds to the score of a hit: more than all words together earn (32 words of at most some 30 each)."""

FIELDS: dict[Place, str] = {"labels": "labels", "grams": "grams", "title_grams": "title_grams"}
"""The field of exact values of a place; a name that is not here has ``in_NAME``."""


def best_of(matches: Sequence[tuple[int, Match]], asked: Asked) -> dict[str, Any]:
    """Articles of any of these readings, each scored by the first that it meets; the rank of the reading counts before all else."""
    readings = [
        {"bool": {"must": [ranked(match), {"match_all": {"boost": RANK * rank}}] if rank else [ranked(match)]}} for rank, match in matches
    ]
    bounds = between(asked)
    return {"bool": {"must": [{"dis_max": {"queries": readings}}], "filter": [bounds] if bounds else []}}


def ranked(match: Match) -> dict[str, Any]:
    """What ``match`` asks for; words are scored by BM25F, characters in the title earn :data:`TITLE_BONUS`."""
    must = [clause(one) for one in match.needed if one.place in ("text", "title")]
    exact = [clause(one) for one in match.needed if one.place not in ("text", "title")]
    bonus = (
        [{"constant_score": {"filter": clause(Clause("title_grams", words)), "boost": TITLE_BONUS}}]
        if (words := in_title(match.needed))
        else []
    )
    return {
        "bool": {
            "must": must,
            "filter": [*exact, *(phrase(field, order) for field, order in match.phrases)],
            "must_not": [clause(one) for one in match.without],
            "should": bonus,
            "minimum_should_match": 0,
        }
    }


def clause(asked: Clause) -> dict[str, Any]:
    """A clause as a query."""
    operator = "or" if asked.any_of else "and"
    joined = " ".join(asked.words)
    if asked.place == "text":
        return {"combined_fields": {"query": joined, "fields": [f"title_words^{TITLE_WEIGHT:g}", "text_words"], "operator": operator}}
    if asked.place == "title":
        return {"match": {"title_words": {"query": joined, "operator": operator}}}
    field = FIELDS.get(asked.place, f"in_{asked.place}")
    if asked.any_of:
        return {"terms": {field: list(asked.words)}}
    return {"bool": {"filter": [{"term": {field: word}} for word in asked.words]}}


def phrase(field: str | None, order: str) -> dict[str, Any]:
    """Title (or text, if no field is named) has these characters and words on end."""
    places = ("title_order",) if field else ("title_order", "text_order")
    return {"bool": {"should": [{"match_phrase": {place: order.strip()}} for place in places], "minimum_should_match": 1}}


def between(asked: Asked) -> dict[str, Any] | None:
    """The bounds of time, in microseconds since 1970."""
    bounds = {name: (moment - EPOCH) // MICROSECOND for name, moment in (("gte", asked.since), ("lt", asked.until)) if moment is not None}
    return {"range": {"moment": bounds}} if bounds else None
