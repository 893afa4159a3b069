"""What the contract test needs of a backend: workers on a clock that the test turns."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection
from pathlib import Path

from newsportal.frontier.queues.base import Lease, Queue, Task, Terms
from newsportal.frontier.queues.disk import DiskQueue
from newsportal.frontier.queues.disk_file import QueueFile

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


class DiskBench(Bench):
    """Each worker with a connection of its own, as if in a process of its own."""

    def __init__(self, folder: Path) -> None:
        super().__init__()
        self.file = folder / "新闻 库" / "news portal.db.queue"
        self.skipped = 0.0

    def worker(self, name: str) -> DiskQueue:
        return DiskQueue(QueueFile(self.file), name, terms=TERMS, clock=lambda: self.now, ticks=lambda: self.ticks)

    @property
    def ticks(self) -> float:
        """Seconds since the machine was started."""
        return self.now - NOON + 1000.0 + self.skipped

    def jump(self, seconds: float) -> None:
        """Somebody sets the machine's clock: no time goes by."""
        self.now += seconds
        self.skipped -= seconds


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
