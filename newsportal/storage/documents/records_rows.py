"""Tables whose rows hold, in a database of documents, more than their columns: written from records, they get it again."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

from newsportal.storage.documents import pieces
from newsportal.storage.documents.base import In, Row, Rows, Transaction
from newsportal.storage.documents.folding import VERSION, asked_by_lists, earliest_first
from newsportal.storage.documents.mapped import Listed, Numbered, Own
from newsportal.storage.documents.plain import aware
from newsportal.storage.documents.readers import LATEST
from newsportal.storage.documents.room_tables import SIGHTINGS
from newsportal.storage.documents.tables import ARTICLE_MOMENTS, ARTICLES, MOVES, PRINTS, STORIES, kept
from newsportal.storage.paging import chunks
from newsportal.storage.records import Key, Record

WHERE: Final = ("story_id", "fold_reason")
"""What a fingerprint's row says of its article."""


def refresh(transaction: Transaction, story_ids: Collection[str]) -> None:
    """Work out anew what lists ask of the versions of these stories; their columns stay as they are."""
    for chunk in chunks(story_ids):
        versions: dict[str, list[Row]] = defaultdict(list)
        for row in transaction.find(ARTICLES, In("story_id", chunk), only=(*VERSION, "story_id")):
            versions[row["story_id"]].append(aware(row, *ARTICLE_MOMENTS))
        for id, row in transaction.get(STORIES, chunk).items():
            transaction.put(STORIES, {**row, **asked_by_lists(earliest_first(versions[id]))})


@dataclass(frozen=True)
class Stories(Own):
    """With what lists ask of their versions."""

    def put(self, transaction: Transaction, records: Sequence[Record]) -> None:
        super().put(transaction, records)
        refresh(transaction, [str(record["id"]) for record in records])


@dataclass(frozen=True)
class Articles(Own):
    """With what lists show of the text. Their stories and fingerprints hear where they are now."""

    def put(self, transaction: Transaction, records: Sequence[Record]) -> None:
        ids = [str(record["id"]) for record in records]
        there = transaction.get(ARTICLES, ids, only=("id", "story_id", *self.lists))
        prints = transaction.get(PRINTS, ids)
        for record in records:
            row = {**{name: [] for name in self.lists}, **there.get(str(record["id"]), {}), **kept(self.row(record))}
            transaction.put(ARTICLES, row)
            found = prints.get(row["id"])
            if found is not None and any(found.get(name) != row[name] for name in WHERE):
                transaction.put(PRINTS, {**found, **{name: row[name] for name in WHERE}, "moved": transaction.next(MOVES)})
        refresh(transaction, {str(record["story_id"]) for record in records} | {row["story_id"] for row in there.values()})

    def delete(self, transaction: Transaction, keys: Collection[Key]) -> int:
        stories = {row["story_id"] for row in transaction.get(ARTICLES, [str(key[0]) for key in keys], only=("id", "story_id")).values()}
        gone = super().delete(transaction, keys)
        refresh(transaction, stories)
        return gone


@dataclass(frozen=True)
class Topics(Listed):
    """Topics of articles, which lists ask of a story's versions."""

    def put(self, transaction: Transaction, records: Sequence[Record]) -> None:
        super().put(transaction, records)
        self._refresh(transaction, [str(record["article_id"]) for record in records])

    def delete(self, transaction: Transaction, keys: Collection[Key]) -> int:
        gone = super().delete(transaction, keys)
        self._refresh(transaction, [str(key[0]) for key in keys])
        return gone

    def _refresh(self, transaction: Transaction, ids: Sequence[str]) -> None:
        found = transaction.get(ARTICLES, list(dict.fromkeys(ids)), only=("id", "story_id"))
        refresh(transaction, {row["story_id"] for row in found.values()})


@dataclass(frozen=True)
class Prints(Numbered):
    """With the story that their article is in, and why."""

    def put(self, transaction: Transaction, records: Sequence[Record]) -> None:
        rows = [self.row(record) for record in records]
        found = transaction.get(ARTICLES, [row["id"] for row in rows], only=("id", *WHERE))
        for row in rows:
            transaction.put(PRINTS, {**row, **{name: found[row["id"]].get(name) for name in WHERE}})


@dataclass(frozen=True)
class PictureStories(Own):
    """Sightings have the site of their story beside them."""

    def put(self, transaction: Transaction, records: Sequence[Record]) -> None:
        super().put(transaction, records)
        sites = {str(record["id"]): record["site"] for record in records}
        for row in transaction.find(SIGHTINGS, In("story_id", list(sites))):
            transaction.put(SIGHTINGS, {**row, "site": sites[row["story_id"]]})


@dataclass(frozen=True)
class Packed(Own):
    """Rows with long bytes, which lie in ``pieces``. ``column``: theirs; ``flag``: the field that says whether a row has them."""

    column: str = ""
    flag: str = ""

    def piece(self, record: Record) -> str:
        """What the bytes of a row are called in ``pieces``."""
        return " ".join([self.table.name.removesuffix("s"), *(str(record[name]) for name in self.form.key)])

    def rows(self, rows: Rows) -> Iterator[Row]:
        for record in super().rows(rows):
            yield self._filled(rows, record)

    def get(self, rows: Rows, keys: Collection[Key]) -> list[Row]:
        return [self._filled(rows, record) for record in super().get(rows, keys)]

    def _filled(self, rows: Rows, record: Row) -> Row:
        return {**record, self.column: pieces.get(rows, self.piece(record)) if record[self.column] else None}

    def record(self, row: Any) -> Row:
        return super().record({**row, self.column: bool(row.get(self.flag))})

    def row(self, record: Record) -> Row:
        there = record[self.column] is not None
        return {**super().row({name: value for name, value in record.items() if name != self.column}), self.flag: there}

    def put(self, transaction: Transaction, records: Sequence[Record]) -> None:
        super().put(transaction, records)
        for record in records:
            if record[self.column] is None:
                pieces.delete(transaction, self.piece(record))
            else:
                pieces.put(transaction, self.piece(record), record[self.column])

    def delete(self, transaction: Transaction, keys: Collection[Key]) -> int:
        for record in super().get(transaction, keys):
            pieces.delete(transaction, self.piece(record))
        return super().delete(transaction, keys)


@dataclass(frozen=True)
class Fits(Own):
    """The model of the latest fit lies in ``pieces``; older ones have none."""

    def rows(self, rows: Rows) -> Iterator[Row]:
        latest = self._latest(rows)
        for record in super().rows(rows):
            yield self._filled(rows, record, latest)

    def get(self, rows: Rows, keys: Collection[Key]) -> list[Row]:
        latest = self._latest(rows)
        return [self._filled(rows, record, latest) for record in super().get(rows, keys)]

    def _latest(self, rows: Rows) -> int | None:
        found = rows.find(self.table, order=("-number",), limit=1, only=("id", "number"))
        return found[0]["number"] if found else None

    def _filled(self, rows: Rows, record: Row, latest: int | None) -> Row:
        return {**record, "packed": pieces.get(rows, LATEST) if record["number"] == latest else None}

    def put(self, transaction: Transaction, records: Sequence[Record]) -> None:
        super().put(transaction, [{name: value for name, value in record.items() if name != "packed"} for record in records])
        latest = self._latest(transaction)
        for record in records:
            if record["number"] == latest and record["packed"] is not None:
                pieces.put(transaction, LATEST, record["packed"])
