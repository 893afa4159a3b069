"""The link table, the tables of the workers that share it, and the states of its rows."""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

from sqlalchemy import BigInteger, Column, ColumnElement, Connection, Float, Index, Integer, String, Table, literal_column, select

from newsportal.store.columns import LONG_TEXT, METADATA, NAME_CHARS, SEQUENCE

# ready: may be leased when its host is free; behind: another row of its lane comes first; suspect: leased on its own
WAITING: Final = ("ready", "behind", "suspect")

DEFERRED: Final = "deferred"  # waits until not_before
HELD: Final = "held"  # a feed entry without a request of its own: its list page, or the next visit, supplies the article

LEASED: Final = "leased"
POISONED: Final = "poisoned"  # several workers died with it; waits for a decision of the operator (newsportal frontier aside)

STORED: Final = "stored"
FAILED: Final = "failed"
GIVEN_UP: Final = "given-up"
DONE: Final = "done"  # a request other than a link, completed

PRUNED: Final = "pruned"  # its article was deleted by retention: never fetched again

OVER: Final = (STORED, FAILED, GIVEN_UP, DONE)
OUTSTANDING: Final = (*WAITING, LEASED)


@dataclass(frozen=True, slots=True)
class Terms:
    """Parameters of a queue, the same for all workers. ``lease`` and ``forget`` in seconds; ``tries``: workers that may die with a row
    before it is set aside. ``forget``: how long finished rows, and with them the fingerprints of requests, are kept."""

    lease: float = 60.0
    tries: int = 6
    forget: float = 30 * 86400.0


@dataclass(frozen=True, slots=True)
class Task:
    """A waiting request. ``body``: the request as JSON, opaque to the queue. ``at``: seconds since 1970. ``source``: whose visit found it.
    ``fingerprint``: for the duplicate filter, if any. ``link``: whether it is a link, whose row is kept when finished."""

    id: str
    host: str
    body: str
    priority: int = 0
    at: float | None = None
    lane: str | None = None
    source: str | None = None
    fingerprint: str | None = None
    link: bool = False


@dataclass(frozen=True, slots=True)
class WaitingLinks:
    """Links that wait for the same reason. ``next``: time of the first try, seconds since 1970; ``None``: as soon as its host is free."""

    queue: str
    source: str | None
    reason: str
    number: int
    next: float | None


QUEUE_CHARS = 100

LINKS = Table(
    "links",
    METADATA,
    Column("number", SEQUENCE, primary_key=True, autoincrement=True),
    Column("id", String(64), nullable=False),
    Column("queue", String(QUEUE_CHARS), nullable=False),
    Column("state", String(10), nullable=False),
    Column("host", String(NAME_CHARS), nullable=False),
    Column("source", String(NAME_CHARS)),
    Column("precedence", Integer, nullable=False),
    Column("not_before", Float(53)),
    Column("lane", String(NAME_CHARS)),
    Column("fingerprint", BigInteger),
    *(Column(name, Integer, nullable=False) for name in ("link", "tries", "failures")),
    Column("worker", BigInteger),
    Column("since", Float(53)),
    Column("reason", LONG_TEXT),
    Column("added", Float(53), nullable=False),
    Column("changed", Float(53), nullable=False),
    Column("body", LONG_TEXT, nullable=False),
    Index("ix_links_id_queue", "id", "queue", unique=True),
    Index("ix_links_queue_state_host_precedence", "queue", "state", "host", "precedence", "number"),
    Index("ix_links_queue_state_not_before", "queue", "state", "not_before"),
    Index("ix_links_source_state", "source", "state"),
    Index("ix_links_queue_lane_state", "queue", "lane", "state"),
    Index("ix_links_worker", "worker"),
    Index("ix_links_queue_fingerprint", "queue", "fingerprint"),
)
"""One row per link (``id``: hash of its identity) or request (``id``: hash of the request); ``queue`` is the spider. ``precedence``:
negative priority, so that one index has the order. ``tries``: workers that died with it. ``body``: the request as JSON, else empty."""

HOST_QUEUES = Table(
    "link_host_queues",
    METADATA,
    Column("host", String(NAME_CHARS), primary_key=True),
    Column("queue", String(QUEUE_CHARS), primary_key=True),
    Column("waiting", Integer, nullable=False),
    Column("ready", Integer, nullable=False),
    Column("top", Integer),  # the lowest precedence of its ready rows
    Index("ix_link_host_queues_queue_top", "queue", "top", "host"),
)
"""Numbers of waiting and of ready rows by host and queue."""

HOST_LOCKS = Table(
    "link_host_locks",
    METADATA,
    Column("host", String(NAME_CHARS), primary_key=True),
    Column("worker", BigInteger, nullable=False),
    Column("next_request", Float(53), nullable=False),
    Column("requested_by", BigInteger, nullable=False),
    Column("requested_until", Float(53), nullable=False),
    Index("ix_link_host_locks_worker", "worker"),
)
"""Hosts in use. ``worker``: 0 for a released host, which is reserved for ``requested_by`` until ``requested_until``. Times in ticks."""

WORKERS = Table(
    "link_workers",
    METADATA,
    Column("number", SEQUENCE, primary_key=True, autoincrement=True),
    Column("queue", String(QUEUE_CHARS), nullable=False),
    Column("name", String(NAME_CHARS), nullable=False),
    Column("machine", String(NAME_CHARS), nullable=False),
    Column("pid", BigInteger, nullable=False),
    Column("started", String(64)),
    *(Column(name, Float(53), nullable=False) for name in ("since", "heartbeat", "delay", "starved_until")),
    Column("draining", Integer, nullable=False),
    Column("activity", LONG_TEXT, nullable=False),
    sqlite_autoincrement=True,
)

CLAIMS = Table(
    "link_claims",
    METADATA,
    Column("job", String(NAME_CHARS), primary_key=True),
    Column("worker", BigInteger, nullable=False),
    Column("expires", Float(53), nullable=False),
)  # visits of sources claimed by a worker

CLOCK = Table(
    "link_clock",
    METADATA,
    Column("id", Integer, primary_key=True, autoincrement=False),
    *(Column(name, Float(53), nullable=False) for name in ("ticks", "shift", "swept")),
)  # one row: when the tables were last cleaned up, and the offset of the server's clock

WORK_TABLES = (HOST_QUEUES, HOST_LOCKS, WORKERS, CLAIMS, CLOCK)  # state of running processes: not copied with a store

QUEUE_TABLES = (LINKS, *WORK_TABLES)


@dataclass(frozen=True, slots=True)
class Moments:
    """``ticks``: seconds of a shared monotonic clock; ``wall``: seconds since 1970. ``shift``: offset of the server's clock."""

    ticks: float
    wall: float
    shift: float = 0.0


Clock = Callable[[Connection], Moments]

SERVER_NOW: Final[Mapping[str, ColumnElement[float]]] = {
    "postgresql": literal_column("extract(epoch from clock_timestamp())"),
    "mysql": literal_column("unix_timestamp(sysdate(6))"),
    "mariadb": literal_column("unix_timestamp(sysdate(6))"),
}
CLOCK_ROW = select(CLOCK.c.ticks, CLOCK.c.shift)


def clock_of(connection: Connection) -> Moments:
    """Read the clock: on SQLite the machine's monotonic clock, else the server's time, so that machines' clocks may differ."""
    now = SERVER_NOW.get(connection.dialect.name)
    if now is None:
        return Moments(time.monotonic(), time.time())
    wall = float(connection.scalar(select(now)) or 0.0)
    last, shift = connection.execute(CLOCK_ROW).first() or (0.0, 0.0)
    shift = max(shift, last - wall)
    return Moments(wall + shift, wall, shift)
