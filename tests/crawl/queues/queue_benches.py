"""Test benches for the queue's backends: workers with a clock set by the test."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection

from sqlalchemy import Engine, delete

from newsportal.crawl.queues.base import Lease, Queue, Task, Terms
from newsportal.crawl.queues.table import TableQueue
from newsportal.store.columns import METADATA
from newsportal.store.dialects import open_engine, write_ahead
from newsportal.store.link_tables import QUEUE_TABLES, Moments
from newsportal.store.links import Links

NOON = 1_772_700_000.0
"""2026-03-05, around noon in Beijing."""

TERMS = Terms(lease=60.0, tries=4, forget=86400.0)


class Bench(ABC):
    """A frontier. ``now``: its clock, in seconds since 1970."""

    def __init__(self) -> None:
        self.now = NOON
        self._opened: list[Queue] = []

    def open(self, name: str = "rss") -> Queue:
        """Open the queue of this name as a new worker."""
        queue = self.worker(name)
        self._opened.append(queue)
        return queue

    @abstractmethod
    def worker(self, name: str) -> Queue: ...

    def pass_by(self, seconds: float) -> None:
        """Advance the clock."""
        self.now += seconds

    def fall_silent(self, *alive: Queue) -> None:
        """Advance the clock until only the workers ``alive`` count as alive."""
        for _ in range(3):
            self.pass_by(TERMS.lease / 2)
            for queue in alive:
                queue.heartbeat()

    def close(self) -> None:
        for queue in self._opened:
            queue.close()


class TableBench(Bench):
    """Each worker has its own connections, as in a separate process. ``engines``: reused from earlier benches at this URI and disposed of
    by the caller; recompiling their statements takes half of a test's time."""

    def __init__(self, uri: str, engines: list[Engine] | None = None) -> None:
        super().__init__()
        self.uri, self.skipped = uri, 0.0
        self._engines: list[Engine] = []
        self._idle = engines
        exists = bool(engines)
        links = self.links()
        if not exists:
            links.write(lambda tx: METADATA.create_all(tx.connection, QUEUE_TABLES))
        links.write(lambda tx: [tx.connection.execute(delete(table)) for table in QUEUE_TABLES])

    def links(self) -> Links:
        if self._idle:
            engine = self._idle.pop()
        else:
            engine = open_engine(self.uri)
            write_ahead(engine)
        self._engines.append(engine)
        return Links(engine, lambda _: Moments(self.ticks, self.now))

    def worker(self, name: str) -> TableQueue:
        return TableQueue(self.links(), name, terms=TERMS)

    @property
    def ticks(self) -> float:
        """Seconds of the monotonic clock."""
        return self.now - NOON + 1000.0 + self.skipped

    def jump(self, seconds: float) -> None:
        """Set the machine's clock: no time passes."""
        self.now += seconds
        self.skipped -= seconds

    def close(self) -> None:
        super().close()
        if self._idle is not None:
            self._idle += self._engines
            return
        for engine in self._engines:
            engine.dispose()


def task(id: str, host: str = "a.example", **more: object) -> Task:
    return Task(id, host, "{}", **more)  # type: ignore[arg-type]


def tasks(number: int, host: str = "a.example", **more: object) -> list[Task]:
    return [task(f"{host}/{n}", host, **more) for n in range(number)]


def take(queue: Queue, number: int = 1000, *, delay: float = 0.0, ahead: float = 10.0) -> list[str]:
    """Return the ids of the leased tasks, in order."""
    return ids(queue.take(number, delay=delay, ahead=ahead).leases)


def hold_all(queue: Queue, *hosts: str) -> None:
    for host in hosts:
        assert queue.hold(host) == 0


def ids(leases: Collection[Lease]) -> list[str]:
    return [lease.task.id for lease in leases]
