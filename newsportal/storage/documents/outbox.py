"""The outbox in a database of documents."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import asdict
from datetime import datetime
from typing import Final

from newsportal.storage import outbox
from newsportal.storage.documents.base import Condition, Documents, In, Is, Row, Rows, Table, Transaction, Within, moment_in
from newsportal.storage.documents.plain import aware, plain
from newsportal.storage.documents.room_tables import row_id
from newsportal.storage.outbox import COLUMNS, OPEN, STATES, Entry, Result, State, Wanted

OUTBOX: Final = Table(
    "outbox",
    {"id": "key", "target": "key", "article_id": "key", "state": "key", "due": "number", "changed": "number"},
    (("target", "state", "due"), ("state", "-changed"), ("article_id",)),
)

POSITIONS: Final = Table("outbox_positions", {"id": "key", "target": "key"})


class DocumentOutbox:
    """The :class:`~newsportal.storage.outbox.Outbox` of a store over documents."""

    def __init__(self, documents: Documents) -> None:
        self._documents = documents

    def position(self, target: str) -> int:
        return _position(self._documents, target)

    def follow(self, target: str, there: Collection[str], gone: Collection[str], *, after: int, upto: int, now: datetime) -> bool:
        with self._documents.writing() as transaction:
            if _position(transaction, target) != after:
                return False
            known = _of(transaction, target, {*there, *gone})
            _put(transaction, (outbox.asked(known.get(id), target, id, "there", now=now) for id in dict.fromkeys(there)))
            _put(transaction, (outbox.asked(known[id], target, id, "gone", now=now) for id in dict.fromkeys(gone) if id in known))
            transaction.put(POSITIONS, {"id": row_id(target), "target": target, "seq": upto})
            return True

    def ask(self, target: str, article_ids: Collection[str], wanted: Wanted, *, now: datetime) -> int:
        with self._documents.writing() as transaction:
            known = _of(transaction, target, article_ids)
            asked = [outbox.asked(known.get(id), target, id, wanted, now=now, by_hand=True) for id in dict.fromkeys(article_ids)]
            _put(transaction, asked)
            return len(asked)

    def again(self, target: str | None = None, article_ids: Collection[str] | None = None, *, now: datetime) -> int:
        which: list[Condition] = [Is("state", "failed"), *([Is("target", target)] if target is not None else [])]
        with self._documents.writing() as transaction:
            failed = map(_entry, transaction.find(OUTBOX, *which))
            chosen = [entry for entry in failed if article_ids is None or entry.article_id in article_ids]
            _put(transaction, (outbox.open_again(entry, now=now) for entry in chosen))
            return len(chosen)

    def take(self, target: str, owner: str, *, now: datetime, seconds: float, limit: int) -> list[Entry]:
        due = (Is("target", target), In("state", OPEN), Within("due", high=moment_in(now), upto=True))
        if not self._documents.find(OUTBOX, *due, limit=1, only=["due"]):
            return []  # most looks find nothing, and need no turn among the writers
        with self._documents.writing() as transaction:
            rows = transaction.find(OUTBOX, *due, order=("due",), limit=limit)
            taken = [outbox.taken(_entry(row), owner, now=now, seconds=seconds) for row in rows]
            _put(transaction, taken)
            return taken

    def settle(self, held: Entry, result: Result, *, now: datetime) -> bool:
        with self._documents.writing() as transaction:
            entry = _of(transaction, held.target, [held.article_id]).get(held.article_id)
            if entry is None or not outbox.is_held(entry, held):
                return False
            _put(transaction, [outbox.settled(entry, held, result, now=now)])
            return True

    def give_back(self, held: Sequence[Entry], *, now: datetime, reason: str | None = None) -> None:
        with self._documents.writing() as transaction:
            for one in held:
                entry = _of(transaction, one.target, [one.article_id]).get(one.article_id)
                if entry is not None and outbox.is_held(entry, one):
                    _put(transaction, [outbox.given_back(entry, now=now, reason=reason)])

    def of(self, target: str, article_ids: Collection[str]) -> dict[str, Entry]:
        return _of(self._documents, target, article_ids)

    def entries(
        self, target: str | None = None, *, states: Collection[State] = STATES, article_id: str | None = None, limit: int = 100
    ) -> list[Entry]:
        which: list[Condition] = [In("state", states)]
        which += [Is("target", target)] if target is not None else []
        which += [Is("article_id", article_id)] if article_id is not None else []
        return [_entry(row) for row in self._documents.find(OUTBOX, *which, order=("-changed", "target", "article_id"), limit=limit)]

    def counts(self) -> Mapping[str, Mapping[State, int]]:
        met = {row["target"] for row in self._documents.find(POSITIONS)} | set(self._documents.count_by(OUTBOX, "target"))
        return {target: self._documents.count_by(OUTBOX, "state", Is("target", target)) for target in sorted(met)}

    def forget(self, target: str) -> int:
        with self._documents.writing() as transaction:
            transaction.delete(POSITIONS, [row_id(target)])
            return transaction.delete(OUTBOX, [row["id"] for row in transaction.find(OUTBOX, Is("target", target), only=["id"])])


def _position(rows: Rows, target: str) -> int:
    found = rows.get(POSITIONS, [row_id(target)])
    return int(next(iter(found.values()))["seq"]) if found else 0


def _of(rows: Rows, target: str, article_ids: Iterable[str]) -> dict[str, Entry]:
    found = rows.get(OUTBOX, [row_id(target, id) for id in article_ids])
    return {row["article_id"]: _entry(row) for row in found.values()}


def _put(transaction: Transaction, entries: Iterable[Entry]) -> None:
    for entry in entries:
        transaction.put(OUTBOX, {"id": row_id(entry.target, entry.article_id), **plain(asdict(entry))})


def _entry(row: Row) -> Entry:
    known = aware(row, "due", "changed")
    values: Row = {name: known.get(name) for name in COLUMNS}
    return Entry(**values)
