"""What the crawl remembers between runs: run reports, the state of sources, links that wait."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime

from sqlalchemy import Connection, delete, select

from newsportal.items import Link, content_id
from newsportal.report import Run, from_dict, to_dict
from newsportal.storage.base import SourceState
from newsportal.storage.paging import chunks
from newsportal.storage.remembered import lines_of, link_of, plain, plain_lines, state_of
from newsportal.storage.rows import name
from newsportal.storage.sql.dialects import upsert
from newsportal.storage.sql.tables import DEFERRED, RUNS, SITE_LINES, SOURCES


def save_run(connection: Connection, run: Run) -> None:
    """See ``Store.save_run``."""
    upsert(connection, RUNS, [{"id": run.id, "started": run.started, "report": to_dict(run)}], update=("started", "report"))


def run(connection: Connection, id: str) -> Run | None:
    """See ``Store.run``."""
    report = connection.scalar(select(RUNS.c.report).where(RUNS.c.id == id))
    return from_dict(report) if report else None


def runs(connection: Connection, limit: int) -> list[Run]:
    """See ``Store.runs``."""
    return [
        from_dict(report) for report in connection.scalars(select(RUNS.c.report).order_by(RUNS.c.started.desc(), RUNS.c.id).limit(limit))
    ]


def save_source_state(connection: Connection, state: SourceState) -> None:
    """See ``Store.save_source_state``."""
    upsert(connection, SOURCES, [{"source": name(state.source), "state": plain(state)}], update=("state",))


def source_state(connection: Connection, source: str) -> SourceState:
    """See ``Store.source_state``. A source never met has an empty state."""
    found = connection.scalar(select(SOURCES.c.state).where(SOURCES.c.source == name(source)))
    return state_of(found) if found else SourceState(source)


def source_states(connection: Connection) -> list[SourceState]:
    """See ``Store.source_states``; by name."""
    return [state_of(found) for found in connection.scalars(select(SOURCES.c.state).order_by(SOURCES.c.source))]


def site_lines(connection: Connection, site: str) -> dict[str, bytes]:
    """See ``Store.site_lines``."""
    pages = connection.scalar(select(SITE_LINES.c.pages).where(SITE_LINES.c.site == name(site)))
    return lines_of(pages)


def save_site_lines(connection: Connection, sites: Mapping[str, Mapping[str, bytes]], now: datetime, most: int) -> None:
    """See ``Store.save_site_lines``."""
    rows = [{"site": name(site), "seen": now, "pages": plain_lines(pages)} for site, pages in sites.items()]
    upsert(connection, SITE_LINES, rows, update=("seen", "pages"))
    newest_first = select(SITE_LINES.c.site).order_by(SITE_LINES.c.seen.desc(), SITE_LINES.c.site)
    for gone in chunks(connection.scalars(newest_first).all()[most:]):
        connection.execute(delete(SITE_LINES).where(SITE_LINES.c.site.in_(gone)))


def defer(connection: Connection, links: Sequence[Link], now: datetime) -> None:
    """See ``Store.defer``. A link that waits already keeps its place."""
    rows = [
        {"id": content_id(link.identity or link.url), "source": name(link.source), "since": now, "position": position, "link": plain(link)}
        for position, link in enumerate(links)
    ]
    upsert(connection, DEFERRED, rows)


def deferred(connection: Connection, source: str) -> list[Link]:
    """See ``Store.deferred``."""
    waiting = (
        select(DEFERRED.c.link).where(DEFERRED.c.source == name(source)).order_by(DEFERRED.c.since, DEFERRED.c.position, DEFERRED.c.id)
    )
    return [link_of(found) for found in connection.scalars(waiting)]


def waits_since(connection: Connection, identity: str) -> datetime | None:
    """See ``Store.waits_since``."""
    return connection.scalar(select(DEFERRED.c.since).where(DEFERRED.c.id == content_id(identity)))


def settle(connection: Connection, names: Collection[str]) -> None:
    """See ``Store.settle``."""
    for chunk in chunks(map(content_id, names)):
        connection.execute(delete(DEFERRED).where(DEFERRED.c.id.in_(chunk)))
