"""What a transaction sees: the database, with what it has written itself and nobody else knows yet."""

from __future__ import annotations

from collections import ChainMap, Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from copy import deepcopy
from typing import Any

from newsportal.errors import StoreError
from newsportal.storage.documents.base import Condition, In, Pending, Questions, Row, Table, holds, in_order

MORE = 100
"""Rows asked for beyond those wanted, in place of those that the transaction has changed; the double if that was too few."""

IDS = 1000
"""Ids named in one question."""


class Overlay:
    """A :class:`~newsportal.storage.documents.base.Transaction` whose writes stay in ``pending`` and ``counters``."""

    def __init__(self, rows: Questions, counters: Mapping[str, int]) -> None:
        self._rows = rows
        self.pending = Pending()
        self.counters = dict(counters)
        self._read: dict[str, dict[str, Row | None]] = {}

    def ahead(self, table: Table, ids: Collection[str]) -> None:
        there = self._rows.get(table, ids)
        self._read.setdefault(table.name, {}).update({id: there.get(id) for id in ids})

    def get(self, table: Table, ids: Collection[str], *, without: Collection[str] = (), only: Collection[str] = ()) -> dict[str, Row]:
        known = ChainMap(self.pending.of(table), self._read.get(table.name, {}))
        asked = [id for id in dict.fromkeys(ids) if id not in known]
        found = self._rows.get(table, asked, without=without, only=only) if asked else {}
        for id in dict.fromkeys(ids):
            row = known.get(id)
            if row is not None:
                found[id] = chosen(row, without, only)
        return found

    def find(
        self, table: Table, *where: Condition, order: Sequence[str] = (), limit: int | None = None, skip: int = 0,
        without: Collection[str] = (), only: Collection[str] = (),
    ) -> list[Row]:  # fmt: skip
        mine = self.pending.of(table)
        if not mine:
            return self._rows.find(table, *where, order=order, limit=limit, skip=skip, without=without, only=only)
        sorted_by = {name.lstrip("-") for name in order}
        end = None if limit is None else skip + limit
        needed = {*only, *sorted_by} if only else ()

        def page(most: int | None) -> list[Row]:
            return self._rows.find(table, *where, order=order, limit=most, without=set(without) - sorted_by, only=needed)

        theirs = page(None) if end is None else enough(page, mine, end)
        ours = [row for row in mine.values() if row is not None and _all_hold(row, where)]
        merged = in_order([*(row for row in theirs if row["id"] not in mine), *ours], order)
        return [chosen(row, without, only) for row in merged[skip:end]]

    def count(self, table: Table, *where: Condition) -> int:
        changed = sum(self._rows.count(table, *where, some) for some in self._touched(table))
        return self._rows.count(table, *where) - changed + sum(1 for _ in self._ours(table, where))

    def count_by(self, table: Table, name: str, *where: Condition) -> dict[Any, int]:
        counted = Counter(self._rows.count_by(table, name, *where))
        for some in self._touched(table):
            counted.subtract(self._rows.count_by(table, name, *where, some))
        for row in self._ours(table, where):
            value = row.get(name)
            counted.update(set(value) if isinstance(value, list) else () if value is None else (value,))
        return {value: rows for value, rows in counted.items() if rows}

    def last(self, counter: str) -> int:
        return self.counters.get(counter, 0)

    def put(self, table: Table, row: Row) -> None:
        try:
            self.pending.of(table)[row["id"]] = deepcopy(row)
        except RecursionError as error:
            raise StoreError(f"{table.name} {row['id']!r}: lists or mappings lie too deep within one another") from error

    def change(self, table: Table, id: str, **values: Any) -> None:
        row = self.get(table, [id]).get(id)
        if row is not None:
            self.put(table, {**row, **values})

    def delete(self, table: Table, ids: Iterable[str]) -> int:
        asked = list(dict.fromkeys(ids))
        there = self.get(table, asked, only=("id",)) if asked else {}
        self.pending.of(table).update(dict.fromkeys(there))
        return len(there)

    def next(self, counter: str) -> int:
        self.counters[counter] = self.last(counter) + 1
        return self.counters[counter]

    def taken(self, counter: str, number: int) -> None:
        self.counters[counter] = max(number, self.last(counter))

    def _ours(self, table: Table, where: Sequence[Condition]) -> Iterator[Row]:
        return (row for row in self.pending.of(table).values() if row is not None and _all_hold(row, where))

    def _touched(self, table: Table) -> Iterator[Condition]:
        """Conditions that together name the rows that the transaction has changed."""
        ids = list(self.pending.of(table))
        return (In("id", ids[start : start + IDS]) for start in range(0, len(ids), IDS))


def enough(page: Callable[[int], list[Row]], mine: Collection[str], end: int) -> list[Row]:
    """The first rows of the database, so many that ``end`` of them are not among ``mine`` (all, if there are not so many)."""
    more = min(len(mine), MORE)
    while True:
        found = page(end + more)
        if len(found) < end + more or sum(1 for row in found if row["id"] not in mine) >= end:
            return found
        more *= 2


def _all_hold(row: Row, where: Sequence[Condition]) -> bool:
    return all(holds(row, condition) for condition in where)


def chosen(row: Row, without: Collection[str], only: Collection[str]) -> Row:
    """A copy of the fields that are wanted."""
    if only:
        return {name: deepcopy(value) for name, value in row.items() if name in only or name == "id"}
    return {name: deepcopy(value) for name, value in row.items() if name not in without}
