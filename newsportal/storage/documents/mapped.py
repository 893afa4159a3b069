"""How the rows of the SQL tables lie in a database of documents (:mod:`tables`, :mod:`room_tables`): each in a row of its own, or as an
item of a list in another row. What is only derived is derived again when rows are written."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from newsportal.storage.documents.base import In, Row, Rows, Table, Transaction
from newsportal.storage.documents.plain import in_pages
from newsportal.storage.documents.room_tables import row_id
from newsportal.storage.documents.tables import as_text
from newsportal.storage.records import PAGE, Form, Key, Record


class Mapped(Protocol):
    """A SQL table in a database of documents."""

    def rows(self, rows: Rows) -> Iterator[Row]: ...

    def get(self, rows: Rows, keys: Collection[Key]) -> list[Row]: ...

    def count(self, rows: Rows) -> int: ...

    def put(self, transaction: Transaction, records: Sequence[Record]) -> None: ...

    def delete(self, transaction: Transaction, keys: Collection[Key]) -> int: ...


Beside = Callable[[Rows, Sequence[Row]], Sequence[Row]]
"""What rows hold beside the columns: given the rows to be written, the same with it."""


def nothing(rows: Rows, written: Sequence[Row]) -> Sequence[Row]:
    return written


@dataclass(frozen=True)
class Own:
    """A row each. ``renamed``: column → field; ``texts``: columns whose JSON is kept as a text; ``lists``: fields that other tables fill,
    which are empty at first and stay when the row is written again; ``name``: what a row is called, given its record."""

    form: Form
    table: Table
    renamed: Mapping[str, str] = field(default_factory=dict)
    texts: frozenset[str] = frozenset()
    lists: tuple[str, ...] = ()
    beside: Beside = nothing
    name: Callable[[Record], str] | None = None

    def id(self, key: Key) -> str:
        record = dict(zip(self.form.key, key, strict=True))
        if self.name is not None:
            return self.name(record)
        return str(key[0]) if self.form.key == ("id",) and self.table.name != "runs" else row_id(*key)

    def rows(self, rows: Rows) -> Iterator[Row]:
        for page in in_pages(rows, self.table, size=PAGE, without=self.lists):
            yield from map(self.record, page)

    def get(self, rows: Rows, keys: Collection[Key]) -> list[Row]:
        found = rows.get(self.table, [self.id(key) for key in keys], without=self.lists)
        return [self.record(row) for row in found.values()]

    def count(self, rows: Rows) -> int:
        return rows.count(self.table)

    def put(self, transaction: Transaction, records: Sequence[Record]) -> None:
        written = [self.row(record) for record in records]
        there = transaction.get(self.table, [row["id"] for row in written], only=("id", *self.lists)) if self.lists else {}
        empty: dict[str, list[Any]] = {name: [] for name in self.lists}
        for row in self.beside(transaction, [{**empty, **there.get(row["id"], {}), **row} for row in written]):
            transaction.put(self.table, row)

    def delete(self, transaction: Transaction, keys: Collection[Key]) -> int:
        return transaction.delete(self.table, [self.id(key) for key in keys])

    def row(self, record: Record) -> Row:
        """The row of a record, with the columns alone."""
        values = {self.renamed.get(name, name): as_text(value) if name in self.texts else value for name, value in record.items()}
        return {**values, "id": self.id(self.form.key_of(record))}

    def record(self, row: Mapping[str, Any]) -> Row:
        """The inverse of :meth:`row`."""
        return {name: self._column(name, kind, row.get(self.renamed.get(name, name))) for name, kind in self.form.columns.items()}

    def _column(self, name: str, kind: str, value: Any) -> Any:
        if name in self.texts:
            return json.loads(value)
        return float(value) if kind == "float" and value is not None else value


@dataclass(frozen=True)
class Listed:
    """An item each of a list in the row of another table. ``of``: the column that names that row; ``item`` and ``record``: between a
    record and the item (and the row that it stands in). ``makes``: the row is made where it is missing, and goes with its last item."""

    form: Form
    table: Table
    field: str
    of: str
    item: Callable[[Record], Any]
    record: Callable[[Mapping[str, Any], Any], Row]
    needs: tuple[str, ...] = ()
    makes: bool = False

    def rows(self, rows: Rows) -> Iterator[Row]:
        for page in in_pages(rows, self.table, size=PAGE, only=(self.field, *self.needs)):
            for row in page:
                yield from self._records(row)

    def _records(self, row: Mapping[str, Any]) -> Iterator[Row]:
        for item in row.get(self.field) or ():
            yield self.record(row, item)

    def get(self, rows: Rows, keys: Collection[Key]) -> list[Row]:
        wanted = set(keys)
        found = rows.get(self.table, self._holders(keys), only=("id", self.field, *self.needs))
        return [record for row in found.values() for record in self._records(row) if self.form.key_of(record) in wanted]

    def _holders(self, keys: Collection[Key]) -> list[str]:
        place = self.form.key.index(self.of)
        return list(dict.fromkeys(str(key[place]) for key in keys))

    def count(self, rows: Rows) -> int:
        return sum(1 for _ in self.rows(rows))

    def put(self, transaction: Transaction, records: Sequence[Record]) -> None:
        self._write(transaction, [self.form.key_of(record) for record in records], records)

    def delete(self, transaction: Transaction, keys: Collection[Key]) -> int:
        return self._write(transaction, keys, ())

    def _write(self, transaction: Transaction, keys: Collection[Key], records: Sequence[Record]) -> int:
        """Put ``records`` in place of those of these keys; answers how many there were."""
        gone, there = set(keys), transaction.get(self.table, self._holders(keys))
        new: dict[str, list[Any]] = defaultdict(list)
        for record in records:
            new[str(record[self.of])].append(self.item(record))
        dropped = 0
        for id in self._holders(keys):
            row = there.get(id, {"id": id} if self.makes else None)
            if row is None:
                continue
            items = row.get(self.field) or []
            kept = [item for item in items if self.form.key_of(self.record(row, item)) not in gone]
            dropped += len(items) - len(kept)
            self._put(transaction, row, [*kept, *new[id]])
        return dropped

    def _put(self, transaction: Transaction, row: Row, items: list[Any]) -> None:
        if self.makes and not items:
            transaction.delete(self.table, [row["id"]])
        else:
            transaction.put(self.table, {**row, self.field: sorted(items, key=str)})


@dataclass(frozen=True)
class Numbered(Own):
    """A row each, called by another column than the key: rows are found by their numbers."""

    by: str = ""

    def id(self, key: Key) -> str:
        raise NotImplementedError  # a key does not tell it

    def row(self, record: Record) -> Row:
        return {**record, "id": str(record[self.by])}

    def _of(self, rows: Rows, keys: Collection[Key], **options: Any) -> list[Row]:
        return rows.find(self.table, In(self.form.key[0], [key[0] for key in keys]), **options) if keys else []

    def get(self, rows: Rows, keys: Collection[Key]) -> list[Row]:
        return [self.record(row) for row in self._of(rows, keys)]

    def delete(self, transaction: Transaction, keys: Collection[Key]) -> int:
        return transaction.delete(self.table, [row["id"] for row in self._of(transaction, keys, only=("id",))])
