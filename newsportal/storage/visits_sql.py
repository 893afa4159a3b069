"""Visits in a SQL database."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import fields
from datetime import datetime
from itertools import groupby
from typing import Any, Final

from sqlalchemy import Connection, Engine, delete, func, select

from newsportal.storage.dialects import reading as read
from newsportal.storage.dialects import upsert
from newsportal.storage.dialects import writing as write
from newsportal.storage.reading import chunks
from newsportal.storage.rows import name
from newsportal.storage.visit_tables import VISITS
from newsportal.visits import SKEW, Visit, together

TOLD: Final = tuple(field.name for field in fields(Visit) if field.name not in ("source", "at"))

BEGUN: Final = -1
"""``brought`` of a visit of which nothing is told yet."""


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
                _put(connection, part if row is None else together(_visit(row.source, row.at, row.told), part))

    def of(self, source: str, *, since: datetime | None = None, limit: int = 200, bringing: bool = False) -> list[Visit]:
        wanted = select(VISITS).where(VISITS.c.source == name(source), VISITS.c.brought >= int(bringing))
        wanted = wanted.order_by(VISITS.c.at.desc()).limit(limit)
        if since is not None:
            wanted = wanted.where(VISITS.c.at >= since)
        with read(self._engine) as connection:
            return [_visit(row.source, row.at, row.told) for row in connection.execute(wanted)]

    def recent(self, sources: Collection[str] | None = None, *, each: int = 50, bringing: bool = False) -> Mapping[str, list[Visit]]:
        place = func.row_number().over(partition_by=VISITS.c.source, order_by=VISITS.c.at.desc()).label("place")
        found: dict[str, list[Visit]] = {}
        with read(self._engine) as connection:
            for chunk in [None] if sources is None else chunks(map(name, sources)):
                chosen = select(VISITS, place) if chunk is None else select(VISITS, place).where(VISITS.c.source.in_(chunk))
                ranked = chosen.where(VISITS.c.brought >= int(bringing)).subquery()
                wanted = select(ranked).where(ranked.c.place <= each).order_by(ranked.c.source, ranked.c.at.desc())
                for source, rows in groupby(connection.execute(wanted), key=lambda row: row.source):
                    found[source] = [_visit(row.source, row.at, row.told) for row in rows]
        return found

    def forget(self, before: datetime) -> int:
        with write(self._engine) as connection:
            return connection.execute(delete(VISITS).where(VISITS.c.at < before)).rowcount


def _put(connection: Connection, visit: Visit) -> None:
    brought = BEGUN if visit.begun else int(visit.new > 0)
    row = {"source": name(visit.source), "at": visit.at, "brought": brought, "told": _plain(visit)}
    upsert(connection, VISITS, [row], update=("brought", "told"))


def _plain(visit: Visit) -> dict[str, Any]:
    """What there is to tell; fields that say nothing are left out."""
    told = {key: getattr(visit, key) for key in TOLD}
    told["published"] = [moment.isoformat() for moment in visit.published]
    return {key: dict(value) if isinstance(value, Mapping) else value for key, value in told.items() if value}


def _visit(source: str, at: datetime, told: Mapping[str, Any]) -> Visit:
    """What a later version added is left out."""
    values = {key: told[key] for key in TOLD if key in told}
    values["published"] = tuple(datetime.fromisoformat(moment) for moment in values.get("published", ()))
    return Visit(source, at, **values)
