"""What the crawl remembers between runs, in a database of documents: run reports, the state of sources, links that wait."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from datetime import datetime

from newsportal.items import Link, content_id
from newsportal.report import Run, from_dict, to_dict
from newsportal.storage.base import SourceState
from newsportal.storage.documents.base import Is, Rows, Transaction, moment_in, moment_out
from newsportal.storage.documents.plain import in_pages
from newsportal.storage.documents.room_tables import row_id
from newsportal.storage.documents.tables import DEFERRED, RUNS, SITE_LINES, SOURCES, as_text
from newsportal.storage.paging import chunks
from newsportal.storage.remembered import lines_of, link_of, plain, plain_lines, state_of
from newsportal.storage.rows import name


def save_run(transaction: Transaction, run: Run) -> None:
    """See ``Store.save_run``."""
    transaction.put(RUNS, {"id": row_id(run.id), "started": moment_in(run.started), "report": as_text(to_dict(run))})


def run(rows: Rows, id: str) -> Run | None:
    """See ``Store.run``."""
    found = rows.get(RUNS, [row_id(id)]).get(row_id(id))
    return from_dict(json.loads(found["report"])) if found else None


def runs(rows: Rows, limit: int) -> list[Run]:
    """See ``Store.runs``."""
    found = rows.find(RUNS, order=("-started", "id"), limit=limit)
    return [from_dict(json.loads(row["report"])) for row in found]


def save_source_state(transaction: Transaction, state: SourceState) -> None:
    """See ``Store.save_source_state``."""
    source = name(state.source)
    transaction.put(SOURCES, {"id": row_id(source), "source": source, "state": as_text(plain(state))})


def source_state(rows: Rows, source: str) -> SourceState:
    """See ``Store.source_state``. A source never met has an empty state."""
    id = row_id(name(source))
    found = rows.get(SOURCES, [id]).get(id)
    return state_of(json.loads(found["state"])) if found else SourceState(source)


def source_states(rows: Rows) -> list[SourceState]:
    """See ``Store.source_states``; by name."""
    return [state_of(json.loads(row["state"])) for page in in_pages(rows, SOURCES, order=("source",)) for row in page]


def site_lines(rows: Rows, site: str) -> dict[str, bytes]:
    """See ``Store.site_lines``."""
    id = row_id(name(site))
    found = rows.get(SITE_LINES, [id]).get(id)
    return lines_of(found["pages"]) if found else {}


def save_site_lines(transaction: Transaction, sites: Mapping[str, Mapping[str, bytes]], now: datetime, most: int) -> None:
    """See ``Store.save_site_lines``."""
    for site, pages in sites.items():
        row = {"id": row_id(name(site)), "site": name(site), "seen": moment_in(now), "pages": plain_lines(pages)}
        transaction.put(SITE_LINES, row)
    gone = transaction.find(SITE_LINES, order=("-seen", "site"), skip=most, only=("id",))
    transaction.delete(SITE_LINES, [row["id"] for row in gone])


def defer(transaction: Transaction, links: Sequence[Link], now: datetime) -> None:
    """See ``Store.defer``. A link that waits already keeps its place."""
    rows = {
        id: {"id": id, "source": name(link.source), "since": moment_in(now), "position": position, "link": plain(link)}
        for position, link in reversed(list(enumerate(links)))
        for id in [content_id(link.identity or link.url)]
    }
    for chunk in chunks(rows):
        there = transaction.get(DEFERRED, chunk, without=("link",))
        for id in chunk:
            if id not in there:
                transaction.put(DEFERRED, rows[id])


def deferred(rows: Rows, source: str) -> list[Link]:
    """See ``Store.deferred``."""
    waiting = rows.find(DEFERRED, Is("source", name(source)), order=("since", "position"))
    return [link_of(row["link"]) for row in waiting]


def waits_since(rows: Rows, identity: str) -> datetime | None:
    """See ``Store.waits_since``."""
    found = rows.get(DEFERRED, [content_id(identity)], without=("link",))
    return moment_out(next(iter(found.values()))["since"]) if found else None


def settle(transaction: Transaction, names: Collection[str]) -> None:
    """See ``Store.settle``."""
    transaction.delete(DEFERRED, list(map(content_id, names)))
