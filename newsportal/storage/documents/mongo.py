"""MongoDB 6 or later, alone or as a replica set, and what speaks its protocol (FerretDB). Transactions of its own are not asked for.

Every row is a document, its ``id`` is ``_id``. What MongoDB promises here: the insertion of an ``_id`` succeeds once, and a document is
replaced whole. FerretDB compares and replaces in two steps, so nothing rests on more than that.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any

from bson import encode
from bson.errors import BSONError
from pymongo import MongoClient, WriteConcern
from pymongo.collection import Collection as Documents
from pymongo.errors import BulkWriteError, DocumentTooLarge, DuplicateKeyError, PyMongoError
from pymongo.operations import DeleteOne, IndexModel, ReplaceOne

from newsportal.errors import StoreError
from newsportal.storage.documents import mongo_errors
from newsportal.storage.documents.backend import LONG, Writes, vouched
from newsportal.storage.documents.base import Condition, Row, Table, in_order
from newsportal.storage.documents.mongo_words import VERSION, projection, question, read, sorting, stored
from newsportal.storage.paging import chunks
from newsportal.storage.places import shown

Write = ReplaceOne[dict[str, Any]] | DeleteOne

DATABASE = "newsportal"
"""What a URI without a database means."""

AWAY_SECONDS = 5.0
"""How long a server is looked for before it counts as away."""

ANSWER_SECONDS = 30.0
"""How long an answer may take: as long as writers of a SQL database wait for each other."""

BATCH = 1000
"""Ids asked for, or writes sent, at once."""

LONGEST = 16 * 2**20
"""Bytes of a document that MongoDB takes."""

SLOW = 20
"""Replacements sent to FerretDB at once: as it is released, 1.24 looks through the whole collection for each (``scripts/servers`` builds it
without that fault), so more take longer than ``ANSWER_SECONDS``."""

DUPLICATE = 11000
"""MongoDB's code for an ``_id`` that is there already."""


class MongoBackend:
    """A :class:`~newsportal.storage.documents.backend.Backend`. Shared between threads; open one in each process."""

    def __init__(self, uri: str) -> None:
        self.place = shown(uri)
        self._tables: dict[str, Table] = {}
        self._made: set[str] = set()
        with self._errors():
            self._client = _client(uri, self.place)
            try:
                self._database = self._client.get_default_database(DATABASE).with_options(write_concern=WriteConcern(w="majority", j=True))
                self._ferret = "ferretdbVersion" in self._client.admin.command("buildInfo")
            except BaseException:
                self.close()
                raise

    def prepare(self, tables: Sequence[Table]) -> None:
        """Indexes are made, if they are missing, when something is written into a table first."""
        self._tables = {table.name: table for table in tables}

    def _make(self, name: str) -> None:
        if name in self._made:
            return
        indexes = [IndexModel([_key(field) for field in fields]) for fields in self._tables[name].indexes]
        there = self._database[name].index_information() if indexes else {}
        for index in indexes:  # one by one: FerretDB 1.24 falls over when it is asked for several that are there
            if index.document["name"] not in there:
                self._database[name].create_indexes([index])
        self._made.add(name)

    def get(self, table: Table, ids: Collection[str], *, without: Collection[str] = (), only: Collection[str] = ()) -> dict[str, Row]:
        wanted = list(dict.fromkeys(ids))
        fields = projection(without, only)
        with self._errors():
            documents = [found for filter in self._by_id(wanted) for found in self._of(table).find(filter, fields)]
        return {row["id"]: row for row in map(read, documents)}

    def _by_id(self, ids: Sequence[str]) -> Iterator[dict[str, Any]]:
        if self._ferret:  # it looks through everything when it is asked for several
            yield from ({"_id": id} for id in ids)
        else:
            yield from ({"_id": {"$in": list(ids[start : start + BATCH])}} for start in range(0, len(ids), BATCH))

    def find(
        self, table: Table, *where: Condition, order: Sequence[str] = (), limit: int | None = None, skip: int = 0,
        without: Collection[str] = (), only: Collection[str] = (),
    ) -> list[Row]:  # fmt: skip
        if limit == 0:
            return []
        fields = projection(without, only, order)
        with self._errors():
            asked = self._of(table).find(question(where), fields, sort=sorting(order), skip=skip, limit=limit or 0)
            found = [read(document) for document in asked]
        rising = [name for name in order if not name.startswith("-") and name != "id"]
        if rising and (skip or any(row.get(name) is None for row in found for name in rising)):
            found = self._with_gaps(table, where, order, limit, skip, fields)
        return [_without(row, without, only) for row in found]

    def _with_gaps(
        self, table: Table, where: Sequence[Condition], order: Sequence[str], limit: int | None, skip: int, fields: dict[str, int] | None
    ) -> list[Row]:
        """The same where some rows lack a field to sort by: MongoDB puts those first, we want them last."""
        with self._errors():
            every = self._of(table).find(question(where), projection((), ("id",), order))
            ids = [row["id"] for row in in_order(map(read, every), order)][skip:][:limit]
            documents = [found for filter in self._by_id(ids) for found in self._of(table).find(filter, fields)]
        there = {row["id"]: row for row in map(read, documents)}
        return [there[id] for id in ids if id in there]

    def count(self, table: Table, *where: Condition) -> int:
        with self._errors():
            return self._of(table).count_documents(question(where))

    def count_by(self, table: Table, name: str, *where: Condition) -> dict[Any, int]:
        group = [{"$group": {"_id": f"${name}", "rows": {"$sum": 1}}}]
        unwind = [{"$unwind": f"${name}"}] if table.fields[name] == "keys" else []
        with self._errors():
            answers = list(self._of(table).aggregate([{"$match": question(where)}, *unwind, *group]))
        return {answer["_id"]: answer["rows"] for answer in answers if answer["_id"] is not None}

    def vouch(self, writes: Writes) -> None:
        vouched(self.place, self._tables, writes, self._length, LONGEST)

    def _length(self, _: Table, row: Row) -> int:
        with self._errors():
            return len(encode(stored(row, LONG - 1)))

    def create(self, table: Table, row: Row) -> bool:
        with self._errors():
            self._make(table.name)
            try:
                self._of(table).insert_one(stored(row, 0))
            except DuplicateKeyError:
                return False
        return True

    def apply(self, writes: Writes, number: int, *, told: bool = False) -> None:
        """What is ``told`` need not wait for the disk and for other members: they write in the order in which they were told."""
        database = self._database.with_options(write_concern=WriteConcern(w=1)) if told else self._database
        for name, rows in writes.items():
            with self._errors():
                self._make(name)
            ids = list(rows)
            for start in range(0, len(ids), BATCH):
                self._write(database[name], {id: rows[id] for id in ids[start : start + BATCH]}, number)

    def _write(self, documents: Documents[dict[str, Any]], rows: dict[str, Row | None], number: int) -> None:
        put = [stored(row, number) for row in rows.values() if row is not None]
        with self._errors():
            gone_ids = [id for id, row in rows.items() if row is None]
            before: dict[str, Any] = {VERSION: {"$lte": number}}
            if self._ferret:
                put = self._inserted(documents, put) if put else []
                later = self._later(documents, [*gone_ids, *(one["_id"] for one in put)], number)
                put, gone_ids, before = [one for one in put if one["_id"] not in later], [id for id in gone_ids if id not in later], {}
            told: list[Write] = [ReplaceOne({"_id": one["_id"], **before}, one, upsert=True) for one in put]
            gone: list[Write] = [DeleteOne({"_id": id, **before}) for id in gone_ids]
            for some in chunks(told + gone, SLOW if self._ferret else BATCH):
                _tolerant(documents, some)

    def _inserted(self, documents: Documents[dict[str, Any]], put: list[dict[str, Any]]) -> list[dict[str, Any]]:
        """Insert those that are new, which FerretDB does fast; answers the others."""
        try:
            documents.insert_many(put, ordered=False)
        except BulkWriteError as error:
            return [put[fault["index"]] for fault in _but_duplicates(error)]
        return []

    def alone(self, alone: bool) -> None:
        """Every question of MongoDB sees all that was written."""

    def together(self) -> AbstractContextManager[None]:
        return nullcontext()

    def _later(self, documents: Documents[dict[str, Any]], ids: Sequence[str], number: int) -> set[str]:
        """Those that have a later state. FerretDB finds documents fast by nothing but ``_id``, so it is asked before, not meanwhile."""
        found = (one for filter in self._by_id(ids) for one in documents.find(filter, {VERSION: 1}))
        return {one["_id"] for one in found if one[VERSION] > number}

    def close(self) -> None:
        self._client.close()

    def _of(self, table: Table) -> Documents[dict[str, Any]]:
        return self._database[table.name]

    @contextmanager
    def _errors(self) -> Iterator[None]:
        try:
            yield
        except (PyMongoError, DocumentTooLarge) as error:
            raise mongo_errors.explained(error, self.place) from error
        except (OverflowError, UnicodeError, BSONError) as error:
            raise StoreError(f"{self.place}: a row holds what MongoDB cannot keep ({error})") from error


def _client(uri: str, place: str) -> MongoClient[dict[str, Any]]:
    try:
        return MongoClient(
            uri,
            serverSelectionTimeoutMS=int(AWAY_SECONDS * 1000),
            connectTimeoutMS=int(AWAY_SECONDS * 1000),
            socketTimeoutMS=int(ANSWER_SECONDS * 1000),
            appname="newsportal",
        )
    except (ValueError, OSError) as error:  # a file of certificates that is not there
        raise mongo_errors.no_uri(place, error) from error


def _tolerant(documents: Documents[dict[str, Any]], writes: list[Write]) -> None:
    """Write; rows of a later state, which are reported as duplicates of their ``_id``, stay as they are."""
    try:
        try:
            documents.bulk_write(writes, ordered=False)
        except KeyError:  # FerretDB leaves nModified out where an upsert lost a race for a new row; the row is there now
            documents.bulk_write(writes, ordered=False)
    except BulkWriteError as error:
        _but_duplicates(error)


def _but_duplicates(error: BulkWriteError) -> list[dict[str, Any]]:
    """The duplicates among what went wrong; anything else is raised."""
    faults: list[dict[str, Any]] = error.details.get("writeErrors", [])
    if error.details.get("writeConcernErrors") or any(fault["code"] != DUPLICATE for fault in faults):
        raise error
    return faults


def _key(name: str) -> tuple[str, int]:
    return ("_id" if name.lstrip("-") == "id" else name.lstrip("-"), -1 if name.startswith("-") else 1)


def _without(row: Row, without: Collection[str], only: Collection[str]) -> Row:
    if only:
        return {name: value for name, value in row.items() if name in only or name == "id"}
    for name in without:
        row.pop(name, None)
    return row
