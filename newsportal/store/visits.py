"""The visits that were paid to sources: what the schedule learns from and the monitor judges by."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import fields
from datetime import datetime
from itertools import groupby
from typing import Any, Final

from sqlalchemy import JSON, Column, Connection, Index, Integer, String, Table, delete, func, select

from newsportal.store.columns import METADATA, NAME_CHARS, Moment, name
from newsportal.store.dialects import Part, chunks, upsert
from newsportal.visits import SKEW, Visit, together

VISITS = Table(
    "visits",
    METADATA,
    Column("source", String(NAME_CHARS), primary_key=True),
    Column("at", Moment, primary_key=True, autoincrement=False),
    Column("brought", Integer, nullable=False, server_default="0"),
    Column("told", JSON, nullable=False),
    Index(None, "at"),
    Index(None, "source", "brought", "at"),
)
"""``told``: what the visit brought (``newsportal.visits``), without source and moment. ``brought``: 1 if it brought something new, else
0, and -1 while nothing is told: of a source that is silent for weeks the visits before are asked for."""


TOLD: Final = tuple(field.name for field in fields(Visit) if field.name not in ("source", "at"))

BEGUN: Final = -1
"""``brought`` of a visit of which nothing is told yet."""


def visit_row(visit: Visit) -> dict[str, Any]:
    """The columns of a visit."""
    brought = BEGUN if visit.begun else int(visit.new > 0)
    return {"source": name(visit.source), "at": visit.at, "brought": brought, "told": _plain(visit)}


def _plain(visit: Visit) -> dict[str, Any]:
    """What there is to tell; fields that say nothing are left out."""
    told = {key: getattr(visit, key) for key in TOLD}
    told["published"] = [moment.isoformat() for moment in visit.published]
    return {key: dict(value) if isinstance(value, Mapping) else value for key, value in told.items() if value}


def visit_of(source: str, at: datetime, told: Mapping[str, Any]) -> Visit:
    """The inverse of :func:`visit_row`; what a later version added is left out."""
    values = {key: told[key] for key in TOLD if key in told}
    values["published"] = tuple(datetime.fromisoformat(moment) for moment in values.get("published", ()))
    return Visit(source, at, **values)


class Visits(Part):
    """The visits that were paid to sources: kept for some months, then forgotten. Blocking calls."""

    def add(self, visit: Visit) -> None:
        """Remember a visit. The same source at the same moment replaces what was told of it. One of which nothing is told has begun, and
        is shown once something is joined to it; visits of the source more than ``visits.SKEW`` after it go: a wrong clock dated them, and
        what is done now must not be joined to them."""
        with self._write() as connection:
            if visit.begun:
                connection.execute(delete(VISITS).where(VISITS.c.source == name(visit.source), VISITS.c.at > visit.at + SKEW))
            _save(connection, visit)

    def join(self, parts: Sequence[Visit]) -> None:
        """Add what was done to the newest visit of each source, whoever began it (``visits.together``); remember it if there is none."""
        with self._write() as connection:
            for part in parts:
                newest = select(VISITS).where(VISITS.c.source == name(part.source)).order_by(VISITS.c.at.desc()).limit(1)
                row = connection.execute(newest).one_or_none()
                _save(connection, part if row is None else together(visit_of(row.source, row.at, row.told), part))

    def of(self, source: str, *, since: datetime | None = None, limit: int = 200, bringing: bool = False) -> list[Visit]:
        """The visits of one source, newest first; ``bringing``: only those that brought something new."""
        wanted = select(VISITS).where(VISITS.c.source == name(source), VISITS.c.brought >= int(bringing))
        wanted = wanted.order_by(VISITS.c.at.desc()).limit(limit)
        if since is not None:
            wanted = wanted.where(VISITS.c.at >= since)
        with self._read() as connection:
            return [visit_of(row.source, row.at, row.told) for row in connection.execute(wanted)]

    def recent(self, sources: Collection[str] | None = None, *, each: int = 50, bringing: bool = False) -> Mapping[str, list[Visit]]:
        """The newest visits of every source (or of these), newest first: one question for a whole schedule of thousands."""
        place = func.row_number().over(partition_by=VISITS.c.source, order_by=VISITS.c.at.desc()).label("place")
        found: dict[str, list[Visit]] = {}
        with self._read() as connection:
            for chunk in [None] if sources is None else chunks(map(name, sources)):
                chosen = select(VISITS, place) if chunk is None else select(VISITS, place).where(VISITS.c.source.in_(chunk))
                ranked = chosen.where(VISITS.c.brought >= int(bringing)).subquery()
                wanted = select(ranked).where(ranked.c.place <= each).order_by(ranked.c.source, ranked.c.at.desc())
                for source, rows in groupby(connection.execute(wanted), key=lambda row: row.source):
                    found[source] = [visit_of(row.source, row.at, row.told) for row in rows]
        return found

    def forget(self, before: datetime) -> int:
        """Let go what is older; answers how many visits."""
        with self._write() as connection:
            return connection.execute(delete(VISITS).where(VISITS.c.at < before)).rowcount


def _save(connection: Connection, visit: Visit) -> None:
    upsert(connection, VISITS, [visit_row(visit)], update=("brought", "told"))
