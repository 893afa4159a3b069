"""History of hot lists: rank and heat of each entry at every visit (docs/sources.md)."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from sqlalchemy import Column, Float, Index, Integer, String, Table, func, select

from newsportal.store.columns import LONG_TEXT, METADATA, NAME_CHARS, Moment, id_column, name, storable
from newsportal.store.dialects import Part

BOARD_RANKS = Table(
    "board_ranks",
    METADATA,
    Column("source", String(NAME_CHARS), primary_key=True),
    id_column("item", primary_key=True),
    Column("at", Moment, primary_key=True, autoincrement=False),
    Column("rank", Integer, nullable=False),
    Column("heat", Float(53)),
    Column("title", LONG_TEXT, nullable=False),
    Column("url", LONG_TEXT, nullable=False),
    Index(None, "source", "at"),
    Index(None, "at"),
)
"""``item``: hash of the identity of the entry's URL, which is the article's id if it is stored. ``rank``: from 1."""

CURVE_POINTS: Final = 2000
"""Maximum number of curve points read for a list: fifty entries over ten hours, with a visit every 15 minutes."""


@dataclass(frozen=True, slots=True)
class Place:
    """An entry of a hot list at one visit."""

    item: str
    title: str
    url: str
    rank: int
    heat: float | None = None


@dataclass(frozen=True, slots=True)
class Standing:
    """An entry currently on the list. ``since``: first visit on record; ``curve``: times and ranks, earliest first."""

    place: Place
    since: datetime
    best: int
    curve: tuple[tuple[datetime, int], ...] = ()


@dataclass(frozen=True, slots=True)
class Standings:
    """A hot list at its last visit, by rank."""

    source: str
    at: datetime
    entries: tuple[Standing, ...]


class Boards(Part):
    def add(self, source: str, at: datetime, places: Sequence[Place]) -> None:
        """Store the entries of a visit. Entries of an earlier call with the same time are replaced one by one."""
        rows = [
            {"source": name(source), "item": place.item, "at": at, "rank": place.rank, "heat": place.heat, "title": storable(place.title),
             "url": storable(place.url)}
            for place in {place.item: place for place in reversed(places)}.values()
        ]  # fmt: skip
        self._upsert(BOARD_RANKS, rows, update=("rank", "heat", "title", "url"))

    def standings(self, source: str) -> Standings | None:
        """Return the current list, or ``None`` before the first visit."""
        table, of_source = BOARD_RANKS.c, BOARD_RANKS.c.source == name(source)
        with self._read() as connection:
            at = connection.scalar(select(func.max(table.at)).where(of_source))
            if at is None:
                return None
            now = connection.execute(select(BOARD_RANKS).where(of_source, table.at == at).order_by(table.rank, table.item)).all()
            items = [row.item for row in now]
            spans = select(table.item, func.min(table.at).label("since"), func.min(table.rank).label("best"))
            spans = spans.where(of_source, table.item.in_(items)).group_by(table.item)
            first = {row.item: row for row in connection.execute(spans)}
            points = select(table.item, table.at, table.rank).where(of_source, table.item.in_(items))
            curves: dict[str, list[tuple[datetime, int]]] = {}
            for item, moment, place in connection.execute(points.order_by(table.at.desc()).limit(CURVE_POINTS)):
                curves.setdefault(item, []).append((moment, place))
        places = (Place(row.item, row.title, row.url, row.rank, row.heat) for row in now)
        entries = (
            Standing(place, first[place.item].since, first[place.item].best, tuple(reversed(curves.get(place.item, ()))))
            for place in places
        )
        return Standings(source, at, tuple(entries))

    def prune(self, before: datetime, *, dry_run: bool = False) -> int:
        return self._delete_old(BOARD_RANKS, BOARD_RANKS.c.at < before, dry_run=dry_run)
