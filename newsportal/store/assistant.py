"""Calls of the assistant: a cache of its answers, and the usage that counts against the daily budget.

A call is recorded before it is made, in the transaction that checks the budget, so concurrent processes cannot exceed it.
"""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final, Literal

from sqlalchemy import BigInteger, Column, Index, String, Table, delete, func, insert, select, update

from newsportal.store.columns import LONG_TEXT, METADATA, NAME_CHARS, SEQUENCE, Moment, name, storable
from newsportal.store.dialects import Part

KEY_CHARS: Final = 40

ASSISTANT_CALLS = Table(
    "assistant_calls",
    METADATA,
    Column("number", SEQUENCE, primary_key=True, autoincrement=True),
    Column("key", String(KEY_CHARS), nullable=False),
    Column("purpose", String(16), nullable=False),
    Column("model", String(NAME_CHARS), nullable=False),
    Column("at", Moment, nullable=False),
    Column("tokens", BigInteger, nullable=False),
    Column("answer", LONG_TEXT),
    Index(None, "key"),
    Index(None, "at"),
    sqlite_autoincrement=True,
)
"""``key``: digest of model, prompt and text; empty if the call failed. ``answer``: NULL while the call runs or if it failed."""


@dataclass(frozen=True, slots=True)
class StoredAnswer:
    text: str
    model: str
    at: datetime


class AssistantCalls(Part):
    def answers(self, keys: Collection[str]) -> dict[str, StoredAnswer]:
        """Return the latest answer for each key that has one."""
        calls = ASSISTANT_CALLS.c
        found = self._mappings(select(ASSISTANT_CALLS).where(calls.key.in_(keys), calls.answer.is_not(None)).order_by(calls.number))
        return {row["key"]: StoredAnswer(row["answer"], row["model"], row["at"]) for row in found}

    def begin(
        self, key: str, purpose: str, model: str, *, now: datetime, since: datetime, calls: int, tokens: int | None, lasts: timedelta
    ) -> int | Literal["under-way", "calls", "tokens"]:
        """Record a call and return its number, or return why it may not be made: another call for ``key`` is running (none takes longer
        than ``lasts``), or the calls or tokens of the budget ``since`` then are used up."""
        column = ASSISTANT_CALLS.c
        with self._write() as connection:
            running = select(func.count()).where(column.key == key, column.answer.is_(None), column.at > now - lasts)
            if connection.scalar(running):
                return "under-way"
            used = connection.execute(select(func.count(), func.sum(column.tokens)).where(column.at >= since)).one()
            if used[0] >= calls:
                return "calls"
            if tokens is not None and (used[1] or 0) >= tokens:
                return "tokens"
            row = {"key": key, "purpose": purpose, "model": name(model), "at": now, "tokens": 0}
            (number,) = connection.execute(insert(ASSISTANT_CALLS).values(row)).inserted_primary_key or (0,)
            return int(number)

    def finish(self, number: int, answer: str, tokens: int) -> None:
        self._execute(update(ASSISTANT_CALLS).where(ASSISTANT_CALLS.c.number == number).values(answer=storable(answer), tokens=tokens))

    def cancel(self, number: int, *, counts: bool = False) -> None:
        """Remove a call that failed; with ``counts`` it still counts against the budget."""
        row = ASSISTANT_CALLS.c.number == number
        self._execute(update(ASSISTANT_CALLS).where(row).values(key="") if counts else delete(ASSISTANT_CALLS).where(row))

    def used(self, since: datetime) -> tuple[int, int]:
        """Return the numbers of calls and tokens used since ``since``."""
        query = select(func.count(), func.sum(ASSISTANT_CALLS.c.tokens)).where(ASSISTANT_CALLS.c.at >= since)
        [(calls, tokens)] = self._rows(query)
        return calls, int(tokens or 0)

    def prune(self, before: datetime, *, dry_run: bool = False) -> int:
        return self._delete_old(ASSISTANT_CALLS, ASSISTANT_CALLS.c.at < before, dry_run=dry_run)
