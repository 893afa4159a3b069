"""Conditions, orders and rows in MongoDB's words. Pure."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from newsportal.storage.documents.base import Condition, Either, Every, In, Is, Not, Row, Within, tie

VERSION = "_v"
"""The field that says in which transaction a row was written last."""

LISTED = "%"
"""The only key of a mapping that stands for a list within a list, which FerretDB refuses. No escaped key is this."""

ESCAPED = {"%": "%25", ".": "%2E", "$": "%24"}
"""Characters that keys of mappings must not have (FerretDB refuses them, MongoDB reads them as paths), and what stands for them."""


def question(conditions: Sequence[Condition]) -> dict[str, Any]:
    """The filter of rows that meet every condition."""
    told = [_told(one) for one in conditions]
    return {} if not told else told[0] if len(told) == 1 else {"$and": told}


def _told(condition: Condition) -> dict[str, Any]:
    match condition:
        case Is(name, None):
            return {"$or": [{_at(name): None}, {_at(name): {"$size": 0}}]}
        case Is(name, value):
            return {_at(name): value}
        case In(name, values):
            return {_at(name): {"$in": list(values)}}
        case Within(name):
            bounds = _bounds(condition)
            return {_at(name): bounds} if bounds else {"$nor": [_told(Is(name, None))]}
        case Not(of):
            return {"$nor": [_told(of)]}
        case Every(of):
            return {"$and": [_told(one) for one in of]} if of else {}
        case Either(of):
            return {"$or": [_told(one) for one in of]} if of else {"_id": {"$in": []}}


def _bounds(within: Within) -> dict[str, Any]:
    found = {}
    if within.low is not None:
        found["$gt" if within.above else "$gte"] = within.low
    if within.high is not None:
        found["$lte" if within.upto else "$lt"] = within.high
    return found


def _at(name: str) -> str:
    return "_id" if name == "id" else name


def sorting(order: Sequence[str]) -> list[tuple[str, int]]:
    """``order`` with what decides between equals. Rows without a field come first where it rises: the caller sees to it."""
    if any(name.lstrip("-") == "id" for name in order):
        told = list(order)
    else:
        told = [*order, tie(order)]
    return [(_at(name.lstrip("-")), -1 if name.startswith("-") else 1) for name in told]


def projection(without: Collection[str], only: Collection[str], order: Sequence[str] = ()) -> dict[str, int] | None:
    """Which fields come; those of ``order`` are needed to see whether they are there."""
    needed = {name.lstrip("-") for name in order}
    if only:
        return {_at(name): 1 for name in {*only, *needed, "id"}}
    return dict.fromkeys(set(without) - needed, 0) or None


def stored(row: Row, number: int) -> dict[str, Any]:
    """The document of a row, written in transaction ``number``."""
    told = {name: _kept(value) for name, value in row.items() if name != "id"}
    return {"_id": row["id"], VERSION: number, **told}


def read(document: Mapping[str, Any]) -> Row:
    """The row of a document."""
    row = {name: _given(value) for name, value in document.items() if name not in ("_id", VERSION)}
    row["id"] = document["_id"]
    return row


def _kept(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {_escaped(str(key)): _kept(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [{LISTED: _kept(inner)} if isinstance(inner, list | tuple) else _kept(inner) for inner in value]
    return value


def _given(value: Any) -> Any:
    if isinstance(value, Mapping):
        if value.keys() == {LISTED}:
            return _given(value[LISTED])
        return {_plain(key): _given(inner) for key, inner in value.items()}
    return [_given(inner) for inner in value] if isinstance(value, list) else value


def _escaped(key: str) -> str:
    return "".join(ESCAPED.get(character, character) for character in key)


def _plain(key: str) -> str:
    return key.replace("%2E", ".").replace("%24", "$").replace("%25", "%") if "%" in key else key
