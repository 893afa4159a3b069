"""Rows of documents as the rooms speak of them: moments as datetimes, and long answers read in pages."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any, Final

from newsportal.storage.documents.base import Condition, Either, Every, Is, Row, Rows, Table, Within, moment_in, moment_out, tie

PAGE: Final = 1000
"""Rows read at once when everything is streamed."""


def plain(values: Mapping[str, Any]) -> Row:
    """Values as they are kept: datetimes as microseconds."""
    return {key: moment_in(value) if isinstance(value, datetime) else value for key, value in values.items()}


def aware(row: Mapping[str, Any], *moments: str) -> Row:
    """The inverse of :func:`plain` for the columns ``moments``; missing ones are ``None``."""
    return {**row, **{name: moment_out(row.get(name)) for name in moments}}


def behind(row: Mapping[str, Any], order: Sequence[str]) -> Condition:
    """What comes after ``row`` in ``order``; every row has those fields."""
    sides: list[Condition] = []
    same: tuple[Condition, ...] = ()
    for name in dict.fromkeys((*order, tie(order))):
        field = name.lstrip("-")
        after = Within(field, high=row[field]) if name.startswith("-") else Within(field, low=row[field], above=True)
        sides.append(Every((*same, after)))
        same = (*same, Is(field, row[field]))
    return Either(tuple(sides))


def in_pages(
    rows: Rows, table: Table, *where: Condition, order: Sequence[str] = ("id",), size: int = PAGE, only: Collection[str] = (),
    without: Collection[str] = (),
) -> Iterator[list[Row]]:  # fmt: skip
    """What ``Rows.find`` would answer, page by page; between two pages others may write."""
    further: tuple[Condition, ...] = ()
    if only:
        only = {*only, *(name.lstrip("-") for name in order)}
    while page := rows.find(table, *where, *further, order=order, limit=size, only=only, without=without):
        yield page
        if len(page) < size:
            return
        further = (behind(page[-1], order),)
