"""Reading by month: figures that stay when the views they count are let go."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final

from sqlalchemy import Column, ColumnElement, Connection, Integer, Table, distinct, func, select

from newsportal.store.columns import METADATA, Moment
from newsportal.store.reader_views import OFFERS, VIEWS


def months(connection: Connection, alpha: float) -> list[Month]:
    kept = {row["start"]: Month(**row) for row in connection.execute(select(MONTHS)).mappings()}
    counted = {start: _count(connection, start, end, alpha) for start, end in _spans(connection) if start not in kept}
    return [month for _, month in sorted((kept | counted).items())]


def _spans(connection: Connection) -> Iterator[tuple[datetime, datetime]]:
    """The months from the first view or offer to the last, as (start, end)."""
    ends = [
        (connection.scalar(select(func.min(column))), connection.scalar(select(func.max(column))))
        for column in (VIEWS.c.first, OFFERS.c.day)
    ]
    lows, highs = ([end for end in some if end] for some in zip(*ends, strict=True))
    if not lows:
        return
    start, last = month_of(min(lows)), max(highs)
    while start <= last:
        end = start.replace(year=start.year + start.month // 12, month=start.month % 12 + 1)
        yield start, end
        start = end


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


@dataclass(frozen=True, slots=True)
class Month:
    """A month of reading (paper C, figures 3 and 4). ``start``: its first moment (UTC).

    ``views`` and ``pictures`` count what was looked at for the first time in it; of ``offered`` recommendations ``opened`` were opened, and
    ``liked`` of those read to the share α or more (formula 4: precision = liked / offered). Where
    most stories are articles α is 1, and what was read whole is liked.
    """

    start: datetime
    views: int
    pictures: int
    readers: int
    offered: int
    opened: int
    liked: int


FIGURES: Final = ("views", "pictures", "readers", "offered", "opened", "liked")
"""The columns of a month."""


def month_of(moment: datetime) -> datetime:
    """The first moment of its month (UTC)."""
    return moment.astimezone(UTC).replace(day=1, hour=0, minute=0, second=0, microsecond=0)


MONTHS = Table(
    "reading_months",
    METADATA,
    Column("start", Moment, primary_key=True),
    *(Column(name, Integer, nullable=False) for name in FIGURES),
)
"""Figures of months whose views and offers were let go."""
