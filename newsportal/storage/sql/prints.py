"""Fingerprints of the stored texts in a SQL store; :mod:`print_index` says how reposts are found by them."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, bindparam, delete, func, insert, select

from newsportal.items import Fold
from newsportal.storage import print_index
from newsportal.storage.print_index import PRUNED, Printed, PrintIndex, PrintRow, among, is_due, outlived, print_row
from newsportal.storage.sql.tables import ARTICLES, CHANGES, PRINTS, STORIES

ROWS = (
    select(PRINTS.c.number, PRINTS.c.runs, PRINTS.c.length, PRINTS.c.title, ARTICLES.c.story_id)
    .join(ARTICLES, ARTICLES.c.id == PRINTS.c.article_id)
    .where(PRINTS.c.number > bindparam("number"))
    .order_by(PRINTS.c.number)
    .limit(bindparam("most"))
)
FOLDS = (
    select(PRINTS.c.number, ARTICLES.c.story_id)
    .join(ARTICLES, ARTICLES.c.id == CHANGES.c.id)
    .join(PRINTS, PRINTS.c.article_id == CHANGES.c.id)
    .where(CHANGES.c.seq > bindparam("seq"), CHANGES.c.kind == "fold")
    .order_by(CHANGES.c.seq)
)
CANDIDATES = (
    select(PRINTS, ARTICLES.c.story_id, ARTICLES.c.fold_reason, STORIES.c.count)
    .join(ARTICLES, ARTICLES.c.id == PRINTS.c.article_id)
    .join(STORIES, STORIES.c.id == ARTICLES.c.story_id)
    .where(PRINTS.c.number.in_(bindparam("numbers", expanding=True)))
    .order_by(PRINTS.c.number)
)
LAST_SEQ, FIRST = select(func.max(CHANGES.c.seq)), select(func.min(PRINTS.c.number))
OLDEST = select(PRINTS.c.number, PRINTS.c.seen).order_by(PRINTS.c.number).limit(PRUNED)
NEW, GONE = insert(PRINTS), delete(PRINTS).where(PRINTS.c.article_id == bindparam("article"))
PRUNE = delete(PRINTS).where(PRINTS.c.number <= bindparam("last"))


class SqlPrints:
    """The stored fingerprints as an index asks for them (``print_index.PrintRows``), in one transaction."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def last_move(self) -> int:
        return self._connection.scalar(LAST_SEQ) or 0

    def after(self, number: int, limit: int) -> Sequence[PrintRow]:
        return self._connection.execute(ROWS, {"number": number, "most": limit}).all()

    def moved(self, after: int) -> list[tuple[int, str]]:
        return [(number, story_id) for number, story_id in self._connection.execute(FOLDS, {"seq": after})]

    def first(self) -> int:
        return self._connection.scalar(FIRST) or 0


def follow(connection: Connection, index: PrintIndex) -> None:
    """Know what others have committed. At the beginning of a write transaction: rows of its own might be rolled back."""
    print_index.follow(index, SqlPrints(connection))


def repeated(connection: Connection, row: Mapping[str, Any], new: Printed, apart: Collection[str]) -> Fold | None:
    """The stored article that ``row`` repeats by the rule of ``dedup.judge``; stories of ``apart`` are out.

    :func:`follow` comes first, before the transaction writes.
    """
    likely = new.index.likely(new.fingerprint)
    if not likely.numbers:
        return None
    rows = connection.execute(CANDIDATES, {"numbers": likely.numbers}).mappings()
    return among(row, new, likely.common, map(dict, rows), apart)


def keep(connection: Connection, article_id: str, moment: datetime, new: Printed, now: datetime) -> None:
    """Write an article's fingerprint. A text without runs has none."""
    if not new.fingerprint.length:
        return
    written = connection.execute(NEW, print_row(article_id, moment, new.fingerprint, new.title, now)).inserted_primary_key
    if written and is_due(written[0]):
        _prune(connection, written[0], now)


def drop(connection: Connection, article_id: str) -> None:
    """Forget an article's fingerprint."""
    connection.execute(GONE, {"article": article_id})


def _prune(connection: Connection, newest: int, now: datetime) -> None:
    """Forget the oldest rows that nobody needs."""
    last = outlived(((number, seen) for number, seen in connection.execute(OLDEST)), newest, now)
    if last is not None:
        connection.execute(PRUNE, {"last": last})
