"""The stored fingerprints, and the index that a process makes of them: reposts are found by ``dedup.judge``'s rule.

The rows are the record: written, replaced and pruned in the transaction that writes the article. The index over them follows the record
as the search index does, by the rows' numbers and the moves of articles; a process reads it when it first adds an article. It is caught
up again inside each write transaction, so it knows what others have committed the moment before
(docs/decisions/reposts-in-the-store.md).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from threading import Lock
from typing import Any, Final

import numpy as np
from sqlalchemy import Connection, bindparam, delete, func, insert, select

from newsportal.dedup.fingerprints import Codes, Fingerprint, fingerprint
from newsportal.dedup.holders import Holders, Likely, indexed
from newsportal.dedup.judge import WINDOW, Earlier, compared, title_letters
from newsportal.items import Article, Fold
from newsportal.store.tables import ARTICLES, CHANGES, PRINTS, STORIES

SPAN: Final = timedelta(days=WINDOW)
"""A text is remembered so long after it was seen, and repeats texts whose moments are so near."""

MOST: Final = 1_000_000
"""Fingerprints that are kept, the newest: 0.5 GB in each process that adds articles, 1 GB in the database."""

PAGE: Final = 5000
"""Rows that are read at once."""

PRUNED: Final = 128
"""Rows that are pruned at once, …"""

PRUNE_EVERY: Final = 64
"""… in one write of so many: twice as many as come."""

ASTRAY: Final = frozenset({("part-of-text", "contains-text"), ("contains-text", "part-of-text")})
"""Reasons of a text and of the one it repeats that lead away from the story: two parts of one round-up are two stories, and so are two
long reports around one short piece."""


class PrintIndex:
    """What a process knows of the stored fingerprints. Shared between threads; one a database."""

    def __init__(self) -> None:
        self._holders = Holders()
        self._number = self._move = 0  # the last ones that are known
        self.read = False
        self._lock = Lock()
        self._batch = Lock()

    def catch_up(self, stored: SqlPrints) -> bool:
        """Read the rows that came since, a page at most; answers whether there is more. ``read``: there was once no more.

        To be called before a transaction writes: what is read is committed then, so one that fails leaves nothing here. One that reads
        what it wrote itself stands within :meth:`unless_it_fails`.
        """
        with self._lock:
            last = stored.last_move()
            rows = stored.after(self._number, PAGE)
            if self._number:  # moves from before a row was read are in the row
                for number, story_id in stored.moved(self._move):
                    self._holders.told(number, story_number(story_id))
            self._learn(rows, stored)
            self._move = last
            more = len(rows) == PAGE
            self.read = self.read or not more
        return more

    @contextmanager
    def unless_it_fails(self) -> Iterator[None]:
        """What is read within is forgotten if it fails: rows of a transaction that reads what it wrote itself, and is rolled back.

        For one thread after the other: another's rows, which may be rolled back as well, are no place to go back to.
        """
        with self._batch:
            number, move = self._number, self._move
            try:
                yield
            except BaseException:
                with self._lock:
                    self._holders.forget_from(number + 1)
                    self._number, self._move = number, move
                raise

    def likely(self, new: Fingerprint) -> Likely:
        """The stored texts that share most of their indexed runs with ``new``, by number."""
        with self._lock:
            return self._holders.likely(new)

    def _learn(self, rows: Sequence[Any], stored: SqlPrints) -> None:
        if not rows:
            return
        self._holders.add_all([(row.number, _indexed(row), row.length, story_number(row.story_id), row.title) for row in rows])
        if rows[-1].number // PRUNE_EVERY > self._number // PRUNE_EVERY:
            self._holders.forget(stored.first())
        self._number = rows[-1].number


def _indexed(row: Any) -> Codes:
    return indexed(np.sort(np.frombuffer(row.runs, dtype=np.uint32)), row.length)


def story_number(story_id: str) -> int:
    """A story's number in the index: ids are hashes, their first 32 bits tell stories apart."""
    return int(story_id[:8], 16)


@dataclass(frozen=True, slots=True)
class Printed:
    """An article's text as it is compared: its fingerprint and the letters of its title, made before the write lock is taken."""

    index: PrintIndex
    fingerprint: Fingerprint
    title: str


def printed(index: PrintIndex, article: Article) -> Printed:
    return Printed(index, fingerprint(article.text or ""), title_letters(article.title))


def catch_up_all(index: PrintIndex, stored: SqlPrints) -> None:
    """Know what others have committed. At the beginning of a write transaction: rows of its own might be rolled back."""
    while index.catch_up(stored):
        pass


def among(row: Mapping[str, Any], new: Printed, common: Codes, found: Iterable[Mapping[str, Any]], apart: Collection[str]) -> Fold | None:
    """The stored article that ``row`` repeats by the rule of ``dedup.judge``; stories of ``apart`` are out.

    ``common``: the new text's runs that are nobody's; ``found``: likely rows of ``prints`` by number, each with its article's
    ``story_id`` and ``fold_reason`` and the story's ``count``.
    """
    near = [old for old in found if abs(old["moment"] - row["moment"]) <= SPAN and old["article_id"] != row["id"]]
    why = {old["article_id"]: old["fold_reason"] for old in near}
    candidates = _candidates(old for old in near if old["story_id"] not in apart)
    for answer, old in compared(new.fingerprint, new.title, candidates, common):
        if (answer.reason, why[old.id]) not in ASTRAY:
            return Fold(old.story, old.id, str(answer.reason), answer.score)
    return None


def _candidates(rows: Iterable[Mapping[str, Any]]) -> Iterator[Earlier[str]]:
    for row in rows:
        yield Earlier(row["article_id"], row["story_id"], row["runs"], row["length"], row["title"], row["count"] - 1)


def print_row(article_id: str, moment: datetime, made: Fingerprint, title: str, seen: datetime) -> dict[str, Any]:
    """The columns of an article's fingerprint, but its number."""
    row = {"article_id": article_id, "moment": moment, "seen": seen, "length": made.length, "title": title}
    return {**row, "runs": made.in_order().tobytes()}


def is_due(number: int) -> bool:
    """Whether the oldest rows are to be looked at after the row ``number`` was written."""
    return number % PRUNE_EVERY == 0


def outlived(oldest: Iterable[tuple[int, datetime]], newest: int, now: datetime) -> int | None:
    """Up to which of the ``oldest`` (number, seen) rows are out of the window or too many; indexes notice."""
    return max((number for number, seen in oldest if now - seen > SPAN or number <= newest - MOST), default=None)


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

    def after(self, number: int, limit: int) -> Sequence[Any]:
        return self._connection.execute(ROWS, {"number": number, "most": limit}).all()

    def moved(self, after: int) -> list[tuple[int, str]]:
        return [(number, story_id) for number, story_id in self._connection.execute(FOLDS, {"seq": after})]

    def first(self) -> int:
        return self._connection.scalar(FIRST) or 0


def follow(connection: Connection, index: PrintIndex) -> None:
    """Know what others have committed. At the beginning of a write transaction: rows of its own might be rolled back."""
    catch_up_all(index, SqlPrints(connection))


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
