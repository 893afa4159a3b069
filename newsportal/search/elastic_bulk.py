"""Many writes to Elasticsearch at once, each of which may be repeated."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from typing import Any

from newsportal.search.elastic_connection import Connection
from newsportal.search.elastic_errors import BUSY, FULL, Busy, answered, cause

BYTES = 5_000_000
"""Sent at once (Elastic's advice is 5 to 15 MB)."""

LATER = 409
"""The status of a write that found a later state, which stays."""

GONE = 404
"""The status of a deletion that found nothing."""


def send(connection: Connection, writes: Iterable[Sequence[bytes]]) -> None:
    """Send ``writes``, each of a line or two."""
    for some in _portions(writes):
        waiting = some
        while waiting:
            waiting = connection.ask(partial(_left, connection, waiting))


def _left(connection: Connection, writes: Sequence[Sequence[bytes]]) -> list[Sequence[bytes]]:
    """Send; answers what the server had no time for. Raises ``Busy`` when that is all of it."""
    operations: Any = [line for lines in writes for line in lines]  # lines of JSON go as they are, which the client's types do not say
    answer = connection.client.bulk(operations=operations)
    if not answer["errors"]:
        return []
    left = []
    for lines, told in zip(writes, answer["items"], strict=True):
        (item,) = told.values()
        if item["status"] < 300 or _in_order(item):
            continue
        if item["status"] not in BUSY or FULL in cause(item):
            raise answered(item["status"], cause(item), connection.place)
        left.append(lines)
    if len(left) == len(writes):
        raise Busy(f"{connection.place}: the server has too much to do; try again")
    return left


def _in_order(item: dict[str, Any]) -> bool:
    """Whether an item that was not written is as it should be: a later state, or a row that is not there."""
    return item["status"] == LATER or (item["status"] == GONE and item.get("result") == "not_found")


def _portions(writes: Iterable[Sequence[bytes]]) -> Iterator[list[Sequence[bytes]]]:
    some: list[Sequence[bytes]] = []
    size = 0
    for lines in writes:
        length = sum(map(len, lines))
        if some and size + length > BYTES:
            yield some
            some, size = [], 0
        some.append(lines)
        size += length
    if some:
        yield some
