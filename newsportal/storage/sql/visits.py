"""Visits in a SQL database."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from itertools import groupby

from sqlalchemy import Connection, Engine, delete, func, select

from newsportal.storage.rows import name
from newsportal.storage.sql.dialects import reading as read
from newsportal.storage.sql.dialects import upsert
from newsportal.storage.sql.dialects import writing as write
from newsportal.storage.sql.reading import chunks
from newsportal.storage.sql.visit_tables import VISITS
from newsportal.storage.visits_rows import visit_of, visit_row
from newsportal.visits import SKEW, Visit, together


class SqlVisits:
    """The :class:`~newsportal.storage.visits.Visits` of a SQL store."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def add(self, visit: Visit) -> None:
        with write(self._engine) as connection:
            if visit.begun:
                connection.execute(delete(VISITS).where(VISITS.c.source == name(visit.source), VISITS.c.at > visit.at + SKEW))
            _put(connection, visit)

    def join(self, parts: Sequence[Visit]) -> None:
        with write(self._engine) as connection:
            for part in parts:
                newest = select(VISITS).where(VISITS.c.source == name(part.source)).order_by(VISITS.c.at.desc()).limit(1)
                row = connection.execute(newest).one_or_none()
                _put(connection, part if row is None else together(visit_of(row.source, row.at, row.told), part))

    def of(self, source: str, *, since: datetime | None = None, limit: int = 200, bringing: bool = False) -> list[Visit]:
        wanted = select(VISITS).where(VISITS.c.source == name(source), VISITS.c.brought >= int(bringing))
        wanted = wanted.order_by(VISITS.c.at.desc()).limit(limit)
        if since is not None:
            wanted = wanted.where(VISITS.c.at >= since)
        with read(self._engine) as connection:
            return [visit_of(row.source, row.at, row.told) for row in connection.execute(wanted)]

    def recent(self, sources: Collection[str] | None = None, *, each: int = 50, bringing: bool = False) -> Mapping[str, list[Visit]]:
        place = func.row_number().over(partition_by=VISITS.c.source, order_by=VISITS.c.at.desc()).label("place")
        found: dict[str, list[Visit]] = {}
        with read(self._engine) as connection:
            for chunk in [None] if sources is None else chunks(map(name, sources)):
                chosen = select(VISITS, place) if chunk is None else select(VISITS, place).where(VISITS.c.source.in_(chunk))
                ranked = chosen.where(VISITS.c.brought >= int(bringing)).subquery()
                wanted = select(ranked).where(ranked.c.place <= each).order_by(ranked.c.source, ranked.c.at.desc())
                for source, rows in groupby(connection.execute(wanted), key=lambda row: row.source):
                    found[source] = [visit_of(row.source, row.at, row.told) for row in rows]
        return found

    def forget(self, before: datetime) -> int:
        with write(self._engine) as connection:
            return connection.execute(delete(VISITS).where(VISITS.c.at < before)).rowcount


def _put(connection: Connection, visit: Visit) -> None:
    upsert(connection, VISITS, [visit_row(visit)], update=("brought", "told"))
