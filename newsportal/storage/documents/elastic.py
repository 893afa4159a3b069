"""Elasticsearch 8 or 9 as a database of documents: an index for each table, ``PREFIX-TABLE``.

What it promises here: a document of an ``_id`` is created once, ``get`` by id knows every write that was acknowledged, and a write with a
number changes no document of a later number (external versions). ``find`` has the index refreshed first, since only then does a search see
what was written; while nobody else writes (:meth:`ElasticBackend.alone`) only after writes of our own.

Nothing but the core of Elasticsearch is needed: no scripts, no reindexing, no plug-ins.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from itertools import islice
from threading import local
from typing import Any

from elasticsearch import BadRequestError, ConflictError

from newsportal.errors import StoreError
from newsportal.storage.documents.backend import Writes, in_json, vouched
from newsportal.storage.documents.base import Condition, Row, Table
from newsportal.storage.documents.elastic_bulk import send
from newsportal.storage.documents.elastic_connection import Connection
from newsportal.storage.documents.elastic_errors import Busy, cause
from newsportal.storage.documents.elastic_words import SETTINGS, chosen, key, line, lines_of, mapping, question, read, sorting

WINDOW = 10_000
"""Rows that one question may reach (``index.max_result_window``)."""

PAGE = 1000
"""Rows of a page, when all are asked for."""

LONGEST = 50_000_000
"""Bytes of a document: half of what a server takes at once (``http.max_content_length``)."""

BATCH = 500
"""Rows asked for by id at once."""

KEPT = "1m"
"""How long a state of the index is kept between two pages."""


class _Look(local):
    """``fresh``: the tables that were refreshed for the questions that this thread asks together; ``None``: each stands alone."""

    fresh: set[str] | None = None


class ElasticBackend:
    """A :class:`~newsportal.storage.documents.backend.Backend`. Shared between threads; open one in each process."""

    def __init__(self, uri: str) -> None:
        self._connection = Connection(uri)
        self._client = self._connection.client
        self.place = self._connection.place
        self._tables: dict[str, Table] = {}
        self._made: set[str] = set()
        self._written: Counter[str] = Counter()
        self._fresh: dict[str, int] = {}
        self._alone = False
        self._look = _Look()

    def prepare(self, tables: Sequence[Table]) -> None:
        """An index is made when something is written into it first; those that are there learn of new fields."""
        self._tables.update({table.name: table for table in tables})
        there = self._indices()
        for table in tables:
            fields = there.get(self._index(table.name))
            if fields is None:
                continue
            self._made.add(table.name)
            if not table.fields.keys() <= fields:
                self._connection.ask(partial(self._client.indices.put_mapping, index=self._index(table.name), **mapping(table)))

    def _indices(self) -> dict[str, set[str]]:
        """Name of each of our indices → its fields."""
        answer = self._connection.ask(partial(self._client.indices.get_mapping, index=f"{self._connection.prefix}-*"))
        return {name: set(told["mappings"].get("properties", {})) for name, told in answer.items()}

    def _index(self, name: str) -> str:
        return f"{self._connection.prefix}-{name}"

    def _make(self, table: Table) -> None:
        if table.name in self._made:
            return
        told = partial(self._client.indices.create, index=self._index(table.name), settings=SETTINGS, mappings=mapping(table))
        try:
            self._connection.ask(told)
        except StoreError as error:
            fault = error.__cause__
            if not isinstance(fault, BadRequestError) or fault.error != "resource_already_exists_exception":
                raise
        self._tables[table.name] = table
        self._made.add(table.name)

    def get(self, table: Table, ids: Collection[str], *, without: Collection[str] = (), only: Collection[str] = ()) -> dict[str, Row]:
        wanted = list(dict.fromkeys(key(id) for id in ids if id))  # it refuses the whole question for an empty one, which no row has
        rows: list[Row] = []
        for start in range(0, len(wanted), BATCH):
            asked = partial(self._client.mget, index=self._index(table.name), ids=wanted[start : start + BATCH], **chosen(without, only))
            rows += [read(table, source) for source in self._connection.ask(partial(_sources, asked, self.place))]
        return {row["id"]: row for row in rows}

    def find(
        self, table: Table, *where: Condition, order: Sequence[str] = (), limit: int | None = None, skip: int = 0,
        without: Collection[str] = (), only: Collection[str] = (),
    ) -> list[Row]:  # fmt: skip
        if limit == 0:
            return []
        asked: dict[str, Any] = {"query": question(where), "sort": sorting(order), "track_total_hits": False, **chosen(without, only)}
        self._refresh(table)
        if limit is not None and skip + limit <= WINDOW:
            hits = self._search(table, size=limit, from_=skip, **asked)
        else:
            hits = self._search(table, size=PAGE, **asked)
            if len(hits) == PAGE:
                hits = list(islice(self._pages(table, asked), None if limit is None else skip + limit))
            hits = hits[skip:][:limit]
        return [read(table, hit["_source"]) for hit in hits]

    def _search(self, table: Table, **asked: Any) -> list[dict[str, Any]]:
        told = partial(
            self._client.search, index=self._index(table.name), ignore_unavailable=True, allow_partial_search_results=False, **asked
        )
        hits: list[dict[str, Any]] = self._connection.ask(told)["hits"]["hits"]
        return hits

    def _pages(self, table: Table, asked: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
        """All hits, page after page of one state of the index."""
        opened = partial(self._client.open_point_in_time, index=self._index(table.name), keep_alive=KEPT)
        state = self._connection.ask(opened)["id"]
        try:
            after: dict[str, Any] = {}
            while True:
                told = partial(self._client.search, size=PAGE, pit={"id": state, "keep_alive": KEPT}, **asked, **after)
                hits = self._connection.ask(told)["hits"]["hits"]
                yield from hits
                if len(hits) < PAGE:
                    return
                after = {"search_after": hits[-1]["sort"]}
        finally:
            self._connection.ask(partial(self._client.close_point_in_time, id=state))

    def count(self, table: Table, *where: Condition) -> int:
        self._refresh(table)
        told = partial(self._client.count, index=self._index(table.name), query=question(where), ignore_unavailable=True)
        return int(self._connection.ask(told)["count"])

    def count_by(self, table: Table, name: str, *where: Condition) -> dict[Any, int]:
        self._refresh(table)
        found: dict[Any, int] = {}
        after: dict[str, Any] = {}
        while True:
            values = {"composite": {"size": PAGE, "sources": [{"value": {"terms": {"field": name}}}], **after}}
            told = partial(
                self._client.search, index=self._index(table.name), ignore_unavailable=True, allow_partial_search_results=False,
                size=0, query=question(where), aggregations={"values": values},
            )  # fmt: skip
            answer = self._connection.ask(told).get("aggregations", {}).get("values", {"buckets": []})
            found.update({bucket["key"]["value"]: bucket["doc_count"] for bucket in answer["buckets"]})
            if len(answer["buckets"]) < PAGE:
                return found
            after = {"after": answer["after_key"]}

    def vouch(self, writes: Writes) -> None:
        vouched(self.place, self._tables, writes, self._length, LONGEST)

    def _length(self, table: Table, row: Row) -> int:
        with self._connection.errors():
            return len(line(in_json(table, row)))

    def create(self, table: Table, row: Row) -> bool:
        self._make(table)
        told = partial(self._client.index, index=self._index(table.name), id=key(row["id"]), document=in_json(table, row), op_type="create")
        try:
            self._connection.ask(told)
        except StoreError as error:
            if isinstance(error.__cause__, ConflictError):
                return False
            raise
        self._touched([table.name])
        return True

    def apply(self, writes: Writes, number: int, *, told: bool = False) -> None:
        """``told`` spares nothing: each index has a log of its own, and what is written to another says nothing of it."""
        for name in writes:
            self._make(self._tables[name])
        lines = (
            lines_of(self._tables[name], self._index(name), id, row, number) for name, rows in writes.items() for id, row in rows.items()
        )
        try:
            send(self._connection, lines)
        finally:
            self._touched(writes)

    def alone(self, alone: bool) -> None:
        self._alone = alone
        self._fresh.clear()

    @contextmanager
    def together(self) -> Iterator[None]:
        outer = self._look.fresh
        self._look.fresh = set() if outer is None else outer
        try:
            yield
        finally:
            self._look.fresh = outer

    def _touched(self, names: Iterable[str]) -> None:
        written = list(names)
        self._written.update(written)
        if self._look.fresh:
            self._look.fresh -= {*written}

    def _refresh(self, table: Table) -> None:
        """Let a search see all that was written."""
        name, written = table.name, self._written[table.name]
        if (self._alone and self._fresh.get(name) == written) or name in (self._look.fresh or ()):
            return
        alone = self._alone
        self._connection.ask(partial(self._client.indices.refresh, index=self._index(name), ignore_unavailable=True))
        if alone:
            self._fresh[name] = written
        if self._look.fresh is not None:
            self._look.fresh.add(name)

    def close(self) -> None:
        self._connection.close()


def _sources(asked: Callable[[], Any], place: str) -> list[Row]:
    """The documents that were found. Raises ``Busy`` while an index cannot be read; one that is not there yet is empty."""
    found = []
    for told in asked()["docs"]:
        fault = told.get("error")
        if fault is not None and fault["type"] != "index_not_found_exception":
            raise Busy(f"{place}: an index cannot be read ({cause(told)}); try again")
        if told.get("found"):
            found.append(told["_source"])
    return found
