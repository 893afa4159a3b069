"""Fingerprints of the stored texts in a database of documents; :mod:`~newsportal.storage.print_index` says how reposts are found by them.

What a process has written itself it need not read again: :class:`Prints` tells its index from memory while nobody else wrote.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from newsportal.items import Fold
from newsportal.storage.documents.base import In, Row, Rows, Transaction, Within
from newsportal.storage.documents.plain import aware, plain
from newsportal.storage.documents.tables import MOVES, PRINT_NUMBERS, PRINTS, STORIES
from newsportal.storage.print_index import PAGE, PRUNED, Printed, among, is_due, outlived, print_row

PRINT_MOMENTS: Final = ("moment", "seen")


@dataclass(frozen=True, slots=True)
class Learnt:
    """A fingerprint as an index learns it."""

    number: int
    runs: bytes
    length: int
    title: str
    story_id: str


@dataclass(frozen=True, slots=True)
class Written:
    """The fingerprints that this process wrote last, by number; ``move``: the last move of an article that they know of."""

    rows: tuple[Learnt, ...] = ()
    move: int = 0


class Prints:
    """The stored fingerprints as an index asks for them (``print_index.PrintRows``), in one transaction or before it."""

    def __init__(self, rows: Rows, written: Written) -> None:
        self._rows = rows
        self._move = written.move
        self._own = list(written.rows)

    @property
    def written(self) -> Written:
        """For the next transaction of this process, once this one is committed."""
        rows = self._own[-PAGE:] if self._rows.last(MOVES) == self._move else ()
        return Written(tuple(rows), self._rows.last(MOVES))

    def last_move(self) -> int:
        return self._rows.last(MOVES)

    def after(self, number: int, limit: int) -> list[Learnt]:
        last = self._rows.last(PRINT_NUMBERS)
        own = [row for row in self._own if row.number > number]
        alone = self._rows.last(MOVES) == self._move and [row.number for row in own] == list(range(number + 1, last + 1))
        if last <= number or (alone and len(own) < limit):
            return own
        wanted = ("number", "runs", "length", "title", "story_id")
        behind = Within("number", number, last, above=True, upto=True)
        rows = self._rows.find(PRINTS, behind, order=("number",), limit=limit, only=wanted)
        return [Learnt(*(row[name] for name in wanted)) for row in rows]

    def moved(self, after: int) -> list[tuple[int, str]]:
        if self._rows.last(MOVES) <= after:
            return []
        rows = self._rows.find(PRINTS, Within("moved", low=after, above=True), order=("moved",), only=("number", "story_id"))
        return [(row["number"], row["story_id"]) for row in rows]

    def first(self) -> int:
        rows = self._rows.find(PRINTS, order=("number",), limit=1, only=("number",))
        return int(rows[0]["number"]) if rows else 0

    def keep(self, row: Row) -> None:
        """Know a row that this transaction has just written."""
        self._own.append(Learnt(row["number"], row["runs"], row["length"], row["title"], row["story_id"]))


def repeated(rows: Rows, row: Mapping[str, Any], new: Printed, apart: Collection[str]) -> Fold | None:
    """The stored article that ``row`` (of datetimes) repeats by the rule of ``dedup.judge``; stories of ``apart`` are out.

    ``print_index.follow`` comes first, before the transaction writes.
    """
    likely = new.index.likely(new.fingerprint)
    if not likely.numbers:
        return None
    found = rows.find(PRINTS, In("number", likely.numbers), order=("number",))
    stories = rows.get(STORIES, {old["story_id"] for old in found}, without=("versions", "labels"))
    counted = [{**aware(old, *PRINT_MOMENTS), "count": stories[old["story_id"]]["count"]} for old in found]
    return among(row, new, likely.common, counted, apart)


def keep(transaction: Transaction, prints: Prints, article: Mapping[str, Any], new: Printed, now: datetime) -> None:
    """Write an article's fingerprint. A text without runs has none."""
    if not new.fingerprint.length:
        return
    number = transaction.next(PRINT_NUMBERS)
    made = print_row(article["id"], article["moment"], new.fingerprint, new.title, now)
    where = {name: article.get(name) for name in ("story_id", "fold_reason")}
    row = plain({"id": article["id"], "number": number, **made, **where})
    transaction.put(PRINTS, row)
    prints.keep(row)
    if is_due(number):
        _prune(transaction, number, now)


def drop(transaction: Transaction, article_id: str) -> None:
    """Forget an article's fingerprint."""
    transaction.delete(PRINTS, [article_id])


def _prune(transaction: Transaction, newest: int, now: datetime) -> None:
    """Forget the oldest rows that nobody needs."""
    oldest = [aware(row, "seen") for row in transaction.find(PRINTS, order=("number",), limit=PRUNED, only=("number", "seen"))]
    last = outlived(((row["number"], row["seen"]) for row in oldest), newest, now)
    if last is not None:
        transaction.delete(PRINTS, [row["id"] for row in oldest if row["number"] <= last])
