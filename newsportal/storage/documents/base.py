"""What a database of documents must offer, and the words in which it is asked.

A :data:`Row` is what JSON can say, and bytes. Moments are whole microseconds since 1970 (:func:`moment_out`, :func:`moment_in`), as in SQL.
Every row has its ``id``, a text of at most 255 characters, unique in its :class:`Table`.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal, Protocol

from newsportal.storage.columns import EPOCH, MICROSECOND

Row = dict[str, Any]

Kind = Literal["key", "keys", "number", "float", "flag"]
"""What a field that is looked for holds: a text to be found as a whole (``keys``: several, none of them twice), a whole number, a float,
true or false."""


@dataclass(frozen=True)
class Table:
    """A collection (MongoDB) or an index (Elasticsearch). Fields that are not in ``fields`` are kept, but nobody looks for them.

    ``fields`` always has ``id``. ``indexes``: the fields of each index that a list is read from (``-`` before one that falls).
    ``binary``: fields that hold bytes; they stand in the row itself, not inside its lists and mappings.
    """

    name: str
    fields: Mapping[str, Kind]
    indexes: tuple[tuple[str, ...], ...] = ()
    binary: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Is:
    """The field is this value, or has it among its values. ``None``: it is missing, ``None``, or an empty list."""

    field: str
    value: Any


@dataclass(frozen=True)
class In:
    """The field is one of these, or has one of them among its values."""

    field: str
    values: Collection[Any]


@dataclass(frozen=True)
class Within:
    """``low <= field < high``; a bound that is ``None`` does not bind. ``above`` makes it ``low < field``, ``upto`` ``field <= high``.

    For fields of one value (not for ``keys``).
    """

    field: str
    low: Any = None
    high: Any = None
    above: bool = False
    upto: bool = False


@dataclass(frozen=True)
class Not:
    of: Condition


@dataclass(frozen=True)
class Every:
    """All of these hold."""

    of: tuple[Condition, ...]


@dataclass(frozen=True)
class Either:
    """At least one of these holds."""

    of: tuple[Condition, ...]


Condition = Is | In | Within | Not | Every | Either


def holds(row: Mapping[str, Any], condition: Condition) -> bool:
    """Whether ``row`` meets ``condition``: what databases answer, said in Python."""
    match condition:
        case Is(name, None):
            return row.get(name) in (None, [])
        case Is(name, value):
            return value in _values(row, name)
        case In(name, values):
            return any(value in values for value in _values(row, name))
        case Within(name):
            return any(_within(value, condition) for value in _values(row, name))
        case Not(of):
            return not holds(row, of)
        case Every(of):
            return all(holds(row, one) for one in of)
        case Either(of):
            return any(holds(row, one) for one in of)


def _values(row: Mapping[str, Any], name: str) -> Sequence[Any]:
    value = row.get(name)
    return value if isinstance(value, list) else () if value is None else (value,)


def _within(value: Any, bounds: Within) -> bool:
    if bounds.low is not None and (value <= bounds.low if bounds.above else value < bounds.low):
        return False
    return bounds.high is None or (value <= bounds.high if bounds.upto else value < bounds.high)


def in_order(rows: Iterable[Row], order: Sequence[str]) -> list[Row]:
    """``rows`` as ``order`` says, ties by id in the direction of the last field; rows without a field come last."""
    found = list(rows)
    for name in reversed((*order, tie(order))):
        falls, plain = name.startswith("-"), name.lstrip("-")
        there = [row for row in found if row.get(plain) is not None]
        found = [*sorted(there, key=lambda row: row[plain], reverse=falls), *(row for row in found if row.get(plain) is None)]
    return found


def tie(order: Sequence[str]) -> str:
    """What decides between rows that ``order`` does not tell apart."""
    return "-id" if order and order[-1].startswith("-") else "id"


class Questions(Protocol):
    """What may be asked of tables. Answers are rows of one's own: whoever changes one changes nothing in the database."""

    def get(self, table: Table, ids: Collection[str], *, without: Collection[str] = (), only: Collection[str] = ()) -> dict[str, Row]:
        """Id → row, of those that exist. ``without``: fields that are not needed (long texts). ``only``: these fields and ``id``."""
        ...

    def find(
        self, table: Table, *where: Condition, order: Sequence[str] = (), limit: int | None = None, skip: int = 0,
        without: Collection[str] = (), only: Collection[str] = (),
    ) -> list[Row]:  # fmt: skip
        """Rows that meet every condition, in ``order`` (``-field`` falls; ties by id), at most ``limit`` of them, all if ``None``.

        ``only``: these fields and ``id``. Rows without a field come last when sorted by it.
        """
        ...

    def count(self, table: Table, *where: Condition) -> int: ...

    def count_by(self, table: Table, name: str, *where: Condition) -> dict[Any, int]:
        """Value of the field → rows that have it (of a list: each of its values); rows without it are left out."""
        ...


class Rows(Questions, Protocol):
    """What may be asked."""

    def last(self, counter: str) -> int:
        """The number that :meth:`Transaction.next` gave last, 0 before the first. Costs a transaction nothing: it knows its counters."""
        ...


class Transaction(Rows, Protocol):
    """Answers what the database has with what this transaction has put and deleted. Nobody else writes meanwhile."""

    def ahead(self, table: Table, ids: Collection[str]) -> None:
        """Read these rows now, by one question, as far as they exist: who gets them later asks nobody."""
        ...

    def put(self, table: Table, row: Row) -> None:
        """Write the row, in place of the one of its ``id``."""
        ...

    def change(self, table: Table, id: str, **values: Any) -> None:
        """Set fields of a row that exists; of one that does not, nothing."""
        ...

    def delete(self, table: Table, ids: Iterable[str]) -> int:
        """Answers how many there were."""
        ...

    def next(self, counter: str) -> int:
        """The next number of a counter, from 1. None that was written is given twice, and none is left out."""
        ...

    def taken(self, counter: str, number: int) -> None:
        """No number up to this one is given any more: rows were brought that have theirs already."""
        ...


class Documents(Rows, Protocol):
    """A database. Errors are those of the store: ``StoreUnavailable`` (away: try again), ``StoreTooNew``.

    ``writing()``: one transaction, whole or not at all, whatever dies when; those of all processes one after the other. What it wrote is
    seen by every ``find`` afterwards. An error inside writes nothing.
    """

    @property
    def place(self) -> str:
        """What to call it in messages: its URI without the password."""
        ...

    def writing(self) -> AbstractContextManager[Transaction]: ...

    def together(self) -> AbstractContextManager[None]:
        """What this thread asks inside is one look: of a table it sees at least what was written before the first question about it."""
        ...

    def close(self) -> None: ...


@dataclass
class Pending:
    """What a transaction has written and the database has not: rows by table, ``None`` for those deleted."""

    rows: dict[str, dict[str, Row | None]] = field(default_factory=dict)

    def of(self, table: Table) -> dict[str, Row | None]:
        return self.rows.setdefault(table.name, {})


def moment_in(moment: datetime | None) -> int | None:
    """An aware datetime as microseconds since 1970."""
    return None if moment is None else (moment - EPOCH) // MICROSECOND


def moment_out(value: int | None) -> datetime | None:
    """The datetime (UTC) of :func:`moment_in`."""
    return None if value is None else EPOCH + MICROSECOND * int(value)
