"""Conditions, orders, tables and rows in Elasticsearch's words. Pure."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from newsportal.items import content_id
from newsportal.storage.documents.backend import in_json, of_json
from newsportal.storage.documents.base import Condition, Either, Every, In, Is, Kind, Not, Row, Table, Within, tie

LONGEST_ID = 512
"""Bytes of an ``_id`` that Elasticsearch takes."""

LONGEST_WORD = 8191
"""Characters of a text that is found as a whole: 32,766 bytes are what Lucene takes, and a character has up to four."""

TERMS = 60_000
"""Values named in one question (``index.max_terms_count`` is 65,536)."""

TYPES: Mapping[Kind, dict[str, Any]] = {
    "key": {"type": "keyword", "ignore_above": LONGEST_WORD},
    "keys": {"type": "keyword", "ignore_above": LONGEST_WORD},
    "number": {"type": "long"},
    "float": {"type": "double"},
    "flag": {"type": "boolean"},
}


def mapping(table: Table) -> dict[str, Any]:
    """The fields that are looked for; all else is kept and not looked at."""
    return {"dynamic": False, "properties": {name: dict(TYPES[kind]) for name, kind in table.fields.items()}}


SETTINGS: Mapping[str, Any] = {
    "number_of_shards": 1,
    "auto_expand_replicas": "0-1",
    # who asks has the index refreshed first: nothing is refreshed for nobody
    "refresh_interval": "-1",
    # how long the state of a deleted row is remembered, that no late writer brings it back (transactions.LEASE is far shorter)
    "gc_deletes": "10m",
}


def key(id: str) -> str:
    """The ``_id`` of a row."""
    return id if len(id.encode("utf-8", "surrogatepass")) <= LONGEST_ID else f"long-{content_id(id)}"


def question(conditions: Sequence[Condition]) -> dict[str, Any]:
    """The query of rows that meet every condition; scores nothing."""
    return {"bool": {"filter": [_told(one) for one in conditions]}} if conditions else {"match_all": {}}


def _told(condition: Condition) -> dict[str, Any]:
    match condition:
        case Is(name, None):
            return {"bool": {"must_not": [{"exists": {"field": name}}]}}
        case Is(name, value):
            return {"term": {name: value}}
        case In(name, values):
            return _any_of(name, list(values))
        case Within(name):
            bounds = _bounds(condition)
            return {"range": {name: bounds}} if bounds else {"exists": {"field": name}}
        case Not(of):
            return {"bool": {"must_not": [_told(of)]}}
        case Every(of):
            return question(of)
        case Either(of):
            return {"bool": {"should": [_told(one) for one in of], "minimum_should_match": 1}} if of else {"match_none": {}}


def _any_of(name: str, values: Sequence[Any]) -> dict[str, Any]:
    parts = [{"terms": {name: values[start : start + TERMS]}} for start in range(0, len(values), TERMS)]
    if len(parts) == 1:
        return parts[0]
    return {"bool": {"should": parts, "minimum_should_match": 1}} if parts else {"match_none": {}}


def _bounds(within: Within) -> dict[str, Any]:
    found = {}
    if within.low is not None:
        found["gt" if within.above else "gte"] = within.low
    if within.high is not None:
        found["lte" if within.upto else "lt"] = within.high
    return found


def sorting(order: Sequence[str]) -> list[dict[str, Any]]:
    """``order`` with what decides between equals; rows without a field come last."""
    names = [*order] if any(name.lstrip("-") == "id" for name in order) else [*order, tie(order)]
    return [{name.lstrip("-"): {"order": "desc" if name.startswith("-") else "asc", "missing": "_last"}} for name in names]


def chosen(without: Collection[str], only: Collection[str]) -> dict[str, Any]:
    """Which fields come, as parameters of a question."""
    if only:
        return {"source_includes": [*only, "id"]}
    return {"source_excludes": list(without)} if without else {}


def line(value: Any) -> bytes:
    """``value`` as a line of JSON. Raises ``ValueError`` for what JSON cannot say."""
    return json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode()


def lines_of(table: Table, index: str, id: str, row: Row | None, number: int) -> list[bytes]:
    """The lines that put or delete a row, as its state ``number``."""
    what = "delete" if row is None else "index"
    head = line({what: {"_index": index, "_id": key(id), "version": number, "version_type": "external_gte"}})
    return [head] if row is None else [head, line(in_json(table, row))]


def read(table: Table, source: Row) -> Row:
    """The row of a document."""
    return of_json(table, source)
