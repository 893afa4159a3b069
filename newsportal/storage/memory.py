"""What the crawl remembers between runs: run reports, the state of sources, links that wait."""

from __future__ import annotations

from base64 import b64decode, b64encode
from collections.abc import Collection, Mapping, Sequence
from dataclasses import fields
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, delete, select

from newsportal.items import Link, content_id
from newsportal.report import Run, from_dict, to_dict
from newsportal.storage.base import SourceState
from newsportal.storage.dialects import upsert
from newsportal.storage.reading import chunks
from newsportal.storage.rows import name, storable
from newsportal.storage.tables import DEFERRED, RUNS, SITE_LINES, SOURCES


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
    upsert(connection, SOURCES, [{"source": name(state.source), "state": _plain(state)}], update=("state",))


def source_state(connection: Connection, source: str) -> SourceState:
    """See ``Store.source_state``. A source never met has an empty state."""
    plain = connection.scalar(select(SOURCES.c.state).where(SOURCES.c.source == name(source)))
    return _state(plain) if plain else SourceState(source)


def source_states(connection: Connection) -> list[SourceState]:
    """See ``Store.source_states``; by name."""
    return [_state(plain) for plain in connection.scalars(select(SOURCES.c.state).order_by(SOURCES.c.source))]


def site_lines(connection: Connection, site: str) -> dict[str, bytes]:
    """See ``Store.site_lines``."""
    pages = connection.scalar(select(SITE_LINES.c.pages).where(SITE_LINES.c.site == name(site)))
    return {url: b64decode(lines) for url, lines in pages or ()}


def save_site_lines(connection: Connection, sites: Mapping[str, Mapping[str, bytes]], now: datetime, most: int) -> None:
    """See ``Store.save_site_lines``."""
    rows = [
        {"site": name(site), "seen": now, "pages": [[storable(url), b64encode(lines).decode("ascii")] for url, lines in pages.items()]}
        for site, pages in sites.items()
    ]
    upsert(connection, SITE_LINES, rows, update=("seen", "pages"))
    newest_first = select(SITE_LINES.c.site).order_by(SITE_LINES.c.seen.desc(), SITE_LINES.c.site)
    for gone in chunks(connection.scalars(newest_first).all()[most:]):
        connection.execute(delete(SITE_LINES).where(SITE_LINES.c.site.in_(gone)))


def _plain(value: SourceState | Link) -> dict[str, Any]:
    """A flat dataclass as JSON values: moments in ISO 8601, mappings as objects, what is None left out."""
    pairs = ((field.name, getattr(value, field.name)) for field in fields(value))
    return {key: _json(item) for key, item in pairs if item is not None}


def _json(item: Any) -> Any:
    if isinstance(item, datetime):
        return item.isoformat()
    if isinstance(item, str):
        return storable(item)
    if isinstance(item, Mapping):
        return {storable(key): list(values) for key, values in item.items()}
    return item


def _state(plain: Mapping[str, Any]) -> SourceState:
    values = _of(SourceState, plain, ("rest_until", "next_visit", "last_run", "last_success", "layout_changed", "unfinished"))
    values["validators"] = {url: (etag, modified) for url, (etag, modified) in plain.get("validators", {}).items()}
    values["hung"] = {name: (runs, last) for name, (runs, last) in plain.get("hung", {}).items()}
    return SourceState(**values)


def _of(kind: type[SourceState | Link], plain: Mapping[str, Any], moments: Sequence[str]) -> dict[str, Any]:
    """The fields of ``kind`` in ``plain``; what a later version added is left out."""
    values = {field.name: plain[field.name] for field in fields(kind) if field.name in plain}
    return values | {key: datetime.fromisoformat(values[key]) for key in moments if key in values}


def defer(connection: Connection, links: Sequence[Link], now: datetime) -> None:
    """See ``Store.defer``. A link that waits already keeps its place."""
    rows = [
        {"id": content_id(link.identity or link.url), "source": name(link.source), "since": now, "position": position, "link": _plain(link)}
        for position, link in enumerate(links)
    ]
    upsert(connection, DEFERRED, rows)


def deferred(connection: Connection, source: str) -> list[Link]:
    """See ``Store.deferred``."""
    waiting = (
        select(DEFERRED.c.link).where(DEFERRED.c.source == name(source)).order_by(DEFERRED.c.since, DEFERRED.c.position, DEFERRED.c.id)
    )
    return [Link(**_of(Link, plain, ("published",))) for plain in connection.scalars(waiting)]


def waits_since(connection: Connection, identity: str) -> datetime | None:
    """See ``Store.waits_since``."""
    return connection.scalar(select(DEFERRED.c.since).where(DEFERRED.c.id == content_id(identity)))


def settle(connection: Connection, names: Collection[str]) -> None:
    """See ``Store.settle``."""
    for chunk in chunks(map(content_id, names)):
        connection.execute(delete(DEFERRED).where(DEFERRED.c.id.in_(chunk)))
