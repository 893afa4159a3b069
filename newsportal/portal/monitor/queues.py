"""The request queue and its workers as the portal shows them. Whoever starts the portal passes the functions that read the queue."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Literal

from newsportal.errors import NewsportalError
from newsportal.portal.ttl_cache import CostlyValue

MAX_AGE_SECONDS = 3.0  # maximum age of what is shown: many readers of the monitor cost one query


@dataclass(frozen=True, slots=True)
class WorkerRow:
    """A worker: ``queue`` is the spider's name; ``activity`` what the worker reports."""

    name: str
    queue: str
    since: datetime
    heartbeat: datetime = field(metadata={"description": "Time of its last heartbeat."})
    leased: int
    hosts: int
    activity: str


@dataclass(frozen=True, slots=True)
class QueueRow:
    name: str
    waiting: int
    later: int
    leased: int
    aside: int
    workers: int


@dataclass(frozen=True, slots=True)
class BusyHost:
    """A host with many waiting requests."""

    host: str
    queue: str
    waiting: int
    holder: str | None
    next_request_in: float = field(metadata={"description": "Seconds until it may be fetched from."})


@dataclass(frozen=True, slots=True)
class AsideRow:
    """A request that was set aside because several workers died of it."""

    queue: str
    id: str
    address: str
    reason: str
    since: datetime


@dataclass(frozen=True, slots=True)
class RetryRow:
    """Links of a source whose fetch failed temporarily for the same reason. ``next``: time of the first retry."""

    queue: str
    source: str
    reason: str
    links: int
    next: datetime | None


@dataclass(frozen=True, slots=True)
class Queues:
    """The state of all queues. ``place``: location of the queue. ``error``: why there is no information."""

    place: str = ""
    queues: tuple[QueueRow, ...] = ()
    workers: tuple[WorkerRow, ...] = ()
    hosts: tuple[BusyHost, ...] = ()
    aside: tuple[AsideRow, ...] = ()
    retries: tuple[RetryRow, ...] = ()
    error: str | None = None


Ask = Callable[[], Queues]  # queries all queues. Blocks. Raises `NewsportalError`

Way = Literal["again", "drop"]

Settle = Callable[[Way], int]
"""Retries or drops all requests that were set aside and returns their number. Blocks. Raises ``NewsportalError``."""


def cached(ask: Ask) -> Ask:
    """Return ``ask`` with its result cached for some seconds; errors are returned as ``error``. Thread-safe."""

    def ask_now() -> Queues:
        try:
            return ask()
        except NewsportalError as error:
            return Queues(error=str(error))

    return CostlyValue(ask_now, "queues", MAX_AGE_SECONDS, spare=0).get


def moment(seconds: float) -> datetime:
    """Convert seconds since 1970 to an aware time."""
    return datetime.fromtimestamp(seconds, UTC)


def longest(hosts: Sequence[BusyHost], number: int) -> tuple[BusyHost, ...]:
    """Return the hosts with most waiting requests, of all queues."""
    return tuple(sorted(hosts, key=lambda row: (-row.waiting, row.host))[:number])
