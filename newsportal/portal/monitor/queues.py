"""What the portal shows of the queue of requests and of who works on it. Whoever opens the portal gives it: the portal knows no queue."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Literal

from newsportal.errors import NewsportalError
from newsportal.portal.ttl_cache import CostlyValue

SECONDS = 3.0  # what is shown may be so old: many readers of the monitor cost the queue one question


@dataclass(frozen=True, slots=True)
class WorkerRow:
    """``queue`` is the spider's name; ``doing`` what the worker says of itself."""

    name: str
    queue: str
    since: datetime
    beat: datetime = field(metadata={"description": "Its last sign of life."})
    leased: int
    hosts: int
    doing: str


@dataclass(frozen=True, slots=True)
class QueueRow:
    name: str
    waiting: int
    later: int
    leased: int
    aside: int
    workers: int


@dataclass(frozen=True, slots=True)
class HostRow:
    """A host with much waiting."""

    host: str
    queue: str
    waiting: int
    holder: str | None
    free_in: float = field(metadata={"description": "Seconds until it may be asked."})


@dataclass(frozen=True, slots=True)
class AsideRow:
    """A request that was set aside, since worker after worker died of it."""

    queue: str
    id: str
    address: str
    reason: str
    since: datetime


@dataclass(frozen=True, slots=True)
class RetryRow:
    """Links of a source that failed in passing for one reason. ``next``: when the first of them is tried again."""

    queue: str
    source: str
    reason: str
    links: int
    next: datetime | None


@dataclass(frozen=True, slots=True)
class Queues:
    """``place``: where the queue lies. ``away``: why nothing can be told."""

    place: str = ""
    queues: tuple[QueueRow, ...] = ()
    workers: tuple[WorkerRow, ...] = ()
    hosts: tuple[HostRow, ...] = ()
    aside: tuple[AsideRow, ...] = ()
    retries: tuple[RetryRow, ...] = ()
    away: str | None = None


Ask = Callable[[], Queues]  # asks all queues. Blocking. Raises `NewsportalError`

Way = Literal["again", "drop"]

Settle = Callable[[Way], int]
"""Lets all requests that were set aside wait anew, or forgets them; answers how many. Blocking. Raises ``NewsportalError``."""


def cached(ask: Ask) -> Ask:
    """``ask`` with its answer kept for some seconds; what it raises is told as ``away``. Safe between threads."""

    def ask_now() -> Queues:
        try:
            return ask()
        except NewsportalError as error:
            return Queues(away=str(error))

    return CostlyValue(ask_now, "queues", SECONDS, spare=0).get


def moment(seconds: float) -> datetime:
    """Seconds since 1970 as an aware moment."""
    return datetime.fromtimestamp(seconds, UTC)


def longest(hosts: Sequence[HostRow], number: int) -> tuple[HostRow, ...]:
    """Those with most waiting, of all queues."""
    return tuple(sorted(hosts, key=lambda row: (-row.waiting, row.host))[:number])
