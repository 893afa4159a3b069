"""What the assistant was asked and answered: the cache of its answers, and what a day's budget is counted by.

A call is entered before it is made, in the transaction that looks at the budget, so that processes together never make more.
"""

from __future__ import annotations

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
"""``key``: a digest of model, prompt and text; empty: no answer came. ``answer`` None: under way, or none came."""


@dataclass(frozen=True, slots=True)
class StoredAnswer:
    text: str
    model: str
    at: datetime


class AssistantCalls(Part):
    def answers(self, keys: Collection[str]) -> dict[str, StoredAnswer]:
        """Key → its answer, of those that have one; of several the latest."""
        calls = ASSISTANT_CALLS.c
        found = self._mappings(select(ASSISTANT_CALLS).where(calls.key.in_(keys), calls.answer.is_not(None)).order_by(calls.number))
        return {row["key"]: StoredAnswer(row["answer"], row["model"], row["at"]) for row in found}

    def begin(
        self, key: str, purpose: str, model: str, *, now: datetime, since: datetime, calls: int, tokens: int | None, lasts: timedelta
    ) -> int | Literal["under-way", "calls", "tokens"]:
        """Enter a call and answer its number, or say why it may not be made: another one for ``key`` is under way (none takes longer than
        ``lasts``), or those ``since`` then used up the calls or tokens of the budget."""
        column = ASSISTANT_CALLS.c
        with self._write() as connection:
            same = select(func.count()).where(column.key == key, column.answer.is_(None), column.at > now - lasts)
            if connection.scalar(same):
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
        """A call was not answered; with ``counts`` it is still a part of the budget."""
        row = ASSISTANT_CALLS.c.number == number
        self._execute(update(ASSISTANT_CALLS).where(row).values(key="") if counts else delete(ASSISTANT_CALLS).where(row))

    def used(self, since: datetime) -> tuple[int, int]:
        """Calls and tokens since then."""
        counted = select(func.count(), func.sum(ASSISTANT_CALLS.c.tokens)).where(ASSISTANT_CALLS.c.at >= since)
        [(calls, tokens)] = self._rows(counted)
        return calls, int(tokens or 0)

    def prune(self, before: datetime, *, dry_run: bool = False) -> int:
        return self._delete_old(ASSISTANT_CALLS, ASSISTANT_CALLS.c.at < before, dry_run=dry_run)
