"""State kept between crawls: run reports, the state of sources, the lines of sites, and the visits from which the schedule learns."""

from base64 import b64decode, b64encode
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby
from typing import Any, Final

from pydantic import TypeAdapter
from sqlalchemy import JSON, Column, ColumnElement, Connection, Index, Integer, String, Table, bindparam, delete, func, select

from newsportal.items.report import Run, from_dict, to_dict
from newsportal.items.visits import MAX_CLOCK_SKEW, Visit, merge_visits
from newsportal.store.columns import METADATA, NAME_CHARS, Moment, name, storable, to_json
from newsportal.store.dialects import Part, chunks, upsert
from newsportal.store.results import SourceState

VISITS = Table(
    "visits",
    METADATA,
    Column("source", String(NAME_CHARS), primary_key=True),
    Column("at", Moment, primary_key=True, autoincrement=False),
    Column("found_new", Integer, nullable=False, server_default="0"),
    Column("result", JSON, nullable=False),
    Index(None, "at"),
    Index(None, "source", "found_new", "at"),
)
"""``result``: the result of the visit (``visits``) as JSON, without source and time. ``found_new``: 1 if it found
anything new, else 0, and -1 until the first result arrives; indexed because schedules look up the last productive visits of a source."""

NEWEST = select(VISITS).where(VISITS.c.source == bindparam("of")).order_by(VISITS.c.at.desc()).limit(1)
VISIT: Final = TypeAdapter(Visit)
BEGUN: Final = -1  # ``found_new`` of a visit without results yet


def _visit(row: Any) -> Visit:
    """Build a visit from a row of ``visits``; fields of a later version are ignored."""
    return VISIT.validate_python({**row.result, "source": row.source, "at": row.at})


class Visits(Part):
    """Visits of sources, kept for some months. Calls block."""

    def add(self, visit: Visit) -> None:
        """Store a visit, replacing one of the same source and time. A visit that begins is shown once results are joined to it; visits of
        the source dated more than ``visits.MAX_CLOCK_SKEW`` later are deleted: their clock was wrong, so results must not join them."""
        with self._write() as connection:
            if visit.in_progress:
                connection.execute(delete(VISITS).where(VISITS.c.source == name(visit.source), VISITS.c.at > visit.at + MAX_CLOCK_SKEW))
            _save(connection, visit)

    def merge(self, parts: Sequence[Visit]) -> None:
        """Merge results into the newest visit of each source (``visits.merge_visits``), or store them as a visit if there is none."""
        joined: dict[str, Visit] = {}
        with self._write() as connection:
            for part in parts:
                source = name(part.source)
                row = None if source in joined else connection.execute(NEWEST, {"of": source}).one_or_none()
                visit = joined.get(source) if row is None else _visit(row)
                joined[source] = part if visit is None else merge_visits(visit, part)
            _save(connection, *joined.values())

    def of(self, source: str, *, since: datetime | None = None, limit: int = 200, bringing: bool = False) -> list[Visit]:
        """Return the visits of one source, newest first; ``bringing``: only those that found anything new."""
        query = select(VISITS).where(VISITS.c.source == name(source), VISITS.c.found_new >= int(bringing))
        query = query.order_by(VISITS.c.at.desc()).limit(limit)
        if since is not None:
            query = query.where(VISITS.c.at >= since)
        return list(map(_visit, self._rows(query)))

    def recent(self, sources: Collection[str] | None = None, *, each: int = 50, bringing: bool = False) -> Mapping[str, list[Visit]]:
        """Return the newest visits of all (or these) sources, newest first. One query serves a schedule of thousands of sources."""
        place = func.row_number().over(partition_by=VISITS.c.source, order_by=VISITS.c.at.desc()).label("place")
        found: dict[str, list[Visit]] = {}
        with self._read() as connection:
            for chunk in [None] if sources is None else chunks(map(name, sources)):
                visits = select(VISITS, place) if chunk is None else select(VISITS, place).where(VISITS.c.source.in_(chunk))
                ranked = visits.where(VISITS.c.found_new >= int(bringing)).subquery()
                query = select(ranked).where(ranked.c.place <= each).order_by(ranked.c.source, ranked.c.at.desc())
                for source, rows in groupby(connection.execute(query), key=lambda row: row.source):
                    found[source] = list(map(_visit, rows))
        return found

    def forget(self, before: datetime) -> int:
        """Delete visits older than ``before``, and return their number."""
        return self._execute(delete(VISITS).where(VISITS.c.at < before))


def _save(connection: Connection, *visits: Visit) -> None:
    rows = []
    for visit in visits:
        values = to_json(visit)
        row = {"found_new": BEGUN if visit.in_progress else int(visit.new > 0), "source": name(values.pop("source")), "at": visit.at}
        del values["at"]
        rows.append({**row, "result": values})
    upsert(connection, VISITS, rows, update=("found_new", "result"))


RUNS = Table(
    "runs",
    METADATA,
    Column("id", String(NAME_CHARS), primary_key=True),
    Column("started", Moment, nullable=False, index=True),
    Column("report", JSON, nullable=False),
)

SOURCES = Table("source_states", METADATA, Column("source", String(NAME_CHARS), primary_key=True), Column("state", JSON, nullable=False))

SITE_LINES = Table(
    "site_lines",
    METADATA,
    Column("site", String(NAME_CHARS), primary_key=True),
    Column("saved", Moment, nullable=False, index=True),
    Column("pages", JSON, nullable=False),
)
"""Hashed lines of a site's pages, oldest first: ``[[url, base64], …]``."""

SOURCE_STATE: Final = TypeAdapter(SourceState)
LEARNT: Final = "extractor:"  # prefix of the names in ``site_lines`` under which extraction methods keep what they learned


class CrawlState(Part):
    def save_run(self, run: Run) -> None:
        self._upsert(RUNS, [{"id": run.id, "started": run.started, "report": to_dict(run)}], update=("started", "report"))

    def run(self, id: str) -> Run | None:
        report = self._scalar(select(RUNS.c.report).where(RUNS.c.id == id))
        return from_dict(report) if report else None

    def runs(self, limit: int = 50, *, ended: bool = False) -> list[Run]:
        """Return runs, newest first; with ``ended`` only finished ones."""
        latest = select(RUNS.c.report).order_by(RUNS.c.started.desc(), RUNS.c.id).limit(limit)
        if ended:
            latest = latest.where(RUNS.c.report["ended"].as_string().is_not(None))
        return [from_dict(report) for report in self._scalars(latest)]

    def source_state(self, source: str) -> SourceState:
        found = self._scalar(select(SOURCES.c.state).where(SOURCES.c.source == name(source)))
        return SOURCE_STATE.validate_python(found) if found else SourceState(source)

    def source_states(self) -> list[SourceState]:
        return [SOURCE_STATE.validate_python(found) for found in self._scalars(select(SOURCES.c.state).order_by(SOURCES.c.source))]

    def save_source_state(self, state: SourceState) -> None:
        self._upsert(SOURCES, [{"source": name(state.source), "state": to_json(state)}], update=("state",))

    def site_lines(self, site: str) -> Mapping[str, bytes]:
        """Return the lines stored by :meth:`save_site_lines` for a site; empty if there are none."""
        pages = self._scalar(select(SITE_LINES.c.pages).where(SITE_LINES.c.site == name(site)))
        return {url: b64decode(lines) for url, lines in pages or ()}

    def save_site_lines(self, sites: Mapping[str, Mapping[str, bytes]], *, now: datetime, max_sites: int) -> None:
        """Replace the lines of each site's pages (URL -> packed hashes, in the given order).

        Only the ``max_sites`` most recently saved sites are kept.
        """
        with self._write() as connection:
            rows = [
                {"site": name(site), "saved": now, "pages": [[storable(url), b64encode(raw).decode("ascii")] for url, raw in pages.items()]}
                for site, pages in sites.items()
            ]
            upsert(connection, SITE_LINES, rows, update=("saved", "pages"))
            newest_first = select(SITE_LINES.c.site).order_by(SITE_LINES.c.saved.desc(), SITE_LINES.c.site)
            for old in chunks(connection.scalars(newest_first).all()[max_sites:]):
                connection.execute(delete(SITE_LINES).where(SITE_LINES.c.site.in_(old)))

    def learned_state(self, method: str) -> str | None:
        """Return what an extraction method learned from pages, as text; ``None`` if nothing yet."""
        stored = self.site_lines(LEARNT + method).get("")
        return None if stored is None else stored.decode("utf-8", "replace")

    def change_learned_state(self, method: str, change: Callable[[str | None], str], *, now: datetime) -> None:
        """Replace :meth:`learned_state` by the result of ``change``, in one transaction: concurrent changes are serialized."""
        with self._write() as connection:
            pages = connection.scalar(select(SITE_LINES.c.pages).where(SITE_LINES.c.site == LEARNT + method))
            stored = {url: b64decode(text).decode("utf-8", "replace") for url, text in pages or ()}
            text = b64encode(change(stored.get("")).encode()).decode("ascii")
            upsert(connection, SITE_LINES, [{"site": LEARNT + method, "saved": now, "pages": [["", text]]}], update=("saved", "pages"))


@dataclass(frozen=True, slots=True)
class Subscription:
    """A WebSub subscription. ``topic``: URL by which the feed identifies itself. ``token``: part of the callback URL, known only to the
    hub; ``secret``: key of the hub's signatures.

    ``asked``: last request to the hub (to subscribe, or with ``leaving`` to unsubscribe); ``tries``: requests without an answer since.
    ``until``: end of the confirmed lease. ``pushed``: last notification. ``denied``: the hub's reason for a refusal.
    """

    source: str
    hub: str
    topic: str
    token: str
    secret: str
    asked: datetime | None = None
    tries: int = 0
    until: datetime | None = None
    pushed: datetime | None = None
    leaving: bool = False
    denied: str | None = None

    def __repr__(self) -> str:
        return f"Subscription({self.source!r}, {self.hub!r})"  # neither token nor secret belongs in a log

    def is_valid(self, now: datetime) -> bool:
        """Return whether the hub has confirmed a subscription that is still valid."""
        return self.until is not None and self.until > now and not self.leaving


TOKEN_CHARS: Final = 64
SUBSCRIPTION: Final = TypeAdapter(Subscription)

SUBSCRIPTIONS = Table(
    "websub_subscriptions",
    METADATA,
    Column("source", String(NAME_CHARS), primary_key=True),
    Column("token", String(TOKEN_CHARS), nullable=False, index=True),
    Column("details", JSON, nullable=False),
)
"""``details``: the subscription as JSON (``Subscription``), without source and token."""


class Subscriptions(Part):
    def all(self) -> list[Subscription]:
        return self._found()

    def of(self, source: str) -> Subscription | None:
        return next(iter(self._found(SUBSCRIPTIONS.c.source == name(source))), None)

    def by_token(self, token: str) -> Subscription | None:
        if not (len(token) <= TOKEN_CHARS and token.isprintable()):
            return None
        return next(iter(self._found(SUBSCRIPTIONS.c.token == token)), None)

    def save(self, subscription: Subscription) -> None:
        values = to_json(subscription)
        row = {"source": name(values.pop("source")), "token": values.pop("token"), "details": values}
        self._upsert(SUBSCRIPTIONS, [row], update=("token", "details"))

    def drop(self, source: str) -> None:
        self._execute(delete(SUBSCRIPTIONS).where(SUBSCRIPTIONS.c.source == name(source)))

    def _found(self, *conditions: ColumnElement[bool]) -> list[Subscription]:
        """Return subscriptions; fields of a later version are ignored."""
        rows = self._rows(select(SUBSCRIPTIONS).where(*conditions).order_by(SUBSCRIPTIONS.c.source))
        return [SUBSCRIPTION.validate_python({**row.details, "source": row.source, "token": row.token}) for row in rows]
