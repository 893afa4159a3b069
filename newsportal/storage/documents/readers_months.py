"""Reading by month, and letting go of what is older than is promised, in a database of documents."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Final

from newsportal.storage import readers_rows
from newsportal.storage.documents.base import Documents, Is, Not, Rows, Table, Within, moment_in, moment_out
from newsportal.storage.documents.plain import aware, in_pages, plain
from newsportal.storage.documents.room_tables import MONTHS, OFFERS, VIEWS, row_id
from newsportal.storage.documents.tables import ARTICLES
from newsportal.storage.readers import OFFERS_KEPT, VIEWS_KEPT, Month
from newsportal.storage.readers_rows import FIGURES, spans

HOUR: Final = timedelta(hours=1) // timedelta(microseconds=1)
"""In microseconds."""


def months(rows: Rows, alpha: float) -> list[Month]:
    """See ``Readers.months``."""
    kept = {}
    for row in rows.find(MONTHS):
        start = aware(row, "start")["start"]
        kept[start] = Month(start, **{name: row[name] for name in FIGURES})
    counted = {start: _count(rows, start, end, alpha) for start, end in _spans(rows) if start not in kept}
    return [month for _, month in sorted((kept | counted).items())]


def _spans(rows: Rows) -> Iterator[tuple[datetime, datetime]]:
    """The months from the first view or offer to the last, as (start, end)."""
    first = [moment for table, name in ((VIEWS, "first"), (OFFERS, "day")) if (moment := _end(rows, table, name, name))]
    last = [moment for table, name in ((VIEWS, "first"), (OFFERS, "day")) if (moment := _end(rows, table, name, f"-{name}"))]
    return spans(min(first, default=None), max(last, default=None))


def _end(rows: Rows, table: Table, name: str, order: str) -> datetime | None:
    found = rows.find(table, order=(order,), limit=1, only=(name,))
    return moment_out(found[0][name]) if found else None


def _count(rows: Rows, start: datetime, end: datetime, alpha: float) -> Month:
    within = Within("first", moment_in(start), moment_in(end))
    seen = rows.count_by(VIEWS, "seen", within)
    readers = rows.count_by(VIEWS, "reader", within)
    shown = Within("day", moment_in(start), moment_in(end))
    offered, opened, liked = rows.count(OFFERS, shown), 0, 0
    for page in in_pages(rows, OFFERS, shown, Not(Is("opened", None)), order=("day",), only=("reader", "opened")):
        opened += len(page)
        views = rows.get(VIEWS, [row_id(row["reader"], row["opened"]) for row in page], only=("seen", "pictures"))
        liked += sum(view["seen"] >= alpha * view["pictures"] for view in _each(views, page))
    pictures = sum(number * views for number, views in seen.items())
    return Month(start, sum(seen.values()), pictures, len(readers), offered, opened, liked)


def _each(views: dict[str, dict[str, int]], offers: list[dict[str, str]]) -> Iterator[dict[str, int]]:
    """The view of each offer that was opened, if it is there still."""
    ids = (row_id(offer["reader"], offer["opened"]) for offer in offers)
    return (views[id] for id in ids if id in views)


def let_go(documents: Documents, alpha: float, now: datetime) -> int:
    """See ``Readers.let_go``. The figures of a month are written down before its first view goes: its offers are all there still."""
    oldest = now - VIEWS_KEPT
    with documents.writing() as transaction:
        there = transaction.find(MONTHS, only=("start",))
        for month in months(transaction, alpha):
            row = plain({"start": month.start, **{name: getattr(month, name) for name in FIGURES}})
            if month.start < oldest and row["start"] not in {one["start"] for one in there}:
                transaction.put(MONTHS, {"id": row_id(row["start"]), **row})
    old = ((VIEWS, Within("at", high=moment_in(oldest))), (OFFERS, Within("day", high=moment_in(now - OFFERS_KEPT))))
    gone = 0
    for table, which in old:
        while rows := documents.find(table, which, limit=readers_rows.WRITTEN_AT_ONCE, only=("id",)):
            with documents.writing() as transaction:
                gone += transaction.delete(table, [row["id"] for row in rows])
    return gone


def ages(rows: Rows, hours: int) -> list[int]:
    """See ``Readers.ages``."""
    found = [0] * hours
    for page in in_pages(rows, VIEWS, order=("reader", "article_id"), size=readers_rows.VIEWS_AT_ONCE, only=("first",)):
        articles = rows.get(ARTICLES, {row["article_id"] for row in page}, only=("moment",))
        for row in page:
            hour = (row["first"] - articles[row["article_id"]]["moment"]) // HOUR if row["article_id"] in articles else -1
            if 0 <= hour < hours:
                found[hour] += 1
    return found
