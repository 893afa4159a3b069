"""A program that writes into a database of documents and kills itself at every step of it, one after the other.

``dying.py URI short|long`` tells, a line of JSON each: at which write it died (``step``) and when (``moment``), what another process found
of the transaction then, and what was wrong with it.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent))
from made_up_tables import OTHERS, ROWS, TABLES

from newsportal.storage.documents import journal
from newsportal.storage.documents.backend import Backend, Writes
from newsportal.storage.documents.base import Documents, Row, Table
from newsportal.storage.documents.journal import JOURNAL
from newsportal.storage.documents.opening import META, backend_of, open_documents
from newsportal.storage.documents.transactions import Transactions

MOMENTS = ("before", "half")
"""Before a write; when half of its rows are written, or the one row that it is of."""
ROUND = 6
"""Rows that a transaction writes into each of two tables, in place of those of the one before."""


class Mortal:
    """A backend whose process dies at its ``step``-th write."""

    def __init__(self, backend: Backend, step: int, moment: str) -> None:
        self._backend = backend
        self._left = step
        self._moment = moment

    def __getattr__(self, name: str) -> Any:
        return getattr(self._backend, name)

    def create(self, table: Table, row: Row) -> bool:
        made = partial(self._backend.create, table, row)
        return self._live(made, made)

    def apply(self, writes: Writes, number: int, *, told: bool = False) -> None:
        rows = [(name, id, row) for name, some in writes.items() for id, row in some.items()]

        def half() -> None:
            for name, id, row in rows[::2]:
                self._backend.apply({name: {id: row}}, number)

        self._live(lambda: self._backend.apply(writes, number, told=told), half)

    def _live(self, whole: Callable[[], Any], half: Callable[[], Any]) -> Any:
        self._left -= 1
        if self._left:
            return whole()
        if self._moment == "half":
            half()
        os.kill(os.getpid(), signal.SIGKILL)
        return None


def write(documents: Documents, number: int) -> None:
    """Transaction ``number``."""
    with documents.writing() as transaction:
        for table in (ROWS, OTHERS):
            transaction.delete(table, [row["id"] for row in transaction.find(table, only=("id",))])
            for place in range(ROUND):
                transaction.put(table, {"id": f"{number} {place}", "number": number, "text": "文" * 30})
        transaction.next("rounds")
        transaction.put(ROWS, {"id": "same", "number": number})


def found(documents: Documents) -> tuple[int, list[str]]:
    """Which transaction was the last, and what is not as it left it."""
    number = documents.last("rounds")
    wrong = [
        f"{row['id']} in {table.name}"
        for table in (ROWS, OTHERS)
        for row in documents.find(table)
        if row["number"] != number or (row["id"] != "same" and not row["id"].startswith(f"{number} "))
    ]
    counts = (documents.count(ROWS), documents.count(OTHERS))
    return number, wrong + ([f"{counts} rows"] if number and counts != (ROUND + 1, ROUND) else [])


def die(uri: str, step: int, moment: str, number: int) -> None:
    documents = Transactions(Mortal(backend_of(uri), step, moment), (*TABLES, META))
    write(documents, number)
    documents.close()


def look(uri: str, number: int) -> None:
    """What the next one finds, who writes one row at first: that has what was decided finished."""
    began = time.monotonic()
    documents = open_documents(uri, TABLES, migrations={})
    with documents.writing() as transaction:
        transaction.change(ROWS, "there is none", number=1)
    seconds = time.monotonic() - began
    last, wrong = found(documents)
    left = [row["id"] for row in documents.find(JOURNAL)]
    if last != number:
        write(documents, number)
        wrong += found(documents)[1]
    documents.close()
    print(json.dumps({"written": last == number, "wrong": wrong, "left": left, "seconds": seconds}), flush=True)


def apart(work: Callable[[], None]) -> int:
    """Do ``work`` in a process of its own; answers what it ended with."""
    pid = os.fork()
    if not pid:
        code = 1
        try:
            work()
            code = 0
        finally:
            os._exit(code)
    return os.waitpid(pid, 0)[1]


def main(uri: str, length: str) -> None:
    if length == "long":
        journal.SHORT, journal.PIECE = 10, 2000
    apart(lambda: write(open_documents(uri, TABLES, migrations={}), 1))
    number, step = 1, 0
    while True:
        step += 1
        for moment in MOMENTS:
            number += 1
            ended = apart(partial(die, uri, step, moment, number))
            print(json.dumps({"step": step, "moment": moment, "ended": ended}), flush=True)
            if apart(partial(look, uri, number)):
                sys.exit("who came next could not work")
            if ended == 0:
                return


if __name__ == "__main__":
    main(*sys.argv[1:])
