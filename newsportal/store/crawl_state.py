"""What the crawl remembers between runs: reports, the state of sources, lines of sites."""

from __future__ import annotations

from base64 import b64decode, b64encode
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields
from datetime import datetime
from typing import Any

from sqlalchemy import JSON, Column, Connection, String, Table, delete, select

from newsportal.report import Run, from_dict, to_dict
from newsportal.store.columns import METADATA, NAME_CHARS, Moment, name, storable
from newsportal.store.dialects import Part, chunks, upsert
from newsportal.store.results import SourceState

RUNS = Table(
    "runs",
    METADATA,
    Column("id", String(NAME_CHARS), primary_key=True),
    Column("started", Moment, nullable=False, index=True),
    Column("report", JSON, nullable=False),
)

SOURCES = Table(
    "source_states",
    METADATA,
    Column("source", String(NAME_CHARS), primary_key=True),
    Column("state", JSON, nullable=False),
)

SITE_LINES = Table(
    "site_lines",
    METADATA,
    Column("site", String(NAME_CHARS), primary_key=True),
    Column("seen", Moment, nullable=False, index=True),
    Column("pages", JSON, nullable=False),
)
"""Hashed lines of a site's pages, the oldest first: ``[[url, base64], …]``."""


def plain(value: SourceState) -> dict[str, Any]:
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


def state_of(plain: Mapping[str, Any]) -> SourceState:
    """The inverse of :func:`plain`; what a later version added is left out."""
    values = {field.name: plain[field.name] for field in fields(SourceState) if field.name in plain}
    moments = ("rest_until", "next_visit", "last_run", "last_success", "layout_changed", "unfinished")
    values |= {key: datetime.fromisoformat(values[key]) for key in moments if key in values}
    values["validators"] = {url: (etag, modified) for url, (etag, modified) in plain.get("validators", {}).items()}
    values["hung"] = {name: (runs, last) for name, (runs, last) in plain.get("hung", {}).items()}
    return SourceState(**values)


def plain_lines(pages: Mapping[str, bytes]) -> list[list[str]]:
    """The hashed lines of a site's pages as ``[[url, base64], …]``, in the order given."""
    return [[storable(url), b64encode(lines).decode("ascii")] for url, lines in pages.items()]


def lines_of(plain: Iterable[Sequence[str]] | None) -> dict[str, bytes]:
    """The inverse of :func:`plain_lines`."""
    return {url: b64decode(lines) for url, lines in plain or ()}


def run(connection: Connection, id: str) -> Run | None:
    """See ``Store.run``."""
    report = connection.scalar(select(RUNS.c.report).where(RUNS.c.id == id))
    return from_dict(report) if report else None


def runs(connection: Connection, limit: int) -> list[Run]:
    """See ``Store.runs``."""
    return [
        from_dict(report) for report in connection.scalars(select(RUNS.c.report).order_by(RUNS.c.started.desc(), RUNS.c.id).limit(limit))
    ]


class CrawlState(Part):
    """What the crawl remembers between runs."""

    def save_run(self, run: Run) -> None:
        """Insert or replace by id."""
        with self._write() as connection:
            upsert(connection, RUNS, [{"id": run.id, "started": run.started, "report": to_dict(run)}], update=("started", "report"))

    def run(self, id: str) -> Run | None:
        with self._read() as connection:
            return run(connection, id)

    def runs(self, limit: int = 50) -> list[Run]:
        """Newest first."""
        with self._read() as connection:
            return runs(connection, limit)

    def source_state(self, source: str) -> SourceState:
        with self._read() as connection:
            found = connection.scalar(select(SOURCES.c.state).where(SOURCES.c.source == name(source)))
            return state_of(found) if found else SourceState(source)

    def source_states(self) -> list[SourceState]:
        with self._read() as connection:
            return [state_of(found) for found in connection.scalars(select(SOURCES.c.state).order_by(SOURCES.c.source))]

    def save_source_state(self, state: SourceState) -> None:
        with self._write() as connection:
            upsert(connection, SOURCES, [{"source": name(state.source), "state": plain(state)}], update=("state",))

    def site_lines(self, site: str) -> Mapping[str, bytes]:
        """What :meth:`save_site_lines` was given for a site; empty for one never met."""
        with self._read() as connection:
            pages = connection.scalar(select(SITE_LINES.c.pages).where(SITE_LINES.c.site == name(site)))
            return lines_of(pages)

    def save_site_lines(self, sites: Mapping[str, Mapping[str, bytes]], *, now: datetime, most: int) -> None:
        """Remember the lines of each site's pages (URL -> packed hashes, in the order given) in place of what was known of the site.

        The sites saved last are kept, ``most`` of them.
        """
        with self._write() as connection:
            rows = [{"site": name(site), "seen": now, "pages": plain_lines(pages)} for site, pages in sites.items()]
            upsert(connection, SITE_LINES, rows, update=("seen", "pages"))
            newest_first = select(SITE_LINES.c.site).order_by(SITE_LINES.c.seen.desc(), SITE_LINES.c.site)
            for gone in chunks(connection.scalars(newest_first).all()[most:]):
                connection.execute(delete(SITE_LINES).where(SITE_LINES.c.site.in_(gone)))
