"""Reading by month, and letting go of what is older than is promised."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import Final

from sqlalchemy import BigInteger, ColumnElement, Connection, cast, delete, distinct, func, select

from newsportal.storage.readers import OFFERS_KEPT, VIEWS_KEPT, Month
from newsportal.storage.readers_rows import FIGURES, spans
from newsportal.storage.sql.dialects import upsert
from newsportal.storage.sql.reader_tables import MONTHS, OFFERS, VIEWS
from newsportal.storage.sql.tables import ARTICLES

MICROSECONDS: Final = 3_600_000_000
"""Of an hour."""


def months(connection: Connection, alpha: float) -> list[Month]:
    """See ``Readers.months``."""
    kept = {row["start"]: Month(**row) for row in connection.execute(select(MONTHS)).mappings()}
    counted = {start: _count(connection, start, end, alpha) for start, end in _spans(connection) if start not in kept}
    return [month for _, month in sorted((kept | counted).items())]


def _spans(connection: Connection) -> Iterator[tuple[datetime, datetime]]:
    """The months from the first view or offer to the last, as (start, end)."""
    ends = [
        (connection.scalar(select(func.min(column))), connection.scalar(select(func.max(column))))
        for column in (VIEWS.c.first, OFFERS.c.day)
    ]
    first = min((low for low, _ in ends if low), default=None)
    last = max((high for _, high in ends if high), default=None)
    return spans(first, last)


def _count(connection: Connection, start: datetime, end: datetime, alpha: float) -> Month:
    within = _between(VIEWS.c.first, start, end)
    views, pictures, readers = connection.execute(
        select(func.count(), func.sum(VIEWS.c.seen), func.count(distinct(VIEWS.c.reader))).where(within)
    ).one()
    shown = _between(OFFERS.c.day, start, end)
    offered, opened = connection.execute(select(func.count(), func.count(OFFERS.c.opened)).where(shown)).one()
    past = (VIEWS.c.reader == OFFERS.c.reader) & (VIEWS.c.article_id == OFFERS.c.opened) & (VIEWS.c.seen >= alpha * VIEWS.c.pictures)
    liked = connection.scalar(select(func.count()).select_from(OFFERS).join(VIEWS, past).where(shown, OFFERS.c.opened.is_not(None)))
    return Month(start, views, int(pictures or 0), readers, offered, opened, liked or 0)


def _between(column: ColumnElement[datetime], start: datetime, end: datetime) -> ColumnElement[bool]:
    return (column >= start) & (column < end)


def let_go(connection: Connection, alpha: float, now: datetime) -> int:
    """See ``Readers.let_go``. The figures of a month are written down before its first view goes: its offers are all there still."""
    oldest = now - VIEWS_KEPT
    ending = [month for month in months(connection, alpha) if month.start < oldest]
    upsert(connection, MONTHS, [{"start": month.start, **{name: getattr(month, name) for name in FIGURES}} for month in ending])
    views = connection.execute(delete(VIEWS).where(VIEWS.c.at < oldest)).rowcount
    return views + connection.execute(delete(OFFERS).where(OFFERS.c.day < now - OFFERS_KEPT)).rowcount


def ages(connection: Connection, hours: int) -> list[int]:
    """See ``Readers.ages``."""
    age = cast(VIEWS.c.first, BigInteger) - cast(ARTICLES.c.moment, BigInteger)
    hour = (age // MICROSECONDS).label("hour")
    counted = select(hour, func.count()).join(ARTICLES, ARTICLES.c.id == VIEWS.c.article_id).where(age >= 0, age < hours * MICROSECONDS)
    found = {int(number): views for number, views in connection.execute(counted.group_by(hour))}
    return [found.get(number, 0) for number in range(hours)]
