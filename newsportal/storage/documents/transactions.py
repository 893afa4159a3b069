"""Transactions over a database that has none.

One process writes at a time (:mod:`leases`). What a transaction writes is gathered (:mod:`overlay`), told in a journal (:mod:`journal`),
decided by one row, the next turn (:mod:`turns`), and then written to the tables, every row with the number of the turn, so that it may be
written twice, and nothing late undoes what came later. Whoever dies before the turn is made has written nothing; what is decided is
finished by who writes next. A transaction that writes one row alone needs no journal.

Two writes a transaction: the turn, with the journal in it, and the rows. When the lease has to be taken first and is given up, four.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Collection, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from threading import Lock
from typing import Any

from newsportal.errors import StoreError, StoreUnavailable
from newsportal.storage.documents import journal
from newsportal.storage.documents.backend import Backend, packed
from newsportal.storage.documents.base import Condition, Row, Table
from newsportal.storage.documents.journal import JOURNAL
from newsportal.storage.documents.keeper import Keeper
from newsportal.storage.documents.leases import NEXT, WAIT_SECONDS, WISHES, Lease
from newsportal.storage.documents.overlay import Overlay
from newsportal.storage.documents.turns import TURNS, Turn, outdated

log = logging.getLogger(__name__)

OWN_TABLES = (TURNS, JOURNAL, WISHES)

APPLIED_SECONDS = 0.3
"""How long who asks for a counter waits for a transaction that is being written: several times what one takes."""

POLL_SECONDS = 0.02


class Transactions:
    """A :class:`~newsportal.storage.documents.base.Documents` over a backend. Shared between threads; open one in each process."""

    def __init__(self, backend: Backend, tables: Sequence[Table]) -> None:
        self._backend = backend
        self._tables = {table.name: table for table in (*tables, *OWN_TABLES)}
        backend.prepare(list(self._tables.values()))
        self._lease = Lease(backend, self._tables)
        self._keeper = Keeper(self._lease)
        self._queue = Lock()

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
        """Of transactions that are in the tables whole."""
        held = self._lease.held
        if held is not None:
            return held.applied.get(counter, 0)
        seen = newest = self._lease.newest()
        end = time.monotonic() + APPLIED_SECONDS
        while seen is not None and newest is not None and newest.journal == seen.journal != 0 and time.monotonic() < end:
            time.sleep(POLL_SECONDS)
            newest = self._lease.newest()
        if newest is None:
            return 0
        return (newest.before if newest.journal else newest.counters).get(counter, 0)

    def together(self) -> AbstractContextManager[None]:
        return self._backend.together()

    @contextmanager
    def writing(self) -> Iterator[Overlay]:
        if not self._queue.acquire(timeout=WAIT_SECONDS):
            raise StoreUnavailable(f"{self.place}: another thread has been writing for more than {WAIT_SECONDS:.0f} s; try again")
        try:
            held = self._lease.take()
            self._keeper.watch()
            try:
                transaction = Overlay(self._backend, held.turn.counters)
                yield transaction
                self._write(transaction, held.turn)
            finally:
                self._lease.rest()
        finally:
            self._queue.release()

    def _write(self, transaction: Overlay, began: Turn) -> None:
        writes = {name: rows for name, rows in transaction.pending.rows.items() if rows}
        rows = sum(map(len, writes.values()))
        counted = transaction.counters != began.counters
        self._backend.vouch(writes)
        text = packed(self._tables, writes)
        try:
            if rows == 1 and not counted:
                self._backend.apply(writes, self._lease.check().number + 1)
            elif rows or counted:
                self._decide(transaction, writes, text)
        except BaseException:
            self._lease.lose()  # whether it is decided, and how much is written, the next turn finds out
            raise

    def _decide(self, transaction: Overlay, writes: dict[str, dict[str, Row | None]], text: str) -> None:
        now = self._lease.check()
        told = journal.told(self._backend, text, now.number)
        turn = self._lease.decide(
            token=told.token, text=told.text, pieces=told.pieces, journal=NEXT, counters=transaction.counters, before=now.counters
        )
        gone: dict[str, Row | None] = dict(outdated(turn.number))
        self._backend.apply({**writes, TURNS.name: gone} if gone else writes, turn.number, told=True)
        self._lease.applied(turn)
        journal.forget(self._backend, turn)

    def close(self) -> None:
        self._keeper.close()
        try:
            self._lease.release()
        except StoreError as error:
            log.warning("%s", error)  # whoever wants to write next sees that we have ended
        finally:
            self._backend.close()
