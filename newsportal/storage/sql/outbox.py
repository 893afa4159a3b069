"""The outbox in a SQL database."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import asdict
from datetime import datetime
from typing import Any, Final

from sqlalchemy import Connection, Engine, delete, func, select

from newsportal.storage import outbox
from newsportal.storage.outbox import COLUMNS, OPEN, STATES, Entry, Result, State, Wanted
from newsportal.storage.paging import chunks
from newsportal.storage.sql.dialects import reading as read
from newsportal.storage.sql.dialects import upsert
from newsportal.storage.sql.dialects import writing as write
from newsportal.storage.sql.outbox_tables import OUTBOX, POSITIONS

CHANGING: Final = tuple(name for name in COLUMNS if name not in ("target", "article_id"))


class SqlOutbox:
    """The :class:`~newsportal.storage.outbox.Outbox` of a SQL store."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def position(self, target: str) -> int:
        with read(self._engine) as connection:
            return _position(connection, target)

    def follow(self, target: str, there: Collection[str], gone: Collection[str], *, after: int, upto: int, now: datetime) -> bool:
        with write(self._engine) as connection:
            if _position(connection, target) != after:
                return False
            known = _of(connection, target, {*there, *gone})
            _put(connection, (outbox.asked(known.get(id), target, id, "there", now=now) for id in dict.fromkeys(there)))
            _put(connection, (outbox.asked(known[id], target, id, "gone", now=now) for id in dict.fromkeys(gone) if id in known))
            upsert(connection, POSITIONS, [{"target": target, "seq": upto}], update=("seq",))
            return True

    def ask(self, target: str, article_ids: Collection[str], wanted: Wanted, *, now: datetime) -> int:
        with write(self._engine) as connection:
            known = _of(connection, target, article_ids)
            asked = [outbox.asked(known.get(id), target, id, wanted, now=now, by_hand=True) for id in dict.fromkeys(article_ids)]
            _put(connection, asked)
            return len(asked)

    def again(self, target: str | None = None, article_ids: Collection[str] | None = None, *, now: datetime) -> int:
        wanted = select(OUTBOX).where(OUTBOX.c.state == "failed")
        if target is not None:
            wanted = wanted.where(OUTBOX.c.target == target)
        with write(self._engine) as connection:
            failed = [_entry(row) for row in connection.execute(wanted).mappings()]
            chosen = [entry for entry in failed if article_ids is None or entry.article_id in article_ids]
            _put(connection, (outbox.open_again(entry, now=now) for entry in chosen))
            return len(chosen)

    def take(self, target: str, owner: str, *, now: datetime, seconds: float, limit: int) -> list[Entry]:
        due = select(OUTBOX).where(OUTBOX.c.target == target, OUTBOX.c.state.in_(OPEN), OUTBOX.c.due <= now)
        with read(self._engine) as connection:
            if connection.execute(due.limit(1)).first() is None:
                return []  # most looks find nothing, and need no turn among the writers
        with write(self._engine) as connection:
            rows = connection.execute(due.order_by(OUTBOX.c.due, OUTBOX.c.article_id).limit(limit)).mappings()
            taken = [outbox.taken(_entry(row), owner, now=now, seconds=seconds) for row in rows]
            _put(connection, taken)
            return taken

    def settle(self, held: Entry, result: Result, *, now: datetime) -> bool:
        with write(self._engine) as connection:
            entry = _of(connection, held.target, [held.article_id]).get(held.article_id)
            if entry is None or not outbox.is_held(entry, held):
                return False
            _put(connection, [outbox.settled(entry, held, result, now=now)])
            return True

    def give_back(self, held: Sequence[Entry], *, now: datetime, reason: str | None = None) -> None:
        with write(self._engine) as connection:
            for one in held:
                entry = _of(connection, one.target, [one.article_id]).get(one.article_id)
                if entry is not None and outbox.is_held(entry, one):
                    _put(connection, [outbox.given_back(entry, now=now, reason=reason)])

    def of(self, target: str, article_ids: Collection[str]) -> dict[str, Entry]:
        with read(self._engine) as connection:
            return _of(connection, target, article_ids)

    def entries(
        self, target: str | None = None, *, states: Collection[State] = STATES, article_id: str | None = None, limit: int = 100
    ) -> list[Entry]:
        wanted = select(OUTBOX).where(OUTBOX.c.state.in_(states)).order_by(OUTBOX.c.changed.desc(), OUTBOX.c.target, OUTBOX.c.article_id)
        if target is not None:
            wanted = wanted.where(OUTBOX.c.target == target)
        if article_id is not None:
            wanted = wanted.where(OUTBOX.c.article_id == article_id)
        with read(self._engine) as connection:
            return [_entry(row) for row in connection.execute(wanted.limit(limit)).mappings()]

    def counts(self) -> Mapping[str, Mapping[State, int]]:
        number = func.count().label("number")
        with read(self._engine) as connection:
            found: dict[str, dict[State, int]] = {target: {} for target in connection.scalars(select(POSITIONS.c.target))}
            for row in connection.execute(select(OUTBOX.c.target, OUTBOX.c.state, number).group_by(OUTBOX.c.target, OUTBOX.c.state)):
                found.setdefault(row.target, {})[row.state] = row.number
        return dict(sorted(found.items()))

    def forget(self, target: str) -> int:
        with write(self._engine) as connection:
            connection.execute(delete(POSITIONS).where(POSITIONS.c.target == target))
            return connection.execute(delete(OUTBOX).where(OUTBOX.c.target == target)).rowcount


def _position(connection: Connection, target: str) -> int:
    return connection.scalar(select(POSITIONS.c.seq).where(POSITIONS.c.target == target)) or 0


def _of(connection: Connection, target: str, article_ids: Iterable[str]) -> dict[str, Entry]:
    found = {}
    for chunk in chunks(article_ids):
        rows = connection.execute(select(OUTBOX).where(OUTBOX.c.target == target, OUTBOX.c.article_id.in_(chunk)))
        found.update({row["article_id"]: _entry(row) for row in rows.mappings()})
    return found


def _put(connection: Connection, entries: Iterable[Entry]) -> None:
    for chunk in chunks(entries):
        upsert(connection, OUTBOX, [asdict(entry) for entry in chunk], update=CHANGING)


def _entry(row: Mapping[Any, Any]) -> Entry:
    return Entry(**{name: row[name] for name in COLUMNS})
