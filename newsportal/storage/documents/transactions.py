"""Transactions over a database that has none."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from threading import Lock
from typing import Any

from newsportal.storage.documents.backend import Backend
from newsportal.storage.documents.base import Condition, Row, Table
from newsportal.storage.documents.overlay import Overlay

STATE = Table("state", {"id": "key"})


class Transactions:
    """A :class:`~newsportal.storage.documents.base.Documents` over a backend."""

    def __init__(self, backend: Backend, tables: Sequence[Table]) -> None:
        self._backend = backend
        self._lock = Lock()
        backend.prepare([*tables, STATE])

    @property
    def place(self) -> str:
        return self._backend.place

    def get(self, table: Table, ids: Collection[str], *, without: Collection[str] = (), only: Collection[str] = ()) -> dict[str, Row]:
        return self._backend.get(table, ids, without=without, only=only)

    def find(
        self, table: Table, *where: Condition, order: Sequence[str] = (), limit: int | None = None, skip: int = 0,
        without: Collection[str] = (), only: Collection[str] = (),
    ) -> list[Row]:  # fmt: skip
        return self._backend.find(table, *where, order=order, limit=limit, skip=skip, without=without, only=only)

    def count(self, table: Table, *where: Condition) -> int:
        return self._backend.count(table, *where)

    def count_by(self, table: Table, name: str, *where: Condition) -> dict[Any, int]:
        return self._backend.count_by(table, name, *where)

    def last(self, counter: str) -> int:
        found = self._backend.get(STATE, [counter]).get(counter)
        return 0 if found is None else int(found["value"])

    @contextmanager
    def writing(self) -> Iterator[Overlay]:
        with self._lock:
            counters = {row["id"]: row["value"] for row in self._backend.find(STATE)}
            transaction = Overlay(self._backend, counters)
            yield transaction
            counted: dict[str, Row | None] = {name: {"id": name, "value": value} for name, value in transaction.counters.items()}
            self._backend.apply({**transaction.pending.rows, STATE.name: counted}, 0)

    def close(self) -> None:
        self._backend.close()
