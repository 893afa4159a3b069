"""What the contract test needs of a backend: workers on a clock that the test turns."""

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
"""2026-03-05, around noon in Peking."""

TERMS = Terms(lease=60.0, tries=4, forget=86400.0)


class Bench(ABC):
    """A frontier. ``now`` is its clock, seconds since 1970."""

    def __init__(self) -> None:
        self.now = NOON
        self._opened: list[Queue] = []

    def open(self, name: str = "rss") -> Queue:
        """A new worker at the queue of this name."""
        queue = self.worker(name)
        self._opened.append(queue)
        return queue

    @abstractmethod
    def worker(self, name: str) -> Queue: ...

    def pass_by(self, seconds: float) -> None:
        """Let time go by."""
        self.now += seconds

    def fall_silent(self, *living: Queue) -> None:
        """Time goes by, so that of all workers only these are still taken for alive."""
        for _ in range(3):
            self.pass_by(TERMS.lease / 2)
            for queue in living:
                queue.beat()

    def close(self) -> None:
        for queue in self._opened:
            queue.close()


class TableBench(Bench):
    """Each worker with connections of its own, as if in a process of its own.

    ``engines``: those of earlier benches at this URI, which the caller disposes of. To compile their statements again is half of a test."""

    def __init__(self, uri: str, engines: list[Engine] | None = None) -> None:
        super().__init__()
        self.uri, self.skipped = uri, 0.0
        self._engines: list[Engine] = []
        self._idle = engines
        made = bool(engines)
        links = self.links()
        if not made:
            links.write(lambda turn: METADATA.create_all(turn.connection, QUEUE_TABLES))
        links.write(lambda turn: [turn.connection.execute(delete(table)) for table in QUEUE_TABLES])

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
        """Seconds of the clock that never goes back."""
        return self.now - NOON + 1000.0 + self.skipped

    def jump(self, seconds: float) -> None:
        """Somebody sets the machine's clock: no time goes by."""
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
    """The ids of what is had, in order."""
    return ids(queue.take(number, delay=delay, ahead=ahead).leases)


def hold_all(queue: Queue, *hosts: str) -> None:
    for host in hosts:
        assert queue.hold(host) == 0


def ids(leases: Collection[Lease]) -> list[str]:
    return [lease.task.id for lease in leases]
