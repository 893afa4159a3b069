"""Visits in a database of documents."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Final

from newsportal.storage.documents.base import Condition, Documents, In, Is, Row, Rows, Transaction, Within, moment_in
from newsportal.storage.documents.plain import PAGE, aware, behind, in_pages, plain
from newsportal.storage.documents.room_tables import VISITS, row_id
from newsportal.storage.documents.tables import as_text
from newsportal.storage.paging import chunks
from newsportal.storage.rows import name
from newsportal.storage.visits_rows import visit_of, visit_row
from newsportal.visits import SKEW, Visit, together

SOURCES_AT_ONCE: Final = 40
"""Sources whose newest visits are asked for together: with some 50 visits each, an answer stays at two thousand rows."""

NEWEST: Final = ("-at",)


class DocumentVisits:
    """The :class:`~newsportal.storage.visits.Visits` of a store over documents."""

    def __init__(self, documents: Documents) -> None:
        self._documents = documents

    def add(self, visit: Visit) -> None:
        with self._documents.writing() as transaction:
            if visit.begun:
                ahead = Within("at", low=moment_in(visit.at + SKEW), above=True)
                later = transaction.find(VISITS, Is("source", name(visit.source)), ahead, only=("id",))
                transaction.delete(VISITS, [row["id"] for row in later])
            _put(transaction, visit)

    def join(self, parts: Sequence[Visit]) -> None:
        with self._documents.writing() as transaction:
            for part in parts:
                newest = transaction.find(VISITS, Is("source", name(part.source)), order=NEWEST, limit=1)
                _put(transaction, together(_visit(newest[0]), part) if newest else part)

    def of(self, source: str, *, since: datetime | None = None, limit: int = 200, bringing: bool = False) -> list[Visit]:
        wanted: list[Condition] = [Is("source", name(source)), Within("brought", low=int(bringing))]
        if since is not None:
            wanted.append(Within("at", low=moment_in(since)))
        return [_visit(row) for row in self._documents.find(VISITS, *wanted, order=NEWEST, limit=limit)]

    def recent(self, sources: Collection[str] | None = None, *, each: int = 50, bringing: bool = False) -> Mapping[str, list[Visit]]:
        told = Within("brought", low=int(bringing))
        names = self._documents.count_by(VISITS, "source", told) if sources is None else dict.fromkeys(map(name, sources))
        found: dict[str, list[Visit]] = {}
        for chunk in chunks(sorted(names), SOURCES_AT_ONCE):
            for row in _newest(self._documents, chunk, told, each):
                found.setdefault(row["source"], []).append(_visit(row))
        return dict(sorted(found.items()))

    def forget(self, before: datetime) -> int:
        gone = 0
        for page in in_pages(self._documents, VISITS, Within("at", high=moment_in(before)), order=("at",), only=("id",)):
            with self._documents.writing() as transaction:
                gone += transaction.delete(VISITS, [row["id"] for row in page])
        return gone


def _newest(rows: Rows, sources: Sequence[str], told: Condition, each: int) -> Iterator[Row]:
    """The newest visits of these sources, ``each`` of one at most: asked for together, until no source lacks any."""
    lacking = dict.fromkeys(sources, each)
    further: tuple[Condition, ...] = ()
    while lacking:
        limit = min(sum(lacking.values()), PAGE * 2)
        page = rows.find(VISITS, In("source", list(lacking)), told, *further, order=NEWEST, limit=limit)
        for row in page:
            if row["source"] in lacking:
                yield row
                lacking[row["source"]] -= 1
                if not lacking[row["source"]]:
                    del lacking[row["source"]]
        if len(page) < limit:
            return
        further = (behind(page[-1], NEWEST),)


def _put(transaction: Transaction, visit: Visit) -> None:
    row = plain(visit_row(visit))
    transaction.put(VISITS, {"id": row_id(row["source"], row["at"]), **row, "told": as_text(row["told"])})


def _visit(row: Row) -> Visit:
    moment = aware(row, "at")["at"]
    return visit_of(row["source"], moment, json.loads(row["told"]))
