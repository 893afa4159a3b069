"""What ``transactions`` needs of a database: rows, a row that nobody else made, and writes that may be repeated."""

from __future__ import annotations

import json
from base64 import b64decode, b64encode
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from math import isfinite
from typing import Any, Protocol

from newsportal.errors import StoreError
from newsportal.storage.documents.base import Kind, Questions, Row, Table
from newsportal.storage.nesting import levels

Writes = Mapping[str, Mapping[str, Row | None]]
"""Name of the table → id → the row in its present state, ``None`` for one that is deleted."""


class Backend(Questions, Protocol):
    """A database without transactions. Errors are those of the store."""

    @property
    def place(self) -> str:
        """Its URI without the password."""
        ...

    def prepare(self, tables: Sequence[Table]) -> None:
        """These are the tables. What is missing of them is made now, or when something is written into them first."""
        ...

    def vouch(self, writes: Writes) -> None:
        """Raise ``StoreError`` if the database would refuse one of these rows for ever: once decided upon, it has to be written."""
        ...

    def create(self, table: Table, row: Row) -> bool:
        """Insert a row; false if there is one of its id already. Of many that try at once one succeeds."""
        ...

    def apply(self, writes: Writes, number: int, *, told: bool = False) -> None:
        """Write all of it, as state ``number`` of these rows. Rows of a later state stay as they are, so it may be repeated, and late.

        ``told``: a journal tells of it. So it need not outlast a failure of power, provided that no row which is created later outlasts one
        without it.
        """
        ...

    def alone(self, alone: bool) -> None:
        """Nobody else writes for the time being, or others may again: what was read is known to be so still."""
        ...

    def together(self) -> AbstractContextManager[None]:
        """See :meth:`~newsportal.storage.documents.base.Documents.together`."""
        ...

    def close(self) -> None: ...


KINDS: Mapping[Kind, tuple[type, ...]] = {"key": (str,), "float": (float, int), "flag": (bool,)}

LONG = 2**63
"""What a whole number stays under in both databases."""


def fault(table: Table, row: Row) -> str | None:
    """Which field that is looked for holds something else than ``table`` says, or what no database keeps."""
    for name, kind in table.fields.items():
        found = row.get(name)
        if found is not None and not _fits(kind, found):
            return f"{table.name} {row['id']!r}: {name} is {found!r:.100}, and should be a {kind}"
    for name, value in row.items():
        wrong = _unkept(value)
        if wrong:
            return f"{table.name} {row['id']!r}: in {name}, {wrong}"
    return None


def vouched(place: str, tables: Mapping[str, Table], writes: Writes, length: Callable[[Table, Row], int], longest: int) -> None:
    """See :meth:`Backend.vouch`. ``length``: the bytes of a row as it is sent; raises ``StoreError`` for what cannot be sent. ``longest``:
    so many are taken."""
    for name, rows in writes.items():
        for row in rows.values():
            if row is None:
                continue
            wrong = fault(tables[name], row)
            if wrong:
                raise StoreError(f"{place}: {wrong}")
            try:
                sent = length(tables[name], row)
            except StoreError as error:
                raise StoreError(f"{error}: {name} {row['id']!r}") from error
            if sent > longest:
                raise StoreError(f"{place}: {name} {row['id']!r} is longer than the {longest // 10**6} MB that are taken; leave it out")


def _unkept(value: Any) -> str | None:
    """Numbers that MongoDB has no room for, Elasticsearch does not read or JSON cannot say, and what lies too deep for either."""
    try:
        for one in levels(value):
            if isinstance(one, int) and not -LONG <= one < LONG:
                return "a number has more than 64 bits"
            if isinstance(one, float) and not isfinite(one):
                return f"{one} is no number"
    except ValueError as error:
        return str(error)
    return None


def _fits(kind: Kind, value: Any) -> bool:
    if kind == "number":
        return isinstance(value, int) and -LONG <= value < LONG
    if kind == "keys":
        return isinstance(value, list | tuple) and all(isinstance(one, str) for one in value)
    return isinstance(value, KINDS[kind])


def in_json(table: Table, row: Row) -> Row:
    """``row`` in what JSON can say: bytes in base64."""
    if not table.binary:
        return row
    return {name: b64encode(value).decode() if name in table.binary and value is not None else value for name, value in row.items()}


def of_json(table: Table, row: Row) -> Row:
    """The row of :func:`in_json`."""
    for name in table.binary & row.keys():
        if row[name] is not None:
            row[name] = b64decode(row[name])
    return row


def packed(tables: Mapping[str, Table], writes: Writes) -> str:
    """``writes`` as a text. Raises ``StoreError`` for numbers that are none."""
    told = {
        name: {id: None if row is None else in_json(tables[name], row) for id, row in rows.items()} for name, rows in writes.items() if rows
    }
    try:
        return json.dumps(told, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    except ValueError as error:
        raise StoreError(f"a row holds what JSON cannot say: {error}") from error


def unpacked(tables: Mapping[str, Table], text: str) -> dict[str, dict[str, Row | None]]:
    """The writes of :func:`packed`."""
    told = json.loads(text)
    return {name: {id: None if row is None else of_json(tables[name], row) for id, row in rows.items()} for name, rows in told.items()}
